"""What the planning of one file needs to know, and what it answers.

Owns the types between the pipeline and the planner; both are picklable, since files are planned in several processes.
Invariant: they hold values alone, no syntax tree and no open file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from codemods.engine.model import Edit, Mention, Module, Reached, Refusal, Site, Warned
from codemods.engine.modules import Layout
from codemods.narrow_reexport.resolve import Resolution


@dataclass(frozen=True, slots=True)
class Patched:
    """What becomes of the patches of one symbol: they move to its origin, unless something stands in the way."""

    name: str
    obstacle: str = ""  # why they cannot move
    hint: str = ""
    stays: bool = False  # the package keeps the name, and its patches with it (--callers-only)
    path: bool = False  # the origin's dotted path is the module once the run is done


@dataclass(frozen=True, slots=True)
class Faked:
    """A module that some test replaces in `sys.modules`, and what that does to one symbol."""

    module: str
    name: str
    reader: str  # a place that reads the symbol while that is on; empty where only imports may
    reason: str


class Resolutions(tuple[Resolution, ...]):
    """The symbols of a run. What every file asks of all of them is found once: a run may have a thousand, and as many files."""

    def __reduce__(self) -> tuple[object, ...]:
        return Resolutions, (tuple(self),)  # each process finds the rest for itself

    @cached_property
    def by_name(self) -> dict[str, Resolution]:
        return {found.symbol.name: found for found in self}

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self.by_name)

    @cached_property
    def moving(self) -> dict[str, Resolution]:
        """Those that are no submodules."""
        return {name: found for name, found in self.by_name.items() if not found.is_submodule}

    @cached_property
    def by_leaf(self) -> dict[str, dict[str, dict[str, Resolution]]]:
        """By the last name of a module, then by the module: the symbols still to be narrowed that come from there, by their names."""
        found: dict[str, dict[str, dict[str, Resolution]]] = {}
        for each in self:
            if not each.is_submodule and not each.narrowed:
                module = each.origin.module
                found.setdefault(module.rpartition(".")[2], {}).setdefault(module, {})[each.origin.name] = each
        return found

    @cached_property
    def origins(self) -> dict[str, frozenset[str]]:
        """By a name, the modules in which it is the origin of a symbol."""
        found: dict[str, set[str]] = {}
        for each in self:
            found.setdefault(each.origin.name, set()).add(each.origin.module)
        return {name: frozenset(modules) for name, modules in found.items()}

    @cached_property
    def shown(self) -> Resolutions:
        """For examples in documents: an optional re-export counts as there, as it does for a second run."""
        if not any(found.optional for found in self):
            return self
        return Resolutions(replace(found, optional=False) for found in self)

    @cached_property
    def to_list(self) -> tuple[str, ...]:
        """The names that a star in the `__init__` brings."""
        return tuple(found.symbol.name for found in self if found.starred and not found.narrowed)


@dataclass(frozen=True, slots=True)
class Context:
    """What the planning of any file needs to know of the rest of the tree."""

    package: Module
    resolutions: Resolutions
    layout: Layout
    hidden: frozenset[str]  # names that the package binds to something else than its submodule of that name
    lost: frozenset[str]  # modules that `import package` no longer loads
    carriers: tuple[tuple[tuple[str, str], str], ...]
    width: int
    early: frozenset[str] = frozenset()  # symbols whose origin somebody patches: reads may not become late
    risky: frozenset[str] = frozenset()  # modules that the origins load: a from-import there may close a cycle
    starred_modules: frozenset[str] = frozenset()  # modules that somebody star-imports
    star_reads: frozenset[tuple[str, str]] = frozenset()  # (module, name) read through a module that stars the package
    droppable: frozenset[tuple[str, str]] = frozenset()  # (path, name): imports that nobody else reads
    accepted: frozenset[tuple[str, int]] = frozenset()
    all_is_tuple: bool = False  # the package's `__all__` is a tuple
    guarding: bool = False  # the symbols are narrowed, or are to be: of a same-named one the use decides what is meant
    # (module, name): the `__init__` loads the module before it binds the name, which is a submodule until then
    unbound: frozenset[tuple[str, str]] = frozenset()
    left: frozenset[tuple[str, int, str]] = frozenset()  # (path, line, symbol): places that a person wants left alone
    verifying: bool = False  # the second pass, which looks for edits alone
    spared: frozenset[tuple[str, str]] = (
        frozenset()
    )  # (path, lost module): the file does not depend on the package for it
    patched: tuple[Patched, ...] = ()  # symbols that somebody patches through the package
    old_mock: bool = False  # the project runs on Pythons before 3.11, whose mock.patch() goes by attributes alone
    faked: tuple[Faked, ...] = ()
    # (name, path, line): late reads of a name that no patch of its origin can reach
    apart: frozenset[tuple[str, str, int]] = frozenset()
    star_takes: frozenset[str] = frozenset()  # lost modules that a star of their package took along
    rewrite_strings: bool = False  # strings and settings that are the path become the origin's path


@dataclass(frozen=True, slots=True)
class FilePlan:
    """The decisions for one file."""

    path: str
    edits: tuple[Edit, ...] = ()
    sites: int = 0
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[Warned, ...] = ()
    mentions: tuple[Mention, ...] = ()
    accepted: tuple[Refusal, ...] = ()
    reached: tuple[Reached, ...] = ()  # where the file reaches a symbol through the package
    unused: tuple[str, ...] = ()  # names of imports that nothing in the file reads any more
    rebinds: tuple[Site, ...] = ()
    notes: tuple[str, ...] = ()  # what a person has to do besides
    unparsed: bool = False  # the file does not parse; if it names the package and a symbol, a refusal says so
    settled: bool = False  # the edited file parses, and a second run is known to find nothing in it


# plans (path, data) pairs in a context, and gives the plans in their order
Planner = Callable[[Sequence[tuple[str, bytes]], Context], Iterable[FilePlan]]


def as_shown(context: Context) -> Context:
    """The context for examples in documents."""
    return replace(context, resolutions=context.resolutions.shown)
