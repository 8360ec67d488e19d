"""Import cycles around an edit: which modules are worth simulating, and which cycles an edit would lay bare.

Owns the strongly connected parts of an import graph and the comparison of two graphs by simulated imports.
Invariant: it never reads a file, never imports anything, and never recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codemods.engine.eager_reads import Reads
from codemods.engine.graph import Fault, ImportGraph, Process, parents
from codemods.engine.outline import Event, FromImports, Imports


def unmasked_cycles(before: ImportGraph, after: ImportGraph, entries: Iterable[str]) -> tuple[Fault, ...]:
    """The imports that fail after the edit and did not before, each failing statement once."""
    found: dict[tuple[str, int, str], Fault] = {}
    entries = tuple(entries)
    for graph in (before, after):
        for ring in rings(graph, [entry for entry in entries if graph.module(entry)]):
            for name in ring if len(ring) > 1 else ():
                if holds_modules(graph, name, ring):
                    before.watch(name)
                    after.watch(name)
    for entry in entries:
        if before.module(entry) and after.module(entry):
            fault = after.simulate(entry)
            if fault and (fault.module, fault.line, fault.name) not in found and not before.simulate(entry):
                found[fault.module, fault.line, fault.name] = fault
    return tuple(found.values())


def risky_entries(graph: ImportGraph, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that are worth simulating: on a cycle in which one module imports a name from another.

    A module that its parent package loads anyway is left out where the parent is one of `names`: importing the
    module begins with the parent, and so fails or succeeds with it.
    """
    wanted = {name for name in names if graph.module(name)}
    loads: dict[str, frozenset[str] | None] = {}  # what a package loads, None where it fails
    risky: set[str] = set()
    for ring in rings(graph, sorted(wanted)):
        if len(ring) < 2 or not any(
            _takes_name(graph, name, ring) or (holds_modules(graph, name, ring) and _reads(graph, name, ring))
            for name in ring
        ):
            continue
        for name in ring & wanted:
            for parent in (parent for parent in parents(name) if parent in wanted):
                if parent not in loads:
                    process = Process(graph)
                    loads[parent] = None if process.run(parent) else frozenset(process.bound)
                loaded = loads[parent]
                if loaded is None or name in loaded:
                    risky.add(parent)
                    break
            else:
                risky.add(name)
    return tuple(sorted(risky))


def _steps(graph: ImportGraph, name: str) -> tuple[str, ...]:
    """The modules of the tree that an import statement of `name` may start, packages around them included.

    The packages around `name` itself have started before it: only a statement that names one leads there.
    """
    around = {name, *parents(name)}
    found: dict[str, None] = {}
    for edge in graph.edges(name):
        if edge.line:
            found[edge.imported] = None
            found.update((parent, None) for parent in parents(edge.imported) if parent not in around)
    return tuple(step for step in found if graph.module(step))


def _takes_name(graph: ImportGraph, name: str, ring: frozenset[str]) -> bool:
    """Whether `name` imports from another module of its ring something that is not a submodule."""
    for event in graph.outline(name).events:
        if (
            isinstance(event, FromImports)
            and event.module in ring - {name}
            and not all(graph.submodule(event.module, found) for found, _ in event.names)
        ):
            return True
    return False


def holds_modules(graph: ImportGraph, name: str, ring: frozenset[str]) -> bool:
    """Whether `name` imports another module of its ring as a module, from which it may read attributes."""
    return any(_held(graph, event) & (ring - {name}) for event in graph.outline(name).events)


def _held(graph: ImportGraph, event: Event) -> set[str]:
    # import a.b as c        from a import b
    if isinstance(event, Imports):
        return {event.module}
    if isinstance(event, FromImports):
        return {f"{event.module}.{found}" for found, _ in event.names if graph.submodule(event.module, found)}
    return set()


def _reads(graph: ImportGraph, name: str, ring: frozenset[str]) -> bool:
    """Whether `name` reads an attribute of another module of its ring as it is imported."""
    return any(isinstance(event, Reads) and event.module in ring - {name} for event in graph.watch(name))


def rings(graph: ImportGraph, roots: Iterable[str]) -> Iterator[frozenset[str]]:
    """The strongly connected components that can be reached from `roots` (Tarjan, with an explicit stack)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: dict[str, None] = {}
    for root in roots:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        open_[root] = None
        work = [(root, iter(_steps(graph, root)))]
        while work:
            name, steps = work[-1]
            for step in steps:
                if step not in order:
                    order[step] = low[step] = len(order)
                    open_[step] = None
                    work.append((step, iter(_steps(graph, step))))
                    break
                if step in open_:
                    low[name] = min(low[name], order[step])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    ring = set()
                    while name not in ring:
                        ring.add(open_.popitem()[0])
                    yield frozenset(ring)
