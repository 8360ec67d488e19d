"""The verdicts on call sites: exactly the places that reach the name through its package."""

from __future__ import annotations

import pytest

from codemods.check_narrowed.verdicts import offences
from tests.check_narrowed.verbs import found, guarded_tree, rows

PKG = {
    "narrowed.toml": rows("pkg:sym", "pkg:f=pkg.f:f", "pkg:mod=pkg:mod"),
    "pkg/__init__.py": "",
    "pkg/sub.py": "def sym(): ...\ndef other(): ...\n",
    "pkg/f.py": "def f(): ...\nx = 1\n",
    "pkg/mod.py": "",
}


def lines(text: str, path: str = "app.py") -> list[str]:
    return [each.partition(":")[2] for each in found(PKG | {path: text})]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from pkg import sym\n", ["1 call-site pkg:sym"]),
        ("from pkg import (\n    other,\n    sym as s,\n)\n", ["3 call-site pkg:sym"]),
        ("def f():\n    from pkg import sym\n", ["2 call-site pkg:sym"]),
        ("import pkg\n\npkg.sym()\n", ["3 call-site pkg:sym"]),
        ("import pkg as p\n@p.sym\ndef g(x: 'p.sym'): ...\n", ["2 call-site pkg:sym", "3 call-site pkg:sym"]),
        ("from pkg import *\nsym()\n", ["1 call-site pkg:sym"]),
        ("from unittest.mock import patch\n\npatch('pkg.sym')\n", ["3 call-site pkg:sym"]),
        ("import pkg\ngetattr(pkg, 'sym')\n", ["2 call-site pkg:sym"]),
    ],
)
def test_what_reaches_the_name_through_the_package_is_an_offence(text: str, wanted: list[str]) -> None:
    assert lines(text) == wanted


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("from . import sym\n", "pkg/user.py"),
        ("from .. import sym\n", "pkg/deep/user.py"),
        ("from .. import pkg\npkg.sym\n", "outer/pkg/user.py"),
    ],
)
def test_relative_imports_count_from_their_file(text: str, path: str) -> None:
    inner = {name.replace("pkg/", "outer/pkg/"): data for name, data in PKG.items()}
    outer = path.startswith("outer/")
    files = (inner | {"narrowed.toml": rows("outer.pkg:sym"), "outer/__init__.py": ""}) if outer else PKG
    assert len(found(files | {"pkg/deep/__init__.py": "", path: text})) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.sub import sym\nsym()\n",
        "import pkg.sub\npkg.sub.sym()\n",
        "from pkg import other\n",
        "from pkg import mod\nmod.x\n",  # the import system finds a submodule
        "import pkg\npkg = object()\n",
        "def g(pkg): return pkg.sym\n",
        "class A:\n    def g(self): return self.pkg.sym\n",
        "from pkg import *\nother = 1\n",
    ],
)
def test_what_does_not_reach_it_is_none(text: str) -> None:
    assert lines(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from pkg import f\nf()\n", ["1 call-site pkg:f"]),
        ("from pkg import f\nf.x\n", []),
        ("import pkg.f as m\nm()\n", ["1 call-site pkg:f"]),
        ("import pkg.f as m\nm.x\n", []),
        ("from pkg.f import f\nf()\n", []),
    ],
)
def test_of_a_same_named_symbol_the_use_decides(text: str, wanted: list[str]) -> None:
    assert lines(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "from pkg import sym  # lint-ignore: NarrowReexport\n",
        "from pkg import sym  # lint-ignore\n",
        "# lint-fixme: Other, NarrowReexport\nfrom pkg import sym\n",
        "from pkg import (\n    sym,  # lint-ignore: NarrowReexport\n)\n",
        "import pkg\npkg.sym  # lint-ignore: NarrowReexportRule\n",
        "from pkg import sym  # codemods: accept narrow_reexport\n",
    ],
)
def test_a_comment_takes_a_place_on(text: str) -> None:
    assert lines(text) == []


@pytest.mark.parametrize(
    "text", ["from pkg import sym  # lint-ignore: OtherRule\n", "# lint-ignore\nx = 1\nfrom pkg import sym\n"]
)
def test_a_comment_for_another_rule_or_place_does_not(text: str) -> None:
    assert len(lines(text)) == 1


def test_a_file_that_names_the_symbol_and_does_not_parse_is_not_clean() -> None:
    assert lines("from pkg import sym\nprint 'x'\n") == ["2 unparsed pkg:sym"]
    assert lines("print 'x'\n") == []


def test_the_text_that_is_given_counts_and_not_the_file() -> None:
    with guarded_tree(PKG | {"app.py": "from pkg import sym\n"}) as guard:
        assert offences(guard, "app.py", b"from pkg.sub import sym\n") == ()
        (offence,) = offences(guard, "app.py", guard.read("app.py"))
        assert offence.message == "pkg.sym was narrowed to pkg.sub:sym: write `from pkg.sub import sym`"


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("from pkg import name", "from pkg.sub import impl as name"),
        ("from pkg import name as n", "from pkg.sub import impl as n"),
        ("from pkg import name as impl", "from pkg.sub import impl as impl"),
    ],
)
def test_what_to_write_keeps_the_name_that_the_file_uses(written: str, instead: str) -> None:
    files = PKG | {"narrowed.toml": rows("pkg:name=pkg.sub:impl"), "app.py": f"{written}\n"}
    with guarded_tree(files) as guard:
        (offence,) = offences(guard, "app.py", guard.read("app.py"))
        assert offence.message.endswith(f": write `{instead}`")


def test_documents_are_no_code() -> None:
    assert found(PKG | {"README.md": "```python\nfrom pkg import sym\n```\n"}) == []


def test_a_star_may_hand_the_package_on_under_another_name() -> None:
    files = {
        "narrowed.toml": rows("pkg:sym"),
        "pkg/__init__.py": "",
        "pkg/sub.py": "def sym(): ...\n",
        "first.py": "import pkg\n",
        "second.py": "from first import pkg as held\n",
        "app.py": "from second import *\nheld.sym()\n",
    }
    assert found(files) == ["app.py:2 call-site pkg:sym"]
