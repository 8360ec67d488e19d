"""Temporary folders of killed runs are cleared by the next one, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from codemods.engine.scratch import clear_dead, is_alive, scratch_folder

PROJECT = Path(__file__).resolve().parents[2]
HOLDS = """
import sys
from codemods.engine.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "in").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def names(top: Path) -> list[str]:
    return sorted(path.name for path in top.iterdir())


def test_a_folder_is_gone_after_use_with_what_a_command_made_read_only(top: Path) -> None:
    with scratch_folder() as folder:
        assert is_alive(folder)
        (folder / "deep/er").mkdir(parents=True)
        (folder / "deep/er/file").write_text("x")
        (folder / "deep/er").chmod(0o500)
    assert names(top) == []


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_the_folder_of_a_killed_run_goes_and_that_of_a_living_one_stays(top: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(top)}
    held = subprocess.Popen(
        [sys.executable, "-c", HOLDS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert held.stdout is not None
    folder = Path(held.stdout.readline().strip())
    with scratch_folder():
        assert (folder / "in").is_dir()
    os.kill(held.pid, signal.SIGKILL)
    held.communicate()
    assert names(top) == [folder.name]
    with scratch_folder() as mine:
        assert names(top) == [mine.name]


def test_folders_of_others_and_files_stay(top: Path) -> None:
    (top / "codemods-everything").mkdir()
    (top / "other").mkdir()
    (top / "codemods-run-file").write_text("x")
    (top / "codemods-run-link").symlink_to(top / "other")
    (top / "codemods-run-empty").mkdir()  # killed before it had its lock
    clear_dead()
    assert names(top) == ["codemods-everything", "codemods-run-file", "codemods-run-link", "other"]
