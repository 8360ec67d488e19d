"""Which code is at work: the fingerprint, from one process to the next."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codemods.engine import release as module
from codemods.engine.release import release
from tests.narrow_reexport.verbs import outside

ASK = "from codemods.engine.release import release; print(release(), end='')"


def test_another_process_of_the_same_code_says_the_same() -> None:
    assert outside(Path("/"), [sys.executable, "-c", ASK]).out == release()
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in release()


def test_a_changed_line_of_the_source_is_another_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine/a.py").write_text("x = 1\n")
    monkeypatch.setattr(module, "_FOLDER", tmp_path)
    first = release.__wrapped__()
    assert first == release.__wrapped__() != release()
    (tmp_path / "engine/a.py").write_text("x = 2\n")
    assert release.__wrapped__() != first
