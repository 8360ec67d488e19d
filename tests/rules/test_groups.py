"""Which offences are mended together."""

from __future__ import annotations

import pytest

from codemods.engine.model import Edit
from codemods.rules.groups import collide, independent


def edit(start: int, end: int, text: str = "") -> Edit:
    return Edit("main.py", start, end, text)


@pytest.mark.parametrize(
    ("some", "other", "wanted"),
    [
        (edit(0, 5), edit(5, 9), False),
        (edit(0, 5), edit(4, 9), True),
        (edit(3, 3, "a"), edit(3, 3, "b"), True),
        (edit(3, 3, "a"), edit(3, 9), False),
        (edit(1, 2), edit(1, 2), True),
    ],
)
def test_edits_collide_where_they_overlap_or_insert_at_one_place(some: Edit, other: Edit, wanted: bool) -> None:
    assert collide([some], [other]) == wanted


def test_statements_with_edits_of_their_own_are_apart() -> None:
    by_line = {1: edit(0, 5), 2: edit(10, 15)}
    groups = independent([frozenset({1}), frozenset({2})], frozenset(), lambda lines: tuple(by_line[n] for n in lines))
    assert [group.lines for group in groups] == [{1}, {2}]


def test_uses_that_share_an_import_are_together() -> None:
    shared = edit(0, 0, "import pkg.sub\n")

    def by_line(line: int) -> tuple[Edit, ...]:
        return (edit(50, 60),) if line == 1 else (shared, edit(line * 100, line * 100 + 3))

    def plan(lines: frozenset[int]) -> tuple[Edit, ...]:
        return tuple(sorted({each for line in lines for each in by_line(line)}))

    groups = independent([frozenset({1})], frozenset({5, 6}), plan)
    assert sorted(sorted(group.lines) for group in groups) == [[1], [5, 6]]


def test_what_only_happens_together_is_one_group() -> None:
    # the import goes when the last of its readers has gone
    def plan(lines: frozenset[int]) -> tuple[Edit, ...]:
        return tuple(edit(n * 10, n * 10 + 1) for n in sorted(lines)) + ((edit(0, 3),) if len(lines) == 3 else ())

    [group] = independent([frozenset({1})], frozenset({2, 3}), plan)
    assert group.lines == {1, 2, 3}
    assert edit(0, 3) in group.edits


def test_statements_on_one_line_are_one() -> None:
    groups = independent([frozenset({1}), frozenset({1})], frozenset(), lambda lines: (edit(0, 5),))
    assert [group.lines for group in groups] == [{1}]
