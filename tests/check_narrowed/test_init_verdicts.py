"""The package's `__init__`: each form in which a re-export can come back."""

from __future__ import annotations

import pytest

from tests.check_narrowed.verbs import found, rows

FILES = {
    "narrowed.toml": rows("pkg:sym", "pkg:listed", "pkg:mod=pkg:mod"),
    "pkg/sub.py": "__all__ = ['listed']\ndef sym(): ...\ndef listed(): ...\n",
    "pkg/mod.py": "",
}
HERE = "re-export pkg:sym"


@pytest.mark.parametrize(
    ("init", "wanted"),
    [
        ("from .sub import sym\n", [f"1 {HERE}"]),
        ("from pkg.sub import sym as sym\n", [f"1 {HERE}"]),
        ("from .sub import (\n    other,\n    sym,\n)\n", [f"3 {HERE}"]),
        ("from .sub import *\n", ["1 re-export pkg:listed"]),
        ("from .sub import ſym\n", [f"1 {HERE}"]),  # Python reads it as `sym`
        ("from . import sub\nsym = sub.sym\n", [f"2 {HERE}"]),
        ("try:\n    from .sub import sym\nexcept ImportError:\n    pass\n", [f"2 {HERE}"]),
        ("__all__ = ['other', 'sym']\n", ["1 all-entry pkg:sym"]),
        ("__all__ = []\n__all__ += ['sym']\n", ["2 all-entry pkg:sym"]),
        ("from . import sub\n__all__ = sub.__all__\n", ["2 all-entry pkg:listed"]),
        ("from .sub import __all__ as theirs\n__all__ = [*theirs]\n", ["2 all-entry pkg:listed"]),
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
        "from .sub import sym\nsym()\ndel sym\n",  # nobody else ever sees it
        "from . import sub\n__all__ = [name for name in sub.__all__ if name != 'listed']\n",
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


def test_the_module_that_is_called_like_the_symbol_is_not_the_symbol() -> None:
    files = FILES | {"narrowed.toml": rows("pkg:fly=pkg.fly:fly"), "pkg/fly.py": "def fly(): ...\n"}
    assert found(files | {"pkg/__init__.py": "from . import fly\n"}) == []
    assert found(files | {"pkg/__init__.pyi": "from . import fly\n", "pkg/__init__.py": ""}) == []
    assert found(files | {"pkg/__init__.py": "from .fly import fly\n"}) == ["pkg/__init__.py:1 re-export pkg:fly"]
    again = "from . import fly\nfly = fly.fly\n"
    assert found(files | {"pkg/__init__.py": again}) == ["pkg/__init__.py:2 re-export pkg:fly"]


@pytest.mark.parametrize(
    ("stub", "line"),
    [
        ("from .sub import *\n", 1),
        ("from . import sub\nlisted = sub.listed\n", 2),
        ("import sys\nif sys.version_info > (3, 11):\n    from .sub import listed as listed\n", 3),
    ],
)
def test_a_stub_re_exports_in_each_of_these_forms(stub: str, line: int) -> None:
    files = FILES | {"pkg/__init__.py": "", "pkg/__init__.pyi": stub}
    assert found(files) == [f"pkg/__init__.pyi:{line} re-export pkg:listed"]


def test_the_stub_beside_it_counts_too() -> None:
    files = FILES | {"pkg/__init__.py": "", "pkg/__init__.pyi": "from .sub import sym as sym\n"}
    assert found(files) == ["pkg/__init__.pyi:1 re-export pkg:sym"]


def test_an_init_that_names_it_and_does_not_parse_is_not_clean() -> None:
    assert found(FILES | {"pkg/__init__.py": "from .sub import sym\nprint 'x'\n"}) == [
        "pkg/__init__.py:2 unparsed pkg:sym"
    ]
