"""Which offences of a file are mended together, and which each by itself.

Owns the question of independence: what a person may take up one by one, answering yes here and no there.
Invariant: a group's edits are those that the codemod plans for its lines alone, and all groups together make exactly the
edits for the whole file; where that cannot be had, there is one group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codemods.engine.model import Edit

Planned = Callable[[frozenset[int]], tuple[Edit, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """Lines whose offences are mended together, and how."""

    lines: frozenset[int]
    edits: tuple[Edit, ...]


def independent(spans: Sequence[frozenset[int]], uses: frozenset[int], planned: Planned) -> tuple[Group, ...]:
    """The groups of one package's offences. `spans`: the lines of each import statement; `uses`: lines of all else."""
    everything = frozenset().union(*spans, uses)
    whole = planned(everything)
    apart = [*spans, *(frozenset({line}) for line in sorted(uses))]
    imports_apart = [*spans, uses] if uses else []
    for start in (apart, imports_apart):
        groups = _merged(_joined(start), planned)
        if sorted({edit for group in groups for edit in group.edits}) == sorted(set(whole)):
            return tuple(groups)
    return (Group(everything, whole),)


def _merged(lines: Sequence[frozenset[int]], planned: Planned) -> list[Group]:
    groups = [Group(each, planned(each)) for each in lines]
    while True:
        pair = next(
            (
                (upper, lower)
                for number, upper in enumerate(groups)
                for lower in groups[number + 1 :]
                if collide(upper.edits, lower.edits)
            ),
            None,
        )
        if pair is None:
            return groups
        both = pair[0].lines | pair[1].lines
        groups = [group for group in groups if group not in pair] + [Group(both, planned(both))]


def _joined(spans: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Spans that share no line: `from a import x; from b import y` is one."""
    joined: list[frozenset[int]] = []
    for span in spans:
        for other in [each for each in joined if each & span]:
            joined.remove(other)
            span |= other
        joined.append(span)
    return joined


def collide(some: Sequence[Edit], others: Sequence[Edit]) -> bool:
    """Whether edits overlap, or say one thing twice, or insert at one place."""
    return any(
        (edit.start, edit.end) == (other.start, other.end) or (edit.start < other.end and other.start < edit.end)
        for edit in some
        for other in others
    )
