"""Git, by its plumbing: what is uncommitted, and commits that never touch the person's files, index or HEAD.

Owns every call of git but the listing of files.
Invariant: commits are made through an index of their own outside the repository, branches appear all at once or not at all,
and nothing that a target's configuration names is started: no hook, no filter, no monitor. Two calls are the person's own, and say
so: `push` (hooks, credentials), and a checkout for a trial (filters, but no hook).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.engine.discover import checkout_top
from codemods.engine.errors import CodemodError
from codemods.engine.model import FileChange
from codemods.engine.scratch import scratch_folder

_AT_ONCE = 500  # paths on one command line
# what a hook or an outer git has set for itself
LOCAL = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"}
)
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}
_OWN: dict[str, str] = {}  # for what the person's own configuration and environment decide
_STARTS_NOTHING = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "commit.gpgSign=false")
_SHOWN = 20  # lines that a failed push says


class GitFailed(CodemodError):
    """Git cannot do what is asked for: no repository, no identity, a branch that is there already."""


class Uncommitted(CodemodError):
    """Files that would be written have changes that no commit holds."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout, and the folder in it that paths are relative to."""

    root: Path
    prefix: str  # from the top of the checkout to `root`: empty, or with a slash at the end

    def modified(self, changes: Sequence[FileChange]) -> tuple[str, ...]:
        """Which of these files, as they were read, are not what HEAD holds. An untracked file is none of them."""
        paths = [self.prefix + change.path for change in changes]
        known = self._blobs("HEAD", paths)
        new = [path for path in paths if path not in known]
        staged = set(self._listed(["ls-files", "-z", "--"], new))
        found = [
            change.path
            for change, path in zip(changes, paths, strict=True)
            if path in staged or (path in known and _committable(change, change.before, known[path][1]) is None)
        ]
        return tuple(sorted(found))

    def as_committed(self, changes: Sequence[FileChange]) -> tuple[FileChange, ...]:
        """The changes, with the texts that commits hold: a working tree may have CRLF where they have LF."""
        known = self._blobs("HEAD", [self.prefix + change.path for change in changes])
        found = []
        for change in changes:
            _, blob = known.get(self.prefix + change.path, ("", ""))
            texts = [_committable(change, text, blob) if blob else None for text in (change.before, change.after)]
            before, after = texts
            found.append(change if before is None or after is None else replace(change, before=before, after=after))
        return tuple(found)

    def head(self) -> str:
        """The commit that HEAD is at."""
        return self._git("rev-parse", "--verify", "HEAD^{commit}").strip()

    def person(self) -> str:
        """Who commits here: `Name <mail>`."""
        return self._git("var", "GIT_COMMITTER_IDENT").rpartition(">")[0] + ">"

    def commit(self, parent: str, changes: Sequence[FileChange], message: str, author: str) -> str:
        """A commit of these changes on `parent`; the same input gives the same commit."""
        paths = [self.prefix + change.path for change in changes]
        known = self._blobs(parent, paths)
        rows = []
        for change, path in zip(changes, paths, strict=True):
            if change.before and path not in known:
                raise GitFailed("is in no commit, so no branch can change it", path=change.path, hint="commit it first")
            mode, old = known.get(path, ("100644", ""))
            data = _committable(change, change.after, old) if old else change.after
            if data is None:
                raise Uncommitted("is not what the commit holds", path=change.path, hint="commit or stash it first")
            if change.gone:
                rows.append(f"0 {'0' * len(old)}\t{path}\0")
                continue
            blob = self._git("hash-object", "-w", "--stdin", "--no-filters", given=data).strip()
            rows.append(f"{mode} {blob}\t{path}\0")
        date = self._git("show", "-s", "--format=%cd", "--date=raw", parent).strip()
        name, _, mail = author.partition(" <")
        with scratch_folder() as folder:
            own = {"GIT_INDEX_FILE": str(folder / "index")}
            self._git("read-tree", parent, more=own)
            given = "".join(rows).encode("utf-8", "surrogateescape")
            self._git("update-index", "-z", "--index-info", given=given, more=own, top=True)
            tree = self._git("write-tree", more=own).strip()
        who = {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", name), ("EMAIL", mail.rstrip(">")), ("DATE", date))
        }
        given = message.encode("utf-8", "surrogateescape")
        return self._git("commit-tree", tree, "-p", parent, given=given, more=who).strip()

    def missing_branches(self, branches: Mapping[str, str]) -> tuple[str, ...]:
        """Those of these branches that are not there.

        One that is there must be at its commit, or make the same edits from an older HEAD.
        """
        missing: list[str] = []
        taken: list[str] = []
        for name, commit in branches.items():
            self._git("check-ref-format", "--branch", name)
            now = self._git("for-each-ref", "--format=%(objectname)", f"refs/heads/{name}").strip()
            if now and now != commit and not self._makes_the_same(now, commit):
                taken.append(name)
            missing += [] if now else [name]
        if taken:
            hint = f"delete it (git branch -D {' '.join(taken)}) or choose another prefix"
            also = f", and so have {', '.join(taken[1:])}" if taken[1:] else ""
            raise GitFailed(f"there is a branch {taken[0]} with other commits{also}", hint=hint)
        return tuple(missing)

    def create_branches(self, branches: Mapping[str, str]) -> tuple[str, ...]:
        """All of these branches, or none; those that are new. Which one may be there already, `missing_branches` says."""
        new = self.missing_branches(branches)
        rows = "".join(f"create refs/heads/{name}\0{branches[name]}\0" for name in new)
        if rows:
            self._git("update-ref", "-z", "--stdin", given=rows.encode("utf-8"))
        return new

    def ask(self, *question: str) -> str:
        """The answer to a question that changes nothing, on one line; empty where git has none."""
        try:
            return self._git(*question).strip()
        except GitFailed:
            return ""

    def push(self, remote: str, names: Sequence[str]) -> None:
        """Push these branches, as the person would: with their hooks and credentials, never by force, and nothing else."""
        for start in range(0, len(names), _AT_ONCE):
            words = push_words(remote, names[start : start + _AT_ONCE])
            self._git(*words, config=(), environment=_OWN, shown=_SHOWN)

    def check_out(self, folder: Path, commit: str) -> Mapping[str, str]:
        """Another working tree, at a commit; the variables that make git mean this one, wherever its `.git` leads."""
        self._git("worktree", "add", "--detach", "--quiet", str(folder), commit, environment=_OWN)
        there = Repository(folder, "")._git("rev-parse", "--absolute-git-dir").strip()
        if there == self.ask("rev-parse", "--absolute-git-dir"):
            raise GitFailed("git gave the checkout for the trial no place of its own")
        return {"GIT_DIR": there, "GIT_WORK_TREE": str(folder)}

    def check_out_again(self, place: Mapping[str, str], commit: str) -> None:
        """Bring that working tree to another commit, clean: nothing that a command left there stays."""
        there = Repository(Path(place["GIT_WORK_TREE"]), "")
        there._git("checkout", "--force", "--detach", "--quiet", commit, more=place, environment=_OWN)
        there._git("clean", "-ffdxq", more=place, environment=_OWN)

    def checkouts(self) -> tuple[Path, ...]:
        """The folders of all working trees that git knows, whether they are there or not."""
        rows = self._git("worktree", "list", "--porcelain").splitlines()
        return tuple(Path(row.removeprefix("worktree ")) for row in rows if row.startswith("worktree "))

    def forget_checkout(self, folder: Path) -> None:
        """Git knows no more of a working tree whose folder is gone."""
        self._git("worktree", "remove", "--force", "--force", str(folder))

    def _makes_the_same(self, branch: str, commit: str) -> bool:
        """Whether a branch, from wherever it left HEAD's history, edits what `commit` edits, in the same way.

        What HEAD holds already (a file that has landed, from another branch) may be there or not.
        """
        bases = [self._git("merge-base", "--all", "HEAD", each).split() for each in (branch, commit)]
        if any(len(found) != 1 for found in bases) or bases[0] == bases[1]:
            return False  # from the same HEAD it says something else: another author, another message
        theirs, ours = (self._edits(base, tip) for (base,), tip in zip(bases, (branch, commit), strict=True))
        landed = self._blobs("HEAD", sorted(theirs.keys() - ours.keys()))
        for path in theirs.keys() | ours.keys():
            if path not in ours:
                if landed.get(path, ("", ""))[1] != theirs[path][1]:
                    return False
            elif path not in theirs or not self._same_edit(theirs[path], ours[path]):
                return False
        return bool(theirs)

    def _edits(self, base: str, tip: str) -> dict[str, tuple[str, str]]:
        """For each file that differs, its blob before and after; empty where there is none."""
        told = self._git("diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", base, tip).split("\0")
        found = {}
        for facts, path in zip(told[0::2], told[1::2], strict=False):
            old, new = (blob.strip("0") and blob for blob in facts.split()[2:4])
            found[path] = (old, new)
        return found

    def _same_edit(self, theirs: tuple[str, str], ours: tuple[str, str]) -> bool:
        """Whether their edit, merged into our old text, gives our new one."""
        if theirs == ours or not (all(theirs) and all(ours)):
            return theirs == ours
        with scratch_folder() as folder:
            names = [str(folder / name) for name in ("current", "base", "other")]
            for name, blob in zip(names, (ours[0], *theirs), strict=True):
                with Path(name).open("wb") as file:
                    file.write(self._text(blob))
            try:  # not merge-tree: that may start a driver of the configuration
                merged = self._git("merge-file", "-p", "-q", *names)
            except GitFailed:
                return False
        return merged.encode("utf-8", "surrogateescape") == self._text(ours[1])

    def _text(self, blob: str) -> bytes:
        return self._git("cat-file", "blob", blob).encode("utf-8", "surrogateescape")

    def _blobs(self, commit: str, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The mode and the blob of each file that a commit holds."""
        found: dict[str, tuple[str, str]] = {}
        for row in self._listed(["ls-tree", "-z", commit, "--"], paths):
            facts, _, path = row.partition("\t")
            mode, _, blob = facts.split()
            found[path] = (mode, blob)
        return found

    def _listed(self, command: Sequence[str], paths: Sequence[str]) -> list[str]:
        rows: list[str] = []
        for start in range(0, len(paths), _AT_ONCE):
            told = self._git(*command, *paths[start : start + _AT_ONCE], top=True)
            rows += [row for row in told.split("\0") if row]
        return rows

    def _git(
        self,
        *arguments: str,
        given: bytes = b"",
        more: Mapping[str, str] | None = None,
        top: bool = False,
        config: Sequence[str] = _STARTS_NOTHING,
        environment: Mapping[str, str] = _QUIET,
        shown: int = 1,
    ) -> str:
        folder = self.root
        for _ in range(self.prefix.count("/") if top else 0):
            folder = folder.parent
        plain = {name: value for name, value in os.environ.items() if name not in LOCAL}
        try:
            done = subprocess.run(
                ["git", *config, "--literal-pathspecs", *arguments],
                cwd=folder,
                env={**plain, **environment, **(more or {})},
                input=given,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise GitFailed(f"git cannot be started: {error.strerror}") from error
        if done.returncode:
            rows = [row.strip() for row in done.stderr.decode("utf-8", "replace").splitlines() if row.strip()]
            fatal = [row for row in rows if row.startswith("fatal: ")][:1] if shown == 1 else []
            lines = "\n    ".join(fatal or rows[-shown:] or ["it says nothing"]).removeprefix("fatal: ")
            # somebody else's folder: git's last line is the way out
            hint = rows[-1] if rows and rows[-1].startswith("git config ") else ""
            raise GitFailed(f"git {arguments[0]} failed: {lines}", hint=hint)
        return done.stdout.decode("utf-8", "surrogateescape")


def push_words(remote: str, names: Sequence[str]) -> tuple[str, ...]:
    """The push of branches as a command: these, under the same names, whatever the configuration would add."""
    refs = [f"refs/heads/{name}:refs/heads/{name}" for name in names]
    return ("push", "--no-follow-tags", "--no-recurse-submodules", remote, *refs)


def repository(root: Path) -> Repository | None:
    """The checkout around a folder, None where there is none."""
    here = root.resolve()
    top = checkout_top(here)
    if top is None:
        return None
    inside = here.relative_to(top).as_posix()
    return Repository(here, "" if inside == "." else f"{inside}/")


def check_committed(root: Path, changes: Sequence[FileChange]) -> None:
    """Raise Uncommitted where a change would be written over work that is in no commit. Without git there is no such work."""
    found = repository(root) if changes else None
    if found is None:
        return
    try:
        modified = found.modified(changes)
    except GitFailed:  # no git on this machine, nothing committed yet, somebody else's folder
        return
    if modified:
        others = f", and so {'has' if len(modified) == 2 else 'have'} {', '.join(modified[1:])}" if modified[1:] else ""
        hint = "commit or stash them, or pass --allow-dirty"
        raise Uncommitted(f"has uncommitted changes{others}; nothing was written", path=modified[0], hint=hint)


def _committable(change: FileChange, data: bytes, blob: str) -> bytes | None:
    """`data` as a commit holds it, if `blob` is what the change starts from; None if it is not.

    Git may keep a file with LF that has CRLF in the working tree.
    """
    if _id(change.before, blob) == blob:
        return data
    return data.replace(b"\r\n", b"\n") if _id(change.before.replace(b"\r\n", b"\n"), blob) == blob else None


def _id(data: bytes, like: str) -> str:
    """The name that git gives a text, by the kind of hash of another name."""
    kind = hashlib.sha1 if len(like) == 40 else hashlib.sha256
    return kind(b"blob %d\0" % len(data) + data).hexdigest()
