"""`@register` and `register(f)` at module level of an origin: what is lost when nothing loads the origin any more.

Owns the search for registrations: a decorator or a bare call that hands a local object to a function which keeps it.
Invariant: it runs nothing; a callee whose body cannot be seen is reported as unknown, never as harmless.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.engine.model import Module, Site, Symbol
from codemods.engine.namespace import Namespaces, module_statements
from codemods.engine.scopes import Syntax

_KEEPERS = {"append", "add", "setdefault", "update", "insert", "extend", "register", "appendleft"}
_TRANSFORMING = {
    "property", "staticmethod", "classmethod", "overload", "final", "override", "wraps", "lru_cache", "cache",
    "cached_property", "total_ordering", "dataclass", "contextmanager", "asynccontextmanager", "abstractmethod",
    "runtime_checkable", "singledispatch", "jit", "njit", "vectorize", "autotune", "heuristics", "compile", "no_grad",
    "inference_mode", "script", "deprecated", "unique", "fixture", "skip", "skipif", "parametrize", "print", "setattr",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Registration:
    """A local object handed over. `stores`: the callee provably keeps it; None: its body cannot be seen."""

    site: Site
    callee: str
    stores: bool | None


def registrations(module: Module, namespaces: Namespaces) -> tuple[Registration, ...]:
    """The registrations that run when the module is imported, those left out whose callee provably keeps nothing."""
    syntax = namespaces.syntax(module)
    if syntax is None:
        return ()
    found: list[Registration] = []
    for statement in module_statements(syntax.tree.body):
        for callee in _handed(statement, syntax):
            spelled = ast.unparse(callee)
            if spelled.rpartition(".")[2] in _TRANSFORMING:
                continue
            stores = _stores(callee, module, syntax, namespaces)
            if stores is not False:
                found.append(Registration(syntax.source.site_of(callee), spelled, stores))
    return tuple(found)


def _handed(statement: ast.stmt, syntax: Syntax) -> Iterator[ast.expr]:
    # @register        @REGISTRY.register("x")
    # def sym(): ...
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        for decorator in statement.decorator_list:
            yield decorator.func if isinstance(decorator, ast.Call) else decorator
    # register(sym)    REGISTRY.add(Cls)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(argument, ast.Name) and any(
                isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
                for binding in syntax.module.bindings.get(argument.id, [])
            ):
                yield call.func
                return


def _stores(callee: ast.expr, module: Module, syntax: Syntax, namespaces: Namespaces) -> bool | None:
    if isinstance(callee, ast.Attribute) and callee.attr in _KEEPERS - {"register"}:
        return True  # REGISTRY.append(f): whatever it is, it keeps what it gets
    definition = _definition(callee, module, syntax, namespaces)
    if definition is None:
        return None
    for node in ast.walk(definition):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return True  # _REGISTRY[name] = f
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPERS:
            return True  # _REGISTRY.append(f)
    return False


def _definition(callee: ast.expr, module: Module, syntax: Syntax, namespaces: Namespaces) -> ast.AST | None:
    """The function or class that a callee is; for a method of a module-level object, the method."""
    if isinstance(callee, ast.Name):
        return _node(Symbol(module.name, callee.id), namespaces)
    if isinstance(callee, ast.Attribute):
        source = namespaces.module_of(module, syntax, callee.value)
        if source:
            return _node(Symbol(source, callee.attr), namespaces)  # registry.register
        if isinstance(callee.value, ast.Name):
            owner = _node(Symbol(module.name, callee.value.id), namespaces)
            return _method(owner, callee.attr)  # REGISTRY.register, Base.register
    return None


def _node(symbol: Symbol, namespaces: Namespaces, depth: int = 0) -> ast.AST | None:
    symbol = namespaces.definition(symbol)
    for binding in namespaces.bindings(symbol.module, symbol.name):
        if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return binding.node
        made = binding.value.func if isinstance(binding.value, ast.Call) else None
        if isinstance(made, ast.Name) and depth < 3:
            return _node(Symbol(symbol.module, made.id), namespaces, depth + 1)  # REGISTRY = Registry()
    return None


def _method(owner: ast.AST | None, name: str) -> ast.AST | None:
    if isinstance(owner, ast.ClassDef):
        for statement in owner.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
                return statement
    return None
