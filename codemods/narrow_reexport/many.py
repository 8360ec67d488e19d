"""Many packages in one run: the rows of a request file, each planned on what the rows before it have made.

Owns the request file (`--plan`, TOML or JSON), and the one result of all rows.
Invariant: all rows or none: if one of them refuses or fails, the result changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from codemods.engine.bans import FILE_NAME, Ban, load_bans
from codemods.engine.config import NarrowOptions
from codemods.engine.discover import list_files
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import FileChange
from codemods.engine.project import EditedTree, Tree
from codemods.engine.split import joined
from codemods.engine.toml import parse_toml
from codemods.narrow_reexport import pipeline
from codemods.narrow_reexport.from_shims import moved_accepts
from codemods.narrow_reexport.outcome import ban_change
from codemods.narrow_reexport.parts import Standing
from codemods.narrow_reexport.request import Request, Result
from codemods.narrow_reexport.session import Session

_VERSION = 1
_FLAGS = ("strict", "to-definition", "callers-only", "accept-side-effects", "shim", "rewrite-strings", "ban")


def run(request: Request) -> Result:
    """Plan every row of the request's file. Raises CodemodError for what cannot be."""
    file = request.root / request.plan
    return run_rows(request, rows_of(Tree(file.parent, ()).read(file.name), file.name, request))


def run_rows(request: Request, rows: Sequence[Request]) -> Result:
    """Plan these rows, all or none."""
    paths = list_files(request.root, exclude=request.options.exclude)
    first: dict[str, bytes] = {}
    now: dict[str, FileChange] = {}
    results: list[Result] = []
    bans: list[Ban] = []
    for row in rows:
        laid = EditedTree(request.root, paths, {path: change.after for path, change in now.items()})
        result = pipeline.run(moved_accepts(row, now), Session(request.root, tree=laid))
        results.append(result)
        if result.refusals or result.failures:
            return replace(result, changes=())
        for change in (change for _, own in result.changes for change in own):
            if change.path == FILE_NAME:
                old = {ban.symbol for ban in load_bans(change.before)} if change.before else set()
                bans += [ban for ban in load_bans(change.after) if ban.symbol not in old]
                continue
            before = first.setdefault(change.path, change.before)
            sites = change.sites + (now[change.path].sites if change.path in now else 0)
            now[change.path] = FileChange(change.path, before, change.after, sites)
    named = [
        replace(row, symbols=tuple(found.symbol.name for found in result.resolutions))
        for row, result in zip(rows, results, strict=True)
    ]
    return replace(_merged(request.root, results, now, bans), rows=tuple(named))


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
    if not isinstance(tables, list) or not tables:
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


def _merged(root: Path, results: Sequence[Result], now: Mapping[str, FileChange], bans: Sequence[Ban]) -> Result:
    inits = {path for result in results for path in result.inits}
    changed = {path: change for path, change in now.items() if change.before != change.after}
    row = ban_change(root, bans)
    calls = tuple(changed[path] for path in sorted(changed) if path not in inits)
    last = tuple(changed[path] for path in sorted(changed) if path in inits)
    return Result(
        ", ".join(dict.fromkeys(result.package for result in results)),
        tuple(found for result in results for found in result.resolutions),
        ((root, (*calls, *([row] if row is not None else []), *last)),),
        skipped=tuple(each for result in results for each in result.skipped),
        warnings=tuple(dict.fromkeys(each for result in results for each in result.warnings)),
        mentions=tuple(dict.fromkeys(each for result in results for each in result.mentions)),
        accepted=tuple(dict.fromkeys(each for result in results for each in result.accepted)),
        still=tuple(each for result in results for each in result.still),
        dropped=tuple(each for result in results for each in result.dropped),
        notes=tuple(dict.fromkeys(each for result in results for each in result.notes)),
        searched=max(result.searched for result in results),
        outside=tuple(dict.fromkeys(each for result in results for each in result.outside)),
        inits=tuple(sorted(inits)),
        standing=_joined([result.standing for result in results], inits),
    )


def _joined(every: Sequence[Standing | None], inits: set[str]) -> Standing | None:
    """A file that lands last for one row does so for all, and takes its group along."""
    known = [each for each in every if each is not None]
    if len(known) < len(every):
        return None
    last = set(inits).union(*(each.last for each in known))
    groups = joined(group for each in known for group in each.groups)
    last = last.union(*(group for group in groups if group & last))
    symbols: dict[str, set[str]] = {}
    for path, names in (pair for each in known for pair in each.symbols):
        symbols.setdefault(path, set()).update(names)
    told = tuple((path, tuple(sorted(symbols[path]))) for path in sorted(symbols))
    return Standing(frozenset(last), tuple(group for group in groups if not group & last), told)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _bad(path: str, detail: str) -> NoReturn:
    raise BadConfiguration(detail, path=path)
