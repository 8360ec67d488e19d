"""A module that takes the names of the package as its own, whatever they are: they will be other ones."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, blocks, stays
from tests.narrow_reexport.verbs import check_refused, check_rewritten

READER = {"main.py": "from mid import *\n\nprint(sym(2), light(1))\n"}


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("from pkg import *\n\n__all__ = [n for n in dir(pkg) if not n.startswith('_')]\n", 4),
        ("from pkg import *\n\n_found = sorted(vars(pkg))\n_public = [n for n in _found if n[0] != '_']\n"
         "__all__ = []\n__all__ += _public\n", 4),
        ("from pkg import *\n\n__all__ = []\nfor name in pkg.__dict__:\n    if name[0] != '_':\n"
         "        __all__.append(name)\n", 5),
        ("globals().update(vars(pkg))\n", 2),
        ("for key, value in vars(pkg).items():\n    if key[0] != '_':\n        globals()[key] = value\n", 2),
        ("import inspect\n\nglobals().update(inspect.getmembers(pkg))\n", 4),
        ("import sys\n\nsys.modules[__name__].__dict__.update(pkg.__dict__)\n", 4),
        ("def fill():\n    globals().update(vars(pkg))\n\n\nfill()\n", 3),
        ("__all__ = []\nif True:\n    names = dir(pkg)\n    __all__.extend(n for n in names if n == 'light')\n", 4),
    ],
)  # fmt: skip
def test_a_listing_of_the_package_that_becomes_a_modules_exports_is_refused(code: str, line: int) -> None:
    tree = {**PKG, **READER, "mid.py": f"import pkg\n{code}"}
    outcome = check_refused(tree, "pkg", "sym", "decides what this module exports", at=f"mid.py:{line}")
    assert "write the names out" in outcome.text


def test_the_symbol_may_be_a_submodule() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": "from . import sub\nfrom .light import light\n",
        "mid.py": "import pkg\nfrom pkg import *\n\n__all__ = [n for n in dir(pkg) if n[0] != '_']\n",
    }
    check_refused(tree, "pkg", "sub", "decides what this module exports", at="mid.py:4")


def test_a_listing_that_is_only_looked_at_is_a_warning() -> None:
    stays("import pkg\n\n__all__ = ['x']\nx = len(dir(pkg)) > 1\nprint(x)\n", says="dir\\(\\) gets the package")


def test_a_listing_of_something_else_is_left_alone() -> None:
    stays("import pkg\n\n__all__ = [n for n in dir(pkg.light) if n == 'x']\nprint(__all__)\n")


def test_a_listing_that_is_accepted_stays() -> None:
    code = "import pkg\n\n__all__ = [n for n in dir(pkg) if n == 'light']  # codemods: accept narrow_reexport\nprint(__all__)\n"
    check_rewritten({**PKG, "mid.py": code}, "pkg", "sym", NARROWED, run=["mid"])


def test_the_way_out_is_to_write_the_names_out() -> None:
    stays("from pkg import light\n\n__all__ = ['light']\nprint(light(1))\n")
    blocks("import pkg\n\n__all__ = dir(pkg)\n", "decides what this module exports", at="main.py:3")
