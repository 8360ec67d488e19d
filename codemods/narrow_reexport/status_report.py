"""How far a plan has come, in words and as JSON.

Owns the lines and the JSON of `--status`.
Invariant: it reads no file and decides nothing; the JSON holds everything that the lines say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from codemods.engine.model import Site
from codemods.engine.report import annotation, counted
from codemods.narrow_reexport.numbered import CALL_SITES, REMOVAL
from codemods.narrow_reexport.status import CHANGED, GONE, LANDED, MOVED, OPEN, PARTLY, NewSite, PartStatus, Status

_SHOWN = 40  # places of a kind, unless everything is asked for


def as_text(status: Status, *, verbose: bool) -> list[str]:
    """For people: the parts, then what has changed, then what is new, then the sum."""
    lines = [f"{part.number} {part.name}: {_state(part)}" for part in status.parts]
    lines += _fresh_parts(status)
    changed = [each for each in status.files if each.state in (CHANGED, GONE, MOVED)]
    said = {
        CHANGED: "has changed since the plan was made",
        GONE: "is gone",
        MOVED: "has another path now, with the same text",
    }
    lines += _few([f"{each.path} {said[each.state]}" + _in(each.part, status) for each in changed], verbose)
    lines += _few(
        [f"new: {site.path}:{site.line}: {site.text}" + _in(site.part, status) for site in status.new], verbose
    )
    landed = sum(part.state == LANDED for part in status.parts)
    files = sum(each.state == LANDED for each in status.files)
    total = counted(len(status.parts), "part")
    has = "has" if landed == 1 else "have"
    lines.append(f"{landed} of {total} {has} landed, {files} of {counted(len(status.files), 'file')}; {_rest(status)}")
    return lines


def as_json(status: Status, exit_code: int) -> str:
    """For programs."""
    told = {
        "schema_version": 1,
        "command": "narrow_reexport --status",
        "exit_code": exit_code,
        "remains": status.remains,
        "parts": [_fields(part) for part in status.parts],
        "files": [_fields(file) for file in status.files],
        "new": [_fields(site) for site in status.new],
        "refusals": [
            {"path": r.site.path, "line": r.site.line, "symbol": r.symbol, "reason": r.reason, "hint": r.hint}
            for r in status.result.refusals
        ],
    }
    return json.dumps(told, indent=2, sort_keys=True)


def as_github(status: Status) -> list[str]:
    """A notice on each new site."""
    return [
        annotation("notice", Site(site.path, site.line, 0, site.text), "narrow-reexport", _notice(site))
        for site in status.new
    ]


def _notice(site: NewSite) -> str:
    part = f"; part {site.part} moves it" if site.part else ""
    return f"a call site that came after the plan was made{part}"


def _state(part: PartStatus) -> str:
    if part.state == PARTLY:
        return f"{part.landed} of {counted(part.files, 'file')} landed"
    if part.state == OPEN and part.kind == CALL_SITES:
        return f"open, {counted(part.files, 'file')}"
    return part.state


def _fresh_parts(status: Status) -> list[str]:
    """Parts that only the refreshed plan has; if there are any, the removal has a higher number."""
    known = {(part.number, part.name): part for part in status.parts}
    found = []
    for part in status.plan.parts if status.plan is not None else ():
        if (part.number, part.name) not in known and not part.landed:
            what = "is the last one still" if part.kind == REMOVAL else f"new, {counted(len(part.files), 'file')}"
            found.append(f"{part.number} {part.name}: {what}")
    return found


def _in(part: int, status: Status) -> str:
    return f" (part {part})" if part and status.parts else ""


def _rest(status: Status) -> str:
    if status.plan is None and status.result.errors:
        return f"new sites cannot be looked for: {status.result.errors[0]}"
    if status.plan is None:
        return "a new run is refused"
    new = counted(len(status.new), "new site")
    left = len(status.plan.files)
    return f"{new}, {counted(left, 'file')} left" if left or status.new else "nothing is left to do"


def _few(lines: Sequence[str], verbose: bool) -> list[str]:
    if verbose or len(lines) <= _SHOWN:
        return list(lines)
    return [*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more (-v lists them)"]


def _fields(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in type(value).__slots__}  # type: ignore[attr-defined]
