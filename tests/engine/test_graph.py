"""The import graph on small trees, and its simulated import against the real one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from codemods.engine.cycles import risky_entries, unmasked_cycles
from codemods.engine.graph import Fault, ImportGraph
from codemods.engine.model import Module

Tree = Mapping[str, str]  # path -> source


def graph_of(tree: Tree) -> ImportGraph:
    folders = {str(parent) for path in tree for parent in Path(path).parents}

    def locate(name: str) -> Module | None:
        path = name.replace(".", "/")
        if f"{path}/__init__.py" in tree:
            return Module(name, f"{path}/__init__.py", True)
        if f"{path}.py" in tree:
            return Module(name, f"{path}.py", False)
        return Module(name, "", True) if path in folders else None

    def read(path: str) -> bytes | None:
        return tree[path].encode() if path in tree else None

    return ImportGraph(locate, read)


def names_of(tree: Tree) -> list[str]:
    return sorted(path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in tree)


def imported(graph: ImportGraph, name: str) -> list[str]:
    return [edge.imported for edge in graph.edges(name)]


HEAVY = {
    "pkg/__init__.py": '"""Doc."""\n\nVERSION = 1\n\n\n\nimport pkg.other\n',
    "pkg/light.py": "X = 1\n",
    "pkg/other.py": "import numpy.linalg\nfrom pkg.deep.leaf import f\n",
    "pkg/deep/leaf.py": "def f(): import late\n",
    "user.py": "import pkg.light\n",
}


def test_the_parent_makes_a_light_sibling_heavy() -> None:
    graph = graph_of(HEAVY)
    assert graph.closure("pkg.light") == {
        "pkg",
        "pkg.light",
        "pkg.other",
        "numpy",
        "numpy.linalg",
        "pkg.deep",
        "pkg.deep.leaf",
    }
    assert graph.closure("user") == {"user"} | graph.closure("pkg.light")


def test_a_chain_reads_like_a_path_through_the_files() -> None:
    graph = graph_of(HEAVY)
    assert [str(edge) for edge in graph.chain("user", "numpy")] == [
        "user.py:1 imports pkg.light",
        "pkg.light runs its parent package pkg",
        "pkg/__init__.py:7 imports pkg.other",
        "pkg/other.py:1 imports numpy.linalg",
        "numpy.linalg runs its parent package numpy",
    ]
    assert graph.chain("pkg.light", "user") == ()
    assert graph.chain("pkg", "pkg") == ()


def test_edges_keep_the_order_of_the_statements() -> None:
    tree = {
        "a/__init__.py": "",
        "a/b.py": "import z\nfrom . import c, d\nfrom y.x import w\nimport a.b\n",
        "a/c.py": "",
    }
    assert imported(graph_of(tree), "a.b") == ["a", "z", "a", "a.c", "y.x"]


def test_a_name_that_the_package_binds_hides_the_submodule() -> None:
    tree = {
        "p/__init__.py": (
            "from .x import fun\nfrom . import mod\nfrom .x import same as other\n"
            "class klass: pass\nimport p.aliased as aliased\n"
        ),
        "user.py": "from p import fun, mod, klass, aliased, plain, nothing\n",
        **{f"p/{name}.py": "" for name in ("x", "fun", "mod", "klass", "aliased", "plain")},
    }
    assert imported(graph_of(tree), "user") == ["p", "p.mod", "p.aliased", "p.plain"]


def test_a_package_sees_of_itself_what_it_has_bound_so_far() -> None:
    tree = {
        "p/__init__.py": "from . import a, b\na = a.thing\nfrom . import a as again\n",
        "p/a.py": "thing = 1\n",
        "p/b.py": "",
    }
    assert imported(graph_of(tree), "p") == ["p.a", "p.b"]


def test_a_star_import_loads_the_submodules_that_a_literal_all_names() -> None:
    tree = {
        "p/__init__.py": '__all__ = [\n  "a", "f"]\ndef f(): pass\n',
        "p/a.py": "",
        "p/f.py": "",
        "u.py": "from p import *\n",
    }
    assert imported(graph_of(tree), "u") == ["p", "p.a"]


def test_lazy_late_and_typing_imports_are_no_edges() -> None:
    source = "lazy import a\ndef f():\n    import b\nif TYPE_CHECKING:\n    import c\nclass D:\n    import e\n"
    assert imported(graph_of({"m.py": source}), "m") == ["e"]


def test_a_long_chain_needs_no_deep_stack() -> None:
    tree = {f"m{n}.py": f"import m{n + 1}\n" for n in range(5000)} | {"m5000.py": "from m0 import x\n"}
    tree["m0.py"] += "x = 1\n"
    graph = graph_of(tree)
    assert len(graph.closure("m0")) == 5001
    assert len(graph.chain("m0", "m5000")) == 5000
    fault = graph.simulate("m0")
    assert fault and len(fault.cycle) == 5001
    assert len(risky_entries(graph, names_of(tree))) == 5001


MASKED = {
    "pkg/__init__.py": "from .sub import sym\n",
    "pkg/sub.py": "import pkg.x\nsym = 1\n",
    "pkg/x.py": "base = 1\nfrom pkg.y import helper\n",
    "pkg/y.py": "from pkg.x import base\nhelper = 2\n",
}
UNMASKED = MASKED | {"pkg/__init__.py": ""}


def test_a_removed_reexport_unmasks_a_cycle() -> None:
    before, after = graph_of(MASKED), graph_of(UNMASKED)
    entries = risky_entries(after, names_of(UNMASKED))
    assert entries == ("pkg.x", "pkg.y")
    fault = Fault("pkg.x", "pkg/x.py", 2, "helper", "pkg.y", ("pkg.y", "pkg.x"))
    assert unmasked_cycles(before, after, entries) == (fault,)
    assert unmasked_cycles(before, after, [*entries, "pkg.y", "gone"]) == (fault,)
    assert unmasked_cycles(after, after, entries) == ()
    assert str(fault) == "pkg/x.py:2 cannot import helper from partially initialized pkg.y (pkg.y > pkg.x)"


def test_only_the_parent_is_worth_simulating_where_it_loads_the_cycle() -> None:
    assert risky_entries(graph_of(MASKED), names_of(MASKED)) == ("pkg",)
    assert risky_entries(graph_of(MASKED), ["pkg.x", "pkg.y"]) == ("pkg.x", "pkg.y")


def test_cycles_of_whole_modules_are_no_risk() -> None:
    tree = {
        "a.py": "import b\n",
        "b.py": "import a\n",
        "p/__init__.py": "from . import q\n",
        "p/q.py": "from p import r\n",
        "p/r.py": "import p.q\n",
    }
    assert risky_entries(graph_of(tree), names_of(tree)) == ()


def test_a_cycle_through_the_parent_of_a_foreign_module_is_a_risk() -> None:
    tree = {
        "m.py": "import p.leaf\nn = 1\n",
        "p/__init__.py": "import x\n",
        "p/leaf.py": "",
        "x.py": "from m import n\n",
    }
    graph = graph_of(tree)
    assert graph.simulate("m") == Fault("x", "x.py", 1, "n", "m", ("m", "p", "x"))
    assert risky_entries(graph, names_of(tree)) == ("m", "p", "x")


CYCLIC: dict[str, Tree] = {
    "a masked cycle": MASKED,
    "an unmasked cycle": UNMASKED,
    "import of a running module": {"a.py": "import b\nx = 1\n", "b.py": "import a\nimport a as c\n"},
    "a name bound before": {"a.py": "x = 1\nimport b\ny = 2\n", "b.py": "from a import x\n"},
    "a name bound after": {"a.py": "import b\ny = 2\n", "b.py": "x = 1\nfrom a import y\n"},
    "a submodule that is running": {
        "p/__init__.py": "from . import a\nfrom p import b\n",
        "p/a.py": "from p import b\nimport p.b as c\nx = 1\n",
        "p/b.py": "from p import a\nimport p.a as d\nfrom p.a import x\n",
    },
    "a package that is running": {
        "p/__init__.py": "from p.a import f\nVERSION = 1\n",
        "p/a.py": "def f(): pass\nfrom p import VERSION\n",
    },
    "a guard": {
        "a.py": "try:\n    import b\nexcept ImportError:\n    b = None\ny = 2\nimport b\n",
        "b.py": "import c\nfrom a import y\n",
        "c.py": "try:\n    from a import y\nexcept ImportError:\n    y = 1\n",
    },
    "a star": {
        "a.py": "x = 1\nfrom b import *\nz = 3\n",
        "b.py": "from a import *\ny = x\nfrom a import z\n",
        "c.py": "from d import *\nq = 1\n",
        "d.py": "from c import *\nimport e\n",
        "e.py": "from d import q\n",
    },
    "a module __getattr__": {
        "a.py": "def __getattr__(name): return name\nimport b\ny = 2\n",
        "b.py": "from a import y, other\n",
    },
    "a late __getattr__": {
        "a.py": "import b\ny = 2\ndef __getattr__(name): return name\n",
        "b.py": "from a import y\n",
    },
    "a class body": {
        "a.py": "class A:\n    from b import x\ny = 1\n",
        "b.py": "x = 1\nclass B:\n    from a import y as z\n",
    },
    "a typing cycle": {
        "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import X\nclass Y: pass\n",
        "b.py": "from a import Y\nclass X: pass\n",
    },
    "a same-name re-export": {
        "p/__init__.py": "from .fit import fit\n",
        "p/fit.py": "from . import use\ndef fit(): pass\n",
        "p/use.py": "from p import fit\nfrom p.fit import fit\n",
    },
    "a namespace package": {"n/a.py": "from n import b\nx = 1\n", "n/b.py": "from n.a import x\n"},
    "a failed package whose submodule stays": {
        "m.py": "try:\n    import p\nexcept ImportError:\n    pass\nimport p.a\nfrom p import a\nlate = 1\n",
        "p/__init__.py": "from . import a\nfrom q import z\n",
        "p/a.py": "",
        "q.py": "import p\nfrom m import late\nz = 1\n",
    },
}

PROBE = """
import json, os, re, sys, traceback
sys.dont_write_bytecode = True
def load(root, entry):
    sys.path.insert(0, root)
    try:
        __import__(entry)
    except ImportError as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        name = re.match(r"cannot import name '(\\w+)'", str(error))
        return [os.path.relpath(frame.filename, root), frame.lineno, name[1] if name else str(error)]
    except BaseException as error:
        return [repr(error), 0, ""]
for line in sys.stdin:
    root, entry = json.loads(line)
    sys.stdout.flush()
    if os.fork():
        os.wait()
    else:
        print(json.dumps(load(root, entry)), flush=True)
        os._exit(0)
"""


def really(trees: Iterable[tuple[Path, Tree]]) -> list[tuple[str, int, str] | None]:
    """What the interpreter says to `import entry`, in a process of its own for each module of each tree."""
    jobs: list[str] = []
    for root, tree in trees:
        for path, source in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(source)
        jobs += [json.dumps([str(root), entry]) for entry in names_of(tree)]
    asked = "\n".join(jobs)
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", PROBE], input=asked, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(jobs)
    return [tuple(answer) if answer else None for answer in answers]


def simulated(tree: Tree) -> list[tuple[str, int, str] | None]:
    graph = graph_of(tree)
    faults = [graph.simulate(entry) for entry in names_of(tree)]
    return [(fault.path, fault.line, fault.name) if fault else None for fault in faults]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the probe forks")


@needs_fork
@pytest.mark.parametrize("tree", CYCLIC.values(), ids=CYCLIC.keys())
def test_a_simulated_import_ends_like_the_real_one(tree: Tree, tmp_path: Path) -> None:
    assert simulated(tree) == really([(tmp_path, tree)]), names_of(tree)


PATHS = ("pkg/__init__.py", "pkg/a.py", "pkg/b.py", "pkg/sub/__init__.py", "pkg/sub/c.py")


def some_tree(seed: int) -> Tree:
    rng = random.Random(seed)
    modules = names_of(dict.fromkeys(PATHS, ""))
    tree: dict[str, str] = {}
    for path in PATHS:
        own = names_of({path: ""})[0]
        lines = [f"{own.replace('.', '_')}_{n} = {n}" for n in range(2)]
        for _ in range(rng.randint(1, 3)):
            other = rng.choice([name for name in modules if name != own])
            package, _, tail = other.rpartition(".")
            value = f"{other.replace('.', '_')}_{rng.randint(0, 1)}"
            forms = [
                f"import {other}",
                f"import {other} as m",
                f"from {other} import *",
                f"from {other} import {value}",
            ]
            forms += [f"from {other} import {value} as v", f"class K:\n    from {other} import {value}"]
            forms += [f"try:\n    from {other} import {value}\nexcept ImportError:\n    {value} = None"]
            forms += [f"from {package} import {tail}"] * 2 if package else []
            lines.append(rng.choice(forms))
        rng.shuffle(lines)
        tree[path] = "\n".join(lines) + "\n"
    return tree


@needs_fork
def test_simulated_imports_of_random_trees_end_like_the_real_ones(tmp_path: Path) -> None:
    trees = [some_tree(seed) for seed in range(int(os.environ.get("TREES", "60")))]
    real = really((tmp_path / str(number), tree) for number, tree in enumerate(trees))
    assert sum(answer is not None for answer in real) > len(trees) // 2
    for number, tree in enumerate(trees):
        shown = "\n".join(textwrap.indent(source, path + ": ") for path, source in tree.items())
        assert simulated(tree) == real[number * len(PATHS) : (number + 1) * len(PATHS)], shown
        graph = graph_of(tree)
        risky = risky_entries(graph, names_of(tree))
        assert {graph.simulate(entry) for entry in risky} | {None} == {
            graph.simulate(name) for name in names_of(tree)
        } | {None}
