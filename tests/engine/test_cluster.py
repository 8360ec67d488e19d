"""A Dask cluster of two worker processes gives what a serial run gives, also if a worker is killed."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from codemods.engine.cluster import NoCluster, address_of, cluster
from codemods.engine.parallel import each
from codemods.engine.release import OtherRelease, release
from codemods.engine.split import MissingExtra

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

JOBS = [(f"f{at}.py", bytes(at % 7)) for at in range(70)]


def measured(path: str, data: bytes, shared: dict[str, int]) -> tuple[str, int]:
    return path, len(data) + shared["more"]


def slow(path: str, data: bytes, shared: dict[str, int]) -> tuple[str, int]:
    time.sleep(0.05)
    return measured(path, data, shared)


def who(path: str, data: bytes, shared: object) -> int:
    return os.getpid()


def fatal_there(path: str, data: bytes, here: int) -> str:
    if path == "f20.py" and os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def _block() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "codemods"]:
        del sys.modules[name]
    sys.modules["codemods"] = None  # type: ignore[assignment]


def _age() -> None:
    from codemods.engine import release as module

    module.release = lambda: "codemods 0.0.1"


@contextlib.contextmanager
def workers() -> Iterator[Any]:
    few = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(few),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    with workers() as found:
        yield found


def at(local: Any) -> str:
    return str(local.scheduler_address).replace("tcp://", "dask://")


def test_two_worker_processes_give_what_a_serial_run_gives_and_a_killed_one_is_survived(local: Any) -> None:
    with cluster(at(local)) as executor:
        assert list(each(measured, JOBS, {"more": 3}, executor)) == [(p, len(d) + 3) for p, d in JOBS]
        assert len(set(each(who, JOBS, None, executor)) - {os.getpid()}) == 2
        assert executor.done_here == 0
        # every worker that gets that chunk dies, until the scheduler gives it up
        assert list(each(fatal_there, JOBS, os.getpid(), executor)) == [path for path, _ in JOBS]
        assert 0 < executor.done_here <= len(JOBS)


def test_workers_without_this_code_are_named() -> None:
    with workers() as old, distributed.Client(old, set_as_default=False) as client:
        client.run(_age)
        with (
            pytest.raises(OtherRelease, match=r"worker tcp://\S+ runs codemods 0\.0\.1, and this is"),
            cluster(at(old)),
        ):
            pass
        client.run(_block)
        with pytest.raises(NoCluster, match=r"worker tcp://\S+ cannot import codemods"), cluster(at(old)):
            pass


def test_a_cluster_without_workers_and_one_that_nobody_runs_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemods.engine.cluster._CONNECT", 1)
    monkeypatch.setattr("codemods.engine.cluster._WORKERS", 1)
    with pytest.raises(NoCluster, match=r"nobody answers at dask://127\.0\.0\.1:1"), cluster("dask://127.0.0.1:1"):
        pass
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as empty,
        pytest.raises(NoCluster, match="has no worker"),
        cluster(at(empty)),
    ):
        pass


def test_the_last_worker_is_gone_for_good_and_the_rest_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemods.engine.executors._PATIENCE", 0.2)
    with workers() as dying, cluster(at(dying)) as executor:
        results = each(slow, JOBS, {"more": 3}, executor)
        first = next(results)
        dying.scale(0)
        assert [first, *results] == [(path, len(data) + 3) for path, data in JOBS]
        assert executor.done_here > 0


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match="needs the package `distributed`") as caught, cluster("dask://a:1"):
        pass
    assert caught.value.hint == "install codemods[dask]"


@pytest.mark.parametrize(
    ("spelled", "wanted"),
    [
        ("dask://host:8786", "host:8786"),
        ("dask://10.0.0.1:1/", "10.0.0.1:1"),
        ("dask://[::1]:8786", "[::1]:8786"),
        ("dask://host", ""),
        ("tcp://host:1", ""),
        ("dask://a b:1", ""),
    ],
)
def test_an_address(spelled: str, wanted: str) -> None:
    assert address_of(spelled) == wanted


def test_this_process_is_left_as_it_was(local: Any) -> None:
    before = release()
    with cluster(at(local)):
        assert release() == before
    with pytest.raises(ValueError, match="No client"):
        distributed.default_client()
