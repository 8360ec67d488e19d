"""The options that split a run over machines: shares, partial plans, a cluster.

Owns the command line of `shards`, behind that of `narrow_reexport`.
Invariant: a share writes nothing but its partial plan.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from codemods.engine.report import counted
from codemods.engine.streams import say

if TYPE_CHECKING:
    from codemods.engine.config import NarrowOptions
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


# what cannot be done with a share
_OF_THE_WHOLE = {
    "split": "--split",
    "patches": "--patches",
    "branches": "--branches",
    "open_with": "--open",
    "verify_command": "--verify-command",
    "show_diff": "--diff",
    "check": "--check",
    "plan": "--plan",
    "from_shims": "--from-shims",
    "merge_plans": "--merge-plans",
}


def shard_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that split a run over machines."""
    options = [
        click.option("--shard", metavar="I/N", help="Plan the I-th of N shares of the files; --plan-out takes them."),
        click.option("--files-from", metavar="FILE|-", help="Plan the files listed in FILE; --plan-out takes them."),
        click.option("--merge-plans", is_flag=True, help="Join partial plans: the arguments are their files."),
        click.option("--executor", metavar="dask://HOST:PORT", help="Plan the files on a Dask cluster."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


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
            say([f"the cluster lost {counted(found.done_here, 'file')}: planned here"], err=True)


def check_machines(arguments: Mapping[str, object]) -> None:
    """Raise UsageError where the options about several machines make no sense together."""
    spelled = str(arguments["executor"] or "")
    if spelled:
        from codemods.engine.cluster import address_of

        if not address_of(spelled):
            raise click.UsageError(f"--executor takes dask://HOST:PORT, not {spelled!r}")
    if not (arguments["shard"] or arguments["files_from"]):
        return
    if not arguments["plan_out"]:
        raise click.UsageError("--shard and --files-from make a partial plan: say where with --plan-out")
    for name, option in _OF_THE_WHOLE.items():
        if arguments[name]:
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
