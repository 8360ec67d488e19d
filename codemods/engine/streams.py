"""What a command says and how it ends: written to streams that may be closed, ended by a signal, read by nobody.

Owns standard output and standard error, the signals that end a run, and the exit codes for that (128 + the signal).
Invariant: a name or a text that a stream's encoding lacks is escaped, never an error; a reader that leaves early (`| head`)
changes neither what is done nor the exit code; whoever ends a run sees no traceback, and no worker process is left.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import TextIO

from codemods.engine.errors import CannotWrite
from codemods.engine.memory import collect_rarely
from codemods.engine.report import paint, wants_colour

_STYLE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ENDING = ("SIGTERM", "SIGHUP")
_FRAMES = 3000
_ESCAPED = "codemods.escaped"
_CANNOT = 3  # the exit code of every command for that


class Stopped(BaseException):
    """A signal asks the run to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def ending_well(work: Callable[[], int]) -> int:
    """Do the work of a command; its exit code, or that of the signal that ended it."""
    collect_rarely()
    with _signals(), _headroom():
        try:
            return work()
        except RecursionError as error:
            where = _file_of(error)
            where = f"{where}: it" if where else "a file"
            lines = [
                f"{paint('error', 'red')}: {where} is nested too deeply to be followed",
                "    --exclude takes it out",
            ]
            say(lines, err=True)
            return _CANNOT
        except KeyboardInterrupt:
            number, name = int(signal.SIGINT), "Ctrl-C"
        except Stopped as stopped:
            number, name = stopped.number, signal.Signals(stopped.number).name
        with contextlib.suppress(KeyboardInterrupt, Stopped):
            say([f"stopped by {name}; no file is half written"], err=True)
        return 128 + number


def say(lines: Iterable[str], *, err: bool = False) -> None:
    """Write lines; the escapes of colours only where there are any. Raises CannotWrite where the disk behind it is full."""
    stream = _stream(err)
    text = "\n".join(lines) + "\n"
    if stream is None or text == "\n":
        return
    if not wants_colour(stream.isatty()):
        text = _STYLE.sub("", text)
    with _written(err):
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, _ESCAPED).decode(encoding))
        stream.flush()


def put(data: bytes) -> None:
    """Write bytes to the standard output as they are."""
    stream = _stream(False)
    if stream is None:
        return
    with _written(False):
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks as `\\u00e9`, which is right in JSON, too: characters beyond U+FFFF as two of them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


codecs.register_error(_ESCAPED, _escaped)


def _stream(err: bool) -> TextIO | None:
    """The stream, None where it was closed before the start (`>&-`)."""
    return sys.stderr if err else sys.stdout


@contextlib.contextmanager
def _headroom() -> Iterator[None]:
    """Room for code that is nested deeply, as generated code is: four frames for each `elif`."""
    # More would be no gain: up to 3.11 `ast` goes three times as deep as this in C, on a stack that ends in a crash.
    kept = sys.getrecursionlimit()
    sys.setrecursionlimit(max(kept, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(kept)


def _file_of(error: BaseException) -> str:
    """The file that was looked at when an error came up: the innermost `path` of the stack."""
    found, trace = "", error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_locals.get("path")
        found = path if isinstance(path, str) and path else found
        trace = trace.tb_next
    return found


@contextlib.contextmanager
def _written(err: bool) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _mute(err)
    except OSError as error:
        _mute(err)
        if not err:
            raise CannotWrite(f"the standard output cannot be written: {error.strerror}") from error


def _mute(err: bool) -> None:
    """From now on the stream leads nowhere, so that the last flush at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError, io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        stream = sys.stderr if err else sys.stdout
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Signals that end a process become an exception, so that a write is completed or noted and workers end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = {}
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            kept[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)
