"""Questions in circles: each answer holds what any question of its circle holds, and no path is walked twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.once import Once

Graph = dict[int, list[int]]


def asked(graph: Graph, order: list[int]) -> tuple[dict[int, set[int]], int]:
    """What each node reaches, itself included, by asking; and how many steps that took."""
    once, steps = Once[int](), 0

    def reach(node: int) -> tuple[int, ...]:
        def find() -> Iterator[int]:
            nonlocal steps
            steps += 1
            yield node
            for after in graph[node]:
                yield from reach(after)

        return once(node, find)

    return {node: set(reach(node)) for node in order}, steps


def reached(graph: Graph, node: int) -> set[int]:
    seen, todo = {node}, [node]
    while todo:
        new = set(graph[todo.pop()]) - seen
        seen |= new
        todo += new
    return seen


GRAPHS = st.integers(1, 7).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)
)


@given(GRAPHS, st.randoms(use_true_random=False))
def test_an_answer_holds_all_that_can_be_reached_in_whatever_order_one_asks(
    edges: list[list[int]], random: object
) -> None:
    graph = dict(enumerate(edges))
    order = [*graph]
    random.shuffle(order)  # type: ignore[attr-defined]
    answers, _ = asked(graph, order)
    assert answers == {node: reached(graph, node) for node in graph}


@pytest.mark.parametrize("size", [40, 80])
def test_all_to_all_takes_as_many_steps_as_there_are_pairs_at_most(size: int) -> None:
    graph = {node: [*range(size)] for node in range(size)}
    answers, steps = asked(graph, [*graph])
    assert all(found == set(graph) for found in answers.values())
    assert steps <= 2 * size * size


def test_values_stand_in_the_order_in_which_they_were_found_and_once() -> None:
    once = Once[str]()
    assert once("q", lambda: ["b", "a", "b", *once("r", lambda: ["c", "a"])]) == ("b", "a", "c")


def test_a_question_that_fails_stays_open_for_the_next_try() -> None:
    once = Once[str]()

    def broken() -> list[str]:
        raise RecursionError

    with pytest.raises(RecursionError):
        once("q", broken)
    assert once("q", lambda: ["a"]) == ("a",)


def test_what_is_made_from_a_value_of_a_circle_is_found_too() -> None:
    once = Once[str]()
    made = {"": "f", "f": "g"}

    def value() -> tuple[str, ...]:  # x = step(x) or ""
        return once("x", lambda: [*(made[each] for each in value() if each in made), ""])

    assert set(value()) == {"", "f", "g"}


def test_a_circle_that_grows_for_ever_is_left_after_a_few_rounds() -> None:
    once = Once[int]()

    def value() -> tuple[int, ...]:  # x = x + 1 or 0
        return once("x", lambda: [0, *(each + 1 for each in value())])

    assert {0, 1} <= set(value())
