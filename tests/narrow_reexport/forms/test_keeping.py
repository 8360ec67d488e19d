"""Where an object goes that a module hands away as it is imported."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.forms.registries import DEF, found


@pytest.mark.parametrize(
    "decorator",
    [
        *("register", "named('x')", "optional", "optional()", "optional(name='x')", "hop", "nested('k')", "aliased"),
        *("latest", "REGISTRY.register('x')", "REGISTRY", "Made", "Made(a=1)", "Into(KNOWN)", "Base.register"),
        "partial(register)",
    ],
)
def test_a_decorator_that_keeps_the_object_is_found(decorator: str) -> None:
    name = decorator.partition("(")[0]
    text = f"from .reg import *\nfrom functools import partial\n@{decorator}{DEF}"
    assert found(text) == [(name, True)]


@pytest.mark.parametrize("decorator", ["passes", "marks"])
def test_a_decorator_that_keeps_nothing_is_left_out(decorator: str) -> None:
    assert found(f"from .reg import {decorator}\n@{decorator}{DEF}") == []


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("atexit.register", None),
        ("plugins.hook", None),
        ("plugins.hook('x')", None),
        ("missing", None),
        *[
            (name, False)
            for name in ("functools.lru_cache", "functools.wraps(print)", "triton.jit", "triton.autotune([])")
        ],
        *[(name, False) for name in ("torch.no_grad()", "torch.jit.script", "numba.njit", "pytest.fixture", "jax.jit")],
        *[(name, False) for name in ("contextlib.contextmanager", "typing.overload", "property", "abc.abstractmethod")],
    ],
)
def test_what_is_not_in_the_tree_is_unknown_or_known_to_be_harmless(decorator: str, expected: bool | None) -> None:
    imports = "import abc, atexit, contextlib, functools, jax, numba, plugins, pytest, torch, triton, typing\n"
    assert found(f"{imports}@{decorator}{DEF}") == ([] if expected is False else [(decorator.partition("(")[0], None)])


def test_a_body_that_hands_on_to_a_third_party_is_unknown() -> None:
    registry = "import torch\ndef op(f):\n    torch.library.custom_op('x', f)\n    return f\n"
    assert found(f"from .reg import op\n@op{DEF}", registry) == [("op", None)]


def test_a_container_of_the_module_itself_loses_nothing() -> None:
    assert (
        found("KNOWN = []\ndef register(f):\n    KNOWN.append(f)\n@register\ndef sym(): ...\nKNOWN.append(sym)\n") == []
    )
    assert found("from .reg import Registry\nMINE = Registry()\n@MINE.register('x')\ndef sym(): ...\n") == []


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("class Sym(Base): ...", [("Base", True)]),
        ("class Sym(WithMeta): ...", [("WithMeta", True)]),
        ("class Sym(metaclass=Meta): ...", [("Meta", True)]),
        ("class Sym(Plain): ...", []),
        ("class Sym(Base):\n    items = {}", []),
        ("class Sym(Elsewhere): ...", []),
    ],
)
def test_a_class_statement_registers_by_its_base_or_metaclass(statement: str, expected: list[object]) -> None:
    assert found(f"from .reg import Base, Meta, Plain, WithMeta\nfrom x import Elsewhere\n{statement}\n") == expected


ITSELF = """
from pkg.reg import TABLE

class Made:
    def __init_subclass__(cls):
        cls._make(cls.__name__)

    @classmethod
    def _make(cls, name):
        {0}
"""


@pytest.mark.parametrize(
    ("does", "expected"),
    [("TABLE[name] = cls", [("Made", True)]), ("cls.label = name", [])],
)
def test_a_method_that_the_object_is_asked_for_gets_the_object(does: str, expected: list[object]) -> None:
    text = "from pkg.base import Made\n\nclass Sym(Made): ...\n"
    assert found(text, base=ITSELF.format(does)) == expected
