"""The command: what it exits with, which stream says what, and what it refuses to guess."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from codemods.engine.journal import JOURNAL
from tests.check_narrowed.verbs import rows, run
from tests.narrow_reexport.verbs import contents, expect_tree, outside, tree

FILES = {
    "narrowed.toml": rows("pkg:sym"),
    "pkg/__init__.py": "",
    "pkg/sub.py": "def sym(): ...\n",
    "app/a.py": "from pkg import sym\n",
    "app/b.py": "import pkg.sub\n",
}
HERE = "app/a.py:1:17: pkg:sym was narrowed to pkg.sub:sym: write `from pkg.sub import sym`"


def test_offences_exit_with_one_and_a_clean_tree_with_zero() -> None:
    with tree(FILES) as root:
        told = run(root)
        assert (told.code, told.out.splitlines()[0], told.stderr) == (1, HERE, b"")
        assert run(root, "-q").code == 1
        (root / "app" / "a.py").unlink()
        assert (run(root).code, run(root).out) == (0, "3 files checked against 1 row: clean\n")
        assert run(root, "-q").text == ""


def test_it_is_run_from_anywhere_in_the_tree() -> None:
    with tree(FILES) as root:
        assert run(root / "app", ".").out.splitlines()[0] == HERE.removeprefix("app/")
        assert run(root / "pkg").out.splitlines()[0] == f"../{HERE}"
        assert run(root, "app/b.py").code == 0
        assert run(root, "pkg").code == 0
        assert run(root, str(root / "app" / "a.py")).code == 1
        assert run(root / "app", "..", "b.py").code == 1
        assert run(root, "/").code == 1  # a folder above the tree holds the whole tree


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"narrowed.toml": None}, "there is no narrowed.toml"),
        ({"narrowed.toml": "version = 1\n[symbols]\nx y\n"}, "narrowed.toml:3: is not valid TOML"),
        ({"narrowed.toml": "version = 2\n"}, "narrowed.toml:1: version 2 is unknown"),
        ({"narrowed.toml": rows("pkg:sym=pkg.sub:sym lzy = true")}, "narrowed.toml:4: unknown key `lzy`"),
        ({"narrowed.toml": rows("pkg:sym=pkg.old:sym")}, "narrowed.toml:4: the origin pkg.old:sym"),
        (
            {"pyproject.toml": "[tool.codemods.check_narrowed]\nbasline = 'x'\n"},
            "pyproject.toml:2: unknown key `basline`",
        ),
        ({"pyproject.toml": "[tool.codemods.check_narrowed]\nbaseline = 'x'\n"}, "x: the baseline cannot be read"),
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "github", "sarif"])
def test_what_cannot_be_checked_is_not_clean(files: dict[str, str | None], reason: str, output: str) -> None:
    with tree({path: text for path, text in {**FILES, **files}.items() if text is not None}) as root:
        told = run(root, "--output-format", output)
        assert told.code == 3
        assert reason in told.text
        if output in ("json", "sarif"):
            json.loads(told.out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere.py",),
        ("--output-format", "xml"),
        ("--add", "pkg.sym"),
        ("--add", "pkg:sym", "--prune"),
        ("--add", "pkg:sym", "--fix"),
        ("--rename", "pkg.a", "pkg:b"),
        ("--rename", "pkg.a"),
        ("--prune", "app"),
        ("--update-baseline",),
        ("--emit", "flake8"),
        ("--stdin-filename", "notes.md"),
        ("--baseline", "/elsewhere/base.json"),
    ],
)
def test_bad_arguments_exit_with_two(arguments: tuple[str, ...]) -> None:
    with tree(FILES) as root:
        told = run(root, *arguments)
        assert told.code == 2, told.text
        expect_tree(root, FILES)


def test_a_fix_writes_and_a_diff_only_shows() -> None:
    with tree(FILES) as root:
        shown = run(root, "--diff")
        assert shown.code == 0
        expect_tree(root, FILES)
        subprocess.run(["git", "apply", "-"], cwd=root, input=shown.stdout, check=True)
        applied = contents(root)
        (root / "app" / "a.py").write_text(FILES["app/a.py"])
        fixed = run(root, "--fix")
        assert (fixed.code, contents(root)) == (0, applied)
        assert "fixed 1 offence, in 1 file" in fixed.out
        expect_tree(root, {**FILES, "app/a.py": "from pkg.sub import sym\n"})


def test_what_a_fix_leaves_is_said_with_the_reason() -> None:
    with tree({**FILES, "app/c.py": "import pkg\npkg.sym = 1\n"}) as root:
        told = run(root, "--fix")
        assert told.code == 1
        assert "app/c.py: not fixed: app/c.py:2: the code assigns to" in told.out
        assert contents(root)["app/a.py"] == b"from pkg.sub import sym\n"


def test_an_editor_hands_in_what_it_has() -> None:
    with tree(FILES) as root:
        text = b"import os\r\nfrom pkg import sym as s  # mine\r\n"
        name = ("--stdin-filename", "app/b.py")
        assert run(root, *name, stdin=text).out.startswith("app/b.py:2:17: pkg:sym was narrowed")
        fixed = run(root, *name, "--fix", stdin=text)
        assert (fixed.code, fixed.stdout) == (0, text.replace(b"from pkg import", b"from pkg.sub import"))
        assert run(root, *name, "--diff", stdin=text).stdout.startswith(b"diff --git a/app/b.py b/app/b.py\n")
        assert run(root, *name, stdin=b"x = 1\n").code == 0
        assert run(root, *name, "--fix", stdin=b"x = 1\n").stdout == b"x = 1\n"
        new = run(root, "--stdin-filename", "pkg/__init__.py", "--fix", stdin=b"from .sub import sym\n")
        assert (new.code, new.stdout) == (0, b"")
        expect_tree(root, FILES)


def test_services_read_paths_from_the_top_of_the_checkout() -> None:
    with tree({f"lib/{path}": text for path, text in FILES.items()} | {".git/HEAD": "ref: x"}) as root:
        assert "file=lib/app/a.py,line=1,col=17" in run(root / "lib", "--output-format", "github").out
        sarif = json.loads(run(root / "lib" / "app", "--output-format", "sarif").out)
        place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "lib/app/a.py"
        document = json.loads(run(root / "lib" / "app", "--output-format", "json").out)
        assert [each["path"] for each in document["offences"]] == ["app/a.py"]


def test_an_interrupted_run_is_finished_by_a_fix_and_in_the_way_of_a_check() -> None:
    with tree({**FILES, JOURNAL: "{}"}) as root:
        told = run(root)
        assert (told.code, "interrupted while it wrote" in told.text) == (3, True)
        assert run(root, "--fix").code == 3  # this one cannot be understood


def test_nothing_of_the_working_directory_is_imported() -> None:
    traps = {f"{name}/__init__.py": "raise SystemExit(77)\n" for name in ("click", "libcst", "pathspec")}
    with tree({**FILES, **traps}) as root:
        told = outside(root, [sys.executable, "-m", "codemods.check_narrowed", "--fix"])
        assert told.code == 0, told.text


def test_the_planner_and_libcst_are_not_loaded_for_a_clean_tree() -> None:
    files = {**FILES, "app/a.py": "from pkg.sub import sym\n", "many.py": "import pkg\n"}
    code = (
        "import sys\nfrom codemods.check_narrowed.__main__ import main\n"
        "try:\n    main([])\nexcept SystemExit as e:\n    assert not e.code, e.code\n"
        "print([m for m in ('libcst', 'pathspec', 'codemods.narrow_reexport.plan') if m in sys.modules])\n"
    )
    with tree(files) as root:
        assert outside(root, [sys.executable, "-c", code]).out.splitlines()[-1] == "[]"


def test_colours_are_for_terminals_that_want_them() -> None:
    with tree(FILES) as root:
        command = [sys.executable, "-m", "codemods.check_narrowed"]
        assert b"\x1b[" in outside(root, command, {"FORCE_COLOR": "1", "NO_COLOR": ""}).stdout
        assert b"\x1b[" not in outside(root, command, {"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
        assert b"\x1b[" not in outside(root, command).stdout


def test_the_list_of_commands_knows_it() -> None:
    with tree({}) as root:
        told = outside(root, [sys.executable, "-m", "codemods"])
        assert "python -m codemods.check_narrowed\n    report what reaches a narrowed name" in told.out


def test_a_line_reads_as_a_sentence_about_the_symbol() -> None:
    files = {
        "narrowed.toml": rows("pkg:sym"),
        "pkg/sub.py": "def sym(): ...\n",
        "pkg/__init__.py": "from .sub import sym\n",
    }
    with tree({**files, "app.py": "from pkg import sym\n"}) as root:
        lines = run(root).out.splitlines()
        assert lines[0] == "app.py:1:17: pkg:sym was narrowed to pkg.sub:sym: write `from pkg.sub import sym`"
        assert lines[1].startswith("pkg/__init__.py:1:18: pkg:sym: the __init__ re-exports sym again")


def test_the_folder_of_a_narrowing_under_way_is_read_and_never_written() -> None:
    accepted = '{"version": 1, "accepted": {"pkg:sym": {"main.py": 2}}}\n'
    files = {**FILES, "app/a.py": "", "main.py": "from pkg import sym\n"}
    files |= {"narrowed-baseline/02-app.json": accepted, "b.json": accepted}
    with tree(files) as root:
        outcome = run(root)
        assert outcome.code == 0
        assert "1 offence accepted by narrowed-baseline" in outcome.text
        assert run(root, "--fix").code == 0
        assert run(root, "--update-baseline", "--baseline", "b.json").code == 0
        assert (root / "main.py").read_text() == files["main.py"]
        assert (root / "narrowed-baseline/02-app.json").read_text() == accepted
        assert '"main.py": 1' in (root / "b.json").read_text()
        stdin = b"from pkg import sym\n"
        assert run(root, "--stdin-filename", "main.py", stdin=stdin).code == 0
        assert run(root, "--stdin-filename", "other.py", stdin=stdin).code == 1
