"""How long each part of a long job took.

Owns the stopwatch of `--verbose`, and its lines.
Invariant: what is measured does not depend on it; switched off it says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """A stopwatch that is told whenever something is done. `now` is the time in seconds."""

    def __init__(self, on: bool, now: Callable[[], float] = time.perf_counter) -> None:
        self._on = on
        self._now = now
        self._since = now()
        self._done: list[tuple[str, float]] = []

    def done(self, name: str) -> None:
        """What has run since the last call was this."""
        now = self._now()
        self._done.append((name, now - self._since))
        self._since = now

    def lines(self, what: str) -> list[str]:
        """A line for each thing that was done since the last lines, and one for all of them."""
        done, self._done = self._done, []
        self._since = self._now()
        if not self._on or not done:
            return []
        total = sum(seconds for _, seconds in done)
        return [*(f"{what} {name}: {seconds:.2f} s" for name, seconds in done), f"{what} in all: {total:.2f} s"]
