"""The baseline: today's number is accepted, a higher one is not, and it falls only."""

from __future__ import annotations

import json

import pytest

from codemods.check_narrowed.baseline import (
    FOLDER,
    Baseline,
    configured_baseline,
    decode_baseline,
    encode_baseline,
    read_baseline,
    shrunk,
    with_folder,
    with_today,
    within_baseline,
)
from codemods.check_narrowed.offence import Offence
from codemods.engine.errors import BadConfiguration, Unreadable
from codemods.engine.model import Site
from tests.narrow_reexport.verbs import tree

ACCEPTED = Baseline({("p:a", "x.py"): 2, ("p:b", "x.py"): 1, ("p:a", "y.py"): 3})


def sites(symbol: str, path: str, number: int) -> list[Offence]:
    return [Offence(Site(path, line + 1, 0, ""), symbol, "call-site", "") for line in range(number)]


def test_as_many_as_accepted_are_accepted_and_one_more_reports_all() -> None:
    fewer, same, more = sites("p:a", "y.py", 2), sites("p:b", "x.py", 1), sites("p:a", "x.py", 3)
    assert within_baseline([*fewer, *same, *more], ACCEPTED) == {*fewer, *same}
    assert within_baseline(sites("p:b", "y.py", 1), ACCEPTED) == frozenset()


def test_numbers_fall_to_today_and_never_rise() -> None:
    today = [*sites("p:a", "x.py", 5), *sites("p:a", "y.py", 1)]
    assert shrunk(ACCEPTED, today).accepted == {("p:a", "x.py"): 2, ("p:a", "y.py"): 1}


def test_files_that_were_not_looked_at_keep_their_numbers() -> None:
    assert shrunk(ACCEPTED, [], ["y.py"]).accepted == {("p:a", "x.py"): 2, ("p:b", "x.py"): 1}


def test_only_symbols_without_a_number_are_added() -> None:
    today = [*sites("p:a", "z.py", 1), *sites("p:c", "z.py", 2), *sites("p:d", "z.py", 2)]
    assert with_today(ACCEPTED, today, {"p:a", "p:c"}).accepted == {**ACCEPTED.accepted, ("p:c", "z.py"): 2}


def test_it_is_written_sorted_and_read_back() -> None:
    data = encode_baseline(ACCEPTED)
    assert data == encode_baseline(Baseline(dict(reversed(ACCEPTED.accepted.items()))))
    assert data.decode().splitlines()[:6] == [
        "{",
        '  "version": 1,',
        '  "accepted": {',
        '    "p:a": {',
        '      "x.py": 2,',
        '      "y.py": 3',
    ]
    assert decode_baseline(data, "b.json") == ACCEPTED


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "is no baseline of version 1"),
        (b'{"version": 2, "accepted": {}}', "is no baseline of version 1"),
        (b'{"version": 1, "accepted": {}, "more": 1}', "is no baseline of version 1"),
        (b'{"version": 1, "accepted": []}', "is to map symbols"),
        (b'{"version": 1, "accepted": {"p:a": 3}}', "is to map symbols"),
        (b'{"version": 1, "accepted": {"p:a": {"x.py": 0}}}', "is to map symbols"),
        (b'{"version": 1, "accepted": {"p:a": {"x.py": true}}}', "is to map symbols"),
    ],
)
def test_what_is_not_understood_is_an_error(data: bytes, detail: str) -> None:
    with pytest.raises(BadConfiguration, match=detail) as error:
        decode_baseline(data, "b.json")
    assert error.value.path == "b.json"


def test_the_configuration_names_it() -> None:
    config = '[tool.codemods.check_narrowed]\nbaseline = "b.json"\n'
    with tree({"pyproject.toml": config, "b.json": encode_baseline(ACCEPTED)}) as root:
        assert configured_baseline(root) == ACCEPTED
        (root / "b.json").unlink()
        with pytest.raises(Unreadable, match="baseline cannot be read"):
            configured_baseline(root)
        (root / "pyproject.toml").unlink()
        assert configured_baseline(root) == Baseline()
        with pytest.raises(Unreadable):
            read_baseline(root, "b.json")


def test_the_files_of_the_folder_count_together_and_beside_the_baseline() -> None:
    one, two = ({"version": 1, "accepted": {"p:a": {"x.py": number}}} for number in (1, 2))
    files = {f"{FOLDER}/02-a.json": json.dumps(one), f"{FOLDER}/03-b.json": json.dumps(two), f"{FOLDER}/README": "x"}
    with tree(files) as root:
        assert with_folder(root, Baseline()).accepted == {("p:a", "x.py"): 3}
        assert with_folder(root, ACCEPTED).accepted == {**ACCEPTED.accepted, ("p:a", "x.py"): 5}
        assert configured_baseline(root).accepted == {("p:a", "x.py"): 3}
        (root / FOLDER / "02-a.json").write_text("[]")
        with pytest.raises(BadConfiguration, match="02-a"):
            with_folder(root, Baseline())
    with tree({"x.py": ""}) as root:
        assert with_folder(root, ACCEPTED) == ACCEPTED
