"""Who brings what: each module of a closure under the one module without which it would not be loaded.

Owns the tree of a closure as nested nodes with counts, for `--tree`.
Invariant: every module stands in it once; third-party packages count by their top-level name, the standard library not at all.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from codemods.import_cost.dominators import children, dominators
from codemods.import_cost.loads import Loads


@dataclass(frozen=True, slots=True)
class Node:
    """A module, whether it is of the tree, and what only it brings. `size` counts the tree's modules, itself included."""

    name: str
    in_tree: bool
    size: int
    children: tuple[Node, ...]


def dominator_tree(loads: Loads, start: str) -> Node:
    """The tree of `import start`, the biggest branches first."""
    graph = _collapsed(loads, start)
    below = children(dominators(start, graph.__getitem__))
    built: dict[str, Node] = {}
    for name in reversed(_order(below, start)):  # children first; a deep chain must not exhaust the stack
        inner = sorted((built[each] for each in below.get(name, ())), key=lambda node: (-node.size, node.name))
        own = loads.in_tree(name)
        built[name] = Node(name, own, int(own) + sum(node.size for node in inner), tuple(inner))
    return built[start]


def _order(below: Mapping[str, list[str]], start: str) -> list[str]:
    found = [start]
    for name in found:  # grows as it goes
        found += below.get(name, ())
    return found


def _collapsed(loads: Loads, start: str) -> dict[str, tuple[str, ...]]:
    graph: dict[str, tuple[str, ...]] = {}
    todo = [start]
    while todo:
        name = todo.pop()
        if name in graph:
            continue
        onward = loads.successors(name) if loads.graph.module(name) is not None else ()
        names = (each if loads.graph.module(each) is not None else each.partition(".")[0] for each in onward)
        kept = (each for each in names if loads.graph.module(each) or each not in sys.stdlib_module_names)
        graph[name] = tuple(dict.fromkeys(kept))
        todo += graph[name]
    return graph
