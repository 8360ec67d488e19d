"""Stubs: consumers' `.pyi` files, stubs of the `__init__` beside it and elsewhere."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten

SUB = "def sym(x: int = ...) -> int: ...\n"


def check(before: dict[str, str], after: dict[str, str], *, says: str = "") -> None:
    tree: dict[str, str | bytes] = {**PKG, **before}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, **after}, says=says)


def test_a_re_export_in_a_stub_keeps_its_as() -> None:
    check({"c.pyi": "from pkg import sym as sym\n"}, {"c.pyi": "from pkg.sub import sym as sym\n"})


def test_a_stub_that_passes_the_name_on_still_does() -> None:
    check(
        {"outer/__init__.py": "from pkg import sym\n", "outer/__init__.pyi": "from pkg import sym as sym\n"},
        {"outer/__init__.py": "from pkg.sub import sym\n", "outer/__init__.pyi": "from pkg.sub import sym as sym\n"},
    )


def test_what_a_star_passed_on_in_a_stub_is_exported_by_name() -> None:
    check(
        {"outer/__init__.py": "from pkg import *\n", "outer/__init__.pyi": "from pkg import *\n"},
        {
            "outer/__init__.py": "from pkg import *\nfrom pkg.sub import sym\n",
            "outer/__init__.pyi": "from pkg import *\nfrom pkg.sub import sym as sym\n",
        },
    )


def test_relative_imports_in_a_stub_stay_relative() -> None:
    check({"pkg/more.py": "", "pkg/more.pyi": "from . import sym\n"}, {"pkg/more.pyi": "from .sub import sym\n"})


def test_types_in_a_stub_are_rewritten() -> None:
    check(
        {"c.pyi": "import pkg\n\nx: pkg.sym\ny: 'pkg.sym'\n"},
        {"c.pyi": "import pkg.sub\n\nx: pkg.sub.sym\ny: 'pkg.sub.sym'\n"},
    )


def test_a_star_in_the_stub_of_the_init_is_spelled_out_as_re_exports() -> None:
    check({"pkg/__init__.pyi": "from .sub import *\n"}, {"pkg/__init__.pyi": "from .sub import Sym as Sym\n"})


def test_a_stub_that_declares_the_name_itself_is_refused() -> None:
    check_refused({**PKG, "pkg/__init__.pyi": SUB}, "pkg", "sym", "declares the name", at="pkg/__init__.pyi:1")


@pytest.mark.parametrize("folder", ["pkg-stubs", "stubs/pkg-stubs", "typings/pkg"])
def test_a_stub_package_elsewhere_is_narrowed_too(folder: str) -> None:
    check(
        {
            f"{folder}/__init__.pyi": "from .light import light as light\nfrom .sub import sym as sym\n",
            f"{folder}/light.pyi": "def light(x: int) -> int: ...\n",
            f"{folder}/sub.pyi": SUB,
            f"{folder}/more.pyi": "from . import sym\nfrom pkg import sym as s\n",
        },
        {
            f"{folder}/__init__.pyi": "from .light import light as light\n",
            f"{folder}/more.pyi": "from .sub import sym\nfrom pkg.sub import sym as s\n",
        },
    )


def test_the_stub_of_a_package_further_down_is_found() -> None:
    check_rewritten(
        {
            "top/__init__.py": "",
            "top/ops/__init__.py": "from .sub import sym\n",
            "top/ops/sub.py": "def sym():\n    pass\n",
            "top-stubs/__init__.pyi": "",
            "top-stubs/ops/__init__.pyi": "from .sub import sym as sym\n",
            "top-stubs/ops/sub.pyi": "def sym() -> None: ...\n",
        },
        "top.ops",
        "sym",
        {"top/ops/__init__.py": "", "top-stubs/ops/__init__.pyi": ""},
    )


def test_a_stub_elsewhere_that_declares_the_name_is_warned_of() -> None:
    check({"pkg-stubs/__init__.pyi": SUB}, {}, says=r"warning: pkg-stubs/__init__\.pyi:1: the stub declares")


def test_a_stub_elsewhere_that_does_not_parse_is_warned_of() -> None:
    check({"pkg-stubs/__init__.pyi": "from .sub import sym as\n"}, {}, says=r"warning: pkg-stubs/__init__\.pyi:1")
