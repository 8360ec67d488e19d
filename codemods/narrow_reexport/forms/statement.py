"""One import statement as text: how a new one is written, and how an old one is taken out.

Owns the code of import statements, wrapped the way Black wraps them, and the lines that go with a removed statement.
Invariant: a deletion leaves its block valid, and no comment on a line of its own is lost.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from codemods.engine.model import Edit
from codemods.engine.scopes import Block
from codemods.engine.source import Source

PRAGMA = re.compile(
    r"#\s*(?:noqa|type:|isort:|pylint:|fmt:|ruff:|pyright:|mypy:|pyre|nosec|pragma:|yapf:|flake8[:-]|lint-(?:ignore|fixme)|noinspection)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class NewImport:
    """An import to write. `names` are (name, alias or ""); empty for `import module`, where `alias` may rename it.

    `spelled` is the module as written, with its dots; `module` its absolute name. `shape` is the finished text where the
    old statement's form is kept.
    """

    spelled: str
    module: str
    names: tuple[tuple[str, str], ...] = ()
    comment: str = ""
    alias: str = ""
    shape: str = ""
    listing: bool = False  # a star spelled out: wrapped even with a pragma
    lazy: bool = False  # `lazy from`, `lazy import` (PEP 810)

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that it binds."""
        if not self.names:
            return (self.alias or self.module.partition(".")[0],)
        return tuple(alias or name for name, alias in self.names)


@dataclass(slots=True)
class Change:
    """What becomes of one import statement: the text that is left of it (None: nothing), and its new imports."""

    statement: ast.Import | ast.ImportFrom
    block: Block
    left: str | None
    new: list[NewImport] = field(default_factory=list)


def render(new: NewImport, indent: str, width: int, newline: str) -> str:
    """The code of an import, wrapped the way Black does it where it is longer than `width`."""
    if new.shape:
        return new.shape
    word = "lazy " if new.lazy else ""
    if not new.names:
        return f"{word}import {new.module}{f' as {new.alias}' if new.alias else ''}{_comment(new.comment)}"
    names = [f"{name} as {alias}" if alias else name for name, alias in new.names]
    line = f"{word}from {new.spelled} import {', '.join(names)}{_comment(new.comment)}"
    pragma = PRAGMA.search(new.comment) is not None
    if len(indent + line) <= width or (pragma and not new.listing):
        return line
    if pragma:
        # a pragma counts for the statement's first line
        rows = [f"{indent}    {name}," for name in names]
        return newline.join([f"{word}from {new.spelled} import ({_comment(new.comment)}", *rows, f"{indent})"])
    rows = [f"{indent}    {name}," for name in names]
    if new.comment:
        rows[-1] += _comment(new.comment)
    return newline.join([f"{word}from {new.spelled} import (", *rows, f"{indent})"])


def statement_end(source: Source, node: ast.stmt) -> tuple[int, int]:
    """The end of a statement's code, and the end of its line where only a comment follows (else the same offset)."""
    end = source.span(node)[1]
    rest = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?(?=\r|\n|\Z)").match(source.text, end)
    return end, rest.end() if rest else end


def stands_alone(source: Source, node: ast.stmt) -> bool:
    """Whether a statement has its lines to itself: no `;`, no one-line suite."""
    start, end = source.span(node)
    before = source.text[source.starts[node.lineno - 1] : start]
    return not before.strip() and re.compile(r"[ \t\f]*(?:#[^\r\n]*)?(?:\r|\n|\Z)").match(source.text, end) is not None


def _comment(comment: str) -> str:
    return f"  {comment}" if comment else ""


def deletion(source: Source, block: Block, *statements: ast.stmt) -> Edit:
    """The edit that takes adjacent statements out of their block, lines and surplus blank lines with them.

    A statement that shares its line leaves the others; the last one of a suite leaves `pass`.
    """
    first, last = statements[0], statements[-1]
    start = source.span(first)[0]
    end, _ = statement_end(source, last)
    if len(block.statements) == len(statements) and not isinstance(block.owner, ast.Module):
        return Edit(source.path, start, end, "pass")
    alone = stands_alone(source, last) and not source.text[source.starts[first.lineno - 1] : start].strip()
    if not alone:
        following = re.compile(r"[ \t\f]*;[ \t\f]*(?=[^\s#])").match(source.text, end)
        if following:
            return Edit(source.path, start, following.end(), "")
        before = re.compile(r"[ \t\f]*;[ \t\f]*\Z").search(source.text[source.starts[first.lineno - 1] : start])
        if before:
            return Edit(source.path, source.starts[first.lineno - 1] + before.start(), end, "")
        return Edit(source.path, start, end, "pass")
    row = source.starts[first.lineno - 1]
    assert last.end_lineno is not None
    below = last.end_lineno + 1
    stop = source.starts[below - 1] if below <= len(source.starts) else len(source.text)
    above_blank = _blank_run(source, first.lineno - 1, -1)
    below_blank = _blank_run(source, below, 1)
    at_end = below + below_blank > len(source.starts) or not source.text[stop:].strip()
    at_start = first.lineno - 1 - above_blank < 1
    if at_end:
        row = source.starts[first.lineno - 1 - above_blank]
        if stop == len(source.text) and not source.text.endswith(("\n", "\r")) and row > 0:
            row -= len(source.newline)  # no newline at the end before, none after
    elif at_start or (first is block.statements[0] and not above_blank and isinstance(block.owner, ast.FunctionDef)):
        stop = source.starts[below - 1 + below_blank]
    else:
        stop = source.starts[below - 1 + min(above_blank, below_blank)]
    return Edit(source.path, row, stop, "")


def _blank_run(source: Source, line: int, step: int) -> int:
    count = 0
    while (
        1 <= line <= len(source.starts)
        and not source.line(line).strip()
        and (line < len(source.starts) or source.starts[line - 1] < len(source.text))
    ):
        count += 1
        line += step
    return count
