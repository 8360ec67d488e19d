"""Symbols whose `__module__` is set: pickle looks them up there."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

DECO = """
def set_module(module):
    def decorate(f):
        if module is not None:
            f.__module__ = module
        return f
    return decorate


def export(f):
    f.__module__ = "pkg"
    return f


def copies(f):
    def inner():
        return f()
    inner.__module__ = f.__module__
    return inner


both = set_module("pkg")
"""
MAIN = "import pickle\nfrom pkg import sym\nprint(sym.__module__, pickle.loads(pickle.dumps(sym)) is sym)\n"


def files(sub: str, init: str = "from .sub import sym\n") -> Tree:
    return {"pkg/__init__.py": init, "pkg/deco.py": DECO, "pkg/sub.py": sub, "main.py": MAIN}


@pytest.mark.parametrize(
    ("sub", "line"),
    [
        ("def sym(): ...\nsym.__module__ = 'pkg'\n", 2),
        ("def sym(): ...\nsetattr(sym, '__module__', 'pkg')\n", 2),
        ("def sym(): ...\nfor f in (sym,):\n    f.__module__ = 'pkg'\n", 2),
        ("def sym(): ...\nfor n in ('sym',):\n    globals()[n].__module__ = 'pkg'\n", 2),
        ("class sym:\n    __module__ = 'pkg'\n", 2),
        ("from .deco import set_module\n\n\n@set_module('pkg')\ndef sym(): ...\n", 4),
        ("from .deco import export\n\n\n@export\ndef sym(): ...\n", 4),
        ("from .deco import both\n\n\n@both\ndef sym(): ...\n", 4),
        ("from elsewhere import set_module\n\n\n@set_module('pkg')\ndef sym(): ...\n", 4),
        ("import collections\n\nsym = collections.namedtuple('sym', 'a', module='pkg')\n", 3),
        ("sym = type('sym', (), {'__module__': 'pkg'})\n", 1),
        ("class S:\n    def __reduce__(self):\n        return 'sym'\n\n\nS.__module__ = 'pkg'\nsym = S()\n", 6),
    ],
)
def test_a_symbol_that_says_it_lives_in_the_package_is_refused(sub: str, line: int) -> None:
    check_refused(files(sub), "pkg", "sym", "__module__ ", at=f"pkg/sub.py:{line}")


@pytest.mark.parametrize(
    "sub",
    [
        "def sym(): ...\n\n\nsym.__module__ = __name__\n",
        "def sym(): ...\n\n\ndef other(): ...\n\n\nother.__module__ = 'pkg'\n",
        "from .deco import set_module\n\n\n@set_module('pkg.sub')\ndef sym(): ...\n",
        "import collections\n\nsym = collections.namedtuple('sym', 'a', module='pkg.sub')\n",
        "class S:\n    def __reduce__(self):\n        return 'sym'\n\n\nsym = S()\n",
    ],
)
def test_a_symbol_that_says_it_lives_in_its_origin_moves(sub: str) -> None:
    after = {"pkg/__init__.py": "", "main.py": MAIN.replace("pkg import", "pkg.sub import")}
    check_rewritten(files(sub), "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_decorator_that_copies_the_module_name_is_no_reason_to_refuse() -> None:
    tree = {
        **files("from .deco import copies\n\n\n@copies\ndef sym(): ...\n"),
        "main.py": "from pkg import sym\nsym()\n",
    }
    after = {"pkg/__init__.py": "", "main.py": "from pkg.sub import sym\nsym()\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


@pytest.mark.parametrize(
    "init",
    [
        "from .sub import sym\n__all__ = ['sym']\nfor name in __all__:\n    globals()[name].__module__ = __name__\n",
        "from .sub import sym\nv = 0\nfor v in list(globals().values()):\n    if callable(v):\n        v.__module__ = 'pkg'\n",
        "from .sub import sym\nfrom .fix import fix\nfix(__name__, globals())\n",
    ],
)
def test_an_init_that_sets_it_on_all_its_names_is_refused(init: str) -> None:
    tree = {
        **files("def sym(): ...\n", init),
        "pkg/fix.py": "def fix(name, names):\n    for v in names.values():\n        if callable(v):\n            v.__module__ = name\n",
    }
    check_refused(tree, "pkg", "sym", "sets __module__ on the names that it exports", at="pkg/__init__.py:3")
