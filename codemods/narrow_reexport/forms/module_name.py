"""`sym.__module__ = "pkg"`: a symbol that says it lives in the package, where pickle and documentation then look it up.

Owns the search for what sets `__module__` on a symbol: assignments, loops, `setattr`, class bodies, decorators, factories
(`namedtuple(..., module="pkg")`), in the origin and in the package's `__init__`.
Invariant: it never edits; a value that is not the package and is known is no reason to refuse.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.engine.model import Module, Refusal, Symbol
from codemods.engine.namespace import Namespaces, module_statements
from codemods.engine.scopes import Syntax, last_name
from codemods.narrow_reexport.forms.callees import Callees
from codemods.narrow_reexport.forms.frames import Frame, Function, Outside

_ALL_NAMES = ("globals", "vars", "locals", "dir")
_REASON = "points at the package: pickle and documentation look the name up there"


def says_package(symbol: Symbol, origin: Symbol, namespaces: Namespaces) -> Refusal | None:
    """The place in the origin that sets the symbol's `__module__` to the package, or to what cannot be told."""
    module = namespaces.locate(origin.module)
    syntax = namespaces.syntax(module) if module is not None else None
    if module is None or syntax is None:
        return None
    callees = Callees(namespaces, Frame(module, None))
    for name in _looked_up(origin.name, syntax):
        for node, value in _set_in(syntax, name, module, callees):
            if value is None or value == symbol.module:
                reason = (
                    f"{name}.__module__ {_REASON}"
                    if value
                    else f"{name}.__module__ is set here, perhaps to {symbol.module}"
                )
                hint = "take the __module__ assignment out first"
                return Refusal(syntax.source.site_of(node), str(symbol), reason, hint)
    return None


def set_by_init(package: Module, syntax: Syntax, namespaces: Namespaces) -> ast.stmt | None:
    """The statement with which an `__init__` sets `__module__` on all that it exports, by looking the names up."""
    callees = Callees(namespaces, Frame(package, None))
    for statement in module_statements(syntax.tree.body):
        # for name in __all__: globals()[name].__module__ = __name__
        if isinstance(statement, ast.For) and _assigned_modules(statement):
            if _asks_for_all(statement):
                return statement
        # _fixup(__name__, globals())
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _asks_for_all(statement):
            for value in callees.values(statement.value.func, callees.top):
                if isinstance(value, Function) and _assigned_modules(value.node):
                    return statement
    return None


def _looked_up(name: str, syntax: Syntax) -> list[str]:
    """The symbol, and the class of an instance that pickles by its name (`__reduce__` returns a string)."""
    found = [name]
    for binding in syntax.module.bindings.get(name, []):
        made = last_name(binding.value.func) if isinstance(binding.value, ast.Call) else ""
        for statement in module_statements(syntax.tree.body):
            if isinstance(statement, ast.ClassDef) and statement.name == made and _reduces_to_text(statement):
                found.append(made)
    return found


def _reduces_to_text(node: ast.ClassDef) -> bool:
    return any(
        isinstance(method, ast.FunctionDef)
        and method.name in ("__reduce__", "__reduce_ex__")
        and any(
            isinstance(inner, ast.Return) and not isinstance(inner.value, (ast.Tuple, ast.Call))
            for inner in ast.walk(method)
        )
        for method in node.body
    )


def _set_in(
    syntax: Syntax, name: str, module: Module, callees: Callees
) -> Iterator[tuple[ast.expr | ast.stmt, str | None]]:
    """Each place that sets the `__module__` of a name, with the text that it is set to; None where that is unknown."""
    for statement in module_statements(syntax.tree.body):
        # sym.__module__ = "pkg"              setattr(sym, "__module__", "pkg")
        if not isinstance(statement, (ast.For, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for owner, value in _assigned_modules(statement):
                if isinstance(owner, ast.Name) and owner.id == name:
                    yield statement, _text(value, module)
        # for each in (sym, other): each.__module__ = "pkg"
        if isinstance(statement, ast.For):
            spelled = {n.id for n in ast.walk(statement.iter) if isinstance(n, ast.Name)}
            texts = {n.value for n in ast.walk(statement.iter) if isinstance(n, ast.Constant)}
            if name in spelled or name in texts or _asks_for_all(statement):
                for _, value in _assigned_modules(statement):
                    yield statement, _text(value, module)
        # class Sym: __module__ = "pkg"
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            for inner in module_statements(statement.body):
                targets = inner.targets if isinstance(inner, ast.Assign) else []
                if any(isinstance(target, ast.Name) and target.id == "__module__" for target in targets):
                    assert isinstance(inner, ast.Assign)
                    yield inner, _text(inner.value, module)
        # @set_module("pkg")
        # def sym(): ...
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and statement.name == name:
            for decorator in statement.decorator_list:
                for text in _by_decorator(decorator, module, callees):
                    yield decorator, text
        # Sym = namedtuple("Sym", "a b", module="pkg")        Sym = type("Sym", (), {"__module__": "pkg"})
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Call):
            made = statement.value
            names = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in names):
                for text in (*_given_to(made, module), *_by_decorator(made.func, module, callees)):
                    yield statement, text


def _given_to(call: ast.Call, module: Module) -> list[str]:
    """The `__module__` that a factory is told: by keyword, or in the namespace of a class."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "module"]
    for table in (part for part in call.args if isinstance(part, ast.Dict)):
        for key, entry in zip(table.keys, table.values, strict=True):
            given += [entry] if isinstance(key, ast.Constant) and key.value == "__module__" else []
    return [text for each in given if (text := _text(each, module)) is not None]


def _assigned_modules(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """The assignments to `X.__module__` below a node: X and the value."""
    found: list[tuple[ast.expr, ast.expr]] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign):
            found += [
                (target.value, inner.value)
                for target in inner.targets
                if isinstance(target, ast.Attribute) and target.attr == "__module__"
            ]
        elif isinstance(inner, ast.Call) and last_name(inner.func) == "setattr" and len(inner.args) == 3:
            key = inner.args[1]
            if isinstance(key, ast.Constant) and key.value == "__module__":
                found.append((inner.args[0], inner.args[2]))
    return found


def _by_decorator(decorator: ast.expr, module: Module, callees: Callees) -> Iterator[str | None]:
    """What a decorator sets `__module__` to, as far as its body in the tree shows."""
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    parts = [*decorator.args, *(k.value for k in decorator.keywords)] if isinstance(decorator, ast.Call) else []
    given = [text for part in parts if (text := _text(part, module)) is not None]
    for value in callees.values(func, callees.top):
        if isinstance(value, Outside) and last_name(func) == "set_module":
            yield from (*given,) or (None,)
        if not isinstance(value, Function):
            continue
        for _, assigned in _assigned_modules(value.node):
            if isinstance(assigned, ast.Attribute) and assigned.attr in ("__module__", "__name__"):
                continue  # functools.wraps by hand
            text = _text(assigned, value.module)
            if text is not None:
                yield text
            else:
                yield from (*given,) or (None,)


def _text(value: ast.expr, module: Module) -> str | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    return module.name if isinstance(value, ast.Name) and value.id == "__name__" else None


def _asks_for_all(statement: ast.stmt) -> bool:
    """Whether a statement goes through all names of its module: `globals()`, `vars()`, `__all__`."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id == "__all__":
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ALL_NAMES:
            if not node.args:
                return True
    return False
