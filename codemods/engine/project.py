"""Source files, read and written: all of a change or nothing of it, even if the run is killed half-way.

Owns every read and write of a source file, and the journal `.codemods-journal` at the tree's root.
Invariant: it never writes outside the root, never leaves a mixture of old and new without a journal, and never
overwrites a text that it has not seen.
"""

# The calls of `os` are the steps between which a run can be killed: they stand here as such.
# ruff: noqa: PTH105, PTH110, PTH113, PTH114, PTH116, PTH118
from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.engine import disk
from codemods.engine.errors import CannotWrite, Interrupted, Unreadable
from codemods.engine.journal import JOURNAL, Entry, decode_journal, encode_journal
from codemods.engine.model import FileChange

_JOURNAL_TEMPORARY = f"{JOURNAL}.tmp"
_BY_HAND = f"put the file right and run again, or remove {JOURNAL} to keep all files as they are"
_REMEMBERED = 200_000_000
_NO_SOURCES = frozenset({".git", ".hg"})


@dataclass(frozen=True, slots=True)
class Tree:
    """A root and the files under it that could matter; their bytes stay on the disk."""

    root: Path
    paths: tuple[str, ...]

    def read(self, path: str) -> bytes:
        """The bytes of a file; nothing is cached."""
        try:
            return disk.read_file(f"{self.root}/{path}")
        except OSError as error:
            hint = "put it right, or take it out with --exclude" if self.paths else ""
            raise Unreadable(f"cannot be read: {_why(error)}", path=path, hint=hint) from error

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
    """A tree whose files are read once and kept, up to 200 MB: for many questions about files that nobody changes meanwhile."""

    def __init__(self, root: Path, paths: tuple[str, ...]) -> None:
        super().__init__(root, paths)
        object.__setattr__(self, "_kept", {})
        object.__setattr__(self, "_size", [0])

    def read(self, path: str) -> bytes:
        """The bytes of a file, as they were when it was first read."""
        kept: dict[str, bytes] = self._kept  # type: ignore[attr-defined]
        if path in kept:
            return kept[path]
        data = super().read(path)
        if self._size[0] + len(data) <= _REMEMBERED:  # type: ignore[attr-defined]
            kept[path] = data
            self._size[0] += len(data)  # type: ignore[attr-defined]
        return data

    def has(self, path: str) -> bool:
        """Whether there is such a file, also one that is only planned."""
        return path in self._kept or super().has(path)  # type: ignore[attr-defined]

    def edited(self, files: Mapping[str, bytes]) -> Tree:
        """The same tree with other bytes in some files; what was read of the rest is kept."""
        tree = RememberedTree(self.root, self.paths)
        tree._kept.update({**self._kept, **files})  # type: ignore[attr-defined]
        tree._size[0] = self._size[0]  # type: ignore[attr-defined]
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
    try:
        with disk.locked(root):
            _save(root, changes)
    except disk.Busy as error:
        raise _busy(error) from error
    except OSError as error:
        raise CannotWrite(f"the tree cannot be opened: {_why(error)}", path=str(root)) from error


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
        temporary = file.with_name(f"{disk.TEMPORARY}{file.name}.tmp")  # the name that a killed run has left, too
        disk.remove(temporary)
        disk.replace(file, data, temporary)
    except OSError as error:
        raise CannotWrite(f"cannot be written: {_why(error)}", path=str(file)) from error


def deliver_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write a patch series; what an earlier one left there goes. The folder must hold nothing else."""
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if not all(name == "series" or name.endswith((".patch", ".tmp")) for name in there):
        raise CannotWrite("holds other files than patches", path=str(folder), hint="choose a new folder")
    for name in sorted(there - files.keys()):
        disk.remove(folder / name)
    for name, data in files.items():
        deliver(folder / name, data)


def _save(root: Path, changes: Sequence[FileChange]) -> None:
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
    ready: dict[str, Path] = {}
    try:
        _prepare(root, entries, afters, ready)
        _put_in_place(root, entries, ready)
    except BaseException:  # also Ctrl-C: then the journal stays, and tells the next run what is left to do
        _discard(ready.values())
        raise
    _drop_journal(root)


def _prepare(root: Path, entries: Sequence[Entry], afters: Mapping[str, bytes], ready: dict[str, Path]) -> None:
    """All new texts, each beside its file: a full disk shows before the first file changes."""
    for entry in entries:
        try:
            ready[entry.path] = disk.prepare(root / entry.path, afters[entry.path])
        except OSError as error:
            _drop_journal(root)
            raise CannotWrite(f"cannot be written: {_why(error)}; nothing was changed", path=entry.path) from error


def _put_in_place(root: Path, entries: Sequence[Entry], ready: dict[str, Path]) -> None:
    started: list[Entry] = []
    for entry in entries:
        started.append(entry)
        try:
            if _inside(root, entry.path) != entry.path:  # a folder may have become a symlink since
                raise OSError(errno.ELOOP, "it leads elsewhere than before")
            os.replace(ready[entry.path], root / entry.path)
        except OSError as error:
            _roll_back(root, started)
            raise CannotWrite(f"cannot be written: {_why(error)}; nothing was changed", path=entry.path) from error
        del ready[entry.path]


def _discard(files: Iterable[Path]) -> None:
    """Remove what was made ready and is not needed; what cannot be removed does no harm."""
    for file in files:
        with contextlib.suppress(OSError):
            disk.remove(file)


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
        return disk.read_file(full)
    except FileNotFoundError:
        return None


# --- the journal ---


def _write_journal(root: Path, data: bytes) -> None:
    """The journal appears whole or not at all, and is on the disk before the first file changes."""
    temporary = root / _JOURNAL_TEMPORARY
    try:
        disk.remove(temporary)
        disk.create(temporary, data, 0o600, flush=True)
        os.replace(temporary, root / JOURNAL)
    except BaseException:
        _discard([temporary])
        raise
    disk.flush_folder(root)


def _drop_journal(root: Path) -> None:
    try:
        disk.remove(root / JOURNAL)
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
            raise Interrupted(
                detail, path=entry.path, hint="make it writable, or make room, and take the run back with --abort"
            ) from error
    _drop_journal(root)


def _settle(root: Path, *, forward: bool) -> tuple[str, ...]:
    if not any(os.path.lexists(root / name) for name in (JOURNAL, _JOURNAL_TEMPORARY)):
        return ()
    try:
        with disk.locked(root):
            return _settled(root, forward=forward)
    except disk.Busy as error:
        raise _busy(error) from error
    except OSError as error:
        raise CannotWrite(f"the journal cannot be followed: {_why(error)}", path=JOURNAL) from error


def _settled(root: Path, *, forward: bool) -> tuple[str, ...]:
    entries = _read_journal(root)
    if not entries:
        return ()
    for entry in entries:
        if _inside(root, entry.path) != entry.path:
            raise Interrupted("the journal names a file that is not in the tree", path=entry.path, hint=_BY_HAND)
        try:
            moved = entry.is_moved(_content(root / entry.path), digest)
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
    disk.sweep({root, *((root / entry.path).parent for entry in entries)})
    _drop_journal(root)
    return tuple(entry.path for entry in entries)


def _read_journal(root: Path) -> tuple[Entry, ...]:
    try:
        data = disk.read_file(root / JOURNAL)
    except FileNotFoundError:
        disk.remove(root / _JOURNAL_TEMPORARY)  # killed before the journal was in place: nothing had been written
        return ()
    except OSError as error:
        raise Interrupted(f"the journal cannot be read: {_why(error)}", path=JOURNAL, hint=_BY_HAND) from error
    try:
        return decode_journal(data)
    except (ValueError, TypeError, KeyError) as error:
        raise Interrupted(f"the journal cannot be understood: {error}", path=JOURNAL, hint=_BY_HAND) from error


def _move(root: Path, entry: Entry, *, forward: bool) -> None:
    """Bring one file to the wanted side, unless it is there already. Raises OSError if that cannot be done."""
    full = root / entry.path
    now = _content(full)
    moved = entry.is_moved(now, digest)
    if moved is forward:
        return
    text = entry.turned(now or b"", forward=forward)
    wanted = entry.after if forward else entry.before
    if moved is None or digest(text) != (wanted or digest(b"")):
        raise OSError("it changed while the journal was followed")
    if entry.created and not forward:
        disk.remove(full)
    else:
        disk.replace(full, text)


def _busy(error: OSError) -> CannotWrite:
    return CannotWrite(f"{_why(error)}; nothing was written", path=JOURNAL, hint="run again when it is done")


def _why(error: OSError) -> str:
    return error.strerror or str(error)
