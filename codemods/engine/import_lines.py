"""The import statements of a file as bytes, without parsing: quick, for files that may turn out not to matter.

Owns the recognition of a statement by its look: `from m import a, b as c`, `import m as n`, in any block, behind a `;` or a
prompt, over several lines.
Invariant: it may take text for a statement (in a string, in a comment), and misses none that Python would run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_IMPORT = re.compile(rb"import(?<!\wimport)(?!\w)")
_TAKEN = re.compile(
    rb"[ \t\f]*(?:\\\r?\n[ \t]*)*"
    rb"(?:\((?P<listed>[^)#]*(?:#[^\r\n]*(?=[\r\n])[^)#]*)*)\)?|(?P<row>(?:[^\r\n;#\\]|\\\r?\n)*))"
)
# An import statement up to some name in it, for a pattern that goes on with the name: it begins with bytes to look for.
UP_TO_NAME = rb"import\b(?:[ \t\f]|\\\r?\n)*(?:\((?:[^)#]|#[^\r\n]*[\r\n])*?|(?:[^\r\n;#\\]|\\\r?\n)*?)(?<![\w.])"
_COMMENT = re.compile(rb"#[^\r\n]*")
# \x80-\xff: the bytes of an identifier in another script
_GAP = rb"[ \t\f\r\n\\]"
_DOTTED = rb"[\w\x80-\xff]+(?:" + _GAP + rb"*\." + _GAP + rb"*[\w\x80-\xff]+)*"
_PART = re.compile(rb"(?P<name>" + _DOTTED + rb"|\*)(?:" + _GAP + rb"+as" + _GAP + rb"+(?P<alias>[\w\x80-\xff]+))?")
_FROM = re.compile(rb"(?:^|[;:>.\t\f \r\xbf])from(?:[ \t\f]|(?=[.\\]))(?P<module>[\w.\x80-\xff \t\f\\\r\n]*)\Z")
# Where a statement may start: on a line, behind a byte order mark, in `if x: import y`, behind a semicolon. For a text with a
# line break in front: an engine looks for a byte of a set at once, and tries `^` everywhere.
START = rb"[\n;:\r](?:\xef\xbb\xbf)?[ \t\f]*"
_PLAIN = re.compile(rb"(?:^(?:\xef\xbb\xbf)?|[;:\r]|>>>|\.\.\.)[ \t\f]*(?:lazy[ \t\f]+)?\Z")


@dataclass(frozen=True, slots=True)
class ImportLine:
    """One statement: the module as it is spelled (None for `import ...`), and (name, alias or b"") as they are listed."""

    start: int
    module: bytes | None
    names: tuple[tuple[bytes, bytes], ...]


def import_lines(data: bytes) -> Iterator[ImportLine]:
    """What looks like an import statement, in order."""
    for found in _IMPORT.finditer(data):
        at = found.start()
        start = data.rfind(b"\n", 0, at) + 1
        while start > 1 and data.endswith((b"\\\n", b"\\\r\n"), 0, start):
            start = data.rfind(b"\n", 0, start - 1) + 1
        head = data[start:at]
        module: bytes | None = None
        source = _FROM.search(head)
        if source is not None:
            module = b"".join(source["module"].replace(b"\\", b"").split())
        elif _PLAIN.search(head) is None:
            continue
        taken = _TAKEN.match(data, found.end())
        assert taken is not None
        text = taken["listed"] if taken["listed"] is not None else taken["row"]
        if b"#" in text:
            text = _COMMENT.sub(b"", text)
        names = tuple(
            (b"".join(part["name"].replace(b"\\", b"").split()), part["alias"] or b"") for part in _PART.finditer(text)
        )
        if names:
            yield ImportLine(start, module, names)
