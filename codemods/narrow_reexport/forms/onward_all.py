"""`__all__ = ["x"] + pkg.__all__` in another module: what it listed through the package, it still lists.

Owns the entries that an onward re-exporter gets when they go from the package's own `__all__`.
Invariant: it adds each entry once, and only to an `__all__` that is built from the package's.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.engine.model import Edit, Module
from codemods.engine.namespace import absolute, all_values, module_statements
from codemods.engine.references import Names
from codemods.engine.scopes import Syntax


def onward_entries(
    syntax: Syntax, module: Module, names: Names, listed: Sequence[str], *, as_tuple: bool
) -> list[Edit]:
    """The edits that keep `listed` names in this file's `__all__`; `as_tuple` where the package's `__all__` is a tuple."""
    # __all__ = ["x"] + pkg.__all__      ->  __all__ = ["x"] + pkg.__all__ + ["sym"]
    edits: list[Edit] = []
    for statement in module_statements(syntax.tree.body):
        for value, remove in all_values(statement):
            here = {part.value for part in ast.walk(value) if isinstance(part, ast.Constant)}
            missing = [name for name in listed if name not in here]
            term = None if remove or not missing else _term(syntax, module, names, value)
            if term is None:
                continue
            quoted = ", ".join(f'"{name}"' for name in missing)
            starred = any(isinstance(node, ast.Starred) and node.value is term for node in ast.walk(value))
            extra = f"({quoted},)" if as_tuple else f"[{quoted}]"
            end = syntax.source.span(term)[1]
            edits.append(Edit(syntax.source.path, end, end, f", {quoted}" if starred else f" + {extra}"))
    return edits


def lists_onward(syntax: Syntax, module: Module, names: Names) -> bool:
    """Whether this file's `__all__` is built from the package's, so that it gets the entries that go there."""
    values = [value for part in module_statements(syntax.tree.body) for value, remove in all_values(part) if not remove]
    return any(_term(syntax, module, names, value) is not None for value in values)


def takes_all(syntax: Syntax, module: Module, package: str) -> list[ast.ImportFrom]:
    """Statements by which the package's own list becomes this module's `__all__`."""
    # from pkg import __all__
    return [
        statement
        for statement, block in syntax.imports
        if isinstance(statement, ast.ImportFrom)
        and block.scope.kind == "module"
        and absolute(module, statement) == package
        and any(alias.name == "__all__" == (alias.asname or alias.name) for alias in statement.names)
    ]


def _term(syntax: Syntax, module: Module, names: Names, value: ast.expr) -> ast.expr | None:
    package = names.target.package
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr == "__all__":
            if names.modules(node.value, syntax.module) == {package}:
                return node
        if isinstance(node, ast.Name):
            for binding in syntax.module.bindings.get(node.id, []):
                imported = isinstance(binding.node, ast.alias) and binding.node.name == "__all__"
                if imported and isinstance(binding.statement, ast.ImportFrom):
                    if absolute(module, binding.statement) == package:
                        return node
    return None
