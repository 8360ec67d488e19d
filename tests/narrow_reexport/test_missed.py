"""What the package looks up as it is imported must be registered by then."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

KEEPER = (
    "class Keeper:\n    def add(self, cls):\n        setattr(self, cls.__name__, cls)\n\n\nS = Keeper()\nT = Keeper()\n"
)
KNOWN = "KNOWN = {}\n\n\ndef keep(cls):\n    KNOWN[cls.__name__] = cls\n"
LOOKED_UP: Tree = {
    "pkg/sub.py": "from reg import Meta\n\n\nclass Sym:\n    pass\n\n\nclass One(metaclass=Meta):\n    pass\n",
    "user.py": "from pkg import Sym\n\nprint(Sym)\n",
}
AS_ATTRIBUTE: Tree = {
    **LOOKED_UP,
    "reg.py": f"{KEEPER}\n\nclass Meta(type):\n    def __init__(cls, *rest):\n        S.add(cls)\n",
}
AS_ITEM: Tree = {
    **LOOKED_UP,
    "reg.py": f"{KNOWN}\n\nclass Meta(type):\n    def __init__(cls, *rest):\n        keep(cls)\n",
}
IMPORTS = "import reg\nfrom reg import *\nfrom .sub import Sym\n"


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (AS_ATTRIBUTE, "One = S.One\n"),
        (AS_ATTRIBUTE, "One = [reg.S.One]\n"),
        (AS_ATTRIBUTE, "class Two(S.One): pass\n"),
        (AS_ATTRIBUTE, "def f(one=S.One): pass\n"),
        (AS_ITEM, "One = KNOWN['One']\n"),
        (AS_ITEM, "print(reg.KNOWN['One'].__name__)\n"),
    ],
)
def test_what_the_init_looks_up_as_it_is_imported_must_be_registered_by_then(tree: Tree, line: str) -> None:
    tree = {**tree, "pkg/__init__.py": IMPORTS + line}
    check_refused(tree, "pkg", "Sym", "pkg.sub registers it .*not imported before that", at="pkg/__init__.py:4")


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (AS_ATTRIBUTE, "def f():\n    return S.One\n"),
        (AS_ATTRIBUTE, "f = lambda: S.One\n"),
        (AS_ATTRIBUTE, "T.One = 1\nOne = T.One\n"),
        (AS_ATTRIBUTE, "import pkg.sub\nOne = S.One\n"),
        (AS_ITEM, "One = KNOWN.get('One')\nKNOWN['Two'] = 2\nprint(KNOWN['Two'])\n"),
        (AS_ITEM, "One = {'One': 1}['One']\n"),
    ],
)
def test_other_lookups_need_not_wait_for_it(tree: Tree, line: str) -> None:
    tree = {**tree, "pkg/__init__.py": IMPORTS + line}
    after = {"user.py": "from pkg.sub import Sym\n\nprint(Sym)\n"}
    after["pkg/__init__.py"] = IMPORTS.replace("from .sub import Sym\n", "") + line
    check_rewritten(tree, "pkg", "Sym", after, run=["user"])


# `import top` runs `top.pkg` in the middle, and only then what the call site in it now imports itself
AROUND: Tree = {
    **{f"top/{path}": text for path, text in AS_ATTRIBUTE.items()},
    "top/__init__.py": "from .pkg import One, Sym\n",
    "top/pkg/__init__.py": "from top.reg import S\nfrom .sub import Sym\nOne = S.One\n",
    "top/pkg/sub.py": "from top.reg import Meta\n\n\nclass Sym:\n    pass\n\n\nclass One(metaclass=Meta):\n    pass\n",
    "top/user.py": "from top.pkg import Sym\n\nprint(Sym)\n",
}


def test_a_later_import_in_the_package_above_comes_too_late() -> None:
    check_refused(AROUND, "top.pkg", "Sym", "S.One is looked up as top.pkg is imported", at="top/pkg/__init__.py:3")


def test_a_package_above_that_has_run_by_then_is_counted_on() -> None:
    tree = {**AROUND, "top/__init__.py": "import top.pkg.sub\n"}
    check_refused(
        tree, "top.pkg", "Sym", "S.One is looked up", at="top/pkg/__init__.py:3"
    )  # it runs in the middle of that
    apart = {
        **AROUND,
        "top/__init__.py": "import other\n",
        "other.py": "from reg import Meta\n\n\nclass One(metaclass=Meta):\n    pass\n",
        "reg.py": AS_ATTRIBUTE["reg.py"],
        "top/pkg/__init__.py": "from reg import S\nimport other\nfrom .sub import Sym\nOne = S.One\n",
        "top/pkg/sub.py": "import other\n\n\nclass Sym:\n    pass\n",
    }
    after = {"top/user.py": "from top.pkg.sub import Sym\n\nprint(Sym)\n"}
    after["top/pkg/__init__.py"] = "from reg import S\nimport other\nOne = S.One\n"
    check_rewritten(apart, "top.pkg", "Sym", after, run=["top.user"])
