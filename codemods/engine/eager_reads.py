"""`class A(base.Base)`: the attributes of other modules that a module reads as it is imported.

Owns the step from a module's bytes to the reads among its eager events, in order.
Invariant: it never reads a file; a name counts as a module only if an import of this file alone binds it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codemods.engine.model import Module, When
from codemods.engine.namespace import absolute
from codemods.engine.outline import Event, FromImports, Imports
from codemods.engine.scopes import Block, Syntax, Use
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse

_CAUGHT = {"AttributeError", "Exception", "BaseException"}
_DEFERRED = ("lambda", "function")


@dataclass(frozen=True, slots=True)
class Reads:
    """The attribute `name` of `module` is read at import time."""

    module: str
    name: str
    line: int
    guarded: bool = False


def with_reads(
    data: bytes, module: Module, events: tuple[Event, ...], locate: Callable[[str], Module | None]
) -> tuple[Event | Reads, ...]:
    """The events of a module, with its reads of other modules' attributes among them."""
    try:
        source = decode(data, module.path)
        syntax = analyse(source, parse(source))
    except NotPython:
        return events
    future = "from __future__ import annotations" in source.text
    found = [
        read
        for use in syntax.attributes
        if _is_eager(use)
        and not (future and use.annotation)
        and (read := _read(use, syntax, module, locate)) is not None
    ]
    merged: list[Event | Reads] = []
    for event in events:
        # x = m.K        the read comes first; import m; m.go()        the import does
        is_import = isinstance(event, (Imports, FromImports))
        while found and (found[0].line < event.line or (found[0].line == event.line and not is_import)):
            merged.append(found.pop(0))
        merged.append(event)
    return (*merged, *found)


def _is_eager(use: Use) -> bool:
    if use.block.when in (When.LATE, When.TYPING):
        return False
    return isinstance(use.node, ast.Attribute) and not any(scope.kind in _DEFERRED for scope in use.scope.inside())


def _read(use: Use, syntax: Syntax, module: Module, locate: Callable[[str], Module | None]) -> Reads | None:
    node = use.node
    assert isinstance(node, ast.Attribute)
    base = _module_of(node.value, use, syntax, module, locate)
    if not base or locate(base) is None or locate(f"{base}.{node.attr}") is not None or isinstance(node.ctx, ast.Store):
        return None
    if node.attr.startswith("__") and node.attr.endswith("__"):
        return None
    return Reads(base, node.attr, min(node.lineno, use.statement.lineno), _is_guarded(use))


def _module_of(node: ast.expr, use: Use, syntax: Syntax, module: Module, locate: Callable[[str], Module | None]) -> str:
    if isinstance(node, ast.Attribute):
        above = _module_of(node.value, use, syntax, module, locate)
        return f"{above}.{node.attr}" if above and locate(f"{above}.{node.attr}") is not None else ""
    if not isinstance(node, ast.Name) or use.scope.owner(node.id) is not syntax.module:
        return ""
    found = {
        _bound(binding.node, binding.statement, module, locate)
        for binding in syntax.module.bindings[node.id]
        if binding.block.when is not When.TYPING
    }
    return found.pop() if len(found) == 1 else ""


def _bound(node: ast.AST, statement: ast.stmt, module: Module, locate: Callable[[str], Module | None]) -> str:
    if not isinstance(node, ast.alias):
        return ""
    if isinstance(statement, ast.Import):
        return node.name if node.asname else node.name.partition(".")[0]
    dotted = f"{absolute(module, statement)}.{node.name}" if isinstance(statement, ast.ImportFrom) else ""
    return dotted if locate(dotted) is not None else ""


def _is_guarded(use: Use) -> bool:
    block: Block | None = use.block
    while block is not None:
        if isinstance(block.owner, ast.Try) and block.statements is block.owner.body:
            for handler in block.owner.handlers:
                kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
                if any(kind is None or ast.unparse(kind).rpartition(".")[2] in _CAUGHT for kind in kinds):
                    return True
        block = block.parent
    return False
