"""Pull requests through stand-ins for `gh` and `glab`, with a bare repository as the remote."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codemods.engine import forge as forges
from codemods.engine.forge import Forge, ForgeFailed, Proposal, check_installed, forge_of, open_all, script
from codemods.engine.git import GitFailed, Repository, repository
from codemods.engine.model import FileChange
from tests.engine.forges import StandIns, published, stand_ins
from tests.engine.repositories import ENVIRONMENT, committed, git

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-ins are started by their first line")

WHO = "Bob <bob@example.org>"
BODY = "Why\n\n- `a` \"b\" $HOME 'c' \\ \N{EM DASH} end"
GITHUB = Forge("gh", "origin", "main", "github.com/acme/widgets")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    made = stand_ins(tmp_path / "forge")
    monkeypatch.setenv("PATH", made.path)
    return made


@pytest.fixture
def root(tmp_path: Path, stand_in: StandIns) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / name).write_text(f"{name}\n")
    published(folder, stand_in)
    return folder


def here(root: Path) -> Repository:
    found = repository(root)
    assert found is not None
    return found


def proposals(root: Path) -> list[Proposal]:
    """Three branches, the last one a draft."""
    repo = here(root)
    found = []
    for number, name in enumerate(("a", "b", "c"), start=1):
        change = FileChange(name, f"{name}\n".encode(), b"new\n")
        commit = repo.commit(repo.head(), [change], f"Title of '{name}'\n\n{BODY}\n", WHO)
        found.append(Proposal(number, f"n/{number}-{name}", commit, f"Title of '{name}'", BODY, name == "c"))
    repo.create_branches({each.branch: each.commit for each in found})
    return found


@pytest.mark.parametrize("tool", ["gh", "glab"])
def test_branches_are_pushed_and_each_has_one_request_with_its_words(root: Path, stand_in: StandIns, tool: str) -> None:
    git(root, "tag", "-a", "-m", "t", "v1")
    git(root, "config", "push.followTags", "true")
    wanted = proposals(root)
    forge = replace(GITHUB, tool=tool)
    said: list[str] = []
    assert open_all(here(root), forge, wanted, tell=said.append) == 0
    assert {name: commit for name, commit in stand_in.branches().items() if name != "main"} == {
        each.branch: each.commit for each in wanted
    }
    assert git(stand_in.bare, "tag") == ""
    made = stand_in.requests()
    assert [(row["branch"], row["title"], row["body"], row["draft"], row["base"]) for row in made] == [
        (each.branch, each.title, BODY, each.draft, "main") for each in wanted
    ]
    assert said[0] == "opened 1 n/1-a: https://forge.example/pull/1"
    # again: what is open stays, nothing is pushed
    stand_in.forget_calls()
    git(root, "config", "remote.origin.pushurl", "/nowhere")
    said.clear()
    assert open_all(here(root), forge, wanted, tell=said.append) == 0
    assert said == [f"kept {each.number} {each.branch}: https://forge.example/pull/{each.number}" for each in wanted]
    assert len(stand_in.calls()) == len(stand_in.calls(tool, "mr" if tool == "glab" else "pr", "list")) == 3


def test_the_body_of_a_pull_request_never_stands_on_a_command_line(root: Path, stand_in: StandIns) -> None:
    open_all(here(root), GITHUB, proposals(root))
    words, body = stand_in.calls("gh", "pr", "create")[0]
    assert words == [
        *["gh", "pr", "create", "--repo", "github.com/acme/widgets", "--base", "main", "--head", "n/1-a"],
        *["--title", "Title of 'a'", "--body-file", "-"],
    ]
    assert body == BODY


@pytest.mark.parametrize("tool", ["gh", "glab"])
def test_a_title_is_cut_to_what_a_forge_takes(root: Path, stand_in: StandIns, tool: str) -> None:
    long, *_ = proposals(root)
    open_all(here(root), replace(GITHUB, tool=tool), [replace(long, title="t" * 300)])
    assert [row["title"] for row in stand_in.requests()] == ["t" * 247 + "..."]


def test_a_failure_says_what_is_open_and_running_again_completes(root: Path, stand_in: StandIns) -> None:
    wanted = proposals(root)
    stand_in.fail_for("n/2")
    with pytest.raises(ForgeFailed, match=r"part 2 \(n/2-b\) is not open: gh pr create failed .*bad day") as failed:
        open_all(here(root), GITHUB, wanted)
    assert failed.value.hint.startswith("open: 1; not open: 2, 3.")
    stand_in.fail_for("")
    assert open_all(here(root), GITHUB, wanted) == 0
    assert [row["branch"] for row in stand_in.requests()] == [each.branch for each in wanted]


def test_a_request_that_is_there_though_the_answer_was_lost_is_no_failure(root: Path, stand_in: StandIns) -> None:
    stand_in.lose_answers()
    said: list[str] = []
    assert open_all(here(root), GITHUB, proposals(root), tell=said.append) == 0
    assert said[2] == "opened 3 n/3-c: https://forge.example/pull/3"
    assert len(stand_in.requests()) == 3


def test_at_most_so_many_are_opened_and_pushed_at_a_time(root: Path, stand_in: StandIns) -> None:
    wanted = proposals(root)
    assert open_all(here(root), GITHUB, wanted, most=2) == 1
    assert sorted(stand_in.branches()) == ["main", "n/1-a", "n/2-b"]
    assert open_all(here(root), GITHUB, wanted, most=2) == 0
    assert len(stand_in.requests()) == 3


@pytest.mark.parametrize(
    ("state", "commit", "cross", "kept"),
    [
        ("OPEN", "other", False, True),  # somebody has added a commit to it
        ("OPEN", "other", True, False),  # a branch of that name in a stranger's fork
        ("MERGED", "own", False, True),
        ("MERGED", "other", False, False),  # an earlier narrowing under the same prefix
        ("CLOSED", "own", False, True),
    ],
)
def test_which_requests_count_as_there(
    root: Path, stand_in: StandIns, state: str, commit: str, cross: bool, kept: bool
) -> None:
    wanted = proposals(root)[:1]
    oid = wanted[0].commit if commit == "own" else "0" * 40
    row = {"headRefOid": oid, "state": state, "url": "https://forge.example/pull/7"}
    row["headRepositoryOwner"], row["isCrossRepository"] = {"login": "stranger"}, cross
    stand_in.know([{"branch": wanted[0].branch, "gh": {**row, "state": state}}])
    said: list[str] = []
    open_all(here(root), GITHUB, wanted, tell=said.append)
    shown = "" if state == "OPEN" else f" ({state.lower()})"
    assert (said == [f"kept 1 n/1-a: https://forge.example/pull/7{shown}"]) is kept


def test_a_push_that_is_rejected_opens_nothing_and_says_why(root: Path, stand_in: StandIns) -> None:
    wanted = proposals(root)
    git(root, "push", "-q", "origin", f"{wanted[1].commit}:refs/heads/n/1-a")
    with pytest.raises(GitFailed, match=r"(?s)git push failed: .*n/1-a.*rejected|rejected.*n/1-a"):
        open_all(here(root), GITHUB, wanted)
    assert stand_in.branches()["n/1-a"] == wanted[1].commit
    assert stand_in.requests() == []


def test_the_persons_own_hook_may_stop_a_push(root: Path, stand_in: StandIns) -> None:
    hook = root / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on a Monday >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitFailed, match="not on a Monday"):
        open_all(here(root), GITHUB, proposals(root))
    assert list(stand_in.branches()) == ["main"]


def test_a_program_that_is_not_installed_or_says_nonsense_is_an_error(
    root: Path, stand_in: StandIns, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stand_in.folder / "bin/gh"
    program.write_text("#!/bin/sh\necho '{not json'\n")
    with pytest.raises(ForgeFailed, match="cannot be understood"):
        open_all(here(root), GITHUB, proposals(root))
    program.unlink()
    (stand_in.folder / "bin/git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(stand_in.folder / "bin"))
    with pytest.raises(ForgeFailed, match="the program gh, which is not installed"):
        check_installed(GITHUB)
    with pytest.raises(ForgeFailed, match="gh cannot be started"):
        open_all(here(root), GITHUB, proposals(root))
    assert list(stand_in.branches()) == ["main"]


# --- a dry run ---


@pytest.mark.parametrize("tool", ["gh", "glab"])
def test_the_commands_of_a_dry_run_do_in_a_shell_what_the_run_does(root: Path, stand_in: StandIns, tool: str) -> None:
    wanted, forge = proposals(root), replace(GITHUB, tool=tool)
    lines = script(forge, wanted)
    assert stand_in.calls() == []
    assert list(stand_in.branches()) == ["main"]
    copied = "\n".join(lines)
    environment = {**ENVIRONMENT, "PATH": stand_in.path}
    subprocess.run(["sh", "-e", "-c", copied], cwd=root, env=environment, check=True, capture_output=True)
    by_hand, calls = stand_in.requests(), stand_in.calls()
    assert [row["body"].rstrip("\n") for row in by_hand] == [BODY] * 3
    stand_in.know([])
    stand_in.forget_calls()
    open_all(here(root), forge, wanted)
    same = [(words, body.rstrip("\n")) for words, body in calls]
    assert same == [call for call in stand_in.calls() if "create" in call[0]]


@pytest.mark.parametrize("tool", ["gh", "glab"])
def test_a_body_that_the_forge_would_not_take_is_cut_at_a_line(
    root: Path, stand_in: StandIns, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setitem(forges._LONGEST, tool, 10)  # "Why" and the empty line
    wanted, forge = proposals(root)[:1], replace(GITHUB, tool=tool)
    open_all(here(root), forge, wanted)
    assert stand_in.requests()[0]["body"] == "Why\n"
    stand_in.know([])
    environment = {**ENVIRONMENT, "PATH": stand_in.path}
    copied = "\n".join(script(forge, wanted))
    subprocess.run(["sh", "-e", "-c", copied], cwd=root, env=environment, check=True, capture_output=True)
    assert stand_in.requests()[0]["body"].rstrip("\n") == "Why"


# --- where to ---


@pytest.mark.parametrize(
    ("address", "tool", "spelled"),
    [
        ("https://github.com/acme/widgets.git", "gh", "github.com/acme/widgets"),
        ("git@github.com:acme/widgets.git", "gh", "github.com/acme/widgets"),
        ("ssh://git@github.corp.example:2222/acme/widgets", "gh", "github.corp.example/acme/widgets"),
        ("git@github-work:acme/widgets.git", "gh", ""),  # a name of the person's ssh configuration
        ("https://gitlab.com/group/sub/widgets.git", "glab", "https://gitlab.com/group/sub/widgets"),
        ("git@gitlab.corp.example:group/widgets.git", "glab", "https://gitlab.corp.example/group/widgets"),
        ("https://user:secret@gitlab.com/a/b", "glab", "https://gitlab.com/a/b"),
    ],
)
def test_the_address_of_the_remote_says_which_program_and_which_repository(
    root: Path, address: str, tool: str, spelled: str
) -> None:
    git(root, "config", "remote.origin.url", address)
    assert forge_of(here(root), "auto") == Forge(tool, "origin", "main", spelled)


@pytest.mark.parametrize("address", ["https://code.example/a/b", "/srv/git/a.git", "../a.git", "file:///srv/a.git"])
def test_an_address_that_does_not_say_it_needs_a_choice(root: Path, address: str) -> None:
    git(root, "config", "remote.origin.url", address)
    with pytest.raises(ForgeFailed, match="does not say what opens") as failed:
        forge_of(here(root), "auto")
    assert "--open=gh" in failed.value.hint
    assert forge_of(here(root), "glab").tool == "glab"


def test_a_fork_is_pushed_to_and_its_upstream_gets_the_requests(root: Path) -> None:
    git(root, "remote", "add", "mine", "git@github.com:ann/widgets.git")
    assert forge_of(here(root), "auto", "mine") == Forge("gh", "mine", "main", "github.com/acme/widgets", "ann")
    git(root, "config", "remote.pushDefault", "mine")  # what `git push` obeys
    found = forge_of(here(root), "auto")
    assert found == Forge("gh", "mine", "main", "github.com/acme/widgets", "ann")
    words = script(found, [Proposal(1, "n/1", "", "T", "b")])[1]
    assert "--repo github.com/acme/widgets --base main --head ann:n/1 " in words
    git(root, "config", "--unset", "remote.pushDefault")
    git(root, "config", "remote.origin.pushurl", "git@github-work:ann/widgets.git")  # one remote, two repositories
    assert forge_of(here(root), "auto") == Forge("gh", "origin", "main", "github.com/acme/widgets", "ann")
    glab = forge_of(here(root), "glab")
    assert "--head ann/widgets --source-branch n/1 " in script(glab, [Proposal(1, "n/1", "", "T", "b")])[1]


def test_without_a_remote_or_with_an_unknown_one_it_stops(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ForgeFailed, match="there is no remote other"):
        forge_of(here(root), "auto", "other")
    (tmp_path / "new").mkdir()
    (tmp_path / "new/a").write_text("a")
    committed(tmp_path / "new")
    with pytest.raises(ForgeFailed, match="no remote to push to"):
        forge_of(here(tmp_path / "new"), "gh")


def test_the_only_remote_is_taken_whatever_its_name(root: Path) -> None:
    git(root, "remote", "rename", "origin", "upstream")
    git(root, "config", "--remove-section", "branch.main")
    assert forge_of(here(root), "auto").remote == "upstream"


def test_the_base_is_the_main_branch_or_the_one_that_is_followed_if_that_holds_head(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "work")
    assert forge_of(here(root), "auto").base == "main"
    git(root, "commit", "-q", "--allow-empty", "-m", "mine")
    with pytest.raises(ForgeFailed, match="commits that origin/main has not"):
        forge_of(here(root), "auto")
    assert forge_of(here(root), "auto", base="dev").base == "dev"
    git(root, "update-ref", "refs/remotes/origin/release", "HEAD")
    git(root, "branch", "-q", "--set-upstream-to", "origin/release")
    assert forge_of(here(root), "auto").base == "release"


def test_a_detached_head_has_the_main_branch_as_its_base_or_needs_to_be_told(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    assert forge_of(here(root), "auto") == replace(GITHUB)
    git(root, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    with pytest.raises(ForgeFailed, match="HEAD is on no branch"):
        forge_of(here(root), "auto")
    assert forge_of(here(root), "auto", base="dev").base == "dev"
