"""Postconditions of every write: what a codemod's output must hold, whatever the codemod.

Owns the checks that need no knowledge of a codemod. A `Failure` is our bug, and nothing is written.
Invariant: it never repairs; it compares bytes and parses.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.engine.model import Edit, Failure, FileChange
from codemods.engine.source import NotPython, decode, parse


def check_parses(change: FileChange) -> list[Failure]:
    """The file still parses."""
    try:
        parse(decode(change.after, change.path))
    except NotPython as error:
        return [Failure("parses", change.path, f"line {error.line}: {error.reason}")]
    return []


def check_outside(change: FileChange, edits: Sequence[Edit]) -> list[Failure]:
    """Bytes outside the edited spans are the same, in the same order."""
    source = decode(change.before, change.path)
    mark = 3 if source.bom else 0
    at, after = 0, mark
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        kept = source.text[at : edit.start].encode(source.encoding)
        if change.after[after : after + len(kept)] != kept:
            return [Failure("outside", change.path, f"bytes before offset {edit.start} changed")]
        after += len(kept) + len(edit.text.encode(source.encoding))
        at = edit.end
    rest = source.text[at:].encode(source.encoding)
    if change.after[after:] != rest or change.after[:mark] != change.before[:mark]:
        return [Failure("outside", change.path, "bytes after the last edit changed")]
    return []
