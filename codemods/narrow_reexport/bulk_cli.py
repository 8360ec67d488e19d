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
            "--split", metavar="HOW", help="Ship in parts: codeowners, directory[:DEPTH], package or count:N."
        ),
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


def wishes_of(arguments: Mapping[str, object]) -> Wishes | None:
    """What is to become of the run besides being written, if anything."""
    author = str(arguments["author"] or "")
    if not any(arguments[name] for name in ("plan_out", "split", "patches", "branches")):
        if author or arguments["sign_off"] or arguments["message"] is not None:
            raise click.UsageError("--author, --sign-off and --message go with --patches or --branches")
        return None
    from codemods.narrow_reexport.bulk import TEMPLATE, Wishes

    named = {name: str(arguments[name] or "") for name in ("plan_out", "split", "patches", "branches", "author")}
    if author and not re.fullmatch(r"[^<>\n]+ <[^<>\s]+>", author):
        raise click.UsageError(f"--author takes 'Name <mail>', not {author!r}")
    template = cast("TextIO | None", arguments["message"])
    text = template.read() if template is not None else TEMPLATE
    return Wishes(**named, sign_off=bool(arguments["sign_off"]), template=text)
