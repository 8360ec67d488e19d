"""One pure function over many files, on all cores.

Owns the worker processes. The shared argument goes to each worker once.
Invariant: results come back in the order of the jobs, the same as a serial run gives.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
S = TypeVar("S")

_shared: list[Any] = []


def each(
    function: Callable[[str, bytes, S], T],
    jobs: Sequence[tuple[str, bytes]],
    shared: S,
    executor: Executor | None = None,
) -> Iterator[T]:
    """`function(path, data, shared)` for each (path, data): on processes of our own, or on any executor."""
    if executor is not None:
        from codemods.engine.executors import each_on

        yield from each_on(executor, function, jobs, shared)
        return
    workers = min(_cores(), len(jobs))
    if workers < 2:
        for path, data in jobs:
            yield function(path, data, shared)
        return
    # fork where there is one: the modules are loaded already, and this process has no threads
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    size = max(1, min(32, len(jobs) // (workers * 4)))
    with ProcessPoolExecutor(workers, multiprocessing.get_context(method), _start, (shared,)) as pool:
        yield from pool.map(
            _call, [function] * len(jobs), [path for path, _ in jobs], [data for _, data in jobs], chunksize=size
        )


def _start(shared: object) -> None:
    _shared[:] = [shared]


def _call(function: Callable[[str, bytes, S], T], path: str, data: bytes) -> T:
    return function(path, data, _shared[0])


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
