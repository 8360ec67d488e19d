"""A clock charges each moment to one stage, and the table says what the parts of a whole are."""

from __future__ import annotations

from codemods.engine.stages import REST, START, Clock, Share, profile_lines


def burn() -> None:
    sum(number * number for number in range(200_000))


def test_an_inner_stage_is_not_counted_to_the_outer() -> None:
    clock = Clock()
    with clock.stage("outer"), clock.stage("inner"):
        burn()
    spent = {share.stage: share.cpu for share in clock.shares()}
    assert spent["inner"] > 3 * spent["outer"]


def test_the_stages_come_in_the_order_in_which_they_began_and_the_rest_last() -> None:
    clock = Clock()
    with clock.stage("scan"):
        pass
    with clock.stage("plan"), clock.stage("coverage"):
        pass
    assert [share.stage for share in clock.shares()] == [START, "scan", "plan", "coverage", REST]


def test_a_stage_that_fails_ends_all_the_same() -> None:
    clock = Clock()
    try:
        with clock.stage("plan"):
            raise KeyError
    except KeyError:
        pass
    with clock.stage("write"):
        burn()
    spent = {share.stage: share.cpu for share in clock.shares()}
    assert spent["write"] > spent["plan"]


def test_the_table_gives_shares_of_processor_time_and_the_sums() -> None:
    lines = profile_lines((Share("scan", 1.0, 1.0), Share("plan", 2.0, 3.0)), (100 * 2**20, 0))
    assert [line.split() for line in lines] == [
        ["stage", "share", "wall", "CPU"],
        ["scan", "25.0%", "1.00", "s", "1.00", "s"],
        ["plan", "75.0%", "2.00", "s", "3.00", "s"],
        ["all", "3.00", "s", "4.00", "s"],
        ["peak", "memory", "100", "MiB"],
    ]
