"""Dominators against their definition: take a node away, and look what is no longer reached."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.import_cost.dominators import children, dominators, sums

Graph = dict[str, list[str]]


def reached(graph: Graph, start: str, without: str = "") -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        node = todo.pop()
        if node != without and node not in seen:
            seen.add(node)
            todo += graph[node]
    return seen


def by_definition(graph: Graph, start: str) -> dict[str, str]:
    """Each node's nearest dominator: the one that dominates the fewest nodes."""
    everything = reached(graph, start)
    lost = {node: everything - reached(graph, start, node) for node in everything}
    return {
        node: min((other for other in lost if other != node and node in lost[other]), key=lambda each: len(lost[each]))
        for node in everything - {start}
    }


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 14))
    ends = st.integers(0, size - 1)
    graph: Graph = {str(node): [] for node in range(size)}
    for source, target in draw(st.lists(st.tuples(ends, ends), max_size=size * 3)):
        graph[str(source)].append(str(target))
    return graph


@settings(max_examples=400, deadline=None)
@given(graphs())
def test_random_graphs_agree_with_taking_each_node_away(graph: Graph) -> None:
    assert dominators("0", graph.__getitem__) == by_definition(graph, "0")


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_what_a_node_dominates_is_what_is_lost_without_it(graph: Graph) -> None:
    found = dominators("0", graph.__getitem__)
    everything = reached(graph, "0")
    totals = sums(found, "0", dict.fromkeys(graph, 1))
    assert totals == {node: len(everything - reached(graph, "0", node)) for node in everything}


def test_what_two_bring_in_belongs_to_neither() -> None:
    graph = {"pkg": ["a", "b"], "a": ["shared", "own"], "b": ["shared"], "shared": [], "own": []}
    found = dominators("pkg", graph.__getitem__)
    assert found == {"a": "pkg", "b": "pkg", "shared": "pkg", "own": "a"}
    assert {above: sorted(below) for above, below in children(found).items()} == {
        "pkg": ["a", "b", "shared"],
        "a": ["own"],
    }


def test_a_long_chain_needs_no_recursion() -> None:
    graph = {str(node): [str(node + 1)] for node in range(20_000)} | {"20000": ["0"]}
    found = dominators("0", graph.__getitem__)
    assert len(found) == 20_000
    assert sums(found, "0", dict.fromkeys(graph, 1))["19000"] == 1001


def test_a_node_that_reaches_nothing_dominates_nothing() -> None:
    assert dominators("alone", lambda _: ()) == {}
