"""Parts land in any order: after each, every program does what it did; all together they are the run in one go."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.narrow_reexport import plan_io
from codemods.narrow_reexport.bulk import pull_requests
from tests import oracle
from tests.narrow_reexport.trees import PKG, SAME
from tests.narrow_reexport.verbs import Tree, contents, expect_tree, narrow, tree

# Call sites of `pkg.NAME`; each prints something when it runs.
SITES = [
    "from pkg import NAME\n\nprint(NAME(2))\n",
    "from pkg import NAME as other, light\n\nprint(other(light(2)))\n",
    "import pkg\n\nprint(pkg.NAME(3))\n",
    "import pkg as p\n\n\ndef go():\n    return p.NAME(4)\n\n\nprint(go(), p.light(1))\n",
    "def go():\n    from pkg import NAME\n\n    return NAME(5)\n\n\nprint(go())\n",
    "from pkg import *\n\nprint(NAME(6))\n",
    "import pkg\n\nprint(getattr(pkg, 'NAME')(7))\n",
    "import importlib\n\nprint(importlib.import_module('pkg').NAME(8))\n",
    "try:\n    from pkg import NAME\nexcept ImportError:\n    NAME = None\nprint(NAME(9))\n",
    "import pkg\n\n\nclass A:\n    f = staticmethod(pkg.NAME)\n\n\nprint(A.f(1), f'{pkg.NAME(1)}')\n",
    "from pkg import NAME\n\n__all__ = ['NAME', 'x']\nx = 1\nprint(sorted(__all__), NAME())\n",
    "import pkg\nfrom pkg import light\n\nprint(light(pkg.NAME(2)))\n",
]
ONWARD = "from pkg import NAME\n\n\ndef use():\n    return NAME(1)\n"
PATCH = (
    "from unittest import mock\n\nimport late\n\n\ndef test_it():\n    with mock.patch('pkg.NAME', return_value=7):\n"
    "        print(late.go())\n\n\ntest_it()\n"
)
PATCH_OBJECT = (
    "from unittest import mock\n\nimport pkg\n\nimport late\n\n\ndef test_that():\n"
    "    with mock.patch.object(pkg, 'NAME', return_value=8):\n        print(late.go())\n\n\ntest_that()\n"
)
LATE = "import pkg\n\n\ndef go():\n    return pkg.NAME(2)\n"
LATE_IMPORT = "def go():\n    from pkg import NAME\n\n    return NAME(2)\n"


def sites(name: str) -> st.SearchStrategy[dict[str, str]]:
    one = st.sampled_from(SITES)
    return st.lists(one, min_size=1, max_size=5).map(
        lambda texts: {f"d{at % 3}/use{at}.py": text.replace("NAME", name) for at, text in enumerate(texts)}
    )


def programs(files: Tree) -> list[str]:
    return sorted(
        path.removesuffix(".py").replace("/", ".")
        for path in files
        if path.partition("/")[0] not in ("pkg", "out") and path[-3:] == ".py"
    )


def check_every_prefix(files: Tree, asked: Sequence[str], order: Sequence[int], way: str) -> list[plan_io.PlannedFile]:
    """Every prefix of this order of the parts keeps all programs running; the whole is the run in one go.

    `asked` is the command: symbols of `pkg`, or `--plan` and a file.
    """
    command = asked if asked[0] == "--plan" else ["pkg", *asked]
    with tree(files) as root, tempfile.TemporaryDirectory(prefix="parts-") as folder:
        plan_file = Path(folder) / "plan.json"
        outcome = narrow(root, *command, "--plan-out", str(plan_file), "-q")
        assert outcome.code == 0, outcome.text
        expect_tree(root, files, record=False)
        plan = plan_io.decode(plan_file.read_bytes(), "plan.json")
        parts = pull_requests(plan, root, way)
        if not parts:
            return []
        assert parts[-1].last and not any(part.last for part in parts[:-1])
        free = list(parts[:-1])
        ordered = [free.pop(at % len(free)) for at in order if free] + free + [parts[-1]]
        stages = [root]
        for number, part in enumerate(ordered):
            stage = Path(folder) / f"stage{number}"
            shutil.copytree(stages[-1], stage)
            for change in part.changes:
                found = (stage / change.path).read_bytes() if (stage / change.path).exists() else b""
                assert found == change.before
                (stage / change.path).write_bytes(change.after)
            stages.append(stage)
        ran = programs(files)
        results = oracle.run_many([oracle.Job(stage, program) for stage in stages for program in ran])
        told = [results[at * len(ran) : (at + 1) * len(ran)] for at in range(len(stages))]
        old = [each for each in told[0] if isinstance(each, oracle.Ran)]
        for stage, now in zip(["", *(part.name for part in ordered)], told, strict=True):
            wrong = oracle.differences(old, [each for each in now if isinstance(each, oracle.Ran)])
            assert not wrong, f"after part {stage!r} of {[part.name for part in ordered]}: {wrong}"
        one_shot = narrow(root, *command, "-q")
        assert one_shot.code == 0, one_shot.text
        assert contents(stages[-1]) == contents(root)
        return list(plan.files)


# Modules inside the package, which read each other through it while it is being imported; `F` is another function.
INSIDE = [
    "import pkg\n\n\ndef NAME():\n    return 'NAME', pkg.F\n",
    "import pkg as p\n\n\ndef NAME():\n    return 'NAME', p.F.__name__\n",
    "from pkg import F\n\n\ndef NAME():\n    return 'NAME', F.__name__\n",
    "from . import F as g\n\n\ndef NAME():\n    return 'NAME', g.__name__\n",
    "import os\nfrom pkg import F\n\n\ndef NAME():\n    return 'NAME', os.sep, F.__name__\n",
    "def NAME():\n    from . import F\n\n    return 'NAME', F.__name__\n",
    "import pkg\n\nNAME = pkg.F\n",
    "def NAME():\n    return 'NAME'\n",
]


@st.composite
def packages(draw: st.DrawFn) -> dict[str, str]:
    """A package of four modules in some order of import, whose functions may have the names of their modules."""
    prefix = draw(st.sampled_from(["", "m_"]))
    names = draw(st.permutations(["a", "b", "c", "d"]))
    files = {"pkg/__init__.py": "".join(f"from .{prefix}{name} import {name}\n" for name in names)}
    for name in names:
        other = draw(st.sampled_from([each for each in names if each != name]))
        text = draw(st.sampled_from(INSIDE)).replace("NAME", name).replace("F", other)
        files[f"pkg/{prefix}{name}.py"] = (
            text.replace(f"pkg.{other}\n", f"pkg.{other}.__name__\n") if "def" in text else text
        )
    # a module by its name: its repr has the folder, which is another one at each stage
    shown = "print([f() if callable(f) else getattr(f, '__name__', f) for f in (a, b, c, d)])\n"
    files["main.py"] = f"from pkg import a, b, c, d\n\n{shown}"
    files["other.py"] = f"import pkg\n\na, b, c, d = pkg.a, pkg.b, pkg.c, pkg.d\n{shown}"
    return files


ORDER = st.lists(st.integers(0, 9), max_size=6)
WAY = st.sampled_from(["count:1", "count:2", "count:9", "directory", "package"])
FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@given(sites("sym"), ORDER, WAY)
@FEW
def test_call_sites_land_in_any_order(more: dict[str, str], order: list[int], way: str) -> None:
    check_every_prefix({**PKG, **more}, ["sym"], order, way)


@given(sites("fused"), ORDER, WAY)
@FEW
def test_call_sites_of_a_function_with_the_name_of_its_module_land_in_any_order(
    more: dict[str, str], order: list[int], way: str
) -> None:
    light = "from .light import light\n"
    base = {**SAME, "pkg/__init__.py": f"{light}{SAME['pkg/__init__.py']!s}", "pkg/light.py": PKG["pkg/light.py"]}
    check_every_prefix({**base, **more}, ["fused"], order, way)


@given(
    sites("sym"),
    st.sampled_from([PATCH, PATCH_OBJECT]),
    st.sampled_from([LATE, LATE_IMPORT, ONWARD + "\n\ngo = use\n"]),
    ORDER,
    WAY,
)
@FEW
def test_patches_and_their_readers_land_together(
    more: dict[str, str], test: str, late: str, order: list[int], way: str
) -> None:
    files = {**PKG, **more, "late.py": late.replace("NAME", "sym"), "tests/test_it.py": test.replace("NAME", "sym")}
    check_every_prefix(files, ["sym"], order, way)


@given(packages(), st.sets(st.sampled_from(["a", "b", "c", "d"]), min_size=1), ORDER)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_modules_that_the_package_loads_itself_land_in_any_order(
    files: dict[str, str], symbols: set[str], order: list[int]
) -> None:
    with tree(files) as root:
        # a tree that fails, and one whose imports of a function take the module of its name by the order of imports, is
        # no test of parts
        old = oracle.run_programs(root, ["main", "other"])
        plans = all(ran.exit_code == 0 for ran in old) and narrow(root, "pkg", *sorted(symbols)).code == 0
        keeps = plans and not oracle.differences(old, oracle.run_programs(root, ["main", "other"]))
    if keeps:
        check_every_prefix(files, sorted(symbols), order, "count:9")


def lands(files: Tree, symbols: Sequence[str] = ("sym",)) -> dict[str, str]:
    return {file.path: file.lands for file in check_every_prefix(files, symbols, [1, 0], "count:9")}


def test_a_module_level_import_stands_alone_beside_a_patch_and_its_late_reader() -> None:
    found = lands(
        {
            **PKG,
            "late.py": LATE.replace("NAME", "sym"),
            "tests/test_it.py": PATCH.replace("NAME", "sym"),
            "early.py": SITES[0].replace("NAME", "sym"),
        }
    )
    assert found == {
        "late.py": "together",
        "tests/test_it.py": "together",
        "early.py": "alone",
        "pkg/__init__.py": "last",
    }


def test_where_the_init_reads_the_patched_name_itself_the_group_lands_last() -> None:
    init = f"{PKG['pkg/__init__.py']!s}\n\ndef own():\n    return sym(1)\n"
    test = PATCH.replace("NAME", "sym").replace("print(late.go())", "print(late.go(), pkg.own())")
    files = {
        **PKG,
        "pkg/__init__.py": init,
        "late.py": LATE.replace("NAME", "sym"),
        "tests/test_it.py": test.replace("import late", "import late\nimport pkg"),
        "early.py": SITES[0].replace("NAME", "sym"),
    }
    found = lands(files)
    assert (found["late.py"], found["tests/test_it.py"], found["early.py"]) == ("last", "last", "alone")


def test_a_read_through_the_path_of_a_masked_module_lands_last() -> None:
    # `pkg.fused` is the function until the last part; `pkg.fused.other` is there only afterwards
    files = {
        **SAME,
        "pkg/__init__.py": "from .fused import fused, other\n",
        "a.py": "import pkg\n\n\ndef go():\n    return pkg.other()\n\n\nprint(go())\n",
        "b.py": "from pkg import fused, other\n\nprint(fused(), other())\n",
        "tests/test_it.py": PATCH.replace("NAME", "fused").replace("late", "c"),
        "c.py": LATE.replace("NAME", "fused"),
    }
    found = lands(files, ["fused", "other"])
    assert found["b.py"] == "alone"
    assert found["c.py"] == found["tests/test_it.py"] == "last"


def test_a_patch_that_comes_to_be_given_the_masked_module_lands_last() -> None:
    # patch.object(pkg, "fused")  ->  patch.object(pkg.fused, "fused")        the test read `pkg.fused` before, too
    text = "    with mock.patch.object(pkg, 'fused', return_value=7):\n        print(pkg.fused(2))\n"
    test = f"from unittest import mock\n\nimport pkg\n\n\ndef test_it():\n{text}\n\ntest_it()\n"
    assert lands({**SAME, "tests/test_it.py": test}, ["fused"])["tests/test_it.py"] == "last"


def test_a_module_that_the_package_loads_lands_last_if_it_comes_to_load_other_modules_first() -> None:
    # a: import pkg  ->  import pkg.b     loads b before the `__init__` does, and b needs a name that comes later
    files = {
        "pkg/__init__.py": "from .a import a\nfrom .c import c\nfrom .b import b\n",
        "pkg/a.py": "import pkg\n\n\ndef a():\n    return pkg.b()\n",
        "pkg/b.py": "from pkg import c\n\n\ndef b():\n    return c()\n",
        "pkg/c.py": "def c():\n    return 3\n",
        "main.py": "from pkg import a, b, c\n\nprint(a(), b(), c())\n",
    }
    found = lands(files, ["b", "c"])
    assert found["pkg/a.py"] == "last"
    assert (found["main.py"], found["pkg/b.py"]) == ("alone", "alone")


def test_an_all_that_is_built_from_the_packages_lands_last() -> None:
    files = {
        **PKG,
        "pkg/__init__.py": f"{PKG['pkg/__init__.py']!s}\n__all__ = ['light', 'sym']\n",
        "outer.py": "import pkg\nfrom pkg import *\n\n__all__ = ['x'] + pkg.__all__\nx = 1\nprint(sorted(__all__))\n",
    }
    assert lands(files)["outer.py"] == "last"


def test_a_stub_and_a_page_stand_alone() -> None:
    files = {**PKG, "typed.pyi": "from pkg import sym as sym\n", "page.md": "```python\nfrom pkg import sym\n```\n"}
    found = lands(files)
    assert (found["typed.pyi"], found["page.md"]) == ("alone", "alone")


def test_a_read_that_a_from_import_expresses_stands_alone_also_if_the_init_deletes_the_modules_name() -> None:
    files = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import sym\n\ndel sub\n",
        "a.py": "import pkg\n\n\ndef go():\n    return pkg.sym(1)\n\n\nprint(go())\n",
        "b.py": SITES[0].replace("NAME", "sym"),
    }
    found = lands(files)
    assert (found["a.py"], found["b.py"]) == ("alone", "alone")


def test_a_page_beside_a_patch_does_not_tie_all_call_sites_together() -> None:
    files = {
        **PKG,
        "late.py": LATE.replace("NAME", "sym"),
        "tests/test_it.py": PATCH.replace("NAME", "sym"),
        "early.py": "from pkg import sym\n\nclass A:\n    pass\n\n\nsetattr(A, 'f', sym)\nprint(sym())\n",
        "page.md": "```python\nfrom pkg import sym\n```\n",
    }
    assert lands(files)["early.py"] == "alone"


def test_a_test_that_imports_while_its_patch_is_on_takes_all_readers_of_the_name_along() -> None:
    test = PATCH.replace("import late\n", "").replace(
        "print(late", "import early\n        import late\n        print(late"
    )
    files = {
        **PKG,
        "late.py": LATE.replace("NAME", "sym"),
        "tests/test_it.py": test.replace("NAME", "sym"),
        "early.py": SITES[0].replace("NAME", "sym"),
    }
    found = lands(files)
    assert found["early.py"] == found["late.py"] == found["tests/test_it.py"] == "together"
