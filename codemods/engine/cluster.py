"""A Dask cluster as a `concurrent.futures.Executor`: `dask://HOST:PORT`.

Owns the connection: what is said where there is no `distributed`, nobody who answers, no worker, or another version.
Invariant: it starts and stops no cluster, and leaves nothing behind on one that was there.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from codemods.engine.errors import CodemodError
from codemods.engine.executors import Handle, Packed, Remote
from codemods.engine.release import OtherRelease, release
from codemods.engine.split import MissingExtra

T = TypeVar("T")

SCHEME = "dask://"
_CONNECT = 10  # seconds for the scheduler to answer
_WORKERS = 30  # seconds for the first worker to be there
_FETCH = 120  # seconds for the results of a few files
_SILENT = (OSError, ValueError, asyncio.TimeoutError)  # before Python 3.11 a timeout is no OSError


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
    except _SILENT as error:
        hint = "start a scheduler there (`dask scheduler`), or leave --executor out"
        raise NoCluster(f"nobody answers at {spelled}", hint=hint) from error
    try:
        _check(client, spelled)
        found = Cluster(client)
        try:
            yield found
        finally:
            found.forget()
    finally:
        client.close(timeout=_CONNECT)


class Cluster(Remote):
    """The workers of a cluster; `done_here` counts the jobs that they lost."""

    def __init__(self, client: Any) -> None:
        from distributed import KilledWorker

        self.losses = (KilledWorker, asyncio.CancelledError, asyncio.TimeoutError)
        self.done_here = 0
        self._client = client
        self._name = f"codemods-{client.id}"
        self._shares = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a call on some worker."""
        # the client's own executor never ends a call whose result was lost on the way
        inner = self._client.submit(fn, *args, pure=False, **kwargs)
        outer: Future[T] = Future()
        inner.add_done_callback(lambda done: _pass_on(done, outer))
        outer.add_done_callback(lambda done: inner.cancel() if done.cancelled() else None)
        return outer

    def share(self, value: object) -> Handle:
        """Give the value to every worker, once; it takes the place of the one before."""
        from codemods.engine.cluster_values import Bringer, Held

        packed = Packed.of(value)
        self._client.register_plugin(Bringer(packed), name=self._name)
        self._shares = True
        return Held(packed.key)

    def forget(self) -> None:
        """Take the value away again."""
        if self._shares:
            with contextlib.suppress(*_SILENT):  # the cluster is gone
                self._client.unregister_worker_plugin(self._name)

    def lives(self) -> bool:
        """Whether the scheduler is there, and has a worker."""
        try:
            return bool(self._client.nthreads())
        except _SILENT:
            return False

    def lost(self, jobs: int) -> None:
        """Take note of jobs that were done here."""
        self.done_here += jobs


def _pass_on(done: Any, outer: Future[T]) -> None:
    if not outer.set_running_or_notify_cancel():
        return
    try:
        result = done.result(timeout=_FETCH)
    except BaseException as error:  # noqa: BLE001  # whatever it is, the one who waits gets it
        outer.set_exception(error)
    else:
        outer.set_result(result)


def _check(client: Any, spelled: str) -> None:
    """There is a worker, and every one runs this code. Raises CodemodError."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS)
        found: dict[str, Any] = client.run(release, on_error="return")
    except _SILENT as error:
        hint = "start workers (`dask worker HOST:PORT`) in an environment with the same codemods"
        raise NoCluster(f"the cluster at {spelled} has no worker", hint=hint) from error
    for worker, runs in sorted(found.items()):
        if isinstance(runs, ImportError) or (isinstance(runs, Exception) and "ModuleNotFoundError" in str(runs)):
            hint = f"install {release()} there"
            raise NoCluster(f"the worker {worker} cannot import codemods: {runs}", hint=hint) from runs
        if isinstance(runs, BaseException):
            raise NoCluster(f"the worker {worker} does not work: {runs!r}") from runs
        if runs != release():
            detail = f"the worker {worker} runs {runs}, and this is {release()}"
            raise OtherRelease(detail, hint="install the same there")
