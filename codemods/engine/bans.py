"""The bans of a tree: which re-exports were narrowed, as data in `narrowed.toml`.

Owns the file's format, reading it, adding rows, taking rows out, and renaming in them.
Invariant: it never touches the disk, never accepts a key that it does not know, and never changes a byte outside the
rows that it adds, replaces or takes out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NoReturn

from codemods.engine.errors import BadConfiguration
from codemods.engine.model import Symbol
from codemods.engine.toml import did_you_mean, line_of_key, parse_toml

FILE_NAME = "narrowed.toml"
BASELINE = "narrowed-baseline"  # a folder: call sites that are accepted while a narrowing is under way
_VERSION = 1
_TABLE = "symbols"
_KEYS = ("origin", "allow", "lazy")
_STRING = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
_FRESH = f"""\
# Re-exports that were narrowed: import each of these names from its origin. Written by narrow-reexport.
version = {_VERSION}

[{_TABLE}]
"""


@dataclass(frozen=True, slots=True)
class Ban:
    """Nobody imports `symbol`, but `origin`. `allow`: globs of files that still may. `lazy`: it stays as a lazy one."""

    symbol: Symbol
    origin: Symbol
    allow: tuple[str, ...] = ()
    lazy: bool = False


def load_bans(data: bytes, path: str = FILE_NAME) -> tuple[Ban, ...]:
    """The bans, sorted by `pkg:name`. An empty file holds none. Raises `BadConfiguration` with the line."""
    if not data.strip():
        return ()
    tables = parse_toml(data, path)
    file = _File(path, data.decode("utf-8"))
    for key in tables:
        if key not in ("version", _TABLE):
            file.complain(key, f"unknown key `{key}`", did_you_mean(key, ("version", _TABLE)))
    version = tables.get("version")
    if version != _VERSION or isinstance(version, bool):
        said = "there is no `version`" if version is None else f"version {version!r} is unknown"
        file.complain("version", said, f"this program knows `version = {_VERSION}`")
    symbols = tables.get(_TABLE, {})
    if not isinstance(symbols, dict):
        file.complain(_TABLE, f"`{_TABLE}` must be a table")
    return tuple(_ban(key, symbols[key], file) for key in sorted(symbols))


def with_bans(data: bytes, new: Sequence[Ban], path: str = FILE_NAME) -> bytes:
    """The file with these bans added at their sorted places, or in the place of the rows of the same symbols.

    Everything else stays byte for byte, and so does a row that already says the same. Empty `data` is a file to make.
    """
    wanted = {ban.symbol: ban for ban in load_bans(data, path)}
    latest = {ban.symbol: ban for ban in new}
    changed = {symbol: ban for symbol, ban in latest.items() if wanted.get(symbol) != ban}
    if not changed:
        return data
    wanted |= changed
    lines = (data.decode("utf-8") if data.strip() else _FRESH).split("\n")
    result = "\n".join(_with_rows(lines, sorted(changed.values(), key=_order))).encode("utf-8")
    if not _holds(result, sorted(wanted.values(), key=_order)):
        hint = f'write the symbols as rows under [{_TABLE}]: "pkg:name" = {{ origin = "pkg.sub:name" }}'
        raise BadConfiguration("is laid out so that no row can be added", path=path, hint=hint)
    return result


def without_bans(data: bytes, gone: Collection[Symbol], path: str = FILE_NAME) -> bytes:
    """The file without the rows of these symbols. Everything else stays byte for byte, comments above the rows too."""
    kept = [ban for ban in load_bans(data, path) if ban.symbol not in gone]
    lines = data.decode("utf-8").split("\n")
    dropped = {str(symbol) for symbol in gone}
    for row in reversed(_rows(lines, _header(lines) + 1)):
        if row.key in dropped:
            lines[row.start : row.end] = [] if row.end < len(lines) else [""]
    return _sure("\n".join(lines), kept, path)


def with_renamed(data: bytes, old: str, new: str, path: str = FILE_NAME) -> tuple[bytes, tuple[Ban, ...]]:
    """The file after `old` has become `new`, and the bans that changed by it. Everything else stays byte for byte.

    Both are modules (`pkg.sub`, with all that is below) or symbols (`pkg.sub:name`), of packages and of origins.
    """
    bans = {str(ban.symbol): ban for ban in load_bans(data, path)}
    changed = {key: moved for key, ban in bans.items() if (moved := _moved(ban, old, new)) != ban}
    result = sorted((changed.get(key, ban) for key, ban in bans.items()), key=_order)
    double = next((one for one, other in pairwise(result) if one.symbol == other.symbol), None)
    if double is not None:
        raise BadConfiguration(f'two rows would become "{double.symbol}"', path=path, hint="take one of them out first")
    lines = data.decode("utf-8").split("\n")
    header = _header(lines)
    rows = [(row, changed.get(row.key)) for row in _rows(lines, header + 1)]
    was_sorted = [row.key for row, _ in rows] == sorted(row.key for row, _ in rows)
    keys = [str(ban.symbol) if ban is not None else row.key for row, ban in rows]
    moves = was_sorted and keys != sorted(keys)
    taken: list[tuple[str, list[str]]] = []
    for row, ban in reversed(rows):
        if ban is not None:
            text = _respelled("\n".join(lines[row.start : row.end]), ban)
            away = moves and str(ban.symbol) != row.key
            lines[row.start : row.end] = [] if away else text.split("\n")
            if away:
                taken.append((str(ban.symbol), text.split("\n")))
    if taken and lines[-1]:
        lines.append("")  # the last row had no newline, and is not the last any more
    for key, text_lines in sorted(taken):
        at = _place(lines, header, _rows(lines, header + 1), key)
        lines[at:at] = text_lines
    return _sure("\n".join(lines), result, path), tuple(sorted(changed.values(), key=_order))


# --- reading ---


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    text: str

    def complain(self, key: str, detail: str, hint: str = "", table: str = "") -> NoReturn:
        line = line_of_key(self.text, key, table)
        shown = self.text.split("\n")[line - 1].rstrip("\r") if line else ""
        raise BadConfiguration(detail, path=self.path, line=line, text=shown, hint=hint)


def _ban(key: str, row: object, file: _File) -> Ban:
    symbol = _symbol(key)
    if symbol is None:
        file.complain(key, f'"{key}" is not a symbol', 'write "pkg.module:name"', _TABLE)
    if not isinstance(row, dict):
        file.complain(key, f'the row of "{key}" must be a table', 'write { origin = "pkg.module:name" }', _TABLE)
    for name in row:
        if name not in _KEYS:
            file.complain(key, f'unknown key `{name}` in the row of "{key}"', did_you_mean(name, _KEYS), _TABLE)
    origin = _symbol(row.get("origin"))
    if origin is None:
        said = "has no" if "origin" not in row else "has a bad"
        file.complain(key, f'the row of "{key}" {said} `origin`', 'write origin = "pkg.module:name"', _TABLE)
    allow, lazy = row.get("allow", []), row.get("lazy", False)
    if not (isinstance(allow, list) and all(isinstance(glob, str) for glob in allow)):
        file.complain(key, f'`allow` in the row of "{key}" must be a list of globs', 'allow = ["tests/**"]', _TABLE)
    if not isinstance(lazy, bool):
        file.complain(key, f'`lazy` in the row of "{key}" must be true or false', "", _TABLE)
    return Ban(symbol, origin, tuple(allow), lazy)


def _symbol(text: object) -> Symbol | None:
    """`pkg.sub:name` as a symbol, None if it is spelled otherwise."""
    if not isinstance(text, str):
        return None
    module, _, name = text.partition(":")
    return Symbol(module, name) if all(part.isidentifier() for part in (*module.split("."), name)) else None


def _order(ban: Ban) -> str:
    return str(ban.symbol)


# --- rewriting ---


def _header(lines: Sequence[str]) -> int:
    return next((at for at, line in enumerate(lines) if _is_header(line)), len(lines))


def _moved(ban: Ban, old: str, new: str) -> Ban:
    if ":" in old:
        renamed = _symbol(new) or ban.symbol
        symbol = renamed if str(ban.symbol) == old else ban.symbol
        return replace(ban, symbol=symbol, origin=renamed if str(ban.origin) == old else ban.origin)
    if ban.origin == ban.symbol:
        # "pkg:sub" = { origin = "pkg:sub" }        both are the module pkg.sub
        module, _, name = _renamed(ban.symbol.dotted, old, new).rpartition(".")
        moved = Symbol(module, name) if module else ban.symbol
        return replace(ban, symbol=moved, origin=moved)
    symbol = Symbol(_renamed(ban.symbol.module, old, new), ban.symbol.name)
    return replace(ban, symbol=symbol, origin=Symbol(_renamed(ban.origin.module, old, new), ban.origin.name))


def _renamed(module: str, old: str, new: str) -> str:
    return new + module[len(old) :] if f"{module}.".startswith(f"{old}.") else module


def _respelled(text: str, ban: Ban) -> str:
    """The row with the names of another ban, laid out as it was."""
    text = re.sub(_STRING, lambda found: _quoted(str(ban.symbol)), text, count=1)
    written = re.compile(rf"(\borigin\s*=\s*)(?:{_STRING})")
    return written.sub(lambda found: found[1] + _quoted(str(ban.origin)), text, count=1)


def _sure(text: str, bans: Sequence[Ban], path: str) -> bytes:
    """The bytes of a text that holds these bans and no others."""
    if not _holds(text.encode("utf-8"), bans):
        hint = f'write the symbols as rows under [{_TABLE}]: "pkg:name" = {{ origin = "pkg.sub:name" }}'
        raise BadConfiguration("is laid out so that its rows cannot be rewritten", path=path, hint=hint)
    return text.encode("utf-8")


# --- writing ---


@dataclass(frozen=True, slots=True)
class _Row:
    """Lines [start, end) of the file hold the row of the symbol `key`."""

    key: str
    start: int
    end: int


def _with_rows(lines: list[str], bans: Sequence[Ban]) -> list[str]:
    """The lines of a file (each without `\\n`, perhaps with `\\r`) with the rows of these bans, which are sorted."""
    ending = "\r" if lines[0].endswith("\r") else ""
    header = next((at for at, line in enumerate(lines) if _is_header(line)), None)
    if header is None:
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        return [*lines, ending, f"[{_TABLE}]{ending}", *(f"{_written(ban)}{ending}" for ban in bans), ""]
    rows = _rows(lines, header + 1)
    edits = []
    for number, ban in enumerate(bans):
        old = next((row for row in rows if row.key == str(ban.symbol)), None)
        at = old.start if old else _place(lines, header, rows, str(ban.symbol))
        tail = _after_row("\n".join(lines[old.start : old.end])) if old else ending
        edits.append((at, old is not None, number, old.end if old else at, _written(ban) + tail))
    if lines[-1] and any(at == len(lines) for at, *_ in edits):  # the last line had no newline, now one follows it
        lines = [*lines[:-1], lines[-1] + ending, ""]
    for at, _, _, end, text in sorted(edits, reverse=True):
        lines = [*lines[:at], text, *lines[end:]]
    return lines


def _is_header(line: str) -> bool:
    return line.partition("#")[0].replace(" ", "").strip() == f"[{_TABLE}]"


def _rows(lines: Sequence[str], start: int) -> list[_Row]:
    """The rows from a line on, up to the next table. A row ends with the line up to which it is valid TOML."""
    rows: list[_Row] = []
    while start < len(lines) and not lines[start].lstrip().startswith("["):
        end = start + 1
        if lines[start].strip() and not lines[start].lstrip().startswith("#"):
            while (key := _key("\n".join((*lines[start:end], "")))) is None and end < len(lines):
                end += 1
            rows.append(_Row(key or "", start, end))
        start = end
    return rows


def _key(text: str) -> str | None:
    """The key of a row, None if this is not a whole row."""
    try:
        return next(iter(parse_toml(text.encode("utf-8"), "")), None)
    except BadConfiguration:
        return None


def _place(lines: Sequence[str], header: int, rows: Sequence[_Row], key: str) -> int:
    """Where a new row goes: behind the last row that sorts before it, else before all rows and the first's comment."""
    before = [row for row in rows if row.key < key]
    if before:
        return before[-1].end
    at = rows[0].start if rows else header + 1
    while at > header + 1 and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    return at


def _after_row(text: str) -> str:
    """What follows the closing brace of a row on its line: a comment, a carriage return."""
    for at, character in enumerate(text):
        if character == "}" and _key(text[: at + 1]) is not None:
            return text[at + 1 :]
    return text[len(text.rstrip("\r")) :]


def _written(ban: Ban) -> str:
    row = f"{_quoted(str(ban.symbol))} = {{ origin = {_quoted(str(ban.origin))}"
    if ban.allow:
        row += f", allow = [{', '.join(map(_quoted, ban.allow))}]"
    return row + (", lazy = true }" if ban.lazy else " }")


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's, which leaves only DEL as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _holds(data: bytes, bans: Sequence[Ban]) -> bool:
    try:
        return load_bans(data) == tuple(bans)
    except BadConfiguration:
        return False
