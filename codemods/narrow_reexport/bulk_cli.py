"""The options that make a plan, and what becomes of one: written, split into parts, given to git.

Owns the command line of bulk refactors, behind that of `narrow_reexport`.
Invariant: nothing is written over work that no commit holds, unless that is asked for.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click

from codemods.engine.report import counted

if TYPE_CHECKING:
    from codemods.engine.config import NarrowOptions
    from codemods.engine.model import FileChange
    from codemods.narrow_reexport.bulk import Wishes
    from codemods.narrow_reexport.request import Request

# what the request decides, which partial plans bring with them
_OF_THE_REQUEST = (
    "every",
    "callers_only",
    "shim",
    "shim_removal",
    "from_shims",
    "python",
    "also",
    "source_root",
    "exclude",
    "accept",
    "accept_side_effects",
    "rewrite_strings",
    "strict",
    "keep_going",
    "to_definition",
    "no_ban",
    "plan",
)


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
        click.option("--shard", metavar="I/N", help="Plan the I-th of N shares of the files; --plan-out takes them."),
        click.option("--files-from", metavar="FILE|-", help="Plan the files listed in FILE; --plan-out takes them."),
        click.option("--merge-plans", is_flag=True, help="Join partial plans: the arguments are their files."),
        click.option("--executor", metavar="dask://HOST:PORT", help="Plan the files on a Dask cluster."),
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


# --- several machines ---


@contextlib.contextmanager
def machines(request: Request, arguments: Mapping[str, object]) -> Iterator[Request]:
    """The request, planned on the machines that were asked for."""
    spelled = str(arguments["executor"] or "")
    if not spelled:
        yield request
        return
    from codemods.engine.cluster import cluster
    from codemods.narrow_reexport import shards

    with cluster(spelled) as found:
        if isinstance(request.planner, shards.Joined):
            request.planner.inner = shards.on(found)
            yield request
        else:
            yield replace(request, planner=shards.on(found))
        if found.done_here and not arguments["quiet"]:
            click.echo(f"the cluster lost {counted(found.done_here, 'file')}: planned here", err=True)


def check_machines(arguments: Mapping[str, object]) -> None:
    """Raise UsageError where the options about several machines make no sense together."""
    from codemods.engine.cluster import address_of

    spelled = str(arguments["executor"] or "")
    if spelled and not address_of(spelled):
        raise click.UsageError(f"--executor takes dask://HOST:PORT, not {spelled!r}")
    if not (arguments["shard"] or arguments["files_from"]):
        return
    if not arguments["plan_out"]:
        raise click.UsageError("--shard and --files-from make a partial plan: say where with --plan-out")
    others = ("split", "patches", "branches", "show_diff", "check", "plan", "from_shims", "merge_plans")
    for name in others:
        if arguments[name]:
            option = "--diff" if name == "show_diff" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} needs the whole, and --shard and --files-from plan a share of it")


def share(request: Request, arguments: Mapping[str, object]) -> list[str]:
    """Plan a share of the files, and write the partial plan."""
    from codemods.engine import project
    from codemods.narrow_reexport import shards
    from codemods.narrow_reexport.partial_plan import encode

    number, of, files = 1, 1, None
    if arguments["shard"]:
        found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", str(arguments["shard"]))
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of:
            raise click.UsageError(f"--shard takes I/N, the first is 1/N, not {arguments['shard']!r}")
    if arguments["files_from"]:
        spelled = str(arguments["files_from"])
        file = request.root / spelled
        data = sys.stdin.buffer.read() if spelled == "-" else project.Tree(file.parent, ()).read(file.name)
        files = shards.listed(data, request)
    part, whole = shards.plan_share(request, shards.Share(number, of, files))
    plan_out = str(arguments["plan_out"])
    project.deliver(Path(plan_out), encode(part))
    plans = [file.plan for stage in part.contexts for file in stage.files]
    said = [f"wrote the partial plan for {len(plans)} of {counted(whole, 'file')} to {plan_out}"]
    refusals = sum(len(plan.refusals) for plan in plans)
    return [*said, f"{counted(refusals, 'place')} in the way: --merge-plans names them"] if refusals else said


def merging(root: Path, arguments: Mapping[str, object], output_format: str) -> tuple[Request, NarrowOptions]:
    """The request that partial plans were made for, which takes its plans from them."""
    given = [name for name in _OF_THE_REQUEST if arguments[name]]
    if given:
        option = "--all" if given[0] == "every" else f"--{given[0].replace('_', '-')}"
        raise click.UsageError(f"--merge-plans takes everything from the partial plans, {option} too")
    files = [str(arguments["package"] or ""), *cast("tuple[str, ...]", arguments["symbols"])]
    if not any(files):
        raise click.UsageError("--merge-plans takes the files of the partial plans")
    from codemods.narrow_reexport import shards
    from codemods.narrow_reexport.request import Request

    joined = shards.load(root, files)
    asked = joined.asked
    options = replace(asked.options, output_format=output_format)
    return Request(root, asked.package, asked.symbols, asked.every, options, planner=joined), options


def merged(request: Request) -> list[str]:
    """What came from partial plans, if anything did. Raises CodemodError if not all of it was used."""
    from codemods.narrow_reexport.shards import Joined

    return [request.planner.finish()] if isinstance(request.planner, Joined) else []
