"""The options that make a plan, and what becomes of one: written, split into parts, given to git.

Owns the command line of bulk refactors, behind that of `narrow_reexport`.
Invariant: nothing is written over work that no commit holds, unless that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click

from codemods.engine.report import counted

if TYPE_CHECKING:
    from codemods.engine.model import FileChange
    from codemods.narrow_reexport.bulk import Wishes


def bulk_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that turn a run into a plan, patches or branches."""
    options = [
        click.option("--plan", metavar="FILE", help="Narrow what the rows of FILE (TOML or JSON) say, all or nothing."),
        click.option("--plan-out", metavar="FILE", help="Write what would be done to FILE; leave the tree alone."),
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
        click.option("--author", metavar="'NAME <MAIL>'", help="The author of patches and commits.  [default: git's]"),
        click.option("-s", "--sign-off", is_flag=True, help="Add a Signed-off-by line."),
        click.option("--message", type=click.File(encoding="utf-8"), help="The template: {title}, {body}, {name}."),
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


def apply(root: Path, arguments: Mapping[str, object]) -> list[str]:
    """Do what a plan file says: write it, or ship it in parts."""
    from codemods.engine import project
    from codemods.narrow_reexport import bulk, plan_io

    if arguments["package"]:
        raise click.UsageError("--apply takes everything from the plan")
    file, wishes = root / str(arguments["apply_plan"]), wishes_of(arguments)
    plan = plan_io.decode(project.Tree(file.parent, ()).read(file.name), file.name)
    if wishes is not None:
        said = bulk.ship(plan, root, wishes)
    else:
        project.resume(root)
        changes = plan_io.changes_of(plan, root)
        save(changes, allow_dirty=bool(arguments["allow_dirty"]))
        said = [f"changed {counted(sum(len(own) for _, own in changes), 'file')}"]
    return said


def status(root: Path, arguments: Mapping[str, object]) -> tuple[list[str], list[str], int]:
    """How far a plan has landed: what standard output says, what standard error says, and the exit code.

    Where a plan for the rest, its patches or branches are asked for, they are made as well.
    """
    from codemods.engine import project
    from codemods.engine.report import paint
    from codemods.narrow_reexport import bulk, effects, plan_io, report, status_report
    from codemods.narrow_reexport.status import status_of, uncommitted

    if arguments["package"] or arguments["plan"] or arguments["from_shims"]:
        raise click.UsageError("--status takes everything from the plan")
    file, wishes = root / str(arguments["status"]), wishes_of(arguments)
    plan = plan_io.decode(project.Tree(file.parent, ()).read(file.name), file.name)
    found = status_of(plan, root, str(arguments["split"] or ""))
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
    makes = any(arguments[name] for name in ("plan_out", "patches", "branches"))
    if found.plan is not None and wishes is not None and makes:
        beside += bulk.ship(effects.with_loads(found.plan, found.request, result), root, wishes)
    return said, beside, code


def wishes_of(arguments: Mapping[str, object]) -> Wishes | None:
    """What is to become of the run besides being written, if anything."""
    author = str(arguments["author"] or "")
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
        template=text,
        sign_off=bool(arguments["sign_off"]),
        guard_first=bool(arguments["guard_first"]),
        verbose=bool(arguments["verbose"]),
    )
