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
