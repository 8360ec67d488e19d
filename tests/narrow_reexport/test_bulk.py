"""Shipping a plan: parts on the command line, patches, branches, and the words of each part."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.engine.repositories import committed, git, state
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Tree, contents, expect_tree, narrow, outside, tree

FILES: Tree = {
    **PKG,
    ".github/CODEOWNERS": "* @all\n/app/ @org/app\n/tools/ @org/tools @ann\n",
    "app/main.py": "from pkg import sym\n\nprint(sym(2))\n",
    "tools/run.py": "import pkg\n\nprint(pkg.sym(3))\n",
    "top.py": "from pkg import sym, light\n\nprint(sym(4))\n",
}


def one_shot() -> dict[str, bytes]:
    with tree(FILES) as root:
        assert narrow(root, "pkg", "sym").code == 0
        return contents(root)


def at(root: Path, commit: str) -> dict[str, bytes]:
    names = git(root, "ls-tree", "-r", "-z", "--name-only", commit).split("\0")[:-1]
    return {name: git(root, "show", f"{commit}:{name}").encode("utf-8", "surrogateescape") for name in names}


def test_split_alone_lists_the_parts_and_writes_nothing() -> None:
    pytest.importorskip("codeowners")
    with tree(FILES) as root:
        outcome = narrow(root, "pkg", "sym", "--split", "codeowners")
        assert outcome.code == 0
        assert "1 @all: 1 file\n2 @ann @org/tools: 1 file\n3 @org/app: 1 file\n4 removal: 2 files" in outcome.text
        expect_tree(root, FILES)


def test_branches_leave_a_dirty_working_tree_alone_and_the_last_one_is_the_run_in_one_go() -> None:
    with tree(FILES) as root:
        committed(root)
        (root / "pkg/light.py").write_text("def light(x):\n    return -x\n")
        (root / "new.py").write_text("print(1)\n")
        git(root, "add", "pkg/light.py")
        before, files = state(root), contents(root)
        outcome = narrow(root, "pkg", "sym", "--split", "directory", "--branches", "narrow/")
        assert outcome.code == 0, outcome.text
        assert (state(root), contents(root)) == (before, files)
        names = git(root, "branch", "--list", "narrow/*", "--format=%(refname:short)").split()
        assert names == ["narrow/01-part", "narrow/02-app", "narrow/03-tools", "narrow/04-removal"]
        assert at(root, "narrow/04-removal") == one_shot()
        assert git(root, "diff", "--name-only", "main", "narrow/02-app") == "app/main.py\n"
        again = narrow(root, "pkg", "sym", "--split", "directory", "--branches", "narrow/")
        assert again.code == 0
        assert "kept narrow/01-part" in again.text


def test_a_branch_is_not_made_from_text_that_no_commit_holds() -> None:
    with tree(FILES) as root:
        committed(root)
        (root / "top.py").write_text("from pkg import sym\n")
        outcome = narrow(root, "pkg", "sym", "--branches", "narrow/")
        assert outcome.code == 3
        assert "top.py: has uncommitted changes" in outcome.text
        assert git(root, "branch", "--list", "narrow/*") == ""


def test_a_long_list_of_owners_and_a_deep_folder_fit_into_names_and_titles(tmp_path: Path) -> None:
    pytest.importorskip("codeowners")
    owners = " ".join(f"@a-long-organisation/a-team-with-a-long-name-{number}" for number in range(12))
    deep = "/".join(["a_folder_with_a_long_name"] * 9)
    with tree({**FILES, ".github/CODEOWNERS": f"* {owners}\n", f"{deep}/late.py": FILES["app/main.py"]}) as root:
        committed(root)
        for way, title in (
            ("codeowners", "1/2: @a-long-organisation/a-team-with-a-long-name-0 and 11 more"),
            ("directory:9", f"2/5: ...{deep[-60:]}"),
        ):
            where = ["--patches", str(tmp_path / way), "--branches", f"{way[:3]}/", "--guard-first"]
            outcome = narrow(root, "pkg", "sym", "--split", way, *where)
            assert outcome.code == 0, outcome.text
            titles = git(root, "log", "--all", "--format=%s")
            number, total = title[0], title[2]
            assert f"{int(number) + 1}/{int(total) + 1}{title[3:]}\n" in titles
            assert max(map(len, titles.splitlines())) < 120


def test_patches_make_the_run_in_one_go_in_another_checkout(tmp_path: Path) -> None:
    with tree(FILES) as root:
        committed(root)
        assert narrow(root, "pkg", "sym", "--split", "count:2", "--patches", str(tmp_path / "p"), "-s").code == 0
        expect_tree(root, FILES)
        for name in (tmp_path / "p/series").read_text().split():
            git(root, "am", "-q", "--keep-cr", str(tmp_path / "p" / name))
        assert contents(root) == one_shot()
        body = git(root, "log", "-1", "--format=%an <%ae>%n%B")
        assert body.startswith("Ann Other <ann@example.org>\nStop re-exporting sym from pkg\n")
        assert body.rstrip().endswith("Signed-off-by: Ann Other <ann@example.org>")
        assert "    narrow-reexport pkg sym\n" in body


def test_patches_from_a_folder_below_the_top_apply_at_the_top(tmp_path: Path) -> None:
    with tree({f"lib/{path}": text for path, text in FILES.items()}) as root:
        committed(root)
        assert narrow(root / "lib", "pkg", "sym", "--patches", str(tmp_path / "p")).code == 0
        git(root, "am", "-q", *(str(path) for path in sorted((tmp_path / "p").glob("*.patch"))))
        assert contents(root / "lib") == one_shot()


def test_patches_of_a_working_tree_with_crlf_have_the_line_ends_of_the_commits(tmp_path: Path) -> None:
    with tree(FILES) as root:
        committed(root)
        git(root, "config", "core.autocrlf", "true")
        for path in ("app/main.py", "pkg/__init__.py"):
            (root / path).unlink()
            git(root, "checkout", "--", path)
            assert b"\r\n" in (root / path).read_bytes()
        assert narrow(root, "pkg", "sym", "--patches", str(tmp_path / "p"), "--branches", "n/").code == 0
        git(root, "am", "-q", "--keep-cr", *(str(path) for path in sorted((tmp_path / "p").glob("*.patch"))))
        assert git(root, "diff", "HEAD", "n/02-removal") == ""


def test_a_second_series_takes_the_place_of_the_first_and_a_folder_with_other_files_is_left_alone(
    tmp_path: Path,
) -> None:
    who = ["--author", "Bob <b@example.org>"]
    with tree(FILES) as root:
        assert narrow(root, "pkg", "sym", "--split", "count:3", "--patches", str(tmp_path), *who).code == 0
        assert narrow(root, "pkg", "sym", "--split", "count:1", "--patches", str(tmp_path), *who).code == 0
        assert sorted(contents(tmp_path)) == ["0001-1-of-1.patch", "0002-removal.patch", "series"]
        (tmp_path / "mine.txt").write_text("x")
        outcome = narrow(root, "pkg", "sym", "--patches", str(tmp_path), *who)
        assert outcome.code == 3
        assert (tmp_path / "mine.txt").exists()


def test_author_and_message_are_the_persons(tmp_path: Path) -> None:
    with tree(FILES) as root:
        (tmp_path / "message").write_text("[narrow] {title}\n\nRef: 12\n\n{body}\n")
        more = ["--author", "Bob B <b@example.org>", "--message", str(tmp_path / "message")]
        assert narrow(root, "pkg", "sym", "--patches", str(tmp_path / "p"), *more).code == 0
        text = (tmp_path / "p/0001-1-of-1.patch").read_text()
        assert "From: Bob B <b@example.org>\n" in text
        assert "Subject: [PATCH 1/2] [narrow] Import sym from pkg.sub, 1/2: 1-of-1\n" in text
        assert "\nRef: 12\n" in text


def test_a_body_lists_the_places_for_a_persons_eye(tmp_path: Path) -> None:
    files = {**FILES, "warned.py": "import pkg\n\n\ndef go(f):\n    f(pkg)\n    return pkg.sym(1)\n"}
    with tree(files) as root:
        who = ["--author", "Bob <b@example.org>"]
        outcome = narrow(root, "pkg", "sym", "--patches", str(tmp_path / "p"), *who)
        assert outcome.code == 0
        assert "- `warned.py:5` (warning): " in (tmp_path / "p/0001-1-of-1.patch").read_text()


@pytest.mark.parametrize("listed", ["", "__all__ = ['sym']\n"])
def test_the_words_of_parts_that_leave_the_re_export_where_it_is(tmp_path: Path, listed: str) -> None:
    with tree({**FILES, "pkg/__init__.py": f"{PKG['pkg/__init__.py']!s}{listed}"}) as root:
        who = ["--author", "Bob <b@example.org>"]
        outcome = narrow(root, "pkg", "sym", "--callers-only", "--patches", str(tmp_path / "p"), *who)
        assert outcome.code == 0, outcome.text
        texts = {path.name: path.read_text() for path in (tmp_path / "p").glob("*.patch")}
        assert sorted(texts) == ["0001-1-of-1.patch", *(["0002-removal.patch"] if listed else [])]
        said = "\n".join(texts.values())
        assert "removes it" not in said and "removes the re-export" not in said and "Stop re-exporting" not in said
        assert "goes on importing for itself" in texts["0001-1-of-1.patch"]
        assert not listed or "Stop listing sym in pkg\n" in texts["0002-removal.patch"]


def test_a_place_in_a_file_that_no_part_edits_is_named_by_the_last_part(tmp_path: Path) -> None:
    files = {**FILES, "warned.py": "import pkg\n\n\ndef go(f):\n    f(pkg)\n"}
    with tree(files) as root:
        who = ["--author", "Bob <b@example.org>"]
        assert narrow(root, "pkg", "sym", "--patches", str(tmp_path / "p"), *who).code == 0
        assert "warned.py" not in (tmp_path / "p/0001-1-of-1.patch").read_text()
        assert "- `warned.py:5` (warning): " in (tmp_path / "p/0002-removal.patch").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pkg", "sym", "--split", "by-mood"], 3, "--split takes"),
        (["pkg", "sym", "-s"], 2, "go with --patches or --branches"),
        (["pkg", "sym", "--patches", "p"], 3, "--author"),
        (["pkg", "sym", "--patches", "p", "--author", "Bob"], 2, "Name <mail>"),
        (["pkg", "sym", "--branches", "n/", "--author", "Bob <b@c.d>"], 3, "needs a git checkout"),
        (["pkg", "--apply", "plan.json"], 2, "everything from the plan"),
        (["--apply", "no.json"], 3, "no.json"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], code: int, says: str) -> None:
    with tree(FILES) as root:
        outcome = narrow(root, *arguments)
        assert (outcome.code, says in outcome.text) == (code, True), outcome.text
        expect_tree(root, FILES, record=False)


def test_nothing_to_ship_is_no_error() -> None:
    with tree({**PKG, "pkg/__init__.py": "from .light import light\n"}) as root:
        outcome = narrow(root, "pkg", "sym", "--split", "directory")
        assert outcome.code == 0, outcome.text


# --- uncommitted work ---


def test_a_file_with_uncommitted_changes_stops_the_write_unless_that_is_allowed() -> None:
    with tree(FILES) as root:
        committed(root)
        text = "from pkg import sym\n\nprint(sym(2), 'mine')\n"
        (root / "app/main.py").write_text(text)
        before = contents(root)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3
        assert "app/main.py: has uncommitted changes" in outcome.text
        assert "--allow-dirty" in outcome.text
        assert contents(root) == before
        assert narrow(root, "pkg", "sym", "--diff").code == 0
        assert narrow(root, "pkg", "sym", "--allow-dirty").code == 0
        assert (root / "app/main.py").read_text() == text.replace("pkg", "pkg.sub")


def test_other_changes_and_untracked_files_stop_nothing() -> None:
    with tree(FILES) as root:
        committed(root)
        (root / "pkg/light.py").write_text("def light(x):\n    return -x\n")
        (root / "fresh.py").write_text("from pkg import sym\n")
        assert narrow(root, "pkg", "sym").code == 0
        assert (root / "fresh.py").read_text() == "from pkg.sub import sym\n"


def test_a_run_that_writes_nothing_asks_git_nothing() -> None:
    with tree(FILES) as root:
        committed(root)
        assert narrow(root, "pkg", "sym").code == 0
        again = narrow(root, "pkg", "sym")  # every file is dirty now, and none is to be written
        assert again.code == 0, again.text


def test_the_commands_work_outside_of_this_process(tmp_path: Path) -> None:
    with tree(FILES) as root:
        committed(root)
        command = [
            sys.executable,
            "-m",
            "codemods.narrow_reexport",
            "pkg",
            "sym",
            "--split",
            "package",
            "--branches",
            "n/",
        ]
        outcome = outside(root, command)
        assert outcome.code == 0, outcome.text
        assert at(root, "n/04-removal") == one_shot()


def test_a_body_of_many_rows_has_a_command_for_each_with_its_options(tmp_path: Path) -> None:
    rows = (
        'version = 1\nnarrow = [{package = "pkg", symbols = ["sy*"]}, '
        '{package = "two", symbols = ["one"], shim = true, ban = false}]\n'
    )
    with tree({**FILES, "two/__init__.py": "from .a import one\n", "two/a.py": "one = 1\n"}) as root:
        (root / "../rows.toml").write_text(rows)
        who = ["--author", "Bob <b@example.org>", "--patches", str(tmp_path)]
        assert narrow(root, "--plan", "../rows.toml", *who).code == 0
        text = (tmp_path / "0001-1-of-1.patch").read_text()
        assert "    narrow-reexport pkg sym\n    narrow-reexport two one --no-ban --shim\n" in text
        (root / "../rows.toml").write_text(rows.replace('{package = "pkg", symbols = ["sy*"]}, ', ""))
        assert narrow(root, "--plan", "../rows.toml", *who).code == 0
        assert "    narrow-reexport two one --no-ban --shim\n" in (tmp_path / "0001-removal.patch").read_text()


def test_seconds_are_told_for_each_part_if_everything_is(tmp_path: Path) -> None:
    with tree(FILES) as root:
        committed(root)
        more = ["--split", "directory", "--patches", str(tmp_path), "--branches", "n/"]
        quiet = narrow(root, "pkg", "sym", *more)
        assert " s\n" not in quiet.text
        told = narrow(root, "pkg", "sym", *more, "-v").text.splitlines()
        for what in ("list", "patch", "branch"):
            names = [line.split(": ")[0].removeprefix(f"{what} ") for line in told if line.startswith(f"{what} ")]
            assert [name for name in names if name != "(the plan itself)"] == [".", "app", "tools", "removal", "in all"]
