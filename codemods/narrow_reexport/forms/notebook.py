"""Notebooks: the code cells of an `.ipynb`, one after the other, magics masked.

Owns the positions of code in the JSON text, and the verdicts on places that no planner looks at.
Invariant: it never re-serialises the file; what is no code of a changed line keeps its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.engine.edits import apply
from codemods.engine.model import Edit
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.magic import is_shell, is_shell_cell, masked
from codemods.narrow_reexport.forms.page import (
    MENTION,
    REFUSAL,
    WARNING,
    Page,
    Verdict,
    aliased_matches,
    dotted_matches,
    import_matches,
)
from codemods.narrow_reexport.forms.snippet import Planner, Row, Snippet, plan_snippets
from codemods.narrow_reexport.forms.weave import Cut, Unwoven, woven

_MAYBE = "a notebook may read the symbol through the package"
_HINT = "change the cell by hand, or accept the site"


def plan_notebook(page: Page, context: Context, plan: Planner) -> None:
    """Put the edits and verdicts of a notebook's code cells on its page."""
    cells = _cells_of(page.text) if page.exact else None
    if cells is None:
        _judge_text(page, None, [])
        return
    kept = [cell for cell in cells if cell.python]
    snippets = [cell.snippet for cell in kept]
    planned = plan_snippets(page.path, snippets, context, plan, line_of=page.line_of, lenient=False)
    for note in planned.notes:
        page.put(
            page.line_of(note.start),
            note.name,
            Verdict(note.weight, note.reason, note.hint or _HINT, page.line_of(note.last)),
        )
    if planned.edits:
        try:
            found = woven(planned, snippets)
            if not _reads_back(page, found.cuts, [row for each in found.codes for row in each or [""]]):
                raise Unwoven
            for start, end, text in found.cuts:
                page.edit(start, end, text)
            page.changed += found.spans
        except Unwoven:
            for edit in planned.edits:
                line = planned.lines[planned.text.count("\n", 0, edit.start)]
                row = line.row or snippets[0].rows[0]
                name = next((name for name in page.wanted if name in line.code), next(iter(page.wanted)))
                reason = "a notebook reads the symbol through the package, and the cell's form cannot be kept"
                page.put(page.line_of(row.marks[0]), name, Verdict(REFUSAL, reason, _HINT))
    _judge_text(page, cells, [*planned.broken])


@dataclass(frozen=True, slots=True)
class _Cell:
    snippet: Snippet
    python: bool
    first: str


def _judge_text(page: Page, cells: list[_Cell] | None, broken: list[Row]) -> None:
    """What stands in cells that are no Python, in masked lines and in files that are no notebook: told as text."""
    doubtful: list[tuple[int, int, int]] = []  # [start, end) and the weight of what is found there
    unclear = bool(broken)
    for cell in cells or ():
        rows = cell.snippet.rows
        for row in rows:
            if not cell.python:
                doubtful.append((row.start, row.end + 1, MENTION if is_shell_cell(cell.first) else WARNING))
            elif row.masked:
                original = page.text[row.marks[0] : row.end]
                doubtful.append((row.start, row.end + 1, MENTION if is_shell(original) else WARNING))
                unclear = unclear or re.match(r"[ \t]*%(?:run|load)\b", original) is not None
    doubtful += [(row.start, row.end + 1, WARNING) for row in broken]
    code = [(row.start, row.end + 1) for cell in cells or () for row in cell.snippet.rows if cell.python]
    spelled = [(match.start(), match["name"]) for match in (*dotted_matches(page), *aliased_matches(page))]
    taken = import_matches(page.text, page.package, page.wanted)
    spelled += [(match.start(), name) for match, names in taken for name in names]
    for at, name in spelled:
        if page.is_edited(at):
            continue
        weights = [weight for start, end, weight in doubtful if start <= at < end]
        if cells is None:
            weights.append(WARNING)
        if not weights and any(start <= at < end for start, end in code):
            # the planner saw it and found no reference; but a cell that it could not read may bind the package
            weights.append(WARNING if unclear else MENTION)
        if weights:
            page.put(page.line_of(at), name, Verdict(min(weights), _MAYBE if min(weights) == WARNING else ""))


def _reads_back(page: Page, cuts: Sequence[Cut], rows: list[str]) -> bool:
    """Whether the edited file holds exactly the code that was planned, and is the same beside it."""
    text = apply(page.text, [Edit(page.path, start, end, new) for start, end, new in cuts])
    cells = _cells_of(text)
    if cells is None or [row.code for cell in cells if cell.python for row in cell.snippet.rows] != rows:
        return False
    before, after = json.loads(page.text), json.loads(text)
    for notebook in (before, after):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = None
    return bool(before == after)


# --- positions in the JSON ---

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.S)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True, slots=True)
class _String:
    start: int  # of the characters between the quotes
    end: int


def _cells_of(text: str) -> list[_Cell] | None:
    """The code cells of a notebook; None if it is no notebook of format 4."""
    try:
        notebook = json.loads(text)
        cells = notebook["cells"]
        kinds = [str(cell["cell_type"]) for cell in cells]
        tokens = _TOKEN.finditer(text)
        tree = _value(text, next(tokens), tokens)
        sources = [cell["source"] for cell in tree["cells"]]  # type: ignore[index]
    except (ValueError, KeyError, TypeError, RecursionError, StopIteration):
        return None
    # "caf\\u00e9", as json.dump writes it, or "café", as nbformat does
    escaped = re.search(r"\\u00[89a-f]|\\u0[1-9a-f]|\\u[1-9a-f]", text, re.I) is not None
    speaks = _speaks_python(notebook.get("metadata"))
    found: list[_Cell] = []
    for kind, source in zip(kinds, sources, strict=True):
        pieces = source if isinstance(source, list) else [source]
        strings = [piece for piece in pieces if isinstance(piece, _String)]
        if kind != "code" or not strings:
            continue
        if len(strings) != len(pieces):
            return None
        snippet = _snippet(text, strings, listed=isinstance(source, list), escaped=escaped)
        rows, python = masked(snippet.rows)
        python = python and speaks
        first = next((row.code for row in snippet.rows if row.code.strip()), "")
        found.append(_Cell(Snippet(rows, snippet.newline, snippet.prompts, snippet.spell), python, first))
    return found


def _speaks_python(metadata: object) -> bool:
    # "kernelspec": {"language": "R"}
    own = metadata if isinstance(metadata, dict) else {}
    known = [own.get(part) for part in ("kernelspec", "language_info")]
    named = [part.get("language", part.get("name")) for part in known if isinstance(part, dict)]
    languages = [name for name in named if isinstance(name, str)]
    return not languages or any("python" in name.lower() or name.lower().startswith("py") for name in languages)


def _value(text: str, token: re.Match[str], tokens: Iterator[re.Match[str]]) -> object:
    if token[0] == "{":
        entries: dict[str, object] = {}
        for key in tokens:
            if key[0] == "}":
                break
            if key[0] == ",":
                continue
            next(tokens)
            entries[str(json.loads(key[0]))] = _value(text, next(tokens), tokens)
        return entries
    if token[0] == "[":
        items: list[object] = []
        for item in tokens:
            if item[0] == "]":
                break
            if item[0] != ",":
                items.append(_value(text, item, tokens))
        return items
    return _String(token.start() + 1, token.end() - 1) if token[0].startswith('"') else None


def _snippet(text: str, strings: list[_String], *, listed: bool, escaped: bool) -> Snippet:
    """A cell's source: `["line\\n", "line"]` or `"line\\nline"`, as rows of code with the place of each character."""
    chars: list[str] = []
    marks: list[int] = []
    for string in strings:
        for char, at in _characters(text, string):
            chars.append(char)
            marks.append(at)
    end = strings[-1].end
    marks.append(end)
    # how the next line starts: a new item of the list, indented like the others
    between = text[strings[0].end : strings[1].start] if len(strings) > 1 else ""
    if listed and not between:
        opening = text.rfind("[", 0, strings[0].start)
        between = '",' + (text[opening + 1 : strings[0].start - 1] or " ") + '"'
    newline = "\\n" + between if listed else "\\n"
    code = "".join(chars)
    rows: list[Row] = []
    at = 0
    for line in code.split("\n"):
        stop = at + len(line)
        own = marks[at : stop + 1]
        after = marks[stop + 1] if stop + 1 < len(marks) else own[-1]
        rows.append(
            Row(
                _without_surrogates(line.removesuffix("\r")),
                tuple(own[: len(line.removesuffix("\r")) + 1]),
                own[0],
                after,
            )
        )
        at = stop + 1
    plain = all(text[string.start : string.end].isascii() for string in strings)

    def spell(new: str) -> str:
        return json.dumps(new, ensure_ascii=plain and escaped)[1:-1]

    return Snippet(tuple(rows), newline, ("", ""), spell)


def _characters(text: str, string: _String) -> Iterator[tuple[str, int]]:
    at = string.start
    while at < string.end:
        if text[at] != "\\":
            yield text[at], at
            at += 1
            continue
        escape = _ESCAPE.match(text, at)
        assert escape is not None
        char, stop = _decoded(escape[0]), escape.end()
        if "\ud800" <= char <= "\udbff":
            low = _ESCAPE.match(text, stop)
            if low is not None and "\udc00" <= _decoded(low[0]) <= "\udfff":
                char = (char + _decoded(low[0])).encode("utf-16", "surrogatepass").decode("utf-16")
                stop = low.end()
        yield char, at
        at = stop


def _decoded(escape: str) -> str:
    return chr(int(escape[2:], 16)) if escape[1] == "u" and len(escape) == 6 else _PLAIN.get(escape[1], escape[1])


def _without_surrogates(code: str) -> str:
    return re.sub("[\ud800-\udfff]", "?", code)
