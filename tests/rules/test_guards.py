"""How long the guard of a tree is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemods.engine.errors import BadConfiguration
from codemods.rules import guards
from codemods.rules.guards import watched

ROW = 'version = 1\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'


def test_files_of_one_tree_share_its_guard(tmp_path: Path) -> None:
    (tmp_path / "narrowed.toml").write_text(ROW)
    first = watched(tmp_path / "a.py")
    assert first is not None
    assert watched(tmp_path / "deep" / "b.py") is first


def test_changed_rows_are_read_again(tmp_path: Path) -> None:
    rows = tmp_path / "narrowed.toml"
    rows.write_text(ROW)
    first = watched(tmp_path / "a.py")
    rows.write_text(ROW.replace("pkg:sym", "pkg:mys"))
    os.utime(rows, ns=(1, 1))
    second = watched(tmp_path / "a.py")
    assert first is not None and second is not None
    assert [ban.symbol.name for ban in second.guard.rows] == ["mys"]


def test_an_old_guard_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "narrowed.toml").write_text(ROW)
    first = watched(tmp_path / "a.py")
    monkeypatch.setattr(guards, "_FRESH", -1.0)
    assert watched(tmp_path / "a.py") is not first


def test_the_nearest_rows_count(tmp_path: Path) -> None:
    (tmp_path / "narrowed.toml").write_text(ROW)
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "narrowed.toml").write_text("version = 1\n")
    found = watched(inner / "a.py")
    assert found is not None and found.guard.root == inner


def test_broken_rows_are_an_error_each_time(tmp_path: Path) -> None:
    (tmp_path / "narrowed.toml").write_text("version = 7\n")
    for _ in range(2):
        with pytest.raises(BadConfiguration):
            watched(tmp_path / "a.py")


def test_without_rows_there_is_no_guard(tmp_path: Path) -> None:
    assert watched(tmp_path / "a.py") is None
