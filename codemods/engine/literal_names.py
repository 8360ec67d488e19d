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
_WRAPPERS = ("sorted", "list", "tuple", "set", "frozenset", "reversed")


def possible(node: ast.expr, scope: Scope, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that the value of an expression may be."""
    pattern = re.compile(_pattern(node, scope, _DEPTH))
    return frozenset(name for name in names if pattern.fullmatch(name))


def certain(node: ast.expr, scope: Scope, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` that an expression is written to be: nothing of its value is left open."""
    pattern = _pattern(node, scope, _DEPTH)
    return frozenset() if _ANY in pattern else frozenset(name for name in names if re.fullmatch(pattern, name))


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
    rows = _rows(iterable, scope, depth)
    if rows is None:
        return _ANY
    if target is node:
        return _either([_pattern(value, inside, depth) for value, inside in rows])
    if isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(each, ast.Starred) for each in target.elts):
        # for name, size in (("a", 1), ("b", 2)):
        at = target.elts.index(node)  # type: ignore[arg-type]
        parts = []
        for value, inside in rows:
            if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
                return _ANY
            parts.append(_pattern(value.elts[at], inside, depth))
        return _either(parts)
    return _ANY


def _rows(iterable: ast.expr, scope: Scope, depth: int) -> list[tuple[ast.expr, Scope]] | None:
    """The elements that a loop over an expression visits, each with the scope it is written in; None where unknown."""
    if depth <= 0:
        return None
    if isinstance(iterable, (ast.Tuple, ast.List, ast.Set)):
        return [(element, scope) for element in iterable.elts]
    if isinstance(iterable, ast.Dict):
        keys = [(key, scope) for key in iterable.keys if key is not None]
        return keys if len(keys) == len(iterable.keys) else None
    if isinstance(iterable, ast.Name):
        # NAMES = ("a", "b")
        values = _constant(iterable, scope)
        found = [_rows(value, inside, depth - 1) for value, inside in values]
        return [row for rows in found for row in rows or ()] if values and None not in found else None
    if isinstance(iterable, ast.BinOp) and isinstance(iterable.op, ast.Add):
        left, right = _rows(iterable.left, scope, depth - 1), _rows(iterable.right, scope, depth - 1)
        return left + right if left is not None and right is not None else None
    if not isinstance(iterable, ast.Call):
        return None
    callee = iterable.func
    if isinstance(callee, ast.Name) and callee.id in _WRAPPERS and scope.owner(callee.id) is None and iterable.args:
        # sorted(("a", "b"))
        return _rows(iterable.args[0], scope, depth - 1)
    if not isinstance(callee, ast.Attribute) or iterable.args or iterable.keywords:
        return None
    text = _text(callee.value)
    if text is not None and callee.attr == "split":
        # "a b".split()
        return [(ast.Constant(word), scope) for word in text.split()]
    tables = _constant(callee.value, scope) if isinstance(callee.value, ast.Name) else [(callee.value, scope)]
    if not tables or callee.attr not in ("keys", "items"):
        return None
    rows: list[tuple[ast.expr, Scope]] = []
    for table, inside in tables:
        if not isinstance(table, ast.Dict) or None in table.keys:
            return None
        for key, value in zip(table.keys, table.values, strict=True):
            assert key is not None
            # {"a": 1}.items()
            element = ast.Tuple([key, value], ast.Load()) if callee.attr == "items" else key
            rows.append((element, inside))
    return rows


def _constant(name: ast.Name, scope: Scope) -> list[tuple[ast.expr, Scope]]:
    """What a name is bound to, if that cannot change: a tuple, or a display that a function reads and does not hand on."""
    owner = scope.owner(name.id)
    bindings = owner.bindings[name.id] if owner is not None else []
    values = [(binding.value, binding.scope) for binding in bindings if binding.value is not None]
    if owner is None or len(values) < len(bindings):
        return []
    if all(isinstance(value, ast.Tuple) for value, _ in values):
        return values
    local = isinstance(owner.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if not local or not all(isinstance(value, (ast.List, ast.Set, ast.Dict)) for value, _ in values):
        return []
    alone = all(
        (isinstance(b.statement, ast.Assign) and len(b.statement.targets) == 1 and b.statement.value is b.value)
        or (isinstance(b.statement, ast.AnnAssign) and b.statement.value is b.value)
        for b in bindings
    )
    return values if alone and _is_only_read(name.id, owner.node) else []


def _is_only_read(name: str, function: ast.AST) -> bool:
    """Whether a function's own list or table is looped over and looked up, and nothing else."""
    reads = 0
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            reads += _is_name(node.iter, name)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            reads += _is_name(node.value, name)
        elif isinstance(node, ast.Compare):
            reads += sum(
                _is_name(right, name) and isinstance(operator, (ast.In, ast.NotIn))
                for operator, right in zip(node.ops, node.comparators, strict=True)
            )
        elif isinstance(node, ast.Call):
            # len(names)     sorted(names)     table.items()
            if isinstance(node.func, ast.Name) and node.func.id in (*_WRAPPERS, "len", "print"):
                reads += sum(_is_name(argument, name) for argument in node.args)
            elif isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "values", "get", "index"):
                reads += _is_name(node.func.value, name)
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    return reads == sum(isinstance(node.ctx, ast.Load) for node in uses)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


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
