"""One pure function over many files, on all cores.

Owns the worker processes. The shared argument goes to each worker once.
Invariant: results come back in the order of the jobs, the same as a serial run gives; no worker outlives this process, and
where no process can be started the jobs are done in this one.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from codemods.engine.errors import WorkerLost
from codemods.engine.memory import RARELY

T = TypeVar("T")
S = TypeVar("S")

_MANY = 2000  # files: fewer are read in less time than processes take to start
_AT_ONCE = 50  # files: to send each by itself costs more than to read it, where they are small

_shared: list[Any] = []


def each(
    function: Callable[[str, bytes, S], T],
    jobs: Sequence[tuple[str, bytes]],
    shared: S,
    executor: Executor | None = None,
) -> Iterator[T]:
    """`function(path, data, shared)` for each (path, data): on processes of our own, or on any executor.

    Raises WorkerLost where a process of our own was killed.
    """
    if executor is not None:
        from codemods.engine.executors import each_on

        yield from each_on(executor, function, jobs, shared)
        return
    workers = min(_cores(), len(jobs))
    pool = _pool(workers, shared) if workers > 1 else None
    if pool is None:
        for path, data in jobs:
            yield function(path, data, shared)
        return
    size = max(1, min(32, len(jobs) // (workers * 4)))
    done = 0
    # not `pool.map`: it cancels what is open as it is left, and Python before 3.12 has a thread of the pool stumble over that
    # if a worker ends at the same moment
    batches: deque[Future[list[T]]] = deque()
    try:
        batches.extend(pool.submit(_batch, function, jobs[at : at + size]) for at in range(0, len(jobs), size))
        while batches:
            for result in batches.popleft().result():
                yield result
                done += 1
    except BrokenProcessPool as error:
        among = [path for path, _ in jobs[done : done + size * workers]]
        hint = f"if memory ran out, take large files out with --exclude; it was at work on files from {among[0]} to {among[-1]}"
        raise WorkerLost("a worker process was ended from outside, perhaps since memory ran out", hint=hint) from error
    except BaseException:  # Ctrl-C, or nobody wants the rest: what is under way is of no use any more
        _end(pool)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def each_read(
    function: Callable[[str, bytes, S], T | None], paths: Sequence[str], read: Callable[[str], bytes], shared: S
) -> Iterator[tuple[str, T]]:
    """The same for files that are still to be read, by whoever looks at them; each path with what was found, if anything was.

    Where they are few, in this process. Anything can be shared: processes start with all that this one knows, or not at all
    (no `fork`, or threads beside).
    """
    if len(paths) < _MANY or not _forks() or threading.active_count() > 1:
        for path in paths:
            found = function(path, read(path), shared)
            if found is not None:
                yield path, found
        return
    # a job is named after its first file; the workers have the paths
    jobs = [(paths[at], b"%d" % at) for at in range(0, len(paths), _AT_ONCE)]
    for some in each(_found_in, jobs, (function, paths, read, shared)):
        for at, found in some:
            yield paths[at], found


def _found_in(
    _: str, start: bytes, shared: tuple[Callable[[str, bytes, S], Any], Sequence[str], Callable[[str], bytes], S]
) -> list[tuple[int, Any]]:
    function, paths, read, inner = shared
    every = range(int(start), min(int(start) + _AT_ONCE, len(paths)))
    found = ((at, function(paths[at], read(paths[at]), inner)) for at in every)
    return [(at, one) for at, one in found if one is not None]


def _forks() -> bool:
    """Whether a process of our own starts with all that this one knows."""
    return "fork" in multiprocessing.get_all_start_methods()


def _pool(workers: int, shared: object) -> ProcessPoolExecutor | None:
    """Workers that are running; None where no process can be started, or none can be talked to (no /dev/shm)."""
    # fork where there is one: the modules are loaded already, and this process has no threads
    method = "fork" if _forks() else "spawn"
    pool: ProcessPoolExecutor | None = None
    try:
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context(method), _start, (shared, os.getpid()))
        pool.submit(_cores).result()  # processes are started with the first job
    except (OSError, ImportError, NotImplementedError, RuntimeError):  # RuntimeError: no thread can be started
        if pool is not None:
            _end(pool)
            pool.shutdown(wait=False, cancel_futures=True)
        return None
    return pool


def _end(pool: ProcessPoolExecutor) -> None:
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()


def _start(shared: object, parent: int) -> None:
    # Ctrl-C reaches every process of a terminal; the parent alone decides, and ends its workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    with contextlib.suppress(RuntimeError):  # no more threads for this user
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    gc.freeze()  # what was there before is not looked through again and again
    gc.set_threshold(*RARELY)
    _shared[:] = [shared]


def _watch(parent: int) -> None:
    """End with the parent: one that was killed cannot end its workers."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _batch(function: Callable[[str, bytes, S], T], jobs: Sequence[tuple[str, bytes]]) -> list[T]:
    return [function(path, data, _shared[0]) for path, data in jobs]


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
