"""Measured imports of small trees, with a torch that is ours."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codemods.import_cost.measure import (
    ImportFailed,
    Measured,
    Probed,
    Timed,
    clean_environment,
    measure,
    medians,
    parse,
)

TORCH = {
    "torch/__init__.py": "",
    "torch/cuda/__init__.py": "def init():\n    return 1\n\n\ndef idle():\n    pass\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def probe(root: Path, files: dict[str, str], *calls: str) -> tuple[Probed, ...]:
    write(root, files)
    return measure("pkg", root=root, runs=0, calls=calls).probes


def names(found: Measured) -> list[str]:
    return [each.name for each in found.modules if each.name.partition(".")[0] in ("pkg", "torch")]


def test_each_module_has_its_own_time_and_its_place(tmp_path: Path) -> None:
    slow = "import time\nimport pkg.quick\ntime.sleep(0.05)\n"
    write(tmp_path, {"pkg/__init__.py": "import pkg.slow\n", "pkg/slow.py": slow, "pkg/quick.py": ""})
    found = measure("pkg", root=tmp_path, runs=3)
    assert names(found) == ["pkg.quick", "pkg.slow", "pkg"]
    times = {each.name: each for each in found.modules}
    assert times["pkg.slow"].self_us > 50_000 > times["pkg"].self_us
    assert times["pkg.quick"].self_us < 50_000
    assert [times[name].depth for name in ("pkg", "pkg.slow", "pkg.quick")] == [0, 1, 2]
    assert found.total_us >= times["pkg.slow"].self_us
    assert "ran the target's code" in found.says and "4 times" in found.says


def test_nothing_is_written_into_the_tree(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "import pkg.a\n", "pkg/a.py": "import torch.cuda\n", **TORCH})
    before = sorted(tmp_path.rglob("*"))
    measure("pkg", root=tmp_path, runs=1, calls=("torch.cuda.init",))
    assert sorted(tmp_path.rglob("*")) == before


def test_counted_runs_load_the_bytecode_of_the_first(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = f"import os\nwith open({str(log)!r}, 'a') as file: print(os.stat(__spec__.cached).st_mtime_ns, file=file)\n"
    write(tmp_path, {"pkg/__init__.py": "import pkg.a\n", "pkg/a.py": text})
    measure("pkg", root=tmp_path, runs=2)
    written = log.read_text().split()
    assert len(written) == 3 and len(set(written)) == 1


def test_the_environment_of_the_caller_does_not_steer_python() -> None:
    given = {
        "PYTHONPATH": "/x",
        "PYTHONHOME": "/y",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": "/bin",
        "__PYVENV_LAUNCHER__": "z",
    }
    kept = clean_environment(given)
    assert kept["PATH"] == "/bin"
    assert {name for name in kept if name.startswith("PYTHON")} == {"PYTHONHASHSEED", "PYTHONIOENCODING"}
    assert clean_environment(given, [Path("a"), Path("b")])["PYTHONPATH"] == f"a{os.pathsep}b"


def test_more_folders_of_the_path_are_found(tmp_path: Path) -> None:
    write(tmp_path / "root", {"pkg/__init__.py": "import beside_it\n"})
    write(tmp_path / "more", {"beside_it.py": ""})
    assert "beside_it" in [
        each.name for each in measure("pkg", root=tmp_path / "root", runs=1, beside=[tmp_path / "more"]).modules
    ]


def test_output_of_the_target_is_not_taken_for_times(tmp_path: Path) -> None:
    text = "import sys\nsys.stderr.write('half a line')\nimport pkg.a\nprint('import time:   9 | 9 | x y z', file=sys.stdout)\n"
    write(tmp_path, {"pkg/__init__.py": text, "pkg/a.py": "", "pkg/b.py": ""})
    assert names(measure("pkg", root=tmp_path, runs=1)) == ["pkg.a", "pkg"]


def test_what_runs_as_the_process_ends_is_not_counted(tmp_path: Path) -> None:
    text = "import atexit\n\n\n@atexit.register\ndef late():\n    import pkg.late\n"
    write(tmp_path, {"pkg/__init__.py": text, "pkg/late.py": ""})
    assert names(measure("pkg", root=tmp_path, runs=1)) == ["pkg"]


def test_the_import_sees_no_arguments(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "import sys\nassert sys.argv == ['-c'], sys.argv\n"})
    measure("pkg", root=tmp_path, runs=1, calls=("torch.cuda.init",))


def test_without_timed_runs_only_the_calls_are_watched(tmp_path: Path) -> None:
    log = tmp_path / "log"
    write(tmp_path, {"pkg/__init__.py": f"with open({str(log)!r}, 'a') as file: print(1, file=file)\n"})
    found = measure("pkg", root=tmp_path, runs=0, calls=("torch.cuda.init",))
    assert log.read_text().split() == ["1"]
    assert (found.modules, found.total_us) == ((), 0)
    assert "`import pkg`, once, with" in found.says


# -- Failures ---------------------------------------------------------------------------------------------------------


def test_an_import_that_fails_shows_its_last_lines(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "import pkg.a\n", "pkg/a.py": "import no_such_module_anywhere\n"})
    with pytest.raises(ImportFailed) as failed:
        measure("pkg", root=tmp_path, runs=1)
    assert "ModuleNotFoundError: No module named 'no_such_module_anywhere'" in failed.value.detail
    assert "pkg/a.py" in failed.value.detail.replace("\\", "/")
    assert "import time:" not in failed.value.detail
    assert "--python" in failed.value.hint


def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=r"cannot run .*no-such-python"):
        measure("pkg", root=tmp_path, python=str(tmp_path / "no-such-python"))


def test_an_import_that_never_ends_is_ended(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "import time\ntime.sleep(60)\n"})
    with pytest.raises(ImportFailed, match="more than 1 seconds"):
        measure("pkg", root=tmp_path, runs=1, timeout=1)


def test_an_import_that_ends_the_process_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"pkg/__init__.py": "import os\nos._exit(0)\n"})
    with pytest.raises(ImportFailed, match="left no times"):
        measure("pkg", root=tmp_path, runs=1)
    with pytest.raises(ImportFailed, match="what it called is not known"):
        measure("pkg", root=tmp_path, runs=0, calls=("torch.cuda.init",))


@pytest.mark.parametrize("name", ["pkg; import os", "pkg.", "", "a-b"])
def test_only_dotted_names_are_run(name: str, tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="no dotted name"):
        measure(name, root=tmp_path)


# -- Parsing ----------------------------------------------------------------------------------------------------------


def test_the_lines_before_the_beginning_and_after_the_end_are_left_out() -> None:
    text = """\
import time: self [us] | cumulative | imported package
import time:       100 |        100 | site
codemods: the import begins
import time:       300 |        300 |   pkg.sub
import time:        20 |        320 | pkg

codemods: the import has ended
import time:         1 |          1 | late
"""
    assert parse(text) == (Timed("pkg.sub", 300, 1), Timed("pkg", 20, 0))


def test_medians_count_a_module_that_a_run_did_not_load_as_nothing() -> None:
    runs = [[Timed("a", 10, 1), Timed("b", 5, 0)], [Timed("b", 7, 0)], [Timed("a", 30, 1), Timed("b", 9, 0)]]
    assert medians(runs) == (Timed("a", 10, 1), Timed("b", 7, 0))


# -- Probes -----------------------------------------------------------------------------------------------------------


def test_a_call_is_reported_with_the_stack_that_made_it(tmp_path: Path) -> None:
    files = {
        **TORCH,
        "pkg/__init__.py": "from pkg import a\n",
        "pkg/a.py": "from torch.cuda import init as go\n\n\ndef warm():\n    go()\n\n\nwarm()\n",
    }
    (found,) = probe(tmp_path, files, "torch.cuda.init")
    assert (found.loaded, found.found, found.times) == (True, True, 1)
    at = [(Path(step.path).name, step.line, step.function) for step in found.stack]
    assert at == [
        ("__init__.py", 1, "<module>"),
        ("a.py", 8, "<module>"),
        ("a.py", 5, "warm"),
        ("__init__.py", 1, "init"),
    ]


def test_what_is_loaded_and_not_called_is_told_apart_from_what_is_not_loaded(tmp_path: Path) -> None:
    files = {**TORCH, "pkg/__init__.py": "import torch.cuda\n"}
    found = probe(tmp_path, files, "torch.cuda.init", "torch.nothing.init", "torch.cuda.nothing", "elsewhere.f")
    assert [(each.loaded, each.found, each.times) for each in found] == [
        (True, True, 0),
        (False, False, 0),
        (True, False, 0),
        (False, False, 0),
    ]


@pytest.mark.parametrize(
    ("cuda", "use"),
    [
        ("def init(): pass\ninit()\n", ""),
        ("def _init(): pass\ninit = _init\ninit()\n", ""),
        ("from torch._real import start as init\n", "torch.cuda.init()"),
        ("class init:\n    def __init__(self): pass\n", "torch.cuda.init()"),
        ("class init:\n    def __new__(cls): return object.__new__(cls)\n", "torch.cuda.init()"),
        ("class _Init:\n    def __call__(self): pass\ninit = _Init()\n", "torch.cuda.init()"),
        ("class _Init:\n    def go(self): pass\ninit = _Init().go\n", "torch.cuda.init()"),
        ("import functools\n@functools.lru_cache\ndef init(): pass\n", "torch.cuda.init()"),
        ("import functools\ndef init(x): pass\ninit = functools.wraps(init)(lambda f=init: f(1))\n", "torch.cuda.init()"),
        ("from _thread import allocate_lock as init\n", "torch.cuda.init()"),
        ("def init(): pass\n", "import threading; t = threading.Thread(target=torch.cuda.init); t.start(); t.join()"),
    ],
)  # fmt: skip
def test_each_kind_of_callable_is_seen(tmp_path: Path, cuda: str, use: str) -> None:
    files = {
        "torch/__init__.py": "",
        "torch/_real.py": "def start(): pass\n",
        "torch/cuda.py": cuda,
        "pkg/__init__.py": f"import torch.cuda\n{use}\n",
    }
    (found,) = probe(tmp_path, files, "torch.cuda.init")
    assert (found.loaded, found.found) == (True, True)
    assert found.times >= 1


@pytest.mark.parametrize(
    ("cuda", "use"),
    [
        ("def made(x):\n    def f(): return x\n    return f\ninit, other = made(1), made(2)\n", "torch.cuda.other()"),
        ("class base:\n    def __init__(self): pass\nclass init(base): pass\n", "torch.cuda.base()"),
        ("class _I:\n    def __call__(self): pass\ninit, other = _I(), _I()\n", "torch.cuda.other()"),
        ("import functools\ndef deco(f):\n    @functools.wraps(f)\n    def w(): return f()\n    return w\n"
         "@deco\ndef init(): pass\n@deco\ndef other(): pass\n", "torch.cuda.other()"),
        ("def init(): pass\n", "def init(): pass\ninit()"),
    ],
)  # fmt: skip
def test_a_like_callable_is_not_taken_for_it(tmp_path: Path, cuda: str, use: str) -> None:
    files = {"torch/__init__.py": "", "torch/cuda.py": cuda, "pkg/__init__.py": f"import torch.cuda\n{use}\n"}
    (found,) = probe(tmp_path, files, "torch.cuda.init")
    assert (found.loaded, found.found, found.times) == (True, True, 0)


def test_a_method_of_a_class_can_be_watched(tmp_path: Path) -> None:
    files = {
        "torch/__init__.py": "class Engine:\n    @classmethod\n    def start(cls): pass\n",
        "pkg/__init__.py": "import torch\ntorch.Engine.start()\n",
    }
    (found,) = probe(tmp_path, files, "torch.Engine.start")
    assert (found.loaded, found.found, found.times) == (True, True, 1)


def test_looking_for_a_name_loads_nothing_lazy(tmp_path: Path) -> None:
    lazy = "def __getattr__(name):\n    import torch.heavy\n    raise AttributeError(name)\n"
    files = {"torch/__init__.py": lazy, "torch/heavy.py": "raise SystemExit(9)\n", "pkg/__init__.py": "import torch\n"}
    (found,) = probe(tmp_path, files, "torch.init")
    assert (found.loaded, found.found, found.times) == (True, False, 0)


def test_a_child_left_running_does_not_hold_the_measurement(tmp_path: Path) -> None:
    text = f"import subprocess\nsubprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(20)'])\n"
    write(tmp_path, {"pkg/__init__.py": text})
    assert names(measure("pkg", root=tmp_path, runs=1, timeout=15)) == ["pkg"]
