"""Worker processes: the same results in the same order, and never a hang, whatever happens to them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.engine import parallel
from codemods.engine.errors import Unreadable, WorkerLost

JOBS = [(f"file{number}.py", b"x" * number) for number in range(50)]
PROJECT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


def length(path: str, data: bytes, shared: int) -> tuple[str, int, int]:
    return path, len(data) + shared, os.getpid()


def killed_at_30(path: str, data: bytes, shared: int) -> int:
    if path == "file30.py" and os.getpid() != shared:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(data)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_cores", _two)


def _two() -> int:
    return 2


def _one() -> int:
    return 1


def test_results_come_in_the_order_of_the_jobs_from_other_processes() -> None:
    found = list(parallel.each(length, JOBS, 1))
    assert [(path, size) for path, size, _ in found] == [(path, len(data) + 1) for path, data in JOBS]
    assert os.getpid() not in {process for _, _, process in found}


FILES = dict(JOBS)


@posix
def test_many_files_are_read_by_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_MANY", len(FILES))
    monkeypatch.setattr(parallel, "_AT_ONCE", 7)
    monkeypatch.setattr(threading, "active_count", _one)  # another test may have left some
    read_here: list[str] = []

    def read(path: str) -> bytes:  # a closure reaches them by the fork alone
        read_here.append(path)
        return FILES[path]

    found = [found for _, found in parallel.each_read(length, [*FILES], read, 1)]
    assert [(path, size) for path, size, _ in found] == [(path, len(data) + 1) for path, data in JOBS]
    assert os.getpid() not in {process for _, _, process in found}
    assert not read_here


def odd(path: str, data: bytes, shared: int) -> int | None:
    return len(data) + shared if len(data) % 2 else None


@posix
@pytest.mark.parametrize("many", [1, 1000])
@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_files_in_which_nothing_was_found_are_left_out(
    monkeypatch: pytest.MonkeyPatch, many: int, at_once: int
) -> None:
    monkeypatch.setattr(parallel, "_MANY", many)
    monkeypatch.setattr(parallel, "_AT_ONCE", at_once)
    monkeypatch.setattr(threading, "active_count", _one)
    found = list(parallel.each_read(odd, [*FILES], FILES.__getitem__, 1))
    assert found == [(path, len(data) + 1) for path, data in JOBS if len(data) % 2]


@posix
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_MANY", len(FILES))
    monkeypatch.setattr(threading, "active_count", _one)

    def read(path: str) -> bytes:
        raise Unreadable("cannot be read", path=path)

    with pytest.raises(Unreadable) as caught:
        list(parallel.each_read(length, [*FILES], read, 1))
    assert caught.value.path == "file0.py"
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("why", ["few files", "no fork", "threads"])
def test_files_are_read_here_where_that_is_quicker_or_safer(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    monkeypatch.setattr(parallel, "_MANY", len(FILES) + (why == "few files"))
    monkeypatch.setattr(parallel, "_forks", lambda: why != "no fork")
    done = threading.Event()
    beside = threading.Thread(target=done.wait)
    if why == "threads":
        beside.start()
    found = [found for _, found in parallel.each_read(length, [*FILES], FILES.__getitem__, 1)]
    done.set()
    assert {process for _, _, process in found} == {os.getpid()}
    assert [size for _, size, _ in found] == [len(data) + 1 for _, data in JOBS]


@posix
def test_a_killed_worker_is_an_error_that_names_the_files() -> None:
    with pytest.raises(WorkerLost, match="ended from outside") as caught:
        list(parallel.each(killed_at_30, JOBS, os.getpid()))
    assert "file" in caught.value.hint and "--exclude" in caught.value.hint
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    "error",
    [OSError(11, "Resource temporarily unavailable"), ImportError("sem_open"), RuntimeError("can't start new thread")],
)
def test_where_no_process_can_be_started_the_jobs_are_done_here(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", refused)
    assert {process for _, _, process in parallel.each(length, JOBS, 1)} == {os.getpid()}


@posix
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="forks are made elsewhere")
def test_a_refused_fork_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    forks = 0
    real = os.fork

    def second_refused() -> int:
        nonlocal forks
        forks += 1
        if forks > 1:
            raise OSError(11, "Resource temporarily unavailable")
        return real()

    monkeypatch.setattr(os, "fork", second_refused)
    assert {process for _, _, process in parallel.each(length, JOBS, 1)} == {os.getpid()}
    assert forks == 2


@posix
def test_no_worker_is_left_when_the_results_are_not_wanted_any_more() -> None:
    found: Iterator[object] = parallel.each(length, JOBS, 1)
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()


@posix
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_worker_is_left_when_the_parent_is_killed(number: signal.Signals) -> None:
    code = (
        "import os, time\n"
        "from codemods.engine import parallel\n"
        "from tests.engine.test_parallel import JOBS, _two, say_and_wait\n"
        "parallel._cores = _two\n"
        "list(parallel.each(say_and_wait, JOBS, 0))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=PROJECT, text=True) as parent:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()) for _ in range(2)}
        parent.send_signal(number)
        parent.wait()
        until = time.monotonic() + 60
        while any(_lives(worker) for worker in workers):
            assert time.monotonic() < until, "a worker is left"
            time.sleep(0.1)


def say_and_wait(path: str, data: bytes, shared: int) -> None:
    os.write(1, f"{os.getpid()}\n".encode())  # in one piece, also where output is not buffered
    time.sleep(100)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
