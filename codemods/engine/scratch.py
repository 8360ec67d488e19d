"""Temporary folders that go when a run ends, or at the next run if it was killed.

Owns the making and clearing of those folders. A file in each is locked as long as its process lives.
Invariant: it removes only folders of its own kind and of this user, and none whose process is alive.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PREFIX = "codemods-run-"
_LOCK = "alive"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder for this run. Those that killed runs have left are cleared on the way."""
    clear_dead()
    folder, lock = _made()
    try:
        yield folder
    finally:
        os.close(lock)
        discard(folder)


def clear_dead() -> None:
    """Remove the folders of runs that are gone."""
    top = Path(tempfile.gettempdir())
    for name in sorted(os.listdir(top)):  # noqa: PTH208  # names are enough
        if name.startswith(_PREFIX) and not is_alive(top / name):
            discard(top / name)


def is_scratch(folder: Path) -> bool:
    """Whether a folder has a name that only this module gives."""
    return folder.name.startswith(_PREFIX)


def is_alive(folder: Path) -> bool:
    """Whether the run that made a folder may still need it: it holds the lock, or the folder is somebody else's."""
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        return True
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        return False  # killed before it had the lock; one that is about to take it makes another folder
    except OSError:
        return True
    try:
        return not _locked(handle)
    finally:
        os.close(handle)


def discard(folder: Path) -> None:
    """Remove a folder and all in it, also what a command has made read-only. What resists stays for the next run."""

    def again(remove: Callable[..., object], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)  # noqa: PTH101, PTH120
            os.chmod(path, 0o700)  # noqa: PTH101
            remove(path)

    with contextlib.suppress(OSError):
        # the lock goes last: a kill in between leaves a folder that is known for a dead one
        for entry in os.scandir(folder):
            if entry.name != _LOCK:
                shutil.rmtree(entry.path, onerror=again) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)  # noqa: PTH108
        shutil.rmtree(folder, onerror=again)


def _made() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        try:
            handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:  # another run took it for a dead one
            continue
        if _locked(handle) and (folder / _LOCK).exists():
            return folder, handle
        os.close(handle)


def _locked(handle: int) -> bool:
    """Take the lock of an open file, if nobody has it. It goes with the process."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
