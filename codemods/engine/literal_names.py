"""Which strings an expression can be: `"a"`, `f"make_{x}"`, the variable of `for name in ("a", "b")`.

Owns the proof that a computed attribute name cannot be one of some names.
Invariant: what it cannot follow counts as any string at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from codemods.engine.scopes import Binding, Scope

_ANY = r"[\s\S]*"
_DEPTH = 6


def possible(node: ast.expr, scope: Scope, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that the value of an expression may be."""
    pattern = re.compile(_pattern(node, scope, _DEPTH))
    return frozenset(name for name in names if pattern.fullmatch(name))


def is_open(node: ast.expr, scope: Scope) -> bool:
    """Whether nothing is known of the value."""
    return _pattern(node, scope, _DEPTH) == _ANY


def _pattern(node: ast.expr, scope: Scope, depth: int) -> str:
    """A regular expression that all strings match which the expression can be."""
    if depth <= 0:
        return _ANY
    if isinstance(node, ast.Constant):
        return re.escape(node.value) if isinstance(node.value, str) else _ANY
    if isinstance(node, ast.Name):
        owner = scope.owner(node.id)
        bindings = owner.bindings[node.id] if owner is not None else []
        return _either([_bound(binding, depth - 1) for binding in bindings])
    if isinstance(node, ast.NamedExpr):
        return _pattern(node.value, scope, depth)
    if isinstance(node, ast.IfExp):
        return _either([_pattern(part, scope, depth - 1) for part in (node.body, node.orelse)])
    if isinstance(node, ast.BoolOp):
        return _either([_pattern(part, scope, depth - 1) for part in node.values])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([_pattern(part, scope, depth - 1) for part in (node.left, node.right)])
    if isinstance(node, ast.JoinedStr):
        return _joined([_piece(part, scope, depth) for part in node.values])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _text(node.left) is not None:
        # "make_%s" % kind
        pieces = re.split(r"%(?:\([^)]*\))?[-#0 +]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]", str(_text(node.left)))
        return _ANY if any("%" in piece for piece in pieces) else _ANY.join(re.escape(piece) for piece in pieces)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        # "make_{}".format(kind)
        text = _text(node.func.value)
        pieces = re.split(r"\{[^{}]*\}", text) if text is not None else ["{"]
        return (
            _ANY
            if any("{" in piece or "}" in piece for piece in pieces)
            else _ANY.join(re.escape(piece) for piece in pieces)
        )
    return _ANY


def _bound(binding: Binding, depth: int) -> str:
    """The values that one binding gives a name."""
    node, scope = binding.node, binding.scope
    if isinstance(binding.statement, ast.Delete):
        return r"(?!)"
    if binding.value is not None:
        # an augmented assignment has a binding of its own, without a value
        return _pattern(binding.value, scope, depth)
    loop = binding.statement
    if isinstance(loop, (ast.For, ast.AsyncFor)) and _binds(loop.target, node):
        # for name in ("a", "b"):
        return _elements(loop.iter, loop.target, node, scope, depth)
    around: Scope | None = scope
    while around is not None and around.kind == "comprehension":
        # getattr(pkg, name) for name in ("a", "b")
        for generator in getattr(around.node, "generators", ()):
            if _binds(generator.target, node):
                return _elements(generator.iter, generator.target, node, scope, depth)
        around = around.parent
    return _ANY


def _elements(iterable: ast.expr, target: ast.expr, node: ast.AST, scope: Scope, depth: int) -> str:
    """The strings that a loop variable takes: `target` is what the loop binds, `node` the variable in it."""
    values: list[ast.expr]
    if isinstance(iterable, ast.Name):
        # NAMES = ("a", "b")      a tuple cannot grow; a list or a set may
        owner = scope.owner(iterable.id)
        bindings = owner.bindings[iterable.id] if owner is not None else []
        if not bindings or depth <= 0 or not all(isinstance(binding.value, ast.Tuple) for binding in bindings):
            return _ANY
        parts = [_elements(b.value, target, node, b.scope, depth - 1) for b in bindings if b.value is not None]
        return _either(parts)
    if isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
        values = iterable.elts
    elif isinstance(iterable, ast.Dict):
        values = [key for key in iterable.keys if key is not None]
        if len(values) < len(iterable.keys):
            return _ANY
    elif (
        isinstance(iterable, ast.Call)
        and isinstance(iterable.func, ast.Attribute)
        and iterable.func.attr == "split"
        and _text(iterable.func.value) is not None
        and not iterable.args
        and target is node
    ):
        # for name in "a b".split():
        return _either([re.escape(word) for word in str(_text(iterable.func.value)).split()])
    else:
        return _ANY
    if target is node:
        return _either([_pattern(value, scope, depth) for value in values])
    if isinstance(target, (ast.Tuple, ast.List)) and node in target.elts:
        # for name, size in (("a", 1), ("b", 2)):
        at = target.elts.index(node)
        starred = any(isinstance(each, ast.Starred) for each in target.elts)
        rows = [value.elts for value in values if isinstance(value, (ast.Tuple, ast.List))]
        if starred or len(rows) < len(values) or any(len(row) != len(target.elts) for row in rows):
            return _ANY
        return _either([_pattern(row[at], scope, depth) for row in rows])
    return _ANY


def _binds(target: ast.expr, node: ast.AST) -> bool:
    return target is node or (isinstance(target, (ast.Tuple, ast.List)) and node in target.elts)


def _piece(node: ast.expr, scope: Scope, depth: int) -> str:
    if isinstance(node, ast.FormattedValue):
        return _pattern(node.value, scope, depth - 1) if node.conversion == -1 and node.format_spec is None else _ANY
    return _pattern(node, scope, depth)


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _either(parts: list[str]) -> str:
    if not parts or _ANY in parts:
        return _ANY
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def _joined(parts: list[str]) -> str:
    text = "".join(f"(?:{part})" if "|" in part else part for part in parts)
    return _ANY if text == _ANY * len(parts) else text
