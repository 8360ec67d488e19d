"""`__all__`: take exactly the symbol's entries out, whatever way the list is built.

Owns the cut in `__all__` statements of the package's `__init__` (and its stub).
Invariant: every other entry, its quotes and its comments stay; an `__all__` that might still name the symbol afterwards is
a refusal.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Module, Refusal
from codemods.engine.namespace import Namespaces, all_values, module_statements
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms import sequence

_NAMESPACE = {"dir", "globals", "vars", "locals"}  # an __all__ computed from these follows what is bound
_WRAPPERS = {"list", "tuple", "sorted", "set", "frozenset"}
_BY_POSITION = {"pop", "__setitem__", "__delitem__", "insert"}
_EMPTY: dict[type[ast.expr], str] = {ast.List: "[]", ast.Tuple: "()", ast.Set: "set()"}


@dataclass(slots=True)
class AllPlan:
    """Edits inside `__all__` statements, statements that become empty, and nodes that are taken out (`sym.__name__`)."""

    edits: list[Edit] = field(default_factory=list)
    emptied: list[ast.stmt] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)  # ids of nodes that are cut away
    refusals: list[Refusal] = field(default_factory=list)
    unread: list[ast.AST] = field(default_factory=list)  # parts that cannot be read: they may name the symbol
    replaced: list[ast.expr] = field(default_factory=list)  # `sub.__all__` terms that were taken out whole


def plan_all(
    module: Module,
    syntax: Syntax,
    namespaces: Namespaces,
    symbols: frozenset[str],
    tables: frozenset[str] = frozenset(),
) -> AllPlan:
    """Plan the removal of `symbols` from each `__all__` statement of a file; what is made from `tables` follows them."""
    cutter = _Cutter(module, syntax, namespaces, symbols)
    cutter.tables = tables
    for statement in module_statements(syntax.tree.body):
        for value, remove in all_values(statement):
            cutter.statement = statement
            cutter.value(value, remove)
    cutter.backstop()
    return cutter.plan


class _Cutter:
    def __init__(self, module: Module, syntax: Syntax, namespaces: Namespaces, symbols: frozenset[str]) -> None:
        self.module = module
        self.syntax = syntax
        self.namespaces = namespaces
        self.symbols = symbols
        self.plan = AllPlan()
        self.statement: ast.stmt = ast.Pass()
        self.unknown: list[ast.AST] = []  # parts of `__all__` that cannot be read
        self.tables = frozenset[str]()
        self.known: set[int] = set()  # `__all__` names in statements that were understood

    def value(self, value: ast.expr, remove: bool) -> None:
        """One value that a statement puts into `__all__`, or takes out of it."""
        self.known.update(id(node) for node in ast.walk(self.statement) if isinstance(node, ast.Name))
        if _text(value) is not None:
            # __all__.append("sym")      __all__.remove("sym")
            if _text(value) in self.symbols:
                self.plan.emptied.append(self.statement)
                self._gone(value)
            return
        if remove or (isinstance(self.statement, ast.Expr) and not self._is_list(value)):
            if self._is_name_of(value):
                self.plan.emptied.append(self.statement)  # __all__.append(sym.__name__)
                self._gone(value)
            else:
                self.unknown.append(value)
            return
        if isinstance(self.statement, (ast.AugAssign, ast.Expr)) and self._vanishes(value):
            self._vanish(value)  # __all__ += ["sym"]: nothing is left to add
            self.plan.emptied.append(self.statement)
            return
        self._term(value)

    def backstop(self) -> None:
        """Refuse where something that was not understood could still put the symbol's name into `__all__`."""
        for node in ast.walk(self.syntax.tree):
            if isinstance(node, ast.Name) and node.id == "__all__" and id(node) not in self.known:
                if not self._made_with_getattr(node):
                    self._other_use(node)
        text = self.syntax.source.text
        if re.search(r"""\[\s*["']__all__["']\s*\]\s*=""", text):
            self.unknown.append(self.syntax.tree)
        if not self.unknown:
            return
        self.plan.unread = self.unknown
        for use in self.syntax.strings:
            value = _text(use.node)
            if isinstance(use.parent, ast.Expr) or value is None or id(use.node) in self.plan.gone or use.annotation:
                continue
            if self.symbols & {value, *value.split()}:
                self._refuse(use.node, "it is computed in a way that may still name it")
        for part in self.unknown:
            for node in ast.walk(part):
                source = self._listed_by(node)
                exports = self.namespaces.exports(source) if source else None
                if exports is not None and (self.symbols & set(exports.names) or not exports.complete):
                    self._refuse(node, f"it is computed from {source}.__all__, which names it")  # type: ignore[arg-type]

    def _made_with_getattr(self, node: ast.Name) -> bool:
        # __getattr__, __dir__, __all__ = lazy.attach(...)        one table makes all three
        for binding in self.syntax.module.bindings["__all__"]:
            if binding.node is node and isinstance(binding.statement, ast.Assign):
                return any(
                    isinstance(part, ast.Name) and part.id == "__getattr__"
                    for target in binding.statement.targets
                    for part in ast.walk(target)
                )
        return False

    def _other_use(self, node: ast.Name) -> None:
        # __all__[1] = x      __all__.pop(1)      (__all__ := [...])      for n in __all__: ...
        for use in self.syntax.attributes:
            if isinstance(use.node, ast.Attribute) and use.node.value is node:
                if use.node.attr in _BY_POSITION:
                    self._by_position(node)
                elif use.node.attr not in ("index", "count", "sort", "reverse", "copy", "append", "extend", "remove"):
                    self.unknown.append(self.syntax.tree)
                elif use.node.attr in ("append", "extend") and use.block.when.value == "late":
                    self.unknown.append(self.syntax.tree)
                return
        if not isinstance(node.ctx, ast.Load):
            self.unknown.append(self.syntax.tree)
            return
        for inner in ast.walk(self.syntax.tree):
            if isinstance(inner, ast.Subscript) and inner.value is node and not isinstance(inner.ctx, ast.Load):
                self._by_position(node)
                self.unknown.append(self.syntax.tree)

    def _by_position(self, node: ast.Name) -> None:
        exports = self.namespaces.exports(self.module.name)
        if exports is not None and self.symbols & set(exports.names):
            self._refuse(node, "it is edited by position, which shifts when an entry goes", every=True)

    # Terms

    def _term(self, value: ast.expr, *, bare: bool = False) -> None:
        if self.tables and self._follows(value):
            return  # __all__ = sorted(_LAZY): the table's own entry goes
        if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            self._display(value)
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            self._sum(value)
        elif isinstance(value, ast.IfExp):
            self._term(value.body)
            self._term(value.orelse)
        elif isinstance(value, ast.Starred):
            self._term(value.value, bare=True)
        elif (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in _WRAPPERS
            and value.args
        ):
            if isinstance(value.args[0], (ast.GeneratorExp, ast.ListComp)):
                self._computed(value)
            else:
                self._term(value.args[0], bare=True)
        elif isinstance(value, ast.Name) and value.id == "__all__":
            return
        elif isinstance(value, (ast.Name, ast.Attribute)):
            self._named(value, bare)
        else:
            self._computed(value)

    def _sum(self, value: ast.BinOp) -> None:
        # ["a"] + ["sym"]      ->  ["a"]           an operand that is left empty goes with its operator
        left, right = value.left, value.right
        if self._vanishes(right) and self._is_fresh(left):
            self._vanish(right)
            self._edit(self._end(left), self._end(right), "")
            self._term(left)
        elif self._vanishes(left) and self._is_fresh(right):
            self._vanish(left)
            self._edit(self.syntax.source.span(left)[0], self.syntax.source.span(right)[0], "")
            self._term(right)
        else:
            self._term(left)
            self._term(right)

    def _display(self, value: ast.List | ast.Tuple | ast.Set) -> None:
        drop = []
        for number, element in enumerate(value.elts):
            if self._goes(element) or (isinstance(element, ast.Starred) and self._vanishes(element.value)):
                drop.append(number)
                self._vanish(element)
            elif isinstance(element, ast.Starred):
                self._term(element)
            elif _text(element) is None:
                self._computed(element)
        if not drop:
            return
        start, end = self.syntax.source.span(value)
        text = self.syntax.source.text[start:end]
        newline = self.syntax.source.newline
        if len(drop) == len(value.elts):
            bare = isinstance(value, ast.Tuple) and not text.startswith("(")
            empty = _EMPTY[type(value)]
            self._edit(start, end, empty if bare or "#" not in text else self._emptied(text, empty))
            return
        pieces = sequence.without(sequence.display(text.replace("\r\n", "\n")), drop).left
        if isinstance(value, ast.Tuple) and len(pieces.items) == 1 and not pieces.commas[0]:
            pieces = sequence.Sequence(pieces.head, pieces.items, (",",), pieces.gaps, pieces.tail)
        inner = [edit for edit in self.plan.edits if start <= edit.start and edit.end <= end]
        if inner:
            self._refuse(value, "entries and a submodule's __all__ are mixed in one list", every=True)
            return
        self._edit(start, end, pieces.text.replace("\n", newline))

    def _emptied(self, text: str, empty: str) -> str:
        # comments on lines of their own stay
        rows = [row for row in text.splitlines()[1:-1] if row.strip().startswith("#")]
        if not rows or len(empty) != 2:
            return empty
        newline = self.syntax.source.newline
        return empty[0] + newline + newline.join(rows) + newline + text.splitlines()[-1]

    def _named(self, value: ast.Name | ast.Attribute, bare: bool) -> None:
        listed = self._local_list(value)
        if listed is not None:
            # _NAMES = ["sym", "a"]; __all__ = _NAMES
            self._term(listed)
            return
        source = self.namespaces.dunder_all_of(self.module, self.syntax, value)
        exports = self.namespaces.exports(source) if source else None
        if exports is None:
            if not source or self.namespaces.locate(source) is not None:
                self.unknown.append(value)
            return
        names = [name for name in exports.names if name in self.symbols]
        if not exports.complete:
            self.unknown.append(value)
        if not names:
            return
        start, end = self.syntax.source.span(value)
        if self._vanishes(value):
            self._vanish(value)
            self._edit(start, end, "()" if self._is_tuple(source) else "[]")
            return
        # sub.__all__ that lists the symbol: keep it out of the package's
        quoted = ", ".join(f'"{name}"' for name in names)
        test = f"name != {quoted}" if len(names) == 1 else f"name not in ({quoted})"
        loop = f"name for name in {self.syntax.source.text[start:end]} if {test}"
        if bare and not isinstance(self.statement, ast.Expr):
            self._edit(start, end, loop if self._in_call(value) else f"({loop})")
        else:
            self._edit(start, end, f"tuple({loop})" if self._is_tuple(source) else f"[{loop}]")

    def _computed(self, value: ast.expr) -> None:
        calls = {
            node.func.id for node in ast.walk(value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        literal = any(_text(node) in self.symbols for node in ast.walk(value) if isinstance(node, ast.expr))
        if not (calls & _NAMESPACE) or literal:
            self.unknown.append(value)

    # Facts

    def _follows(self, value: ast.expr) -> bool:
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        bound = {node.id for node in ast.walk(value) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        literal = any(_text(node) in self.symbols for node in ast.walk(value) if isinstance(node, ast.expr))
        return bool(names & self.tables) and not literal and names - bound <= self.tables | _WRAPPERS

    def _vanishes(self, value: ast.expr) -> bool:
        """Whether nothing is left of a term."""
        if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            return bool(value.elts) and all(
                self._goes(element) or (isinstance(element, ast.Starred) and self._vanishes(element.value))
                for element in value.elts
            )
        if isinstance(value, ast.BinOp):
            return self._vanishes(value.left) and self._vanishes(value.right)
        if isinstance(value, (ast.Name, ast.Attribute)) and self._local_list(value) is None:
            source = self.namespaces.dunder_all_of(self.module, self.syntax, value)
            exports = self.namespaces.exports(source) if source else None
            return (
                exports is not None and exports.complete and bool(exports.names) and set(exports.names) <= self.symbols
            )
        return False

    def _vanish(self, value: ast.expr) -> None:
        self._gone(value)
        for node in ast.walk(value):
            if isinstance(node, (ast.Name, ast.Attribute)) and self._listed_by(node):
                self.plan.replaced.append(node)

    def _is_fresh(self, value: ast.expr) -> bool:
        return isinstance(value, (ast.List, ast.Tuple, ast.BinOp, ast.Call, ast.ListComp))

    def _is_list(self, value: ast.expr) -> bool:
        # .extend(value), against .append(value)
        call = self.statement.value if isinstance(self.statement, ast.Expr) else None
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "extend"

    def _is_tuple(self, source: str) -> bool:
        module = self.namespaces.locate(source)
        syntax = self.namespaces.syntax(module) if module else None
        for statement in module_statements(syntax.tree.body) if syntax else ():
            for value, _ in all_values(statement):
                while isinstance(value, ast.BinOp):
                    value = value.left
                return isinstance(value, ast.Tuple)
        return False

    def _in_call(self, value: ast.expr) -> bool:
        return any(isinstance(use.node, ast.Call) and use.node.args == [value] for use in self.syntax.calls)

    def _local_list(self, value: ast.expr) -> ast.expr | None:
        """The display that a name of this file stands for, where it serves `__all__` alone."""
        if not isinstance(value, ast.Name) or not value.id.startswith("_"):
            return None  # a public list may be read elsewhere
        found = self.syntax.module.bindings.get(value.id, [])
        if len(found) != 1 or not isinstance(found[0].value, (ast.List, ast.Tuple, ast.BinOp)):
            return None
        if not isinstance(found[0].statement, (ast.Assign, ast.AnnAssign)) or found[0].scope is not self.syntax.module:
            return None
        uses = [use for use in self.syntax.names if isinstance(use.node, ast.Name) and use.node.id == value.id]
        return found[0].value if all(all_values(use.statement) for use in uses) else None

    def _listed_by(self, node: ast.AST) -> str:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return ""
        return self.namespaces.dunder_all_of(self.module, self.syntax, node)

    def _goes(self, element: ast.expr) -> bool:
        return _text(element) in self.symbols or self._is_name_of(element)

    def _is_name_of(self, node: ast.expr) -> bool:
        # sym.__name__
        return (
            isinstance(node, ast.Attribute)
            and node.attr in ("__name__", "__qualname__")
            and isinstance(node.value, ast.Name)
            and node.value.id in self.symbols
        )

    def _gone(self, node: ast.expr) -> None:
        self.plan.gone.update(id(inner) for inner in ast.walk(node))

    def _end(self, node: ast.expr) -> int:
        return self.syntax.source.span(node)[1]

    def _edit(self, start: int, end: int, text: str) -> None:
        self.plan.edits.append(Edit(self.syntax.source.path, start, end, text))

    def _refuse(self, node: ast.expr, reason: str, *, every: bool = False) -> None:
        site = self.syntax.source.site(node.lineno)
        parts = [str(getattr(part, "value", "")) for part in ast.walk(node)]
        named = [name for name in sorted(self.symbols) if any(name in part for part in parts)]
        for name in sorted(self.symbols) if every or not named else named:
            hint = "write __all__ as a list of strings first"
            refusal = Refusal(site, f"{self.module.name}:{name}", f"__all__ cannot be edited: {reason}", hint)
            if refusal not in self.plan.refusals:
                self.plan.refusals.append(refusal)


def _text(node: ast.expr) -> str | None:
    """The string that a literal is: plain, joined by `+`, or an f-string without fields."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return left + right if left is not None and right is not None else None
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part) for part in node.values if isinstance(part, ast.Constant)]
        return "".join(part or "" for part in parts) if len(parts) == len(node.values) else None
    return None
