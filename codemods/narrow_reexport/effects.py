"""What a plan gives: how many modules an import of each package loads before and after.

Owns those numbers in a plan, and the words for them in the body of a part.
Invariant: a number that cannot be had is left out, and stops no plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codemods.engine.errors import CodemodError
from codemods.narrow_reexport.plan_io import Loaded, Plan
from codemods.narrow_reexport.request import Request, Result


def with_loads(plan: Plan, request: Request, result: Result) -> Plan:
    """The plan with its numbers."""
    from codemods.import_cost.difference import counted_difference

    files = {
        change.path: change.after for root, changes in result.changes if root == request.root for change in changes
    }
    found = []
    for package in dict.fromkeys(asked.package for asked in plan.requests) if files else ():
        options = request.options
        try:
            told = counted_difference(
                request.root, package, files, exclude=options.exclude, source_roots=options.source_root
            )
        except CodemodError:
            continue
        found.append(Loaded(package, told.before, told.after, told.gone))
    return replace(plan, loads=tuple(found))


def load_lines(loads: Sequence[Loaded], *, last: bool) -> list[str]:
    """The section of a body. The last part has the effect; the others say what the whole will give."""
    if not loads:
        return []
    lead = "Modules of this tree that the import loads"
    if all(each.before == each.after for each in loads):
        lead += ". Others still load what the symbols come from, so the number stays:"
    else:
        lead += ", before and after this part:" if last else ". The number falls when the last part lands:"
    rows = [
        f"| `import {each.package}` | {each.before:,} | {each.after:,} | {', '.join(f'`{name}`' for name in each.gone)} |"
        for each in loads
    ]
    head = ["| | before | after | no longer loaded, among others |", "| :-- | --: | --: | :-- |"]
    return ["## Numbers", "", lead, "", *head, *rows, ""]
