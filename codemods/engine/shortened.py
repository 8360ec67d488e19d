"""An edited file, cut down to what a second look needs: the statements that were edited, and those with an import.

Owns the cut. A statement at the top level of a module is whole by itself: where the file parsed before, and its edited
statements parse by themselves, the edited file parses too, since the end of such a statement parts any two.
Invariant: what stays has the line and the column that it has in the edited file; in doubt nothing is cut.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from codemods.engine.edits import apply
from codemods.engine.model import Edit
from codemods.engine.source import NotPython, Source, parse
from codemods.engine.walk import analyse


@dataclass(frozen=True, slots=True)
class _Cut:
    text: str
    left_out: int


def shortened_tree(before: Source, tree: ast.Module, edits: Sequence[Edit]) -> ast.Module | None:
    """The tree of the edited file, with `pass` for each untouched top-level statement that holds no import.

    `tree` is that of the file before the edits. None where it does not parse, or where one cannot be sure.
    """
    cut = _cut(before, tree, edits)
    if cut is None:
        return None
    try:
        found = parse(Source(before.path, cut.text, before.encoding, before.bom))
    except NotPython:
        return None
    # a quote that an edit has left open would have swallowed some of them
    stand_ins = sum(isinstance(statement, ast.Pass) for statement in found.body)
    return found if stand_ins >= cut.left_out else None


def _cut(before: Source, tree: ast.Module, edits: Sequence[Edit]) -> _Cut | None:
    text = before.text
    lines = None if "\r" in text or "\f" in text else _lines_of(before, tree)
    if lines is None:
        return None
    imports = sorted(statement.lineno for statement, _ in analyse(before, tree, expressions=False).imports)
    cuts: list[Edit] = []
    for first, last in lines:
        start = before.starts[first - 1]
        end = before.starts[last] if last < len(before.starts) else len(text)
        touched = any(edit.start <= end and start <= edit.end for edit in edits)
        if not touched and bisect_left(imports, first) == bisect_right(imports, last):
            cuts.append(Edit(before.path, start, end, "pass" + "\n" * text.count("\n", start, end)))
    try:
        return _Cut(apply(text, [*edits, *cuts]), len(cuts))
    except ValueError:
        return None


def _lines_of(source: Source, tree: ast.Module) -> list[tuple[int, int]] | None:
    """First and last line of each top-level statement; those that share a line count as one."""
    found: list[tuple[int, int]] = []
    for statement in tree.body:
        first = min(each.lineno for each in (statement, *getattr(statement, "decorator_list", ())))
        last = statement.end_lineno or statement.lineno
        row = source.line(first)
        if row[:1] in ("", " ", "\t", "\\") or (first < statement.lineno and row[0] != "@"):
            return None  # it begins elsewhere: behind a backslash, at an @ further up
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found
