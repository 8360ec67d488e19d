"""Two texts of a file become hunks that a person can read, and hunks become the new text again.

Owns the form in which a plan file holds an edit: the line where it starts, the lines that go, the lines that come.
Invariant: `apply_hunks(before, hunks_of(before, after))` is `after`, byte for byte, whatever the encoding or line endings.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from codemods.engine.errors import CannotWrite
from codemods.engine.report import git_lines


@dataclass(frozen=True, slots=True, order=True)
class Hunk:
    """From a 1-based line of the old text on, the lines `old` become the lines `new`; undecodable bytes are surrogates."""

    line: int
    old: str
    new: str


def hunks_of(before: bytes, after: bytes) -> tuple[Hunk, ...]:
    """The differences, by whole lines; only LF ends a line."""
    old, new = git_lines(before), git_lines(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    same = 0
    while same < min(len(old), len(new)) - start and old[-1 - same] == new[-1 - same]:
        same += 1
    middle, other = old[start : len(old) - same], new[start : len(new) - same]
    found = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, middle, other, autojunk=False).get_opcodes():
        if tag != "equal":
            found.append(Hunk(start + a + 1, _text(middle[a:b]), _text(other[c:d])))
    return tuple(found)


def apply_hunks(before: bytes, hunks: Sequence[Hunk], path: str) -> bytes:
    """The new text. Raises CannotWrite where the old one does not hold what a hunk takes away."""
    lines = git_lines(before)
    parts: list[bytes] = []
    at = 0
    for hunk in sorted(hunks, key=lambda hunk: hunk.line):
        start = hunk.line - 1
        gone = git_lines(hunk.old.encode("utf-8", "surrogateescape"))
        if start < at or lines[start : start + len(gone)] != gone:
            raise CannotWrite("does not hold what the plan takes away", path=path, line=hunk.line)
        parts += [*lines[at:start], hunk.new.encode("utf-8", "surrogateescape")]
        at = start + len(gone)
    return b"".join([*parts, *lines[at:]])


def _text(lines: Sequence[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "surrogateescape")
