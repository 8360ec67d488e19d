"""The parts of a plan with their numbers and names, which stay the same while the parts land one by one.

Owns which part a file belongs to, which number a part has, and what both become when the plan is made again.
Invariant: a part that is still to land keeps its number and name; a number is never given twice; the removal is the last.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codemods.engine import project
from codemods.engine.discover import checkout_top, list_files
from codemods.engine.split import CODEOWNERS, split, way_of
from codemods.narrow_reexport.plan_io import LAST, Plan, PlannedPart

CALL_SITES, GUARD, REMOVAL = "call-sites", "guard", "removal"
WHOLE = "count:1"  # how a plan is split if nobody says


def numbered(plan: Plan, root: Path, way: str = "") -> tuple[PlannedPart, ...]:
    """The parts of a plan: those that it remembers or, if another way of splitting is asked for, counted from 1."""
    guarded = any(part.kind == GUARD for part in plan.parts)
    if plan.parts and way in ("", plan.split) and guarded == plan.guard:
        return plan.parts
    paths = _call_sites(plan)
    return laid_out(plan, way_for(way or plan.split or WHOLE, paths, root))


def refreshed(
    plan: Plan,
    old: Plan,
    root: Path,
    way: str = "",
    *,
    landed: Collection[int] = (),
    moved: Mapping[str, str] | None = None,
) -> tuple[PlannedPart, ...]:
    """The parts of `old` for a plan that was made later. A file stays in its part, a new one joins that of its owner.

    A part that has landed keeps its number for good; if its owner has new files, they are a new part. `landed` are the
    numbers of those that have, `moved` the files that have another path now, with the one that they had.
    """
    way = way or old.split or WHOLE
    if way != (old.split or WHOLE):
        return laid_out(plan, way_for(way, _call_sites(plan), root))
    kept = tuple(
        replace(
            part,
            files=(*part.files, *(new for new, path in (moved or {}).items() if path in part.files)),
            landed=part.landed or part.number in landed,
        )
        for part in numbered(old, root, way)
    )
    there = sorted((path, part.name) for part in kept if part.kind == CALL_SITES for path in part.files)
    if way.startswith("count:") and there:
        # a number says nothing about a file that was not there to be counted: it joins its neighbour
        names = [path for path, _ in there]
        return laid_out(plan, lambda path: there[max(bisect_right(names, path) - 1, 0)][1], kept)
    return laid_out(plan, way_for(way, _call_sites(plan), root), kept)


def laid_out(plan: Plan, way: Callable[[str], str], kept: Sequence[PlannedPart] = ()) -> tuple[PlannedPart, ...]:
    """The parts of a plan, in the order of their numbers; `kept` are those that have theirs already."""
    calls = [part for part in kept if part.kind == CALL_SITES]
    still = {part.name: part for part in calls if not part.landed}
    was = {path: part.name for part in still.values() for path in part.files}
    found = split(_call_sites(plan), plan.groups, lambda path: was.get(path) or way(path))
    files = {part.name: part.paths for part in found}
    parts = [replace(part, files=files.get(part.name, ()), landed=part.name not in files) for part in still.values()]
    parts += [replace(part, files=()) for part in calls if part.landed]
    guards = [part for part in kept if part.kind == GUARD]
    if plan.guard:
        guard = guards[0] if guards else PlannedPart(1, GUARD, GUARD, ())
        parts.append(replace(guard, landed=not plan.rows))
    last = tuple(file.path for file in plan.files if file.lands == LAST)
    if not (last or plan.rows):
        parts += [replace(part, files=(), landed=True) for part in kept if part.kind == REMOVAL]
    highest = max((part.number for part in parts), default=0)
    fresh = [name for name in files if name not in still]
    parts += [
        PlannedPart(number, name, CALL_SITES, files[name]) for number, name in enumerate(fresh, start=highest + 1)
    ]
    if last or plan.rows:
        parts.append(PlannedPart(highest + len(fresh) + 1, REMOVAL, REMOVAL, last))
    return tuple(sorted(parts, key=lambda part: (part.kind == REMOVAL, part.number)))


def way_for(way: str, paths: Sequence[str], root: Path) -> Callable[[str], str]:
    """From `--split` to the name of the part of each path, in this checkout."""
    top = checkout_top(root) or root.resolve()
    prefix = f"{root.resolve().relative_to(top).as_posix()}/".removeprefix("./")
    text = None
    for name in CODEOWNERS if way.startswith("codeowners") else ():
        if (top / name).is_file():
            text = project.Tree(top, ()).read(name).decode("utf-8", "replace")
            break
    tree: Collection[str] = list_files(root)
    return way_of(way, paths, tree, text, prefix)


def _call_sites(plan: Plan) -> list[str]:
    return [file.path for file in plan.files if file.lands != LAST]
