"""Patches that `git am` takes, and branches that stand on each other."""

from __future__ import annotations

from pathlib import Path

from codemods.engine.git import repository
from codemods.engine.model import FileChange
from codemods.engine.pull_request import PullRequest, branch_names, commits_of, message, series, title_and_body
from tests.engine.repositories import committed, git

WHO = "Bob Ömer <bob@example.org>"
DATE = "Mon, 30 Nov 2026 11:00:00 +0000"
FILES = {"a b.py": b"a\r\nrest\r\n", "latin.py": b"# \xe9\nx\n", "bare.py": b"no newline"}
ONE = (FileChange("a b.py", FILES["a b.py"], b"A\r\nrest\r\n"),)
TWO = (FileChange("latin.py", FILES["latin.py"], b"# \xe9\ny\n"), FileChange("bare.py", b"no newline", b"yes"))
THREE = (FileChange("new.toml", b"", b"n\n"),)
PARTS = (
    PullRequest("@org/a team", "One – first", "Body\n\n    code\n\n- list", ONE),
    PullRequest("two", "Two", "b", TWO),
    PullRequest("removal", "Last", "b", THREE, last=True),
)
TEXTS = [message(part, "{title}\n\n{body}", signed_by=WHO) for part in PARTS]


def laid(root: Path) -> Path:
    for path, data in FILES.items():
        (root / path).write_bytes(data)
    committed(root)
    return root


def after(root: Path, commit: str) -> dict[str, str]:
    names = git(root, "ls-tree", "-z", "--name-only", commit).split("\0")[:-1]
    return {name: git(root, "show", f"{commit}:{name}") for name in names}


def test_the_series_goes_through_git_am_byte_for_byte_and_with_its_words(tmp_path: Path) -> None:
    root = laid(tmp_path)
    found = series(PARTS, TEXTS, WHO, DATE, "")
    assert found["series"] == b"0001-org-a-team.patch\n0002-two.patch\n0003-removal.patch\n"
    for name in found["series"].decode().split():
        (root / ".git" / name).write_bytes(found[name])
        git(root, "am", "-q", "--keep-cr", f".git/{name}")
    assert (root / "a b.py").read_bytes() == b"A\r\nrest\r\n"
    assert (root / "latin.py").read_bytes() == b"# \xe9\ny\n"
    assert (root / "bare.py").read_bytes() == b"yes"
    assert (root / "new.toml").read_bytes() == b"n\n"
    assert git(root, "log", "--reverse", "--format=%an <%ae>%n%B", "-3").startswith(f"{WHO}\n{TEXTS[0]}")


def test_each_branch_stands_on_head_and_the_last_one_on_all(tmp_path: Path) -> None:
    root = laid(tmp_path)
    repo = repository(root)
    assert repo is not None
    names = branch_names(PARTS, "n/")
    assert names == ("n/01-org-a-team", "n/02-two", "n/03-removal")
    made = commits_of(repo, PARTS, TEXTS, WHO)
    assert [git(root, "rev-list", "--count", f"main..{commit}").strip() for commit in made] == ["1", "1", "3"]
    whole = {**FILES, "a b.py": b"A\r\nrest\r\n", "latin.py": b"# \xe9\ny\n", "bare.py": b"yes", "new.toml": b"n\n"}
    assert after(root, made[2]) == {p: d.decode("utf-8", "surrogateescape") for p, d in whole.items()}
    assert commits_of(repo, PARTS, TEXTS, WHO) == made
    assert git(root, "branch", "--list", "n/*") == ""


def test_a_series_leaves_parts_out_and_the_others_keep_their_numbers() -> None:
    found = series(PARTS, TEXTS, WHO, DATE, "", left_out={2})
    assert found["series"] == b"0001-org-a-team.patch\n0003-removal.patch\n"
    assert b"Subject: [PATCH 3/3] Last\n" in found["0003-removal.patch"]


def test_title_and_body_are_told_apart_as_git_does(tmp_path: Path) -> None:
    root = laid(tmp_path)
    for text in ("one\ntwo\n\nbody\n\n    code\n", "alone\n", TEXTS[0]):
        (root / ".git/text").write_text(text)
        git(root, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", ".git/text")
        title, body = git(root, "log", "-1", "--format=%s%x00%b").split("\0")
        assert title_and_body(text) == (title, body.strip("\n"))


def test_a_template_is_filled_in_and_braces_in_the_words_are_no_fields() -> None:
    part = PullRequest("n", "T {body}", "B", ())
    assert message(part, "[{name}] {title}\n\n{body} {other}") == "[n] T {body}\n\nB {other}\n"


def test_a_first_part_is_what_all_others_stand_on_and_a_later_part_may_delete_its_files(tmp_path: Path) -> None:
    root = laid(tmp_path)
    parts = (
        PullRequest("guard", "G", "b", (FileChange("base line/x.json", b"", b"1\n"),), first=True, number=1),
        PullRequest("two", "T", "b", (*TWO, FileChange("base line/x.json", b"1\n", b"", gone=True)), number=4),
        PullRequest("one", "O", "b", ONE, number=7),
        PullRequest("removal", "R", "b", (FileChange("a b.py", b"A\r\nrest\r\n", b"", gone=True),), True, number=9),
    )
    repo = repository(root)
    assert repo is not None
    made = branch_names(parts, "n/")
    repo.create_branches(dict(zip(made, commits_of(repo, parts, TEXTS[:1] * 4, WHO), strict=True)))
    assert list(made) == ["n/01-guard", "n/04-two", "n/07-one", "n/09-removal"]
    assert [git(root, "rev-list", "--count", f"main..{name}").strip() for name in made] == ["1", "2", "2", "4"]
    assert sorted(git(root, "ls-tree", "-r", "--name-only", "n/09-removal").split("\n")) == ["", "bare.py", "latin.py"]
    found = series(parts, TEXTS[:1] * 4, WHO, DATE, "")
    for name in found["series"].decode().split():
        (root / ".git" / name).write_bytes(found[name])
        git(root, "am", "-q", "--keep-cr", f".git/{name}")
    assert git(root, "rev-parse", "HEAD^{tree}") == git(root, "rev-parse", "n/09-removal^{tree}")
    assert not (root / "base line").exists()
