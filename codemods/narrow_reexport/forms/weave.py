"""The edits of a virtual module become edits of the file that its code stands in.

Owns the way back: which rows change, which go, which are new, and what stands before a new row.
Invariant: what is no code of a changed row stays, character for character; where a change has no such form there is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from codemods.engine.edits import apply
from codemods.engine.model import Edit
from codemods.narrow_reexport.forms.snippet import Line, Planned, Row, Snippet, parsed

Cut = tuple[int, int, str]  # the characters [start, end) of the file become the text


class Unwoven(Exception):
    """A change that has no form in this text."""


@dataclass(frozen=True, slots=True)
class Woven:
    """The file's edits, the code that each snippet holds afterwards, and the statements that were touched."""

    cuts: tuple[Cut, ...]
    codes: tuple[tuple[str, ...], ...]
    spans: tuple[tuple[int, int], ...]


def woven(planned: Planned, snippets: Sequence[Snippet]) -> Woven:
    """Bring the edits of a virtual module home. Raises Unwoven."""
    changes, added = _changes(planned)
    after = _with_added(changes, added, planned.lines)
    opening = _opening(after)
    cuts: list[Cut] = []
    spans: list[tuple[int, int]] = []
    number = 0
    rows: list[list[str]] = [[] for _ in snippets]
    for first, last, new in after:
        old = planned.lines[first:last]
        kinds = [opening(number + at) for at in range(len(new))]
        number += len(new)
        owner = old[0].snippet if old else -1
        same = [line.code for line in old] == new
        if owner >= 0:
            rows[owner] += [line.row.code for line in old if line.row is not None] if same else new
        if same or owner == -2:
            continue
        if owner == -1 or any(line.snippet != owner or line.broken for line in old):
            raise Unwoven
        changed = [line.row for line in old if line.row is not None]
        cuts += _rewoven(changed, new, kinds, snippets[owner])
        spans.append((changed[0].start, changed[-1].end + 1))
    return Woven(tuple(_joined(cuts)), tuple(map(tuple, rows)), tuple(spans))


_Change = tuple[int, int, list[str]]  # the lines [first, last) become these


def _changes(planned: Planned) -> tuple[list[_Change], list[str]]:
    """All lines, changed or not, in order; beside them the statements that the prelude got."""
    text, lines = planned.text, planned.lines
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.code) + 1)
    groups: list[tuple[int, int, list[Edit]]] = []
    at = 0
    for edit in sorted(planned.edits, key=lambda edit: (edit.start, edit.end)):
        while at < len(lines) and starts[at + 1] <= edit.start:
            at += 1
        if at == len(lines):
            raise Unwoven
        last = at + 1
        while last < len(lines) and starts[last] < edit.end:
            last += 1
        if edit.end == starts[last] and not edit.text.endswith("\n") and (edit.text or edit.start > starts[at]):
            last = min(last + 1, len(lines))  # the newline goes: the next line joins this one
        if groups and at < groups[-1][1]:
            groups[-1] = (groups[-1][0], max(last, groups[-1][1]), [*groups[-1][2], edit])
        else:
            groups.append((at, last, [edit]))
    changes: list[_Change] = []
    added: list[str] = []
    done = 0
    for first, last, edits in groups:
        changes += [(one, one + 1, [lines[one].code]) for one in range(done, first)]
        done = last
        base = starts[first]
        moved = [Edit(edit.path, edit.start - base, edit.end - base, edit.text) for edit in edits]
        new = apply(text[base : starts[last]], moved)
        if new and not new.endswith("\n"):
            raise Unwoven
        rows = _directed([line.code for line in lines[first:last]], new.split("\n")[:-1])
        if lines[first].snippet == -2:
            if any(line.snippet != -2 for line in lines[first:last]):
                raise Unwoven
            known = [line.code for line in lines if line.snippet == -2]
            added += [row for row in rows if row not in known]
        changes.append((first, last, rows))
    changes += [(one, one + 1, [lines[one].code]) for one in range(done, len(lines))]
    return changes, added


_DIRECTIVE = re.compile(r"#[ \t]*x?doctest:[^\n'\"]*\Z")


def _directed(old: Sequence[str], new: list[str]) -> list[str]:
    """A directive of an example holds for the statements that take its place."""
    # >>> from pkg import a, sym  # doctest: +SKIP
    found = [match[0] for code in old for match in [_DIRECTIVE.search(code)] if match]
    tree = parsed("\n".join(new)) if found else None
    if tree is None:
        return new
    rows = [*new]
    for statement in tree.body:
        last = statement.end_lineno or statement.lineno
        own = rows[statement.lineno - 1 : last]
        if not any(_DIRECTIVE.search(code) for code in own):
            rows[last - 1] += f"  {found[0]}"
    return rows


def _with_added(changes: list[_Change], added: list[str], lines: Sequence[Line]) -> list[_Change]:
    """The statements that the prelude got stand in front of the first statement that changes."""
    if not added:
        return changes
    tree = parsed("".join(f"{line.code}\n" for line in lines))
    if tree is None:
        raise Unwoven
    tops = [_first_line(statement) - 1 for statement in tree.body]
    tops = [top for top in tops if lines[top].snippet >= 0]
    changed = [first for first, last, new in changes if [line.code for line in lines[first:last]] != new]
    touched = [first for first in changed if lines[first].snippet >= 0]
    before = max((top for top in tops if not touched or top <= touched[0]), default=None) if touched else None
    at = before if before is not None else min(tops, default=None)
    if at is None:
        raise Unwoven
    if touched:
        # skipped examples alone need it: it is skipped like them
        directed = [_DIRECTIVE.search(lines[first].code) for first in touched]
        added = _directed([lines[touched[0]].code], added) if all(directed) else added
    result: list[_Change] = []
    for first, last, new in changes:
        if first <= at < last:
            if first != at:
                raise Unwoven
            new = [*added, *new]
        result.append((first, last, new))
    return result


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


class _Opening:
    """Whether a line of the new virtual module opens a statement."""

    def __init__(self, code: str) -> None:
        tree = parsed(code)
        if tree is None:
            raise Unwoven
        self.inside = {
            line
            for statement in tree.body
            for line in range(_first_line(statement) + 1, (statement.end_lineno or statement.lineno) + 1)
        }

    def __call__(self, number: int) -> bool:
        return number + 1 not in self.inside


def _opening(changes: Sequence[_Change]) -> _Opening:
    return _Opening("".join(f"{row}\n" for _, _, new in changes for row in new))


def _rewoven(rows: Sequence[Row], new: Sequence[str], kinds: Sequence[bool], snippet: Snippet) -> list[Cut]:
    """The edits that turn some rows of one snippet into others."""
    cuts: list[Cut] = []
    opens = [row.opens or not snippet.examples for row in rows]
    kinds = kinds if snippet.examples else [True] * len(new)

    def fresh(at: int) -> str:
        return snippet.prompts[0 if kinds[at] else 1] + snippet.spell(new[at])

    keys = list(zip(opens, (row.code for row in rows), strict=True))
    matcher = SequenceMatcher(None, keys, list(zip(kinds, new, strict=True)), autojunk=False)
    for _, low, high, start, stop in (code for code in matcher.get_opcodes() if code[0] != "equal"):
        paired = 0
        while low + paired < high and start + paired < stop and opens[low + paired] == kinds[start + paired]:
            cuts.append(_changed(rows[low + paired], new[start + paired], snippet))
            paired += 1
        low, start = low + paired, start + paired
        if low < high:
            if any(row.masked for row in rows[low:high]):
                raise Unwoven
            texts = [fresh(at) + snippet.newline for at in range(start, stop)]
            cuts.append(_replaced(snippet, rows[low], rows[high - 1], "".join(texts)))
        elif start < stop and low > 0:
            end = rows[low - 1].end
            cuts.append((end, end, "".join(snippet.newline + fresh(at) for at in range(start, stop))))
        elif start < stop:
            at = rows[0].start
            cuts.append((at, at, "".join(fresh(each) + snippet.newline for each in range(start, stop))))
    return cuts


def _changed(row: Row, new: str, snippet: Snippet) -> Cut:
    # only what differs: >>> x = [pkg.sym(2)]
    old = row.code
    low = 0
    while low < min(len(old), len(new)) and old[low] == new[low]:
        low += 1
    if low < row.masked:
        raise Unwoven
    high = 0
    while high < min(len(old), len(new)) - low and old[-1 - high] == new[-1 - high]:
        high += 1
    return row.marks[low], row.marks[len(old) - high], snippet.spell(new[low : len(new) - high])


def _replaced(snippet: Snippet, first: Row, last: Row, text: str) -> Cut:
    if last.after > last.end:
        return first.start, last.after, text
    # the last line has no newline: the one before the first goes, or the new text's own
    above = [row for row in snippet.rows if row.start < first.start]
    if not text and above:
        return above[-1].end, last.end, ""
    return first.start, last.end, text.removesuffix(snippet.newline)


def _joined(cuts: Sequence[Cut]) -> list[Cut]:
    joined: list[Cut] = []
    for start, end, text in cuts:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end, joined[-1][2] + text)
        elif joined and joined[-1][1] > start:
            raise Unwoven
        else:
            joined.append((start, end, text))
    return joined
