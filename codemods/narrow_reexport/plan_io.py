"""A plan as a file: what a run would do, as sorted JSON that people review and machines apply.

Owns the schema of plan files, from a `Result` to the file and back to changes.
Invariant: what a plan does to a tree is what the run that made it would have done, byte for byte; where a file has another
text than the plan was made for, nothing is done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from codemods.engine.bans import FILE_NAME, Ban, load_bans
from codemods.engine.config import NarrowOptions
from codemods.engine.errors import BadConfiguration, CannotWrite, Unreadable
from codemods.engine.hunks import Hunk, apply_hunks, hunks_of
from codemods.engine.model import FileChange, Symbol
from codemods.engine.project import Tree, digest
from codemods.narrow_reexport.outcome import ban_change
from codemods.narrow_reexport.parts import Standing, standing
from codemods.narrow_reexport.request import Request, Result

SCHEMA_VERSION = 1
ALONE, TOGETHER, LAST = "alone", "together", "last"


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file: its fingerprint before and after, and what changes."""

    root: str  # the checkout, relative to where the command runs
    path: str
    before: str  # empty: the plan creates the file
    after: str
    lands: str  # alone, together (with the files of its group) or last (with the removal of the re-export)
    sites: int
    symbols: tuple[str, ...]
    edits: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """One symbol, and where it comes from."""

    symbol: str
    origin: str
    site: str
    same_name: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A place for a person's eye: a warning, an accepted refusal or a mention."""

    kind: str
    path: str
    line: int
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One run that the plan stands for, so that it can be made again: its symbols, by name, and its options."""

    package: str
    symbols: tuple[str, ...]
    options: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """How many modules of the tree `import package` loads before and after, and the most notable that go."""

    package: str
    before: int
    after: int
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """One part: its number for good, its name, what it is (guard, call-sites, removal), its files that are to land."""

    number: int
    name: str
    kind: str
    files: tuple[str, ...]
    landed: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run would do."""

    package: str
    symbols: tuple[Moved, ...]
    options: tuple[tuple[str, object], ...]
    files: tuple[PlannedFile, ...]
    groups: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, str, str], ...]  # (checkout, symbol, origin) for narrowed.toml
    remarks: tuple[Remark, ...]
    inits: tuple[str, ...] = ()  # the `__init__` and its stubs, which are written after everything else
    requests: tuple[Asked, ...] = ()
    loads: tuple[Loaded, ...] = ()
    split: str = ""  # how the parts were made
    parts: tuple[PlannedPart, ...] = ()
    guard: bool = False  # the first part bans what the others move


def plan_of(result: Result, request: Request) -> Plan:
    """The plan that a result amounts to."""
    stands = _standing(result, request.root)
    # with --from-shims no re-export goes, so nothing waits for that
    last = stands.last if stands is not None and not result.installed else frozenset()
    groups = tuple(tuple(sorted(group)) for group in stands.groups) if stands is not None else ()
    together = {path for group in groups for path in group}
    symbols = dict(stands.symbols) if stands is not None else {}
    files: list[PlannedFile] = []
    rows: list[tuple[str, str, str]] = []
    inits = set(result.inits)
    for root, changes in result.changes:
        spelled = _relative(root, request.root)
        for change in changes:
            if change.path == FILE_NAME:
                rows += [(spelled, str(ban.symbol), str(ban.origin)) for ban in _new_rows(change)]
                continue
            own = root == request.root
            unknown = stands is None or (own and (change.path in inits or change.path in last))
            lands = LAST if unknown else TOGETHER if own and change.path in together else ALONE
            before = digest(change.before) if change.before else ""
            edits = hunks_of(change.before, change.after)
            reached = symbols.get(change.path, ()) if own else ()
            files.append(
                PlannedFile(spelled, change.path, before, digest(change.after), lands, change.sites, reached, edits)
            )
    moved = [Moved(str(r.symbol), str(r.origin), str(r.site), r.same_name) for r in result.resolutions]
    asked = result.rows or (replace(request, symbols=tuple(r.symbol.name for r in result.resolutions)),)
    return Plan(
        result.package,
        tuple(sorted(moved, key=lambda each: each.symbol)),
        tuple(sorted((*_options(request), *result.asked))),
        tuple(sorted(files, key=lambda file: (file.root != ".", file.root, file.path))),
        tuple(sorted(groups)),
        tuple(sorted(rows)),
        _remarks(result),
        tuple(sorted(inits)),
        () if request.from_shims else tuple(Asked(each.package, each.symbols, _options(each)) for each in asked),
    )


def _standing(result: Result, root: Path) -> Standing | None:
    if not result.grounds:
        return None
    own = [change for at, changes in result.changes if at == root for change in changes if change.path != FILE_NAME]
    return standing(own, result.grounds, frozenset(result.inits))


def changes_of(plan: Plan, root: Path) -> tuple[tuple[Path, tuple[FileChange, ...]], ...]:
    """What the plan does, in the order in which it is written. Raises CannotWrite where a file has another text.

    A file that has the new text already is left out: it has landed.
    """
    stale: list[str] = []
    found: dict[str, list[FileChange]] = {".": []}
    inits: list[FileChange] = []
    for file in plan.files:
        try:
            before = Tree(root / file.root, ()).read(file.path)
        except Unreadable:
            before = b""
        now = digest(before) if before else ""
        if digest(before) == file.after:
            continue
        if now != file.before:
            stale.append(file.path if file.root == "." else f"{file.root}/{file.path}")
            continue
        after = apply_hunks(before, file.edits, file.path)
        if digest(after) != file.after:
            raise CannotWrite("the plan's edits do not make the text that it was made for", path=file.path)
        own = inits if file.root == "." and file.path in plan.inits else found.setdefault(file.root, [])
        own.append(FileChange(file.path, before, after, file.sites))
    if stale:
        also = f", and so have {', '.join(stale[1:])}" if stale[1:] else ""
        detail = f"has changed since the plan was made{also}; nothing was written"
        hint = "make the plan again: --status PLAN --plan-out NEW does, and its parts keep their numbers"
        raise CannotWrite(detail, path=stale[0], hint=hint)
    complete = []
    for spelled, own in found.items():
        folder = root / spelled
        bans = [Ban(_symbol(symbol), _symbol(origin)) for at, symbol, origin in plan.rows if at == spelled]
        row = ban_change(Tree(folder, ()), bans)
        last = inits if spelled == "." else []
        complete.append((folder, (*own, *([row] if row is not None else []), *last)))
    return tuple(complete)


def encode(plan: Plan) -> bytes:
    """The plan as a file: sorted, one line for each field."""
    told: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "command": "narrow_reexport",
        "package": plan.package,
        "options": dict(plan.options),
        "symbols": [_fields(moved) for moved in plan.symbols],
        "files": [{**_fields(file), "edits": [_fields(hunk) for hunk in file.edits]} for file in plan.files],
        "groups": [list(group) for group in plan.groups],
        "rows": [{"root": at, "symbol": symbol, "origin": origin} for at, symbol, origin in plan.rows],
        "remarks": [_fields(remark) for remark in plan.remarks],
        "inits": list(plan.inits),
        "requests": [{**_fields(asked), "options": dict(asked.options)} for asked in plan.requests],
        "loads": [_fields(loaded) for loaded in plan.loads],
        "split": plan.split,
        "parts": [_fields(part) for part in plan.parts],
        "guard": plan.guard,
    }
    return (json.dumps(told, indent=1, sort_keys=True) + "\n").encode("ascii")


def decode(data: bytes, path: str) -> Plan:
    """The plan in a file. Raises BadConfiguration for anything else."""
    try:
        told = json.loads(data)
        version = told["schema_version"]
        if version != SCHEMA_VERSION:
            raise BadConfiguration(
                f"a plan of version {version}; this command reads version {SCHEMA_VERSION}", path=path
            )
        files = [
            PlannedFile(
                **{
                    **file,
                    "symbols": tuple(file["symbols"]),
                    "edits": tuple(Hunk(**hunk) for hunk in file["edits"]),
                }
            )
            for file in told["files"]
        ]
        return Plan(
            str(told["package"]),
            tuple(Moved(**moved) for moved in told["symbols"]),
            _read_options(told),
            tuple(files),
            tuple(tuple(group) for group in told["groups"]),
            tuple((row["root"], row["symbol"], row["origin"]) for row in told["rows"]),
            tuple(Remark(**remark) for remark in told["remarks"]),
            tuple(told["inits"]),
            tuple(Asked(row["package"], tuple(row["symbols"]), _read_options(row)) for row in told["requests"]),
            tuple(Loaded(**{**row, "gone": tuple(row["gone"])}) for row in told["loads"]),
            told["split"],
            tuple(PlannedPart(**{**row, "files": tuple(row["files"])}) for row in told["parts"]),
            told["guard"],
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadConfiguration(f"is no plan: {error!r}", path=path) from error


def _new_rows(change: FileChange) -> Sequence[Ban]:
    old = {(ban.symbol, ban.origin) for ban in load_bans(change.before)} if change.before else set()
    return [ban for ban in load_bans(change.after) if (ban.symbol, ban.origin) not in old]


def _remarks(result: Result) -> tuple[Remark, ...]:
    found = [Remark("warning", w.site.path, w.site.line, w.site.text, w.reason) for w in result.warnings]
    found += [Remark("accepted", r.site.path, r.site.line, r.site.text, r.reason) for r in result.accepted]
    found += [Remark("mention", m.site.path, m.site.line, m.site.text) for m in result.mentions]
    return tuple(sorted(found, key=lambda each: (each.path, each.line, each.kind, each.reason)))


def _options(request: Request) -> tuple[tuple[str, object], ...]:
    """The options that are not the default."""
    default = NarrowOptions()
    given = sorted((field.name, getattr(request.options, field.name)) for field in fields(NarrowOptions))
    return tuple((name, value) for name, value in given if value != getattr(default, name))


def _read_options(row: Mapping[str, Mapping[str, object]]) -> tuple[tuple[str, object], ...]:
    return tuple((str(name), tuple(v) if isinstance(v, list) else v) for name, v in sorted(row["options"].items()))


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in type(value).__slots__}  # type: ignore[attr-defined]


def _relative(root: Path, base: Path) -> str:
    return Path(os.path.relpath(root, base)).as_posix()


def _symbol(spelled: str) -> Symbol:
    module, _, name = spelled.partition(":")
    return Symbol(module, name)
