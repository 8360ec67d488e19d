"""The package's `__init__`: each form in which a re-export can come back."""

from __future__ import annotations

import pytest

from tests.check_narrowed.verbs import found, rows

FILES = {
    "narrowed.toml": rows("pkg:sym", "pkg:mod=pkg:mod"),
    "pkg/sub.py": "def sym(): ...\n",
    "pkg/mod.py": "",
}
HERE = "re-export pkg:sym"


@pytest.mark.parametrize(
    ("init", "wanted"),
    [
        ("from .sub import sym\n", [f"1 {HERE}"]),
        ("from pkg.sub import sym as sym\n", [f"1 {HERE}"]),
        ("from .sub import (\n    other,\n    sym,\n)\n", [f"3 {HERE}"]),
        ("from .sub import *\n", [f"1 {HERE}"]),
        ("from .sub import ſym\n", [f"1 {HERE}"]),  # Python reads it as `sym`
        ("from . import sub\nsym = sub.sym\n", [f"2 {HERE}"]),
        ("try:\n    from .sub import sym\nexcept ImportError:\n    pass\n", [f"2 {HERE}"]),
        ("__all__ = ['other', 'sym']\n", ["1 all-entry pkg:sym"]),
        ("__all__ = []\n__all__ += ['sym']\n", ["2 all-entry pkg:sym"]),
        ("from . import mod\n", ["1 re-export pkg:mod"]),
        ("import pkg.mod\n", ["1 re-export pkg:mod"]),
        (
            "def __getattr__(name):\n    if name == 'sym':\n        from .sub import sym\n        return sym\n"
            "    raise AttributeError(name)\n",
            [f"2 {HERE}"],
        ),
    ],
)
def test_a_reexport_that_comes_back_is_an_offence(init: str, wanted: list[str]) -> None:
    assert [each.partition(":")[2] for each in found(FILES | {"pkg/__init__.py": init})] == wanted


@pytest.mark.parametrize(
    "init",
    [
        "",
        "from .sub import other\n",
        "def sym(): ...\n",  # the package's own
        "def use():\n    from .sub import sym\n    return sym()\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .sub import sym\n",
        "from .sub import sym  # lint-ignore: NarrowReexport\n",
        "__all__ = ['other']\n__all__.remove('sym')\n",
    ],
)
def test_what_is_no_reexport_is_none(init: str) -> None:
    assert found(FILES | {"pkg/__init__.py": init}) == []


def test_a_row_may_leave_it_lazy() -> None:
    lazy = "def __getattr__(name):\n    if name == 'sym':\n        from .sub import sym\n        return sym\n"
    files = FILES | {"narrowed.toml": rows("pkg:sym=pkg.sub:sym lazy = true"), "pkg/__init__.py": lazy}
    assert found(files) == []
    assert len(found(files | {"pkg/__init__.py": "from .sub import sym\n"})) == 1


def test_the_stub_beside_it_counts_too() -> None:
    files = FILES | {"pkg/__init__.py": "", "pkg/__init__.pyi": "from .sub import sym as sym\n"}
    assert found(files) == ["pkg/__init__.pyi:1 re-export pkg:sym"]


def test_an_init_that_names_it_and_does_not_parse_is_not_clean() -> None:
    assert found(FILES | {"pkg/__init__.py": "from .sub import sym\nprint 'x'\n"}) == [
        "pkg/__init__.py:2 unparsed pkg:sym"
    ]
