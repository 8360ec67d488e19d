"""Registrations at module level of an origin."""

import pytest

from codemods.engine.model import Module
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.registration import registrations
from tests.narrow_reexport.forms.registries import DEF
from tests.narrow_reexport.forms.registries import found as registered

KEEPS = "KNOWN = []\ndef register(f):\n    KNOWN.append(f)\n    return f\n"
INSTANCE = """class Registry:
    def __init__(self):
        self.all = {}

    def register(self, f):
        self.all[f.__name__] = f
        return f


REGISTRY = Registry()
"""
PASSES = "def register(f):\n    return f\n"


def found(files: dict[str, str]) -> list[tuple[int, bool | None]]:
    modules = {path.removesuffix(".py").replace("/", "."): path for path in files}

    def locate(name: str) -> Module | None:
        return Module(name, modules[name], False) if name in modules else None

    namespaces = Namespaces(locate, lambda path: files[path].encode())
    module = locate("sub")
    assert module is not None
    return [(each.site.line, each.stores) for each in registrations(module, namespaces)]


@pytest.mark.parametrize(
    ("registry", "text", "expected"),
    [
        (KEEPS, "from registry import register\n@register\ndef sym(): ...\n", [(2, True)]),
        (KEEPS, "import registry\n@registry.register\ndef sym(): ...\n", [(2, True)]),
        (KEEPS, "from registry import register\ndef sym(): ...\nregister(sym)\n", [(3, True)]),
        (INSTANCE, "from registry import REGISTRY\n@REGISTRY.register\nclass Sym: ...\n", [(2, True)]),
        (KEEPS, "from registry import KNOWN\ndef sym(): ...\nKNOWN.append(sym)\n", [(3, True)]),
        (PASSES, "from registry import register\n@register\ndef sym(): ...\n", []),
        ("", "from elsewhere import register\n@register('x')\ndef sym(): ...\n", [(2, None)]),
        ("", "import functools, triton\n@functools.lru_cache\n@triton.jit\ndef sym(): ...\n", []),
        ("", "from log import get\nlogger = get(__name__)\nlogger.info('x')\ndef sym(): ...\n", []),
        (KEEPS, "from registry import register\ndef sym():\n    register(sym)\n", []),
    ],
)
def test_what_hands_a_local_object_to_a_keeper_is_found(registry: str, text: str, expected: list[object]) -> None:
    assert found({"registry.py": registry, "sub.py": text}) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("register(sym)", [("register", True)]),
        ("KNOWN.append(sym)", [("KNOWN.append", True)]),
        ("TABLE.update({'a': sym})", [("TABLE.update", True)]),
        ("TABLE.setdefault('k', []).append(sym)", [("TABLE.setdefault('k', []).append", True)]),
        ("REGISTRY.register('x')(sym)", [("REGISTRY.register", True)]),
        ("reg.register(f=sym)", [("reg.register", True)]),
        ("register(lambda: 1)", [("register", True)]),
        ("for each in (sym,):\n    register(each)", [("register", True)]),
        ("try:\n    register(sym)\nexcept ValueError:\n    pass", [("register", True)]),
        ("setattr(reg, 'sym', sym)", [("setattr", True)]),
        ("REGISTRY.register('x')", []),
        ("register('text')", []),
        ("kept = register(sym)", []),
        ("print(sym)", []),
        ("assert register(sym)", [("register", True)]),
        ("if __name__ == '__main__':\n    register(sym)", []),
        ("if TYPE_CHECKING:\n    register(sym)", []),
        ("def late():\n    register(sym)", []),
        ("import sys\nsys.path.insert(0, sym())", []),
        ("__all__ = ['sym']\n__all__.append(sym.__name__)", []),
    ],
)
def test_a_bare_call_counts_where_it_hands_over_a_local_object(call: str, expected: list[object]) -> None:
    text = (
        f"from . import reg\nfrom .reg import KNOWN, REGISTRY, TABLE, register\nfrom typing import TYPE_CHECKING{DEF}"
    )
    assert registered(text + call + "\n") == expected


def test_methods_count_only_where_the_callee_provably_keeps_them() -> None:
    text = "from .reg import register\nimport pydantic\nclass Sym:\n    @register\n    @pydantic.validator('x')\n    def m(self): ...\n"
    assert registered(text) == [("register", True)]


def woven(first: str) -> str:
    """A `register` whose locals are each made from all of the others: more paths between them than can be walked."""
    names = [f"n{at}" for at in range(40)]
    sums = "".join(f"    {name} = {' or '.join(other for other in names if other != name)}\n" for name in names)
    return f"KEPT = []\nOTHER = dict\ndef register(f):\n    n39 = {first}\n{sums}    n0.append(f)\n    return f\n"


def chained(first: str) -> str:
    """The same, with calls: each name is made from the one before in two ways."""
    links = "".join(f"    n{at} = same(n{at - 1}) or same(n{at - 1} or n{at - 1})\n" for at in range(1, 20))
    head = f"KEPT = []\ndef same(x):\n    return x\ndef register(f):\n    n0 = {first}\n"
    return f"{head}{links}    n19.append(f)\n    return f\n"


@pytest.mark.parametrize("registry", [woven("KEPT"), chained("KEPT")])
def test_names_that_are_made_from_one_another_are_followed_once(registry: str) -> None:
    call = "from registry import register\n@register\ndef sym(): ...\n"
    assert found({"registry.py": registry, "sub.py": call}) == [(2, True)]


def test_names_that_are_made_from_one_another_may_keep_nothing() -> None:
    call = "from registry import register\n@register\ndef sym(): ...\n"
    assert found({"registry.py": woven("None"), "sub.py": call}) == []


@pytest.mark.parametrize("first", ["a", "b", "c"])
def test_a_circle_of_names_holds_what_any_of_them_holds(first: str) -> None:
    registry = f"KEPT = []\ndef register(f):\n    a = b\n    b = c or KEPT\n    c = a\n    {first}.append(f)\n    a.add(f)\n    return f\n"
    call = "from registry import register\n@register\ndef sym(): ...\n"
    assert found({"registry.py": registry, "sub.py": call}) == [(2, True)]


def test_a_long_chain_of_calls_is_walked_once() -> None:
    chain = "".join(f".register(f{at})" for at in range(40))
    made = "".join(f"def f{at}(): ...\n" for at in range(40))
    fluent = INSTANCE.replace("return f\n", "return self\n")
    assert found({"registry.py": fluent, "sub.py": f"from registry import REGISTRY\n{made}REGISTRY{chain}\n"}) == [
        (42, True)
    ]
