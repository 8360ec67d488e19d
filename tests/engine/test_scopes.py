"""Scopes agree with Python's own: the standard library's `symtable` is the oracle."""

from __future__ import annotations

import ast
import os
import symtable
from collections import Counter
from pathlib import Path

import pytest

from codemods.engine.scopes import Scope, Syntax
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse

LIBRARY = Path(os.__file__).parent
_FOUND = sorted(path for path in LIBRARY.glob("*.py") if path.read_bytes().count(b"def ") > 8)
FILES = _FOUND[:: max(1, len(_FOUND) // 60)]

Key = tuple[str, int]


def syntax_of(text: str | bytes) -> Syntax:
    data = text.encode() if isinstance(text, str) else text
    source = decode(data, "m.py")
    return analyse(source, parse(source))


def scopes_of(syntax: Syntax) -> set[Scope]:
    inner = {use.scope for use in (*syntax.names, *syntax.attributes, *syntax.calls)} | {
        b.scope for b in syntax.blocks.values()
    }
    return {around for scope in inner for around in scope.inside()}


def key_of(scope: Scope) -> Key:
    node = scope.node
    if isinstance(node, ast.Module):
        return "top", 0
    names = {
        ast.Lambda: "lambda",
        ast.ListComp: "listcomp",
        ast.SetComp: "setcomp",
        ast.DictComp: "dictcomp",
        ast.GeneratorExp: "genexpr",
    }
    return getattr(node, "name", names.get(type(node), "?")), getattr(node, "lineno", 0)


def tables_of(text: str) -> dict[Key, symtable.SymbolTable]:
    """The tables that can be told apart by name and line."""
    found: list[symtable.SymbolTable] = []
    left = [symtable.symtable(text, "m.py", "exec")]
    while left:
        table = left.pop()
        found.append(table)
        left += table.get_children()
    keys = Counter((table.get_name().strip("<>"), table.get_lineno()) for table in found)
    return {key: table for table in found if keys[key := (table.get_name().strip("<>"), table.get_lineno())] == 1}


def expected(symbol: symtable.Symbol, is_module: bool) -> str:
    if is_module:
        bound = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        return "here" if bound else "global"
    if symbol.is_local():
        return "here"
    return "outer" if symbol.is_free() else "global"


def ours(scope: Scope, name: str) -> str:
    owner = scope.owner(name)
    if owner is scope:
        return "here"
    return "global" if owner is None or owner.parent is None else "outer"


def disagreements(text: str) -> tuple[list[str], int]:
    syntax = syntax_of(text)
    tables = tables_of(text)
    unclear = {key for key, count in Counter(map(key_of, scopes_of(syntax))).items() if count > 1}
    wrong, compared = [], 0
    for use in syntax.names:
        assert isinstance(use.node, ast.Name)
        key, name = key_of(use.scope), use.node.id
        table = tables.get(key)
        if table is None or key in unclear or (name.startswith("__") and not name.endswith("__")):
            continue
        try:
            symbol = table.lookup(name)
        except KeyError:  # an annotation, which has a table of its own or none
            continue
        compared += 1
        said, wanted = ours(use.scope, name), expected(symbol, use.scope.parent is None)
        if said != wanted:
            wrong.append(f"line {use.node.lineno}: {name} in {key[0]}: {said}, symtable says {wanted}")
    return wrong, compared


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_name_of_a_library_file_belongs_to_the_scope_that_symtable_says(path: Path) -> None:
    wrong, compared = disagreements(decode(path.read_bytes(), path.name).text)
    assert not wrong, "\n".join(wrong[:10])
    assert compared > 50


def test_the_property_looks_at_enough_files() -> None:
    assert len(FILES) >= 55


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\ndef f():\n    return x\n",
        "x = 1\ndef f():\n    x = 2\n    return x\n",
        "x = 1\nclass A:\n    x = 2\n    def f(self):\n        return x\n",
        "x = 1\nclass A:\n    y = x\n    x = 2\n",
        "def f(x):\n    def g():\n        return x\n    return g\n",
        "def f(x):\n    def g():\n        nonlocal x\n        x = 2\n        return x\n    return g\n",
        "def f():\n    global x\n    x = 2\n    return x\n",
        "def f(x):\n    def g():\n        global x\n        return x\n    return g, x\n",
        "def f(y):\n    return [x for x in y if x]\n",
        "def f(y):\n    z = [x := 1 for _ in y]\n    return x, z\n",
        "class A:\n    y = [1]\n    z = [y for _ in y]\n",
        "def f(x):\n    return lambda y=x: (x, y)\n",
        "def f():\n    try:\n        pass\n    except E as x:\n        return x\n",
        "def f():\n    for x in y:\n        pass\n    return x\n",
        "def f():\n    with y as x:\n        return x\n",
        "def f():\n    import a.b\n    return a\n",
        "def f():\n    import a.b as c\n    return a, c\n",
        (
            "def f(y):\n    match y:\n        case [x, *rest]:\n"
            "            return x, rest\n        case {'a': z, **others}:\n"
            "            return z, others\n        case A(b=c) | c:\n            return c\n"
        ),
        "def f():\n    del x\n    return x\n",
        "def f():\n    x += 1\n",
        "def f():\n    x: int\n    return x\n",
        "def f(*a, b, **c):\n    return a, b, c\n",
        "class A:\n    def f(self):\n        return A\n",
        "def f(x):\n    class A:\n        y = x\n        def g(self):\n            return x\n    return A\n",
        (
            "async def f(x):\n    async with x as y:\n        async for z in y:\n"
            "            return [w async for w in z if x]\n"
        ),
    ],
)
def test_small_programs_agree_with_symtable(text: str) -> None:
    wrong, compared = disagreements(text)
    assert not wrong, "\n".join(wrong)
    assert compared


@pytest.mark.parametrize("path", FILES[::6], ids=lambda path: path.name)
def test_the_quick_walk_finds_the_same_imports_in_the_same_kind_of_block(path: Path) -> None:
    source = decode(path.read_bytes(), path.name)
    tree = parse(source)

    def imports(syntax: Syntax) -> list[tuple[int, str, str]]:
        return sorted((statement.lineno, block.when.value, block.scope.kind) for statement, block in syntax.imports)

    assert imports(analyse(source, tree, expressions=False)) == imports(analyse(source, tree))


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("import a\n", "eager"),
        ("if x:\n    import a\n", "eager"),
        ("class A:\n    import a\n", "eager"),
        ("try:\n    import a\nexcept ImportError:\n    pass\n", "guarded"),
        ("try:\n    import a\nexcept (KeyError, ModuleNotFoundError):\n    pass\n", "guarded"),
        ("try:\n    import a\nexcept:\n    pass\n", "guarded"),
        ("try:\n    import a\nexcept KeyError:\n    pass\n", "eager"),
        ("try:\n    pass\nexcept ImportError:\n    import a\n", "eager"),
        ("def f():\n    import a\n", "late"),
        ("class A:\n    def f(self):\n        import a\n", "late"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n", "typing"),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a\n", "typing"),
        ("import typing\nif not typing.TYPE_CHECKING:\n    pass\nelse:\n    import a\n", "typing"),
    ],
)
def test_an_import_knows_when_it_runs(text: str, when: str) -> None:
    statement, block = syntax_of(text).imports[-1]
    assert statement.names[0].name == "a"
    assert block.when.value == when


def test_the_bindings_of_a_global_name_are_in_the_order_of_the_source() -> None:
    functions = "".join(f"def f{number}():\n    global x\n    x = {number}\n\n\n" for number in range(12))
    lines = [binding.statement.lineno for binding in syntax_of(f"x = 0\n{functions}").module.bindings["x"]]
    assert len(lines) == 13 and lines == sorted(lines)
