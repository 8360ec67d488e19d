"""Modules that an expression gets by a string."""

from __future__ import annotations

import ast

import pytest

from codemods.engine.loaded import loading, qualified
from codemods.engine.model import Module
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse

HEAD = "import builtins, importlib, sys\nfrom importlib import import_module as im\nfrom other import import_module as om\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('importlib.import_module("a.b")', ("a.b", "a.b", True)),
        ('im("a.b")', ("a.b", "a.b", True)),
        ('im(".b", "a")', ("a.b", "a.b", True)),
        ('im("..b", "a.c")', ("a.b", "a.b", True)),
        ('im("...b", "a.c")', None),
        ('im(".b", __package__)', ("top.b", "top.b", True)),
        ('im(".b", __name__)', ("top.own.b", "top.own.b", True)),
        ('im(".b")', None),
        ("im(name)", None),
        ('om("a.b")', None),
        ('other.import_module("a.b")', ("a.b", "a.b", False)),
        ('__import__("a.b")', ("a.b", "a", True)),
        ('__import__("a.b", fromlist=[])', ("a.b", "a", True)),
        ('__import__("a.b", fromlist=["c"])', ("a.b", "a.b", True)),
        ('__import__("a.b", {}, {}, ["c"])', ("a.b", "a.b", True)),
        ('__import__("a.b", {}, {}, names)', ("a.b", "a.b", False)),
        ('__import__("a.b", {}, {}, ["c"], 1)', None),
        ('sys.modules["a.b"]', ("a.b", "a.b", True)),
        ("sys.modules[__name__]", ("top.own", "top.own", True)),
        ('sys.modules.get("a.b")', ("a.b", "a.b", False)),
        ('self.modules["a.b"]', ("a.b", "a.b", False)),
        ('modules["a.b"]', None),
        ('print("a.b")', None),
    ],
)
def test_the_module_is_read_from_the_literal(code: str, expected: tuple[str, str, bool] | None) -> None:
    source = decode(f"{HEAD}{code}\n".encode(), "top/own.py")
    syntax = analyse(source, parse(source))
    statement = syntax.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    found = loading(statement.value, syntax.module, Module("top.own", "top/own.py", False))
    assert (found and (found.named, found.module, found.certain)) == expected


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("getattr", "builtins.getattr"),
        ("im", "importlib.import_module"),
        ('getattr(importlib, "import_module")', "importlib.import_module"),
        ("sys.modules", "sys.modules"),
        ("unknown.thing", ""),
        ("own", ""),
        ("twice", ""),
    ],
)
def test_a_name_is_qualified_by_the_imports_alone(code: str, name: str) -> None:
    head = f"{HEAD}from . import own\nimport twice\ntwice = 1\n"
    source = decode(f"{head}{code}\n".encode(), "top/own.py")
    syntax = analyse(source, parse(source))
    statement = syntax.tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert qualified(statement.value, syntax.module) == name
