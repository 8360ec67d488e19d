"""The command line: what is written, what is said on which stream, and the exit codes."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import (
    Tree,
    check_refused,
    check_rewritten,
    contents,
    expect_tree,
    narrow,
    narrow_outside,
    outside,
    tree,
)

USED: dict[str, str | bytes] = {**PKG, "main.py": "from pkg import sym\n\nprint(sym(2))\n"}
MOVED: dict[str, str | bytes] = {**NARROWED, "main.py": "from pkg.sub import sym\n\nprint(sym(2))\n"}
BLOCKED: dict[str, str | bytes] = {**PKG, "main.py": 'import pkg\n\nprint(delattr(pkg, "sym"))\n'}


# --- the summary ---


def test_the_summary_names_the_origin_each_file_and_what_is_no_longer_loaded() -> None:
    outcome = check_rewritten(USED, "pkg", "sym", MOVED)
    assert "pkg:sym comes from pkg.sub:sym (pkg/__init__.py:2)" in outcome.out
    assert re.search(r"changed 2 files", outcome.out)
    assert re.search(r"main\.py\s+1 site", outcome.out)
    assert "import pkg no longer loads pkg.sub" in outcome.out
    assert "callers outside this tree will get an ImportError" in outcome.out


def test_the_summary_shows_the_chain_that_still_loads_the_origin() -> None:
    files = {**USED, "pkg/light.py": "from .sub import Sym\n\n\ndef light(x):\n    return x\n"}
    outcome = check_rewritten(files, "pkg", "sym", MOVED)
    assert (
        "import pkg still loads pkg.sub: pkg/__init__.py:1 imports pkg.light -> pkg/light.py:1 imports pkg.sub"
        in outcome.out
    )


def test_the_same_name_case_warns_callers_outside() -> None:
    files = {"pkg/__init__.py": "from .fused import fused\n", "pkg/fused.py": "def fused():\n    pass\n"}
    outcome = check_rewritten(files, "pkg", "fused", {"pkg/__init__.py": ""})
    assert "silently get the module fused" in outcome.out


def test_quiet_says_nothing_when_all_is_well() -> None:
    with tree(USED) as root:
        outcome = narrow(root, "pkg", "sym", "-q")
        assert (outcome.code, outcome.stdout, outcome.stderr) == (0, b"", b"")


def test_quiet_still_says_why_it_refuses() -> None:
    with tree(BLOCKED) as root:
        outcome = narrow(root, "pkg", "sym", "-q")
        assert outcome.code == 4
        assert "main.py:3" in outcome.text


def test_verbose_lists_every_mention() -> None:
    files = {**PKG, "notes.md": "".join(f"line {n}: pkg.sym\n" for n in range(12))}
    with tree(files) as root:
        assert "notes.md:12" not in narrow(root, "pkg", "sym", "--diff").text
        assert "notes.md:12" in narrow(root, "pkg", "sym", "--diff", "-v").text


# --- nothing written ---


@pytest.mark.parametrize("option", ["--diff", "--check"])
def test_a_dry_run_writes_nothing(option: str) -> None:
    with tree(USED) as root:
        narrow(root, "pkg", "sym", option)
        expect_tree(root, USED, record=False)


def test_check_exits_1_when_something_would_change() -> None:
    with tree(USED) as root:
        assert narrow(root, "pkg", "sym", "--check").code == 1


def test_check_exits_0_when_nothing_would_change() -> None:
    with tree(USED) as root:
        narrow(root, "pkg", "sym")
        assert narrow(root, "pkg", "sym", "--check").code == 0


def test_a_refusal_beats_check() -> None:
    with tree(BLOCKED) as root:
        assert narrow(root, "pkg", "sym", "--check").code == 4


def test_diff_exits_0_and_prints_only_the_diff_on_stdout() -> None:
    with tree(USED) as root:
        outcome = narrow(root, "pkg", "sym", "--diff")
        assert outcome.code == 0
        assert outcome.stdout.startswith(b"diff --git ")
        assert b"comes from" not in outcome.stdout
        assert b"comes from" in outcome.stderr


def test_diff_of_a_refused_run_prints_no_diff() -> None:
    with tree(BLOCKED) as root:
        outcome = narrow(root, "pkg", "sym", "--diff")
        assert (outcome.code, outcome.stdout) == (4, b"")


ODD: dict[str, str | bytes] = {
    **PKG,
    "crlf.py": b"import os\r\nfrom pkg import sym\r\nprint(sym(2))\r\n",
    "latin.py": "# coding: latin-1\nfrom pkg import sym  # caf\xe9\n".encode("latin-1"),
    "noeol.py": b"x = 1\nfrom pkg import sym",
    "with space.py": "from pkg import sym\n",
    "größe.py": "from pkg import sym\n",
    'quo"te.py': "from pkg import sym\n",
    "bom.py": b"\xef\xbb\xbffrom pkg import sym\n",
    "cr.py": b"x = 1\rfrom pkg import sym\rprint(x)\r",
    "deep/er/file.py": "from pkg import light, sym\n",
}


def test_the_diff_applies_with_git_and_gives_what_the_run_writes() -> None:
    with tree(ODD) as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        patch = narrow(root, "pkg", "sym", "--diff")
        assert patch.code == 0, patch.text
        done = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"], cwd=root, input=patch.stdout, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode() + patch.out
        applied = contents(root)
    with tree(ODD) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert contents(root) == applied


# --- formats ---


def test_json_has_a_schema_version_and_every_fact() -> None:
    with tree({**USED, "notes.md": "pkg.sym\n"}) as root:
        outcome = narrow(root, "pkg", "sym", "--output-format", "json")
        found = json.loads(outcome.stdout)
    assert found["schema_version"] == 1
    assert (found["command"], found["package"], found["exit_code"], found["applied"]) == (
        "narrow_reexport",
        "pkg",
        0,
        True,
    )
    assert found["symbols"][0]["symbol"] == "pkg:sym"
    assert found["symbols"][0]["origin"] == "pkg.sub:sym"
    assert found["symbols"][0]["site"]["path"] == "pkg/__init__.py"
    assert {change["path"] for change in found["changes"]} == {"main.py", "pkg/__init__.py", "narrowed.toml"}
    assert found["mentions"] == [{"path": "notes.md", "line": 1, "column": 1, "text": "pkg.sym", "symbol": "pkg:sym"}]


def test_json_of_a_refusal_names_site_reason_and_way_out() -> None:
    with tree(BLOCKED) as root:
        outcome = narrow(root, "pkg", "sym", "--output-format", "json")
        found = json.loads(outcome.stdout)
    assert (outcome.code, found["exit_code"], found["applied"], found["changes"]) == (4, 4, False, [])
    refusal = found["refusals"][0]
    assert (refusal["path"], refusal["line"]) == ("main.py", 3)
    assert refusal["reason"] and refusal["hint"] and refusal["text"]


def test_json_of_an_error_has_the_same_shape() -> None:
    with tree(PKG) as root:
        outcome = narrow(root, "pkg", "nothing", "--output-format", "json")
        found = json.loads(outcome.stdout)
    assert outcome.code == 3
    assert found["schema_version"] == 1
    assert found["errors"][0]["path"] == "pkg/__init__.py"


def test_json_with_diff_leaves_stdout_to_the_diff() -> None:
    with tree(USED) as root:
        outcome = narrow(root, "pkg", "sym", "--diff", "--output-format", "json")
        assert outcome.stdout.startswith(b"diff --git ")
        assert json.loads(outcome.stderr)["applied"] is False


def test_github_annotates_the_line() -> None:
    with tree(BLOCKED) as root:
        outcome = narrow(root, "pkg", "sym", "--output-format", "github")
    assert outcome.code == 4
    assert re.search(r"^::error file=main\.py,line=3,col=\d+,title=narrow_reexport::", outcome.out, re.M)


def test_github_annotates_an_error_too() -> None:
    with tree(PKG) as root:
        outcome = narrow(root, "pkg", "nothing", "--output-format", "github")
    assert outcome.code == 3
    assert outcome.out.startswith("::error file=pkg/__init__.py,line=1")


def test_paths_in_json_and_diffs_use_forward_slashes() -> None:
    with tree({**PKG, "a/b/c.py": "from pkg import sym\n"}) as root:
        outcome = narrow(root, "pkg", "sym", "--diff", "--output-format", "json")
    assert b"diff --git a/a/b/c.py b/a/b/c.py" in outcome.stdout
    assert any(change["path"] == "a/b/c.py" for change in json.loads(outcome.stderr)["changes"])


# --- colour ---


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colour_is_for_terminals_and_no_color_wins(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    from codemods.engine.report import wants_colour

    assert wants_colour(False) is coloured
    with tree(BLOCKED) as root:
        assert (b"\x1b[" in narrow(root, "pkg", "sym").stderr) in ((coloured, True) if coloured else (False,))


# --- bad arguments ---


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["pkg"],
        ["pkg", "sym", "--nothing"],
        ["1pkg", "sym"],
        ["pkg", "a-b"],
        ["pkg", "sym", "--accept", "main.py"],
        ["pkg", "sym", "--output-format", "xml"],
        ["pkg", "sym", "--also", "no/such"],
    ],
)
def test_bad_arguments_exit_2_with_the_usage(arguments: list[str]) -> None:
    with tree(USED) as root:
        outcome = narrow(root, *arguments)
        assert outcome.code == 2, outcome.text
        assert "Usage:" in outcome.text
        expect_tree(root, USED, record=False)


def test_version_and_help_work_anywhere() -> None:
    with tree({}) as root:
        assert re.search(r"\d+\.\d+", narrow(root, "--version").out)
        outcome = narrow(root, "--help")
        assert outcome.code == 0
        for option in (
            "--diff",
            "--check",
            "--also",
            "--exclude",
            "--accept",
            "--strict",
            "--to-definition",
            "--no-ban",
            "--abort",
            "--keep-going",
            "--callers-only",
            "--source-root",
            "--output-format",
        ):
            assert option in outcome.out


# --- options ---


def test_exclude_takes_a_file_out() -> None:
    files = {**USED, "legacy/old.py": "from pkg import sym\n"}
    check_rewritten(files, "pkg", "sym", MOVED, options=["--exclude", "legacy/**"])


def test_exclude_takes_a_site_in_the_way_out() -> None:
    check_rewritten(
        {**USED, "bad.py": 'import pkg\n\nprint(delattr(pkg, "sym"))\n'},
        "pkg",
        "sym",
        MOVED,
        options=["--exclude", "bad.py"],
    )


@pytest.mark.parametrize("spelled", ["main.py:3", "./main.py:3"])
def test_accept_takes_one_line_on(spelled: str) -> None:
    check_rewritten(BLOCKED, "pkg", "sym", dict(NARROWED), options=["--accept", spelled], says=r"accepted: main\.py:3")


def test_accept_of_another_line_does_not() -> None:
    check_refused(BLOCKED, "pkg", "sym", "by name", options=["--accept", "main.py:1"], at="main.py:3")


def test_no_ban_writes_no_record() -> None:
    with tree(USED) as root:
        assert narrow(root, "pkg", "sym", "--no-ban").code == 0
        expect_tree(root, {**USED, **MOVED}, record=False)


def test_also_takes_another_checkout_along() -> None:
    with tree(
        {
            "main/pkg/__init__.py": PKG["pkg/__init__.py"],
            "main/pkg/light.py": PKG["pkg/light.py"],
            "main/pkg/sub.py": PKG["pkg/sub.py"],
            "plugin/app.py": "from pkg import light, sym\n",
            "other/app.py": "from pkg import light\n",
        }
    ) as root:
        outcome = narrow(root / "main", "pkg", "sym", "--also", "../plugin", "--also", str(root / "other"))
        assert outcome.code == 0, outcome.text
        assert (root / "plugin/app.py").read_text() == "from pkg import light\nfrom pkg.sub import sym\n"
        assert '"pkg:sym"' in (root / "plugin/narrowed.toml").read_text()
        assert '"pkg:sym"' in (root / "main/narrowed.toml").read_text()
        assert not (root / "other/narrowed.toml").exists()
        assert "plugin" in outcome.text
        before = contents(root)
        assert narrow(root / "main", "pkg", "sym", "--also", "../plugin", "--also", str(root / "other")).code == 0
        assert contents(root) == before


def test_a_refusal_in_another_checkout_stops_both() -> None:
    files: Tree = {
        **{f"main/{path}": text for path, text in USED.items()},
        "plugin/app.py": 'import pkg\n\nprint(delattr(pkg, "sym"))\n',
    }
    with tree(files) as root:
        outcome = narrow(root / "main", "pkg", "sym", "--also", "../plugin")
        assert outcome.code == 4
        assert "app.py:3" in outcome.text
        expect_tree(root, files, record=False)


def test_options_can_come_from_the_targets_pyproject() -> None:
    settings = '[tool.codemods.narrow_reexport]\nexclude = ["legacy/**"]\nban = false\naccept = ["bad.py:3"]\n'
    files = {
        **USED,
        "pyproject.toml": settings,
        "legacy/old.py": "from pkg import sym\n",
        "bad.py": 'import pkg\n\nprint(delattr(pkg, "sym"))\n',
    }
    with tree(files) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**files, **MOVED}, record=False)


def test_strict_in_the_pyproject_counts() -> None:
    files = {
        **PKG,
        "pyproject.toml": "[tool.codemods.narrow_reexport]\nstrict = true\n",
        "main.py": "import pkg\nimport tools\n\nprint(tools.register(pkg), 'sym')\n",
    }
    check_refused(files, "pkg", "sym", "--strict", at="main.py:4")


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("[tool.codemods.narrow_reexport]\nexlude = []\n", "did you mean.*exclude|unknown key", 2),
        ("[tool.codemods.narrow_reexports]\nexclude = []\n", "unknown table", 1),
        ("[tool.codemods.narrow_reexport]\nstrict = 'yes'\n", "true or false", 2),
        ("[tool.codemods.narrow_reexport]\noutput-format = 'xml'\n", "text, json, github", 2),
        ("[tool.codemods.narrow_reexport]\naccept = ['main.py']\n", "FILE:LINE", 2),
        ("[tool\n", "TOML|parse", 1),
    ],
)
def test_a_mistake_in_the_pyproject_is_an_error_with_its_line(text: str, reason: str, line: int) -> None:
    check_refused({**USED, "pyproject.toml": text}, "pkg", "sym", reason, exit_code=3, at=f"pyproject.toml:{line}")


def test_an_unknown_key_in_the_record_is_an_error() -> None:
    files = {**USED, "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:x" = { origin = "pkg.y:x", nope = 1 }\n'}
    check_refused(files, "pkg", "sym", "unknown key `nope`", exit_code=3, at="narrowed.toml:4")


def test_a_record_of_a_later_version_is_an_error() -> None:
    check_refused(
        {**USED, "narrowed.toml": "version = 2\n"}, "pkg", "sym", "version", exit_code=3, at="narrowed.toml:1"
    )


# --- in a process of its own ---


def test_the_module_and_the_console_script_do_the_same() -> None:
    import sys
    from pathlib import Path

    script = Path(sys.executable).with_name("narrow-reexport")
    if not script.exists():
        pytest.skip("the package is not installed, so there is no console script")
    with tree(USED) as root:
        by_module = narrow_outside(root, "pkg", "sym", "--diff")
        by_script = outside(root, [str(script), "pkg", "sym", "--diff"])
    assert by_module.code == by_script.code == 0
    assert by_module.stdout == by_script.stdout


def test_python_m_codemods_lists_the_commands() -> None:
    import sys

    with tree({}) as root:
        outcome = outside(root, [sys.executable, "-m", "codemods"])
    assert outcome.code == 0
    assert "narrow_reexport" in outcome.text


# --- ways out that work ---


def test_an_accept_is_offered_where_it_helps() -> None:
    outcome = check_refused(BLOCKED, "pkg", "sym", "by name", at="main.py:3")
    assert "To accept a site" in outcome.text


def test_no_accept_is_offered_for_a_use_in_the_init_itself() -> None:
    files = {**USED, "pkg/__init__.py": "from .light import light\nfrom .sub import sym\n\nA = sym(1)\n"}
    outcome = check_refused(files, "pkg", "sym", "import time", at="pkg/__init__.py:4")
    assert "To accept a site" not in outcome.text


def test_a_warning_of_the_stub_is_said() -> None:
    stub = "from .light import light\nfrom .sub import sym as sym\n\n__all__ = make()\n"
    check_rewritten(
        {**USED, "pkg/__init__.pyi": stub},
        "pkg",
        "sym",
        MOVED | {"pkg/__init__.pyi": stub.replace("from .sub import sym as sym\n", "")},
        says=r"pkg/__init__\.pyi:4",
    )
