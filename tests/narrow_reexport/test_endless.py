"""Code with more paths through it than there is time for: each is walked once. A test that fails here does not end."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, narrow, tree

N = 40
REG = """
KEPT = []


class Registry:
    def add(self, f):
        KEPT.append(f)
        return self

    def plain(self, f):
        return self


TOP = Registry()


def same(x, y=None):
    return x


def keep(x):
    KEPT.append(x)
    return x
"""
TREE: Tree = {"pkg/__init__.py": "from .sub import sym\n", "reg.py": REG, "user.py": "from pkg import sym\n"}
HEAD = "from reg import *\n\n\ndef sym(): ...\n\n\n"


def lines(pattern: str, number: int = N) -> str:
    return "".join(pattern.format(i=i, n=i + 1) + "\n" for i in range(number))


ORIGINS = {
    "a chain of calls that keep": "TOP" + ".add(sym)" * N,
    "a chain of calls that do not": "TOP" + ".plain(sym)" * N,
    "calls in calls": "keep(" * N + "sym" + ")" * N,
    "calls in calls with two arguments": "same(" * N + "sym" + ", sym)" * N,
    "names made in two ways": f"x0 = sym\n{lines('x{n} = x{i} or x{i}')}TOP.add(x{N})",
    "one name again and again": f"x = sym\n{lines('x = x if x else x')}TOP.add(x)",
    "functions that call twice": f"def f0(x): keep(x)\n{lines('def f{n}(x): f{i}(x), f{i}(x)')}f{N}(sym)",
    "functions that give back what two give": f"def f0(x): return x\n{lines('def f{n}(x): return f{i}(f{i}(x))')}keep(f{N}(sym))",
    "diamonds of classes": "class C0:\n    def __init_subclass__(cls): keep(cls)\n"
    + lines("class A{i}(C{i}): ...\nclass B{i}(C{i}): ...\nclass C{n}(A{i}, B{i}): ..."),
    "lambdas in lambdas": "x = " + "lambda: (" * N + "sym" + ")" * N + "\nTOP.add(x)",
    "decorators": "@keep\n" * N + "def other(): ...",
}
USERS = {
    "aliases of aliases": f"import pkg\np0 = pkg\n{lines('p{n} = p{i} or p{i}')}print(p{N}.sym)",
    "a computed name of computed names": f"import pkg\nn0 = 'sy'\n{lines('n{n} = n{i} + (n{i} or n{i})')}getattr(pkg, n{N})",
    "names that are all made from all": "import pkg\n"
    + "".join(f"n{i} = {' or '.join(f'n{j}' for j in range(N) if j != i)}\n" for i in range(N))
    + "getattr(pkg, n3)",
    "a name of many unknown parts": f"import pkg\ngetattr(pkg, {' + '.join(['x'] * N)} + 'zzz')",
    "modules in variables": f"import importlib\nm0 = importlib.import_module('pkg')\n{lines('m{n} = m{i} if m{i} else m{i}')}m{N}.sym",
    "functions that give the package": f"import pkg\ndef f0(): return pkg\n{lines('def f{n}(): return f{i}() or f{i}()')}f{N}().sym",
    "patches on patches": "from unittest.mock import patch\n" + "@patch('pkg.sym')\n" * N + "def test(*a): ...",
    "assignments in assignments": "import pkg\n" + "(x := " * N + "pkg" + ")" * N + "\nprint(x.sym)",
    "code in a string": "exec('import pkg\\n' + 'pkg.sym;' * 40)",
}


@pytest.mark.parametrize("form", ORIGINS)
def test_an_origin_is_followed_once_along_each_path(form: str) -> None:
    check({**TREE, "pkg/sub.py": f"{HEAD}{ORIGINS[form]}\n"})


@pytest.mark.parametrize("form", USERS)
def test_a_call_site_is_followed_once_along_each_path(form: str) -> None:
    check({**TREE, "pkg/sub.py": HEAD, "other.py": f"{USERS[form]}\n"})


def check(files: Tree) -> None:
    with tree(files) as root:
        outcome = narrow(root, "pkg", "sym")
    assert outcome.code in (0, 4), outcome.text
    assert "too deep" not in outcome.text
