"""The stopwatch of long jobs."""

from __future__ import annotations

from codemods.engine.clock import Clock


def test_each_thing_has_its_seconds_and_all_have_theirs() -> None:
    times = iter([0.0, 1.5, 4.0, 10.0, 10.25, 11.0])
    clock = Clock(True, lambda: next(times))
    clock.done("a")
    clock.done("b")
    assert clock.lines("patch") == ["patch a: 1.50 s", "patch b: 2.50 s", "patch in all: 4.00 s"]
    clock.done("c")
    assert clock.lines("branch") == ["branch c: 0.25 s", "branch in all: 0.25 s"]


def test_switched_off_or_with_nothing_done_it_says_nothing() -> None:
    quiet = Clock(False)
    quiet.done("a")
    assert quiet.lines("list") == Clock(True).lines("list") == []
