"""Each part is tried before it ships: in a checkout of its own, the person's command says if it is good.

Owns the checkout for trials, and the run of the command in it. This is the one place that runs code of a project.
Invariant: the person's files, index, HEAD and branches are never touched; each run starts from exactly what a commit holds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.engine.errors import CodemodError
from codemods.engine.git import LOCAL, Repository
from codemods.engine.pull_request import PullRequest, numbers
from codemods.engine.scratch import discard, is_alive, is_scratch, scratch_folder

PART = "CODEMODS_PART"  # the variable that names the part; empty for HEAD as it is
SOURCE_ROOTS = (".", "src")
_TAIL = 40  # lines of a red run that are shown
_READ = 64 * 1024  # of its output, from the end
_KNOWN = "an earlier run found it so"
_GRACE = 5.0  # seconds between asking a command to end and ending it


class AlreadyRed(CodemodError):
    """The command fails before anything has changed, so that it can prove nothing."""


@dataclass(frozen=True, slots=True)
class Command:
    """What the person wants to see green."""

    line: str  # for the shell
    timeout: float = 0.0  # seconds; 0: as long as it takes
    source_roots: tuple[str, ...] = SOURCE_ROOTS  # they come first on PYTHONPATH, before what is installed


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one run went."""

    number: int  # of the part; 0 for HEAD as it is
    part: str
    green: bool
    why: str  # what it is red for, or why it was not run
    seconds: float = 0.0
    tail: tuple[str, ...] = ()  # the end of the output

    def lines(self) -> list[str]:
        """For a person: one line, and for a red run the end of what it said."""
        took = f" ({self.seconds:.1f} s)" if self.seconds else ""
        why = f": {self.why}" if self.why else ""
        first = f"tried {self.number} {self.part}: {'green' if self.green else 'red'}{took}{why}"
        return [first, *(f"    {line}" for line in self.tail)]


def try_parts(
    repository: Repository,
    parts: Sequence[PullRequest],
    commits: Sequence[str],
    command: Command,
    *,
    known: Collection[int] = (),
    tell: Callable[[Verdict], None] = lambda verdict: None,
) -> tuple[Verdict, ...]:
    """A verdict for each part, by what its commit holds; those in `known`, by number, are known to be green. Raises AlreadyRed."""
    found: list[Verdict] = []
    if len(known) == len(parts):
        return tuple(
            Verdict(number, part.name, True, _KNOWN) for number, part in zip(numbers(parts), parts, strict=True)
        )
    with _ended_by_signals(), _checkout(repository, repository.head()) as (folder, place):
        first = _run(folder, repository.prefix, command, Verdict(0, "", False, ""))
        if not first.green:
            shown = "\n    ".join([first.why, *first.tail])
            hint = "make the command green on HEAD first: a red start proves nothing"
            raise AlreadyRed(f"the command is red on HEAD as it is: {shown}", hint=hint)
        for number, part, commit in zip(numbers(parts), parts, commits, strict=True):
            verdict = Verdict(number, part.name, False, "")
            reds = ", ".join(str(other.number) for other in found if not other.green)
            if reds and (part.last or (parts[0].first and not found[0].green)):
                needs = reds if part.last else str(found[0].number)
                verdict = replace(verdict, why=f"not tried, since it needs part{'s' if ',' in needs else ''} {needs}")
            elif number in known:
                verdict = replace(verdict, green=True, why=_KNOWN)
            else:
                repository.check_out_again(place, commit)
                verdict = _run(folder, repository.prefix, command, verdict)
            found.append(verdict)
            tell(verdict)
    return tuple(found)


def proven(part: PullRequest, command: Command, instead_of: str) -> PullRequest:
    """The part with a body that says what was run and where."""
    where = "on top of all other parts" if part.last else "with this part alone"
    shown = "\n".join(f"    {line}".rstrip() for line in command.line.strip().splitlines())
    said = f"In a clean checkout of HEAD {where}, this command was green:\n\n{shown}"
    return replace(part, body=part.body.replace(instead_of, said, 1))


def clear_dead_checkouts(repository: Repository) -> None:
    """Remove the checkouts of runs that were killed, and what git remembers of them. No other is touched."""
    for folder in repository.checkouts():
        if is_scratch(folder.parent) and not is_alive(folder.parent):
            discard(folder.parent)
            repository.forget_checkout(folder)


@contextlib.contextmanager
def _checkout(repository: Repository, commit: str) -> Iterator[tuple[Path, Mapping[str, str]]]:
    clear_dead_checkouts(repository)
    with scratch_folder() as scratch:
        folder = scratch / f"{scratch.name}-tree"  # git names its record after the last part
        try:
            yield folder, repository.check_out(folder, commit)
        finally:
            discard(folder)
            if folder in repository.checkouts():
                repository.forget_checkout(folder)


def _run(folder: Path, prefix: str, command: Command, verdict: Verdict) -> Verdict:
    there = folder / prefix
    environment = {name: value for name, value in os.environ.items() if name not in LOCAL}
    # an editable install leads to the person's own checkout: the trial's must be found first
    roots = [str(there / root) for root in command.source_roots if (there / root).is_dir()]
    environment["PYTHONPATH"] = os.pathsep.join([*roots, *filter(None, [environment.get("PYTHONPATH")])])
    environment[PART] = verdict.part
    output = folder.with_name("output")
    start = time.monotonic()
    try:
        with open(output, "wb") as said:  # noqa: PTH123  # a pipe would wait for whatever the command leaves behind
            process = subprocess.Popen(
                command.line,
                shell=True,
                cwd=there,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=sys.platform != "win32",
            )
        try:
            code = process.wait(command.timeout or None)
            why = f"exit code {code}" if code >= 0 else f"ended by signal {-code}"
        except subprocess.TimeoutExpired:
            code, why = -1, f"not done after {command.timeout:g} s"
        finally:
            _end(process)
    except OSError as error:
        return replace(verdict, why=f"cannot be started: {error.strerror}")
    seconds = time.monotonic() - start
    if code == 0:
        return replace(verdict, green=True, seconds=seconds)
    return replace(verdict, why=why, seconds=seconds, tail=_tail(output))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and what it has left behind."""
    if sys.platform == "win32":
        if process.poll() is None:
            process.kill()
        process.wait()
        return
    running = process.poll() is None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM if running else signal.SIGKILL)
    if running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tail(output: Path) -> tuple[str, ...]:
    with open(output, "rb") as said:  # noqa: PTH123
        said.seek(max(0, os.fstat(said.fileno()).st_size - _READ))
        rows = deque(said.read().decode("utf-8", "replace").splitlines(), _TAIL)
    return tuple("".join(char for char in row if char.isprintable() or char == "\t") for row in rows)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A request to end takes the way of Ctrl-C, so that the checkout goes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    wanted = [signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
    old = {number: signal.signal(number, leave) for number in wanted if signal.getsignal(number) is signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
