"""The nouns that every stage shares: symbols, sites, edits, refusals, results.

Owns the data types of the engine. Each is frozen, slotted and picklable, made of tuples and plain values.
Invariant: it never reads a file, never holds a syntax tree, and imports nothing of this project but `errors`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """A name in a module: `Symbol("pkg.sub", "sym")`, written `pkg.sub:sym`."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"

    @property
    def dotted(self) -> str:
        """The path as code spells it: `pkg.sub.sym`."""
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Module:
    """A module of the tree: its dotted name, its file (relative to the root, `/`-separated), whether it is a package.

    A namespace package (a folder without `__init__.py`) has an empty `path`.
    """

    name: str
    path: str
    is_package: bool

    @property
    def package(self) -> str:
        """The package that relative imports in this module start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def absolute(self, spelled: str) -> str:
        """The module that an import in this one names as `spelled`, dots included; empty beyond the top."""
        level = len(spelled) - len(spelled.lstrip("."))
        if not level:
            return spelled
        parts = self.package.split(".") if self.package else []
        if level > len(parts):
            return ""
        return ".".join(part for part in (*parts[: len(parts) - level + 1], spelled[level:]) if part)


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place in a file: path relative to the root, 1-based line, 0-based column in characters, the source line."""

    path: str
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters [start, end) of the decoded text of `path` by `text`. Offsets count characters."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """A site that stands in the way of `symbol`: why, and a way out. Any one blocks the whole write."""

    site: Site
    symbol: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True, order=True)
class Warned:
    """A site that may change behaviour; the run goes on, `--strict` turns it into a refusal."""

    site: Site
    symbol: str
    reason: str


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """Inert text that names the symbol (prose, a comment, a label): listed, left alone."""

    site: Site
    symbol: str


@dataclass(frozen=True, slots=True, order=True)
class Reached:
    """A place that reaches `symbol` through its package; `instead` is the code that reaches it at its origin."""

    site: Site
    symbol: str
    instead: str = ""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after, as bytes; `sites` counts the reference sites that were edited."""

    path: str
    before: bytes
    after: bytes
    sites: int = 0
    gone: bool = False  # the file goes away; only parts delete files, a run in a working tree never does


@dataclass(frozen=True, slots=True)
class Failure:
    """A postcondition that broke: our bug. Nothing is written."""

    check: str
    path: str
    detail: str


class When(Enum):
    """When an import statement runs."""

    EAGER = "eager"  # as the module is imported: module level, class bodies, `if`/`try`/`with`/loops there
    GUARDED = "guarded"  # eager, inside a `try` whose handler catches ImportError
    LATE = "late"  # in a function body: when it is called
    TYPING = "typing"  # under `if TYPE_CHECKING:`: never at run time


@dataclass(frozen=True, slots=True, order=True)
class ImportEdge:
    """`importer` imports `imported` at a line; `line` 0 is the implicit edge to a parent package."""

    importer: str
    imported: str
    path: str
    line: int

    def __str__(self) -> str:
        if not self.line:
            return f"{self.importer} runs its parent package {self.imported}"
        return f"{self.path}:{self.line} imports {self.imported}"
