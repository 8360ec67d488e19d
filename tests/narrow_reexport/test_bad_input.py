"""Bad input, read-only trees, kills: a clear message, the right exit code, nothing half done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.engine import project
from codemods.engine.journal import JOURNAL
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import (
    Tree,
    as_bytes,
    check_refused,
    check_rewritten,
    check_unchanged,
    contents,
    expect_tree,
    narrow,
    narrow_outside,
    outside,
    tree,
)

USED: dict[str, str | bytes] = {**PKG, "a.py": "from pkg import sym\n", "b.py": "from pkg import sym\n"}
MOVED: dict[str, str | bytes] = {**NARROWED, "a.py": "from pkg.sub import sym\n", "b.py": "from pkg.sub import sym\n"}
ROOT_IGNORES_MODES = hasattr(os, "geteuid") and os.geteuid() == 0


def cannot(files: Tree, reason: str, *, at: str, options: tuple[str, ...] = ()) -> None:
    check_refused(files, "pkg", "sym", reason, exit_code=3, at=at, options=options)


# --- files that cannot be read as Python ---


def test_a_file_that_does_not_parse_and_names_neither_is_ignored() -> None:
    check_rewritten({**USED, "broken.py": "def (:\n"}, "pkg", "sym", MOVED)


def test_a_file_that_does_not_parse_and_names_one_of_the_two_is_ignored() -> None:
    check_rewritten({**USED, "broken.py": "sym = (\n", "other.py": "import pkg (\n"}, "pkg", "sym", MOVED)


def test_a_file_that_does_not_parse_and_names_both_is_refused_with_its_line() -> None:
    check_refused(
        {**USED, "broken.py": "from pkg import sym\n\ndef (:\n"}, "pkg", "sym", "does not parse", at="broken.py:3"
    )


def test_exclude_takes_a_file_that_does_not_parse_out() -> None:
    check_rewritten(
        {**USED, "broken.py": "from pkg import sym\n\ndef (:\n"},
        "pkg",
        "sym",
        MOVED,
        options=["--exclude", "broken.py"],
    )


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("from pkg import sym\nprint 'sym'\n", "Python 2"),
        ("lazy from pkg import sym\nprint 'sym'\n", "3.15"),
        ("from pkg import sym\ntry:\n    pass\nexcept* ValueError:\n    return sym(\n", "3.11|does not parse"),
    ],
)
def test_a_file_of_another_python_is_refused_with_the_version(text: str, version: str) -> None:
    check_refused({**USED, "other.py": text}, "pkg", "sym", version, at="other.py:")


def test_a_file_that_is_not_utf_8_and_names_neither_is_ignored() -> None:
    check_rewritten({**USED, "latin.py": "x = 'caf\xe9'\n".encode("latin-1")}, "pkg", "sym", MOVED)


def test_a_file_that_is_not_utf_8_and_names_both_is_refused() -> None:
    files: Tree = {**USED, "latin.py": "from pkg import sym\nx = 'caf\xe9'\n".encode("latin-1")}
    check_refused(files, "pkg", "sym", "utf-8", at="latin.py:2")


def test_a_file_with_a_cookie_is_read_by_it() -> None:
    before = "# coding: latin-1\nfrom pkg import sym\nx = 'caf\xe9'\n".encode("latin-1")
    check_rewritten(
        {**USED, "latin.py": before}, "pkg", "sym", {**MOVED, "latin.py": before.replace(b"from pkg", b"from pkg.sub")}
    )


def test_a_file_with_an_unknown_cookie_is_refused() -> None:
    check_refused(
        {**USED, "odd.py": "# coding: klingon\nfrom pkg import sym\n"}, "pkg", "sym", "encoding", at="odd.py:1"
    )


def test_null_bytes_are_refused_by_name() -> None:
    check_refused({**USED, "null.py": b"from pkg import sym\n\x00\n"}, "pkg", "sym", "parse", at="null.py:")


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    check_refused(
        {**USED, "deep.py": "from pkg import sym\nx = " + "(" * 3000 + ")" * 3000 + "\n"},
        "pkg",
        "sym",
        "parse|deep|nested",
        at="deep.py:",
    )


# --- the `__init__` ---


@pytest.mark.parametrize("text", [b"", b"# nothing\n", b"\n\n", b'"""Doc."""'])
def test_an_empty_init_has_no_such_name(text: bytes) -> None:
    # nothing below defines it either, so it was not narrowed before
    files: Tree = {**PKG, "pkg/__init__.py": text, "pkg/sub.py": "A = 1\n"}
    cannot(files, "has no name sym", at="pkg/__init__.py:1")


def test_an_empty_init_whose_callers_expect_the_name_is_no_success() -> None:
    # the caller fails before and after: that is not "already narrowed"
    with tree({**PKG, "pkg/__init__.py": b"", "main.py": "from pkg import sym\n"}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3 or (root / "main.py").read_text() == "from pkg.sub import sym\n", outcome.text


def test_an_init_that_does_not_parse_is_an_error_with_its_line() -> None:
    cannot({**PKG, "pkg/__init__.py": "from .sub import sym\n\ndef (:\n"}, "does not parse", at="pkg/__init__.py:3")


def test_an_init_that_is_not_utf_8_is_an_error_with_its_line() -> None:
    cannot({**PKG, "pkg/__init__.py": b"from .sub import sym\n# caf\xe9\n"}, "utf-8", at="pkg/__init__.py:2")


def test_an_init_with_a_cookie_is_edited_in_its_encoding() -> None:
    before = "# coding: latin-1\n# caf\xe9\nfrom .sub import sym\nx = '\xfc'\n".encode("latin-1")
    check_rewritten(
        {**PKG, "pkg/__init__.py": before},
        "pkg",
        "sym",
        {"pkg/__init__.py": before.replace(b"from .sub import sym\n", b"")},
    )


def test_an_origin_that_does_not_parse_is_no_obstacle_or_an_error_by_name() -> None:
    with tree({**PKG, "pkg/sub.py": "def sym(:\n"}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 3, 4)
        assert outcome.code == 0 or "pkg/sub.py" in outcome.text
        assert "Traceback" not in outcome.text


# --- no checkout, no files ---


def test_an_empty_folder_is_an_error_with_a_way_out() -> None:
    with tree({}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3
        assert "no Python file" in outcome.text
        assert contents(root) == {}


def test_an_empty_repository_is_an_error_with_a_way_out() -> None:
    with tree({}) as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3
        assert "no Python file" in outcome.text


def test_a_folder_below_the_top_of_a_checkout_is_narrowed_with_a_note() -> None:
    with tree({f"inner/{path}": text for path, text in USED.items()}) as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        outcome = narrow(root / "inner", "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert "checkout starts higher up" in outcome.text


def test_git_submodules_are_named_until_they_are_taken_along() -> None:
    # git lists no file of theirs, so their call sites would break without a word
    module = '[submodule "lib"]\n\tpath = third party/lib\n\turl = ../lib\n[submodule "x"]\n\tpath = not/here\n'
    with tree({**USED, ".gitmodules": module, "third party/lib/use.py": "from pkg import sym\n"}) as root:
        for folder in (root / "third party/lib", root):
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        outcome = narrow(root, "pkg", "sym", "--diff")
        assert "git submodules were not looked at: name them with --also (third party/lib)" in outcome.text
        outcome = narrow(root, "pkg", "sym", "--also", "third party/lib")
        assert (outcome.code, "git submodules" in outcome.text) == (0, False)
        assert (root / "third party/lib/use.py").read_text() == "from pkg.sub import sym\n"


def test_untracked_files_of_a_checkout_are_narrowed_and_ignored_ones_are_not() -> None:
    files: Tree = {**USED, ".gitignore": "generated.py\n", "generated.py": "from pkg import sym\n"}
    with tree(files) as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        assert narrow(root, "pkg", "sym").code == 0
        expect_tree(root, {**files, **MOVED})


# --- files that cannot be written ---


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_read_only_call_site_stops_the_run_and_nothing_is_written() -> None:
    with tree(USED) as root:
        (root / "b.py").chmod(0o444)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3, outcome.text
        assert "b.py" in outcome.text and "read-only" in outcome.text
        expect_tree(root, USED, record=False)


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_read_only_folder_stops_the_run_and_nothing_is_written() -> None:
    with tree({**USED, "sub/c.py": "from pkg import sym\n"}) as root:
        (root / "sub").chmod(0o555)
        try:
            outcome = narrow(root, "pkg", "sym")
        finally:
            (root / "sub").chmod(0o755)
        assert outcome.code == 3, outcome.text
        assert "sub/c.py" in outcome.text and "folder" in outcome.text
        expect_tree(root, {**USED, "sub/c.py": "from pkg import sym\n"}, record=False)


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_read_only_root_stops_the_run_and_nothing_is_written() -> None:
    with tree(USED) as root:
        root.chmod(0o555)
        try:
            outcome = narrow(root, "pkg", "sym")
        finally:
            root.chmod(0o755)
        assert outcome.code == 3, outcome.text
        assert "Traceback" not in outcome.text
        expect_tree(root, USED, record=False)


@pytest.mark.skipif(os.name == "nt" or ROOT_IGNORES_MODES, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_an_error_by_name() -> None:
    with tree(USED) as root:
        (root / "b.py").chmod(0)
        try:
            outcome = narrow(root, "pkg", "sym")
        finally:
            (root / "b.py").chmod(0o644)
        assert outcome.code == 3, outcome.text
        assert "b.py" in outcome.text
        expect_tree(root, USED, record=False)


def test_a_file_that_changes_between_scan_and_write_stops_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    with tree(USED) as root:
        real = project.save

        def late_save(where: Path, changes: object) -> None:
            (root / "b.py").write_text("from pkg import sym  # edited\n")
            real(where, changes)  # type: ignore[arg-type]

        monkeypatch.setattr(project, "save", late_save)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3, outcome.text
        assert "b.py" in outcome.text and "changed since" in outcome.text
        expect_tree(root, {**USED, "b.py": "from pkg import sym  # edited\n"}, record=False)
        monkeypatch.undo()
        assert narrow(root, "pkg", "sym").code == 0


def test_a_file_that_vanishes_between_scan_and_write_stops_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    with tree(USED) as root:
        real = project.save

        def late_save(where: Path, changes: object) -> None:
            (root / "b.py").unlink()
            real(where, changes)  # type: ignore[arg-type]

        monkeypatch.setattr(project, "save", late_save)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3, outcome.text
        assert "b.py" in outcome.text
        expect_tree(root, {path: text for path, text in USED.items() if path != "b.py"}, record=False)


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")
def test_mode_bits_and_symlinks_stay_and_a_target_is_edited_once() -> None:
    with tree(USED) as root:
        (root / "a.py").chmod(0o755)
        (root / "link.py").symlink_to("b.py")
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert (root / "link.py").is_symlink()
        assert (root / "a.py").stat().st_mode & 0o777 == 0o755
        expect_tree(root, {**USED, **MOVED, "link.py": MOVED["b.py"]})


@pytest.mark.skipif(os.name == "nt", reason="POSIX links")
def test_a_symlink_that_leads_out_of_the_tree_is_left_alone() -> None:
    with tree({f"tree/{path}": text for path, text in USED.items()} | {"outside.py": "from pkg import sym\n"}) as root:
        (root / "tree/link.py").symlink_to("../outside.py")
        outcome = narrow(root / "tree", "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert (root / "outside.py").read_text() == "from pkg import sym\n"


# --- kills ---

# `os.replace` puts the journal and each file in its place: let the process end before or after its n-th call.
KILLED = """
import os, sys
number, late = int(sys.argv.pop(1)), sys.argv.pop(1) == "after"
real, calls = os.replace, 0
def fatal(*paths, **options):
    global calls
    calls += 1
    if calls == number and not late:
        os._exit(42)
    real(*paths, **options)
    if calls == number:
        os._exit(42)
os.replace = fatal
sys.argv[0] = "narrow_reexport"
from codemods.narrow_reexport.__main__ import main
main()
"""
# the journal, a.py, b.py, narrowed.toml, pkg/__init__.py
# "after the n-th" is "before the next", so that these are all the moments there are
KILLS = [*((number, "before") for number in range(1, 6)), (5, "after")]


def killed(root: Path, number: int, moment: str) -> bool:
    """Run until the kill; whether it left a journal."""
    outcome = outside(root, [sys.executable, "-c", KILLED, str(number), moment, "pkg", "sym"])
    assert outcome.code == 42, outcome.text
    return (root / JOURNAL).exists()


@pytest.mark.parametrize(("number", "moment"), KILLS)
def test_a_run_that_was_killed_is_finished_or_taken_back(number: int, moment: str) -> None:
    with tree(USED) as root:
        journal = killed(root, number, moment)
        assert journal is ((number, moment) != (1, "before"))
        left = contents(root)
        # the next run finishes the job
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**USED, **MOVED})
        # or takes it back
        for path in contents(root).keys() - left.keys():
            (root / path).unlink()
        for path, data in left.items():
            (root / path).write_bytes(data)
        outcome = narrow(root, "--abort")
        assert outcome.code == 0, outcome.text
        expect_tree(root, USED, record=False)


def test_a_journal_is_finished_whatever_the_next_run_is_about() -> None:
    with tree({**USED, "pkg/__init__.py": "from .light import light\nfrom .sub import Sym, sym\n"}) as root:
        assert killed(root, 3, "after")
        outcome = narrow(root, "pkg", "light")
        assert outcome.code == 0, outcome.text
        assert "interrupted" in outcome.text
        assert (root / "a.py").read_text() == (root / "b.py").read_text() == "from pkg.sub import sym\n"


def test_abort_without_a_journal_says_so() -> None:
    with tree(USED) as root:
        outcome = narrow(root, "--abort")
        assert (outcome.code, "no interrupted run" in outcome.text) == (0, True)
        expect_tree(root, USED, record=False)


def test_a_file_edited_after_the_kill_is_not_overwritten() -> None:
    with tree(USED) as root:
        assert killed(root, 2, "after")
        (root / "b.py").write_text("# mine\n")
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3, outcome.text
        assert "b.py" in outcome.text
        assert (root / "b.py").read_text() == "# mine\n"


@pytest.mark.parametrize("option", ["--diff", "--check"])
def test_a_dry_run_does_not_finish_another_runs_work(option: str) -> None:
    # "nothing written" holds for a dry run too
    with tree(USED) as root:
        assert killed(root, 3, "after")
        before = contents(root)
        outcome = narrow(root, "pkg", "sym", option)
        assert contents(root) == before, outcome.text
        assert outcome.code == 3
        assert "--abort" in outcome.text


def test_a_broken_journal_is_an_error_and_changes_nothing() -> None:
    with tree({**USED, JOURNAL: b"garbage"}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3, outcome.text
        assert JOURNAL in outcome.text
        expect_tree(root, {**USED, JOURNAL: b"garbage"}, record=False)


# --- a target that looks like our own libraries ---

TRAP = "import pathlib\npathlib.Path('MARKER').write_text(__name__)\nraise SystemExit('the target was executed')\n"


def trapped(*names: str) -> dict[str, str | bytes]:
    return {
        **USED,
        **{f"{name}/__init__.py": TRAP for name in names},
        **{f"{name}.py": TRAP for name in ("ast", "sitecustomize", "pathspec")},
    }


def test_folders_called_click_and_libcst_in_the_target_are_never_executed() -> None:
    files = trapped("click", "libcst", "json")
    with tree(files) as root:
        outcome = narrow_outside(root, "pkg", "sym")
        assert not (root / "MARKER").exists()
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**files, **MOVED})


def test_a_folder_called_codemods_in_the_target_is_never_executed_by_the_console_script() -> None:
    script = Path(sys.executable).with_name("narrow-reexport")
    if not script.exists():
        pytest.skip("the package is not installed, so there is no console script")
    files = trapped("click", "libcst", "codemods")
    with tree(files) as root:
        outcome = outside(root, [str(script), "pkg", "sym"])
        assert not (root / "MARKER").exists()
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**files, **MOVED})


def test_the_target_itself_is_never_imported() -> None:
    files = {**USED, "pkg/light.py": TRAP + "light = 1\n", "conftest.py": TRAP, "setup.py": TRAP}
    with tree(files) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**files, **MOVED})


def test_gits_configuration_in_the_target_starts_no_program() -> None:
    with tree(USED) as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        hook = root / "hook.sh"
        hook.write_text(f"#!/bin/sh\ntouch {root}/MARKER\n")
        hook.chmod(0o755)
        subprocess.run(["git", "config", "core.fsmonitor", str(hook)], cwd=root, check=True)
        assert narrow(root, "pkg", "sym").code == 0
        assert not (root / "MARKER").exists()


# --- the second look ---


def test_a_run_that_has_nothing_to_do_says_so() -> None:
    record = 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'
    check_unchanged(
        {**PKG, "pkg/__init__.py": "from .light import light\n", "narrowed.toml": record},
        "pkg",
        "sym",
        says="nothing to change",
    )


def test_no_output_ever_shows_a_traceback() -> None:
    odd: list[Tree] = [
        {"pkg/__init__.py": b"\xff\xfe"},
        {"pkg/__init__.py": "from . import *\n"},
        {"pkg/__init__.py": "from .missing import sym\n"},
        {"pkg/__init__.py": "from ..above import sym\n"},
        {"pkg/__init__.py": "from pkg import sym\n"},
        {"pkg/__init__.py": "import pkg\n\nsym = pkg.sym\n"},
        {"pkg/__init__.py": "sym: int\n"},
        {
            "pkg/__init__.py": "from .a import sym\n",
            "pkg/a.py": "from .b import sym\n",
            "pkg/b.py": "from .a import sym\n",
        },
        {
            "pkg/__init__.py": "from .a import *\n",
            "pkg/a.py": "from .b import *\n",
            "pkg/b.py": "from .a import *\nsym = 1\n",
        },
        {"pkg/__init__.py/x.py": "sym = 1\n"},
        {"pkg/__init__.py": "from .sub import sym\n", "narrowed.toml": b"\xff"},
        {"pkg/__init__.py": "from .sub import sym\n", "pyproject.toml": b"\xff"},
    ]
    for files in odd:
        with tree(files) as root:
            outcome = narrow(root, "pkg", "sym")
            assert outcome.code in (0, 3, 4), (files, outcome.text)
            assert "Traceback" not in outcome.text
            if outcome.code:
                assert contents(root) == {path: as_bytes(text) for path, text in files.items()}
                assert outcome.text.strip()


# --- programs without a suffix ---


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_python_program_without_a_suffix_is_a_call_site() -> None:
    program = "#!/usr/bin/env -S python3 -u\nfrom pkg import sym\n"
    with tree({**USED, "bin/serve": program, "bin/shell": "#!/bin/sh\nfrom pkg import sym\n"}) as root:
        for name in ("serve", "shell"):
            (root / "bin" / name).chmod(0o755)
        assert narrow(root, "pkg", "sym").code == 0
        assert (root / "bin/serve").read_text() == program.replace("pkg", "pkg.sub")
        assert (root / "bin/serve").stat().st_mode & 0o777 == 0o755
        assert "from pkg import sym" in (root / "bin/shell").read_text()


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_python_program_without_a_suffix_that_does_not_parse_is_refused() -> None:
    with tree({**USED, "bin/serve": "#!/usr/bin/python\nfrom pkg import sym\nprint sym\n"}) as root:
        (root / "bin/serve").chmod(0o755)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 4 and "bin/serve:3" in outcome.text, outcome.text
