"""One file on the disk: never blocked, never too much, in one step; and a tree killed at every call that changes it."""

from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from codemods.engine import disk, project
from codemods.engine.errors import CannotWrite
from codemods.engine.journal import JOURNAL
from codemods.engine.model import FileChange
from tests.engine.kills import CHANGING, dies_at, kills
from tests.engine.test_project import AFTER, BEFORE, CHANGES, contents, write_before

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


# --- reading ---


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    for size in (0, 1, 4096, 3_000_000):
        (tmp_path / "a").write_bytes(b"x" * size)
        assert disk.read_file(tmp_path / "a") == b"x" * size


@posix
def test_what_is_no_file_is_an_error_and_never_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(tmp_path)  # the name of a socket must be short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        for name in ("fifo", "folder", "zero", "loop", "socket", "nothing"):
            with pytest.raises(OSError):
                disk.read_file(tmp_path / name)
            with pytest.raises(OSError):
                disk.read_start(tmp_path / name, 10)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_a_file_that_lies_about_its_size_is_read_to_its_end() -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert b"Threads:" in disk.read_file("/proc/self/status")


@pytest.mark.skipif(not Path("/proc/kmsg").exists() or not os.access("/proc/kmsg", os.R_OK), reason="only root has it")
def test_a_file_without_an_end_is_an_error() -> None:
    with pytest.raises(OSError):  # a regular file by its mode, whose reader waits for the next message
        disk.read_file("/proc/kmsg")


def test_a_file_is_read_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_MOST", 100)
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert len(disk.read_file(tmp_path / "a")) == 100
    (tmp_path / "a").write_bytes(b"x" * 101)
    with pytest.raises(OSError, match="larger than"):
        disk.read_file(tmp_path / "a")
    if Path("/proc/self/status").exists():  # its size is 0, its text is not
        with pytest.raises(OSError, match="larger than"):
            disk.read_file("/proc/self/status")


# --- writing ---


def test_a_name_as_long_as_names_can_be_is_replaced(tmp_path: Path) -> None:
    full = tmp_path / ("n" * 252 + ".py")
    full.write_bytes(b"old")
    disk.replace(full, b"new")
    assert full.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == [full.name]


# --- kills ---

# one file that changes, one that is made, and the `__init__`: as few as show every step
FEW = (CHANGES[0], CHANGES[3], CHANGES[4])
FEW_BEFORE = {**BEFORE}
FEW_AFTER = {**BEFORE, **{change.path: change.after for change in FEW}}


class Trees:
    """Fresh copies of the tree before the change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0

    def fresh(self) -> Path:
        self.number += 1
        root = self.folder / f"tree{self.number}"
        root.mkdir(parents=True)
        write_before(root)
        return root

    def copy(self, of: Path) -> Path:
        self.number += 1
        return Path(shutil.copytree(of, self.folder / f"tree{self.number}"))


@posix
def test_a_save_killed_at_any_call_is_finished_or_taken_back(tmp_path: Path) -> None:
    trees, mixtures, journals = Trees(tmp_path), 0, 0
    for number, root in kills(trees.fresh, lambda root: project.save(root, CHANGES), above=25):
        left = contents(root)
        sources = {path: data for path, data in left.items() if ".codemods-" not in path}
        mixtures += sources not in (BEFORE, AFTER)
        journals += JOURNAL in left
        if JOURNAL not in left:
            assert sources in (BEFORE, AFTER), number
        back = trees.copy(root)
        project.resume(root)
        assert contents(root) == (AFTER if JOURNAL in left else sources), number
        project.abort(back)
        assert contents(back) == (BEFORE if JOURNAL in left else sources), number
        assert project.resume(root) == project.abort(back) == ()
    assert mixtures >= len(CHANGES) - 1 and journals > mixtures


@posix
@pytest.mark.parametrize("first", [project.resume, project.abort])
def test_what_finishes_or_takes_back_may_be_killed_at_any_call_too(
    tmp_path: Path, first: Callable[[Path], tuple[str, ...]]
) -> None:
    trees, killed = Trees(tmp_path), 0
    for number in (8, 14, 15, 16, 17):  # texts half ready, all ready, and each file in its place
        start = trees.fresh()
        assert dies_at(number, lambda start=start: project.save(start, FEW))  # type: ignore[misc]
        assert (start / JOURNAL).exists(), number
        for moment, root in kills(lambda start=start: trees.copy(start), first, above=0):  # type: ignore[misc]
            killed += 1
            pending, back = (root / JOURNAL).exists(), trees.copy(root)
            done = FEW_AFTER if first is project.resume else FEW_BEFORE
            project.resume(root)
            assert contents(root) == (FEW_AFTER if pending else done), (number, moment)
            project.abort(back)
            assert contents(back) == (FEW_BEFORE if pending else done), (number, moment)
    assert killed > 12


@pytest.mark.parametrize("module", [disk, project], ids=lambda module: module.__name__)
def test_every_call_that_changes_something_is_a_moment_to_be_killed_at(module: ModuleType) -> None:
    only_read = {"close", "fstat", "stat", "lstat", "read", "access", "listdir", "strerror", "urandom", "fspath"}
    tree = ast.parse(Path(str(module.__file__)).read_bytes())
    calls = {
        node.func.attr: ast.unparse(node.func.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert {name for name, base in calls.items() if base == "os"} <= {*CHANGING, "chown", *only_read}
    assert not calls.keys() & {"write_bytes", "write_text", "rename_to", "touch", "symlink_to", "rmtree", "copyfile"}


# --- two at once ---


@posix
def test_a_second_run_waits_until_the_first_has_written_and_then_sees_its_text(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    root = Trees(tmp_path).fresh()
    repository = Path(__file__).resolve().parents[2]
    code = (
        "import sys, time; from pathlib import Path; from codemods.engine import disk\n"
        "with disk.locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(float(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(root)]
    with subprocess.Popen([*command, "60"], stdout=subprocess.PIPE, cwd=repository) as holder:
        assert holder.stdout is not None and holder.stdout.readline()
        with pytest.raises(disk.Busy, match="another run is writing"), disk.locked(root, patience=0.1):
            pass
        holder.kill()  # the lock ends with the process
    project.save(root, CHANGES)
    assert contents(root) == AFTER


def test_a_busy_tree_is_an_error_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(root: Path) -> None:
        raise disk.Busy(16, "another run is writing in this tree")

    root = Trees(tmp_path).fresh()
    monkeypatch.setattr(disk, "locked", busy)
    with pytest.raises(CannotWrite, match="another run is writing in this tree; nothing was written") as caught:
        project.save(root, CHANGES)
    assert caught.value.hint
    assert contents(root) == BEFORE


@posix
def test_two_runs_at_once_leave_one_of_two_whole_trees(tmp_path: Path) -> None:
    root = Trees(tmp_path).fresh()
    other = tuple(FileChange(change.path, change.before, change.after + b"# theirs\n") for change in CHANGES)
    children = []
    for changes in (CHANGES, other):
        child = os.fork()
        if not child:
            code = 1
            try:
                project.save(root, changes)
                code = 0
            except CannotWrite:
                code = 3
            finally:
                os._exit(code)
        children.append(child)
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert codes == [0, 3]
    assert contents(root) in (AFTER, {change.path: change.after for change in other})
