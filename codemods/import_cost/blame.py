"""Which import of a module is to blame for what it loads: what would be saved without it.

Owns the cost of each origin that a module imports from.
Invariant: it counts on the graph alone; what a call site would load by itself once the re-export is gone stays loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codemods.engine.outline import FromImports
from codemods.import_cost.loads import Loads, Taken, handed_on


@dataclass(frozen=True, slots=True)
class Cost:
    """What one origin costs a module: `saved` would not be loaded if the module did not import from it."""

    module: str
    taken: Taken
    saved: frozenset[str]


def costs(loads: Loads, module: str) -> tuple[Cost, ...]:
    """The cost of each origin that `module` imports from, the most costly first."""
    whole = loads.closure(module)
    takers = _takers(loads, module, whole)
    found = []
    for taken in loads.taken(module):
        extra = _moved(loads, taken, takers)
        saved = whole - loads.closure(module, loads.edges_of(module, taken), extra)
        found.append(Cost(module, taken, saved))
    return tuple(sorted(found, key=lambda cost: (-len(cost.saved), cost.taken.lines[0], cost.taken.origin)))


def _takers(loads: Loads, package: str, inside: Iterable[str]) -> dict[str, set[str]]:
    """Who of `inside` takes which name from the package as it is imported: name -> modules."""
    found: dict[str, set[str]] = {}
    for module in inside:
        for event in loads.graph.outline(module).events if loads.in_tree(module) else ():
            if isinstance(event, FromImports) and event.module == package and module != package:
                for name, _ in event.names:
                    found.setdefault(name, set()).add(module)
    return found


def _moved(loads: Loads, taken: Taken, takers: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    """The imports that call sites get when they take the names from their origin."""
    modules = {module for name in handed_on(loads, taken) for module in takers.get(name, ())}
    return {module: frozenset({taken.origin}) for module in modules}
