"""Who brings in whom alone: the dominator tree of a directed graph.

Owns immediate dominators (the algorithm of Cooper, Harvey and Kennedy) and the tree that they make.
Invariant: it knows nothing of imports, never recurses, and answers the same for the same order of successors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

Successors = Callable[[str], Iterable[str]]


def dominators(start: str, successors: Successors) -> dict[str, str]:
    """The immediate dominator of each node that `start` reaches, but `start` itself, in depth-first order.

    Node `d` dominates `n` where every way from `start` to `n` leads through `d`: without `d`, `n` would not be loaded.
    """
    order = _postorder(start, successors)
    number = {node: index for index, node in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for source in order:
        for target in successors(source):
            predecessors[number[target]].append(number[source])
    top = len(order) - 1  # the start comes last in postorder
    above = [-1] * len(order)
    above[top] = top
    changed = True
    while changed:
        changed = False
        for index in range(top - 1, -1, -1):
            found = -1
            for each in predecessors[index]:
                if above[each] != -1:
                    found = each if found == -1 else _meet(each, found, above)
            if above[index] != found:
                above[index] = found
                changed = True
    return {order[index]: order[above[index]] for index in range(top - 1, -1, -1)}


def children(immediate: Mapping[str, str]) -> dict[str, list[str]]:
    """The dominator tree downwards: a node -> the nodes right below it. Leaves are not keys."""
    found: dict[str, list[str]] = {}
    for node, above in immediate.items():
        found.setdefault(above, []).append(node)
    return found


def sums(immediate: Mapping[str, str], start: str, weight: Mapping[str, int]) -> dict[str, int]:
    """For each node the weights of itself and of all that it dominates."""
    found = {node: weight.get(node, 0) for node in (start, *immediate)}
    for node in reversed(list(immediate)):  # what dominates a node stands before it
        found[immediate[node]] += found[node]
    return found


def _postorder(start: str, successors: Successors) -> list[str]:
    order: list[str] = []
    seen = {start}
    todo = [(start, iter(successors(start)))]
    while todo:
        node, rest = todo[-1]
        for each in rest:
            if each not in seen:
                seen.add(each)
                todo.append((each, iter(successors(each))))
                break
        else:
            order.append(node)
            todo.pop()
    return order


def _meet(one: int, other: int, above: list[int]) -> int:
    """The nearest node that dominates both; a dominator has the larger postorder number."""
    while one != other:
        while one < other:
            one = above[one]
        while other < one:
            other = above[other]
    return one
