"""What a run says: diffs that `git apply` takes byte for byte, GitHub annotations, colours.

Owns the output forms that every command shares.
Invariant: it decides nothing; a diff's bytes are the files' bytes, whatever their encoding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from codemods.engine.errors import CodemodError

if TYPE_CHECKING:
    from codemods.engine.model import FileChange, Site


def diff(change: FileChange) -> bytes:
    """A unified diff of one file as `git diff` writes it."""
    import difflib

    name = change.path.encode("utf-8", "surrogateescape")
    old, new = _quoted(b"a/" + name), _quoted(b"b/" + name)
    created = not change.before
    head = b"diff --git %s %s\n" % (old, new)
    if created:
        head += b"new file mode 100644\n"
    if change.gone:
        head += b"deleted file mode 100644\n"
        new = b"/dev/null"
    tab = b"\t" if b" " in name else b""
    before, after = git_lines(change.before), git_lines(change.after)
    rows = difflib.diff_bytes(difflib.unified_diff, before, after, b"/dev/null" if created else old, new)
    body = []
    for number, row in enumerate(rows):
        if number < 2:
            name_of = b"" if row.endswith(b" /dev/null\n") else tab
            body.append(row.rstrip(b"\n") + name_of + b"\n")
        elif row.endswith(b"\n"):
            body.append(row)
        else:
            body.append(row + b"\n\\ No newline at end of file\n")
    return head + b"".join(body)


def annotation(level: str, site: Site, title: str, message: str) -> str:
    """A GitHub workflow command that puts a message on a line of a file."""
    path, title = _escaped(site.path, property_=True), _escaped(title, property_=True)
    return f"::{level} file={path},line={site.line},col={site.column + 1},title={title}::{_escaped(message)}"


def wants_colour(is_terminal: bool) -> bool:
    """Colour only on a terminal; FORCE_COLOR turns it on elsewhere too, NO_COLOR (any value) off, and wins."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")


_STYLES = {"bold": "\x1b[1m", "red": "\x1b[31m\x1b[1m", "yellow": "\x1b[33m"}
Paint = Callable[[str, str], str]


def paint(text: str, style: str) -> str:
    """A text in one of our styles: bold, red, yellow. Who writes it takes the escapes off where there is no colour."""
    return f"{_STYLES[style]}{text}\x1b[0m"


def error_lines(error: CodemodError, paint: Paint, *, shown: Callable[[str], str] = str, lead: str = "") -> list[str]:
    """An error: place, reason, source line, way out. `shown` gives the path that a person sees, `lead` opens the way out."""
    place = f"{shown(error.path)}:{error.line}: " if error.path and error.line else ""
    place = place or (f"{shown(error.path)}: " if error.path else "")
    lines = [f"{paint('error', 'red')}: {place}{error.detail}"]
    lines += [f"    {error.text}"] if error.text else []
    return [*lines, f"    {lead}{error.hint}"] if error.hint else lines


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def columns(rows: Sequence[tuple[str, str]], indent: str = "  ") -> list[str]:
    """Rows of two columns, the first padded, at most 72 wide."""
    width = min(72, max((len(left) for left, _ in rows), default=0))
    return [f"{indent}{left:{width}}  {right}".rstrip() for left, right in rows]


def git_lines(data: bytes) -> list[bytes]:
    """The lines as git counts them, each with its end."""
    # LF alone ends a line for git; CR belongs to the line
    parts = data.split(b"\n")
    rows = [part + b"\n" for part in parts[:-1]]
    return [*rows, parts[-1]] if parts[-1] else rows


def _quoted(name: bytes) -> bytes:
    if not any(byte < 0x20 or byte in b'"\\' or byte >= 0x7F for byte in name):
        return name
    quoted = bytearray(b'"')
    for byte in name:
        if byte in b'"\\':
            quoted += b"\\" + bytes([byte])
        elif byte < 0x20 or byte >= 0x7F:
            quoted += b"\\%03o" % byte
        else:
            quoted.append(byte)
    return bytes(quoted + b'"')


def _escaped(text: str, *, property_: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if property_ else text
