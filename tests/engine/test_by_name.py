"""Attributes of a package that are read by a literal name."""

from __future__ import annotations

import pytest

from codemods.engine.by_name import named_reads
from codemods.engine.modules import Layout
from codemods.engine.references import Names, Target
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse

LAYOUT = Layout(["top/__init__.py", "top/pkg/__init__.py", "top/pkg/sub.py", "user.py"], "top.pkg")


def reads(code: str) -> list[tuple[str, str, bool]]:
    """How, by which receiver and whether certainly: each read of `sym`."""
    source = decode(f"import inspect, operator, top.pkg as p, top, q\n{code}\n".encode(), "user.py")
    syntax = analyse(source, parse(source))
    target = Target("top.pkg", frozenset({"sym"}), frozenset(), frozenset(), {}, LAYOUT.locate)
    found = named_reads(syntax, Names(syntax, LAYOUT.module_at("user.py"), target), frozenset({"sym"}))
    return [(use.by_name.how, ".".join(use.by_name.prefix), use.certain) for use in found if use.by_name is not None]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("getattr(p, 'sym')", ("getattr", "", True)),
        ("getattr(top.pkg, 'sym', 1)", ("getattr", "", True)),
        ("hasattr(p, 'sym')", ("hasattr", "", True)),
        ("vars(p)['sym']", ("__dict__", "", True)),
        ("p.__dict__.get('sym', 1)", ("__dict__", "", True)),
        ("operator.attrgetter('sym.x')(p)", ("attrgetter", "", True)),
        ("operator.attrgetter('pkg.sym')(top)", ("attrgetter", "pkg", True)),
        ("operator.methodcaller('sym', 2)(p)", ("methodcaller", "", True)),
        ("inspect.getattr_static(p, 'sym')", ("getattr_static", "", True)),
        ("m = p\nm = q\ngetattr(m, 'sym')", ("getattr", "", False)),
        ("p.__getattribute__('sym')", ("__getattribute__", "", True)),
    ],
)
def test_a_read_by_name_is_found(code: str, expected: tuple[str, str, bool]) -> None:
    assert reads(code) == [expected]


@pytest.mark.parametrize(
    "code",
    [
        "getattr(p, 'light')",
        "getattr(q, 'sym')",
        "getattr(top, 'sym')",
        "getattr(p, name)",
        "getattr(q, 'x', p)",
        "q.getattr(p, 'sym')",
        "def f(getattr):\n    getattr(p, 'sym')",
        "operator.attrgetter('sym')",
        "operator.attrgetter('sub.sym')(p)",
        "vars(q)['sym']",
        "hasattr(p, 'sym', 1)",
    ],
)
def test_what_is_spelled_alike_is_none(code: str) -> None:
    assert reads(code) == []
