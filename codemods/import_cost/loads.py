"""The eager import graph as sets: what an import loads, and what it would load without some edges or with others.

Owns the questions that are asked many times over: closures, shortest chains, and what a module imports, by origin.
Invariant: it reads no file but through the graph that it is given, and changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codemods.engine.graph import ImportGraph
from codemods.engine.outline import FromImports, Imports

Pairs = frozenset[tuple[str, str]]  # (importer, imported)
_NOTHING: Mapping[str, frozenset[str]] = {}


@dataclass(frozen=True, slots=True)
class Taken:
    """What a module imports from one origin: all names together, since each alone saves nothing.

    `targets` are the modules that these statements load by themselves: the origin, or submodules taken from it.
    """

    origin: str
    names: tuple[str, ...]
    lines: tuple[int, ...]
    targets: frozenset[str]


class Loads:
    """The graph of one tree. Names of modules that are not in the tree are kept as they are spelled."""

    def __init__(self, graph: ImportGraph) -> None:
        self.graph = graph
        self._successors: dict[str, tuple[str, ...]] = {}
        self._taken: dict[str, tuple[Taken, ...]] = {}

    def successors(self, module: str) -> tuple[str, ...]:
        """What a module loads directly, its parent package first."""
        if module not in self._successors:
            self._successors[module] = tuple(dict.fromkeys(edge.imported for edge in self.graph.edges(module)))
        return self._successors[module]

    def closure(
        self, start: str, without: Pairs = frozenset(), extra: Mapping[str, frozenset[str]] = _NOTHING
    ) -> frozenset[str]:
        """Every module that `import start` loads, if the edges `without` were not there and the `extra` ones were."""
        cut = {importer for importer, _ in without}
        seen = {start}
        todo = [start]
        while todo:
            module = todo.pop()
            found = self.successors(module)
            if module in cut:
                found = tuple(each for each in found if (module, each) not in without)
            if module in extra:
                found = (*found, *extra[module])
            for each in found:
                if each not in seen:
                    seen.add(each)
                    todo.append(each)
        return frozenset(seen)

    def taken(self, module: str) -> tuple[Taken, ...]:
        """What a module imports, by origin, in the order of the first statements."""
        if module not in self._taken:
            self._taken[module] = self._found_taken(module)
        return self._taken[module]

    def _found_taken(self, module: str) -> tuple[Taken, ...]:
        by_line: dict[int, set[str]] = {}
        for edge in self.graph.edges(module):
            by_line.setdefault(edge.line, set()).add(edge.imported)
        names: dict[str, dict[str, None]] = {}
        lines: dict[str, dict[int, None]] = {}
        targets: dict[str, set[str]] = {}

        def add(origin: str, bound: str, line: int, *loaded: str) -> None:
            if bound:
                names.setdefault(origin, {})[bound] = None
            lines.setdefault(origin, {})[line] = None
            targets.setdefault(origin, set()).update(each for each in loaded if each in by_line.get(line, ()))

        for event in self.graph.outline(module).events:
            if isinstance(event, Imports):
                add(event.module, event.bound, event.line, event.module)
            elif isinstance(event, FromImports):
                for name, bound in event.names:
                    below = f"{event.module}.{name}"
                    if below in by_line.get(event.line, ()):
                        add(below, bound, event.line, below, event.module)  # from . import sub
                    else:
                        add(event.module, bound, event.line, event.module, *self.graph.lazily(event.module, name))
        return tuple(
            Taken(origin, tuple(names.get(origin, ())), tuple(lines[origin]), frozenset(targets[origin]))
            for origin in lines
            if targets[origin]
        )

    def edges_of(self, module: str, taken: Taken) -> Pairs:
        """The edges that go when a module no longer imports from one origin."""
        shared = {each for other in self.taken(module) if other.origin != taken.origin for each in other.targets}
        # the packages around the module run whatever it imports
        gone = (target for target in taken.targets - shared if not module.startswith(f"{target}."))
        return frozenset((module, target) for target in gone)

    def in_tree(self, name: str) -> bool:
        """Whether a module lies in the tree, as a file."""
        module = self.graph.module(name)
        return module is not None and bool(module.path)

    def of_tree(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the modules that lie in the tree, sorted."""
        return tuple(sorted(name for name in names if self.in_tree(name)))


def third_party(names: frozenset[str], loads: Loads, beside: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The top-level names of the modules that are neither in the tree nor of the standard library, sorted.

    Those that `beside` loads, too, are left out.
    """
    tops = {name.partition(".")[0] for name in names if loads.graph.module(name) is None}
    tops -= {name.partition(".")[0] for name in beside}
    return tuple(sorted(top for top in tops if top not in sys.stdlib_module_names and loads.graph.module(top) is None))


def exported(loads: Loads, taken: Taken) -> tuple[str, ...]:
    """The names that others may take from the importer; what `import a.b` binds, and a future import, is no re-export."""
    top = taken.origin.partition(".")[0]
    if taken.origin == "__future__" or (taken.names == (top,) and "." in taken.origin and loads.in_tree(taken.origin)):
        return ()
    return taken.names


def handed_on(loads: Loads, taken: Taken) -> frozenset[str]:
    """What call sites may spell to take something from the importer because of this import.

    A star of the importer hands on what its origin binds; a star of the call site takes every name without an underscore.
    """
    names = set(taken.names)
    if "*" in names:
        names |= loads.graph.ever_bound(taken.origin)
    names.discard("*")
    return frozenset(names | {"*"} if any(not name.startswith("_") for name in names) else names)
