"""Whether an `__init__` binds a name to something that it takes from elsewhere, whatever the statement looks like.

Owns that question for assignments: straight from a module, by way of another name, unpacked, by a walrus, into `globals()`.
Invariant: what a function or a class of the `__init__` itself makes (a wrapper, an instance) is the package's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.engine.model import Module, Symbol
from codemods.engine.namespace import Namespaces, absolute, module_statements
from codemods.engine.scopes import Binding, Syntax

_NAMESPACES = ("globals", "vars", "locals")


@dataclass(frozen=True, slots=True)
class _Init:
    package: Module
    syntax: Syntax
    namespaces: Namespaces

    def locates(self, dotted: str) -> bool:
        """Whether it is a module, as far as can be told: of modules outside the tree it cannot."""
        top = dotted.partition(".")[0]
        return self.namespaces.locate(dotted) is not None or self.namespaces.locate(top) is None


def is_taken(package: Module, binding: Binding, syntax: Syntax, namespaces: Namespaces) -> bool:
    """Whether a binding of the `__init__` is an import, or hands on what one brought."""
    if not binding.is_import:
        return _from_elsewhere(_value(binding), _Init(package, syntax, namespaces), frozenset({binding.name}))
    return True


def is_module_import(package: Module, binding: Binding, namespaces: Namespaces) -> bool:
    """Whether an import binds the package's submodule of this name, which is what `pkg.f` is for whoever imports it."""
    # from . import f
    symbol = Symbol(package.name, binding.name)
    is_module = namespaces.is_submodule(package.name, binding.name)
    return binding.is_import and is_module and namespaces.origin(package, binding) == symbol


def is_deleted_again(syntax: Syntax, binding: Binding) -> bool:
    """Whether the `__init__` takes the name away further down, so that nobody else ever sees it."""
    # from .sub import sym; sym(); del sym
    after = [
        statement
        for statement in syntax.tree.body
        if isinstance(statement, ast.Delete)
        and statement.lineno > binding.statement.lineno
        and any(isinstance(node, ast.Name) and node.id == binding.name for node in ast.walk(statement))
    ]
    return bool(after) and binding.block.scope is syntax.module


def stored(package: Module, syntax: Syntax, namespaces: Namespaces) -> Iterator[tuple[str, ast.stmt]]:
    """The names that module-level code puts into the module's own namespace, each with its statement."""
    context = _Init(package, syntax, namespaces)
    for statement in module_statements(syntax.tree.body):
        # globals()["sym"] = sub.sym
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if (
                    isinstance(target, ast.Subscript)
                    and _is_namespace(target.value)
                    and isinstance(target.slice, ast.Constant)
                    and isinstance(target.slice.value, str)
                    and _from_elsewhere(statement.value, context, frozenset())
                ):
                    yield target.slice.value, statement
        # globals().update(sym=sub.sym)        globals().update({"sym": sub.sym})
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("update", "setdefault")
            and _is_namespace(call.func.value)
        ):
            for name, value in _entries(call):
                if _from_elsewhere(value, context, frozenset()):
                    yield name, statement


def _entries(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
    for argument in call.args:
        if isinstance(argument, ast.Dict):
            for key, value in zip(argument.keys, argument.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value
    if len(call.args) == 2 and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
        yield call.args[0].value, call.args[1]


def _is_namespace(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES


def _value(binding: Binding) -> ast.expr | None:
    if binding.value is not None or not isinstance(binding.statement, ast.Assign):
        return binding.value
    # sym, other = sub.sym, sub.other
    whole = binding.statement.value
    for target in binding.statement.targets:
        if (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(whole, (ast.Tuple, ast.List))
            and len(target.elts) == len(whole.elts)
            and not any(isinstance(each, ast.Starred) for each in (*target.elts, *whole.elts))
            and binding.node in target.elts
        ):
            return whole.elts[target.elts.index(binding.node)]
    return None


def _from_elsewhere(value: ast.expr | None, context: _Init, seen: frozenset[str]) -> bool:
    """Whether an expression is something that an import brought: the thing itself, not what is made of it."""
    if isinstance(value, ast.Name):
        if value.id in seen:
            return False
        found = context.syntax.module.bindings.get(value.id, [])
        return any(_imports_a_name(each) or _from_elsewhere(_value(each), context, seen | {value.id}) for each in found)
    if isinstance(value, ast.Attribute):
        return _is_module(value.value, context)
    # getattr(sub, "sym")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "getattr":
        return len(value.args) > 1 and _is_module(value.args[0], context)
    if isinstance(value, ast.IfExp):
        return _from_elsewhere(value.body, context, seen) or _from_elsewhere(value.orelse, context, seen)
    if isinstance(value, ast.BoolOp):
        return any(_from_elsewhere(each, context, seen) for each in value.values)
    return isinstance(value, ast.NamedExpr) and _from_elsewhere(value.value, context, seen)


def _imports_a_name(binding: Binding) -> bool:
    return isinstance(binding.statement, ast.ImportFrom) and binding.is_import


def _is_module(node: ast.expr, context: _Init) -> bool:
    """Whether an expression is a module: one of the tree, or what `import` binds."""
    # sub.sym, pkg.sub.sym: an attribute of a module; but Cls.make is made by a class
    if isinstance(node, ast.Attribute):
        return any(context.locates(f"{base}.{node.attr}") for base in _modules(node.value, context))
    return bool(_modules(node, context))


def _modules(node: ast.expr, context: _Init) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [f"{base}.{node.attr}" for base in _modules(node.value, context)]
    found = []
    for each in context.syntax.module.bindings.get(node.id, []) if isinstance(node, ast.Name) else ():
        alias = each.node
        if isinstance(alias, ast.alias) and isinstance(each.statement, ast.Import):
            found.append(alias.name if alias.asname else alias.name.partition(".")[0])
        elif isinstance(alias, ast.alias) and isinstance(each.statement, ast.ImportFrom):
            dotted = f"{absolute(context.package, each.statement)}.{alias.name}"
            found += [dotted] if context.namespaces.locate(dotted) is not None else []
    return found
