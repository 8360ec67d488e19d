"""Names that a lazy package gives out: where they come from, as its imports for type checkers tell."""

from __future__ import annotations

from codemods.engine.graph import ImportGraph
from codemods.engine.lazy_twins import lazy_twins
from codemods.engine.model import Module
from codemods.engine.modules import Layout

LAZY = b"""\
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .heavy import Engine, Tool as Hammer
    from .many import *
    from . import sub
def __getattr__(name):
    raise AttributeError(name)
"""
FILES = {
    "pkg/__init__.py": LAZY,
    "pkg/heavy.py": b"import json\nclass Engine: ...\nclass Tool: ...\n",
    "pkg/many/__init__.py": b"import sys\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .far import Deep\n"
    b"else:\n    sys.modules[__name__] = _LazyModule(__name__)\n",
    "pkg/many/far.py": b"class Deep: ...\n",
    "pkg/sub.py": b"",
    "light.py": b"import pkg\n",
    "eager.py": b"from pkg import Engine\n",
    "renamed.py": b"from pkg import Hammer\n",
    "deep.py": b"from pkg import Deep\n",
    "late.py": b"def f():\n    from pkg import Engine\n",
    "unknown.py": b"from pkg import Nobody\n",
}
PKG = Module("pkg", "pkg/__init__.py", True)


def loaded(module: str) -> set[str]:
    graph = ImportGraph(Layout(sorted(FILES), "pkg").locate, FILES.get)
    return {name for name in graph.closure(module) if name.partition(".")[0] == "pkg"}


def test_the_twins_of_a_lazy_package_are_its_from_imports() -> None:
    found = dict(lazy_twins(LAZY, PKG))
    assert found["pkg.heavy"] == {"Engine", "Hammer"}
    assert found["pkg.many"] == {"*"}
    assert found["pkg.sub"] == {"sub"}


def test_a_package_without_a_sign_of_laziness_has_none() -> None:
    assert lazy_twins(LAZY.replace(b"__getattr__", b"other"), PKG) == ()
    assert lazy_twins(b"def __getattr__(name): ...\n", PKG) == ()


def test_importing_a_lazy_package_loads_nothing_of_it() -> None:
    assert loaded("light") == {"pkg"}


def test_taking_a_lazy_name_as_a_module_is_imported_loads_its_origin() -> None:
    assert loaded("eager") == {"pkg", "pkg.heavy"}
    assert loaded("renamed") == {"pkg", "pkg.heavy"}


def test_a_star_for_type_checkers_leads_on_to_another_lazy_package() -> None:
    assert loaded("deep") == {"pkg", "pkg.many", "pkg.many.far"}


def test_a_lazy_name_that_is_taken_late_or_is_not_known_loads_nothing() -> None:
    assert loaded("late") == set()
    assert loaded("unknown") == {"pkg"}
