"""Finding files: the same ones by git and by walking, and never a step into what does not count."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.engine import discover
from codemods.engine.discover import checkout_top, list_files
from codemods.engine.errors import BadConfiguration, Unreadable

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
MODES = [pytest.param("git", marks=needs_git), "walk"]


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"")


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(params=MODES)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An empty tree: once a git checkout, once a plain folder."""
    root = tmp_path / "tree"
    root.mkdir()
    if request.param == "git":
        git(root, "init", "-q")
    return root


def test_files_that_could_matter_are_listed_sorted(tree: Path) -> None:
    wanted = ["Dockerfile", "Makefile", "a/Dockerfile.cpu", "a/b.pyi", "c.ipynb", "docs/x.rst", "run.sh", "setup.cfg"]
    write(tree, *wanted, "b.so", "a/c.pyc", "LICENSE", "a/Makefile.am")
    assert list_files(tree) == tuple(sorted(wanted))


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_programs_without_a_suffix_are_listed_if_they_are_executable_and_python(tree: Path) -> None:
    write(tree, "bin/serve", "bin/plain", "bin/shell", "bin/data", "run.pyw")
    for name, first in (("serve", "#!/usr/bin/env python3.12"), ("plain", "#!/usr/bin/python"), ("shell", "#!/bin/sh")):
        (tree / "bin" / name).write_text(first + "\n")
        (tree / "bin" / name).chmod(0o644 if name == "plain" else 0o755)
    assert list_files(tree) == ("bin/serve", "run.pyw")
    assert [discover.is_code(path) for path in ("bin/serve", "run.pyw", "Makefile", "a.pyi", "a.txt")] == [
        *(True, True, False, True, False)
    ]
    assert not discover.runs("a.pyi")


def test_hidden_files_and_folders_are_listed(tree: Path) -> None:
    write(tree, ".github/workflows/ci.yml", ".pre-commit-config.yaml")
    assert list_files(tree) == (".github/workflows/ci.yml", ".pre-commit-config.yaml")


def test_folders_that_never_count_are_left_out(tree: Path) -> None:
    write(tree, "a.py", "__pycache__/a.py", "x/node_modules/a.py", "lib/site-packages/a.py")
    write(tree, "my env/pyvenv.cfg", "my env/lib/a.py")
    assert list_files(tree) == ("a.py",)


def test_a_root_that_is_such_a_folder_itself_counts(tmp_path: Path) -> None:
    root = tmp_path / "site-packages"
    write(root, "pkg/__init__.py", "pyvenv.cfg", "CACHEDIR.TAG")
    assert list_files(root) == ("pkg/__init__.py", "pyvenv.cfg")


def test_gitignore_is_honoured_in_every_folder(tree: Path) -> None:
    write(
        tree,
        "keep.py",
        "gen/a.py",
        "gen/keep.py",
        "a/b/local.py",
        "a/local.py",
        "local.py",
        "a/b/x.txt",
        "a/docs/y.txt",
    )
    (tree / ".gitignore").write_bytes(b"\xef\xbb\xbfgen/*\r\n!gen/keep.py\r\n# comment\r\n\r\n*.txt\r\n")
    (tree / "a/.gitignore").write_text("/local.py\n")
    (tree / "a/docs/.gitignore").write_text("!*.txt\n")
    assert list_files(tree) == ("a/b/local.py", "a/docs/y.txt", "gen/keep.py", "keep.py", "local.py")


def test_nothing_comes_back_from_an_ignored_folder(tree: Path) -> None:
    write(tree, "a.py", "out/b.py", "out/.gitignore")
    (tree / ".gitignore").write_text("out/\n!out/b.py\n")
    (tree / "out/.gitignore").write_text("!*\n")
    assert list_files(tree) == ("a.py",)


@pytest.mark.parametrize(
    "line", ["a[xy].py", "a?.py", "**/ax.py", "/a*", r"a\x.py", "a[!y].py", "sub/../ax.py", "!", "/", "ax.py "]
)
def test_gitignore_patterns_mean_the_same_with_and_without_git(tmp_path: Path, line: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    write(tmp_path, "ax.py", "ay.py", "sub/ax.py", "sub/deep/ax.py", "b.py")
    (tmp_path / ".gitignore").write_text(line + "\n")
    walked = list_files(tmp_path)
    git(tmp_path, "init", "-q")
    assert list_files(tmp_path) == walked


def test_exclude_takes_globs_relative_to_the_root(tree: Path) -> None:
    write(tree, "a.py", "tests/a.py", "tests/deep/b.py", "pkg/tests/c.py", "docs/a.md")
    assert list_files(tree, exclude=["/tests/**"]) == ("a.py", "docs/a.md", "pkg/tests/c.py")
    assert list_files(tree, exclude=["./tests", "*.md"]) == ("a.py", "pkg/tests/c.py")
    assert list_files(tree, exclude=["tests/"]) == ("a.py", "docs/a.md")
    assert list_files(tree, exclude=["*", "!a.py"]) == ("a.py", "tests/a.py")
    assert list_files(tree, exclude=["**"]) == ()


@pytest.mark.parametrize("glob", ["", "#x", "/"])
def test_an_exclude_that_says_nothing_is_an_error(tree: Path, glob: str) -> None:
    with pytest.raises(BadConfiguration, match="not a glob"):
        list_files(tree, exclude=["tests", glob])


@pytest.mark.skipif(os.name != "posix", reason="POSIX file types")
def test_only_regular_files_and_symlinks_to_them_are_listed(tree: Path) -> None:
    write(tree, "real/a.py")
    (tree / "link.py").symlink_to("real/a.py")
    (tree / "folder.py").symlink_to("real")
    (tree / "linked").symlink_to("real")
    (tree / "dangling.py").symlink_to("nowhere")
    (tree / "loop.py").symlink_to("loop.py")
    (tree / "null.py").symlink_to(os.devnull)
    (tree / "dir.py").mkdir()
    os.mkfifo(tree / "fifo.py")
    assert list_files(tree) == ("link.py", "real/a.py")


@pytest.mark.skipif(os.name != "posix", reason="POSIX file types")
def test_a_gitignore_that_is_no_file_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    os.mkfifo(tmp_path / ".gitignore")
    assert list_files(tmp_path) == ("a.py",)


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names are bytes on Linux only")
def test_names_that_are_not_utf8_survive(tree: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    write(tree, name, "über/ä b.py", "new\nline.py")
    assert set(list_files(tree)) == {name, "über/ä b.py", "new\nline.py"}


def test_an_empty_tree_has_no_files(tree: Path) -> None:
    assert list_files(tree) == ()


def test_a_root_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no such folder"):
        list_files(tmp_path / "missing")


def test_a_folder_that_cannot_be_listed_stops_unless_excluded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.py", "secret/b.py")
    real = os.scandir

    def scandir(path: str) -> object:
        if "secret" in path[len(str(tmp_path)) :]:
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(Unreadable, match="Permission denied") as caught:
        list_files(tmp_path)
    assert caught.value.path == "secret/"
    assert list_files(tmp_path, exclude=["secret/"]) == ("a.py",)


# --- walking ---


def test_walking_leaves_out_what_tools_made(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.py",
        "build/lib/a.py",
        "dist/a.py",
        ".tox/a.py",
        ".eggs/a.py",
        "a.egg-info/x.txt",
        ".mypy_cache/a.json",
    )
    write(tmp_path, "cache/CACHEDIR.TAG", "cache/a.py", "pkg/build/a.py")
    assert list_files(tmp_path) == ("a.py", "pkg/build/a.py")


def test_a_package_called_build_is_walked(tmp_path: Path) -> None:
    write(tmp_path, "build/__init__.py", "dist/sub/__init__.py")
    assert list_files(tmp_path) == ("build/__init__.py",)


# --- git ---


@needs_git
def test_git_lists_tracked_files_although_ignored_and_drops_deleted_ones(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "build/a.py", "gone.py", "new.py", "local.py")
    (tmp_path / ".gitignore").write_text("build/\nlocal.py\n")
    git(tmp_path, "add", "-f", "build/a.py", "gone.py")
    (tmp_path / "gone.py").unlink()
    assert list_files(tmp_path) == ("build/a.py", "new.py")


@needs_git
def test_a_subfolder_of_a_checkout_lists_its_own_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "top.py", "sub/a.py", "sub/b/c.py", "sub/ignored.py")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    assert list_files(tmp_path / "sub") == ("a.py", "b/c.py")


@needs_git
def test_a_root_that_git_ignores_is_walked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "scratch/a.py", "scratch/b/c.py", "scratch/b/no.py")
    (tmp_path / ".gitignore").write_text("scratch/\n")
    (tmp_path / "scratch/b/.gitignore").write_text("no.py\n")
    assert list_files(tmp_path / "scratch") == ("a.py", "b/c.py")


@needs_git
def test_an_unmerged_file_is_listed_once(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    for number, branch in enumerate(["main", "other", "main"]):
        if number == 1:
            git(tmp_path, "checkout", "-q", "-b", branch)
        elif number == 2:
            git(tmp_path, "checkout", "-q", branch)
        (tmp_path / "a.py").write_text(f"x = {number}\n")
        git(tmp_path, "add", "a.py")
        git(tmp_path, "commit", "-q", "-m", str(number))
    subprocess.run(["git", "merge", "other"], cwd=tmp_path, check=False, capture_output=True)
    assert list_files(tmp_path) == ("a.py",)


@needs_git
def test_without_git_or_if_git_fails_the_folder_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "b.py")
    (tmp_path / ".gitignore").write_text("b.py\n")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")
        assert list_files(tmp_path) == ("a.py",)
    (tmp_path / ".git/config").write_text("[core\n")
    assert list_files(tmp_path) == ("a.py",)


@needs_git
def test_the_environment_of_a_git_hook_does_not_mislead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        write(tmp_path, f"{name}/{name}.py")
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "add", ".")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "one/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "one/.git/index"))
    assert list_files(tmp_path / "two") == ("two.py",)


@needs_git
@pytest.mark.skipif(os.name != "posix", reason="a shell script")
def test_the_configuration_of_a_checkout_starts_no_program(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py")
    git(tmp_path, "add", ".")
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/started'\n")
    program.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(program))
    index = (tmp_path / ".git/index").read_bytes()
    assert list_files(tmp_path) == ("a.py",)
    assert not (tmp_path / "started").exists()
    assert (tmp_path / ".git/index").read_bytes() == index


@needs_git
@pytest.mark.skipif(os.name != "posix", reason="needs symlinks")
def test_a_tracked_folder_that_became_a_symlink_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write(root, "sub/deep/a.py", "b.py")
    git(root, "init", "-q")
    git(root, "add", ".")
    (root / "sub").rename(tmp_path / "outside")
    (root / "sub").symlink_to(tmp_path / "outside")
    assert list_files(root) == ("b.py",)


@needs_git
def test_files_of_a_nested_repository_are_not_listed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "nested.py/b.py")
    git(tmp_path / "nested.py", "init", "-q")
    assert list_files(tmp_path) == ("a.py",)


# --- the top of a checkout ---


@needs_git
def test_the_top_of_a_checkout_is_found_from_below(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write(root, "a/b/c.py")
    (root / "a/.git").mkdir()  # an empty folder is no repository
    git(root, "init", "-q")
    assert checkout_top(root / "a/b") == checkout_top(root) == root.resolve()


def test_a_work_tree_has_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    assert checkout_top(tmp_path) == tmp_path.resolve()


def test_outside_of_a_checkout_there_is_no_top(tmp_path: Path) -> None:
    if any((folder / ".git").exists() for folder in tmp_path.resolve().parents):
        pytest.skip("the temporary folder is in a checkout")
    assert checkout_top(tmp_path) is None


def test_importing_starts_neither_git_nor_pathspec() -> None:
    code = f"import sys; import {discover.__name__}; sys.exit(bool({{'pathspec', 'subprocess'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2]).returncode == 0
