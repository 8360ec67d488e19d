"""The parts of a plan go out: tried if that is wished for, then as patches, as branches, as pull requests.

Owns the order of these steps, and what is said about them.
Invariant: what can fail is asked first; a part that was red in its trial goes nowhere, and the last part goes only with all others.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.engine import forge, project
from codemods.engine.clock import Clock
from codemods.engine.git import GitFailed, Repository, Uncommitted, repository
from codemods.engine.pull_request import PullRequest, branch_names, commits_of, message, numbers, series, title_and_body
from codemods.engine.report import counted
from codemods.engine.trial import SOURCE_ROOTS, Command, Verdict, clear_dead_checkouts, proven, try_parts

if TYPE_CHECKING:
    from codemods.narrow_reexport.bulk import Wishes

NOT_RUN = "No code of the project was run."
_SILENT = Clock(False)
RED = 4  # the exit code if a part was left out, as for a refusal


def deliver(
    parts: Sequence[PullRequest], root: Path, wishes: Wishes, source_roots: Sequence[str] = (), clock: Clock = _SILENT
) -> tuple[list[str], int]:
    """Do what is wished for with the parts; says what was done, and the exit code. Raises CodemodError."""
    if not (wishes.patches or wishes.branches or wishes.verify):
        return [], 0
    found = repository(root)
    author = wishes.author or (found.person() if found is not None else "")
    if not author:
        raise GitFailed("nobody is known as the author", hint='pass --author "Name <mail>"')
    command = Command(wishes.verify, wishes.verify_timeout, tuple(source_roots) or SOURCE_ROOTS)
    untried = parts
    if wishes.verify:
        parts = [proven(part, command, NOT_RUN) for part in parts]  # those that turn out red go nowhere
    texts = _texts(parts, author, wishes)
    if not (wishes.branches or wishes.verify):
        return _patches(parts, texts, author, root, wishes, found, set(), clock), 0
    if found is None:
        raise GitFailed(f"{'--branches' if wishes.branches else '--verify-command'} needs a git checkout")
    first = {change.path: change for part in reversed(parts) for change in part.changes}
    modified = found.modified([first[path] for path in sorted(first)])
    if modified:
        hint = "commit or stash it: a part starts at HEAD, and the plan was made for other text"
        raise Uncommitted("has uncommitted changes", path=modified[0], hint=hint)
    there = forge.forge_of(found, wishes.open_with, wishes.remote, wishes.base) if wishes.open_with else None
    if there is not None and wishes.dry_run:
        commands = forge.script(there, _proposals(parts, texts, [""] * len(parts), wishes))
        wishes.tell([wishes.command, *commands], "out")
        return [], 0
    if there is not None:
        forge.check_installed(there)
    clear_dead_checkouts(found)
    clock.lines("")
    commits = commits_of(found, parts, texts, author, clock.done)
    took = clock.lines("branch")
    red: set[int] = set()
    if wishes.verify:
        says_so = [text != plain for text, plain in zip(texts, _texts(untried, author, wishes), strict=True)]
        red = _tried(found, parts, commits, command, says_so, wishes)
    said = _patches(parts, texts, author, root, wishes, found, red, clock) if wishes.patches else []
    if wishes.branches:
        green = _proposals(parts, texts, commits, wishes, red)
        new = found.create_branches({each.branch: each.commit for each in green})
        # one that makes the same edits from an older HEAD is kept as it is
        green = [replace(each, commit=found.ask("rev-parse", f"refs/heads/{each.branch}")) for each in green]
        said += [f"{'made' if each.branch in new else 'kept'} {each.branch} ({each.commit[:12]})" for each in green]
        said += took
        if there is not None:
            left = forge.open_all(found, there, green, wishes.at_most, lambda line: wishes.tell([line], "err"))
            said += [f"{counted(left, 'part')} left to open: run the command again"] if left else []
    return said, RED if red else 0


def _texts(parts: Sequence[PullRequest], author: str, wishes: Wishes) -> list[str]:
    return [message(part, wishes.template, signed_by=author if wishes.sign_off else "") for part in parts]


def _tried(
    found: Repository,
    parts: Sequence[PullRequest],
    commits: Sequence[str],
    command: Command,
    says_so: Sequence[bool],
    wishes: Wishes,
) -> set[int]:
    """The numbers of the parts that are red.

    A branch with the very commit, if its message says that the command was green, is from an earlier run: not tried again.
    """

    def tell(verdict: Verdict) -> None:
        wishes.tell(verdict.lines(), "err" if verdict.green else "problem")

    known: set[int] = set()
    if wishes.branches:
        names = branch_names(parts, wishes.branches)
        found.missing_branches(dict(zip(names, commits, strict=True)))
        rows = zip(numbers(parts), names, commits, says_so, strict=True)
        there = {name: found.ask("rev-parse", "--quiet", "--verify", f"refs/heads/{name}") for name in names}
        known = {number for number, name, commit, says in rows if says and there[name] == commit}
    verdicts = try_parts(found, parts, commits, command, known=known, tell=tell)
    return {verdict.number for verdict in verdicts if not verdict.green}


def _patches(
    parts: Sequence[PullRequest],
    texts: Sequence[str],
    author: str,
    root: Path,
    wishes: Wishes,
    found: Repository | None,
    red: Collection[int],
    clock: Clock,
) -> list[str]:
    clock.lines("")
    if found is not None:
        with contextlib.suppress(GitFailed):  # nothing is committed yet, or there is no git
            parts = [replace(part, changes=found.as_committed(part.changes)) for part in parts]
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime())
    files = series(parts, texts, author, date, found.prefix if found is not None else "", red, clock.done)
    project.deliver_folder(root / wishes.patches, files)
    number = len(files) - 1  # all but `series`
    return [f"wrote {number:,} {'patch' if number == 1 else 'patches'} to {wishes.patches}", *clock.lines("patch")]


def _proposals(
    parts: Sequence[PullRequest],
    texts: Sequence[str],
    commits: Sequence[str],
    wishes: Wishes,
    red: Collection[int] = (),
) -> list[forge.Proposal]:
    proposals = []
    rows = zip(numbers(parts), parts, texts, branch_names(parts, wishes.branches), commits, strict=True)
    for number, part, text, name, commit in rows:
        title, body = title_and_body(text)
        draft = part.last and len(parts) > 1  # it must not land before the others
        proposals += [] if number in red else [forge.Proposal(number, name, commit, title, body, draft)]
    return proposals
