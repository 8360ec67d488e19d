"""Commits by plumbing: the person's files, index and HEAD stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.git import GitFailed, Repository, Uncommitted, check_committed, repository
from codemods.engine.model import FileChange
from tests.engine.repositories import committed, git, state

WHO = "Bob <bob@example.org>"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.py").write_bytes(b"a\r\n")
    (tmp_path / "in/b.sh").write_bytes(b"b\n")
    (tmp_path / "in/b.sh").chmod(0o755)
    committed(tmp_path)
    return tmp_path


def here(root: Path) -> Repository:
    found = repository(root)
    assert found is not None
    return found


def test_a_commit_changes_what_it_says_and_nothing_of_the_persons(tree: Path) -> None:
    (tree / "a.py").write_bytes(b"work in progress\n")
    git(tree, "add", "a.py")
    (tree / "new.txt").write_text("untracked\n")
    before = state(tree)
    repo = here(tree)
    changes = [FileChange("in/b.sh", b"b\n", b"B\n"), FileChange("c.toml", b"", b"c\n")]
    commit = repo.commit(repo.head(), changes, "title\n\nbody\n", WHO)
    assert repo.create_branches({"x/1": commit}) == ("x/1",)
    assert state(tree) == before
    assert git(tree, "show", "--format=%an <%ae>|%B", "--name-only", "x/1").split("\n\n") == [
        f"{WHO}|title",
        "body",
        "\nc.toml\nin/b.sh\n",
    ]
    assert git(tree, "ls-tree", "x/1", "in/b.sh").startswith("100755")
    assert git(tree, "show", "x/1:in/b.sh") == "B\n"
    assert not list(tree.glob(".git/**/*.lock"))


def test_the_same_input_gives_the_same_commit_so_that_running_again_finds_it(tree: Path) -> None:
    repo = here(tree)
    first, second = (repo.commit(repo.head(), [FileChange("a.py", b"a\r\n", b"A\r\n")], "t\n", WHO) for _ in range(2))
    assert first == second
    assert repo.create_branches({"x": first}) == ("x",)
    assert repo.create_branches({"x": first, "y": first}) == ("y",)


def test_a_branch_with_other_commits_stays_and_no_other_is_made(tree: Path) -> None:
    repo = here(tree)
    commit = repo.commit(repo.head(), [FileChange("a.py", b"a\r\n", b"A\r\n")], "t\n", WHO)
    git(tree, "branch", "taken")
    with pytest.raises(GitFailed, match="taken"):
        repo.create_branches({"fresh": commit, "taken": commit})
    assert "fresh" not in git(tree, "branch")


def test_a_file_that_no_commit_holds_is_named(tree: Path) -> None:
    repo = here(tree)
    with pytest.raises(GitFailed, match=r"no\.py: is in no commit"):
        repo.commit(repo.head(), [FileChange("no.py", b"x", b"y")], "t\n", WHO)


def test_paths_are_relative_to_a_folder_below_the_top(tree: Path) -> None:
    repo = here(tree / "in")
    assert repo.prefix == "in/"
    commit = repo.commit(repo.head(), [FileChange("b.sh", b"b\n", b"B\n")], "t\n", WHO)
    assert git(tree, "show", f"{commit}:in/b.sh") == "B\n"
    (tree / "in/b.sh").write_bytes(b"mine\n")
    assert repo.modified(["b.sh"]) == ("b.sh",)


def test_uncommitted_means_changed_or_staged_and_never_untracked(tree: Path) -> None:
    (tree / "new.py").write_text("x\n")
    change = FileChange("a.py", b"a\r\n", b"A\r\n")
    check_committed(tree, [change, FileChange("new.py", b"x\n", b"y\n")])
    (tree / "in/b.sh").write_bytes(b"mine\n")
    check_committed(tree, [change])
    (tree / "a.py").write_bytes(b"mine\n")
    with pytest.raises(Uncommitted, match=r"a\.py: has uncommitted"):
        check_committed(tree, [change])
    git(tree, "add", "a.py")
    with pytest.raises(Uncommitted):
        check_committed(tree, [change])


def test_without_git_nothing_is_asked(tmp_path: Path) -> None:
    check_committed(tmp_path, [FileChange("a.py", b"", b"x")])
