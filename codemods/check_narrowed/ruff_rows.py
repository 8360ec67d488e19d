"""The rows for ruff: `banned-api` of flake8-tidy-imports, made from `narrowed.toml`, for the part that TID251 gets right.

    "pkg.sym".msg = "it was narrowed to pkg.sub:sym: write `from pkg.sub import sym`"

Owns which rows ruff can have, how one is spelled and recognised, and where it is written.
Invariant: it never writes a file, never changes a row or an option of somebody else, and gives back nothing that does not
read as what was there plus our rows.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from codemods.check_narrowed.guard import Guard
from codemods.engine.bans import Ban
from codemods.engine.errors import BadConfiguration
from codemods.engine.toml import line_of_key, parse_toml

FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")  # the order in which ruff prefers them
EXTRA = 'pip install "codemods[ruff]"'
_OURS = re.compile(r"it was narrowed to [\w.]+:\w+: write `from [\w.]+ import \w+(?: as \w+)?`")
_PLUGIN, _TABLE = "flake8-tidy-imports", "banned-api"
_SELECTORS = ("ALL", "TID", "TID2", "TID25", "TID251")  # what takes TID251 in, the more exact one last
_BLIND = (
    "TID251 sees from-imports and attributes of the package alone: `check-narrowed` is still needed for a re-export or an "
    "`__all__` entry that comes back in an `__init__`, star imports, names in strings (patch targets, getattr, import_module), "
    "and packages that another module hands on; and ruff reads `# noqa: TID251`, not `# lint-ignore`"
)


def ruff_file(root: Path) -> str:
    """The file at the root of a tree that ruff reads its settings from, `pyproject.toml` if there is none yet."""
    return next((name for name in FILES if (root / name).is_file()), FILES[-1])


def with_ruff_rows(data: bytes, guard: Guard, path: str) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of `pyproject.toml`, `ruff.toml` or `.ruff.toml` with a row for each symbol that TID251 gets right.

    Rows of ours that `narrowed.toml` no longer has are gone. The second value says what was left out, and what ruff does not see.
    """
    settings = _Settings(path, data, parse_toml(data, path))
    wanted, notes = _wanted(guard)
    place, held = settings.banned()
    theirs = {name: row for name, row in held.items() if not _is_ours(row)}
    for name in sorted(wanted.keys() & theirs.keys()):
        notes.append(f"{name} has a row that is not ours already: it stays as it is")
        del wanted[name]
    ours = {name: row["msg"] for name, row in held.items() if name not in theirs}
    if ours != wanted:
        data = settings.written(place, ours, wanted)
    if wanted:
        notes += settings.remarks(guard)
        notes.append(_BLIND)
    return data, tuple(notes)


# Which rows


def _wanted(guard: Guard) -> tuple[dict[str, str], list[str]]:
    """The message for each dotted name that ruff can ban, sorted, and why it cannot ban others."""
    wanted: dict[str, str] = {}
    notes = []
    for ban in sorted(guard.rows, key=lambda ban: ban.symbol.dotted):
        dotted = ban.symbol.dotted
        if ban.origin == ban.symbol:
            # from pkg import sub        is right; only the `__init__` may not
            notes.append(f"{dotted} is left out: it is a submodule, which everybody may import")
        elif _is_module_too(guard, ban):
            # from pkg.f import f        is right, and TID251 flags whatever is below `pkg.f`
            notes.append(f"{dotted} is left out: it is a module too, and TID251 flags the right `{_statement(ban)}`")
        elif ban.allow:
            globs = ", ".join(ban.allow)
            notes.append(f"{dotted} is left out: it is allowed in {globs}, and ruff knows no exceptions for one name")
        else:
            wanted[dotted] = f"it was narrowed to {ban.origin}: write `{_statement(ban)}`"
    return wanted, notes


def _is_module_too(guard: Guard, ban: Ban) -> bool:
    if f"{ban.origin.module}.".startswith(f"{ban.symbol.dotted}."):
        return True  # also where the package is outside the tree
    view = guard.view(ban.symbol.module)
    return view is not None and view.layout.locate(ban.symbol.dotted) is not None


def _statement(ban: Ban) -> str:
    renamed = f" as {ban.symbol.name}" if ban.origin.name != ban.symbol.name else ""
    return f"from {ban.origin.module} import {ban.origin.name}{renamed}"


def _is_ours(row: object) -> bool:
    said = row.get("msg") if isinstance(row, dict) else None
    return isinstance(said, str) and _OURS.fullmatch(said) is not None


# What stands in the file


@dataclass(frozen=True, slots=True)
class _Settings:
    path: str
    data: bytes
    tables: dict[str, Any]
    top: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        is_own = self.path.rpartition("/")[2] in FILES[:-1]
        object.__setattr__(self, "top", () if is_own else ("tool", "ruff"))

    def banned(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The keys that lead to the table, and what it holds."""
        # [tool.ruff.flake8-tidy-imports]        the old place: a table under `lint` would make ruff forget all of it
        lint = (*self.top, "lint", _PLUGIN)
        old = (*self.top, _PLUGIN)
        plugin = old if self._table(old) and not self._table(lint) else lint
        return (*plugin, _TABLE), self._table((*plugin, _TABLE))

    def written(self, place: tuple[str, ...], ours: Mapping[str, str], wanted: Mapping[str, str]) -> bytes:
        """The file with our rows as wanted, everything else as it was."""
        text = self.data.decode("utf-8")
        has_crlf = "\r\n" in text and text.count("\n") == text.count("\r\n")
        before = text.replace("\r\n", "\n") if has_crlf else text
        after = _in_order(_edited(before, place, ours, wanted), ours, wanted)
        result = (after.replace("\n", "\r\n") if has_crlf else after).encode("utf-8")
        expected = copy.deepcopy(self.tables)
        table = expected
        for key in place:
            table = table.setdefault(key, {})
        for name in ours:
            del table[name]
        table.update({name: {"msg": said} for name, said in wanted.items()})
        if not _reads_as(result, expected) or _is_worn(before, after):
            header = f"[{'.'.join(place)}]"
            hint = f"lay it out so that the rows stand under {header}, one a line"
            raise BadConfiguration("is laid out so that no row can be added", path=self.path, hint=hint)
        return result

    def remarks(self, guard: Guard) -> Iterator[str]:
        """What in the settings keeps the rows from being heeded."""
        here = self._table(self.top)
        lint = self._table((*self.top, "lint"))
        selects = [*_listed(here, lint, "select"), *_listed(here, lint, "extend-select")]
        ignores = [*_listed(here, lint, "ignore"), *_listed(here, lint, "extend-ignore")]
        if _rank(selects) <= _rank(ignores):
            said = "nor by the file that it extends, perhaps" if "extend" in here else 'add "TID251" to `extend-select`'
            yield f"{self.path} does not select TID251 ({said}): until then ruff does not look at the rows"
        for option in ("per-file-ignores", "extend-per-file-ignores"):
            for glob, rules in {**_mapping(here, option), **_mapping(lint, option)}.items():
                if isinstance(rules, list) and _rank(rules) >= 0:
                    yield f"{self.path} ignores TID251 in {glob}"
        if "extend" in here and not self._table(self.banned()[0][:-1]):
            yield f"{self.path} extends another file: a `{_PLUGIN}` table there no longer counts beside the one here"
        for other in guard.tree.paths:
            name = other.rpartition("/")[2]
            if other == self.path or "/" not in other or name not in FILES:
                continue
            if name != FILES[-1] or b"[tool.ruff" in guard.tree.read(other):
                yield f"{other} holds settings of its own: ruff does not see the rows in that folder unless it extends this file"

    def _table(self, keys: tuple[str, ...]) -> dict[str, Any]:
        table: object = self.tables
        for key in keys:
            table = table.get(key, {}) if isinstance(table, dict) else None
            if not isinstance(table, dict):
                self._complain(key)
        return table if isinstance(table, dict) else {}

    def _complain(self, key: str) -> NoReturn:
        text = self.data.decode("utf-8")
        line = line_of_key(text, key)
        shown = text.split("\n")[line - 1].strip() if line else ""
        raise BadConfiguration(f"`{key}` must be a table", path=self.path, line=line, text=shown)


def _mapping(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    return value if isinstance(value, dict) else {}


def _listed(here: Mapping[str, Any], lint: Mapping[str, Any], key: str) -> list[str]:
    found = lint.get(key, here.get(key, []))
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _rank(selectors: list[str]) -> int:
    """How exactly one of the selectors takes TID251 in; -1 if none does."""
    return max((_SELECTORS.index(each) for each in selectors if each in _SELECTORS), default=-1)


# Writing


def _edited(text: str, place: tuple[str, ...], ours: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """The text with rows changed and taken out where they stand, and new ones at the end of the table."""
    tomlkit = _tomlkit()
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for key in place:
            if key not in table:
                table[key] = tomlkit.table(is_super_table=key != place[-1])
            table = table[key]
        for name in sorted(ours):
            if name not in wanted:
                del table[name]
            elif ours[name] != wanted[name]:
                table[name]["msg"] = wanted[name]
        for name in sorted(wanted.keys() - ours.keys()):
            table.append(tomlkit.key([name, "msg"]), wanted[name])
        return str(tomlkit.dumps(document))
    except (tomlkit.exceptions.TOMLKitError, KeyError, TypeError, ValueError):
        return ""  # a layout that it cannot edit: what comes out is compared with what should


def _tomlkit() -> Any:
    try:
        import tomlkit
        import tomlkit.exceptions
    except ImportError as error:
        raise BadConfiguration(
            "the rows for ruff are written with tomlkit, which is not installed", hint=EXTRA
        ) from error
    return tomlkit


def _in_order(text: str, ours: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """New rows, which stand at the end of the table, moved to their sorted places among ours."""
    lines = text.split("\n")
    row = re.compile(r"""\s*["']([\w.]+)["']\.msg\s*=\s*(["'])(.*)\2\s*(?:#.*)?""")

    def named(line: str) -> str:
        found = row.fullmatch(line)
        return found[1] if found and wanted.get(found[1]) == found[3] else ""

    fresh = [at for at, line in enumerate(lines) if (name := named(line)) and name not in ours]
    if not fresh:
        return text
    moved = {named(lines[at]): lines[at] for at in fresh}
    end = fresh[-1] + 1
    if lines[end : end + 1] and lines[end].lstrip().startswith("["):
        lines.insert(end, "")  # between our rows and the next table
    for at in reversed(fresh):
        del lines[at]
    for name, line in sorted(moved.items()):
        rows = [(at, other) for at, each in enumerate(lines) if (other := named(each))]
        before = [at + 1 for at, other in rows if other < name]
        after = [at for at, other in rows if other > name]
        lines.insert(before[-1] if before else after[0] if after else fresh[0], line)
    return "\n".join(lines)


def _reads_as(data: bytes, expected: Mapping[str, Any]) -> bool:
    try:
        return parse_toml(data, "") == expected
    except BadConfiguration:
        return False


def _is_worn(before: str, after: str) -> bool:
    """Whether a comment or another line has gone or moved that is not ours."""
    new = iter(_others(after))
    return not all(line in new for line in _others(before))


def _others(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip() and "it was narrowed to " not in line]
