"""Why a module is loaded: shortest chains of imports, each with its places.

Owns breadth-first search over edges with places, forwards from one module and backwards to one.
Invariant: it looks at edges only, and a chain that it gives is one that the import system would follow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping

from codemods.engine.model import ImportEdge
from codemods.import_cost.loads import Loads, Pairs

Edges = Callable[[str], Iterable[ImportEdge]]
Chain = tuple[ImportEdge, ...]


class Shortest:
    """The shortest chains from one module to everything that it loads, found in one pass."""

    def __init__(self, edges: Edges, start: str) -> None:
        self._came: dict[str, ImportEdge] = {}
        todo = deque([start])
        while todo:
            for edge in edges(todo.popleft()):
                if edge.imported not in self._came and edge.imported != start:
                    self._came[edge.imported] = edge
                    todo.append(edge.imported)

    def to(self, target: str) -> Chain:
        """The chain to a module; empty where none leads there."""
        found: list[ImportEdge] = []
        while target in self._came:
            found.append(self._came[target])
            target = self._came[target].importer
        return tuple(reversed(found))


def changed_edges(loads: Loads, without: Pairs, extra: Mapping[str, Mapping[str, int]]) -> Edges:
    """The edges of a graph without some and with others: `extra` is importer -> imported -> line."""

    def edges(module: str) -> Iterable[ImportEdge]:
        for edge in loads.graph.edges(module):
            if (module, edge.imported) not in without:
                yield edge
        if module in extra:
            located = loads.graph.module(module)
            for imported, line in extra[module].items():
                yield ImportEdge(module, imported, located.path if located else "", line)

    return edges


def why(loads: Loads, start: str, target: str) -> tuple[Chain, ...]:
    """The chains from `start` to `target`, a shortest one for each first import that leads there; the shortest first.

    None where they are one: a cycle does not load again what is being loaded.
    """
    if start == target:
        return ()
    into: dict[str, list[ImportEdge]] = {}
    for module in loads.closure(start):
        for edge in loads.graph.edges(module):
            into.setdefault(edge.imported, []).append(edge)
    onward: dict[str, ImportEdge] = {}
    todo = deque([target])
    while todo:
        for edge in into.get(todo.popleft(), ()):
            # a chain does not come back to where it starts
            if edge.importer not in onward and edge.importer not in (target, start):
                onward[edge.importer] = edge
                todo.append(edge.importer)
    found: dict[str, Chain] = {}
    for edge in loads.graph.edges(start):
        if edge.imported not in found and (edge.imported == target or edge.imported in onward):
            chain = [edge]
            while chain[-1].imported != target:
                chain.append(onward[chain[-1].imported])
            found[edge.imported] = tuple(chain)
    return tuple(sorted(found.values(), key=lambda chain: (len(chain), chain[0].line)))
