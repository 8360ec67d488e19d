"""Closures with edges left out or added, what a module takes from whom, and whose names those are."""

from __future__ import annotations

from pathlib import Path

from codemods.import_cost.loads import exported, handed_on, third_party
from tests.import_cost.checkouts import HEAVY, opened


def test_a_closure_without_some_edges_and_with_others(tmp_path: Path) -> None:
    loads = opened(tmp_path, HEAVY).loads
    cut = frozenset({("pkg", "pkg.heavy")})
    assert "torch" not in loads.closure("pkg.user", cut)
    assert "torch" in loads.closure("pkg.user", cut, {"pkg.light": frozenset({"pkg.heavy"})})
    assert loads.closure("pkg") == loads.graph.closure("pkg")


def test_names_are_taken_together_by_origin(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import f\nfrom . import b, a\nfrom .a import g as h\nimport pkg.c\nimport torch as t\n",
        "pkg/a.py": "",
        "pkg/b.py": "",
        "pkg/c.py": "",
    }
    loads = opened(tmp_path, files).loads
    found = {taken.origin: (taken.names, taken.lines, exported(loads, taken)) for taken in loads.taken("pkg")}
    assert found == {
        "pkg.a": (("f", "a", "h"), (1, 2, 3), ("f", "a", "h")),
        "pkg.b": (("b",), (2,), ("b",)),
        "pkg.c": (("pkg",), (4,), ()),
        "torch": (("t",), (5,), ("t",)),
    }


def test_a_star_hands_on_what_its_origin_binds(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "from .a import *\nfrom .b import _g\n", "pkg/a.py": "f = 1\n", "pkg/b.py": "_g = 1\n"}
    loads = opened(tmp_path, files).loads
    assert [handed_on(loads, taken) for taken in loads.taken("pkg")] == [{"f", "*"}, {"_g"}]


def test_third_party_is_neither_the_tree_nor_the_standard_library(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "import json, xml.dom, torch.nn, numpy, pkg.a\n", "pkg/a.py": ""}
    loads = opened(tmp_path, files).loads
    whole = loads.closure("pkg")
    assert third_party(whole, loads) == ("numpy", "torch")
    assert third_party(whole, loads, frozenset({"torch.cuda"})) == ("numpy",)
