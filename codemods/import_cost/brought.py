"""Who brings what: each module of a closure under the one module without which it would not be loaded.

Owns the dominator tree of a closure, for `--tree` and for pictures.
Invariant: every module stands in it once; third-party packages count by their top-level name, the standard library not at all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
    owner = immediate_dominators(graph, start)
    below: dict[str, list[str]] = {}
    for name, by in owner.items():
        if name != start:
            below.setdefault(by, []).append(name)
    built: dict[str, Node] = {}
    for name in reversed(_order(below, start)):  # children first; a deep chain must not exhaust the stack
        children = sorted((built[each] for each in below.get(name, ())), key=lambda node: (-node.size, node.name))
        own = loads.in_tree(name)
        built[name] = Node(name, own, int(own) + sum(node.size for node in children), tuple(children))
    return built[start]


def immediate_dominators(graph: Mapping[str, tuple[str, ...]], start: str) -> dict[str, str]:
    """Cooper, Harvey and Kennedy's simple algorithm: for each node the last one that every way to it passes."""
    order = _postorder(graph, start)
    number = {name: index for index, name in enumerate(order)}
    into: dict[str, list[str]] = {}
    for name in order:
        for each in graph[name]:
            into.setdefault(each, []).append(name)
    owner = {start: start}
    changed = True
    while changed:
        changed = False
        for name in reversed(order[:-1]):
            found = ""
            for by in into[name]:
                if by in owner:
                    found = _meet(by, found, owner, number) if found else by
            if owner.get(name) != found:
                owner[name] = found
                changed = True
    return owner


def _meet(left: str, right: str, owner: Mapping[str, str], number: Mapping[str, int]) -> str:
    while left != right:
        while number[left] < number[right]:
            left = owner[left]
        while number[right] < number[left]:
            right = owner[right]
    return left


def _postorder(graph: Mapping[str, tuple[str, ...]], start: str) -> list[str]:
    found: list[str] = []
    seen = {start}
    stack: list[tuple[str, Iterator[str]]] = [(start, iter(graph[start]))]
    while stack:
        name, rest = stack[-1]
        for each in rest:
            if each not in seen:
                seen.add(each)
                stack.append((each, iter(graph[each])))
                break
        else:
            stack.pop()
            found.append(name)
    return found


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
