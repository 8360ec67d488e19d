"""Any executor gives what a serial run gives, in its order, also if workers die."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from codemods.engine import executors
from codemods.engine.executors import Packed, Remote, chunks, each_on
from codemods.engine.parallel import each
from codemods.engine.release import OtherRelease

JOBS = [(f"f{at}.py", bytes(at % 7)) for at in range(50)]


def measured(path: str, data: bytes, shared: dict[str, int]) -> tuple[str, int]:
    return path, len(data) + shared["more"]


def fatal(path: str, data: bytes, parent: int) -> str:
    """Ends the worker, and works where it is called in the end."""
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def wrong(path: str, data: bytes, shared: object) -> str:
    raise ValueError(path)


WANTED = [measured(path, data, {"more": 3}) for path, data in JOBS]


@pytest.mark.parametrize(
    "make",
    [lambda: ThreadPoolExecutor(4), lambda: ProcessPoolExecutor(2, get_context("spawn"))],
    ids=["threads", "processes"],
)
def test_an_executor_of_the_standard_library_gives_what_a_serial_run_gives(make: Callable[[], Executor]) -> None:
    with make() as executor:
        assert list(each(measured, JOBS, {"more": 3}, executor)) == WANTED
        assert list(each(measured, [], {"more": 3}, executor)) == []


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_what_killed_workers_lose_is_done_here() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        assert list(each_on(executor, fatal, JOBS, os.getpid())) == [path for path, _ in JOBS]
        # the pool takes nothing more
        assert list(each_on(executor, measured, JOBS, {"more": 3})) == WANTED


def test_an_error_of_the_function_is_no_loss() -> None:
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match=r"f0\.py"):
        list(each_on(executor, wrong, JOBS, None))


def test_a_worker_with_other_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    here = threading.get_ident()
    real = executors.release
    monkeypatch.setattr(executors, "release", lambda: real() if threading.get_ident() == here else "codemods 0.0.1")
    with ThreadPoolExecutor(1) as executor, pytest.raises(OtherRelease, match=r"runs codemods 0\.0\.1, and this is"):
        list(each_on(executor, measured, JOBS, {"more": 3}))


def test_chunks_keep_the_order_and_hold_few_files_and_few_bytes() -> None:
    jobs = [*JOBS, ("large.py", bytes(1 << 20)), ("last.py", b"")]
    found = list(chunks(jobs))
    assert [job for chunk in found for job in chunk] == jobs
    assert max(map(len, found)) == 16
    assert [("large.py", bytes(1 << 20))] in found


def test_a_packed_value_is_unpacked_once() -> None:
    packed = Packed.of({"more": 3})
    assert packed.value() is packed.value()
    assert Packed.of({"more": 4}).value() == {"more": 4}


class Gone(Exception):
    pass


class Losing(Remote):
    """Answers some calls; loses the others in one way or another."""

    losses = (Gone,)

    def __init__(self, *ways: str) -> None:
        self.ways = ways
        self.calls = 0
        self.counted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        way = self.ways[self.calls % len(self.ways)]
        self.calls += 1
        if way == "refuses":
            raise BrokenExecutor
        future: Future[Any] = Future()
        if way == "answers":
            future.set_result(fn(*args, **kwargs))
        elif way == "raises":
            future.set_exception(Gone())
        elif way == "cancels":
            future.cancel()
        return future  # or nobody ever answers

    def share(self, value: object) -> Packed:
        if "shares nothing" in self.ways:
            raise OSError
        return Packed.of(value)

    def lives(self) -> bool:
        return False

    def lost(self, jobs: int) -> None:
        self.counted += jobs


@pytest.mark.parametrize("way", ["answers", "refuses", "raises", "cancels", "is silent", "shares nothing"])
def test_whatever_a_remote_executor_loses_is_done_here_and_counted(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PATIENCE", 0.01)
    remote = Losing("answers", way)
    assert list(each_on(remote, measured, JOBS, {"more": 3})) == WANTED
    assert (remote.counted == 0) == (way == "answers")


def test_a_reader_that_stops_early_cancels_the_rest() -> None:
    remote = Losing("answers", "is silent")
    made: list[Future[Any]] = []
    submit = remote.submit
    remote.submit = lambda *args, **kwargs: made.append(submit(*args, **kwargs)) or made[-1]  # type: ignore[method-assign,func-returns-value]
    reader = each_on(remote, measured, JOBS, {"more": 3})
    assert next(reader) == WANTED[0]
    reader.close()
    assert [future.cancelled() for future in made] == [False, True, False, True]
