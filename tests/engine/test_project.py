"""Saving: all or nothing, whatever happens in between."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.engine import project
from codemods.engine.errors import CannotWrite, Interrupted, Unreadable
from codemods.engine.journal import JOURNAL, Entry, encode_journal
from codemods.engine.model import FileChange
from codemods.engine.project import Tree, abort, digest, resume, save

CHANGES = (
    FileChange("pkg/a.py", b"from pkg import sym\nsym()\n", b"from pkg.sub import sym\nsym()\n"),
    FileChange("pkg/crlf.py", b"import a\r\nimport b\r\n# end", b"import a\r\nimport c\r\nimport d\r\n# end"),
    FileChange("data.ipynb", b"\x00\xff\xfe{}\n\x80", b"\x00\xff\xfd{}\n\n\x81"),
    FileChange("narrowed.toml", b"", b"version = 1\n"),
    FileChange("pkg/__init__.py", b"from pkg.sub import sym\n", b""),
)

# Run in a child process: let `os.replace` or `os.unlink` end the process at its n-th call, before or after it acted.
KILLED_SAVE = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from codemods.engine.project import save
from tests.engine.test_project import CHANGES
name, number, late = sys.argv[3], int(sys.argv[4]), sys.argv[5] == "late"
real, calls = getattr(os, name), 0
def fatal(*args, **kwargs):
    global calls
    calls += 1
    if calls == number and not late:
        os._exit(42)
    real(*args, **kwargs)
    if calls == number:
        os._exit(42)
setattr(os, name, fatal)
save(Path(sys.argv[2]), CHANGES)
"""


def write_before(root: Path) -> None:
    for change in CHANGES:
        if change.path != "narrowed.toml":
            (root / change.path).parent.mkdir(parents=True, exist_ok=True)
            (root / change.path).write_bytes(change.before)


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


BEFORE = {change.path: change.before for change in CHANGES if change.path != "narrowed.toml"}
AFTER = {change.path: change.after for change in CHANGES}
NAMES = tuple(change.path for change in CHANGES)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    write_before(root)
    return root


def test_all_changes_are_written_and_nothing_else_is_left(tree: Path) -> None:
    save(tree, CHANGES)
    assert contents(tree) == AFTER
    assert resume(tree) == abort(tree) == ()


def test_no_change_writes_nothing(tree: Path) -> None:
    path = tree / "pkg/a.py"
    old = path.stat()
    save(tree, [FileChange("pkg/a.py", path.read_bytes(), path.read_bytes())])
    save(tree, [])
    assert path.stat().st_ino == old.st_ino
    assert contents(tree) == BEFORE


@pytest.mark.parametrize("moment", ["early", "late"])
@pytest.mark.parametrize("call", ["replace", "unlink"])
def test_a_kill_at_any_call_can_be_finished_and_can_be_taken_back(tmp_path: Path, call: str, moment: str) -> None:
    repository = Path(__file__).resolve().parents[2]
    mixtures = 0
    for number in range(1, 20):
        root = tmp_path / f"tree{number}"
        root.mkdir()
        write_before(root)
        command = [sys.executable, "-c", KILLED_SAVE, str(repository), str(root), call, str(number), moment]
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
        assert done.returncode in (0, 42), done.stderr
        if done.returncode == 0:
            assert contents(root) == AFTER
            break
        pending = (root / JOURNAL).exists()
        sources = {path: data for path, data in contents(root).items() if not Path(path).name.startswith(".codemods-")}
        mixtures += sources not in (BEFORE, AFTER)
        assert pending or sources in (BEFORE, AFTER)
        back = tmp_path / f"back{number}"
        shutil.copytree(root, back)
        assert resume(root) == (NAMES if pending else ())
        assert contents(root) == (AFTER if pending else sources)
        assert abort(back) == (NAMES if pending else ())
        assert contents(back) == (BEFORE if pending else sources)
        assert resume(root) == abort(back) == ()
    else:
        pytest.fail("the save never came to its end")
    assert call == "unlink" or mixtures >= len(CHANGES) - 1


def test_an_interrupted_run_stands_in_the_way_of_the_next(tree: Path) -> None:
    (tree / JOURNAL).write_bytes(b"{}")
    with pytest.raises(Interrupted, match="an earlier run was interrupted"):
        save(tree, CHANGES)
    assert contents(tree) == {**BEFORE, JOURNAL: b"{}"}


@pytest.fixture
def interrupted(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree in which the second file could not be written, nor the run taken back."""
    real = os.replace

    def stubborn(source: Path, target: Path) -> None:
        if Path(target).name == "crlf.py":
            raise KeyboardInterrupt
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stubborn)
        with pytest.raises(KeyboardInterrupt):
            save(tree, CHANGES)
    return tree


def test_an_interrupt_leaves_the_journal_and_no_temporary_file(interrupted: Path) -> None:
    assert set(contents(interrupted)) == {*BEFORE, JOURNAL}


@pytest.mark.parametrize("settle", [resume, abort])
def test_a_file_changed_since_the_kill_stops_and_changes_nothing(interrupted: Path, settle: object) -> None:
    (interrupted / "pkg/__init__.py").write_bytes(b"# mine\n")
    now = contents(interrupted)
    with pytest.raises(Interrupted, match="neither the old nor the new text") as caught:
        settle(interrupted)  # type: ignore[operator]
    assert caught.value.path == "pkg/__init__.py"
    assert contents(interrupted) == now


def test_a_file_removed_since_the_kill_stops(interrupted: Path) -> None:
    (interrupted / "pkg/__init__.py").unlink()
    with pytest.raises(Interrupted, match="neither"):
        resume(interrupted)


def test_resuming_sweeps_temporary_files(interrupted: Path) -> None:
    (interrupted / "pkg/.codemods-0a1b2c.tmp").write_bytes(b"half")
    resume(interrupted)
    assert contents(interrupted) == AFTER


def test_resuming_that_fails_keeps_the_journal(interrupted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse_all)
        with pytest.raises(CannotWrite, match="the journal stays"):
            resume(interrupted)
    resume(interrupted)
    assert contents(interrupted) == AFTER


def refuse_all(source: Path, target: Path) -> None:
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize(
    "journal", [b"", b"[]", b'{"version":2,"files":[]}', b'{"version":1}', b'{"version":1,"files":[{}]}']
)
def test_a_journal_that_is_none_is_named(tree: Path, journal: bytes) -> None:
    (tree / JOURNAL).write_bytes(journal)
    with pytest.raises(Interrupted, match="cannot be understood") as caught:
        resume(tree)
    assert caught.value.hint
    assert contents(tree) == {**BEFORE, JOURNAL: journal}


@pytest.mark.parametrize("path", ["../out.py", ".git/hooks/pre-commit", "pkg/../.GIT/config", "/tmp/codemods-out.py"])
def test_a_journal_cannot_reach_out_of_the_sources(tree: Path, path: str) -> None:
    (tree / ".git/hooks").mkdir(parents=True)
    (tree / JOURNAL).write_bytes(encode_journal([Entry.of(path, None, b"evil", digest)]))
    with pytest.raises(Interrupted, match="not in the tree"):
        resume(tree)
    assert not (tree / path).exists()


def test_a_changed_file_stops_the_write(tree: Path) -> None:
    (tree / "pkg/__init__.py").write_bytes(b"# edited meanwhile\n")
    now = contents(tree)
    with pytest.raises(CannotWrite, match="changed since it was scanned; nothing was written, run again") as caught:
        save(tree, CHANGES)
    assert caught.value.path == "pkg/__init__.py"
    assert contents(tree) == now


def test_a_file_that_appeared_is_not_overwritten(tree: Path) -> None:
    (tree / "narrowed.toml").write_bytes(b"version = 1\n# mine\n")
    with pytest.raises(CannotWrite, match="changed since"):
        save(tree, CHANGES)


def test_a_file_that_went_away_stops_the_write(tree: Path) -> None:
    (tree / "pkg/a.py").unlink()
    with pytest.raises(CannotWrite, match="changed since"):
        save(tree, CHANGES)


@pytest.mark.parametrize("failing", range(1, len(CHANGES) + 1))
def test_a_failing_write_takes_everything_back(tree: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    real, calls = os.replace, 0

    def failing_replace(source: Path, target: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == failing + 1:  # the first call is the journal's
            raise PermissionError(13, "Permission denied")
        real(source, target)

    monkeypatch.setattr(os, "replace", failing_replace)
    with pytest.raises(CannotWrite, match="Permission denied; nothing was changed") as caught:
        save(tree, CHANGES)
    assert caught.value.path == NAMES[failing - 1]
    assert contents(tree) == BEFORE


def test_a_failing_roll_back_keeps_the_journal(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = os.replace, 0

    def failing_replace(source: Path, target: Path) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OSError(28, "No space left on device")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing_replace)
        with pytest.raises(Interrupted, match="No space left"):
            save(tree, CHANGES)
    assert abort(tree) == NAMES
    assert contents(tree) == BEFORE


def test_a_journal_that_cannot_be_written_changes_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", refuse_all)
    with pytest.raises(CannotWrite, match="journal cannot be written"):
        save(tree, CHANGES)
    assert contents(tree) == BEFORE


def test_a_read_only_file_is_named(tree: Path) -> None:
    (tree / "pkg/a.py").chmod(0o444)
    with pytest.raises(CannotWrite, match="is read-only") as caught:
        save(tree, CHANGES)
    assert caught.value.path == "pkg/a.py"
    assert contents(tree) == BEFORE


def test_a_read_only_folder_is_named(tree: Path) -> None:
    (tree / "pkg").chmod(0o555)
    try:
        with pytest.raises(CannotWrite, match="folder that is read-only"):
            save(tree, CHANGES)
    finally:
        (tree / "pkg").chmod(0o755)
    assert contents(tree) == BEFORE


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
def test_mode_bits_stay(tree: Path, mode: int) -> None:
    (tree / "pkg/a.py").chmod(mode)
    save(tree, CHANGES)
    assert stat.S_IMODE((tree / "pkg/a.py").stat().st_mode) == mode


def test_a_created_file_has_the_usual_mode(tree: Path) -> None:
    (tree / "plain").write_bytes(b"")
    save(tree, CHANGES)
    assert (tree / "narrowed.toml").stat().st_mode == (tree / "plain").stat().st_mode


def test_a_symlink_is_written_through(tree: Path) -> None:
    (tree / "link.py").symlink_to("pkg/a.py")
    old, new = CHANGES[0].before, CHANGES[0].after
    save(tree, [FileChange("link.py", old, new), CHANGES[0]])
    assert (tree / "link.py").is_symlink()
    assert (tree / "pkg/a.py").read_bytes() == new


def test_two_texts_for_one_file_are_refused(tree: Path) -> None:
    (tree / "link.py").symlink_to("pkg/a.py")
    with pytest.raises(CannotWrite, match="same file"):
        save(tree, [CHANGES[0], FileChange("link.py", CHANGES[0].before, b"other")])
    assert (tree / "pkg/a.py").read_bytes() == CHANGES[0].before


def test_a_symlink_out_of_the_tree_is_refused(tree: Path) -> None:
    outside = tree.parent / "outside.py"
    outside.write_bytes(b"x")
    (tree / "link.py").symlink_to(outside)
    with pytest.raises(CannotWrite, match="leads out of the tree"):
        save(tree, [FileChange("link.py", b"x", b"y")])
    assert outside.read_bytes() == b"x"


def test_odd_targets_are_refused(tree: Path) -> None:
    (tree / "dangling.py").symlink_to("nowhere.py")
    (tree / "folder.py").mkdir()
    for path, reason in [
        ("dangling.py", "does not exist"),
        ("folder.py", "not a regular file"),
        ("missing/new.toml", "folder that does not exist"),
        ("../new.toml", "out of the tree"),
        (".git/config", "out of the tree"),
    ]:
        with pytest.raises(CannotWrite, match=reason):
            save(tree, [FileChange(path, b"", b"x")])


def test_the_root_may_be_a_symlink(tree: Path) -> None:
    root = tree.parent / "alias"
    root.symlink_to(tree)
    save(root, CHANGES)
    assert contents(tree) == AFTER


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="names are bytes on Linux only")
def test_a_name_that_is_not_utf8_is_saved_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    (tmp_path / name).write_bytes(b"old\n")
    with monkeypatch.context() as patch:
        real = os.replace
        patch.setattr(
            os, "replace", lambda s, t: (_ for _ in ()).throw(KeyboardInterrupt) if name in str(t) else real(s, t)
        )
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path, [FileChange(name, b"old\n", b"new\n")])
    assert resume(tmp_path) == (name,)
    assert (tmp_path / name).read_bytes() == b"new\n"


def test_a_tree_reads_bytes_and_names_what_it_cannot_read(tree: Path) -> None:
    files = Tree(tree, NAMES)
    assert files.read("pkg/crlf.py") == BEFORE["pkg/crlf.py"]
    with pytest.raises(Unreadable) as caught:
        files.read("narrowed.toml")
    assert caught.value.path == "narrowed.toml"


def test_the_canonical_path_follows_symlinks_inside_the_tree(tree: Path) -> None:
    (tree / "link.py").symlink_to("pkg/a.py")
    (tree / "out.py").symlink_to(project.__file__)
    (tree / "dangling.py").symlink_to("nowhere.py")
    files = Tree(tree, ())
    assert files.canonical("pkg/a.py") == files.canonical("link.py") == "pkg/a.py"
    assert files.canonical("narrowed.toml") == "narrowed.toml"
    assert files.canonical("out.py") is None
    assert files.canonical("dangling.py") is None


def test_a_digest_is_sixteen_bytes() -> None:
    assert digest(b"") != digest(b"a")
    assert len(digest(b"")) == 32
