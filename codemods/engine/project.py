"""Source files, read and written: all of a change or nothing of it, even if the run is killed half-way.

Owns every read and write of a source file, and the journal `.codemods-journal` at the tree's root.
Invariant: it never writes outside the root, never leaves a mixture of old and new without a journal, and never
overwrites a text that it has not seen.
"""

# The calls of `os` are the steps between which a run can be killed: they stand here as such.
# ruff: noqa: PTH101, PTH105, PTH108, PTH110, PTH113, PTH114, PTH116, PTH118, PTH123, PTH208
from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.engine.errors import CannotWrite, Interrupted, Unreadable
from codemods.engine.journal import JOURNAL, Entry, decode_journal, encode_journal
from codemods.engine.model import FileChange

_TEMPORARY = ".codemods-"  # then random digits, then `.tmp`; beside the file that it will replace
_JOURNAL_TEMPORARY = f"{JOURNAL}.tmp"
_BY_HAND = f"put the file right and run again, or remove {JOURNAL} to keep all files as they are"
_NO_SOURCES = frozenset({".git", ".hg"})


@dataclass(frozen=True, slots=True)
class Tree:
    """A root and the files under it that could matter; their bytes stay on the disk."""

    root: Path
    paths: tuple[str, ...]

    def read(self, path: str) -> bytes:
        """The bytes of a file; nothing is cached."""
        try:
            with open(f"{self.root}/{path}", "rb", buffering=0) as file:
                return file.readall()
        except OSError as error:
            raise Unreadable(f"cannot be read: {_why(error)}", path=path) from error

    def has(self, path: str) -> bool:
        """Whether there is such a file; it need not be one of those that could matter."""
        return os.path.isfile(f"{self.root}/{path}")

    def edited(self, files: Mapping[str, bytes]) -> Tree:
        """The same tree with other bytes in some files: what an earlier step has planned for them."""
        return EditedTree(self.root, self.paths, files)

    def canonical(self, path: str) -> str | None:
        """The path itself; for a symlink the path of the file that it leads to, None if that is not in the tree."""
        full = f"{self.root}/{path}"
        try:
            if not stat.S_ISLNK(os.lstat(full).st_mode):
                return path
        except OSError:  # not there, so no symlink
            return path
        real = _inside(self.root, path)
        return real if real is not None and os.path.exists(full) else None


class RememberedTree(Tree):
    """A tree whose files are read once and kept: for many questions about files that nobody changes meanwhile."""

    def __init__(self, root: Path, paths: tuple[str, ...]) -> None:
        super().__init__(root, paths)
        object.__setattr__(self, "_kept", {})

    def read(self, path: str) -> bytes:
        """The bytes of a file, as they were when it was first read."""
        kept: dict[str, bytes] = self._kept  # type: ignore[attr-defined]
        if path not in kept:
            kept[path] = super().read(path)
        return kept[path]

    def has(self, path: str) -> bool:
        """Whether there is such a file, also one that is only planned."""
        return path in self._kept or super().has(path)  # type: ignore[attr-defined]

    def edited(self, files: Mapping[str, bytes]) -> Tree:
        """The same tree with other bytes in some files; what was read of the rest is kept."""
        tree = RememberedTree(self.root, self.paths)
        tree._kept.update({**self._kept, **files})  # type: ignore[attr-defined]
        return tree


@dataclass(frozen=True, slots=True)
class EditedTree(Tree):
    """A tree in which some files have other bytes than on the disk: what an earlier step has planned for them."""

    files: Mapping[str, bytes]

    def read(self, path: str) -> bytes:
        """The bytes of a file, as they are going to be."""
        return self.files[path] if path in self.files else Tree.read(self, path)

    def has(self, path: str) -> bool:
        """Whether there is such a file, also one that is only planned."""
        return path in self.files or Tree.has(self, path)

    def edited(self, files: Mapping[str, bytes]) -> Tree:
        """The same tree with more of its files changed."""
        return EditedTree(self.root, self.paths, {**self.files, **files})


def digest(data: bytes) -> str:
    """A short fingerprint of a text, the same on every machine."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def save(root: Path, changes: Sequence[FileChange]) -> None:
    """Write all changes, in their order, or none. Raises `CannotWrite`; after a kill `resume` or `abort` goes on.

    A change whose `before` is empty and whose file is missing creates the file. Symlinks are written through.
    """
    if os.path.lexists(root / JOURNAL):
        hint = "run again to finish it, or take it back with --abort"
        raise Interrupted("an earlier run was interrupted", path=JOURNAL, hint=hint)
    entries, afters = _checked(root, changes)
    if not entries:
        return
    try:
        _write_journal(root, encode_journal(entries))
    except OSError as error:
        raise CannotWrite(f"the journal cannot be written: {_why(error)}", path=JOURNAL) from error
    started: list[Entry] = []
    for entry in entries:
        started.append(entry)
        try:
            _replace(root / entry.path, afters[entry.path])
        except OSError as error:
            _roll_back(root, started)
            raise CannotWrite(f"cannot be written: {_why(error)}; nothing was changed", path=entry.path) from error
    _drop_journal(root)


def resume(root: Path) -> tuple[str, ...]:
    """Finish what a killed run began; the paths that belong to it, or () if there is nothing to finish."""
    return _settle(root, forward=True)


def abort(root: Path) -> tuple[str, ...]:
    """Take back what a killed run began; the paths that belong to it, or () if there is nothing to take back."""
    return _settle(root, forward=False)


def deliver(file: Path, data: bytes) -> None:
    """Write a file that is no source: a plan. It appears whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f"{_TEMPORARY}{file.name}.tmp")  # the name that a killed run has left, too
        _remove(temporary)
        _replace(file, data, temporary)
    except OSError as error:
        raise CannotWrite(f"cannot be written: {_why(error)}", path=str(file)) from error


def deliver_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write a patch series; what an earlier one left there goes. The folder must hold nothing else."""
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if not all(name == "series" or name.endswith((".patch", ".tmp")) for name in there):
        raise CannotWrite("holds other files than patches", path=str(folder), hint="choose a new folder")
    for name in sorted(there - files.keys()):
        _remove(folder / name)
    for name, data in files.items():
        deliver(folder / name, data)


# --- before anything is written ---


def _checked(root: Path, changes: Sequence[FileChange]) -> tuple[list[Entry], dict[str, bytes]]:
    """What has to be done, by the paths of the real files, after a look at each of them."""
    entries: list[Entry] = []
    afters: dict[str, bytes] = {}
    for change in changes:
        path = _writable(root, change.path)
        try:
            now = _content(root / path)
        except OSError as error:
            raise CannotWrite(f"cannot be read: {_why(error)}", path=change.path) from error
        if change.before != (now or b""):
            detail = "changed since it was scanned; nothing was written, run again"
            raise CannotWrite(detail, path=change.path)
        if path in afters:  # reached twice, say through a symlink
            if afters[path] != change.after:
                raise CannotWrite(f"is the same file as {path}, with another text to write", path=change.path)
            continue
        afters[path] = change.after
        if change.before != change.after:
            entries.append(Entry.of(path, now, change.after, digest))
    return entries, afters


def _writable(root: Path, path: str) -> str:
    """The path of the real file behind `path`, which can be replaced, or created in its folder."""
    real = _inside(root, path)
    if real is None:
        raise CannotWrite("leads out of the tree", path=path)
    full = root / real
    try:
        mode = os.stat(full).st_mode
    except FileNotFoundError:
        if os.path.lexists(root / path) and os.path.islink(root / path):
            raise CannotWrite("is a symlink to a file that does not exist", path=path) from None
    except OSError as error:
        raise CannotWrite(f"cannot be looked at: {_why(error)}", path=path) from error
    else:
        if not stat.S_ISREG(mode):
            raise CannotWrite("is not a regular file", path=path)
        if not (mode & 0o222 and os.access(full, os.W_OK)):
            raise CannotWrite("is read-only", path=path)
    folder = full.parent
    if not folder.is_dir():
        raise CannotWrite("is in a folder that does not exist", path=path)
    if not (folder.stat().st_mode & 0o222 and os.access(folder, os.W_OK | os.X_OK)):
        raise CannotWrite("is in a folder that is read-only", path=path)
    return real


def _inside(root: Path, path: str) -> str | None:
    """The real path relative to the root, or None if it leads out, or into a version control folder."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path))
    prefix = os.path.join(top, "")
    if not real.startswith(prefix):
        return None
    inside = real[len(prefix) :].replace(os.sep, "/")
    return None if _NO_SOURCES.intersection(inside.casefold().split("/")) else inside


def _content(full: Path) -> bytes | None:
    """The bytes of a file, None if it does not exist."""
    try:
        return full.read_bytes()
    except FileNotFoundError:
        return None


# --- one file ---


def _replace(full: Path, data: bytes, temporary: Path | None = None) -> None:
    """Put `data` in the place of a file, or create it, in one step; mode bits and owner stay."""
    try:
        kept = os.stat(full)
    except FileNotFoundError:
        kept = None
    temporary = temporary or full.with_name(f"{_TEMPORARY}{os.urandom(6).hex()}.tmp")
    try:
        _create(temporary, data, 0o600 if kept else 0o666)
        if kept:
            _keep_owner(temporary, kept)
            os.chmod(temporary, stat.S_IMODE(kept.st_mode))
        os.replace(temporary, full)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _create(full: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(full, flags, mode), "wb") as file:
        file.write(data)


def _keep_owner(temporary: Path, kept: os.stat_result) -> None:
    """Where root edits the files of another user, they stay theirs."""
    made = os.stat(temporary)
    if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (kept.st_uid, kept.st_gid):
        with contextlib.suppress(PermissionError):  # only root may give files away
            os.chown(temporary, kept.st_uid, kept.st_gid)


def _remove(full: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(full)


# --- the journal ---


def _write_journal(root: Path, data: bytes) -> None:
    """The journal appears whole or not at all, and is on the disk before the first file changes."""
    temporary = root / _JOURNAL_TEMPORARY
    try:
        _remove(temporary)
        _create(temporary, data, 0o600)
        _flush(temporary, os.O_RDWR)
        os.replace(temporary, root / JOURNAL)
    except BaseException:
        _remove(temporary)
        raise
    if hasattr(os, "O_DIRECTORY"):  # only POSIX opens a folder, to flush the new name in it
        with contextlib.suppress(OSError):  # and not every file system there; the journal is in place either way
            _flush(root, os.O_RDONLY)


def _flush(full: Path, flags: int) -> None:
    handle = os.open(full, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _drop_journal(root: Path) -> None:
    try:
        _remove(root / JOURNAL)
    except OSError as error:
        detail = f"every file is written, but the journal cannot be removed: {_why(error)}"
        raise CannotWrite(detail, path=JOURNAL) from error


def _roll_back(root: Path, started: Sequence[Entry]) -> None:
    """Put the old texts back; if that fails as well the journal stays, and says so."""
    for entry in reversed(started):
        try:
            _move(root, entry, forward=False)
        except OSError as error:
            detail = f"can neither be written nor put back: {_why(error)}"
            raise Interrupted(detail, path=entry.path, hint="then take the run back with --abort") from error
    _drop_journal(root)


def _settle(root: Path, *, forward: bool) -> tuple[str, ...]:
    entries = _read_journal(root)
    if not entries:
        return ()
    for entry in entries:
        if _inside(root, entry.path) != entry.path:
            raise Interrupted("the journal names a file that is not in the tree", path=entry.path, hint=_BY_HAND)
        try:
            moved = _is_moved(entry, _content(root / entry.path))
        except OSError as error:
            raise Interrupted(f"cannot be read: {_why(error)}", path=entry.path, hint=_BY_HAND) from error
        if moved is None:
            detail = "holds neither the old nor the new text; nothing was changed"
            raise Interrupted(detail, path=entry.path, hint=_BY_HAND)
    for entry in entries if forward else reversed(entries):
        try:
            _move(root, entry, forward=forward)
        except OSError as error:
            raise CannotWrite(f"cannot be written: {_why(error)}; the journal stays", path=entry.path) from error
    _sweep({root, *((root / entry.path).parent for entry in entries)})
    _drop_journal(root)
    return tuple(entry.path for entry in entries)


def _read_journal(root: Path) -> tuple[Entry, ...]:
    try:
        data = (root / JOURNAL).read_bytes()
    except FileNotFoundError:
        _remove(root / _JOURNAL_TEMPORARY)  # killed before the journal was in place: nothing had been written
        return ()
    except OSError as error:
        raise Interrupted(f"the journal cannot be read: {_why(error)}", path=JOURNAL) from error
    try:
        return decode_journal(data)
    except (ValueError, TypeError, KeyError) as error:
        raise Interrupted(f"the journal cannot be understood: {error}", path=JOURNAL, hint=_BY_HAND) from error


def _is_moved(entry: Entry, now: bytes | None) -> bool | None:
    """Whether a file holds the new text (True) or the old one (False, also: is not there yet); None if neither."""
    found = "" if now is None else digest(now)
    return True if found == entry.after else False if found == entry.before else None


def _move(root: Path, entry: Entry, *, forward: bool) -> None:
    """Bring one file to the wanted side, unless it is there already. Raises OSError if that cannot be done."""
    full = root / entry.path
    now = _content(full)
    moved = _is_moved(entry, now)
    if moved is forward:
        return
    text = entry.turned(now or b"", forward=forward)
    wanted = entry.after if forward else entry.before
    if moved is None or digest(text) != (wanted or digest(b"")):
        raise OSError("it changed while the journal was followed")
    if entry.created and not forward:
        _remove(full)
    else:
        _replace(full, text)


def _sweep(folders: set[Path]) -> None:
    """Remove the temporary files of the killed run."""
    for folder in sorted(folders):
        for name in os.listdir(folder):
            if name.startswith(_TEMPORARY) and name.endswith(".tmp"):
                _remove(folder / name)


def _why(error: OSError) -> str:
    return error.strerror or str(error)
