"""One pure function over many files, on any `concurrent.futures.Executor`.

Owns the cut of the jobs into chunks, the way of the shared argument to the workers, and what becomes of chunks that got lost.
Invariant: results come back in the order of the jobs, the same as a serial run gives, whatever happens to the workers.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from codemods.engine.release import OtherRelease, release

T = TypeVar("T")
S = TypeVar("S")

Job = tuple[str, bytes]
Losses = tuple[type[BaseException], ...]

_MOST_FILES, _MOST_BYTES = 16, 1 << 18  # of a chunk: small enough for many workers, large enough to be worth a message
_PATIENCE = 5.0  # seconds between two looks at whether anybody is still at work
_LOST = (BrokenExecutor, CancelledError, OSError)  # the workers are to blame: the function does no input or output

_unpacked: dict[str, Any] = {}
_one_at_a_time = threading.Lock()


class Handle(Protocol):
    """What stands for the shared argument in a call."""

    def value(self) -> Any:
        """The argument. Raises OSError where it is lost."""


class Remote(Executor, ABC):
    """An executor on other machines, which has its own way to give them an argument once, and may lose them all."""

    losses: Losses = ()  # what a call raises whose worker is gone

    @abstractmethod
    def share(self, value: object) -> Handle:
        """Give the value to the workers."""

    @abstractmethod
    def lives(self) -> bool:
        """Whether there is a worker."""

    @abstractmethod
    def lost(self, jobs: int) -> None:
        """Take note of jobs that were done here, since the workers lost them."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A value on its way to a worker, which unpacks it once."""

    key: str
    data: bytes

    @staticmethod
    def of(value: object) -> Packed:
        """The value, packed."""
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        return Packed(hashlib.blake2b(data, digest_size=16).hexdigest(), data)

    def value(self) -> Any:
        """The value; the last one stays unpacked."""
        if self.key not in _unpacked:
            found = pickle.loads(self.data)
            _unpacked.clear()
            _unpacked[self.key] = found
        return _unpacked[self.key]


def each_on(executor: Executor, function: Callable[[str, bytes, S], T], jobs: Sequence[Job], shared: S) -> Iterator[T]:
    """`function(path, data, shared)` for each (path, data); what the executor loses is done here."""
    if not jobs:
        return
    remote = executor if isinstance(executor, Remote) else None
    losses: Losses = (*_LOST, *(remote.losses if remote is not None else ()))
    try:
        handle: Handle | None = Packed.of(shared) if remote is None else remote.share(shared)
    except losses:
        handle = None
    pending: list[tuple[list[Job], Future[list[T]] | None]] = []
    for chunk in chunks(jobs):
        pending.append((chunk, _submitted(executor, function, chunk, handle, losses) if handle is not None else None))
    try:
        for chunk, future in pending:
            found = _outcome(future, remote, losses) if future is not None else None
            if found is None:
                found = [function(path, data, shared) for path, data in chunk]
                if remote is not None:
                    remote.lost(len(chunk))
            yield from found
    finally:
        for _, future in pending:
            if future is not None:
                future.cancel()


def chunks(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """The jobs in their order, a few at a time."""
    chunk: list[Job] = []
    size = 0
    for path, data in jobs:
        if chunk and (len(chunk) == _MOST_FILES or size + len(data) > _MOST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append((path, data))
        size += len(data)
    if chunk:
        yield chunk


def _submitted(
    executor: Executor, function: Callable[[str, bytes, S], T], chunk: list[Job], handle: Handle, losses: Losses
) -> Future[list[T]] | None:
    try:
        return executor.submit(_call, function, chunk, handle, release())
    except losses:
        return None


def _outcome(future: Future[list[T]], remote: Remote | None, losses: Losses) -> list[T] | None:
    """The results of a chunk; None where it got lost."""
    try:
        while remote is not None and not wait([future], _PATIENCE).done:
            if not remote.lives():
                return None
        return future.result()
    except losses:
        return None


def _call(function: Callable[[str, bytes, S], T], chunk: list[Job], handle: Handle, wanted: str) -> list[T]:
    if release() != wanted:
        raise OtherRelease(f"a worker runs {release()}, and this is {wanted}", hint="install the same there")
    # the function is bound to the processor, so threads of one process win nothing; parsing changes the warning filters
    with _one_at_a_time:
        shared = handle.value()
        return [function(path, data, shared) for path, data in chunk]
