"""How far a plan has come: which files and parts have landed, what is new since, and the plan for what is left.

Owns the comparison of a plan with the tree as it is now.
Invariant: it writes nothing. A file has landed if it has the plan's new text, or if a new run has nothing to do there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.engine.bans import FILE_NAME, load_bans
from codemods.engine.config import NarrowOptions
from codemods.engine.errors import BadConfiguration, CodemodError, UnknownSymbol, Unreadable
from codemods.engine.git import GitFailed, repository
from codemods.engine.hunks import Hunk
from codemods.engine.model import FileChange
from codemods.engine.project import Tree, digest
from codemods.narrow_reexport import many, pipeline
from codemods.narrow_reexport.numbered import CALL_SITES, GUARD, numbered, refreshed
from codemods.narrow_reexport.plan_io import Asked, Plan, PlannedFile, PlannedPart, plan_of
from codemods.narrow_reexport.request import Request, Result

_NONE = NarrowOptions()
LANDED, OPEN, CHANGED, GONE, MOVED, PARTLY = "landed", "open", "changed", "gone", "moved", "partly"


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file of the plan. `part` is 0 if it belongs to none."""

    path: str
    state: str
    part: int


@dataclass(frozen=True, slots=True)
class NewSite:
    """A place that the plan does not know; `part` is the one that moves it in the refreshed plan."""

    path: str
    line: int
    text: str
    part: int
    was: str = ""  # the path that the file had in the plan


@dataclass(frozen=True, slots=True)
class PartStatus:
    """A part of the plan, and how many of its files have landed."""

    number: int
    name: str
    kind: str
    state: str
    landed: int
    files: int


@dataclass(frozen=True, slots=True)
class Status:
    """How far a plan has come. `plan` is the one for what is left; without it the new run was refused."""

    parts: tuple[PartStatus, ...]
    files: tuple[FileStatus, ...]
    new: tuple[NewSite, ...]
    plan: Plan | None
    request: Request
    result: Result

    @property
    def remains(self) -> bool:
        """Whether anything is still to land."""
        if self.plan is None:
            return not self.result.errors
        return bool(self.plan.files or self.plan.rows or any(part.state != LANDED for part in self.parts))


def status_of(plan: Plan, root: Path, way: str = "", *, more: NarrowOptions = _NONE) -> Status:
    """Compare a plan with the tree. Raises CodemodError where the plan cannot be made again.

    `more` holds what is to be accepted or excluded besides what the plan says, since others have added it.
    """
    texts = {(file.root, file.path): _text(root / file.root, file.path) for file in plan.files}
    if plan.files and not any(text is not None for text in texts.values()):
        hint = "run it in the folder in which the plan was made"
        raise Unreadable("is not here, and no other file of the plan is", path=plan.files[0].path, hint=hint)
    try:
        request, result = made_again(plan, root, more)
        _check_origins(plan, root, result)
    except CodemodError as error:
        if not _has_landed(plan, root):
            raise
        # the package does not bind the name any more, and no row says where it went
        request, result = Request(root, plan.package, ()), Result(plan.package, errors=(error,))
    refused = bool(result.refusals) and not request.options.keep_going
    unknown = refused or bool(result.failures) or (bool(result.errors) and not result.resolutions)
    fresh = None if unknown else plan_of(result, request)
    now = {(file.root, file.path): file for file in fresh.files} if fresh is not None else {}
    states: dict[tuple[str, str], str] = {}
    for file in plan.files:
        key = file.root, file.path
        states[key] = _state(file, texts[key], now.get(key), known=fresh is not None)
    moved = _moved(plan, list(now.values()), states)
    states |= {(".", path): MOVED for path in moved.values()}
    sites: list[tuple[PlannedFile, Hunk]] = []
    old = {(file.root, file.path): file for file in plan.files}
    for key, file in now.items():
        before = old.get(key)
        if before is None and file.path in moved and file.root == ".":
            before = old[".", moved[file.path]]
        sites += [(file, hunk) for hunk in _added(before, file, states.get(key, ""))]
    parts = numbered(plan, root, way)
    told = _part_states(plan, root, parts, states)
    if fresh is not None:
        fresh = replace(fresh, guard=plan.guard)
        if plan.parts or way:
            way = way or plan.split
            landed = {part.number for part in told if part.state == LANDED}
            fresh = replace(fresh, split=way, parts=refreshed(fresh, plan, root, way, landed=landed, moved=moved))
    joins = {path: part.number for part in (fresh.parts if fresh is not None else parts) for path in part.files}
    owners = {path: part.number for part in parts for path in part.files}
    return Status(
        told,
        tuple(
            FileStatus(_shown(file), states[file.root, file.path], owners.get(file.path, 0) if file.root == "." else 0)
            for file in plan.files
        ),
        tuple(
            NewSite(_shown(file), hunk.line, _first_line(hunk), joins.get(file.path, 0), moved.get(file.path, ""))
            for file, hunk in sites
        ),
        fresh,
        request,
        result,
    )


def uncommitted(plan: Plan, root: Path) -> tuple[str, ...]:
    """The files of the plan that are not what HEAD holds; none where git cannot tell."""
    repo = repository(root)
    texts = {file.path: _text(root, file.path) for file in plan.files if file.root == "."}
    changes = [FileChange(path, text, text) for path, text in texts.items() if text is not None]
    try:
        return repo.modified(changes) if repo is not None and changes else ()
    except GitFailed:
        return ()


def _check_origins(plan: Plan, root: Path, result: Result) -> None:
    """A name that the package binds no more, and no row records, may have been found elsewhere: that is another symbol."""
    planned = {moved.symbol: moved.origin for moved in plan.symbols}
    rows = {ban.symbol for ban in load_bans(_text(root, FILE_NAME) or b"")}
    for found in result.resolutions:
        was = planned.get(str(found.symbol), "")
        if found.narrowed and found.symbol not in rows and was != str(found.origin):
            raise UnknownSymbol(f"{found.symbol} came from {was}; now the package does not bind it, and no row says so")


def _has_landed(plan: Plan, root: Path) -> bool:
    return all(digest(_text(root / file.root, file.path) or b"") == file.after for file in plan.files)


def made_again(plan: Plan, root: Path, more: NarrowOptions = _NONE) -> tuple[Request, Result]:
    """The run that made the plan, on the tree as it is now. Raises CodemodError."""
    if dict(plan.options).get("from_shims"):
        hint = "run --from-shims again: what has landed is in its plan no more"
        raise BadConfiguration("a plan of --from-shims cannot be compared with the tree", hint=hint)
    if not plan.requests:
        raise BadConfiguration("the plan does not say how it was made, so it cannot be compared: make it again")
    rows = [
        Request(root, asked.package, asked.symbols, options=_with(_options(asked, plan, root), more), wants_parts=True)
        for asked in plan.requests
    ]
    rows = [replace(row, also=_also(row)) for row in rows]
    if len(rows) == 1:
        return rows[0], pipeline.run(rows[0])
    base = replace(rows[0], package="", symbols=(), options=_with(_read(plan.options), more))
    return base, many.run_rows(base, rows)


def _with(options: NarrowOptions, more: NarrowOptions) -> NarrowOptions:
    accept, exclude = (*options.accept, *more.accept), (*options.exclude, *more.exclude)
    return replace(options, accept=tuple(dict.fromkeys(accept)), exclude=tuple(dict.fromkeys(exclude)))


def _options(asked: Asked, plan: Plan, root: Path) -> NarrowOptions:
    """The options of a run; a place that was accepted is looked for where its line is now."""
    options = _read(asked.options)
    texts = {f"{remark.path}:{remark.line}": remark for remark in plan.remarks if remark.kind == "accepted"}
    moved = []
    for spelled in options.accept:
        remark = texts.get(spelled)
        lines = (_text(root, remark.path) or b"").decode("utf-8", "replace").split("\n") if remark is not None else []
        if remark is not None and [line.strip() for line in lines[remark.line - 1 : remark.line]] != [
            remark.text.strip()
        ]:
            same = [number for number, line in enumerate(lines, start=1) if line.strip() == remark.text.strip()]
            spelled = f"{remark.path}:{same[0]}" if len(same) == 1 else spelled
        moved.append(spelled)
    return replace(options, accept=tuple(moved))


def _read(options: Sequence[tuple[str, object]]) -> NarrowOptions:
    try:
        return NarrowOptions(**dict(options))  # type: ignore[arg-type]  # what a plan of ours holds
    except TypeError as error:
        raise BadConfiguration(f"the plan has an option that is unknown: {error}") from error


def _also(row: Request) -> tuple[Path, ...]:
    found = dict.fromkeys((row.root / each).resolve() for each in row.options.also)
    return tuple(folder for folder in found if folder != row.root.resolve())


def _text(root: Path, path: str) -> bytes | None:
    try:
        return Tree(root, ()).read(path)
    except Unreadable:
        return None


def _state(file: PlannedFile, text: bytes | None, now: PlannedFile | None, *, known: bool) -> str:
    if text is None:
        return OPEN if not file.before else GONE
    found = digest(text)
    if found == file.after or (known and now is None):
        return LANDED
    if found == file.before:
        return OPEN
    # from pkg.sub import sym        what the plan wrote is there; what a new run finds has come since
    if now is not None and not _pairs(file) & _pairs(now) and all(_holds(text, hunk.new) for hunk in file.edits):
        return LANDED
    return CHANGED


def _holds(text: bytes, lines: str) -> bool:
    return f"\n{lines}".encode("utf-8", "surrogateescape").rstrip(b"\r\n") in b"\n" + text


def _pairs(file: PlannedFile) -> Counter[tuple[str, str]]:
    return Counter((hunk.old, hunk.new) for hunk in file.edits)


def _added(before: PlannedFile | None, now: PlannedFile, state: str) -> list[Hunk]:
    """The edits of a new plan that the old one does not have."""
    if state == OPEN:
        return []
    left = _pairs(before) if before is not None and state != LANDED else Counter()
    found = []
    for hunk in now.edits:
        pair = hunk.old, hunk.new
        if left[pair]:
            left[pair] -= 1
        else:
            found.append(hunk)
    return [hunk for hunk in found if hunk.old] or found


def _moved(plan: Plan, now: Sequence[PlannedFile], states: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Files of this checkout that have another path and the text that the plan was made for."""
    gone = {
        file.before: file.path
        for file in plan.files
        if file.root == "." and states[file.root, file.path] == GONE and file.before
    }
    return {
        file.path: gone[file.before]
        for file in now
        if file.root == "." and (file.root, file.path) not in states and file.before in gone
    }


def _part_states(
    plan: Plan, root: Path, parts: Sequence[PlannedPart], states: Mapping[tuple[str, str], str]
) -> tuple[PartStatus, ...]:
    data = _text(root, FILE_NAME) or b""
    bans = {str(ban.symbol) for ban in load_bans(data)}
    has_rows = all(symbol in bans for at, symbol, _ in plan.rows if at == ".")
    found = []
    for part in parts:
        own = [states.get((".", path), LANDED) for path in part.files]
        done = sum(state in (LANDED, GONE) for state in own)
        whole = part.landed or (done == len(own) and (part.kind == CALL_SITES or has_rows))
        state = LANDED if whole else PARTLY if done and part.kind != GUARD else OPEN
        found.append(PartStatus(part.number, part.name, part.kind, state, done, len(own)))
    return tuple(found)


def _shown(file: PlannedFile) -> str:
    return file.path if file.root == "." else f"{file.root}/{file.path}"


def _first_line(hunk: Hunk) -> str:
    return (hunk.old or hunk.new).partition("\n")[0].strip()
