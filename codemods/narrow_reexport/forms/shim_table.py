"""The shim of an `__init__`, read: its marker, its table, its function.

Owns what a shim looks like to a program, in this tree and in an installed package.
Invariant: it runs nothing and edits nothing; a table that is no literal is said to be unreadable, never guessed at.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from codemods.engine.model import Symbol
from codemods.engine.source import Source

MARKER = "# codemods: shim narrow_reexport"


@dataclass(frozen=True, slots=True)
class Moved:
    """A row of a shim: the name in the package, where it is now, and the version in which the row goes."""

    name: str
    origin: Symbol
    removal: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Shim:
    """What the marked table of an `__init__` says; None for rows that somebody wrote so that they cannot be read."""

    line: int
    rows: tuple[Moved, ...] | None

    def row(self, name: str) -> Moved | None:
        return next((row for row in self.rows or () if row.name == name), None)


def read_shim(source: Source, tree: ast.Module) -> Shim | None:
    """The shim of an `__init__`, if it has one. Nothing is run: the table is a literal."""
    table = marked_table(source, tree)
    if table is None:
        return None
    try:
        return Shim(table.lineno, tuple(rows_of(table)))
    except ValueError:
        return Shim(table.lineno, None)


def shimmed(source: Source, tree: ast.Module) -> dict[str, Symbol]:
    """The names that a shim answers for, and their origins."""
    shim = read_shim(source, tree)
    return {row.name: row.origin for row in shim.rows or ()} if shim is not None else {}


def marked_table(source: Source, tree: ast.Module) -> ast.Assign | None:
    # # codemods: shim narrow_reexport
    # _MOVED = {...}
    if MARKER not in source.text:
        return None
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            line = statement.lineno - 1
            while line > 0 and source.line(line).startswith("#"):
                if source.line(line).rstrip() == MARKER:
                    return statement
                line -= 1
    return None


def rows_of(table: ast.Assign) -> list[Moved]:
    """The rows of a table. Raises ValueError where one is no `"name": ("module", "name", "version")`."""
    if not isinstance(table.value, ast.Dict):
        raise ValueError("the table is no dict")
    rows: list[Moved] = []
    for key, value in zip(table.value.keys, table.value.values, strict=True):
        name = key.value if isinstance(key, ast.Constant) else None
        row = ast.literal_eval(value)
        whole = isinstance(row, tuple) and len(row) == 3 and all(isinstance(part, str) for part in row)
        if not (isinstance(name, str) and whole):
            raise ValueError("a row is laid out otherwise")
        module, origin, removal = row
        if not all(part.isidentifier() for part in (name, origin, *module.split("."))):
            raise ValueError("a row names no symbol")
        rows.append(Moved(name, Symbol(module, origin), removal, value.lineno))
    return rows


def module_getattr(tree: ast.Module) -> tuple[ast.FunctionDef, ast.stmt] | None:
    """The `__getattr__` of a module, and the module-level statement that it stands in."""
    for statement in tree.body:
        inner: list[ast.stmt] = [statement]
        if isinstance(statement, ast.If):
            # if not TYPE_CHECKING: def __getattr__(name)        if TYPE_CHECKING: ... else: def __getattr__(name)
            test = ast.unparse(statement.test)
            if re.fullmatch(r"not (\w+\.)*TYPE_CHECKING", test):
                inner = statement.body
            elif re.fullmatch(r"(\w+\.)*TYPE_CHECKING", test):
                inner = statement.orelse
        for each in inner:
            if isinstance(each, ast.FunctionDef) and each.name == "__getattr__":
                return each, statement
    return None
