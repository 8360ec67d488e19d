"""Documents: the Python that a page of Markdown, reStructuredText or plain text shows is rewritten like code.

Owns what the snippets of a page share: the doctest examples one namespace, a block what the blocks above it imported.
Invariant: a page never blocks a run; code that cannot be rewritten is a warning, code that does not parse a mention.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from codemods.engine.edits import apply
from codemods.engine.model import Edit
from codemods.engine.words import spelled
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.magic import masked
from codemods.narrow_reexport.forms.page import WARNING, Page, Verdict
from codemods.narrow_reexport.forms.shown import blocks, examples, lines_of
from codemods.narrow_reexport.forms.snippet import (
    Planned,
    Planner,
    Snippet,
    code_of,
    parsed,
    plan_snippets,
    prelude_of,
    touched_names,
)
from codemods.narrow_reexport.forms.weave import Cut, Unwoven, Woven, woven

_LEFT = "a document's code reads the symbol through the package, and its form cannot be kept"


def plan_page(page: Page, context: Context, plan: Planner) -> None:
    """Put the edits and verdicts of a page's examples and blocks on it."""
    names = touched_names(context)
    if not page.exact or not spelled(page.text, names):
        return
    own = frozenset(name for name in context.lost if name.startswith(f"{context.package.name}."))
    inner = replace(context, lost=own)
    shown = _shown(page.text)
    cuts: list[Cut] = []
    spans: list[tuple[int, int]] = []
    expected: list[tuple[int, list[str]]] = []
    above: list[ast.stmt] = []
    for group in _groups(*shown):
        rows = [row for snippet in group for row in snippet.rows]
        code = code_of(rows)
        tree = parsed(code)
        after = [[row.code for row in snippet.rows] for snippet in group]
        if spelled(code, names):
            prelude = prelude_of(above, inner, tree or ast.Module([], []))
            others = [code_of(other.rows) for each in shown for other in each if other not in group]
            planned = plan_snippets(
                page.path,
                group,
                inner,
                plan,
                prelude=prelude,
                shared=partial(_reads, others),
                line_of=page.line_of,
                lenient=True,
            )
            found = _kept(page, planned, group)
            page.broken += [(row.start, row.end + 1) for row in planned.broken]
            if found is not None:
                cuts += found.cuts
                spans += found.spans
                after = [[*codes] for codes in found.codes]
        expected += [(snippet.rows[0].start, codes) for snippet, codes in zip(group, after, strict=True)]
        above += tree.body if tree is not None else []
    cuts.sort()
    edits = [Edit(page.path, start, end, text) for start, end, text in cuts]
    if cuts and _codes(apply(page.text, edits)) == [code for _, codes in sorted(expected) for code in codes]:
        for start, end, text in cuts:
            page.edit(start, end, text)
        page.changed += spans
        return
    for start, end in spans:
        name = next((name for name in page.wanted if name in page.text[start:end]), None)
        if name is not None:
            page.put(page.line_of(start), name, Verdict(WARNING, _LEFT))


def _reads(codes: Sequence[str], name: str) -> bool:
    for code in codes:
        tree = parsed(code)
        if tree is None and re.search(rf"\b{re.escape(name)}\b", code):
            return True
        if tree is not None and any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
            return True
    return False


def _kept(page: Page, planned: Planned, group: Sequence[Snippet]) -> Woven | None:
    for note in planned.notes:
        reason = f"a document's code is left as it is: {note.reason}" if note.weight == WARNING else ""
        page.put(page.line_of(note.start), note.name, Verdict(note.weight, reason, "", page.line_of(note.last)))
    try:
        return woven(planned, group)
    except Unwoven:
        for edit in planned.edits:
            row = planned.lines[planned.text.count("\n", 0, edit.start)].row or group[0].rows[0]
            name = next((name for name in page.wanted if name in row.code), None)
            if name is not None:
                page.put(page.line_of(row.marks[0]), name, Verdict(WARNING, _LEFT))
        return None


def _shown(text: str) -> tuple[list[Snippet], list[Snippet]]:
    lines = lines_of(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    found = blocks(lines, newline, str)
    return examples(lines, newline, str), [replace(block, rows=masked(block.rows)[0]) for block in found]


def _groups(shown: list[Snippet], fenced: list[Snippet]) -> list[list[Snippet]]:
    groups = [[block] for block in fenced]
    return [*([shown] if shown else []), *groups]


def _codes(text: str) -> list[str]:
    shown = [snippet for each in _shown(text) for snippet in each]
    return [row.code for snippet in sorted(shown, key=lambda s: s.rows[0].start) for row in snippet.rows]
