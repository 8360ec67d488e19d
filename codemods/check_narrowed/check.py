"""The check of many files: which offences each has, quickly.

Owns the choice of files, and their distribution over processes.
Invariant: the result is that of a serial run; a file that cannot be read is an error, never clean. No bytes are kept.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codemods.check_narrowed.guard import Guard
from codemods.check_narrowed.offence import Offence
from codemods.engine.discover import is_code

_ALONE = 0.3  # seconds; a check that is done by then needs no other process
_PAYS = 0.4  # seconds of work that is left, as far as can be told


@dataclass(frozen=True, slots=True)
class Checked:
    """The files that were looked at, and the offences of those that have any."""

    paths: tuple[str, ...]
    offences: dict[str, tuple[Offence, ...]]


def check(guard: Guard, paths: Sequence[str]) -> Checked:
    """Look at these files of the tree."""
    found: dict[str, tuple[Offence, ...]] = {}
    begun = time.perf_counter()
    for number, path in enumerate(paths):
        offences = _offences(path, b"", guard)
        if offences:
            found[path] = offences
        spent = time.perf_counter() - begun
        if spent > _ALONE and spent / (number + 1) * (len(paths) - number - 1) > _PAYS:
            found |= _in_processes(guard, paths[number + 1 :])
            break
    return Checked(tuple(paths), found)


def files_below(guard: Guard, wanted: Sequence[str]) -> tuple[str, ...]:
    """The Python files of the tree that are meant: all of them, those below folders, and files that are named one by one.

    A named file is checked even if it is not listed (git ignores it), unless the configuration excludes it.
    """
    listed = [path for path in guard.tree.paths if is_code(path)]
    if "" in wanted or not wanted:
        return tuple(listed)
    folders = tuple(f"{path}/" for path in wanted if (guard.root / path).is_dir())
    named = {path for path in wanted if f"{path}/" not in folders and is_code(path) and not guard.excludes(path)}
    return tuple(sorted(named | {path for path in listed if path.startswith(folders)}))


def _in_processes(guard: Guard, paths: Sequence[str]) -> dict[str, tuple[Offence, ...]]:
    from codemods.engine.parallel import each

    # every tenth, and so on: neighbours are alike, and a folder of large files would keep one process busy to the end
    spread = [path for first in range(10) for path in paths[first::10]]
    results = each(_offences, [(path, b"") for path in spread], guard)
    found = {path: offences for path, offences in zip(spread, results, strict=True) if offences}
    return dict(sorted(found.items()))


def _offences(path: str, _unread: bytes, guard: Guard) -> tuple[Offence, ...]:
    data = guard.read(path)
    if not guard.suspects_init(path, data) and not guard.suspects(path, data):
        return ()
    from codemods.check_narrowed.verdicts import offences  # only now is the planner needed

    return offences(guard, path, data)


def flat(offences: Iterable[tuple[Offence, ...]]) -> tuple[Offence, ...]:
    """The offences of several files, in order."""
    return tuple(sorted(each for found in offences for each in found))
