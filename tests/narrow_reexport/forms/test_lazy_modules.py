"""PEP 810: `lazy from`, `lazy import` and `__lazy_modules__`. What was lazy stays lazy.

No interpreter here may know the syntax, so the trees with it are compared as text; `__lazy_modules__` is run.
"""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, moves
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

MORE: Tree = {**PKG, "pkg/light.py": "def light(x):\n    return x\n"}
FROM = "from pkg import sym\n\nprint(sym(2))\n"
DIRECT = "from pkg.sub import sym\n\nprint(sym(2))\n"


def lazily(before: str, after: str) -> None:
    """A call site with lazy imports follows an eager re-export."""
    check_rewritten({**PKG, "main.py": before}, "pkg", "sym", {**NARROWED, "main.py": after})


def test_a_lazy_from_import_of_the_init_goes() -> None:
    text = '"""A package.\n\nlazy from here import nothing\n"""\n\nlazy from .light import light\nlazy from .sub import sym\n'
    check_rewritten(
        {**MORE, "pkg/__init__.py": text, "main.py": FROM},
        "pkg",
        "sym",
        {"pkg/__init__.py": text.replace("lazy from .sub import sym\n", ""), "main.py": DIRECT},
    )


def test_one_of_several_lazy_names_goes() -> None:
    text = "lazy from .sub import (\n    Sym,\n    sym,  # dear\n)\n__all__ = ['Sym', 'sym']\n"
    check_rewritten(
        {**MORE, "pkg/__init__.py": text, "main.py": FROM},
        "pkg",
        "sym",
        {"pkg/__init__.py": "lazy from .sub import (\n    Sym,\n)\n__all__ = ['Sym']\n", "main.py": DIRECT},
    )


def test_a_lazy_export_read_late_stays_late() -> None:
    check_rewritten(
        {
            **MORE,
            "pkg/__init__.py": "lazy from .sub import sym\n",
            "main.py": "import pkg\n\n\ndef f():\n    return pkg.sym\n",
        },
        "pkg",
        "sym",
        {"pkg/__init__.py": "", "main.py": "import pkg\n\n\ndef f():\n    from pkg.sub import sym\n    return sym\n"},
    )


def test_a_lazy_name_of_a_submodule_is_refused() -> None:
    tree: Tree = {
        "pkg/__init__.py": "lazy from .sym import sym\n",
        "pkg/sym.py": "def sym():\n    pass\n",
        "main.py": FROM,
    }
    check_refused(tree, "pkg", "sym", "imported before", at="pkg/__init__.py:1")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lazy from pkg import sym\n", "lazy from pkg.sub import sym\n"),
        ("lazy from pkg import sym as s  # late\n", "lazy from pkg.sub import sym as s  # late\n"),
        ("lazy from pkg import light, sym\n", "lazy from pkg import light\nlazy from pkg.sub import sym\n"),
        (
            "lazy from pkg import (\n    light,  # a\n    sym,  # b\n)\n",
            "lazy from pkg import (\n    light,  # a\n)\nlazy from pkg.sub import sym  # b\n",
        ),
        (
            "x = 1; lazy from pkg import light, sym\n",
            "x = 1; lazy from pkg import light; lazy from pkg.sub import sym\n",
        ),
        (
            "lazy import pkg\n\n\ndef f():\n    return pkg.sym()\n",
            "lazy import pkg.sub\n\n\ndef f():\n    return pkg.sub.sym()\n",
        ),
        (
            "lazy import pkg\n\n\ndef f():\n    return pkg.sym(pkg.light)\n",
            "lazy import pkg\nlazy import pkg.sub\n\n\ndef f():\n    return pkg.sub.sym(pkg.light)\n",
        ),
        (
            "lazy import pkg as p\n\n\ndef f():\n    return p.sym(p.light)\n",
            "lazy import pkg as p\nlazy from pkg.sub import sym\n\n\ndef f():\n    return sym(p.light)\n",
        ),
        # an eager import of the same module is another statement
        (
            "lazy from pkg import sym\nfrom pkg.sub import Sym\n",
            "from pkg.sub import Sym\nlazy from pkg.sub import sym\n",
        ),
        ("lazy from pkg.sub import Sym\nlazy from pkg import sym\n", "lazy from pkg.sub import Sym, sym\n"),
        (
            "lazy from pkg.sub import Sym\nfrom pkg import sym\n",
            "lazy from pkg.sub import Sym\nfrom pkg.sub import sym\n",
        ),
    ],
)
def test_a_lazy_call_site_stays_lazy(before: str, after: str) -> None:
    lazily(before, after)


def test_positions_in_a_file_with_lazy_imports_are_exact() -> None:
    before = "# caf\xe9\nlazy import json\n\nS = '''\nlazy import pkg\n'''\nlazy from pkg import sym  # \xe9\n\nprint(f'{sym(1)}', S)\n"
    lazily(before, before.replace("from pkg", "from pkg.sub"))


def test_a_word_lazy_that_is_a_name_is_left_alone() -> None:
    lazily(
        "lazy = 1\nlazy from pkg import sym\nprint(lazy)\n",
        "lazy = 1\nlazy from pkg.sub import sym\nprint(lazy)\n",
    )


def test_a_file_that_does_not_parse_for_another_reason_is_refused() -> None:
    check_refused({**PKG, "main.py": "lazy from pkg import sym\nprint 'x'\n"}, "pkg", "sym", "parse", at="main.py:")


# --- `__lazy_modules__` ---


def test_the_origin_joins_the_list() -> None:
    moves(
        '__lazy_modules__ = ["json", "pkg"]\n\nimport json\nfrom pkg import sym\n\nprint(sym(2), json)\n'.replace(
            ", json)", ")"
        ),
        '__lazy_modules__ = ["json", "pkg", "pkg.sub"]\n\nimport json\nfrom pkg.sub import sym\n\nprint(sym(2))\n',
    )


def test_the_origin_joins_the_list_for_an_attribute() -> None:
    head, rest = "__lazy_modules__ = {\n    'pkg',\n", "\n\n\ndef run():\n    return pkg.sym(2)\n\n\nprint(run())\n"
    moves(
        head + "}\n\nimport pkg" + rest,
        head + "    'pkg.sub',\n}\n\nimport pkg\nimport pkg.sub" + rest.replace("pkg.sym", "pkg.sub.sym"),
    )


def test_a_list_of_other_modules_is_left_alone() -> None:
    moves(
        '__lazy_modules__ = ["json"]\n\nfrom pkg import sym\n\nprint(sym(2))\n',
        '__lazy_modules__ = ["json"]\n\nfrom pkg.sub import sym\n\nprint(sym(2))\n',
    )


def test_a_list_that_cannot_be_read_is_refused() -> None:
    text = 'import pkg.light\n\n__lazy_modules__ = [n for n in ("pkg",)]\n\nfrom pkg import sym\n\nprint(sym(2))\n'
    check_refused({**PKG, "main.py": text}, "pkg", "sym", "__lazy_modules__", at="main.py:3")


def test_an_entry_of_the_init_goes_with_its_import() -> None:
    text = '__lazy_modules__ = ["pkg.light", "pkg.sub"]\n\nfrom .light import light\nfrom .sub import sym\n'
    check_rewritten(
        {**PKG, "pkg/__init__.py": text, "main.py": FROM},
        "pkg",
        "sym",
        {"pkg/__init__.py": '__lazy_modules__ = ["pkg.light"]\n\nfrom .light import light\n', "main.py": DIRECT},
        run=["main"],
        unloaded=["pkg.sub"],
    )


def test_an_entry_of_the_init_stays_while_something_is_imported_by_it() -> None:
    text = '__lazy_modules__ = ["pkg.sub"]\n\nfrom .light import light\nfrom .sub import Sym, sym\n'
    check_rewritten(
        {**PKG, "pkg/__init__.py": text, "main.py": FROM},
        "pkg",
        "sym",
        {"pkg/__init__.py": text.replace("Sym, sym", "Sym"), "main.py": DIRECT},
        run=["main"],
    )
