"""A table of lazy exports may lie in another file than what gives names out by it."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

OUTER: Tree = {
    "outer/pkg/__init__.py": "from .light import light\nfrom .sub import sym\n",
    "outer/pkg/light.py": "def light(x=1):\n    return x\n",
    "outer/pkg/sub.py": "def sym(x=1):\n    return 2 * x\n",
    "outer/__init__.py": (
        "import importlib\n\nfrom .tables import WHERE\n\n\ndef where(name):\n    for package, names in WHERE.items():\n"
        "        if name in names:\n            return f'outer.{package}'\n    raise AttributeError(name)\n\n\n"
        "def __getattr__(name):\n    return getattr(importlib.import_module(where(name)), name)\n"
    ),
    "outer/tables.py": 'WHERE = {"pkg": ["light", "sym"]}\n',
    "main.py": "import outer\n\nprint(outer.sym(3), outer.light(4))\n",
}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from .tables import WHERE", "WHERE"),
        ("from outer.tables import WHERE as TABLE", "TABLE"),
        ("from .tables import *", "WHERE"),
        ("from . import tables", "tables.WHERE"),
        ("import outer.tables as listed", "listed.WHERE"),
    ],
)
def test_a_table_that_another_module_gives_names_out_by_is_refused(line: str, name: str) -> None:
    init = (
        str(OUTER["outer/__init__.py"])
        .replace("from .tables import WHERE", line)
        .replace("WHERE.items", f"{name}.items")
    )
    tree = {**OUTER, "outer/__init__.py": init}
    check_refused(tree, "outer.pkg", "sym", "outer gives names out lazily by this table", at="outer/tables.py:1")


NARROWED: Tree = {"outer/pkg/__init__.py": "from .light import light\n"}
LIGHT = "import outer\n\nprint(outer.light(4))\n"


@pytest.mark.parametrize(
    "changed",
    [
        # nothing is given out by it
        {
            "outer/__init__.py": "from .tables import WHERE\n\nlight = len(WHERE)\n",
            "main.py": "import outer\n\nprint(outer.light)\n",
        },
        # it leads elsewhere
        {"outer/tables.py": 'WHERE = {"pkg": ["light"], "other": ["sym"]}\n', "main.py": LIGHT},
        # nobody takes it
        {"outer/tables.py": 'WHERE = {"pkg": ["light"]}\nWORDS = {"pkg": ["sym"]}\n', "main.py": LIGHT},
    ],
)
def test_a_table_that_is_no_way_to_the_symbol_is_left_alone(changed: Tree) -> None:
    check_rewritten({**OUTER, **changed}, "outer.pkg", "sym", NARROWED, run=["main"])
