"""A ranking as a request file: what stands in it, what is left out and why, and that it runs as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.toml import parse_toml
from tests.import_cost.checkouts import HEAVY, cost, write
from tests.narrow_reexport.verbs import narrow


def rows_of(root: Path, name: str = "rows.toml") -> list[dict[str, object]]:
    found = parse_toml((root / name).read_bytes(), name)["narrow"]
    assert isinstance(found, list)
    return found


FILES = {
    **HEAVY,
    "pkg/ops/__init__.py": "from .fast import run\nfrom .slow import walk, crawl\n\nDEFAULT = crawl\n",
    "pkg/ops/fast.py": "def run(): ...\n",
    "pkg/ops/slow.py": "import pkg.heavy\n\n\ndef walk(): ...\n\n\ndef crawl(): ...\n",
}


def test_each_package_is_one_row_the_worst_first_with_its_numbers(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    said = cost(tmp_path, "--everywhere", "--plan-out", "rows.toml")
    assert said.code == 0, said.err
    assert said.err == "wrote 2 rows with 5 symbols to rows.toml\n"
    assert rows_of(tmp_path) == [
        {"package": "pkg", "symbols": ["big", "bigger", "small"]},
        {"package": "pkg.ops", "symbols": ["run", "walk"]},
    ]
    text = (tmp_path / "rows.toml").read_text()
    assert '    # 3 x 6 for pkg.heavy (pkg/__init__.py:2)\n    "big",\n' in text
    assert "# narrow-reexport --plan rows.toml --keep-going\n" in text


def test_what_the_init_needs_itself_is_left_out_with_the_line(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    cost(tmp_path, "--everywhere", "--plan-out", "rows.toml")
    assert "#   not crawl: the __init__ needs it as it is imported (line 4)\n" in (tmp_path / "rows.toml").read_text()


@pytest.mark.parametrize(
    ("init", "reason"),
    [
        ("from .heavy import *\n", "not *: a star: list the names that it brings"),
        (
            "try:\n    from .heavy import big\nexcept ImportError:\n    big = None\n",
            "not big: it has more than one origin (lines 2, 4)",
        ),
        ("from .heavy import big as __big__\n", "not __big__: tools read names like this from the package"),
        (
            "from .heavy import big\n\n\nclass A:\n    x = big\n",
            "not big: the __init__ needs it as it is imported (line 5)",
        ),
    ],
)
def test_a_package_with_nothing_to_narrow_is_no_row_and_the_file_runs_all_the_same(
    init: str, reason: str, tmp_path: Path
) -> None:
    write(tmp_path, {**HEAVY, "pkg/__init__.py": init})
    said = cost(tmp_path, "--everywhere", "--plan-out", "rows.toml")
    assert said.err == "wrote 0 rows with 0 symbols to rows.toml\n"
    text = (tmp_path / "rows.toml").read_text()
    assert "# pkg: no name here that can be narrowed as it stands\n" in text
    assert reason in text
    outcome = narrow(tmp_path, "--plan", "rows.toml")
    assert outcome.code == 0, outcome.text
    assert "nothing to change" in outcome.text


def test_a_use_in_a_function_is_no_reason(tmp_path: Path) -> None:
    write(tmp_path, {**HEAVY, "pkg/__init__.py": "from .heavy import big\n\n\ndef late():\n    return big\n"})
    cost(tmp_path, "--everywhere", "--plan-out", "rows.toml")
    assert rows_of(tmp_path) == [{"package": "pkg", "symbols": ["big"]}]


def test_top_counts_rows_and_verbose_takes_all(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert cost(tmp_path, "--everywhere", "--plan-out", "rows.toml", "--top", "1").err.startswith("wrote 1 row with")
    assert cost(tmp_path, "--everywhere", "--plan-out", "rows.toml", "--top", "1", "-v").err.startswith("wrote 2 rows")


def test_the_plain_answer_gives_one_row(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    said = cost(tmp_path, "pkg.ops", "--plan-out", "deep/rows.toml", "--output-format", "json")
    assert said.json["command"] == "answer"
    assert rows_of(tmp_path, "deep/rows.toml") == [{"package": "pkg.ops", "symbols": ["run", "walk"]}]


def test_the_command_has_the_options_that_the_tree_needs(tmp_path: Path) -> None:
    write(tmp_path, {f"lib/{path}": text for path, text in HEAVY.items()})
    cost(tmp_path, "pkg", "--everywhere", "--source-root", "lib", "--exclude", "x/**", "--plan-out", "rows.toml")
    command = "# narrow-reexport --plan rows.toml --keep-going --source-root lib --exclude 'x/**'\n"
    assert command in (tmp_path / "rows.toml").read_text()


def test_the_file_runs_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    cost(tmp_path, "--everywhere", "--plan-out", "rows.toml")
    outcome = narrow(tmp_path, "--plan", "rows.toml", "--keep-going")
    assert outcome.code == 0, outcome.text
    assert (tmp_path / "pkg/__init__.py").read_text() == ""
    assert (tmp_path / "app.py").read_text().startswith("from pkg.heavy import big\n")


@pytest.mark.parametrize("question", [["--unused"], ["--tree", "pkg"], ["--check"]])
def test_other_questions_make_no_request(question: list[str], tmp_path: Path) -> None:
    write(tmp_path, HEAVY)
    assert cost(tmp_path, *question, "--plan-out", "rows.toml").code == 2
    assert not (tmp_path / "rows.toml").exists()
