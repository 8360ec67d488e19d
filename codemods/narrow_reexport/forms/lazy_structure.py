"""Tables that are built over several statements, and the lazy modules that are made from them.

Owns `_import_structure` with what is appended to it, and `sys.modules[__name__] = _LazyModule(...)`.
Invariant: a table counts only if every statement that may change it is one of the known ones, at module level.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codemods.engine.namespace import module_statements
from codemods.engine.scopes import Block, Syntax, last_name
from codemods.engine.walk import is_type_checking
from codemods.narrow_reexport.forms.lazy_values import READS, Unclear


@dataclass(frozen=True, slots=True)
class Built:
    """A table, the statements that make it, and the names in it that may be missing."""

    table: dict[object, object]
    statements: tuple[ast.stmt, ...]
    optional: frozenset[str]


def build(syntax: Syntax, name: str, value: Callable[[ast.expr], object]) -> Built:
    """Follow the statements that build a table in order. Raises Unclear."""
    table: dict[object, object] | None = None
    statements: list[ast.stmt] = []
    optional: set[str] = set()
    known: set[int] = set()
    for statement in module_statements(syntax.tree.body):
        step = _step(statement, name)
        if step is None:
            continue
        key, what = step
        found = value(what)
        if key is None:
            # _import_structure = {...}        _import_structure |= {...}        _import_structure.update({...})
            if not isinstance(found, dict):
                raise Unclear(f"{name} is no literal table", statement.lineno)
            fresh = table is None or isinstance(statement, (ast.Assign, ast.AnnAssign))
            table = {} if table is None or fresh else table
            added = {entry: _listed(listed, statement) for entry, listed in found.items()}
        else:
            # _import_structure["sub"] = ["sym"]        _import_structure["sub"].append("sym")
            at = value(key)
            adds = isinstance(statement, (ast.Expr, ast.AugAssign))
            single = isinstance(statement, ast.Expr) and isinstance(found, str)
            new = [found] if single else _listed(found, statement)
            old = table.get(at) if table is not None else None
            added = {at: [*old, *new] if adds and isinstance(old, list) and isinstance(new, list) else new}
            if isinstance(found, str) and not single:
                raise Unclear(f"{name} is built in a way that is not followed", statement.lineno)
        if table is None:
            raise Unclear(f"{name} is filled before it is made", statement.lineno)
        if _guarded(syntax, statement):
            optional |= {str(entry) for listed in added.values() if isinstance(listed, list) for entry in listed}
        table |= added
        statements.append(statement)
        known |= {id(node) for node in ast.walk(statement) if isinstance(node, ast.Name)}
    for use in syntax.names:
        if isinstance(use.node, ast.Name) and use.node.id == name and id(use.node) not in known:
            parent = use.parent
            read = isinstance(parent, ast.Attribute) and parent.attr in READS
            given = isinstance(parent, (ast.Call, ast.Compare, ast.comprehension, ast.For))
            item = (
                isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load) and parent.value is not use.node
            )
            if not read and not given and not item and not _reads_item(parent, use.node):
                raise Unclear(f"the table {name} is changed or handed on after it is made", use.node.lineno)
    if table is None:
        raise Unclear(f"{name} is no literal table", 1)
    return Built(table, tuple(statements), frozenset(optional))


def _reads_item(parent: ast.AST, node: ast.expr) -> bool:
    return isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load)


def _step(statement: ast.stmt, name: str) -> tuple[ast.expr | None, ast.expr] | None:
    """The key (None: the whole table) and the value of a statement that builds the table."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        key = _key(statement.targets[0], name)
        return None if key is None else (key if isinstance(key, ast.expr) else None, statement.value)
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        key = _key(statement.target, name)
        return None if key is None else (key if isinstance(key, ast.expr) else None, statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        key = _key(call.func.value, name)
        if key is True and call.func.attr == "update":
            return None, call.args[0]
        if isinstance(key, ast.expr) and call.func.attr in ("append", "extend"):
            return key, call.args[0]
    return None


def _key(target: ast.expr, name: str) -> ast.expr | bool | None:
    """The key of `table[key]`; True for the table itself; None for anything else."""
    if isinstance(target, ast.Name) and target.id == name:
        return True
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name:
        return target.slice
    return None


def _listed(value: object, statement: ast.stmt) -> object:
    if isinstance(value, dict):
        raise Unclear("a table inside a table", statement.lineno)
    return list(value) if isinstance(value, (list, tuple, set)) else value


def _guarded(syntax: Syntax, statement: ast.stmt) -> bool:
    """Whether a statement runs only if a dependency is there. Raises Unclear for other conditions."""
    block: Block | None = syntax.blocks[statement]
    guarded = False
    while block is not None and block.optional:
        owner = block.owner
        # try: ... except OptionalDependencyNotAvailable: pass        else: _import_structure["sub"] = ["Sym"]
        silent = isinstance(owner, ast.Try) and all(
            isinstance(inner, ast.Pass) for handler in owner.handlers for inner in handler.body
        )
        if not silent and not (isinstance(owner, ast.If) and is_type_checking(owner.test)):
            raise Unclear("a part of the table is there only under a condition", statement.lineno)
        guarded = guarded or silent
        block = block.parent
    return guarded


def lazy_module(syntax: Syntax) -> ast.Call | None:
    """The call in `sys.modules[__name__] = _LazyModule(...)`. Raises Unclear where something else takes the module's place."""
    for statement in module_statements(syntax.tree.body):
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Subscript) and ast.unparse(target) == "sys.modules[__name__]":
                call = statement.value
                if isinstance(call, ast.Call) and last_name(call.func).endswith("LazyModule"):
                    return call
                raise Unclear("the module puts something else in its place", statement.lineno)
    return None


def is_table(syntax: Syntax, name: str) -> bool:
    """Whether a name of the file is bound to a table at all."""
    found = syntax.module.bindings.get(name, [])
    return any(isinstance(binding.value, (ast.Dict, ast.DictComp)) for binding in found)


def is_given(node: ast.expr) -> bool:
    """Whether an argument says which module it is, and is no table."""
    # __name__        _file
    return isinstance(node, ast.Name) and (node.id.startswith("__") or node.id == "_file")
