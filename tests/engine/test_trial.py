"""Parts are tried in a checkout of their own, and nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from codemods.engine.git import Repository, repository
from codemods.engine.model import FileChange
from codemods.engine.pull_request import PullRequest, commits_of
from codemods.engine.trial import AlreadyRed, Command, Verdict, clear_dead_checkouts, proven, try_parts
from tests.engine.repositories import committed, git, state

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the commands are for a POSIX shell")

WHO = "Bob <bob@example.org>"
PROJECT = Path(__file__).resolve().parents[2]
PARTS = (
    PullRequest("one", "One", "b", (FileChange("a.txt", b"a\n", b"A\n"),)),
    PullRequest("two", "Two", "b", (FileChange("b.txt", b"b\n", b"B\n"),)),
    PullRequest("last", "Last", "b", (FileChange("c.txt", b"", b"c\n"),), last=True),
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"a\n")
    (root / "b.txt").write_bytes(b"b\n")
    (root / "src/m.py").write_bytes(b"where = __file__\n")
    committed(root)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return root


def here(root: Path) -> Repository:
    found = repository(root)
    assert found is not None
    return found


def tried(root: Path, line: str, timeout: float = 0.0) -> tuple[Verdict, ...]:
    repo = here(root)
    commits = commits_of(repo, PARTS, ["t\n"] * len(PARTS), WHO)
    return try_parts(repo, PARTS, commits, Command(line, timeout))


def nothing_left(root: Path) -> None:
    assert git(root, "worktree", "list").count("\n") == 1
    assert not (root / ".git/worktrees").exists()
    assert not list((root.parent / "tmp").iterdir())


def test_each_part_is_seen_alone_the_last_one_on_all_and_head_first(tree: Path, tmp_path: Path) -> None:
    (tree / "a.txt").write_bytes(b"work in progress\n")
    git(tree, "add", "a.txt")
    before = state(tree)
    seen = tmp_path / "seen"
    line = f'echo "$CODEMODS_PART" $(cat *.txt) >> {seen}; git status --porcelain >> {seen}; touch left .ignored'
    verdicts = tried(tree, line)
    assert [(v.number, v.part, v.green) for v in verdicts] == [(1, "one", True), (2, "two", True), (3, "last", True)]
    assert seen.read_text() == " a b\none A b\ntwo a B\nlast A B c\n"
    assert state(tree) == before
    nothing_left(tree)


def test_a_red_part_shows_the_end_of_its_output_and_the_last_one_is_not_tried(tree: Path) -> None:
    verdicts = tried(tree, '[ "$CODEMODS_PART" != two ] || { seq 100; echo to stderr >&2; exit 7; }')
    assert [v.green for v in verdicts] == [True, False, False]
    assert verdicts[1].why == "exit code 7"
    assert verdicts[1].tail == (*(str(number) for number in range(62, 101)), "to stderr")
    assert verdicts[1].lines()[0].startswith("tried 2 two: red (")
    assert verdicts[2].why == "not tried, since it needs part 2"
    nothing_left(tree)


def test_a_command_that_is_red_on_head_proves_nothing(tree: Path) -> None:
    with pytest.raises(AlreadyRed, match=r"red on HEAD as it is: exit code 1\n    no b"):
        tried(tree, "grep -q B b.txt || { echo no b; exit 1; }")
    nothing_left(tree)


def test_the_code_that_is_imported_is_that_of_the_checkout(tree: Path) -> None:
    # an editable install would lead to the person's own files
    line = f"cd / && {sys.executable} -c \"import m; assert m.where.startswith('{tree.parent}/tmp/'), m.where\""
    assert all(verdict.green for verdict in tried(tree, line))


def test_a_folder_below_the_top_is_where_the_command_runs(tree: Path) -> None:
    repo = here(tree / "src")
    parts = (PullRequest("one", "One", "b", (FileChange("m.py", b"where = __file__\n", b"x = 1\n"),)),)
    commits = commits_of(repo, parts, ["t\n"], WHO)
    line = '[ -z "$CODEMODS_PART" ] || grep -qx "x = 1" m.py'
    assert [verdict.green for verdict in try_parts(repo, parts, commits, Command(line))] == [True]


def test_a_command_that_takes_too_long_is_red_and_its_children_end(tree: Path, tmp_path: Path) -> None:
    line = f'[ -z "$CODEMODS_PART" ] || {{ (sleep 1; touch {tmp_path}/late) & sleep 30; }}'
    verdicts = tried(tree, line, 0.3)
    assert [v.why for v in verdicts[:2]] == ["not done after 0.3 s"] * 2
    time.sleep(1)
    assert not (tmp_path / "late").exists()
    nothing_left(tree)


def test_what_a_command_leaves_running_is_not_waited_for(tree: Path) -> None:
    start = time.monotonic()
    assert all(verdict.green for verdict in tried(tree, "sleep 30 & true"))
    assert time.monotonic() - start < 10


def test_a_command_that_removes_git_cannot_lead_to_the_persons_checkout(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # temporary folders inside the checkout: without its own .git a working tree there would be the person's
    (tree / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tree / "tmp"))
    head, files = git(tree, "rev-parse", "HEAD"), (tree / "a.txt").read_bytes()
    assert len(tried(tree, "rm -f .git")) == 3
    assert git(tree, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert (git(tree, "rev-parse", "HEAD"), (tree / "a.txt").read_bytes()) == (head, files)
    assert git(tree, "status", "--porcelain") == ""


def test_parts_that_are_known_to_be_green_are_not_run(tree: Path, tmp_path: Path) -> None:
    repo = here(tree)
    commits = commits_of(repo, PARTS, ["t\n"] * 3, WHO)
    command = Command(f'echo "$CODEMODS_PART" >> {tmp_path}/seen')
    assert all(v.green for v in try_parts(repo, PARTS, commits, command, known={1}))
    assert (tmp_path / "seen").read_text() == "\ntwo\nlast\n"
    assert all(v.green for v in try_parts(repo, PARTS, commits, command, known={1, 2, 3}))
    assert (tmp_path / "seen").read_text() == "\ntwo\nlast\n"


ENDED = """
import sys
from pathlib import Path
from tests.engine.test_trial import tried
tried(Path(sys.argv[1]), f'[ -z "$CODEMODS_PART" ] || {{ touch {sys.argv[1]}/../started; sleep 60; }}')
"""


def started(tree: Path, tmp_path: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "TMPDIR": str(tmp_path / "tmp")}
    process = subprocess.Popen([sys.executable, "-c", ENDED, str(tree)], env=environment, stderr=subprocess.PIPE)
    for _ in range(200):
        if (tmp_path / "started").exists():
            return process
        time.sleep(0.05)
    pytest.fail("the command did not start")


@pytest.mark.usefixtures("heeded_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_takes_its_checkout_along(tree: Path, tmp_path: Path, number: int) -> None:
    process = started(tree, tmp_path)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode != 0
    nothing_left(tree)


def test_the_checkout_of_a_killed_run_is_cleared_by_the_next_and_other_working_trees_stay(
    tree: Path, tmp_path: Path
) -> None:
    git(tree, "worktree", "add", "-q", "--detach", str(tmp_path / "mine"))
    git(tree, "worktree", "add", "-q", "--detach", str(tmp_path / "away"))
    (tmp_path / "away").rename(tmp_path / "unplugged")  # a disk that is not there today
    process = started(tree, tmp_path)
    clear_dead_checkouts(here(tree))
    assert git(tree, "worktree", "list").count("\n") == 4, "the checkout of a living run was taken away"
    process.kill()
    process.communicate()
    assert git(tree, "worktree", "list").count("\n") == 4
    clear_dead_checkouts(here(tree))
    assert [path.name for path in here(tree).checkouts()] == ["tree", "away", "mine"]
    assert not list((tmp_path / "tmp").iterdir())


def test_a_body_says_what_was_run() -> None:
    part = PullRequest("n", "T", "It parses. No code was run.\n\nRest.", ())
    body = proven(part, Command("pytest -q\nmypy\n"), "No code was run.").body
    assert body == (
        "It parses. In a clean checkout of HEAD with this part alone, this command was green:\n\n"
        "    pytest -q\n    mypy\n\nRest."
    )
