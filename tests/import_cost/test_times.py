"""Measured times along the dominator tree."""

from __future__ import annotations

import json

from codemods.import_cost.measure import Measured, Probed, Step, Timed
from codemods.import_cost.picture import picture
from codemods.import_cost.times import elsewhere, exclusive, times_fields, times_text
from tests.import_cost.trees import HEAVY, loads_of

PICTURE = picture(loads_of(HEAVY), "pkg")
TIMED = (
    Timed("numpy.linalg", 40, 3),
    Timed("numpy", 60, 3),
    Timed("pkg.shared", 5, 2),
    Timed("pkg.light", 2, 1),
    Timed("torch.nn", 300, 2),
    Timed("torch", 700, 2),
    Timed("json", 9, 1),
    Timed("pkg.models.model", 20, 2),
    Timed("transformers", 1000, 3),
    Timed("pkg.heavy", 3, 1),
    Timed("pkg", 1, 0),
)


def measured(*probes: Probed) -> Measured:
    return Measured("pkg", "python3", (2500, 2100, 9000, 2200, 2150), TIMED, probes)


def test_exclusive_time_is_what_would_be_saved_without_the_module() -> None:
    found = exclusive(measured(), PICTURE)
    assert found["torch"] == (1000, 1000)
    assert found["pkg.heavy"] == (3, 3 + 1000 + 20 + 1000)
    # shared by two: on nobody's account but its own
    assert found["pkg.light"] == (2, 2)
    assert found["pkg.shared"] == (5, 105)
    assert found["pkg"] == (1, measured().total_us - 9)


def test_what_is_not_in_the_picture_is_stated() -> None:
    assert elsewhere(measured(), PICTURE) == 9


def test_the_report_says_that_code_was_run_and_sorts_by_what_would_be_saved() -> None:
    text = times_text(measured(), PICTURE)
    assert text.startswith("This ran the target's code: `import pkg`, 6 times, with python3.")
    assert "import pkg: 2.1 ms for 6 modules and 3 third-party packages" in text
    assert "the 5 runs took 2.1 ms to 9.0 ms" in text
    rows = [line.split() for line in text.splitlines()[5:]]
    assert [row[5] for row in rows][:3] == ["pkg", "pkg.heavy", "pkg.models.model"]
    assert rows[1][:5] == ["2.0", "ms", "0.0", "ms", "3"]
    assert "torch  (third-party)" in text


def test_the_report_tells_each_outcome_of_a_probe_apart() -> None:
    stack = tuple(Step(f"a{number}.py", number, "f") for number in range(12))
    text = times_text(
        measured(
            Probed("a.b", False, False, 0, ()),
            Probed("a.c", True, False, 0, ()),
            Probed("a.d", True, True, 0, ()),
            Probed("a.e", True, True, 2, stack),
        ),
        PICTURE,
    )
    assert "a.b: not called; its module was not loaded\n" in text
    assert "a.c: not known;" in text
    assert "a.d: not called\n" in text
    assert "a.e: CALLED by the import, 2 times" in text
    assert text.endswith("    a11.py:11 in f\n") and "... 4 more" in text and "a3.py" not in text


def test_without_timed_runs_there_is_no_table() -> None:
    found = Measured("pkg", "python3", (), (), (Probed("a.d", True, True, 0, ()),))
    assert times_text(found, PICTURE) == (
        "This ran the target's code: `import pkg`, once, with python3.\n\na.d: not called\n"
    )


def test_the_same_is_there_as_plain_data() -> None:
    found = measured(Probed("a.e", True, True, 2, (Step("a.py", 3, "f"),)))
    fields = json.loads(json.dumps(times_fields(found, PICTURE)))
    parts = {part["name"]: (part["self_us"], part["exclusive_us"]) for part in fields["parts"]}
    assert parts == exclusive(found, PICTURE)
    assert fields["total_us"] - fields["elsewhere_us"] == parts["pkg"][1]
    assert fields["calls"][0]["stack"] == [{"path": "a.py", "line": 3, "function": "f"}]
    assert fields["ran"].startswith("This ran the target's code")
