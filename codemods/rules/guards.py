"""The guard of the tree that a linted file is in, kept while a process lints many files.

Owns the way from a file to its `narrowed.toml`, and how long what is known of a tree may be used.
Invariant: a changed `narrowed.toml` is read again, and one that cannot be read is an error, never silence.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from codemods.check_narrowed.baseline import Baseline, configured_baseline
from codemods.check_narrowed.fixes import Fixer
from codemods.check_narrowed.guard import Guard, find_rows, guarded
from codemods.engine.bans import FILE_NAME

_FRESH = 60.0  # seconds; an editor's server lives for days, and the tree changes under it


@dataclass(frozen=True, slots=True)
class Watched:
    """One guarded tree, what mends its files, and what is accepted there."""

    guard: Guard
    fixer: Fixer
    baseline: Baseline


_known: dict[Path, tuple[tuple[int, int], float, Watched]] = {}


def watched(path: Path) -> Watched | None:
    """The guard for a file; None where no folder above it has a `narrowed.toml`. Raises `BadConfiguration`."""
    root = find_rows(path.parent)
    if root is None:
        return None
    status = (root / FILE_NAME).stat()
    stamp = (status.st_mtime_ns, status.st_size)
    now = time.monotonic()
    if root in _known:
        known, since, found = _known[root]
        if known == stamp and now - since < _FRESH:
            return found
    guard = guarded(root)
    found = Watched(guard, Fixer(guard), configured_baseline(root))
    _known[root] = (stamp, now, found)
    return found
