"""The words of the command, and how its paths are written."""

from __future__ import annotations

import json
from pathlib import Path

from codemods.check_narrowed.offence import Offence
from codemods.check_narrowed.report import Report, Shown, as_github, as_json, as_text, error_annotation, error_lines
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import Site

HERE = Shown(Path("/tree"), Path("/tree"))
ONE = Offence(
    Site("a/b.py", 3, 4, "    pkg.sym"), "pkg:sym", "call-site", "pkg.sym was narrowed to pkg.sub:sym: write `x`"
)
ERROR = BadConfiguration("is wrong", path="narrowed.toml", line=7, text='"pkg:sym" = 1', hint="do better")


def plain(text: str, style: str) -> str:
    return text


def test_an_offence_is_a_line_that_editors_can_follow() -> None:
    lines = as_text(Report((ONE,), 10, 2), HERE, plain)
    assert lines[0] == "a/b.py:3:5: pkg:sym was narrowed to pkg.sub:sym: write `x`"
    assert lines[2] == "1 offence in 1 file (pkg:sym 1); 10 files checked against 2 rows"
    assert "--fix" in lines[3] and "lint-ignore" in lines[3]


def test_the_summary_names_the_most_frequent_symbols() -> None:
    many = tuple(Offence(ONE.site, f"pkg:s{number}", "call-site", "") for number in range(5))
    assert "pkg:s2 1, and 2 symbols more" in as_text(Report(many, 10, 2), HERE, plain)[-2]


def test_a_clean_tree_is_a_line_and_the_baseline_says_how_far_it_can_fall() -> None:
    assert as_text(Report((), 1, 1), HERE, plain) == ["1 file checked against 1 row: clean"]
    told = as_text(Report((), 1, 1, accepted=3, loose=2, baseline="b.json"), HERE, plain)
    assert told[1:] == ["3 offences accepted by b.json", "b.json can shrink by 2: run with --update-baseline"]


def test_what_was_fixed_and_what_was_not_is_told_apart() -> None:
    report = Report((ONE,), 9, 1, fixed=("c.py",), mended=2, wrote=True, left={"a/b.py": ["a reason"]})
    lines = as_text(report, HERE, plain)
    assert lines[1] == "a/b.py: not fixed: a reason"
    assert lines[3] == "fixed 2 offences, in 1 file"
    assert "for you to change" in lines[-1]
    assert json.loads(as_json(report, HERE))["offences"][0]["reasons"] == ["a reason"]


def test_paths_are_written_from_where_the_reader_is() -> None:
    assert Shown(Path("/top/tree"), Path("/top"))("a.py") == "tree/a.py"
    assert Shown(Path("/tree"), Path("/tree/a"))("a/b.py") == "b.py"
    assert Shown(Path("/tree"), Path("/tree/a"))("c.py") == "../c.py"


def test_programs_get_everything_with_lines_and_columns_from_one() -> None:
    document = json.loads(as_json(Report((ONE,), 10, 2), HERE, exit_code=1))
    assert document["schema_version"] == 1
    assert document["offences"] == [
        {"path": "a/b.py", "line": 3, "column": 5, "symbol": "pkg:sym", "kind": "call-site", "message": ONE.message}
    ]
    failed = json.loads(as_json(Report((), 0, 0), HERE, [ERROR], 3))
    assert failed["errors"] == [{"path": "narrowed.toml", "line": 7, "message": "is wrong", "hint": "do better"}]


def test_github_gets_annotations() -> None:
    (line,) = as_github(Report((ONE,), 1, 1), HERE)
    assert line.startswith("::error file=a/b.py,line=3,col=5,title=check_narrowed%3A call-site::pkg.sym was narrowed")
    assert error_annotation(ERROR, HERE).startswith("::error file=narrowed.toml,line=7,")


def test_an_error_names_its_place_the_line_and_the_way_out() -> None:
    assert error_lines(ERROR, Shown(Path("/t"), Path("/t/a")), plain) == [
        "error: ../narrowed.toml:7: is wrong",
        '    "pkg:sym" = 1',
        "    do better",
    ]
    assert error_lines(BadConfiguration("bad"), HERE, plain) == ["error: bad"]
