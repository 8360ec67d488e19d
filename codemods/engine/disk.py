"""One file at a time on the disk: read if it is a file, put in the place of another, locked while a run writes.

Owns the calls of the operating system by which `project` reads and writes.
Invariant: a read never blocks (a FIFO, a device and a socket are errors) and never takes more than `_MOST` bytes; a file
is replaced in one step, and what a failed step has made is removed.
"""

# The calls of `os` are the steps between which a run can be killed: they stand here as such.
# ruff: noqa: PTH101, PTH105, PTH108, PTH116
from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

TEMPORARY = ".codemods-"  # then random digits, then `.tmp`; beside the file that it will replace
_MOST = 1 << 30
_PATIENCE = 10.0  # seconds to wait for another run; it holds the lock only while it writes
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Busy(OSError):
    """Another process writes in this tree."""


def read_file(full: str | Path) -> bytes:
    """The bytes of a regular file. Raises OSError, also for what is none or has no end."""
    return _read(full, 0)


def read_start(full: str | Path, size: int) -> bytes:
    """The first bytes of a regular file, so many at most. Raises OSError."""
    return _read(full, size)


def _read(full: str | Path, only: int) -> bytes:
    handle = os.open(full, _FLAGS)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            if stat.S_ISDIR(found.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            raise OSError(errno.EINVAL, "it is not a regular file")
        if only:
            return os.read(handle, only)
        if found.st_size > _MOST:
            raise OSError(errno.EFBIG, f"it is larger than {_MOST >> 20:,} MB")
        data = os.read(handle, found.st_size + 1)
        if len(data) == found.st_size:  # the usual case: there was room for one more byte
            return data
        pieces, size = [data], len(data)
        # what a file says about its size need not be true (/proc), and a read may give less than was asked for
        while data and size <= _MOST:
            data = os.read(handle, 1 << 20)
            pieces.append(data)
            size += len(data)
        if size > _MOST:
            raise OSError(errno.EFBIG, f"it is larger than {_MOST >> 20:,} MB")
        return b"".join(pieces)
    except BlockingIOError as error:
        raise OSError(errno.EINVAL, "it gives no data, and has no end") from error
    finally:
        os.close(handle)


def prepare(full: Path, data: bytes, temporary: Path | None = None) -> Path:
    """Write what is to take the place of a file beside it; mode bits and owner stay those of the file."""
    try:
        kept = os.stat(full)
    except FileNotFoundError:
        kept = None
    # the name is random and not derived: that of the file may be as long as names can be
    temporary = temporary or full.with_name(f"{TEMPORARY}{os.urandom(6).hex()}.tmp")
    try:
        create(temporary, data, 0o600 if kept else 0o666)
        if kept:
            _keep_owner(temporary, kept)
            os.chmod(temporary, stat.S_IMODE(kept.st_mode))
    except BaseException:
        remove(temporary)
        raise
    return temporary


def replace(full: Path, data: bytes, temporary: Path | None = None) -> None:
    """Put `data` in the place of a file, or create it, in one step."""
    temporary = prepare(full, data, temporary)
    try:
        os.replace(temporary, full)
    except BaseException:
        remove(temporary)
        raise


def create(full: Path, data: bytes, mode: int, *, flush: bool = False) -> None:
    """Write a file that is not there yet; with `flush` it is on the disk afterwards."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(full, flags, mode)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if flush:
            os.fsync(handle)
    finally:
        os.close(handle)


def flush_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where that can be done: only POSIX opens a folder, and not every file system."""
    if hasattr(os, "O_DIRECTORY"):
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def remove(full: Path) -> None:
    """Remove a file, unless it is gone already."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(full)


def sweep(folders: set[Path]) -> None:
    """Remove the temporary files of a killed run."""
    for folder in sorted(folders):
        for name in os.listdir(folder):  # noqa: PTH208
            if name.startswith(TEMPORARY) and name.endswith(".tmp"):
                remove(folder / name)


@contextlib.contextmanager
def locked(root: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the tree for this process. Raises Busy. The lock is on the folder itself: it leaves no file, and ends with the process.

    Where a folder cannot be locked (Windows, some network file systems) nothing is held. Ctrl-C and SIGTERM wait.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(root, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise Busy(errno.EBUSY, "another run is writing in this tree") from None
                time.sleep(0.05)
            except OSError:
                break
        with _undisturbed():
            yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that ask the process to end come when the write is done: it takes a moment, and is whole then."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)


def _keep_owner(temporary: Path, kept: os.stat_result) -> None:
    """Where root edits the files of another user, they stay theirs."""
    made = os.stat(temporary)
    if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (kept.st_uid, kept.st_gid):
        with contextlib.suppress(PermissionError):  # only root may give files away
            os.chown(temporary, kept.st_uid, kept.st_gid)
