"""A frame knows which names hold the object."""

from __future__ import annotations

import ast

from codemods.engine.model import Module, Symbol
from codemods.narrow_reexport.forms.frames import Class, Frame, Instance, Shared, Super, place

MODULE = Module("pkg.sub", "pkg/sub.py", False)


def test_a_local_name_hides_one_that_holds_the_object() -> None:
    outer = Frame(MODULE, None, {"f": [], "g": []}, {"f", "g"})
    inner = Frame(MODULE, outer, {"f": []})
    assert not inner.holds("f")
    assert inner.holds("g")
    assert inner.mentions(ast.parse("[g]", mode="eval").body)
    assert not inner.mentions(ast.parse("f(1)", mode="eval").body)


def test_the_place_of_a_thing_is_the_name_that_reaches_it() -> None:
    cls = Class(MODULE, ast.ClassDef("C", [], [], [], []))
    at = Symbol("pkg.reg", "REGISTRY")
    assert place(Shared(at)) == place(Instance(cls, at)) == place(Super(cls, Instance(cls, at))) == at
    assert place(Instance(cls)) is place(Super(cls, None)) is place(cls) is None
