"""The cut in a lazy export: exactly the symbol's entries and branches go, and reading the rest gives what it gave.

Owns the edits in the tables, branches and calls that a module `__getattr__` decides by.
Invariant: a cut counts only if, read again, the edited file no longer gives the symbol and gives every other name as before.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from codemods.engine.edits import apply
from codemods.engine.model import Edit, Module
from codemods.engine.namespace import Namespaces, all_values
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, Source, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.lazy_branches import Branches
from codemods.narrow_reexport.forms.lazy_export import as_symbol, execution
from codemods.narrow_reexport.forms.lazy_getattr import getattr_bindings
from codemods.narrow_reexport.forms.lazy_values import Unclear
from codemods.narrow_reexport.forms.statement import deletion

_EMPTY: dict[type[ast.expr], str] = {ast.List: "[]", ast.Tuple: "()", ast.Set: "set()", ast.Dict: "{}"}
_DISPLAYS = (ast.List, ast.Tuple, ast.Set)
_LISTED = 2_000  # names that are asked for again after a cut


@dataclass(slots=True)
class LazyCut:
    """Edits, statements that go whole, and the nodes inside both."""

    edits: list[Edit] = field(default_factory=list)
    emptied: list[ast.stmt] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Way:
    """How tables are cut: entries of lists too, those of tuples inside tables too, keys of emptied lists too."""

    lists: bool
    tuples: bool
    keys: bool


_WAYS = (
    _Way(False, False, False),
    _Way(True, False, True),
    _Way(True, False, False),
    _Way(True, True, True),
    _Way(True, True, False),
)


def cut_lazy(
    package: Module, syntax: Syntax, namespaces: Namespaces, names: Collection[str], listed: Sequence[Edit]
) -> LazyCut:
    """Cut the lazy exports of `names`; `listed` are the edits of `__all__`. Raises Unclear where no cut is right."""
    reader = execution(package, syntax, namespaces)
    for name in names:
        reader.ask(name)
    if reader.by_stub:
        return _by_stub(package, namespaces, names, reader.followed)
    spared = {id(statement) for statement in syntax.tree.body if all_values(statement)}
    roots: list[ast.AST] = [node for made in reader.read.values() for node in made if id(node) not in spared]
    roots += reader.followed
    asked = _asked(syntax, names)
    before = _answers(package, syntax, namespaces, asked)
    line = getattr(reader.followed[0], "lineno", 1) if reader.followed else 1
    for way in _WAYS:
        cut = _Cutter(syntax, names, way, listed).run(roots)
        after = _after(syntax, [*cut.edits, *listed], cut.emptied)
        if after is None:
            continue
        if _answers(package, after, namespaces, asked) == before | dict.fromkeys(names, "nothing"):
            return _without_husk(syntax, after, cut)
    raise Unclear("no single entry or branch of it stands for the name", line)


def _by_stub(package: Module, namespaces: Namespaces, names: Collection[str], followed: Sequence[ast.AST]) -> LazyCut:
    # lazy.attach_stub(__name__, __file__)        the cut is in the stub: its own plan makes it
    stub = namespaces.syntax(Module(package.name, f"{package.path}i", True))
    for use in stub.names if stub is not None else ():
        if isinstance(use.node, ast.Name) and use.node.id in names:
            line = getattr(followed[0], "lineno", 1)
            raise Unclear(f"the stub that decides uses {use.node.id} itself (its line {use.node.lineno})", line)
    return LazyCut()


def lazy_tables(package: Module, syntax: Syntax, namespaces: Namespaces, names: Collection[str]) -> frozenset[str]:
    """The module-level tables, but `__all__`, that decide about these names: what is made from them follows a cut."""
    reader = execution(package, syntax, namespaces)
    for name in names:
        reader.ask(name)
    return frozenset(reader.read) - {"__all__"}


def _asked(syntax: Syntax, names: Collection[str]) -> list[str]:
    """The names to compare by: all that the file spells."""
    found = {str(use.node.value) for use in syntax.strings if isinstance(use.node, ast.Constant)}
    return [*sorted(part for part in found if part.isidentifier())[:_LISTED], *names]


def _answers(package: Module, syntax: Syntax, namespaces: Namespaces, names: Collection[str]) -> dict[str, str]:
    reader = execution(package, syntax, namespaces)
    answers: dict[str, str] = {}
    for name in names:
        try:
            answers[name] = str(as_symbol(reader.ask(name)) or "nothing")
        except Unclear as error:
            answers[name] = error.reason
    return answers


def _after(syntax: Syntax, edits: Sequence[Edit], emptied: Sequence[ast.stmt]) -> Syntax | None:
    source = syntax.source
    deletions = [deletion(source, syntax.blocks[statement], statement) for statement in emptied]
    try:
        text = apply(source.text, [*edits, *deletions])
        after = Source(source.path, text, source.encoding, source.bom)
        return analyse(after, parse(after))
    except (NotPython, ValueError):
        return None


def _without_husk(syntax: Syntax, after: Syntax, cut: LazyCut) -> LazyCut:
    # def __getattr__(name): raise AttributeError(name)         nothing is left that it could give
    left = getattr_bindings(after)
    mine = getattr_bindings(syntax)
    if len(left) != 1 or len(mine) != 1 or not isinstance(left[0].node, ast.FunctionDef):
        return cut
    if not all(_is_idle(statement) for statement in left[0].node.body) or not cut.edits + cut.emptied:
        return cut
    husks = [mine[0].node]
    for binding in after.module.bindings.get("__dir__", []):
        # def __dir__(): return []
        same = syntax.module.bindings["__dir__"]
        if isinstance(binding.node, ast.FunctionDef) and len(same) == 1 and _gives_nothing(binding.node):
            husks.append(same[0].node)
    source = syntax.source
    spans = [source.span(husk) for husk in husks if isinstance(husk, ast.stmt)]
    inside = [inner for husk in husks for inner in ast.walk(husk)]
    cut.edits = [edit for edit in cut.edits if not any(start <= edit.start < end for start, end in spans)]
    cut.emptied = [statement for statement in cut.emptied if statement not in inside]
    cut.emptied += [husk for husk in husks if isinstance(husk, ast.stmt)]
    cut.gone |= {id(node) for node in inside}
    return cut


def _is_idle(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, (ast.Raise, ast.Import, ast.ImportFrom, ast.Pass))


def _gives_nothing(function: ast.FunctionDef) -> bool:
    last = function.body[-1]
    if not isinstance(last, ast.Return) or not all(_is_idle(statement) for statement in function.body[:-1]):
        return False
    return isinstance(last.value, _DISPLAYS) and not last.value.elts


class _Cutter:
    def __init__(self, syntax: Syntax, names: Collection[str], way: _Way, listed: Sequence[Edit]) -> None:
        self.syntax = syntax
        self.source = syntax.source
        self.names = names
        self.way = way
        self.listed = listed
        self.cut = LazyCut()

    def run(self, roots: Sequence[ast.AST]) -> LazyCut:
        for root in roots:
            if isinstance(root, ast.FunctionDef):
                branches = Branches(self.syntax, self.names, self.cut.edits, self.cut.emptied, self.cut.gone)
                branches.run(root)
            elif _appended(root) in self.names:
                # _import_structure["sub"].append("sym")
                assert isinstance(root, ast.stmt)
                self.cut.emptied.append(root)
                self.cut.gone |= {id(node) for node in ast.walk(root)}
            else:
                self._tables(root)
        for binding in self.syntax.module.bindings.get("__dir__", []):
            # def __dir__(): return [*globals(), "sym"]
            if isinstance(binding.node, ast.FunctionDef):
                self._tables(binding.node, _Way(True, True, False))
        return self.cut

    def _tables(self, root: ast.AST, way: _Way | None = None) -> None:
        kept, self.way = self.way, way or self.way
        for node in _outermost(root):
            start, end = self.source.span(node)
            if any(edit.start < end and start < edit.end for edit in self.listed):
                continue
            text = self._rewritten(node, inside=False)
            if text is not None:
                self.cut.edits.append(Edit(self.source.path, start, end, text.replace("\n", self.source.newline)))
        self.way = kept

    def _rewritten(self, node: ast.expr, *, inside: bool) -> str | None:
        """The new code of a display; None where it stays as it is."""
        children: list[tuple[int, int, str]] = []
        drop: list[int] = []
        start, end = self.source.span(node)
        parts: list[ast.expr | None]
        if isinstance(node, ast.Dict):
            parts = list(node.values)
            drop = [n for n, key in enumerate(node.keys) if _text(key) in self.names]
        else:
            assert isinstance(node, _DISPLAYS)
            parts = list(node.elts)
            if self.way.lists and (self.way.tuples or not inside or not isinstance(node, ast.Tuple)):
                drop = [n for n, part in enumerate(parts) if _text(part) in self.names]
        for number, part in enumerate(parts):
            inner = part.value if isinstance(part, ast.Starred) else part
            if number in drop or not isinstance(inner, (*_DISPLAYS, ast.Dict)):
                continue
            new = self._rewritten(inner, inside=True)
            if new is not None:
                if self.way.keys and isinstance(node, ast.Dict) and new in ("[]", "()", "set()"):
                    drop.append(number)
                else:
                    children.append((*self.source.span(inner), new))
        for number in drop:
            dropped = [node.keys[number], node.values[number]] if isinstance(node, ast.Dict) else [parts[number]]
            self.cut.gone |= {id(inner) for part in dropped if part is not None for inner in ast.walk(part)}
        if not drop and not children:
            return None
        if len(drop) == len(parts):
            return _EMPTY[type(node)]
        edits = [Edit("", first - start, last - start, new) for first, last, new in children]
        text = apply(self.source.text[start:end], edits).replace("\r\n", "\n")
        if not drop:
            return text
        left = sequence.without(sequence.display(text), drop).left
        if isinstance(node, ast.Tuple) and len(left.items) == 1 and not left.commas[0]:
            left = sequence.Sequence(left.head, left.items, (",",), left.gaps, left.tail)
        return left.text


def _appended(root: ast.AST) -> str | None:
    call = root.value if isinstance(root, ast.Expr) else None
    return _text(call.args[0]) if isinstance(call, ast.Call) and len(call.args) == 1 else None


def _outermost(root: ast.AST) -> Iterator[ast.expr]:
    """The displays of a statement that lie in no other display."""
    if isinstance(root, (*_DISPLAYS, ast.Dict)) and not isinstance(getattr(root, "ctx", None), ast.Store):
        yield root
        return
    for child in ast.iter_child_nodes(root):
        yield from _outermost(child)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
