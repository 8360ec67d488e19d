"""Which files of a tree could matter, found fast: by git's index, or by walking the folder.

Owns the list of suffixes, the folders that never count and the reading of `.gitignore`.
Invariant: it opens no file but a program without a suffix, for its first line; it never follows a symlink to a folder, and
never lets the target's git configuration start a program.
"""

# Thousands of paths: strings cost a fifth of what pathlib does.
# ruff: noqa: PTH113, PTH114, PTH116, PTH118
from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.engine.disk import read_file, read_start
from codemods.engine.errors import BadConfiguration, Unreadable

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_PYTHON = (".py", ".pyi", ".pyw")
_CODE = (*_PYTHON, ".pyx", ".pxd", ".pxi", ".ipynb")
_SCRIPTS = (".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".mk", ".dockerfile", ".conf", ".service", ".env")
_DOCUMENTS = (".md", ".rst", ".txt", ".markdown", ".mdx", ".qmd", ".Rmd", ".rmd")
SHOWING = (".ipynb", *_DOCUMENTS)  # files that hold Python beside other text
TEMPLATES = (".tp", ".in")  # x.pyx.tp: Cython that is still to be made
_SETTINGS = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
_BUILDS = ("Dockerfile", "Containerfile")
_CYTHON_TEMPLATES = tuple(f"{suffix}{end}" for suffix in (".pyx", ".pxd", ".pxi") for end in TEMPLATES)
_SUFFIXES = _CODE + _SCRIPTS + _DOCUMENTS + _SETTINGS + _CYTHON_TEMPLATES

_NAMES = frozenset(
    {"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Procfile", "Jenkinsfile", "Snakefile"}
)

# #!/usr/bin/env python3        #!/usr/bin/env -S python3 -u        #!/opt/py/bin/python3.12
_SHEBANG = re.compile(rb"#!.*?\b(?:python|pypy)[\d.]*w?(?:\s|\Z)")

_NEVER = frozenset({".git", ".hg", "__pycache__", "node_modules", "site-packages"})
_CACHES = frozenset({".tox", ".nox", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_BUILT = ("build", "dist")  # only at the root, and only if they are no packages
_VENV = "pyvenv.cfg"
_CACHE = "CACHEDIR.TAG"

# What git puts into the environment of its hooks: it would make `git ls-files` answer about another checkout.
_LOCAL = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")


def list_files(root: Path, *, exclude: Sequence[str] = ()) -> tuple[str, ...]:
    """The regular files under `root` that could matter: relative, `/`-separated, sorted."""
    top = os.fspath(root)
    is_excluded = excluder(exclude)
    listed = _git_listing(root)
    found = _present(top, listed) if listed else []
    if not found:
        found = _walk(top, is_excluded)
    return tuple(sorted(path for path in found if not is_excluded(path)))


def checkout_top(root: Path) -> Path | None:
    """The top folder of the git checkout that contains `root`, or None. Starts no program."""
    start = root.resolve()
    for folder in (start, *start.parents):
        mark = folder / ".git"
        if mark.is_file() or (mark / "HEAD").is_file():
            return folder
    return None


def submodules(root: Path) -> tuple[str, ...]:
    """The git submodules that are checked out below `root`: git lists none of their files."""
    try:
        text = (root / ".gitmodules").read_text("utf-8", "replace")
    except OSError:
        return ()
    paths = [found[1].strip().strip('"') for found in re.finditer(r"^[ \t]*path[ \t]*=(.+)$", text, re.M)]
    return tuple(sorted(path for path in paths if (root / path / ".git").exists()))


def is_code(path: str) -> bool:
    """Whether a listed file is Python: by its suffix, or a program without one (`bin/serve`)."""
    return path.endswith(_PYTHON) or _is_bare(path)


def runs(path: str) -> bool:
    """Whether a listed file is Python that runs: not a stub."""
    return is_code(path) and not path.endswith(".pyi")


def _could_matter(path: str, full: str) -> bool:
    if path.endswith(_SUFFIXES):
        return True
    name = path.rpartition("/")[2]
    if name in _NAMES or name.startswith(_BUILDS):
        return True
    return _is_bare(path) and _is_program(full)


def _is_bare(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "." not in name and name not in _NAMES and not name.startswith(_BUILDS)


def _is_program(full: str) -> bool:
    """Whether a file without a suffix is executable and begins as a Python program does."""
    try:
        if not os.access(full, os.X_OK) or not _is_file(full):
            return False
        return _SHEBANG.match(read_start(full, 200).partition(b"\n")[0] + b"\n") is not None
    except OSError:  # what cannot be read is no program that anybody runs
        return False


# --- by git ---


def _git_listing(root: Path) -> list[str] | None:
    """What git tracks or would track under `root`; None where git cannot say."""
    if checkout_top(root) is None:
        return None
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    # No lock files, no fetching of missing objects, no transport: listing must leave no trace and start nothing.
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    options = ["-c", "core.quotepath=off", "-c", "core.fsmonitor=false"]
    try:
        done = subprocess.run(
            ["git", *options, "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:  # no git on this machine: the folder is walked instead
        return None
    return os.fsdecode(done.stdout).split("\0") if done.returncode == 0 else None


def _present(top: str, listed: list[str]) -> list[str]:
    """The listed files that could matter and are there, without those in folders that never count."""
    environments = frozenset(path[: -len(_VENV) - 1] for path in listed if path.endswith("/" + _VENV))
    prefix = os.path.join(top, "")
    counts: dict[str, bool] = {"": True}

    def folder_counts(folder: str) -> bool:
        known = counts.get(folder)
        if known is None:
            parent, _, name = folder.rpartition("/")
            # A tracked file's folder may have become a symlink since, perhaps one that leads out of the tree.
            known = folder_counts(parent) and name not in _NEVER and folder not in environments
            known = counts[folder] = known and not os.path.islink(prefix + folder)
        return known

    return [
        path
        for path in set(listed)  # git lists an unmerged path once per side
        if _could_matter(path, prefix + path) and folder_counts(path.rpartition("/")[0]) and _is_file(prefix + path)
    ]


def _is_file(full: str) -> bool:
    """Whether a listed path is a regular file, or a symlink to one. What cannot be looked at is left for the reader."""
    try:
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            mode = os.stat(full).st_mode
    except PermissionError:
        return True
    except OSError:  # deleted but still in the index, a dangling symlink, a loop of symlinks
        return False
    return stat.S_ISREG(mode)


# --- by walking ---


@dataclass(frozen=True, slots=True)
class _Ignore:
    """The `.gitignore` of one folder (`prefix` ends in `/` or is empty)."""

    prefix: str
    could_match: Callable[[str], bool]
    spec: GitIgnoreSpec

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: ignored, False: brought back by `!`, None: this file says nothing."""
        inside = path[len(self.prefix) :]
        if not self.could_match(inside):
            return None
        return self.spec.check_file(inside + "/" if is_folder else inside).include


def _walk(top: str, is_excluded: Callable[[str], bool]) -> list[str]:
    found: list[str] = []
    pending: list[tuple[str, tuple[_Ignore, ...]]] = [("", ())]
    while pending:
        prefix, ignores = pending.pop()
        entries = _entries(top, prefix, is_excluded)
        names = {entry.name for entry in entries}
        if prefix and (_VENV in names or _CACHE in names):
            continue
        if ".gitignore" in names:
            ignores = _with_ignore(ignores, top, prefix)
        for entry in entries:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if _enters(entry, at_root=not prefix) and not _is_ignored(path, True, ignores):
                    pending.append((path + "/", ignores))
            elif _could_matter(entry.name, entry.path) and _is_regular(entry) and not _is_ignored(path, False, ignores):
                found.append(path)
    return found


def _entries(top: str, prefix: str, is_excluded: Callable[[str], bool]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(top, prefix)) as entries:
            return list(entries)
    except FileNotFoundError as error:
        if prefix:  # removed while we walk
            return []
        raise Unreadable("there is no such folder", path=top) from error
    except OSError as error:
        if prefix and is_excluded(prefix):
            return []
        detail = f"the folder cannot be listed: {error.strerror}"
        raise Unreadable(detail, path=prefix or top, hint="take it out with --exclude") from error


def _enters(entry: os.DirEntry[str], *, at_root: bool) -> bool:
    name = entry.name
    if name in _NEVER or name in _CACHES or name.endswith(".egg-info"):
        return False
    return not (at_root and name in _BUILT) or os.path.isfile(os.path.join(entry.path, "__init__.py"))


def _is_regular(entry: os.DirEntry[str]) -> bool:
    return _is_file(entry.path) if entry.is_symlink() else entry.is_file(follow_symlinks=False)


def _is_ignored(path: str, is_folder: bool, ignores: tuple[_Ignore, ...]) -> bool:
    """As git decides: the deepest `.gitignore` that says anything wins. The folders above are known to be in."""
    for ignore in reversed(ignores):
        verdict = ignore.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _with_ignore(ignores: tuple[_Ignore, ...], top: str, prefix: str) -> tuple[_Ignore, ...]:
    full = os.path.join(top, prefix, ".gitignore")
    if not stat.S_ISREG(os.lstat(full).st_mode):  # git does not follow a symlink here; a FIFO would hang
        return ignores
    try:
        text = os.fsdecode(read_file(full).removeprefix(b"\xef\xbb\xbf"))
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=f"{prefix}.gitignore") from error
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    return (*ignores, _Ignore(prefix, _prefilter(lines), _spec(lines))) if lines else ignores


def _prefilter(lines: Sequence[str]) -> Callable[[str], bool]:
    """A cheap test on a path: False means that no pattern can match the path itself (not: what is inside of it).

    One regular expression for all patterns, each matching at least what git's does, spares asking `pathspec`, which
    is slow, about nearly every file.
    """
    import fnmatch

    names, paths = set(), set()
    for line in lines:
        glob = line.rstrip(" ").removeprefix("!").rstrip("/")
        # Escapes and the classes that `fnmatch` reads otherwise: anything may follow from there on.
        cut = re.sub(r"(?:\\|\[(?![\w.-]+\])).*", "*", glob)
        if "/" in glob:  # `*` of `fnmatch` crosses `/`, so `a/**/b` is covered by `a/*b`
            paths.add(cut.lstrip("/").replace("**/", "*"))
        else:
            names.add(cut)
    match_name = re.compile("|".join(fnmatch.translate(glob) for glob in sorted(names)) if names else "(?!)").match
    match_path = re.compile("|".join(fnmatch.translate(glob) for glob in sorted(paths)) if paths else "(?!)").match
    return lambda path: bool(match_name(path.rpartition("/")[2]) or match_path(path))


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """The patterns, without those that git would ignore as malformed."""
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return pathspec.GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    import pathspec

    try:
        return any(pattern.include is not None for pattern in pathspec.GitIgnoreSpec.from_lines([line]).patterns)
    except ValueError:
        return False


def excluder(exclude: Sequence[str]) -> Callable[[str], bool]:
    """A test for the `--exclude` globs, which are written like lines of a `.gitignore` at the root."""
    if not exclude:
        return lambda path: False
    import pathspec

    for glob in exclude:
        if not _is_pattern(glob):
            hint = "write it like a line of a .gitignore: `tests/data/**`"
            raise BadConfiguration(f"`{glob}` is not a glob", hint=hint)
    # A leading `./` is how shells and people anchor a path; a `.gitignore` does it with `/`.
    return pathspec.GitIgnoreSpec.from_lines(glob[1:] if glob.startswith("./") else glob for glob in exclude).match_file
