"""What a target says in its `pyproject.toml`: our options, and how wide its lines may be.

Owns `[tool.codemods.narrow_reexport]` and `[tool.codemods.check_narrowed]`, and the names of their keys.
Invariant: it never ignores a key that it does not know, and never writes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NoReturn, TypeVar

from codemods.engine.disk import read_file
from codemods.engine.errors import BadConfiguration, Unreadable
from codemods.engine.toml import did_you_mean, line_of_key, parse_toml

_FILE = "pyproject.toml"
_SECTION = "tool.codemods"
_TABLES = ("narrow_reexport", "import_cost", "check_narrowed")
_RUFF_FILES = (".ruff.toml", "ruff.toml")  # the order in which ruff prefers them, both before pyproject.toml
_DEFAULT_WIDTH = 88


T = TypeVar("T", "NarrowOptions", "CheckOptions")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """`[tool.codemods.check_narrowed]`."""

    baseline: str = ""
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NarrowOptions:
    """`[tool.codemods.narrow_reexport]`: a key has dashes where the field has underscores."""

    source_root: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    strict: bool = False
    ban: bool = True
    keep_going: bool = False
    to_definition: bool = False
    callers_only: bool = False
    accept_side_effects: bool = False
    shim: bool = False
    shim_removal: str = ""
    rewrite_strings: bool = False
    output_format: str = "text"


def load_narrow_options(root: Path) -> NarrowOptions:
    """The options of the tree, the defaults where it has none. Raises `BadConfiguration` with the line."""
    return _load(root, "narrow_reexport", NarrowOptions)


def load_check_options(root: Path) -> CheckOptions:
    """The same for `check_narrowed`."""
    return _load(root, "check_narrowed", CheckOptions)


def _load(root: Path, command: str, kind: type[T]) -> T:
    try:
        data = read_file(root / _FILE)
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=_FILE) from error
    tool = parse_toml(data, _FILE).get("tool", {})
    ours = tool.get("codemods", {}) if isinstance(tool, dict) else {}
    text = data.decode("utf-8")
    for name, table in _table(ours, _SECTION, text).items():
        if name not in _TABLES:
            _complain(text, name, _SECTION, f"unknown table [{_SECTION}.{name}]", did_you_mean(name, _TABLES))
        _table(table, f"{_SECTION}.{name}", text)
    return _options(_table(ours, _SECTION, text).get(command, {}), f"{_SECTION}.{command}", text, kind)


def line_width(root: Path, path: str = "") -> int:
    """How long the target lets a line of `path` be: the nearest setting of ruff, else of black, else 88.

    Never raises: what is broken counts as not said, and `load_narrow_options` reports it. Each configuration file is
    parsed once as long as it does not change.
    """
    folders = [root.joinpath(*path.split("/")[:depth]) for depth in range(path.count("/"), -1, -1)]
    for folder in folders:
        for name in (*_RUFF_FILES, _FILE):
            width = _widths(folder / name)[0]
            if width:
                return width
    return next((width for folder in folders if (width := _widths(folder / _FILE)[1])), _DEFAULT_WIDTH)


def bad_value(root: Path, key: str, value: str, detail: str) -> BadConfiguration:
    """The error for a value of `[tool.codemods.narrow_reexport]` that has the right type and makes no sense."""
    text = read_file(root / _FILE).decode("utf-8")  # it has just been parsed
    first = line_of_key(text, key, f"{_SECTION}.narrow_reexport")
    lines = text.split("\n")
    # a list may be spread over lines: the one that holds the value
    line = next((n for n in range(first, len(lines) + 1) if first and value in lines[n - 1]), first)
    return BadConfiguration(detail, path=_FILE, line=line, text=lines[line - 1].rstrip("\r") if line else "")


# --- the options ---


def _options(table: object, section: str, text: str, kind: type[T]) -> T:
    defaults = {field.name.replace("_", "-"): field.default for field in fields(kind)}
    found: dict[str, tuple[str, ...] | bool | str] = {}
    for key, value in _table(table, section, text).items():
        if key not in defaults:
            _complain(text, key, section, f"unknown key `{key}` in [{section}]", did_you_mean(key, defaults))
        default, name = defaults[key], key.replace("-", "_")
        if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(item, str) for item in value):
            found[name] = tuple(value)
        elif not isinstance(default, tuple) and isinstance(value, type(default)) and isinstance(value, (bool, str)):
            found[name] = value
        else:
            wanted = _WANTED[type(default)]
            hint = f'{key} = ["{value}"]' if isinstance(default, tuple) and isinstance(value, str) else ""
            _complain(text, key, section, f"`{key}` in [{section}] must be {wanted}", hint and f"write `{hint}`")
    return kind(**found)  # type: ignore[arg-type]  # each value has the type of its field's default


_WANTED: dict[type, str] = {tuple: "a list of strings", bool: "true or false", str: "a string"}


def _table(value: object, section: str, text: str) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    above, _, key = section.rpartition(".")
    return _complain(text, key, above, f"[{section}] must be a table", "")


def _complain(text: str, key: str, section: str, detail: str, hint: str) -> NoReturn:
    line = line_of_key(text, key, section)
    shown = text.split("\n")[line - 1].rstrip("\r") if line else ""
    raise BadConfiguration(detail, path=_FILE, line=line, text=shown, hint=hint)


# --- the width of a line ---


def _widths(full: Path) -> tuple[int, int]:
    """What a configuration file says for ruff and for black, 0 where it says nothing."""
    try:
        found = full.stat()
    except OSError:
        return 0, 0
    return _parsed_widths(full, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=64)
def _parsed_widths(full: Path, _changed: int, _size: int) -> tuple[int, int]:
    try:
        tables: object = parse_toml(read_file(full), full.name)
    except (OSError, BadConfiguration):
        return 0, 0
    if full.name != _FILE:
        return _width(tables), 0
    return _width(_inner(tables, "tool", "ruff")), _width(_inner(tables, "tool", "black"))


def _inner(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _width(table: object) -> int:
    value = _inner(table, "line-length")
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
