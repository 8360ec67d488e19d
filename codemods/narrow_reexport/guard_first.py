"""The ban before the move: a first part that bans new call sites, and accepts those that are still to move.

Owns which part takes which accepted call sites out again, and the files that hold them.
Invariant: the guard is green before and after each part, in whatever order they land, and red for a call site that is new;
once all parts have landed nothing of it is left but the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from codemods.engine.bans import FILE_NAME, load_bans
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import FileChange
from codemods.engine.project import Tree, digest
from codemods.engine.pull_request import slug_of
from codemods.narrow_reexport.numbered import CALL_SITES, GUARD, REMOVAL
from codemods.narrow_reexport.plan_io import Plan, PlannedPart

_Numbers = Counter[tuple[str, str]]  # accepted offences by symbol and path


def guard_changes(
    plan: Plan, root: Path, parts: Sequence[PlannedPart], changes: Sequence[FileChange]
) -> dict[int, tuple[FileChange, ...]]:
    """What each part, by its number, does for the guard; the first one writes it, each other takes its own away."""
    from codemods.check_narrowed.baseline import FOLDER, Baseline, encode_baseline

    key = digest(" ".join(moved.symbol for moved in plan.symbols).encode())[:8]
    names = {part.number: f"{FOLDER}/{part.number:02}-{slug_of(part.name)}-{key}.json" for part in parts}
    row = next((change for change in changes if change.path == FILE_NAME), None)
    found: dict[int, tuple[FileChange, ...]] = {}
    files: dict[str, bytes] = {}
    if row is None:
        # the guard has landed, and is to be taken away as it is now
        folder = root / FOLDER
        there = sorted(path.name for path in folder.glob(f"*-{key}.json")) if folder.is_dir() else []
        files = {f"{FOLDER}/{name}": Tree(root, ()).read(f"{FOLDER}/{name}") for name in there}
    else:
        guards = [part.number for part in parts if part.kind == GUARD]
        for number, accepted in _accepted(plan, root, parts, row, changes).items():
            if accepted:
                files[names[number]] = encode_baseline(Baseline(accepted))
        made = tuple(FileChange(path, b"", data) for path, data in sorted(files.items()))
        found = dict.fromkeys(guards, (row, *made))
    for part in parts:
        if part.kind == CALL_SITES and not part.landed and names[part.number] in files:
            path = names[part.number]
            found[part.number] = (FileChange(path, files.pop(path), b"", gone=True),)
    for part in parts:
        if part.kind == REMOVAL and files:
            found[part.number] = tuple(FileChange(path, data, b"", gone=True) for path, data in sorted(files.items()))
    return found


def _accepted(
    plan: Plan, root: Path, parts: Sequence[PlannedPart], row: FileChange, changes: Sequence[FileChange]
) -> dict[int, _Numbers]:
    """Today's offences, for the part that mends them; what none mends is for the last one."""
    from codemods.check_narrowed.baseline import counted_sites
    from codemods.check_narrowed.check import check, files_below, flat
    from codemods.check_narrowed.maintain import guard_for
    from codemods.check_narrowed.verdicts import offences

    last = next((part.number for part in parts if part.kind == REMOVAL), 0)
    if not last:
        raise BadConfiguration("--guard-first bans what the last part removes, and this plan removes nothing")
    wanted = {symbol for _, symbol, _ in plan.rows}
    guard = guard_for(root, load_bans(row.after))
    today = [each for each in flat(check(guard, files_below(guard, ())).offences.values()) if each.symbol in wanted]
    # a place that a person has taken on stays an offence when its file has landed
    taken_on = {remark.path for remark in plan.remarks if remark.kind == "accepted"}
    after = [offences(guard, change.path, change.after) for change in changes if change.path in taken_on]
    stays = counted_sites(each for each in flat(after) if each.symbol in wanted)
    owner = {path: part.number for part in parts if part.kind == CALL_SITES for path in part.files}
    found: dict[int, _Numbers] = {part.number: Counter() for part in parts}
    for (symbol, path), number in counted_sites(today).items():
        left = min(stays[symbol, path], number) if path in owner else number
        if left:
            found[last][symbol, path] = left
        if number > left:
            found[owner[path]][symbol, path] = number - left
    return found
