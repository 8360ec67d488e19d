"""What `narrow_reexport` says of a run: the summary, the refusals, JSON, GitHub annotations.

Owns the words. Every refusal names file, line, source line, the reason and a way out.
Invariant: it computes nothing that the `Result` does not hold, and hides nothing that it does.
"""

from __future__ import annotations

import json
from dataclasses import replace

from codemods.engine.bans import FILE_NAME
from codemods.engine.errors import CodemodError
from codemods.engine.model import Failure, FileChange, Refusal, Site
from codemods.engine.report import Paint, annotation, columns, counted
from codemods.narrow_reexport.forms.shim_table import MARKER
from codemods.narrow_reexport.request import Result, StillLoaded
from codemods.narrow_reexport.resolve import Resolution

SCHEMA_VERSION = 1


def summary(
    result: Result, *, applied: bool, verbose: int, paint: Paint, callers_only: bool = False, shim: bool = False
) -> list[str]:
    """The lines of a run that went through: origin, files, what was left and why, what is still loaded."""
    lines: list[str] = []
    for found in result.resolutions[: None if verbose else 20]:
        lines.append(f"{paint(str(found.symbol), 'bold')} comes from {found.origin} ({found.site})")
    if not verbose and len(result.resolutions) > 20:
        lines.append(f"... and {len(result.resolutions) - 20} more symbols (-v lists them)")
    changed = [change for _, changes in result.changes for change in changes]
    if not changed:
        lines.append(f"{_done(result)}: nothing to change ({counted(result.searched, 'file')} searched)")
    else:
        lines += [
            "",
            f"{'changed' if applied else 'would change'} {counted(result.files, 'file')} "
            f"of {result.searched:,} searched:",
        ]
        rows = [
            (_path(result, root, change), _what(result, root, change, callers_only=callers_only))
            for root, changes in result.changes
            for change in changes
        ]
        shown = rows if verbose or len(rows) <= 40 else rows[:30]
        lines += columns(shown)
        if len(shown) < len(rows):
            lines.append(f"  ... and {len(rows) - len(shown)} more (-v lists them)")
    lines += _left(result, verbose, paint)
    told = _each_loads(result, paint, callers_only=callers_only, shim=shim) if result.changes or result.still else []
    told = told if not result.installed else []  # what the package loads was settled when it was narrowed
    return [*lines, "", *told] if told else lines


def refusals(result: Result, paint: Paint) -> list[str]:
    """The sites that stand in the way, and what to do about each."""
    lines = []
    for refusal, symbols in _grouped(result.refusals):
        lines += [f"{paint(str(refusal.site), 'bold')}: {paint('refused', 'red')}: {refusal.reason} [{symbols}]"]
        if refusal.site.text:
            lines.append(f"    {refusal.site.text}")
        lines.append(f"    way out: {refusal.hint}")
    if result.refusals:
        count = counted(len({(refusal.site.path, refusal.site.line) for refusal in result.refusals}), "site")
        lines += ["", f"{count} in the way."]
        if any("accept the site" in refusal.hint for refusal in result.refusals):
            lines[-1] += (
                " To accept a site, mark its line with `# codemods: accept narrow_reexport` or pass --accept FILE:LINE."
            )
    return lines


def failure_lines(failures: tuple[Failure, ...], paint: Paint) -> list[str]:
    """A postcondition that broke."""
    lines = [
        f"{paint('internal error', 'red')}: a check of the result failed, so nothing was written. "
        "This is a bug of codemods; please report it:"
    ]
    return lines + [f"  {failure.path}: {failure.check}: {failure.detail}" for failure in failures]


def as_json(result: Result, *, exit_code: int, applied: bool) -> str:
    """The run as JSON; `schema_version` changes when a field changes its meaning."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "command": "narrow_reexport",
        "package": result.package,
        "exit_code": exit_code,
        "applied": applied,
        "searched": result.searched,
        "symbols": [
            {
                "symbol": str(found.symbol),
                "origin": str(found.origin),
                "site": _site(found.site),
                "submodule": found.is_submodule,
                "same_name": found.same_name,
                "already_narrowed": found.narrowed,
            }
            for found in result.resolutions
        ],
        "changes": [
            {"root": str(root), "path": change.path, "sites": change.sites, "what": _what(result, root, change)}
            for root, changes in result.changes
            for change in changes
        ],
        "refusals": [_refusal(refusal) for refusal in _once(result.refusals)],
        "accepted": [_refusal(refusal) for refusal in result.accepted],
        "warnings": [
            {**_site(warning.site), "symbol": warning.symbol, "reason": warning.reason} for warning in result.warnings
        ],
        "mentions": [{**_site(mention.site), "symbol": mention.symbol} for mention in result.mentions],
        "still_loaded": [
            {"origin": still.origin, "symbol": str(still.symbol), "chain": [str(edge) for edge in still.chain]}
            for still in result.still
        ],
        "dropped_star_names": [{"module": module, "names": list(names)} for module, names in result.dropped],
        "skipped": [{"name": name, "reason": reason} for name, reason in result.skipped],
        "errors": [
            {"path": error.path, "line": error.line, "detail": error.detail, "hint": error.hint}
            for error in result.errors
        ],
        "failures": [
            {"check": failure.check, "path": failure.path, "detail": failure.detail} for failure in result.failures
        ],
        "notes": list(result.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def error_json(package: str, error: CodemodError, exit_code: int) -> str:
    """An error as JSON, in the shape of a run without changes."""
    return as_json(Result(package, errors=(error,)), exit_code=exit_code, applied=False)


def as_github(result: Result) -> list[str]:
    """Refusals, warnings and errors as annotations of a GitHub workflow."""
    lines = [
        annotation("error", r.site, "narrow_reexport", f"{symbols}: {r.reason}. Way out: {r.hint}")
        for r, symbols in _grouped(result.refusals)
    ]
    lines += [
        annotation(
            "error", Site(e.path or "pyproject.toml", e.line or 1, 0, ""), "narrow_reexport", f"{e.detail}. {e.hint}"
        )
        for e in result.errors
    ]
    lines += [annotation("warning", w.site, "narrow_reexport", f"{w.symbol}: {w.reason}") for w in result.warnings]
    lines += [
        annotation("notice", Site(change.path, 1, 0, ""), "narrow_reexport", _what(result, root, change))
        for root, changes in result.changes
        for change in changes
    ]
    return lines


def _once(refusals: tuple[Refusal, ...]) -> list[Refusal]:
    """The same reason for the same symbol on one line is said once, whatever its column."""
    return list({(r.site.path, r.site.line, r.symbol, r.reason): r for r in reversed(refusals)}.values())[::-1]


def _grouped(refusals: tuple[Refusal, ...]) -> list[tuple[Refusal, str]]:
    """One refusal for a line and a reason, with its symbols; more than three are counted."""
    groups: dict[tuple[str, int, str], list[Refusal]] = {}
    for refusal in _once(refusals):
        groups.setdefault((refusal.site.path, refusal.site.line, refusal.reason), []).append(refusal)
    said: list[tuple[Refusal, str]] = []
    for group in groups.values():
        if len(group) > 3:
            said.append((group[0], f"{len(group)} symbols: {group[0].symbol} and others"))
        else:
            said += [(refusal, refusal.symbol) for refusal in group]
    return said


def _done(result: Result) -> str:
    return "already narrowed" if result.resolutions and all(found.narrowed for found in result.resolutions) else "done"


def _what(result: Result, root: object, change: FileChange, *, callers_only: bool = False) -> str:
    if change.path.rpartition("/")[2] == FILE_NAME:
        return "the record that keeps it narrowed"
    own = {found.site.path for found in result.resolutions}
    if root == result.changes[0][0] and change.path in own | {f"{path}i" for path in own}:
        if callers_only:
            return "taken out of __all__"
        init = change.path.removesuffix("i")
        removed = sum(not found.narrowed for found in result.resolutions if found.site.path == init)
        if not removed and MARKER.encode() in change.after:
            return "shim added"
        return "re-export removed" if removed <= 1 else f"{removed:,} re-exports removed"
    if change.sites:
        return counted(change.sites, "site")
    # no site reads the symbol: the file only lost what the package loaded for it
    old = set(change.before.split(b"\n"))
    new = [row.split() for row in change.after.split(b"\n") if row not in old]
    if new and all(row[:1] == [b"import"] for row in new):
        return "import of a submodule added" if len(new) == 1 else f"imports of {len(new)} submodules added"
    return "imports adapted"


def _path(result: Result, root: object, change: FileChange) -> str:
    first = result.changes[0][0]
    return change.path if root == first else f"{root}/{change.path}"


def _left(result: Result, verbose: int, paint: Paint) -> list[str]:
    lines: list[str] = []
    for warning in result.warnings:
        lines += ["", f"{paint('warning', 'yellow')}: {warning.site}: {warning.reason} [{warning.symbol}]"]
        if warning.site.text:
            lines.append(f"    {warning.site.text}")
    for refusal in result.accepted:
        lines.append(f"accepted: {refusal.site}: {refusal.reason} [{refusal.symbol}]")
    for module, names in result.dropped:
        lines += [
            "",
            f"the star import of {module} also brought {', '.join(names)}: "
            f"nobody here reads them through {result.package}, so they are gone from it",
        ]
    for name, reason in result.skipped:
        lines.append(f"left alone: {name}: {reason}")
    if result.mentions:
        shown = result.mentions if verbose else result.mentions[:5]
        only = "mentions the name, left as it is" if len(result.mentions) == 1 else "mention the name, left as they are"
        lines += ["", f"{counted(len(result.mentions), 'place')} that only {only}:"]
        lines += [f"  {mention.site}: {mention.site.text[:100]}" for mention in shown]
        if len(shown) < len(result.mentions):
            lines.append(f"  ... and {len(result.mentions) - len(shown)} more (-v lists them)")
    lines += [f"note: {note}" for note in result.notes]
    return lines


def _each_loads(result: Result, paint: Paint, *, callers_only: bool, shim: bool) -> list[str]:
    """What each package of the run still loads, and once what that means for others."""
    lines: list[str] = []
    for package in dict.fromkeys(found.symbol.module for found in result.resolutions):
        own = tuple(found for found in result.resolutions if found.symbol.module == package)
        still = tuple(each for each in result.still if each.symbol.module == package)
        alone = replace(result, package=package, resolutions=own, still=still)
        lines += _loads(alone, paint, callers_only=callers_only, shim=shim)
    return list(dict.fromkeys(lines))


def _loads(result: Result, paint: Paint, *, callers_only: bool, shim: bool = False) -> list[str]:
    lines: list[str] = []
    still = {each.origin: each for each in result.still}
    # a lazy export loaded nothing before, either
    origins = dict.fromkeys(found.loads for found in result.resolutions if not found.lazy)
    free = [origin for origin in origins if origin not in still and origin != result.package]
    foreign = [origin for origin in free if origin in result.outside]
    free = [origin for origin in free if origin not in foreign]
    if callers_only:
        names = _listed([origin for origin in origins if origin != result.package])
        return [f"import {result.package} still loads {names}: --callers-only leaves its imports"] if names else []
    if foreign:
        names = _listed([found.symbol.name for found in result.resolutions if found.loads in foreign])
        lines.append(
            f"{result.package} no longer imports {_listed(foreign)} because of {names}; "
            "what else loads it lies outside this tree and was not looked at"
        )
    lazy = _listed([found.symbol.name for found in result.resolutions if found.lazy])
    if lazy:
        lines.append(f"{result.package} gave out {lazy} lazily: call sites that loaded the origin late still do")
    if free:
        lines.append(f"import {result.package} no longer loads {_listed(free)}")
    for each in still.values():
        lines.append(
            f"{paint('still loaded', 'yellow')}: import {result.package} still loads {each.origin}: {_chain(each)}"
        )
    outside = _outside(result.resolutions, shim)
    return lines + ([outside] if outside and result.changes else [])


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:8])}{f' and {len(names) - 8} more' if len(names) > 8 else ''}"


def _chain(still: StillLoaded) -> str:
    return " -> ".join(str(edge) for edge in still.chain)


def _outside(resolutions: tuple[Resolution, ...], shim: bool = False) -> str:
    moved = [found for found in resolutions if not found.is_submodule]
    if shim and moved:
        return (
            f"callers outside this tree will get a DeprecationWarning from the shim in {moved[0].symbol.module}, until you "
            f"remove its row; in their checkouts `--from-shims {moved[0].symbol.module.partition('.')[0]}` moves them"
        )
    same = [found.symbol.name for found in resolutions if found.same_name and not found.narrowed]
    if same:
        return (
            f"callers outside this tree will silently get the module {same[0]} instead of the symbol; "
            "--also DIR takes other checkouts along"
        )
    if any(not found.is_submodule and not found.narrowed for found in resolutions):
        return (
            "callers outside this tree will get an ImportError; --shim leaves them a warning instead, "
            "--also DIR takes other checkouts along"
        )
    return ""


def _site(site: Site) -> dict[str, object]:
    return {"path": site.path, "line": site.line, "column": site.column + 1, "text": site.text}


def _refusal(refusal: Refusal) -> dict[str, object]:
    return {**_site(refusal.site), "symbol": refusal.symbol, "reason": refusal.reason, "hint": refusal.hint}
