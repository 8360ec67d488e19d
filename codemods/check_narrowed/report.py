"""What `check_narrowed` says: a line an offence, then what to run next; or JSON, or GitHub annotations.

Owns the words, and how a path of the tree is written for whom.
Invariant: it decides nothing, and hides no offence.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.check_narrowed.offence import Offence
from codemods.engine.errors import CodemodError
from codemods.engine.model import Site
from codemods.engine.report import Paint, annotation, counted
from codemods.engine.report import error_lines as house_lines

SCHEMA_VERSION = 1
_MANY = 3  # so many symbols are counted one by one


@dataclass(frozen=True, slots=True)
class Report:
    """What one run found and did."""

    offences: tuple[Offence, ...]  # that are left, without the accepted ones
    files: int  # looked at
    rows: int
    accepted: int = 0  # offences within the baseline
    loose: int = 0  # how far the baseline's numbers could fall
    baseline: str = ""
    fixed: tuple[str, ...] = ()  # files
    mended: int = 0  # offences that the fixes take away
    wrote: bool = False
    idle: tuple[tuple[str, str], ...] = ()  # packages whose rows guard nothing, and the file that may be of them
    left: Mapping[str, Sequence[str]] | None = None  # why fixes were not made, by file; None if none were asked for


@dataclass(frozen=True, slots=True)
class Shown:
    """How a path of the tree is written: relative to `base`, a folder in the tree or above it."""

    root: Path
    base: Path

    def __call__(self, path: str) -> str:
        """The path as it is shown."""
        if self.root == self.base or os.path.isabs(path):  # noqa: PTH117
            return path
        return os.path.relpath(self.root / path, self.base).replace(os.sep, "/")


def as_text(report: Report, shown: Shown, paint: Paint) -> list[str]:
    """A line an offence, by file, and the summary."""
    lines = [_line(each, shown, paint) for each in report.offences]
    for path, reasons in (report.left or {}).items():
        lines += [f"{shown(path)}: {paint('not fixed', 'yellow')}: {reason}" for reason in reasons]
    if lines:
        lines.append("")
    if report.fixed:
        what = "fixed" if report.wrote else "would fix"
        lines.append(f"{what} {counted(report.mended, 'offence')}, in {counted(len(report.fixed), 'file')}")
    looked = f"{counted(report.files, 'file')} checked against {counted(report.rows, 'row')}"
    if not report.offences:
        lines.append(f"{looked}: {'nothing is left' if report.fixed else 'clean'}")
    else:
        lines.append(f"{paint(counted(len(report.offences), 'offence'), 'red')} in {_spread(report)}; {looked}")
        lines.append(_next(report))
    for package, path in report.idle:
        lines.append(
            f"the rows of {package} guard nothing here: {shown(path)} may be of it, and it is no package of this tree"
        )
    if report.accepted:
        lines.append(f"{counted(report.accepted, 'offence')} accepted by {shown(report.baseline)}")
    if report.loose:
        lines.append(f"{shown(report.baseline)} can shrink by {report.loose:,}: run with --update-baseline")
    return lines


def as_github(report: Report, shown: Shown) -> list[str]:
    """An annotation an offence."""
    return [
        annotation("error", _at(each, shown), f"check_narrowed: {each.kind}", each.message) for each in report.offences
    ]


def as_json(report: Report, shown: Shown, errors: Sequence[CodemodError] = (), exit_code: int = 0) -> str:
    """Everything, for programs. Lines and columns count from 1."""
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "exit_code": exit_code,
        "files": report.files,
        "rows": report.rows,
        "offences": [_offence(each, report, shown) for each in report.offences],
        "idle": [{"package": package, "path": shown(path)} for package, path in report.idle],
        "accepted": report.accepted,
        "baseline_can_shrink_by": report.loose,
        "fixed": [shown(path) for path in report.fixed],
        "applied": report.wrote,
        "errors": [
            {
                "path": shown(error.path) if error.path else "",
                "line": error.line,
                "message": error.detail,
                "hint": error.hint,
            }
            for error in errors
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def error_lines(error: CodemodError, shown: Shown, paint: Paint) -> list[str]:
    """An error: place, reason, way out."""
    return house_lines(error, paint, shown=shown)


def error_annotation(error: CodemodError, shown: Shown) -> str:
    """The same for GitHub."""
    text = f"{error.detail}\n{error.hint}" if error.hint else error.detail
    site = Site(shown(error.path) if error.path else "", error.line or 1, 0, "")
    return annotation("error", site, "check_narrowed", text)


def _line(each: Offence, shown: Shown, paint: Paint) -> str:
    at = f"{shown(each.site.path)}:{each.site.line}:{each.site.column + 1}"
    named = f"{each.symbol.replace(':', '.')} "
    said = f" {each.message.removeprefix(named)}" if each.message.startswith(named) else f": {each.message}"
    return f"{paint(at, 'bold')}: {each.symbol}{said}"


def _at(each: Offence, shown: Shown) -> Site:
    return replace(each.site, path=shown(each.site.path))


def _offence(each: Offence, report: Report, shown: Shown) -> dict[str, object]:
    found: dict[str, object] = {
        "path": shown(each.site.path),
        "line": each.site.line,
        "column": each.site.column + 1,
        "symbol": each.symbol,
        "kind": each.kind,
        "message": each.message,
    }
    if report.left is not None:  # a fix was tried, and this is what it leaves
        found |= {"fixable": False, "reasons": list(report.left.get(each.site.path, ()))}
    return found


def _spread(report: Report) -> str:
    files = counted(len({each.site.path for each in report.offences}), "file")
    symbols = Counter(each.symbol for each in report.offences).most_common()
    named = ", ".join(f"{symbol} {number:,}" for symbol, number in symbols[:_MANY])
    more = f", and {counted(len(symbols) - _MANY, 'symbol')} more" if len(symbols) > _MANY else ""
    return f"{files} ({named}{more})"


def _next(report: Report) -> str:
    marked = "`# lint-ignore: NarrowReexport` on a line leaves it as it is"
    if report.left is not None:
        return f"these are for you to change; {marked}"
    outside = [each for each in report.offences if each.outside]
    if len(outside) == len(report.offences):
        top = outside[0].symbol.partition(":")[0].partition(".")[0]
        return (
            f"write what is told, or run narrow-reexport --from-shims {top} (the package is not in this tree); {marked}"
        )
    return f"check-narrowed --fix rewrites them, --diff shows how; {marked}"
