"""The journal of a write: enough to turn each file forth to the new text, or back to the old one.

Owns the journal's name and format. `project` decides when it is written, followed and removed.
Invariant: it never touches the disk and knows no digest function: it only stores what it is given.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

JOURNAL = ".codemods-journal"
_VERSION = 1
_NEAR = 60


@dataclass(frozen=True, slots=True)
class Splice:
    """At `offset` of the old text, `old` stands where the new text has `new`."""

    offset: int
    old: bytes
    new: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the journal: the digests of both texts (`before` is "" if there was no file), and the way between."""

    path: str
    created: bool
    before: str
    after: str
    splices: tuple[Splice, ...]

    @classmethod
    def of(cls, path: str, before: bytes | None, after: bytes, digest: Callable[[bytes], str]) -> Entry:
        """The entry for a file that is to change; `before` is None if it does not exist."""
        old = "" if before is None else digest(before)
        return cls(path, before is None, old, digest(after), tuple(_splices(before or b"", after)))

    def is_moved(self, now: bytes | None, digest: Callable[[bytes], str]) -> bool | None:
        """Whether a file holds the new text (True) or the old one (False, also: is not there yet); None if neither."""
        found = "" if now is None else digest(now)
        return True if found == self.after else False if found == self.before else None

    def turned(self, data: bytes, *, forward: bool) -> bytes:
        """The other text: the new one out of the old one, or the other way round."""
        pieces: list[bytes] = []
        at = shift = 0
        for splice in self.splices:
            old, new = (splice.old, splice.new) if forward else (splice.new, splice.old)
            start = splice.offset + (0 if forward else shift)
            pieces += (data[at:start], new)
            at = start + len(old)
            shift += len(splice.new) - len(splice.old)
        return b"".join((*pieces, data[at:]))


def encode_journal(entries: Sequence[Entry]) -> bytes:
    """The journal as ASCII, whatever the names of the files are."""
    files = [
        {
            "path": entry.path,
            "created": entry.created,
            "before": entry.before,
            "after": entry.after,
            "splices": [[splice.offset, _packed(splice.old), _packed(splice.new)] for splice in entry.splices],
        }
        for entry in entries
    ]
    return json.dumps({"version": _VERSION, "files": files}, separators=(",", ":")).encode("ascii")


def decode_journal(data: bytes) -> tuple[Entry, ...]:
    """The entries of a journal; raises ValueError, TypeError or KeyError on anything else."""
    try:
        journal: object = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(journal, dict) or journal.get("version") != _VERSION:
        raise ValueError(f"not a journal of version {_VERSION}")
    return tuple(_entry(file) for file in journal["files"])


def _entry(file: dict[str, object]) -> Entry:
    path, created, before, after, rows = (file[key] for key in ("path", "created", "before", "after", "splices"))
    if not (isinstance(path, str) and isinstance(before, str) and isinstance(after, str) and isinstance(rows, list)):
        raise TypeError("a field of the wrong type")
    if b"\0" in os.fsencode(path) or not all(type(row) is list and type(row[0]) is int for row in rows if row != []):
        raise ValueError("a field that no journal holds")
    splices = tuple(Splice(offset, base64.b64decode(old), base64.b64decode(new)) for offset, old, new in rows)
    return Entry(path, bool(created), before, after, splices)


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _splices(before: bytes, after: bytes) -> Iterable[Splice]:
    """The differences, line by line: exact, found in one pass, not always the fewest."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    at, to, offset = 0, 0, 0
    while at < len(old) or to < len(new):
        if at < len(old) and to < len(new) and old[at] == new[to]:
            offset += len(old[at])
            at, to = at + 1, to + 1
            continue
        gone, come = _until_equal(old, at, new, to)
        splice = Splice(offset, b"".join(old[at : at + gone]), b"".join(new[to : to + come]))
        yield splice
        offset += len(splice.old)
        at, to = at + gone, to + come


def _until_equal(old: Sequence[bytes], at: int, new: Sequence[bytes], to: int) -> tuple[int, int]:
    """How many lines to skip on either side until both are equal again; all that are left if that is far away."""
    for skipped in range(1, _NEAR):
        for gone in range(skipped + 1):
            if old[at + gone : at + gone + 1] == new[to + skipped - gone : to + skipped - gone + 1] != []:
                return gone, skipped - gone
    return len(old) - at, len(new) - to
