"""The options that make a plan, and what becomes of one: written, split into parts, given to git.

Owns the command line of bulk refactors, behind that of `narrow_reexport`.
Invariant: nothing is written over work that no commit holds, unless that is asked for.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click
from click.core import ParameterSource

from codemods.engine.report import counted
from codemods.engine.streams import say

if TYPE_CHECKING:
    from codemods.engine.model import FileChange
    from codemods.narrow_reexport.bulk import Wishes


_SHIPS = {
    *("package", "symbols", "check", "quiet", "verbose", "plan_out"),
    *(
        "split",
        "guard_first",
        "patches",
        "branches",
        "author",
        "sign_off",
        "message",
        "verify_command",
        "verify_timeout",
    ),
    *("open_with", "remote", "base", "open_at_most", "dry_run"),
}
# everything else is the plan's to say: what would be left aside is an error
_APPLY_TAKES = _SHIPS | {"apply_plan", "allow_dirty", "show_diff"}
_STATUS_TAKES = _SHIPS | {"status", "output_format", "accept", "exclude"}


def bulk_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that turn a run into a plan, patches or branches."""
    options = [
        click.option("--plan", metavar="FILE", help="Narrow what the rows of FILE (TOML or JSON) say."),
        click.option("--plan-out", metavar="FILE", help="Write to FILE what would be done; leave the tree alone."),
        click.option(
            "--apply", "apply_plan", metavar="FILE", help="Do what the plan in FILE says, or ship it in parts."
        ),
        click.option(
            "--status", metavar="FILE", help="Say how far the plan in FILE has landed; --plan-out refreshes it."
        ),
        click.option(
            "--split", metavar="HOW", help="Ship in parts: codeowners, directory[:DEPTH], package or count:N."
        ),
        click.option("--guard-first", is_flag=True, help="The first part bans new call sites, see check-narrowed."),
        click.option("--patches", metavar="DIR", help="Write each part to DIR, for `git am --keep-cr`."),
        click.option("--branches", metavar="PREFIX", help="Make a branch for each part, without touching your files."),
        click.option(
            "--open",
            "open_with",
            is_flag=False,
            flag_value="auto",
            type=click.Choice(["auto", "gh", "glab"]),
            help="Push the branches and open a pull request for each, with gh or glab.  [default: by the remote]",
        ),
        click.option("--remote", metavar="NAME", help="Where --open pushes.  [default: as git push]"),
        click.option("--base", metavar="BRANCH", help="What --open proposes to change.  [default: the main branch]"),
        click.option("--open-at-most", type=click.IntRange(min=1), help="Open so many; the next run goes on."),
        click.option("--dry-run", is_flag=True, help="Print the commands of --open; do nothing."),
        click.option("--verify-command", metavar="CMD", help="Ship only parts with which CMD, in a checkout, exits 0."),
        click.option(
            "--verify-timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="End CMD after so long: red.",
        ),
        click.option("--author", metavar="'NAME <MAIL>'", help="The author of patches and commits.  [default: git's]"),
        click.option("-s", "--sign-off", is_flag=True, help="Add a Signed-off-by line."),
        click.option(
            "--message", type=click.File(encoding="utf-8"), help="A template of the message: {title}, {body}, {name}."
        ),
        click.option("--allow-dirty", is_flag=True, help="Write files that have uncommitted changes, too."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def save(changes: Sequence[tuple[Path, tuple[FileChange, ...]]], *, allow_dirty: bool) -> None:
    """Write, unless that would lose uncommitted work. Raises CodemodError."""
    from codemods.engine import project
    from codemods.engine.git import check_committed

    for root, own in () if allow_dirty else changes:
        check_committed(root, own)
    for root, own in changes:
        project.save(root, own)


def apply(root: Path, arguments: Mapping[str, object]) -> tuple[list[str], int]:
    """Do what a plan file says: write it, or ship it in parts. What was done, and the exit code."""
    from codemods.engine import project
    from codemods.engine.report import diff
    from codemods.engine.streams import put
    from codemods.narrow_reexport import bulk, plan_io

    _check_taken("--apply", _APPLY_TAKES, arguments)
    file, wishes = root / str(arguments["apply_plan"]), wishes_of(arguments)
    plan = plan_io.decode(project.Tree(file.parent, ()).read(file.name), file.name)
    dry = bool(arguments["show_diff"] or arguments["check"])
    if wishes is None and not dry:
        project.resume(root)
    changes = plan_io.changes_of(plan, root)
    number = sum(len(own) for _, own in changes)
    if arguments["show_diff"]:
        put(b"".join(diff(change) for _, own in changes for change in own))
    code = int(bool(arguments["check"]) and number > 0)
    if wishes is not None:
        said, held_back = bulk.ship(plan, root, wishes)
        return said, held_back or code
    if not dry:
        save(changes, allow_dirty=bool(arguments["allow_dirty"]))
    return [f"{'would change' if dry else 'changed'} {counted(number, 'file')}"], code


def status(root: Path, arguments: Mapping[str, object]) -> tuple[list[str], list[str], int]:
    """How far a plan has landed: what standard output says, what standard error says, and the exit code.

    Where a plan for the rest, its patches or branches are asked for, they are made as well.
    """
    from codemods.engine import project
    from codemods.engine.config import NarrowOptions
    from codemods.engine.report import paint
    from codemods.narrow_reexport import bulk, effects, plan_io, report, status_report
    from codemods.narrow_reexport.status import status_of, uncommitted

    _check_taken("--status", _STATUS_TAKES, arguments)
    file, wishes = root / str(arguments["status"]), wishes_of(arguments)
    plan = plan_io.decode(project.Tree(file.parent, ()).read(file.name), file.name)
    beyond = NarrowOptions(
        accept=cast("tuple[str, ...]", arguments["accept"]), exclude=cast("tuple[str, ...]", arguments["exclude"])
    )
    found = status_of(plan, root, str(arguments["split"] or ""), more=beyond)
    result = found.result
    code = 5 if result.failures else 4 if result.refusals else int(bool(arguments["check"]) and found.remains)
    output = arguments["output_format"]
    if output == "json":
        said = [status_report.as_json(found, code)]
    elif output == "github":
        said = status_report.as_github(found)
    else:
        said = status_report.as_text(found, verbose=bool(arguments["verbose"]))
    beside = report.failure_lines(result.failures, paint) if result.failures else []
    beside += report.refusals(result, paint) if result.refusals else []
    if dirty := uncommitted(plan, root):
        more = ", ..." if dirty[1:] else ""
        beside.append(
            f"{counted(len(dirty), 'file')} of the plan as yet uncommitted, told as on disk: {dirty[0]}{more}"
        )
    makes = any(arguments[name] for name in ("plan_out", "patches", "branches", "verify_command"))
    if makes and found.plan is None:
        beside.append("no plan was made, and nothing was written")
    if found.plan is not None and wishes is not None and makes:
        done, held_back = bulk.ship(effects.with_loads(found.plan, found.request, result), root, wishes)
        beside, code = [*beside, *done], code or held_back
    return said, beside, code


def wishes_of(arguments: Mapping[str, object]) -> Wishes | None:
    """What is to become of the run besides being written, if anything."""
    author = str(arguments["author"] or "")
    _check_together(arguments)
    ships = any(arguments[name] for name in ("split", "patches", "branches"))
    if arguments["guard_first"] and not ships:
        raise click.UsageError("--guard-first goes with --split, --patches or --branches")
    if not ships and not arguments["plan_out"]:
        if author or arguments["sign_off"] or arguments["message"] is not None:
            raise click.UsageError("--author, --sign-off and --message go with --patches or --branches")
        return None
    from codemods.narrow_reexport.bulk import TEMPLATE, Wishes

    named = {name: str(arguments[name] or "") for name in ("plan_out", "split", "patches", "branches", "author")}
    if author and not re.fullmatch(r"[^<>\n]+ <[^<>\s]+>", author):
        raise click.UsageError(f"--author takes 'Name <mail>', not {author!r}")
    template = cast("TextIO | None", arguments["message"])
    text = template.read() if template is not None else TEMPLATE
    return Wishes(
        **named,
        sign_off=bool(arguments["sign_off"]),
        guard_first=bool(arguments["guard_first"]),
        verbose=bool(arguments["verbose"]),
        template=text,
        open_with=str(arguments["open_with"] or ""),
        remote=str(arguments["remote"] or ""),
        base=str(arguments["base"] or ""),
        at_most=cast("int | None", arguments["open_at_most"]) or 0,
        dry_run=bool(arguments["dry_run"]),
        command=_spelled({"open_with", "remote", "base", "open_at_most", "dry_run", "quiet"}),
        verify=str(arguments["verify_command"] or ""),
        verify_timeout=cast("float | None", arguments["verify_timeout"]) or 0.0,
        tell=partial(_tell, quiet=bool(arguments["quiet"]), text=arguments["output_format"] in (None, "text")),
    )


def _check_taken(mode: str, taken: Collection[str], arguments: Mapping[str, object]) -> None:
    """A plan says what is done and how; an option that could change nothing would be a promise that is not kept."""
    if arguments["package"]:
        raise click.UsageError(f"{mode} takes everything from the plan")
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in taken and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{max(parameter.opts, key=len)} does not go with {mode}, which does what the plan says"
            )


def _check_together(arguments: Mapping[str, object]) -> None:
    for name in ("remote", "base", "open_at_most", "dry_run"):
        if arguments[name] and not arguments["open_with"]:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --open")
    if arguments["open_with"] and not arguments["branches"]:
        raise click.UsageError("--open needs --branches PREFIX: a pull request is for a branch")
    if arguments["verify_timeout"] and not arguments["verify_command"]:
        raise click.UsageError("--verify-timeout goes with --verify-command")
    if arguments["verify_command"] is not None:
        if not str(arguments["verify_command"]).strip():
            raise click.UsageError("--verify-command is empty, and would be green whatever happens")
        if not any(arguments[name] for name in ("split", "patches", "branches")):
            raise click.UsageError("--verify-command goes with --split, --patches or --branches")


def _tell(lines: Sequence[str], kind: str, *, quiet: bool, text: bool) -> None:
    """Say what a long step has done as soon as it has: `out` is what was asked for, `problem` is said to the quiet, too."""
    if kind != "err" or not quiet:
        say(lines, err=kind != "out" or not text)


def _spelled(without: Collection[str]) -> str:
    """This invocation, without some of its options, for a shell."""
    context = click.get_current_context()
    words = ["narrow-reexport"]
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in without or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        flag = [max(parameter.opts, key=len)] if isinstance(parameter, click.Option) else []
        for each in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count):
                words += flag * int(each)
            else:
                words += [*flag, str(getattr(each, "name", each))]
    return shlex.join(words)
