"""`importlib.import_module("pkg")`, `__import__("pkg")`, `sys.modules["pkg"]`: modules that an expression gets by a string.

Owns the reading of such expressions: which module the string names, which one the expression is, and whether the callee
is certainly what it is called.
Invariant: it never follows a string that is not a literal, and calls nothing certain that it knows by spelling alone.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from codemods.engine.model import Module
from codemods.engine.scopes import Scope, last_name

_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True, eq=False)
class Loading:
    """An expression that is a module because a literal names it.

    `named` is the module that the literal names, `module` the one that the expression is (`__import__("a.b")` is `a`).
    `literal` is None where the name is no literal (`sys.modules[__name__]`).
    """

    how: str
    node: ast.Call | ast.Subscript
    literal: ast.Constant | None
    named: str
    module: str
    certain: bool


def qualified(node: ast.expr, scope: Scope) -> str:
    """The dotted name that an expression certainly has through the file's imports: `builtins.getattr`; else empty."""
    if isinstance(node, ast.Attribute):
        base = qualified(node.value, scope)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Call) and len(node.args) == 2 and qualified(node.func, scope) == "builtins.getattr":
        # getattr(importlib, "import_module")
        base, name = qualified(node.args[0], scope), _literal(node.args[1])
        return f"{base}.{name.value!s}" if base and name is not None else ""
    if not isinstance(node, ast.Name):
        return ""
    owner = scope.owner(node.id)
    if owner is None:
        return f"builtins.{node.id}" if node.id in _BUILTINS else ""
    found: set[str] = set()
    for binding in owner.bindings[node.id]:
        alias, statement = binding.node, binding.statement
        if not isinstance(alias, ast.alias):
            return ""
        if isinstance(statement, ast.Import):
            found.add(alias.name if alias.asname else alias.name.partition(".")[0])
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            found.add(f"{statement.module}.{alias.name}")
        else:
            return ""
    return found.pop() if len(found) == 1 else ""


def loading(node: ast.expr, scope: Scope, module: Module) -> Loading | None:
    """How an expression gets a module by its name, or None where it does not, or the name is unknown."""
    if isinstance(node, ast.Subscript):
        # sys.modules["pkg"]     sys.modules[__name__]
        if not isinstance(node.value, (ast.Attribute, ast.Name)) or last_name(node.value) != "modules":
            return None
        named = own_name(node.slice, module)
        literal = node.slice if isinstance(node.slice, ast.Constant) else None
        certain = qualified(node.value, scope) == "sys.modules"
        if not named or not (certain or isinstance(node.value, ast.Attribute)):
            return None
        return Loading("sys.modules", node, literal, named, named, certain)
    if not isinstance(node, ast.Call):
        return None
    how, last = qualified(node.func, scope), last_name(node.func)
    if how == "importlib.import_module" or last == "import_module":
        # importlib.import_module("pkg")     import_module(".pkg", "parent")     import_module(".pkg", __package__)
        literal = _literal(argument(node, 0, "name"))
        package = argument(node, 1, "package")
        named = _resolved(literal, own_name(package, module) if package is not None else "")
        if literal is None or not named:
            return None
        return Loading("import_module", node, literal, named, named, how == "importlib.import_module")
    if how in ("builtins.__import__", "builtins.builtins.__import__") or last == "__import__":
        # __import__("pkg")     __import__("parent.pkg", fromlist=["x"])
        literal = _literal(argument(node, 0, "name"))
        if literal is None:
            return None
        level, fromlist = argument(node, 4, "level"), argument(node, 3, "fromlist")
        absolute = level is None or (isinstance(level, ast.Constant) and level.value == 0)
        plain = fromlist is None or isinstance(fromlist, (ast.List, ast.Tuple, ast.Constant))
        whole = not (
            fromlist is None
            or (isinstance(fromlist, ast.Constant) and not fromlist.value)
            or (isinstance(fromlist, (ast.List, ast.Tuple)) and not fromlist.elts)
        )
        name = str(literal.value)
        if not absolute:
            return None
        return Loading(
            "__import__", node, literal, name, name if whole else name.partition(".")[0], bool(how) and plain
        )
    if last == "get" and isinstance(node.func, ast.Attribute) and last_name(node.func.value) == "modules":
        # sys.modules.get("pkg")
        named = own_name(argument(node, 0, ""), module)
        literal = _literal(argument(node, 0, ""))
        return Loading("sys.modules.get", node, literal, named, named, False) if named else None
    return None


def loaded_by(node: ast.expr) -> ast.expr | None:
    """The expression that names the module in a call or a look-up that seems to load one."""
    if isinstance(node, ast.Subscript) and last_name(node.value) == "modules":
        return node.slice
    if isinstance(node, ast.Call) and last_name(node.func) in ("import_module", "__import__"):
        return argument(node, 0, "name")
    return None


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """The expression given for one parameter, by position or by name."""
    if any(isinstance(part, ast.Starred) for part in call.args[: position + 1]):
        return None
    if position < len(call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def own_name(node: ast.expr | None, module: Module) -> str:
    """The string that a literal, `__name__` or `__package__` is; else empty."""
    if isinstance(node, ast.Name):
        return {"__name__": module.name, "__package__": module.package}.get(node.id, "")
    literal = _literal(node)
    return str(literal.value) if literal is not None else ""


def _literal(node: ast.expr | None) -> ast.Constant | None:
    return node if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _resolved(literal: ast.Constant | None, package: str) -> str:
    # as importlib does it: each dot beyond the first goes up one package
    name = str(literal.value) if literal is not None else ""
    if not name.startswith("."):
        return name
    below = name.lstrip(".")
    up = len(name) - len(below) - 1
    parts = package.split(".") if package else []
    if not parts or up >= len(parts):
        return ""
    return ".".join([*parts[: len(parts) - up], *([below] if below else [])])
