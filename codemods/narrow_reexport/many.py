"""Many packages in one run: the rows of a request file, each planned on what the rows before it have made.

Owns the request file (`--plan`, TOML or JSON), and the one result of all rows.
Invariant: all rows or none; with `--keep-going` a symbol that is refused is left out of all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from codemods.engine.bans import FILE_NAME
from codemods.engine.config import NarrowOptions
from codemods.engine.errors import BadConfiguration, CodemodError
from codemods.engine.model import FileChange
from codemods.engine.project import Tree
from codemods.engine.toml import parse_toml
from codemods.narrow_reexport import pipeline
from codemods.narrow_reexport.from_shims import moved_accepts
from codemods.narrow_reexport.request import Request, Result
from codemods.narrow_reexport.session import Session

_VERSION = 1
_FLAGS = ("strict", "to-definition", "callers-only", "accept-side-effects", "shim", "rewrite-strings", "ban")
_REMEMBERED_FROM = 4  # rows; below, an index of the tree's words costs more than it saves


def run(request: Request) -> Result:
    """Plan every row of the request's file. Raises CodemodError for what cannot be."""
    file = request.root / request.plan
    return run_rows(request, rows_of(Tree(file.parent, ()).read(file.name), file.name, request))


def run_rows(request: Request, rows: Sequence[Request]) -> Result:
    """Plan these rows, all or none; with `--keep-going` without what is refused."""
    session = Session(request.root, request.options.exclude, remember=len(rows) >= _REMEMBERED_FROM)
    now: dict[str, FileChange] = {}
    results: list[Result] = []
    for number, row in enumerate(rows, start=1):
        result = _row_result(moved_accepts(row, now), session, f"row {number} of {len(rows)}, ")
        results.append(result)
        if result.failures:
            return replace(result, changes=())
        own = [change for _, changes in result.changes for change in changes]
        for change in own:
            first = now.get(change.path)
            sites = change.sites + (first.sites if first is not None else 0)
            now[change.path] = replace(change, before=first.before if first is not None else change.before, sites=sites)
        session = session.edited({change.path: change.after for change in own}) if own else session
    named = [
        replace(row, symbols=tuple(found.symbol.name for found in result.resolutions))
        for row, result in zip(rows, results, strict=True)
        if result.resolutions
    ]
    return _merged(request, results, now, tuple(named))


def _row_result(row: Request, session: Session, where: str) -> Result:
    progress = row.progress
    if progress is not None:
        told = progress
        row = replace(row, progress=lambda stage, done, total: told(f"{where}{stage}", done, total))
    try:
        return pipeline.run(row, session)
    except CodemodError as error:
        if not row.options.keep_going:
            raise
        return Result(row.package, errors=(error,))


def rows_of(data: bytes, path: str, base: Request) -> list[Request]:
    """The requests that a file holds; those of one package and the same options may stand in several rows."""
    if path.endswith(".json"):
        try:
            told: object = json.loads(data)
        except ValueError as error:
            raise BadConfiguration(f"is not valid JSON: {error}", path=path) from error
    else:
        told = parse_toml(data, path)
    if not isinstance(told, dict) or told.get("version") != _VERSION or set(told) != {"version", "narrow"}:
        _bad(path, f"a request holds `version = {_VERSION}` and tables [[narrow]], and nothing else")
    tables = told["narrow"]
    if not isinstance(tables, list):
        _bad(path, "`narrow` must be a list of tables")
    return [_row(table, f"row {number}", path, base) for number, table in enumerate(tables, start=1)]


def _row(table: object, where: str, path: str, base: Request) -> Request:
    if not isinstance(table, dict):
        _bad(path, f"{where} must be a table")
    package, symbols = table.get("package"), table.get("symbols")
    if not isinstance(package, str) or not all(part.isidentifier() for part in package.split(".")):
        _bad(path, f"`package` in {where} must be a dotted package name")
    if not _texts(symbols) or not symbols:
        _bad(path, f"`symbols` in {where} must be a list of names")
    options: NarrowOptions = base.options
    for key, value in table.items():
        name = key.replace("-", "_")
        if key in _FLAGS and isinstance(value, bool):
            options = replace(options, **{name: value})  # type: ignore[arg-type]  # the field is a flag
        elif key == "shim-removal" and isinstance(value, str):
            options = replace(options, shim_removal=value)
        elif key == "accept" and _texts(value):
            if not all(each.rpartition(":")[0] and each.rpartition(":")[2].isdecimal() for each in value):
                _bad(path, f"`accept` in {where} takes FILE:LINE")
            options = replace(options, accept=(*options.accept, *value))
        elif key not in ("package", "symbols"):
            _bad(path, f"{where} has a key `{key}` that is unknown, or has a value of the wrong type")
    return replace(base, package=package, symbols=tuple(symbols), every=False, options=options, plan="")


def _merged(
    request: Request, results: Sequence[Result], now: Mapping[str, FileChange], rows: tuple[Request, ...]
) -> Result:
    inits = {path for result in results for path in result.inits}
    changed = {path: change for path, change in now.items() if change.before != change.after}
    refusals = tuple(dict.fromkeys(each for result in results for each in result.refusals))
    calls = tuple(changed[path] for path in sorted(changed) if path not in inits and path != FILE_NAME)
    row = (changed[FILE_NAME],) if FILE_NAME in changed else ()
    last = tuple(changed[path] for path in sorted(changed) if path in inits)
    first = {change.path: change.before for change in now.values()}
    stopped = refusals and not request.options.keep_going
    out = sorted({refusal.symbol for refusal in refusals}) if request.options.keep_going else []
    left_out = (f"left out, since they were refused: {', '.join(out)}",) if out else ()
    return Result(
        ", ".join(dict.fromkeys(each.package for each in [r for r in results if r.resolutions] or results)),
        tuple(found for result in results for found in result.resolutions),
        ((request.root, (*calls, *row, *last)),) if not stopped else (),
        refusals,
        tuple(each for result in results for each in result.errors),
        skipped=tuple(each for result in results for each in result.skipped),
        warnings=tuple(dict.fromkeys(each for result in results for each in result.warnings)),
        mentions=tuple(dict.fromkeys(each for result in results for each in result.mentions)),
        accepted=tuple(dict.fromkeys(each for result in results for each in result.accepted)),
        still=tuple(each for result in results for each in result.still),
        dropped=tuple(each for result in results for each in result.dropped),
        notes=(*dict.fromkeys(each for result in results for each in result.notes), *left_out),
        searched=max((result.searched for result in results), default=0),
        outside=tuple(dict.fromkeys(each for result in results for each in result.outside)),
        inits=tuple(sorted(inits)),
        # a part may count on no re-export that is gone, whichever row removes it: each text is that of the tree as it is
        grounds=tuple(
            replace(each, init=first.get(each.package.path, each.init)) for result in results for each in result.grounds
        ),
        rows=rows,
    )


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _bad(path: str, detail: str) -> NoReturn:
    raise BadConfiguration(detail, path=path)
