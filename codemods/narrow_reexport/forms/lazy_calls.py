"""Calls in the code of a lazy `__init__`: builtins, methods of text and tables, `import_module`.

Owns what each of them gives, as far as literal arguments decide it.
Invariant: it calls nothing but methods of literal text; a call that is not known raises `Unclear`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from codemods.engine.model import Module, Symbol
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms.lazy_values import MAKERS, READS, Loaded, Namespace, Taken, Unclear, Values

_SPLITS = {"split", "rsplit", "partition", "rpartition", "join", "replace"}
_TRIMS = {"strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "lower", "upper"}
_TEXT_METHODS = {"startswith", "endswith"} | _SPLITS | _TRIMS


class Calls(Values):
    """Evaluates calls, too."""

    def __init__(self, package: Module, syntax: Syntax, locate: Callable[[str], Module | None]) -> None:
        super().__init__(package, syntax, locate)
        self.imports = 0  # imports that were followed so far

    def _call(self, node: ast.Call, names: dict[str, object]) -> object:
        callee = node.func
        if isinstance(callee, ast.Name) and callee.id not in names and callee.id not in self.syntax.module.bindings:
            return self._builtin(node, callee.id, names)
        if isinstance(callee, ast.Attribute):
            base = None if ast.unparse(callee.value) == "importlib" else self._receiver(callee, names)
            if isinstance(base, str) and callee.attr in _TEXT_METHODS and not node.keywords:
                return self._text_method(base, node, names)
            if isinstance(base, dict) and callee.attr in READS and not node.keywords:
                return self._table_method(base, node, names)
        target = self.value(callee, names) if not isinstance(callee, ast.Attribute) else self._attribute(callee, names)
        if target == Taken(Symbol("importlib", "import_module")):
            self.imports += 1
            return self._import_module(node, names)
        return self.call(node, target, names)

    def _receiver(self, callee: ast.Attribute, names: dict[str, object]) -> object:
        return self.value(callee.value, names)

    def call(self, node: ast.Call, target: object, names: dict[str, object]) -> object:
        """A call of anything else."""
        raise Unclear(f"it calls {ast.unparse(node.func)}()", node.lineno)

    def _builtin(self, node: ast.Call, name: str, names: dict[str, object]) -> object:
        if name == "globals" and not node.args:
            return Namespace()
        if name == "getattr" and len(node.args) in (2, 3):
            attribute = self.value(node.args[1], names)
            if isinstance(attribute, str):
                return self.read_from(self.value(node.args[0], names), attribute, node)
        if name in MAKERS and not node.keywords and len(node.args) <= 1:
            if name == "dict":
                value = self.value(node.args[0], names) if node.args else {}
                if isinstance(value, dict):
                    return dict(value)
            else:
                items = self.items(node.args[0], names) if node.args else []
                if name in ("set", "frozenset"):
                    return self._hashed(items, node)
                return tuple(items) if name == "tuple" else sorted(items, key=repr) if name == "sorted" else items
        if name == "dict" and not node.args and all(keyword.arg for keyword in node.keywords):
            return {keyword.arg: self.value(keyword.value, names) for keyword in node.keywords}
        raise Unclear(f"it calls {name}()", node.lineno)

    def _text_method(self, base: str, node: ast.Call, names: dict[str, object]) -> object:
        assert isinstance(node.func, ast.Attribute)
        arguments = [self.value(argument, names) for argument in node.args]
        try:
            return getattr(base, node.func.attr)(*arguments)
        except (TypeError, ValueError):
            raise Unclear(f"it evaluates {ast.unparse(node)[:60]}", node.lineno) from None

    def _table_method(self, base: dict[object, object], node: ast.Call, names: dict[str, object]) -> object:
        assert isinstance(node.func, ast.Attribute)
        arguments = [self.value(argument, names) for argument in node.args]
        if node.func.attr == "get" and 1 <= len(arguments) <= 2:
            return base.get(arguments[0], arguments[1] if len(arguments) == 2 else None)
        if node.func.attr == "items" and not arguments:
            return list(base.items())
        if node.func.attr in ("keys", "values") and not arguments:
            return list(base) if node.func.attr == "keys" else list(base.values())
        raise Unclear(f"it evaluates {ast.unparse(node)[:60]}", node.lineno)

    def _import_module(self, node: ast.Call, names: dict[str, object]) -> object:
        given: Iterable[ast.expr] = (*node.args, *(word.value for word in node.keywords if word.arg == "package"))
        values = [self.value(argument, names) for argument in given]
        if len(values) in (1, 2) and all(isinstance(value, str) for value in values):
            name, package = str(values[0]), str(values[1]) if len(values) == 2 else ""
            dots = len(name) - len(name.lstrip("."))
            if not dots:
                return Loaded(name)
            above = package.split(".")
            if package and dots <= len(above):
                return Loaded(".".join([*above[: len(above) - dots + 1], name[dots:]]).rstrip("."))
        raise Unclear(f"it imports {ast.unparse(node)[:60]}", node.lineno)
