"""Where the time of a run goes: a clock that charges every moment to the innermost stage.

Owns the stages' names in the order in which they began, and the peak of memory.
Invariant: the shares of all stages sum to the whole; nothing else reads the clock, so that no verdict depends on time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_HAS_USAGE = sys.platform != "win32"
if _HAS_USAGE:
    import resource

START, REST = "start", "other"


@dataclass(frozen=True, slots=True)
class Share:
    """What one stage took: seconds on the wall, and seconds of processor of this process and its finished workers."""

    stage: str
    wall: float
    cpu: float


class Clock:
    """A run's stages, inner ones not counted to the outer; what happens outside of all is `other`."""

    def __init__(self) -> None:
        """What the process did so far is the stage `start`: Python itself, and what it has imported."""
        spent = time.process_time()
        self._spent: dict[str, list[float]] = {START: [spent, spent]}
        self._open = [REST]
        self._last = (time.perf_counter(), _cpu())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Charge what runs inside to `name`."""
        self._charge()
        self._open.append(name)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def shares(self) -> tuple[Share, ...]:
        """All stages so far."""
        self._charge()
        rest = self._spent.pop(REST, None)
        if rest is not None:
            self._spent[REST] = rest  # last
        return tuple(Share(name, wall, cpu) for name, (wall, cpu) in self._spent.items())

    def _charge(self) -> None:
        now = (time.perf_counter(), _cpu())
        spent = self._spent.setdefault(self._open[-1], [0.0, 0.0])
        spent[0] += now[0] - self._last[0]
        spent[1] += now[1] - self._last[1]
        self._last = now


def profile_lines(shares: tuple[Share, ...], peak: tuple[int, int]) -> list[str]:
    """The table that `--profile` prints."""
    wall, cpu = sum(share.wall for share in shares), sum(share.cpu for share in shares)
    lines = [f"{'stage':<14} {'share':>6} {'wall':>9} {'CPU':>9}"]
    for share in shares:
        part = 100 * share.cpu / cpu if cpu else 0.0
        lines.append(f"{share.stage:<14} {part:>5.1f}% {share.wall:>7.2f} s {share.cpu:>7.2f} s")
    lines.append(f"{'all':<14} {'':>6} {wall:>7.2f} s {cpu:>7.2f} s")
    if any(peak):
        workers = f", largest worker {peak[1] / 2**20:,.0f} MiB" if peak[1] else ""
        lines.append(f"peak memory {peak[0] / 2**20:,.0f} MiB{workers}")
    return lines


def peak_memory() -> tuple[int, int]:
    """The largest resident size so far in bytes: of this process, and of the largest of its finished children."""
    if not _HAS_USAGE:
        return (0, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (own * unit, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit)


def _cpu() -> float:
    if not _HAS_USAGE:
        return time.process_time()  # workers are not seen there
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
