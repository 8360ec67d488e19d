"""Rows that guard nothing any more are told from rows whose origin is merely elsewhere."""

from __future__ import annotations

import pytest

from codemods.check_narrowed.rows import complaint_of_rename, complaints, fresh_ban, parsed_symbol, stale_rows
from codemods.engine.errors import CodemodError, UnknownPackage
from codemods.engine.model import Symbol
from tests.check_narrowed.verbs import guarded_tree, rows
from tests.narrow_reexport.verbs import Tree

BASE = {"pkg/__init__.py": "", "pkg/sub.py": "def sym(): ...\n", "pkg/mod.py": ""}


def reasons(files: Tree, *symbols: str) -> list[str]:
    with guarded_tree({**BASE, **files, "narrowed.toml": rows(*symbols)}) as guard:
        return [each.reason for each in stale_rows(guard)]


@pytest.mark.parametrize(
    "sub",
    [
        "def sym(): ...\n",
        "class sym: ...\n",
        "async def sym(): ...\n",
        "sym: int\n",
        "sym = 1\n",
        "from .mod import sym\n",
        "from .mod import (\n    other,\n    sym,\n)\n",
        "import other as sym\n",
        "from numpy import *\n",
        "from .mod import *\n",
        "def __getattr__(name): ...\n",
        "if True:\n    def sym(): ...\n",
        "for sym in (): ...\n",
        "globals()['s' + 'ym'] = 1\n",
        "def init():\n    global sym\n    sym = 1\n",
        "this does not parse\n",
    ],
)
def test_an_origin_that_binds_the_name_is_there(sub: str) -> None:
    assert reasons({"pkg/sub.py": sub, "pkg/mod.py": "sym = 1\n"}, "pkg:sym") == []


@pytest.mark.parametrize("sub", ["", "def symbol(): ...\n", "x = 'sym'\n", "from .mod import *\n", "def f(sym): ...\n"])
def test_an_origin_that_binds_it_no_more_is_gone(sub: str) -> None:
    assert reasons({"pkg/sub.py": sub}, "pkg:sym") == [
        "the origin pkg.sub:sym of pkg:sym is gone: pkg/sub.py binds no sym"
    ]


def test_an_origin_whose_module_is_gone() -> None:
    assert reasons({}, "pkg:sym=pkg.old:sym") == [
        "the origin pkg.old:sym of pkg:sym is gone: there is no module pkg.old"
    ]


def test_a_compiled_origin_has_no_file_and_is_there_as_long_as_it_is_imported() -> None:
    assert reasons({"pkg/user.py": "from ._C import fast\n"}, "pkg:fast=pkg._C:fast") == []
    assert reasons({"pkg/user.py": "from . import _C\n"}, "pkg:fast=pkg._C:fast") == []
    assert len(reasons({"pkg/user.py": "from ._D import fast\n"}, "pkg:fast=pkg._C:fast")) == 1


def test_a_submodule_is_there_as_long_as_the_module_is() -> None:
    assert reasons({}, "pkg:mod=pkg:mod") == []
    assert reasons({}, "pkg:gone=pkg:gone") == ["the submodule pkg.gone is gone"]
    assert reasons({"other/__init__.py": "", "other/part.py": ""}, "pkg:part=other:part") == []


def test_a_package_that_is_gone_while_its_top_is_there() -> None:
    gone = ["the package pkg.old is gone, or has no __init__.py any more"]
    assert reasons({}, "pkg.old:sym=pkg.sub:sym") == gone
    assert reasons({"pkg/old.py": ""}, "pkg.old:sym=pkg.sub:sym") == gone
    assert reasons({}, "pkg.old:sym=pkg.sub:sym", "pkg:sym") == gone


def test_what_is_outside_the_tree_is_taken_as_it_is() -> None:
    assert reasons({}, "pkg:array=numpy.core:array", "elsewhere:x=elsewhere.sub:x") == []
    # a folder of the tests that is called as a library is not that library
    assert reasons({"tests/stubs/numpy/__init__.py": ""}, "pkg:array=numpy.core:array") == []


def test_a_package_that_is_there_twice_cannot_be_guarded_in_silence() -> None:
    copies = {"a/two/__init__.py": "", "b/two/__init__.py": ""}
    with pytest.raises(UnknownPackage, match="more than one package is called two") as error:
        reasons(copies, "two:sym=two.sub:sym")
    assert "source-root" in error.value.hint


def test_a_complaint_names_the_line_of_the_row_and_the_cure() -> None:
    files = {**BASE, "narrowed.toml": rows("pkg:a=pkg.old:a", "pkg:sym", "pkg:z=pkg.old:z")}
    with guarded_tree(files) as guard:
        errors = complaints(guard.read("narrowed.toml"), stale_rows(guard))
    assert [error.line for error in errors] == [4, 6]
    assert errors[0].text == '"pkg:a" = { origin = "pkg.old:a" }'
    assert "--prune" in errors[0].hint and "--rename" in errors[0].hint


def test_a_row_for_a_symbol_that_is_still_reexported() -> None:
    files = {**BASE, "pkg/__init__.py": "from .sub import sym as s\nfrom . import mod\n", "narrowed.toml": rows()}
    with guarded_tree(files) as guard:
        assert fresh_ban(guard, Symbol("pkg", "s")).origin == Symbol("pkg.sub", "sym")
        submodule = fresh_ban(guard, Symbol("pkg", "mod"))
        assert submodule.origin == submodule.symbol


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        (Symbol("pkg", "own"), "defined in pkg itself"),
        (Symbol("pkg", "nowhere"), "nowhere"),
        (Symbol("other", "sym"), "no package other"),
        (Symbol("pkg.sub", "sym"), "is a module, not a package"),
    ],
)
def test_what_is_no_reexport_gets_no_row(symbol: Symbol, reason: str) -> None:
    files = {**BASE, "pkg/__init__.py": "def own(): ...\n", "narrowed.toml": rows()}
    with guarded_tree(files) as guard, pytest.raises(CodemodError, match=reason):
        fresh_ban(guard, symbol)


def test_arguments_are_read_strictly() -> None:
    assert parsed_symbol("pkg.sub:name") == Symbol("pkg.sub", "name")
    assert parsed_symbol("pkg.sub.name") is None
    assert parsed_symbol("pkg:") is None
    assert complaint_of_rename("pkg.a", "pkg.b") == ""
    assert complaint_of_rename("pkg:a", "pkg.x:a") == ""
    assert "two modules or two symbols" in complaint_of_rename("pkg.a", "pkg:a")
    assert "neither" in complaint_of_rename("pkg.a", "pkg-b")
