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
    assert repo.modified([FileChange("b.sh", b"b\n", b"B\n")]) == ()
    assert repo.modified([FileChange("b.sh", b"mine\n", b"B\n")]) == ("b.sh",)


def test_uncommitted_means_changed_or_staged_and_never_untracked(tree: Path) -> None:
    check_committed(tree, [FileChange("a.py", b"a\r\n", b"A\r\n"), FileChange("new.py", b"x\n", b"y\n")])
    with pytest.raises(Uncommitted, match=r"a\.py: has uncommitted"):
        check_committed(tree, [FileChange("a.py", b"mine\n", b"A\n")])
    (tree / "new.py").write_text("x\n")
    git(tree, "add", "new.py")
    with pytest.raises(Uncommitted, match=r"new\.py"):
        check_committed(tree, [FileChange("new.py", b"x\n", b"y\n")])


def test_a_file_that_git_keeps_with_other_line_ends_is_committed_with_those(tree: Path) -> None:
    # text=auto: CRLF in the working tree, LF in the commit
    repo = here(tree)
    change = FileChange("in/b.sh", b"b\r\n", b"B\r\n")
    check_committed(tree, [change])
    commit = repo.commit(repo.head(), [change], "t\n", WHO)
    assert git(tree, "show", f"{commit}:in/b.sh") == "B\n"


def test_nothing_that_the_configuration_of_the_target_names_is_started(tree: Path) -> None:
    marker = tree / "MARKER"
    program = tree / ".git/program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    program.chmod(0o755)
    for hook in ("reference-transaction", "post-index-change", "pre-commit"):
        (tree / ".git/hooks").mkdir(exist_ok=True)
        (tree / ".git/hooks" / hook).write_bytes(program.read_bytes())
        (tree / ".git/hooks" / hook).chmod(0o755)
    for name in ("core.fsmonitor", "filter.f.clean", "filter.f.smudge", "gpg.program"):
        git(tree, "config", name, str(program))
    git(tree, "config", "commit.gpgSign", "true")
    (tree / ".gitattributes").write_text("* filter=f\n")
    marker.unlink(missing_ok=True)
    repo = here(tree)
    change = FileChange("a.py", b"a\r\n", b"A\r\n")
    check_committed(tree, [change])
    repo.create_branches({"x": repo.commit(repo.head(), [change], "t\n", WHO)})
    assert not marker.exists()


def test_without_git_and_without_a_commit_nothing_is_uncommitted(tmp_path: Path) -> None:
    change = FileChange("a.py", b"", b"x")
    check_committed(tmp_path, [change])
    git(tmp_path, "init", "-q")
    check_committed(tmp_path, [change])


LINES = b"".join(b"line %d\n" % number for number in range(20))
EDIT = FileChange("long.py", LINES, LINES.replace(b"line 3\n", b"LINE 3\n"))


@pytest.fixture
def moved_on(tree: Path) -> tuple[Path, str]:
    """A branch with one edit, and a HEAD that has gone on since; the commit that the branch was."""
    (tree / "long.py").write_bytes(LINES)
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "long")
    repo = here(tree)
    first = repo.commit(repo.head(), [EDIT], "t\n", WHO)
    repo.create_branches({"x": first})
    (tree / "long.py").write_bytes(LINES + b"more\n")
    git(tree, "commit", "-q", "-a", "-m", "more")
    return tree, first


def test_a_branch_that_makes_the_same_edit_from_an_older_head_stays(moved_on: tuple[Path, str]) -> None:
    tree, first = moved_on
    repo = here(tree)
    again = repo.commit(repo.head(), [FileChange("long.py", LINES + b"more\n", EDIT.after + b"more\n")], "t\n", WHO)
    assert again != first
    assert repo.create_branches({"x": again}) == ()
    assert git(tree, "rev-parse", "x").strip() == first


def test_a_branch_whose_edit_does_not_merge_any_more_does_not_make_the_same(moved_on: tuple[Path, str]) -> None:
    tree, _ = moved_on
    repo = here(tree)
    before = LINES.replace(b"line 2\n", b"line 2\nbeside\n")
    (tree / "long.py").write_bytes(before)
    git(tree, "commit", "-q", "-a", "-m", "beside it")
    with pytest.raises(GitFailed, match="other commits"):
        change = FileChange("long.py", before, before.replace(b"line 3\n", b"LINE 3\n"))
        repo.create_branches({"x": repo.commit(repo.head(), [change], "t\n", WHO)})


def test_a_branch_that_makes_the_same_edit_from_this_head_with_other_words_is_another(tree: Path) -> None:
    repo = here(tree)
    change = FileChange("a.py", b"a\r\n", b"A\r\n")
    repo.create_branches({"x": repo.commit(repo.head(), [change], "t\n", WHO)})
    with pytest.raises(GitFailed, match="other commits"):
        repo.create_branches({"x": repo.commit(repo.head(), [change], "other words\n", WHO)})


def test_a_branch_with_another_edit_or_for_other_files_does_not_make_the_same(moved_on: tuple[Path, str]) -> None:
    tree, _ = moved_on
    repo = here(tree)
    before = LINES + b"more\n"
    other = FileChange("long.py", before, before.replace(b"line 3\n", b"third\n"))
    same = FileChange("long.py", before, EDIT.after + b"more\n")
    for changes in ([other], [same, FileChange("a.py", b"a\r\n", b"A\r\n")], [FileChange("a.py", b"a\r\n", b"A\r\n")]):
        with pytest.raises(GitFailed, match="a branch x with other commits"):
            repo.create_branches({"x": repo.commit(repo.head(), changes, "t\n", WHO)})


def test_what_head_holds_already_need_not_be_in_the_new_commit(tree: Path) -> None:
    repo = here(tree)
    both = [FileChange("a.py", b"a\r\n", b"A\r\n"), FileChange("in/b.sh", b"b\n", b"B\n")]
    repo.create_branches({"x": repo.commit(repo.head(), both, "t\n", WHO)})
    (tree / "a.py").write_bytes(b"A\r\n")
    git(tree, "commit", "-q", "-a", "-m", "by hand")
    assert repo.create_branches({"x": repo.commit(repo.head(), both[1:], "t\n", WHO)}) == ()
    (tree / "a.py").write_bytes(b"else\r\n")
    git(tree, "commit", "-q", "-a", "-m", "not so")
    with pytest.raises(GitFailed, match="other commits"):
        repo.create_branches({"x": repo.commit(repo.head(), both[1:], "t\n", WHO)})
