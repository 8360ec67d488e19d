"""`__all__`: take exactly the symbol's entries out, whatever way the list is built.

Owns the cut in `__all__` statements of the package's `__init__` (and its stub).
Invariant: every other entry, its quotes and its comments stay; a name that a computed `__all__` would still list is a refusal.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Module, Refusal
from codemods.engine.namespace import Namespaces, all_values, module_statements
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms import sequence


@dataclass(slots=True)
class AllPlan:
    """Edits inside `__all__` statements, statements that become empty, and nodes that are taken out (`sym.__name__`)."""

    edits: list[Edit] = field(default_factory=list)
    emptied: list[ast.stmt] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)  # ids of nodes that are cut away
    refusals: list[Refusal] = field(default_factory=list)
    replaced: list[ast.expr] = field(default_factory=list)  # `sub.__all__` terms that were taken out whole


def plan_all(module: Module, syntax: Syntax, namespaces: Namespaces, symbols: frozenset[str]) -> AllPlan:
    """Plan the removal of `symbols` from each `__all__` statement of a file."""
    plan = AllPlan()
    for statement in module_statements(syntax.tree.body):
        for value, remove in all_values(statement):
            _Entry(module, syntax, namespaces, symbols, plan, statement).value(value, remove)
    return plan


class _Entry:
    def __init__(self, module: Module, syntax: Syntax, namespaces: Namespaces, symbols: frozenset[str], plan: AllPlan, statement: ast.stmt) -> None:
        self.module = module
        self.syntax = syntax
        self.namespaces = namespaces
        self.symbols = symbols
        self.plan = plan
        self.statement = statement
        # __all__ += [...], .append(x), .extend(x): the statement goes when nothing is left of it
        self.adds = isinstance(statement, (ast.AugAssign, ast.Expr))

    def value(self, value: ast.expr, remove: bool) -> None:
        if isinstance(value, ast.Constant):
            # __all__.append("sym")      __all__.remove("sym")
            if value.value in self.symbols:
                self.plan.emptied.append(self.statement)
            elif isinstance(value.value, str) and self.symbols & set(value.value.split()):
                self._refuse(value, "the name is part of a longer string")
            return
        if remove:
            self._names(value)
            return
        if self._is_name_of(value):
            self.plan.emptied.append(self.statement)  # __all__.append(sym.__name__)
            self._gone(value)
            return
        if self.adds and isinstance(value, (ast.List, ast.Tuple, ast.Set)) and value.elts and all(self._goes(element) for element in value.elts):
            self.plan.emptied.append(self.statement)
            for element in value.elts:
                self._gone(element)
            return
        self._term(value)

    def _term(self, value: ast.expr) -> None:
        if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            self._display(value)
            return
        if isinstance(value, ast.BinOp):
            # ["a"] + ["sym"] + sub.__all__
            if isinstance(value.op, ast.Add) and isinstance(value.right, (ast.List, ast.Tuple)) and isinstance(value.left, (ast.List, ast.BinOp)):
                if value.right.elts and all(self._goes(element) for element in value.right.elts):
                    self._term(value.left)
                    end = self.syntax.source.span(value.left)[1]
                    self._edit(end, self.syntax.source.span(value.right)[1], "")
                    for element in value.right.elts:
                        self._gone(element)
                    return
            self._term(value.left)
            self._term(value.right)
            return
        if isinstance(value, ast.Starred):
            self._term(value.value)
            return
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Name) and value.func.id in ("dir", "globals", "vars", "locals"):
                return
            if isinstance(value.func, ast.Name) and value.func.id in ("list", "tuple", "sorted", "set") and value.args:
                self._term(value.args[0])
                return
            self._names(value)
            return
        if isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            self._names(value)
            return
        if isinstance(value, (ast.Name, ast.Attribute)):
            self._from_module(value)
            return
        self._names(value)

    def _display(self, value: ast.List | ast.Tuple | ast.Set) -> None:
        drop = [number for number, element in enumerate(value.elts) if self._goes(element)]
        for element in value.elts:
            if not self._goes(element):
                self._inner(element)
        if not drop:
            return
        start, end = self.syntax.source.span(value)
        text = self.syntax.source.text[start:end]
        newline = self.syntax.source.newline
        for number in drop:
            self._gone(value.elts[number])
        if len(drop) == len(value.elts):
            # a comment in the brackets stays
            bare = isinstance(value, ast.Tuple) and not text.startswith("(")
            empty = {ast.List: "[]", ast.Tuple: "()", ast.Set: "set()"}[type(value)]
            self._edit(start, end, empty if bare or "#" not in text else self._emptied(text, empty))
            return
        pieces = sequence.without(sequence.display(text.replace("\r\n", "\n")), drop).left
        if isinstance(value, ast.Tuple) and len(pieces.items) == 1 and not pieces.commas[0]:
            pieces = sequence.Sequence(pieces.head, pieces.items, (",",), pieces.gaps, pieces.tail)
        self._edit(start, end, pieces.text.replace("\n", newline))

    def _emptied(self, text: str, empty: str) -> str:
        rows = [row for row in text.splitlines()[1:-1] if row.strip().startswith("#")]
        if not rows or len(empty) != 2:
            return empty
        newline = self.syntax.source.newline
        return empty[0] + newline + newline.join(rows) + newline + text.splitlines()[-1]

    def _inner(self, element: ast.expr) -> None:
        if isinstance(element, ast.Starred):
            self._term(element.value)  # [*sub.__all__, "a"]
        elif not isinstance(element, ast.Constant):
            self._names(element)

    def _from_module(self, value: ast.expr) -> None:
        # sub.__all__ that lists the symbol: keep it out of the package's
        source = self.namespaces.dunder_all_of(self.module, self.syntax, value)
        exports = self.namespaces.exports(source) if source else None
        if exports is None:
            if self.syntax and isinstance(value, ast.Name) and value.id in self.symbols:
                self._refuse(value, "the name is used as a list of names")
            return
        listed = [name for name in exports.names if name in self.symbols]
        if not listed:
            return
        if exports.complete and all(name in self.symbols for name in exports.names):
            self.plan.replaced.append(value)
            for node in ast.walk(value):
                self.plan.gone.add(id(node))
            start, end = self.syntax.source.span(value)
            self._edit(start, end, "[]")
            return
        start, end = self.syntax.source.span(value)
        text = self.syntax.source.text[start:end]
        test = f'name != "{listed[0]}"' if len(listed) == 1 else "name not in (" + ", ".join(f'"{name}"' for name in listed) + ")"
        self._edit(start, end, f"[name for name in {text} if {test}]")

    def _names(self, value: ast.expr) -> None:
        # a computed list: fine when it follows the namespace, a refusal when it would still name the symbol
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and self.symbols & {node.value, *node.value.split()}:
                self._refuse(node, "a computed __all__ would still name it")
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set)) and any(self._goes(element) for element in node.elts):
                self._refuse(node, "a computed __all__ would still name it")

    def _goes(self, element: ast.expr) -> bool:
        return (isinstance(element, ast.Constant) and element.value in self.symbols) or self._is_name_of(element)

    def _is_name_of(self, node: ast.expr) -> bool:
        # sym.__name__
        return isinstance(node, ast.Attribute) and node.attr == "__name__" and isinstance(node.value, ast.Name) and node.value.id in self.symbols

    def _gone(self, node: ast.expr) -> None:
        self.plan.gone.update(id(inner) for inner in ast.walk(node))

    def _edit(self, start: int, end: int, text: str) -> None:
        self.plan.edits.append(Edit(self.syntax.source.path, start, end, text))

    def _refuse(self, node: ast.expr, reason: str) -> None:
        site = self.syntax.source.site_of(node)
        if any(refusal.site == site for refusal in self.plan.refusals):
            return
        for name in sorted(self.symbols):
            if any(name in str(getattr(part, "value", "")) or getattr(part, "id", "") == name for part in ast.walk(node)):
                self.plan.refusals.append(Refusal(site, f"{self.module.name}:{name}", f"__all__ cannot be edited: {reason}", "write __all__ as a list of strings first"))
