"""Assignments that hand on what an import brought, and those that make something of their own."""

from __future__ import annotations

import pytest

from tests.check_narrowed.verbs import found, rows

FILES = {
    "narrowed.toml": rows("pkg:sym"),
    "pkg/sub.py": "class Kind:\n    sym = 1\n\n\ndef sym(): ...\ndef other(): ...\n",
}


@pytest.mark.parametrize(
    "statement",
    [
        "sym = sub.sym",
        "sym: object = sub.sym",
        "sym, other = sub.sym, sub.other",
        "[other, sym] = [sub.other, sub.sym]",
        "if (sym := sub.sym): pass",
        "sym = getattr(sub, 'sym')",
        "sym = sub.sym if sub else None",
        "sym = sub.sym or None",
        "globals()['sym'] = sub.sym",
        "vars()['sym'] = sub.sym",
        "globals().update(sym=sub.sym)",
        "globals().update({'sym': sub.sym})",
        "globals().setdefault('sym', sub.sym)",
    ],
)
def test_what_an_import_brought_is_re_exported_in_each_of_these_forms(statement: str) -> None:
    files = FILES | {"pkg/__init__.py": f"from . import sub\n{statement}\n"}
    assert found(files) == ["pkg/__init__.py:2 re-export pkg:sym"]


def test_it_may_go_by_way_of_other_names() -> None:
    by_import = "from .sub import sym as _first\n_second = _first\nsym = _second\n"
    assert found(FILES | {"pkg/__init__.py": by_import}) == ["pkg/__init__.py:3 re-export pkg:sym"]
    by_attribute = "import pkg.sub as s\n_first = s.sym\nsym = _first\n"
    assert found(FILES | {"pkg/__init__.py": by_attribute}) == ["pkg/__init__.py:3 re-export pkg:sym"]


@pytest.mark.parametrize(
    "init",
    [
        "from . import sub\n\n\ndef wrap(f): return f\n\n\nsym = wrap(sub.other)\n",
        "from .sub import Kind\nsym = Kind.sym\n",  # a class made it, not a module
        "from .sub import Kind\nsym = Kind()\n",
        "from . import sub\nsym, other = sub.other()\n",
        "_own = 1\nsym = _own\nglobals()['sym'] = _own\n",
        "sym = sym = None\n",
        "from . import sub\nglobals()['other'] = sub.sym\n",
    ],
)
def test_what_the_package_makes_itself_is_its_own(init: str) -> None:
    assert found(FILES | {"pkg/__init__.py": init}) == []
