"""From the command line's arguments to a run, its report and its exit code.

Owns the merge of arguments and configuration, the order journal → run → write, and which stream says what.
Invariant: only `CodemodError` is caught here, and no traceback of it reaches a person.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from codemods.engine.errors import BadConfiguration, CodemodError

if TYPE_CHECKING:
    from codemods.engine.config import NarrowOptions
    from codemods.narrow_reexport.request import Request, Result

DONE, WOULD_CHANGE, CANNOT, REFUSED, BUG = 0, 1, 3, 4, 5


def run(arguments: Mapping[str, object]) -> int:
    """One invocation; returns the exit code (see DESIGN: 0 done, 1 check, 3 cannot, 4 refused, 5 our bug)."""
    from codemods.engine.report import wants_colour

    root = Path.cwd()
    output = str(arguments["output_format"] or "")
    paint = _painter(wants_colour(sys.stderr.isatty()))
    try:
        if arguments["abort_run"]:
            return _abort(root)
        options = _options(root, arguments)
        output = options.output_format
        return _run(_request(root, arguments, options), arguments, options, paint)
    except CodemodError as error:
        from codemods.narrow_reexport.report import as_github, error_json, error_lines
        from codemods.narrow_reexport.request import Result as Empty

        if output == "json":
            click.echo(error_json(str(arguments["package"] or ""), error, CANNOT))
        elif output == "github":
            click.echo("\n".join(as_github(Empty(str(arguments["package"] or ""), errors=(error,)))))
        click.echo("\n".join(error_lines(error, paint)), err=True)
        return CANNOT


def _run(
    request: Request, arguments: Mapping[str, object], options: NarrowOptions, paint: Callable[[str, str], str]
) -> int:
    from codemods.engine import project
    from codemods.narrow_reexport import pipeline, report

    finished = project.resume(request.root)
    if finished and not arguments["quiet"]:
        click.echo(f"finished a run that had been interrupted: {len(finished)} files", err=True)
    for other in request.also:
        project.resume(other)
    with _Progress() as progress:
        result = pipeline.run(replace(request, progress=progress.show))
    dry = bool(arguments["show_diff"] or arguments["check"])
    code = _exit_code(result, options, bool(arguments["check"]))
    writes = not dry and not result.failures and (not result.refusals or options.keep_going)
    if writes:
        for root, changes in result.changes:
            project.save(root, changes)
    _say(result, arguments, options, code, writes, paint, report)
    return code


def _exit_code(result: Result, options: NarrowOptions, check: bool) -> int:
    if result.failures:
        return BUG
    if result.refusals:
        return REFUSED
    if result.errors:
        return REFUSED if options.keep_going and result.resolutions else CANNOT
    return WOULD_CHANGE if check and any(changes for _, changes in result.changes) else DONE


def _say(
    result: Result,
    arguments: Mapping[str, object],
    options: NarrowOptions,
    code: int,
    applied: bool,
    paint: Callable[[str, str], str],
    report: object,
) -> None:
    from codemods.engine.report import diff
    from codemods.narrow_reexport import report as words

    del report
    show_diff = bool(arguments["show_diff"])
    if show_diff and not result.failures and (not result.refusals or options.keep_going):
        stream = click.get_binary_stream("stdout")
        for _, changes in result.changes:
            for change in changes:
                stream.write(diff(change))
        stream.flush()
    if options.output_format == "json":
        click.echo(words.as_json(result, exit_code=code, applied=applied), err=show_diff)
        return
    if options.output_format == "github":
        click.echo("\n".join(words.as_github(result)), err=show_diff)
        return
    for error in result.errors:
        click.echo("\n".join(words.error_lines(error, paint)), err=True)
    if result.failures:
        click.echo("\n".join(words.failure_lines(result.failures, paint)), err=True)
        return
    if result.refusals:
        click.echo("\n".join(words.refusals(result, paint)), err=True)
        if not options.keep_going:
            click.echo("nothing was written", err=True)
            return
    if not arguments["quiet"]:
        click.echo(
            "\n".join(words.summary(result, applied=applied, verbose=cast(int, arguments["verbose"]), paint=paint)),
            err=show_diff,
        )


def _options(root: Path, arguments: Mapping[str, object]) -> NarrowOptions:
    from codemods.engine.config import load_narrow_options

    options = load_narrow_options(root)
    changes: dict[str, object] = {}
    for name in ("source_root", "exclude", "accept", "also"):
        given = cast("tuple[str, ...]", arguments[name])
        if given:
            changes[name] = (*getattr(options, name), *given) if name != "source_root" else given
    for name in ("strict", "to_definition", "keep_going", "callers_only", "output_format"):
        if arguments[name] is not None:
            changes[name] = arguments[name]
    if arguments["no_ban"]:
        changes["ban"] = False
    options = replace(options, **changes)  # type: ignore[arg-type]
    if options.output_format not in ("text", "json", "github"):
        raise BadConfiguration(
            f"output-format {options.output_format!r} is none of text, json, github", path="pyproject.toml"
        )
    for spelled in options.accept:
        path, _, line = spelled.rpartition(":")
        if not path or not line.isdigit():
            raise click.UsageError(f"--accept takes FILE:LINE, not {spelled!r}")
    return options


def _request(root: Path, arguments: Mapping[str, object], options: NarrowOptions) -> Request:
    import unicodedata

    from codemods.narrow_reexport.request import Request

    package = str(arguments["package"] or "")
    symbols = cast("tuple[str, ...]", arguments["symbols"])
    if not package:
        raise click.UsageError("Missing argument 'PACKAGE'.")
    if not symbols and not arguments["every"]:
        raise click.UsageError("name the symbols to narrow, or pass --all")
    if not all(part.isidentifier() for part in package.split(".")):
        raise click.UsageError(f"{package!r} is no dotted package name")
    names = tuple(dict.fromkeys(unicodedata.normalize("NFKC", symbol) for symbol in symbols))
    for name in names:
        if not name.isidentifier() and not any(char in name for char in "*?["):
            raise click.UsageError(f"{name!r} is no name of a symbol")
    also = []
    for spelled in options.also:
        folder = (root / spelled).resolve()
        if not folder.is_dir():
            raise BadConfiguration(f"also names {spelled}, which is no folder", path="pyproject.toml")
        also.append(folder)
    return Request(root, package, names, bool(arguments["every"]), options, tuple(also))


def _abort(root: Path) -> int:
    from codemods.engine import project

    taken_back = project.abort(root)
    click.echo(f"took back {len(taken_back)} files" if taken_back else "there is no interrupted run to take back")
    return DONE


def _painter(colour: bool) -> Callable[[str, str], str]:
    styles: dict[str, dict[str, object]] = {
        "bold": {"bold": True},
        "red": {"fg": "red", "bold": True},
        "yellow": {"fg": "yellow"},
    }

    def paint(text: str, style: str) -> str:
        return click.style(text, **styles[style]) if colour else text  # type: ignore[arg-type]

    return paint


class _Progress:
    """A line on stderr, on a terminal only, once a run takes longer than a second."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False
        self._terminal = sys.stderr.isatty()

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
