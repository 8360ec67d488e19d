"""A process that dies at a given call of the operating system, as by SIGKILL: no handler runs, nothing is flushed.

Owns the list of calls by which files change, and the child process that dies at one of them.
Invariant: each call that changes a file or a folder is counted; a write is counted twice: before it, and half-way through.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

CHANGING = ("open", "write", "fsync", "chmod", "replace", "unlink", "rename", "link", "mkdir", "rmdir", "truncate")
_KILLED = 42


def dies_at(number: int, work: Callable[[], object]) -> bool:
    """Do the work in a child process that dies at its `number`-th change; False if it came to its end before."""
    child = os.fork()
    if not child:
        code = 1
        try:
            _arm(number)
            work()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, _KILLED), f"the work failed before it was killed: {code}"
    return code == _KILLED


def kills(prepare: Callable[[], Path], work: Callable[[Path], object], *, above: int) -> Iterator[tuple[int, Path]]:
    """Each moment at which the work can be killed, with the folder as it is then. There are more than `above`."""
    for number in range(1, 1000):
        root = prepare()
        if not dies_at(number, lambda root=root: work(root)):  # type: ignore[misc]
            assert number > above, f"only {number - 1} calls were counted: the work does not go through them any more"
            return
        yield number, root
    raise AssertionError("the work never came to its end")


def _arm(number: int) -> None:
    left = number

    def counted(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            nonlocal left
            if name == "open" and not int(arguments[1]) & (os.O_CREAT | os.O_TRUNC):  # type: ignore[call-overload]
                return real(*arguments, **options)  # reads change nothing
            left -= 1
            if not left:
                os._exit(_KILLED)
            if name == "write":
                handle, data = arguments
                left -= 1
                if not left:
                    real(handle, bytes(data)[: len(bytes(data)) // 2])  # type: ignore[call-overload]
                    os._exit(_KILLED)
            return real(*arguments, **options)

        return call

    for name in CHANGING:
        setattr(os, name, counted(name, getattr(os, name)))
