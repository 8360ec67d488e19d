"""What a run is asked for and what it answers.

Owns the types at the edges of the pipeline.
Invariant: it never reads a file; a `Result` holds every change as bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from codemods.engine.bans import FILE_NAME
from codemods.engine.config import NarrowOptions
from codemods.engine.errors import CodemodError
from codemods.engine.model import Failure, FileChange, ImportEdge, Mention, Refusal, Symbol, Warned
from codemods.engine.modules import Layout
from codemods.engine.project import Tree
from codemods.engine.stages import Clock
from codemods.narrow_reexport.context import FilePlan, Planner
from codemods.narrow_reexport.parts import Ground
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.reuse import Earlier
from codemods.narrow_reexport.scan import Scan


@dataclass(frozen=True, slots=True)
class Request:
    """One run: where, what, and how."""

    root: Path
    package: str
    symbols: tuple[str, ...]
    every: bool = False
    options: NarrowOptions = field(default_factory=NarrowOptions)
    also: tuple[Path, ...] = ()
    progress: Callable[[str, int, int], None] | None = None
    from_shims: bool = False  # the package is installed; only the call sites of the tree move
    python: str = ""  # the interpreter whose site-packages hold it
    plan: str = ""  # a file with many requests, which takes the place of package and symbols
    wants_parts: bool = False  # say how the edited files stand to each other
    planner: Planner | None = None  # plans files in place of this machine, or takes their plans from elsewhere
    shared_out: bool = False  # the planner has a share of the files alone: stop when it has planned them
    clock: Clock = field(default_factory=Clock, compare=False)  # where the time goes, for --profile


@dataclass(frozen=True, slots=True)
class StillLoaded:
    """What `import package` still loads of an origin, and through which chain of imports."""

    symbol: Symbol
    origin: str
    chain: tuple[ImportEdge, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a run, before anything is written."""

    package: str
    resolutions: tuple[Resolution, ...] = ()
    changes: tuple[tuple[Path, tuple[FileChange, ...]], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    errors: tuple[CodemodError, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    warnings: tuple[Warned, ...] = ()
    mentions: tuple[Mention, ...] = ()
    accepted: tuple[Refusal, ...] = ()
    still: tuple[StillLoaded, ...] = ()
    dropped: tuple[tuple[str, tuple[str, ...]], ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    searched: int = 0
    outside: tuple[str, ...] = ()  # modules of origins that are not in the tree
    installed: str = ""  # where the package lies whose shims were read
    inits: tuple[str, ...] = ()  # the `__init__` and its stubs
    rows: tuple[Request, ...] = ()  # the runs that this one was made of, each with its symbols by name
    grounds: tuple[Ground, ...] = ()  # what decides how the call sites stand to each other, if that was asked for
    asked: tuple[tuple[str, object], ...] = ()  # what the command line said besides the options

    @property
    def files(self) -> int:
        """How many files change, `narrowed.toml` aside."""
        return sum(change.path != FILE_NAME for _, changes in self.changes for change in changes)


@dataclass(slots=True)
class Checkout:
    """One tree of a run: the one that holds the package, or one given with `--also`."""

    root: Path
    tree: Tree
    layout: Layout
    plans: dict[str, FilePlan] = field(default_factory=dict)
    sources: dict[str, bytes] = field(default_factory=dict)
    scan: Scan | None = None
    earlier: Earlier = field(default_factory=Earlier)


def accepted_sites(request: Request) -> frozenset[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for spelled in request.options.accept:
        path, _, line = spelled.rpartition(":")
        found.add((path.replace("\\", "/").removeprefix("./"), int(line)))
    return frozenset(found)
