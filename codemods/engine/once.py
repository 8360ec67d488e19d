"""Questions that ask one another, each answered once: what may this name be, if it is made from others, and they from it?

Owns the circles. An answer is a set of values, in the order in which they were found. What leads back to an open question gets
what is known of it so far; if that has grown when the circle closes, it is gone round again, a few times.
Invariant: the time is that of the steps between questions, not of the paths.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

_WHOLE = sys.maxsize  # nothing was cut short
_ROUNDS = 3


class Once(Generic[T]):
    """What was answered, and what is being asked."""

    def __init__(self) -> None:
        self._open: dict[Hashable, int] = {}  # with its place in the stack
        self._so_far: dict[Hashable, tuple[T, ...]] = {}
        self._known: dict[Hashable, tuple[tuple[T, ...], int]] = {}  # with the lowest place that was cut short for it
        self._unsure: list[Hashable] = []  # of these, those that were cut short
        self._cut = _WHOLE

    def __call__(self, question: Hashable, find: Callable[[], Iterable[T]]) -> tuple[T, ...]:
        """The answer to a question: what `find` gives, which may ask others. Twenty names that are each made from all of
        the others have more paths between them than can be walked; asked this way, each is looked at once.
        """
        if question in self._known:
            answer, lowest = self._known[question]
            self._cut = min(self._cut, lowest)
            return answer
        if question in self._open:
            self._cut = min(self._cut, self._open[question])
            return self._so_far[question]
        here, before, first = len(self._open), self._cut, len(self._unsure)
        found: tuple[T, ...] = ()
        for _ in range(_ROUNDS):
            self._cut = _WHOLE
            self._open[question], self._so_far[question] = here, found
            try:
                known, found = found, tuple(dict.fromkeys(find()))
            finally:
                del self._open[question], self._so_far[question]
                cut, self._cut = self._cut, min(before, self._cut if self._cut < here else _WHOLE)
            if cut != here or set(found) <= set(known):
                break  # no circle was entered here, or it has nothing new
            for each in self._unsure[first:]:
                del self._known[each]
            del self._unsure[first:]
        self._close(question, found, cut if cut < here else _WHOLE, first)
        return found

    def _close(self, question: Hashable, found: tuple[T, ...], lowest: int, first: int) -> None:
        within = self._unsure[first:]
        if lowest == _WHOLE:
            # what was cut short within may be more than was seen there: it is asked anew, and this answer is known then
            for each in within:
                del self._known[each]
            del self._unsure[first:]
        else:
            for each in within:
                values, at = self._known[each]
                self._known[each] = values, min(at, lowest)
            self._unsure.append(question)
        self._known[question] = found, lowest
