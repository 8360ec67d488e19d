"""The cache: where it lies, what makes it stale, and what happens to a broken one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemods.import_cost import cache, tree
from codemods.import_cost.tree import open_tree
from tests.import_cost.checkouts import HEAVY, write


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"HOME": "/home/me"}, "linux", "/home/me/.cache/codemods"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/var/c"}, "linux", "/var/c/codemods"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "relative"}, "linux", "/home/me/.cache/codemods"),
        ({"HOME": "/Users/me"}, "darwin", "/Users/me/Library/Caches/codemods"),
        ({"LOCALAPPDATA": "/l", "USERPROFILE": "/u"}, "win32", "/l/codemods/Cache"),
        ({"USERPROFILE": "/u"}, "win32", "/u/AppData/Local/codemods/Cache"),
        ({"HOME": "/home/me", "CODEMODS_CACHE_DIR": "/given"}, "darwin", "/given"),
    ],
)
def test_each_platform_has_its_own_folder(environment: dict[str, str], platform: str, expected: str) -> None:
    assert cache.cache_folder(environment, platform).as_posix() == expected


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEMODS_CACHE_DIR", str(tmp_path / "cache"))
    root = write(tmp_path / "root", HEAVY)
    for path in root.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return root


def reads(root: Path, monkeypatch: pytest.MonkeyPatch, *, cached: bool = True) -> tuple[list[str], int]:
    """The files that are read for an answer, and its size."""
    seen: list[str] = []
    plain = tree.Tree.read

    def read(self: tree.Tree, path: str) -> bytes:
        seen.append(path)
        return plain(self, path)

    with monkeypatch.context() as patch:
        patch.setattr(tree.Tree, "read", read)
        size = len(open_tree(root, "pkg", cached=cached).loads.closure("pkg"))
    return sorted(seen), size


def test_a_second_run_reads_no_source(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, size = reads(checkout, monkeypatch)
    assert first == sorted(HEAVY)
    assert reads(checkout, monkeypatch) == ([], size)


def test_only_what_changed_is_read_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, size = reads(checkout, monkeypatch)
    (checkout / "pkg/shared.py").write_text("import numpy\nimport scipy\n")
    assert reads(checkout, monkeypatch) == (["pkg/shared.py"], size + 1)
    # it is too young to be believed, so it is read again
    assert reads(checkout, monkeypatch) == (["pkg/shared.py"], size + 1)


def test_a_file_that_went_or_came_is_noticed(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, size = reads(checkout, monkeypatch)
    (checkout / "pkg/models/model.py").unlink()
    assert reads(checkout, monkeypatch)[1] < size
    write(checkout, {"pkg/models/model.py": HEAVY["pkg/models/model.py"]})
    assert reads(checkout, monkeypatch)[1] == size


def test_without_the_cache_nothing_is_remembered(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert reads(checkout, monkeypatch, cached=False)[0] == sorted(HEAVY)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", [b"", b"something else\n", None])
def test_a_broken_or_foreign_file_is_ignored_and_rewritten(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    expected = reads(checkout, monkeypatch)
    file = cache.cache_file(checkout)
    whole = file.read_bytes()
    file.write_bytes(whole[:-7] if damage is None else damage)
    assert reads(checkout, monkeypatch) == expected
    assert file.read_bytes() == whole


def test_a_cache_of_another_version_is_ignored(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = reads(checkout, monkeypatch)
    monkeypatch.setattr(cache, "reader_version", lambda: "other")
    assert reads(checkout, monkeypatch) == expected


def test_a_folder_that_cannot_be_written_fails_no_run(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CODEMODS_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert reads(checkout, monkeypatch)[0] == sorted(HEAVY)


def test_nothing_but_the_cache_is_left_behind(checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reads(checkout, monkeypatch)
    assert [path.name for path in (tmp_path / "cache" / "import_cost").iterdir()] == [cache.cache_file(checkout).name]
    assert sorted(path.relative_to(checkout).as_posix() for path in checkout.rglob("*") if path.is_file()) == sorted(
        HEAVY
    )
