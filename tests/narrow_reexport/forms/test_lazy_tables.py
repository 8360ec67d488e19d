"""Which tables of a lazy export name a package and a symbol of it."""

from __future__ import annotations

import ast

import pytest

from codemods.engine.model import Module, Symbol
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.forms.lazy_tables import entry_for

GIVES = "from tools import find\n\n{}\n\n\ndef __getattr__(name):\n    return find(WHERE, name)\n"


def entry(text: str) -> str:
    source = decode(text.encode(), "outer/__init__.py")
    found = entry_for(analyse(source, parse(source)), Module("outer", source.path, True), Symbol("outer.pkg", "sym"))
    return ast.unparse(found) if found is not None else ""


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ("WHERE = {'pkg': ['light', 'sym']}", "'sym'"),
        ("WHERE = {'outer.pkg': 'sym'}", "'sym'"),
        ("WHERE = {'sym': 'pkg'}", "'sym'"),
        ("WHERE = {'sym': '.pkg'}", "'sym'"),
        ("WHERE = {'sym': 'outer.pkg:sym'}", "'sym'"),
        ("WHERE = {'sym': ('outer.pkg.sym', None)}", "'sym'"),
        ("WHERE = {}\nWHERE['sym'] = 'pkg'", "'sym'"),
        ("WHERE = {'pkg': []}\nWHERE['pkg'].append('sym')", "'sym'"),
        ("WHERE = {}\nWHERE.setdefault('pkg', []).append('sym')", "'sym'"),
        ("OTHER = {'pkg': ['sym']}\nWHERE = {}\nWHERE.update(OTHER)", "'sym'"),
        ("WHERE = [('sym', 'pkg')]", "'sym'"),
        ("WHERE = (('pkg', ['light', 'sym']), ('other', []))", "'sym'"),
        ("WHERE = {'pkg': 'light sym'.split()}", "'light sym'"),
        ("WHERE = ['sym', 'light', 'outer.pkg.other']", ""),
        ("WHERE = {'pkg': ['light']}", ""),
        ("WHERE = {'other': ['sym']}", ""),
        ("WHERE = {'sym': 'other'}", ""),
        ("WHERE = {'sym': 'light', 'pkg': ['light']}", ""),
        ("WHERE = {}\nWORDS = {'pkg': ['sym']}", ""),
    ],
)
def test_an_entry_that_names_both_counts_in_a_table_that_is_reached(table: str, found: str) -> None:
    assert entry(GIVES.format(table)) == found


@pytest.mark.parametrize("imported", ["from warnings import warn as find", "from typing import cast as find"])
def test_nothing_is_loaded_by_what_loads_nothing(imported: str) -> None:
    text = GIVES.format("WHERE = {'sym': 'pkg'}")
    assert not entry(text.replace("from tools import find", imported))


def test_a_module_in_the_place_of_this_one_reaches_its_table() -> None:
    lines = "from tools import Lazy\n\nWHERE = {'pkg': ['sym']}\nsys.modules[__name__] = Lazy(WHERE)\n"
    assert entry(f"import sys\n{lines}") == "'sym'"
