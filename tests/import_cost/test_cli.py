"""The command line: each question, what it says, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.import_cost.checkouts import HEAVY, cost, write

BUDGETS = '[tool.codemods.import_cost.budgets]\n"pkg.user" = { forbid = ["torch"], max-modules = 4 }\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, HEAVY)


def test_the_answer_is_short_and_has_the_command(root: Path) -> None:
    said = cost(root, "pkg")
    assert said.code == 0
    assert said.err == ""
    assert said.out.splitlines()[0] == "import pkg loads 6 modules of the tree and 3 third-party packages"
    assert "3 modules only by pkg.heavy (3 without it)\n  pkg/__init__.py:2 takes big, bigger\n" in said.out
    assert "  used through pkg in 1 file\n  $ narrow-reexport pkg big bigger\n" in said.out


def test_top_cuts_and_verbose_shows_all(root: Path) -> None:
    assert "and 1 origin more, each with 1 module or fewer" in cost(root, "pkg", "--top", "1").out
    assert "more" not in cost(root, "pkg", "--top", "1", "-v").out


@pytest.mark.parametrize("spelled", ["pkg.user", "pkg/user.py", "./pkg/user.py"])
def test_a_module_may_be_given_by_its_path(root: Path, spelled: str) -> None:
    assert cost(root, spelled).out.startswith("import pkg.user loads 7 modules of the tree")


def test_a_script_outside_of_packages(root: Path) -> None:
    write(root, {"tools/gen.py": "import pkg.light\n"})
    assert cost(root, "tools/gen.py").out.startswith("import gen loads 7 modules of the tree")


def test_why_shows_places_and_source_lines(root: Path) -> None:
    lines = [line.split() for line in cost(root, "pkg", "--why", "transformers").out.splitlines()[2:]]
    assert [line[:2] for line in lines] == [
        ["pkg/__init__.py:2", "pkg.heavy"],
        ["pkg/heavy.py:2", "pkg.models.model"],
        ["pkg/models/model.py:1", "transformers"],
    ]
    assert lines[2][2:] == ["from", "transformers", "import", "AutoModel"]
    assert cost(root, "pkg", "--why", "nothing").out == "import pkg does not load nothing\n"


def test_what_if(root: Path) -> None:
    said = cost(root, "--what-if", "pkg:big,bigger")
    assert said.out.startswith("import pkg: 6 -> 3 modules of the tree\n")
    assert "no longer third-party: torch, transformers" in said.out
    assert "pkg.heavy stays: pkg takes bigger from it, too" in cost(root, "--what-if", "pkg:big").out
    assert cost(root, "--what-if", "pkg:nope").code == 3
    assert cost(root, "--what-if", "pkg").code == 2


def test_everywhere_and_unused(root: Path) -> None:
    ranked = cost(root, "--everywhere").out
    assert ranked.splitlines()[2] == "       18 = 3 x 6  pkg.heavy"
    assert cost(root, "--unused").out.startswith("0 of 3 re-exports of pkg are read by nobody in this tree\n")
    public = cost(root, "--unused", "--include-public").out
    assert "pkg/__init__.py:1 1 name\n  $ narrow-reexport pkg small\n" in public


def test_the_tree(root: Path) -> None:
    lines = cost(root, "pkg", "--tree", "--depth", "2").out.splitlines()
    assert lines[:3] == ["pkg  6", "|-- pkg.heavy  3", "|   |-- pkg.models  1"]
    assert cost(root, "pkg", "--tree", "--depth", "1").out.count("pkg.models") == 0


def test_check_exits_1_with_the_chain(root: Path) -> None:
    write(root, {"pyproject.toml": BUDGETS})
    said = cost(root, "--check")
    assert (said.code, said.out) == (1, "")
    assert "exceeded: import pkg.user loads torch.nn, which its budget forbids\n" in said.err
    assert "  pkg/heavy.py:3         torch.nn\n" in said.err.replace("  (pkg.user lies in it)  pkg\n", "")
    assert "import pkg.user loads 7 modules of the tree, its budget is 4" in said.err
    write(root, {"pyproject.toml": BUDGETS.replace("torch", "tensorflow").replace("4", "7")})
    said = cost(root, "--check")
    assert (said.code, said.out, said.err) == (0, "1 budget kept\n", "")


def test_check_without_a_budget_says_so(root: Path) -> None:
    said = cost(root, "--check")
    assert said.code == 0
    assert "there is no budget" in said.out


def test_update_records_and_condones_nothing_forbidden(root: Path) -> None:
    write(root, {"pyproject.toml": BUDGETS})
    said = cost(root, "--update")
    assert said.code == 0
    assert said.out.startswith("pkg.user: max-modules = 7 (was 4)\nstill exceeded: import pkg.user loads torch.nn")
    assert (root / "pyproject.toml").read_text() == BUDGETS.replace("4", "7")
    assert cost(root, "--update", "pkg.light").code == 0
    assert '"pkg.light" = {max-modules = 6}' in (root / "pyproject.toml").read_text()
    assert cost(root, "--check").code == 1


def test_json_has_a_version_and_whole_lists(root: Path) -> None:
    found = cost(root, "pkg", "--output-format", "json").json
    assert (found["schema_version"], found["command"], found["modules"]) == (1, "answer", 6)
    for question in (["--why", "torch"], ["--what-if", "pkg:big"], ["--tree"], ["--everywhere"], ["--unused"]):
        assert cost(root, "pkg", *question, "--output-format", "json").json["schema_version"] == 1


def test_annotations_and_sarif_point_at_the_import(root: Path) -> None:
    write(root, {"pyproject.toml": BUDGETS})
    said = cost(root, "--check", "--output-format", "github")
    assert said.code == 1
    assert said.out.startswith("::error file=pkg/__init__.py,line=2,")
    log = json.loads(cost(root, "--check", "--output-format", "sarif").out)
    first, second = log["runs"][0]["results"]
    place = first["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("pkg/__init__.py", 2)
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "pyproject.toml"
    assert cost(root, "pkg", "--output-format", "github").out.startswith("::notice file=pkg/__init__.py,line=2,")
    assert cost(root, "pkg", "--tree", "--output-format", "sarif").code == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 2),
        (("not a name",), 2),
        (("nowhere/x.py",), 2),
        (("pkg", "--check"), 2),
        (("pkg", "--tree", "--why", "torch"), 2),
        (("pkg.nothing",), 3),
    ],
)
def test_exit_codes(root: Path, arguments: tuple[str, ...], code: int) -> None:
    said = cost(root, *arguments)
    assert said.code == code
    assert "Traceback" not in said.err


def test_a_bad_configuration_is_named_with_its_line(root: Path) -> None:
    write(root, {"pyproject.toml": "[tool.codemods.import_cost]\nbudget = 3\n"})
    said = cost(root, "pkg")
    assert said.code == 3
    assert "pyproject.toml:2: unknown key `budget`" in said.err
    assert "did you mean `budgets`?" in said.err


def test_source_roots_and_excludes_come_from_the_configuration(root: Path) -> None:
    write(root, {"one/two/__init__.py": "", "three/two/__init__.py": "import pkg\n"})
    assert cost(root, "two").code == 3
    write(root, {"pyproject.toml": '[tool.codemods.import_cost]\nsource-root = ["three"]\n'})
    assert "loads 7 modules" in cost(root, "two").out
    write(root, {"pyproject.toml": '[tool.codemods.import_cost]\nexclude = ["three"]\n'})
    assert "loads 1 module " in cost(root, "two").out


PURE = {
    "pkg/__init__.py": "from .light import small\nfrom .heavy import big\n",
    "pkg/light.py": "small = 1\n",
    "pkg/heavy.py": "def init(): pass\ninit()\nbig = 1\n",
}


def test_a_module_is_not_loaded_by_itself(root: Path) -> None:
    write(root, {"pkg/light.py": "import pkg\nsmall = 1\n"})  # a cycle
    assert cost(root, "pkg", "--why", "pkg").out == "pkg is the module itself\n"
    assert cost(root, "pkg.light", "--why", "pkg.light").out == "pkg.light is the module itself\n"
    assert cost(root, "pkg", "--why", "pkg", "--output-format", "json").json["chains"] == []


def test_why_goes_through_the_package_around_a_module(root: Path) -> None:
    said = cost(root, "pkg.user", "--why", "torch")
    assert said.code == 0
    assert "(pkg.user lies in it)" in said.out


def test_why_not_of_a_slip_of_the_pen_is_an_error(root: Path) -> None:
    said = cost(root, "pkg", "--why", "pkg.heavi")
    assert (said.code, said.out) == (3, "")
    assert "did you mean pkg.heavy?" in said.err
    assert cost(root, "pkg", "--why", "pkg/models/model.py").out.startswith("import pkg loads pkg.models.model by")
    write(root, {"pkg/light.py": "from pkg._C import small\n"})  # compiled: no file of it in a checkout
    assert cost(root, "pkg.models", "--why", "pkg._C").out.startswith("import pkg.models loads pkg._C by")
    assert cost(root, "app.py", "--why", "numpy").code == 0


def test_the_page_is_written_beside_the_answer(root: Path) -> None:
    said = cost(root, "pkg", "--html", "cost.html")
    assert said.out == cost(root, "pkg").out
    assert (root / "cost.html").read_text(encoding="ascii").startswith("<!doctype html>")
    assert cost(root, "pkg", "--html", "cost.html", "--output-format", "json").json["modules"] == 6


@pytest.mark.parametrize("arguments", [("pkg",), ("--what-if", "pkg:big"), ("pkg.light", "--measure", "--runs", "1")])
def test_a_page_on_the_standard_output_stands_there_alone(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    said = cost(write(tmp_path, PURE), *arguments, "--html", "-")
    assert said.code == 0
    assert said.out.startswith("<!doctype html>") and said.out.rstrip().endswith("</html>")
    assert ("ran the target's code" in said.err) is ("--measure" in arguments)


@pytest.mark.parametrize("target", ["nowhere/cost.html", "."])
def test_a_page_that_cannot_be_written_is_an_error_after_the_answer(root: Path, target: str) -> None:
    said = cost(root, "pkg", "--html", target)
    assert said.code == 3
    assert said.out.startswith("import pkg loads 6 modules")
    assert f"{target}: cannot be written" in said.err


def test_dot_may_be_cut_and_collapsed(root: Path) -> None:
    whole = cost(root, "pkg", "--dot").out
    assert '"pkg.models.model" -> "transformers"' in whole
    assert "transformers" not in cost(root, "pkg", "--dot", "--depth", "2").out
    assert '"pkg.models" [label="pkg.models\\n2 modules"' in cost(root, "pkg", "--dot", "--collapse", "2").out


def test_measure_says_that_it_ran_code_and_what_it_took(tmp_path: Path) -> None:
    said = cost(write(tmp_path, PURE), "pkg", "--measure", "--runs", "1")
    assert said.code == 0
    assert said.out.startswith("This ran the target's code: `import pkg`, 2 times, with ")
    assert "(of one run)" in said.out
    found = cost(tmp_path, "pkg", "--measure", "--runs", "2", "--output-format", "json").json
    assert isinstance(found["runs_us"], list) and len(found["runs_us"]) == 2


def test_a_forbidden_call_and_one_that_is_not_there_are_not_let_pass(tmp_path: Path) -> None:
    write(tmp_path, {**PURE, "pkg/other.py": "def f(): pass\n"})
    for call, code, words in (
        ("pkg.heavy.init", 1, "CALLED by the import"),
        ("pkg.heavy.start", 3, "not known"),
        ("pkg.other.f", 0, "its module was not loaded"),
    ):
        said = cost(tmp_path, "pkg", "--measure", "--runs", "0", "--forbid-call", call)
        assert said.code == code
        assert words in said.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pkg", "--measure", "--python", "/no/python"), "cannot run /no/python"),
        (("pkg.models", "--measure", "--runs", "1"), "fails with"),
    ],
)
def test_a_run_that_fails_is_an_error(root: Path, arguments: tuple[str, ...], words: str) -> None:
    write(root, {"pkg/models/__init__.py": "import no_such_thing\n"})
    said = cost(root, *arguments)
    assert said.code == 3
    assert words in said.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("",),
        ("pkg", "--why", ""),
        ("pkg", "--html", ""),
        ("pkg", "--why", "not a name"),
        ("--what-if", "pkg:big,"),
        ("--what-if", "pkg:"),
        ("pkg", "--forbid-call", "a.b"),
        ("pkg", "--python", "python3"),
        ("pkg", "--depth", "2"),
        ("pkg", "--collapse", "2"),
        ("pkg", "--include-public"),
        ("pkg", "--measure", "--runs", "0"),
        ("pkg", "--measure", "--output-format", "github"),
        ("pkg", "--why", "torch", "--output-format", "sarif"),
        ("pkg", "--dot", "--output-format", "json"),
        ("pkg", "--dot", "--measure"),
        ("pkg", "--html", "-", "--output-format", "json"),
        ("pkg", "--html", "x.html", "--tree"),
        ("--check", "--html", "x.html"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_anything_runs(
    root: Path, arguments: tuple[str, ...]
) -> None:
    write(root, {"pkg/__init__.py": f"open({str(root / 'ran')!r}, 'w')\nfrom .heavy import big\n"})
    said = cost(root, *arguments)
    assert (said.code, said.out) == (2, "")
    assert "Error: " in said.err
    assert not (root / "ran").exists()
    assert not (root / "x.html").exists()


def test_a_source_root_without_the_module_is_not_answered_with_its_own_name(root: Path) -> None:
    assert "not below the --source-root" in cost(root, "pkg", "--source-root", "nowhere").err
