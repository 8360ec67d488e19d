"""Where a new import stands: in the place of the old one, joined to one that is there, or at its sorted place.

Owns the layout of import statements in a block. The caller says, for each import statement, what is left of it and which
imports take its place; this file decides where those go and turns all of it into edits.
Invariant: it never moves a statement that was not asked for, and never carries an import out of its block.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from codemods.engine.model import Edit, Module
from codemods.engine.namespace import absolute
from codemods.engine.scopes import Syntax
from codemods.engine.source import is_lazy
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.order import ORDERS, Described, Key, by_type, described_new
from codemods.narrow_reexport.forms.statement import (
    PRAGMA,
    Change,
    NewImport,
    deletion,
    render,
    stands_alone,
    statement_end,
)

_NAME_ORDERS: tuple[Callable[[str], tuple[int, str]], ...] = (
    by_type,
    lambda name: (0, name.lower()),
    lambda name: (0, name),
)


@dataclass(slots=True)
class _Slot:
    key: tuple[object, ...]
    statement: ast.stmt | None  # None: a new import
    text: str = ""


def place(syntax: Syntax, module: Module, changes: Sequence[Change], width: int) -> list[Edit]:
    """The edits that bring all changes of one file about."""
    edits: list[Edit] = []
    blocks: dict[int, list[Change]] = {}
    for change in changes:
        if is_lazy(syntax.source, change.statement):
            change.new = [replace(new, lazy=True) for new in change.new]  # what was lazy stays lazy
        blocks.setdefault(id(change.block), []).append(change)
    for group in blocks.values():
        edits += _Placer(syntax, module, group, width).run()
    return edits


class _Placer:
    def __init__(self, syntax: Syntax, module: Module, changes: list[Change], width: int) -> None:
        self.source = syntax.source
        self.module = module
        self.width = width
        self.changes = {change.statement: change for change in changes}
        self.block = changes[0].block
        # in a guarded body the new import comes first: it fails where the old statement failed, with nothing bound yet
        owner = self.block.owner
        self.guarded = isinstance(owner, ast.Try) and self.block.statements is owner.body and bool(owner.handlers)
        self.joined: dict[ast.ImportFrom, list[tuple[str, str]]] = {}
        self.edits: list[Edit] = []

    def run(self) -> list[Edit]:
        self._join()
        done: set[ast.stmt] = set()
        for statement in self.block.statements:
            if statement not in self.changes or statement in done:
                continue
            if not stands_alone(self.source, statement):
                self._inline(self.changes[statement])
                done.add(statement)
                continue
            section = self._section(statement)
            self._section_edits(section)
            done.update(section)
        for target, names in self.joined.items():
            self.edits.append(self._extended(target, names))
        return self.edits

    # Joining: one statement where the direct import is there already

    def _join(self) -> None:
        for change in self.changes.values():
            kept: list[NewImport] = []
            for new in change.new:
                target = self._target(change, new)
                if target is not None:
                    have = {(alias.name, alias.asname or "") for alias in target.names}
                    todo = self.joined.setdefault(target, [])
                    todo += [name for name in new.names if name not in have and name not in todo]
                    if not todo:
                        del self.joined[target]
                    continue
                kept.append(new)
            change.new = kept
        self._join_new()

    def _join_new(self) -> None:
        # two new imports of one module in one block, import statements alone between them: one statement
        first: list[tuple[Change, int]] = []
        for change in self._ordered():
            for new in list(change.new):
                if not new.names or new.comment or (new.shape and ("\n" in new.shape or "\\" in new.shape)):
                    if new.names:
                        first.append((change, change.new.index(new)))
                    continue
                for other, at in first:
                    old = other.new[at]
                    if (
                        (old.spelled, old.lazy) == (new.spelled, new.lazy)
                        and not old.comment
                        and not (old.shape and "\n" in old.shape)
                        and self._only_imports_between(other.statement, change.statement, new.bound)
                    ):
                        names = tuple(dict.fromkeys((*old.names, *new.names)))
                        if self._sorted_names([name for name, _ in old.names]):
                            names = tuple(sorted(names, key=lambda entry: by_type(entry[0])))
                        other.new[at] = replace(old, names=names, shape="")
                        change.new.remove(new)
                        break
                else:
                    first.append((change, change.new.index(new)))

    def _ordered(self) -> list[Change]:
        return [self.changes[statement] for statement in self.block.statements if statement in self.changes]

    def _one_name_a_line(self) -> bool:
        # from a import x; from a import y, line by line: isort's force_single_line
        single = [s for s in self.block.statements if isinstance(s, ast.ImportFrom)]
        modules = [(s.level, s.module) for s in single]
        return all(len(s.names) == 1 for s in single) and len(set(modules)) < len(modules)

    def _target(self, change: Change, new: NewImport) -> ast.ImportFrom | None:
        if not new.names or (len(new.names) == 1 and self._one_name_a_line()):
            return None
        for statement in self.block.statements:
            if (
                isinstance(statement, ast.ImportFrom)
                and statement not in self.changes
                and absolute(self.module, statement) == new.module
                and statement.names[0].name != "*"
                and self._only_imports_between(change.statement, statement, new.bound)
                and self._comments_agree(statement, new)
                and is_lazy(self.source, statement) is new.lazy
            ):
                return statement
        return None

    def _comments_agree(self, target: ast.ImportFrom, new: NewImport) -> bool:
        end, line_end = statement_end(self.source, target)
        comment = self.source.text[end:line_end].strip()
        if set(new.names) <= {(alias.name, alias.asname or "") for alias in target.names}:
            return not new.comment or comment == new.comment
        return (not PRAGMA.search(comment) and not new.comment) or comment == new.comment

    def _only_imports_between(self, one: ast.stmt, other: ast.stmt, bound: Iterable[str]) -> bool:
        if one is other:
            return True
        at = sorted((self.block.statements.index(one), self.block.statements.index(other)))
        names = set(bound)
        last = self.block.statements[at[1]]
        if isinstance(last, ast.ImportFrom) and last.names[0].name == "*":
            return False  # from pkg.f import f; from pkg import *        the star may bind the module f over it
        for statement in self.block.statements[at[0] : at[1] + 1]:
            if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                return False
            if statement is one or statement is other:
                continue
            if (
                names & {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
                or statement.names[0].name == "*"
            ):
                return False
        return True

    def _extended(self, target: ast.ImportFrom, names: list[tuple[str, str]]) -> Edit:
        start, end = self.source.span(target)
        newline = self.source.newline
        text = self.source.text[start:end]
        pieces = sequence.import_names(text.replace("\r\n", "\n"))
        for name, alias in names:
            own = [item.partition(" ")[0] for item in pieces.items]
            at = len(own)
            for key in _NAME_ORDERS:
                if own == sorted(own, key=key):
                    at = sum(key(entry) <= key(name) for entry in own)
                    break
            pieces = sequence.with_item(pieces, at, f"{name} as {alias}" if alias else name)
        text = pieces.text
        code_end, line_end = statement_end(self.source, target)
        comment = self.source.text[code_end:line_end]
        indent = self.source.text[self.source.starts[target.lineno - 1] : start]
        if (
            "\n" not in text
            and len(indent + text + comment) > self.width
            and stands_alone(self.source, target)
            and not PRAGMA.search(comment)
        ):
            aliases = tuple((item.partition(" as ")[0], item.partition(" as ")[2]) for item in pieces.items)
            spelled = "." * target.level + (target.module or "")
            text = render(NewImport(spelled, "", aliases, lazy=is_lazy(self.source, target)), indent, 0, newline)
        return Edit(self.source.path, start, end, text.replace("\r\n", "\n").replace("\n", newline))

    # Statements that share their line

    def _inline(self, change: Change) -> None:
        # import os; from pkg import sym; x = 1        if fast: from pkg import sym
        start, end = self.source.span(change.statement)
        parts = [] if change.left is None or self.guarded else [change.left]
        parts += [render(replace(new, comment=""), "", 10**9, self.source.newline) for new in change.new]
        parts += [change.left] if change.left is not None and self.guarded else []
        self.edits.append(Edit(self.source.path, start, end, "; ".join(parts) or "pass"))

    # Sections: import statements line by line, without a blank line between

    def _section(self, statement: ast.stmt) -> list[ast.stmt]:
        statements = self.block.statements
        at = statements.index(statement)
        first = last = at
        while first > 0 and self._adjacent(statements[first - 1], statements[first]):
            first -= 1
        while last + 1 < len(statements) and self._adjacent(statements[last], statements[last + 1]):
            last += 1
        return statements[first : last + 1]

    def _adjacent(self, upper: ast.stmt, lower: ast.stmt) -> bool:
        for node in (upper, lower):
            if not isinstance(node, (ast.Import, ast.ImportFrom)) or not stands_alone(self.source, node):
                return False
        assert upper.end_lineno is not None
        return all(self.source.line(line).strip() for line in range(upper.end_lineno + 1, lower.lineno))

    def _section_edits(self, section: list[ast.stmt]) -> None:
        key = None if self.guarded else self._order(section)
        slots = [_Slot(key(self._described(statement)) if key else (), statement) for statement in section]
        after: dict[ast.stmt | None, list[_Slot]] = {}
        for statement in section:
            change = self.changes.get(statement)  # type: ignore[call-overload]
            if change is None:
                continue
            pinned = change.left is None and self._pinned(statement)
            for new in change.new:
                home: ast.stmt | None = statement
                slot = _Slot(key(described_new(new)) if key else (), None, self._rendered(statement, new))
                if key and not pinned:
                    staying = [
                        s
                        for s in slots
                        if s.statement is not None
                        and (s.statement not in self.changes or self.changes[s.statement].left is not None)
                    ]
                    earlier = [s for s in staying if s.key <= slot.key]
                    found = earlier[-1].statement if earlier else None
                    crossed = self._crossed(section, statement, found)
                    if not any(set(new.bound) & _bound(other) for other in crossed):
                        home = found
                    if home is not statement and self._is_neighbour(section, home, statement, change):
                        home = statement
                    if home is None:
                        home = statement
                after.setdefault(home, []).append(slot)
        for statement in section:
            change = self.changes.get(statement)  # type: ignore[call-overload]
            added = after.get(statement, [])
            if key:
                added = sorted(added, key=lambda slot: slot.key)
            texts = [slot.text for slot in added]
            if change is None:
                if texts:
                    self._insert_below(statement, texts)
                continue
            self._replace(statement, change.left, texts)

    def _is_neighbour(
        self, section: list[ast.stmt], home: ast.stmt | None, statement: ast.stmt, change: Change
    ) -> bool:
        # the sorted place is the old statement's own place when only statements that go stand between
        if change.left is not None:
            return False
        at = section.index(statement)
        low = section.index(home) if home is not None else -1
        if low > at:
            return False
        return all(other in self.changes and self.changes[other].left is None for other in section[low + 1 : at])

    def _crossed(self, section: list[ast.stmt], statement: ast.stmt, home: ast.stmt | None) -> list[ast.stmt]:
        at = section.index(statement)
        to = section.index(home) if home is not None else -1
        return section[to + 1 : at] if to < at else section[at + 1 : to + 1]

    def _pinned(self, statement: ast.stmt) -> bool:
        # a comment above belongs to the statement; `# isort: skip` pins it
        end, line_end = statement_end(self.source, statement)
        above = self.source.line(statement.lineno - 1).strip() if statement.lineno > 1 else ""
        return above.startswith("#") or "isort:" in self.source.text[end:line_end]

    def _rendered(self, statement: ast.stmt, new: NewImport) -> str:
        start = self.source.span(statement)[0]
        indent = self.source.text[self.source.starts[statement.lineno - 1] : start]
        return render(new, indent, self.width, self.source.newline)

    def _replace(self, statement: ast.stmt, left: str | None, texts: list[str]) -> None:
        start = self.source.span(statement)[0]
        _, end = statement_end(self.source, statement)
        indent = self.source.text[self.source.starts[statement.lineno - 1] : start]
        kept = [] if left is None else [left]
        rows = texts + kept if self.guarded else kept + texts
        if rows:
            text = (self.source.newline + indent).join(rows)
            self.edits.append(Edit(self.source.path, start, end, text))
        else:
            self.edits.append(deletion(self.source, self.block, statement))

    def _insert_below(self, statement: ast.stmt, texts: list[str]) -> None:
        start = self.source.span(statement)[0]
        _, end = statement_end(self.source, statement)
        indent = self.source.text[self.source.starts[statement.lineno - 1] : start]
        text = "".join(self.source.newline + indent + row for row in texts)
        self.edits.append(Edit(self.source.path, end, end, text))

    # Order

    def _order(self, section: list[ast.stmt]) -> Key | None:
        described = [self._described(statement) for statement in section]
        first, last = section[0], section[-1]
        assert last.end_lineno is not None
        if any(
            "isort:" in self.source.line(line) and self.source.line(line).strip().startswith("#")
            for line in range(first.lineno, last.end_lineno + 1)
        ):
            return None
        for key in ORDERS:
            keys = [key(entry) for entry in described]
            if all(one <= other for one, other in pairwise(keys)):
                return key
        return None

    def _described(self, statement: ast.stmt) -> Described:
        if isinstance(statement, ast.ImportFrom):
            return Described(True, statement.level, statement.module or "")
        assert isinstance(statement, ast.Import)
        return Described(False, 0, statement.names[0].name)

    def _sorted_names(self, names: list[str]) -> bool:
        return names == sorted(names, key=by_type)


def _bound(statement: ast.stmt) -> set[str]:
    names = getattr(statement, "names", [])
    return {
        alias.asname or (alias.name if isinstance(statement, ast.ImportFrom) else alias.name.partition(".")[0])
        for alias in names
    }
