"""From the command line's arguments to a run, its report and its exit code.

Owns the merge of arguments and configuration, the order journal → run → write, and which stream says what.
Invariant: only `CodemodError` is caught here, and no traceback of it reaches a person.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from codemods.engine.errors import CodemodError, Interrupted
from codemods.engine.report import counted, error_lines, paint
from codemods.engine.streams import ending_well, put, say
from codemods.narrow_reexport import bulk_cli, shards_cli

if TYPE_CHECKING:
    from codemods.engine.config import NarrowOptions
    from codemods.narrow_reexport.request import Request, Result

WAY_OUT = "way out: "
DONE, WOULD_CHANGE, CANNOT, REFUSED, BUG = 0, 1, 3, 4, 5


def run(arguments: Mapping[str, object]) -> int:
    """One invocation; returns the exit code (0 done, 1 check, 3 cannot, 4 refused, 5 our bug, 128 + n by signal n)."""
    return ending_well(lambda: _invoked(arguments))


def _invoked(arguments: Mapping[str, object]) -> int:
    root = Path.cwd()
    output = str(arguments["output_format"] or "")
    try:
        if arguments["abort_run"]:
            return _abort(root, arguments)
        if arguments["apply_plan"]:
            if arguments["show_diff"] or arguments["check"]:
                _check_finished(root, "")
            said, code = bulk_cli.apply(root, arguments)
            say(said, err=bool(arguments["show_diff"])) if said and not arguments["quiet"] else None
            return code
        if arguments["status"]:
            _check_finished(root, "")
            said, beside, code = bulk_cli.status(root, arguments)
            say(said) if said and (output or not arguments["quiet"]) else None
            say(beside, err=True) if beside and (code or not arguments["quiet"]) else None
            return code
        shards_cli.check_machines(arguments)
        options = _options(root, arguments)
        output = options.output_format
        if arguments["merge_plans"]:
            request, options = shards_cli.merging(root, arguments, output)
            return _run(replace(request, also=_also(root, options.also)), arguments, options)
        return _run(_request(root, arguments, options), arguments, options)
    except CodemodError as error:
        from codemods.narrow_reexport.report import as_github, error_json
        from codemods.narrow_reexport.request import Result as Empty

        if output == "json":
            say([error_json(str(arguments["package"] or ""), error, CANNOT)])
        elif output == "github":
            say(as_github(Empty(str(arguments["package"] or ""), errors=(error,))))
        say(error_lines(error, paint, lead=WAY_OUT), err=True)
        return CANNOT


def _run(request: Request, arguments: Mapping[str, object], options: NarrowOptions) -> int:
    from codemods.engine import project

    wishes = bulk_cli.wishes_of(arguments)
    dry = bool(arguments["show_diff"] or arguments["check"] or wishes)
    for root in (request.root, *request.also):
        where = "" if root == request.root else f" in {root}"
        if dry:
            _check_finished(root, "" if root == request.root else f"{root}/")
        elif (finished := project.resume(root)) and not arguments["quiet"]:
            say([f"finished a run that had been interrupted{where}: {counted(len(finished), 'file')}"], err=True)
    with _Progress() as progress, shards_cli.machines(request, arguments) as request:
        request = replace(request, progress=progress.show, wants_parts=wishes is not None)
        if arguments["shard"] or arguments["files_from"]:
            said = shards_cli.share(request, arguments)
            say(said, err=True) if not arguments["quiet"] else None
            return DONE
        result = _result(request)
        said = shards_cli.merged(request)
    with request.clock.stage("cost"):
        result = _with_cost(request, result, wanted=bool(arguments["cost"]))
    code = _exit_code(result, options, bool(arguments["check"]))
    writes = not dry and not result.failures and (not result.refusals or options.keep_going)
    if writes:
        with request.clock.stage("write"):
            bulk_cli.save(result.changes, allow_dirty=bool(arguments["allow_dirty"]))
    if wishes is not None and not result.failures and (not result.refusals or options.keep_going):
        from codemods.narrow_reexport import bulk, effects, plan_io

        plan = effects.with_loads(plan_io.plan_of(result, request), request, result)
        shipped, held_back = bulk.ship(plan, request.root, wishes)
        said, code = [*said, *shipped], code or held_back
    with request.clock.stage("report"):
        _say(result, arguments, options, code, writes)
    if not arguments["quiet"]:
        say(said, err=True) if said else None
    if arguments["profile"]:
        from codemods.engine.stages import peak_memory, profile_lines

        say(profile_lines(request.clock.shares(), peak_memory()), err=True)
    return code


def _result(request: Request) -> Result:
    # each brings modules that the others do without
    if request.from_shims:
        from codemods.narrow_reexport import from_shims

        return from_shims.run(request)
    if request.plan:
        from codemods.narrow_reexport import many

        return many.run(request)
    from codemods.narrow_reexport import pipeline

    return pipeline.run(request)


def _with_cost(request: Request, result: Result, *, wanted: bool) -> Result:
    """Note what the import loads before and after: if that is wanted, or the graph is at hand."""
    from codemods.import_cost.difference import difference, is_known

    files = {
        change.path: change.after for root, changes in result.changes if root == request.root for change in changes
    }
    if request.from_shims or request.plan or not files or result.failures or not (wanted or is_known(request.root)):
        return result
    roots, exclude = request.options.source_root, request.options.exclude
    try:
        said = difference(request.root, request.package, files, exclude=exclude, source_roots=roots)
    except CodemodError as error:  # a number that cannot be had stops no run
        if not wanted:
            return result
        said = f"what import {request.package} loads cannot be told: {error}"
    return replace(result, notes=(*result.notes, said))


def _check_finished(root: Path, shown: str) -> None:
    """A dry run writes nothing, so it cannot finish what a killed run began, and what it would say is worth nothing."""
    from codemods.engine.journal import JOURNAL

    if (root / JOURNAL).exists():
        hint = "run without --diff and --check to finish it, or take it back with --abort"
        raise Interrupted("an earlier run was interrupted while it wrote", path=f"{shown}{JOURNAL}", hint=hint)


def _exit_code(result: Result, options: NarrowOptions, check: bool) -> int:
    if result.failures:
        return BUG
    if result.refusals:
        return REFUSED
    if result.errors:
        return REFUSED if options.keep_going and result.resolutions else CANNOT
    return WOULD_CHANGE if check and any(changes for _, changes in result.changes) else DONE


def _say(result: Result, arguments: Mapping[str, object], options: NarrowOptions, code: int, applied: bool) -> None:
    from codemods.engine.report import diff
    from codemods.narrow_reexport import report as words

    show_diff = bool(arguments["show_diff"])
    if show_diff and not result.failures and (not result.refusals or options.keep_going):
        for _, changes in result.changes:
            for change in changes:
                put(diff(change))
    if options.output_format == "json":
        say([words.as_json(result, exit_code=code, applied=applied)], err=show_diff)
        return
    if options.output_format == "github":
        say(words.as_github(result), err=show_diff)
        return
    for error in result.errors:
        say(error_lines(error, paint, lead=WAY_OUT), err=True)
    if result.failures:
        say(words.failure_lines(result.failures, paint), err=True)
        return
    if result.refusals:
        say(words.refusals(result, paint), err=True)
        if not options.keep_going:
            say(["nothing was written"], err=True)
            return
    if not arguments["quiet"]:
        verbose = cast(int, arguments["verbose"])
        keeps = options.callers_only
        told = words.summary(
            result, applied=applied, verbose=verbose, paint=paint, callers_only=keeps, shim=options.shim
        )
        say(told, err=show_diff)


def _options(root: Path, arguments: Mapping[str, object]) -> NarrowOptions:
    from codemods.engine.config import bad_value, load_narrow_options

    options = load_narrow_options(root)
    changes: dict[str, object] = {}
    for name in ("source_root", "exclude", "accept", "also"):
        given = cast("tuple[str, ...]", arguments[name])
        if given:
            changes[name] = (*getattr(options, name), *given) if name != "source_root" else given
    for name in (
        "strict",
        "to_definition",
        "keep_going",
        "callers_only",
        "accept_side_effects",
        "shim",
        "shim_removal",
        "rewrite_strings",
        "output_format",
    ):
        if arguments[name] is not None:
            changes[name] = arguments[name]
    if arguments["no_ban"]:
        changes["ban"] = False
    options = replace(options, **changes)  # type: ignore[arg-type]
    if options.shim and options.callers_only:
        raise click.UsageError("--callers-only leaves the re-export in place, so there is nothing to --shim")
    if arguments["shim_removal"] is not None and not options.shim:
        raise click.UsageError("--shim-removal says when a shim goes; it means nothing without --shim")
    if not all(char.isprintable() and char not in "\\\"'{}" for char in options.shim_removal):
        raise click.UsageError(f"--shim-removal takes a version, not {options.shim_removal!r}")
    if options.output_format not in ("text", "json", "github"):
        detail = f"`output-format` is none of text, json, github: {options.output_format!r}"
        raise bad_value(root, "output-format", options.output_format, detail)
    for spelled in options.accept:
        path, _, line = spelled.rpartition(":")
        if path and line.isdecimal():
            continue
        if spelled in cast("tuple[str, ...]", arguments["accept"]):
            raise click.UsageError(f"--accept takes FILE:LINE, not {spelled!r}")
        raise bad_value(root, "accept", spelled, f"`accept` takes FILE:LINE, not {spelled!r}")
    return options


def _request(root: Path, arguments: Mapping[str, object], options: NarrowOptions) -> Request:
    import unicodedata

    from codemods.narrow_reexport.request import Request

    package = str(arguments["from_shims"] or arguments["package"] or "")
    symbols = cast("tuple[str, ...]", arguments["symbols"])
    from_shims = arguments["from_shims"] is not None
    if from_shims and (arguments["package"] or arguments["every"] or arguments["shim"] or arguments["callers_only"]):
        raise click.UsageError("--from-shims takes every symbol that the installed package's shims name, and no others")
    if arguments["python"] is not None and not from_shims:
        raise click.UsageError("--python says where --from-shims looks; it means nothing without it")
    if arguments["plan"]:
        if package or arguments["every"] or options.also:
            raise click.UsageError("--plan takes packages and symbols from the file, in this checkout alone")
        return Request(root, "", (), options=options, plan=str(arguments["plan"]))
    if not package:
        raise click.UsageError("Missing argument 'PACKAGE'.")
    if not symbols and not arguments["every"] and not from_shims:
        raise click.UsageError("name the symbols to narrow, or pass --all")
    if not all(part.isidentifier() for part in package.split(".")):
        raise click.UsageError(f"{package!r} is no dotted package name")
    names = tuple(dict.fromkeys(unicodedata.normalize("NFKC", symbol) for symbol in symbols))
    for name in names:
        if not name.isidentifier() and not any(char in name for char in "*?["):
            raise click.UsageError(f"{name!r} is no name of a symbol")
    also, python = _also(root, options.also), str(arguments["python"] or "")
    return Request(root, package, names, bool(arguments["every"]), options, also, from_shims=from_shims, python=python)


def _also(root: Path, spelled: Sequence[str]) -> tuple[Path, ...]:
    """The other checkouts, each once; those of the command line are folders, click has seen to that."""
    from codemods.engine.config import bad_value

    folders: dict[Path, None] = {}
    for each in spelled:
        folder = (root / each).resolve()
        if not folder.is_dir():
            raise bad_value(root, "also", each, f"`also` names {each}, which is no folder")
        if folder != root.resolve():
            folders[folder] = None
    return tuple(folders)


def _abort(root: Path, arguments: Mapping[str, object]) -> int:
    """Take back what a killed run began: here first, which needs no configuration, then in the other checkouts."""
    from codemods.engine import project
    from codemods.engine.config import load_narrow_options

    taken_back = project.abort(root)
    said = [f"took back {counted(len(taken_back), 'file')}"] if taken_back else []
    given = cast("tuple[str, ...]", arguments["also"])
    for other in _also(root, (*load_narrow_options(root).also, *given)):
        if taken_back := project.abort(other):
            said.append(f"took back {counted(len(taken_back), 'file')} in {other}")
    say(said or ["there is no interrupted run to take back"])
    return DONE


class _Progress:
    """A line on stderr, on a terminal only, once a run takes longer than a second."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        return self

    def show(self, stage: str, done: int, total: int) -> None:
        """Report that `done` of `total` files of a stage are through."""
        if self._terminal and time.monotonic() - self._start > 1:
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{stage} {done:,}/{total:,}")
            sys.stderr.flush()

    def __exit__(self, *error: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
