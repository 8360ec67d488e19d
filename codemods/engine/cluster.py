"""A Dask cluster as a `concurrent.futures.Executor`: `dask://HOST:PORT`.

Owns the connection: what is said where there is no `distributed`, nobody who answers, no worker, or another version.
Invariant: it starts and stops no cluster, and leaves nothing behind on one that was there.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from codemods.engine.errors import CodemodError
from codemods.engine.executors import Remote
from codemods.engine.release import OtherRelease, release
from codemods.engine.split import MissingExtra

T = TypeVar("T")

SCHEME = "dask://"
_CONNECT = 10  # seconds for the scheduler to answer
_WORKERS = 30  # seconds for the first worker to be there


class NoCluster(CodemodError):
    """The cluster cannot be reached, or cannot work."""


def address_of(spelled: str) -> str:
    """The `HOST:PORT` of an address; empty where it is none."""
    found = re.fullmatch(r"dask://((?:\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):[0-9]{1,5})/?", spelled)
    return found[1] if found else ""


@contextlib.contextmanager
def cluster(spelled: str) -> Iterator[Cluster]:
    """The cluster at an address, whose workers run the same code as this process. Raises CodemodError."""
    try:
        from distributed import Client
    except ImportError as error:
        hint = "install codemods[dask]"
        raise MissingExtra(f"--executor {SCHEME}... needs the package `distributed`", hint=hint) from error
    try:
        client = Client(address_of(spelled), timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        hint = "start a scheduler there (`dask scheduler`), or leave --executor out"
        raise NoCluster(f"nobody answers at {spelled}", hint=hint) from error
    try:
        _check(client, spelled)
        yield Cluster(client)
    finally:
        client.close(timeout=_CONNECT)


class Cluster(Remote):
    """The workers of a cluster; `done_here` counts the jobs that they lost."""

    def __init__(self, client: Any) -> None:
        from distributed import KilledWorker

        self.losses = (KilledWorker,)
        self.done_here = 0
        self._client = client
        self._executor: Executor = client.get_executor(pure=False)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a call on some worker."""
        return self._executor.submit(fn, *args, **kwargs)

    def share(self, value: object) -> object:
        """Give the value to every worker, once."""
        return self._client.scatter(value, broadcast=True, hash=False)

    def lives(self) -> bool:
        """Whether the scheduler is there, and has a worker."""
        try:
            return bool(self._client.nthreads())
        except (OSError, ValueError):
            return False

    def lost(self, jobs: int) -> None:
        """Take note of jobs that were done here."""
        self.done_here += jobs


def _check(client: Any, spelled: str) -> None:
    """There is a worker, and every one runs this code. Raises CodemodError."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS)
        found: dict[str, Any] = client.run(release, on_error="return")
    except OSError as error:
        hint = "start workers (`dask worker HOST:PORT`) in an environment with the same codemods"
        raise NoCluster(f"the cluster at {spelled} has no worker", hint=hint) from error
    for worker, runs in sorted(found.items()):
        if isinstance(runs, ImportError):
            hint = f"install {release()} there"
            raise NoCluster(f"the worker {worker} cannot import codemods: {runs}", hint=hint) from runs
        if isinstance(runs, BaseException):
            raise NoCluster(f"the worker {worker} does not work: {runs!r}") from runs
        if runs != release():
            detail = f"the worker {worker} runs {runs}, and this is {release()}"
            raise OtherRelease(detail, hint="install the same there")
