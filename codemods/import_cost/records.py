"""What is remembered of a source file from one run to the next: its outline and the from-imports in it, as bytes.

Owns the format of the cache: one index, and two blobs that are decoded piece by piece, when a module is asked about.
Invariant: `decode` never raises, whatever the bytes are; what does not decode is as good as not there.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codemods.engine.import_lines import import_lines
from codemods.engine.model import Module
from codemods.engine.outline import Binds, Event, FromImports, Imports, Outline, outline

_FORMAT = 1
_MAGIC = b"codemods import_cost"


@dataclass(frozen=True, slots=True)
class Record:
    """One file as it was read: its state then, the module that it was read as, its outline and from-imports encoded.

    The outline is empty where only the from-imports were wanted.
    """

    changed: int
    size: int
    module: Module
    outline: bytes
    uses: bytes


@dataclass(frozen=True, slots=True)
class Use:
    """`from module import name as bound`, at any depth; for `import module [as bound]` the name is empty."""

    module: str
    name: str
    bound: str


def read_outline(path: str, data: bytes, modules: Mapping[str, Module]) -> tuple[bytes, bytes]:
    """The outline and the from-imports of one file, encoded: what a worker process sends back."""
    return encode_outline(outline(data, modules[path])), encode_uses(data, modules[path])


def read_uses(path: str, data: bytes, modules: Mapping[str, Module]) -> tuple[bytes, bytes]:
    """The from-imports alone."""
    return b"", encode_uses(data, modules[path])


def encode_outline(found: Outline) -> bytes:
    """An outline as bytes."""
    return _dumps([found.readable, [_event(event) for event in found.events]])


def decode_outline(data: bytes) -> Outline:
    """The outline again."""
    readable, events = json.loads(data)
    return Outline(tuple(_as_event(each) for each in events), readable)


def encode_uses(data: bytes, module: Module) -> bytes:
    """Every from-import in a file, as its bytes look, those in functions too: one line each, the module in front."""
    rows = []
    for line in import_lines(data):
        if line.module is None:
            rows += [f"{_text(name)}\t\t{_text(alias)}" for name, alias in line.names]
        elif source := module.absolute(_text(line.module)):
            rows += [f"{source}\t{_text(name)}\t{_text(alias or name)}" for name, alias in line.names]
    return "".join(f"\n{row}\t" for row in rows).encode("utf-8", "replace")


def decode_uses(data: bytes) -> Iterator[Use]:
    """The from-imports again."""
    for row in data.decode("utf-8", "replace").split("\n"):
        if row:
            module, name, bound, _ = row.split("\t")
            yield Use(module, name, bound)


class UseIndex:
    """The from-imports of many files in one text, so that a module is found in it by one search of bytes."""

    def __init__(self, records: Mapping[str, Record]) -> None:
        self._paths = tuple(records)
        self._starts: list[int] = []
        at = 0
        for record in records.values():
            self._starts.append(at)
            at += len(record.uses) + 1
        self._text = b"\n".join(record.uses for record in records.values()) + b"\n"

    def of(self, module: str) -> Iterator[tuple[str, Use]]:
        """(path, use) of everything that is imported from a module, or that imports it by its dotted name."""
        wanted = b"\n" + module.encode() + b"\t"
        at = self._text.find(wanted)
        while at >= 0:
            end = self._text.find(b"\n", at + 1)
            for use in decode_uses(self._text[at + 1 : end]):
                yield self._paths[bisect.bisect_right(self._starts, at) - 1], use
            at = self._text.find(wanted, end)

    def all(self) -> Iterator[tuple[str, Use]]:
        """Everything."""
        for path, start, end in zip(self._paths, self._starts, [*self._starts[1:], len(self._text)], strict=True):
            for use in decode_uses(self._text[start:end]):
                yield path, use


def encode(records: Mapping[str, Record], version: str) -> bytes:
    """The whole cache file."""
    rows, at = [], 0
    for path, record in records.items():
        name, package = record.module.name, record.module.is_package
        sizes = (len(record.outline), len(record.uses))
        rows.append([path, record.changed, record.size, name, package, at, *sizes])
        at += sum(sizes)
    index = _dumps(rows)
    body = index + b"\n" + b"".join(part for each in records.values() for part in (each.outline, each.uses))
    return _head(body, version) + body


def decode(data: bytes, version: str) -> dict[str, Record]:
    """The records of a cache file; none where it is broken, of another version, or not ours at all."""
    head, _, body = data.partition(b"\n")
    if head + b"\n" != _head(body, version):
        return {}
    index, _, blob = body.partition(b"\n")
    found = {}
    for path, changed, size, name, package, at, first, second in json.loads(index):
        module = Module(name, path, package)
        middle = at + first
        found[path] = Record(changed, size, module, blob[at:middle], blob[middle : middle + second])
    return found


def _head(body: bytes, version: str) -> bytes:
    # `ast` decides what is readable, so the Python that looked counts too
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.blake2b(body, digest_size=16).hexdigest()
    return b"%s %d %s %s %s\n" % (_MAGIC, _FORMAT, version.encode(), python.encode(), digest.encode())


def _event(event: Event) -> list[object]:
    if isinstance(event, Imports):
        return [event.line, int(event.guarded), event.module, event.bound]
    if isinstance(event, FromImports):
        return [event.line, int(event.guarded), event.module, [list(pair) for pair in event.names]]
    return [event.line, event.name]


def _as_event(row: list[object]) -> Event:
    line = row[0]
    assert isinstance(line, int)
    if len(row) == 2:
        return Binds(str(row[1]), line)
    if isinstance(row[3], list):
        return FromImports(str(row[2]), tuple((name, bound) for name, bound in row[3]), line, bool(row[1]))
    return Imports(str(row[2]), line, str(row[3]), bool(row[1]))


def _dumps(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
