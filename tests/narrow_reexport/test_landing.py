"""Parts go out: tried first, opened as pull requests at last; what is red or cannot be opened is said."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.forges import StandIns, published, stand_ins
from tests.engine.repositories import git, state
from tests.narrow_reexport.test_bulk import FILES, at, one_shot
from tests.narrow_reexport.verbs import contents, expect_tree, narrow, outside, tree

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are started by their first line")

BRANCHES = ["pkg", "sym", "--split", "directory", "--branches", "narrow/"]
NAMES = ["narrow/01-part", "narrow/02-app", "narrow/03-tools", "narrow/04-removal"]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    made = stand_ins(tmp_path / "forge")
    monkeypatch.setenv("PATH", made.path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return made


@pytest.fixture
def root(stand_in: StandIns) -> Iterator[Path]:
    with tree(FILES) as folder:
        published(folder, stand_in)
        yield folder


def made(root: Path) -> list[str]:
    return git(root, "branch", "--list", "narrow/*", "--format=%(refname:short)").split()


# --- pull requests ---


def test_open_pushes_the_branches_and_opens_a_request_for_each_the_removal_as_a_draft(
    root: Path, stand_in: StandIns
) -> None:
    before, files = state(root), contents(root)
    outcome = narrow(root, *BRANCHES, "--open")
    assert outcome.code == 0, outcome.text
    assert (state(root), contents(root)) == (before, files)
    pushed = stand_in.branches()
    assert sorted(pushed) == ["main", *NAMES]
    assert [git(root, "rev-parse", name).strip() for name in NAMES] == [pushed[name] for name in NAMES]
    requests = stand_in.requests()
    assert [(row["branch"], row["draft"], row["base"]) for row in requests] == [
        (name, name == NAMES[-1], "main") for name in NAMES
    ]
    assert requests[1]["title"] == "Import sym from pkg.sub, 2/4: app"
    assert requests[1]["body"] == git(root, "log", "-1", "--format=%b", NAMES[1]).strip("\n")
    assert "It needs parts 1 to 3 to have landed." in requests[3]["body"]
    assert "opened 4 narrow/04-removal: https://forge.example/pull/4" in outcome.text
    again = narrow(root, *BRANCHES, "--open")
    assert again.code == 0, again.text
    assert "kept 4 narrow/04-removal: https://forge.example/pull/4" in again.text
    assert len(stand_in.requests()) == 4


def test_a_plan_file_is_opened_in_the_same_way(root: Path, stand_in: StandIns, tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.json")
    assert narrow(root, "pkg", "sym", "--plan-out", plan).code == 0
    outcome = narrow(root, "--apply", plan, *BRANCHES[2:], "--open=glab")
    assert outcome.code == 0, outcome.text
    assert [row["branch"] for row in stand_in.requests()] == NAMES
    assert not stand_in.calls("gh")


def test_a_dry_run_prints_commands_that_can_be_copied_and_does_nothing(root: Path, stand_in: StandIns) -> None:
    objects = git(root, "count-objects")
    outcome = narrow(root, *BRANCHES, "--open", "--dry-run", "-q", "-s", "--author", "Bob B <b@example.org>")
    assert outcome.code == 0, outcome.text
    assert (made(root), list(stand_in.branches()), stand_in.calls()) == ([], ["main"], [])
    assert git(root, "count-objects") == objects
    first, push, *requests = outcome.out.splitlines()
    assert shlex.split(first) == [
        *["narrow-reexport", *BRANCHES],
        *["--author", "Bob B <b@example.org>", "--sign-off"],
    ]
    assert push.startswith("git push ")
    assert "--force" not in outcome.text
    # the first line is this command; it and the rest do what the run does
    assert narrow(root, *shlex.split(first)[1:]).code == 0
    assert outside(root, ["sh", "-e", "-c", "\n".join([push, *requests])], {"PATH": stand_in.path}).code == 0
    by_hand = [{**row, "body": row["body"].strip("\n")} for row in stand_in.requests()]
    stand_in.know([])
    assert narrow(root, *BRANCHES, "--open", "-s", "--author", "Bob B <b@example.org>").code == 0
    assert stand_in.requests() == by_hand


def test_a_request_that_cannot_be_opened_stops_with_what_is_open_and_running_again_completes(
    root: Path, stand_in: StandIns
) -> None:
    stand_in.fail_for("tools")
    outcome = narrow(root, *BRANCHES, "--open")
    assert outcome.code == 3
    assert "part 3 (narrow/03-tools) is not open: gh pr create failed (exit code 1): HTTP 502" in outcome.text
    assert "open: 1, 2; not open: 3, 4." in outcome.text
    assert "Traceback" not in outcome.text
    stand_in.fail_for("")
    assert narrow(root, *BRANCHES, "--open", "--open-at-most", "1").code == 0
    assert narrow(root, *BRANCHES, "--open", "--open-at-most", "1").code == 0
    assert [row["branch"] for row in stand_in.requests()] == NAMES


def test_without_the_program_or_a_remote_no_branch_is_made(
    root: Path, stand_in: StandIns, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stand_in.folder / "bin/git").symlink_to(shutil.which("git") or "")
    (stand_in.folder / "bin/gh").unlink()
    monkeypatch.setenv("PATH", str(stand_in.folder / "bin"))
    outcome = narrow(root, *BRANCHES, "--open")
    assert (outcome.code, "gh, which is not installed" in outcome.text, made(root)) == (3, True, [])
    assert narrow(root, *BRANCHES, "--open", "--dry-run").code == 0  # to see the commands it takes no program
    git(root, "remote", "remove", "origin")
    outcome = narrow(root, *BRANCHES, "--open")
    assert (outcome.code, "no remote to push to" in outcome.text, made(root)) == (3, True, [])


# --- trials ---


def test_green_parts_ship_and_say_what_was_run_and_the_same_command_makes_the_same_commits(root: Path) -> None:
    command = [*BRANCHES, "--verify-command", "! grep -rq 'import pkg.nothing' . && test -f pkg/sub.py"]
    outcome = narrow(root, *command)
    assert outcome.code == 0, outcome.text
    assert outcome.text.count(": green") == 4
    assert at(root, NAMES[-1]) == one_shot()
    body = git(root, "log", "-1", "--format=%b", NAMES[1])
    assert "this command was green:\n\n    ! grep -rq 'import pkg.nothing' . && test -f pkg/sub.py\n" in body
    assert "No code of the project was run" not in body
    first = git(root, "for-each-ref", "refs/heads/narrow")
    # a branch that says so was tried; a part without one is tried again
    again = narrow(root, *command)
    assert again.code == 0
    assert "kept narrow/02-app" in again.text
    git(root, "branch", "-q", "-D", NAMES[1])
    again = narrow(root, *command)
    assert again.code == 0
    assert again.text.count("an earlier run found it so") == 3
    assert git(root, "for-each-ref", "refs/heads/narrow") == first
    # with another command the message would be another one
    assert narrow(root, *BRANCHES, "--verify-command", "exit 0").code == 3


def test_a_branch_that_does_not_say_it_was_tried_is_tried(root: Path, tmp_path: Path) -> None:
    (tmp_path / "message").write_text("{title}\n")
    plain = [*BRANCHES, "--message", str(tmp_path / "message")]
    assert narrow(root, *plain).code == 0
    outcome = narrow(root, *plain, "--verify-command", '[ -z "$CODEMODS_PART" ]')
    assert outcome.code == 4
    assert outcome.text.count(": red") == 4


def test_a_red_part_goes_nowhere_the_others_do_and_its_output_is_shown(
    root: Path, stand_in: StandIns, tmp_path: Path
) -> None:
    red = 'if [ "$CODEMODS_PART" = app ]; then echo "app is broken"; exit 1; fi'
    patches = ["--patches", str(tmp_path / "p")]
    outcome = narrow(root, *BRANCHES, *patches, "--open", "-q", "--verify-command", red)
    assert outcome.code == 4
    assert "tried 2 app: red (" in outcome.text
    assert "    app is broken\n" in outcome.text
    assert "tried 4 removal: red: not tried, since it needs part 2" in outcome.text
    assert made(root) == [NAMES[0], NAMES[2]]
    assert [row["branch"] for row in stand_in.requests()] == [NAMES[0], NAMES[2]]
    assert (tmp_path / "p/series").read_text() == "0001-part.patch\n0003-tools.patch\n"
    # what is open stays
    git(root, "branch", "-q", "-D", NAMES[0], NAMES[2])
    assert narrow(root, *BRANCHES, "--open", "--verify-command", red).code == 4
    assert len(stand_in.requests()) == 2


def test_the_removal_is_tried_on_top_of_all_others_and_a_red_one_stays_out(root: Path) -> None:
    red = '[ -z "$CODEMODS_PART" ] || grep -q sym pkg/__init__.py || { cat app/main.py tools/run.py top.py; exit 1; }'
    outcome = narrow(root, *BRANCHES, "--verify-command", red)
    assert outcome.code == 4
    assert made(root) == NAMES[:3]
    assert outcome.text.count("from pkg.sub import sym") == 2
    assert "import pkg.sub" in outcome.text


def test_a_red_start_stops_everything(root: Path) -> None:
    outcome = narrow(root, *BRANCHES, "--verify-command", "echo broken before; exit 2")
    assert outcome.code == 3
    assert "the command is red on HEAD as it is: exit code 2\n    broken before" in outcome.text
    assert "a red start proves nothing" in outcome.text
    assert made(root) == []


def test_with_split_alone_parts_are_tried_and_nothing_is_made(root: Path) -> None:
    before = state(root), git(root, "for-each-ref")
    outcome = narrow(root, "pkg", "sym", "--split", "directory", "--verify-command", '[ "$CODEMODS_PART" != tools ]')
    assert outcome.code == 4
    assert "tried 1 .: green" in outcome.text
    assert "tried 3 tools: red" in outcome.text
    assert (state(root), git(root, "for-each-ref")) == before
    expect_tree(root, FILES)


def test_a_plan_is_tried_from_its_file_and_json_holds_the_exit_code(root: Path, tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.json")
    assert narrow(root, "pkg", "sym", "--plan-out", plan).code == 0
    verify = ["--verify-command", '[ -z "$CODEMODS_PART" ]']
    assert narrow(root, "--apply", plan, "--split", "package", *verify).code == 4
    outcome = narrow(root, "pkg", "sym", "--split", "package", *verify, "--output-format", "json")
    assert outcome.code == 4
    assert json.loads(outcome.out)["exit_code"] == 4


def test_a_dry_run_with_json_keeps_the_commands_out_of_it(root: Path) -> None:
    outcome = narrow(root, *BRANCHES, "--open", "--dry-run", "--output-format", "json")
    assert json.loads(outcome.out)["exit_code"] == 0
    assert "gh pr create" in outcome.stderr.decode()


def test_the_persons_own_checkout_may_be_a_working_tree_itself(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", "-b", "work", str(tmp_path / "mine"))
    files = contents(tmp_path / "mine")
    outcome = narrow(tmp_path / "mine", *BRANCHES, "--open", "--verify-command", "git status --porcelain")
    assert outcome.code == 0, outcome.text
    assert made(root) == NAMES
    assert contents(tmp_path / "mine") == files
    assert git(root, "worktree", "list").count("\n") == 2
    assert git(tmp_path / "mine", "status", "--porcelain", "--branch") == "## work\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--split", "package", "--open"], "--open needs --branches"),
        (["--branches", "n/", "--dry-run"], "--dry-run goes with --open"),
        (["--branches", "n/", "--base", "main"], "--base goes with --open"),
        (["--branches", "n/", "--open-at-most", "3"], "--open-at-most goes with --open"),
        (["--branches", "n/", "--verify-timeout", "3"], "--verify-timeout goes with --verify-command"),
        (["--verify-command", "true"], "--verify-command goes with"),
        (["--split", "package", "--verify-command", " "], "--verify-command is empty"),
    ],
)
def test_options_that_mean_nothing_are_said(arguments: list[str], says: str) -> None:
    with tree(FILES) as root:
        outcome = narrow(root, "pkg", "sym", *arguments)
        assert (outcome.code, says in outcome.text) == (2, True), outcome.text
        expect_tree(root, FILES)


def test_without_git_there_is_no_checkout_to_try_anything_in() -> None:
    with tree(FILES) as root:
        outcome = narrow(
            root, "pkg", "sym", "--split", "package", "--verify-command", "true", "--author", "Bob <b@c.de>"
        )
        assert (outcome.code, "--verify-command needs a git checkout" in outcome.text) == (3, True), outcome.text
