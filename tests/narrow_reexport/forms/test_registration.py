"""Registrations at module level of an origin."""

import pytest

from codemods.engine.model import Module
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.registration import registrations

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
