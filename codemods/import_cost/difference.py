"""What an edit of the tree does to an import, as numbers and in one line.

Owns the numbers that a codemod puts into a plan, and the sentence that it adds to its summary.
Invariant: both numbers come from the same graph, before and after the edited bytes; nothing has to be written for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.import_cost import cache
from codemods.import_cost.answer import biggest, by_weight
from codemods.import_cost.loads import Loads, third_party
from codemods.import_cost.report import listed
from codemods.import_cost.tree import open_tree

_FEW = 4


def is_known(root: Path) -> bool:
    """Whether an earlier run has left the graph of this tree in the cache."""
    return cache.cache_file(root).exists()


@dataclass(frozen=True, slots=True)
class Difference:
    """How many modules of the tree an import loads before and after, and the most notable that go, `more` than named."""

    before: int
    after: int
    gone: tuple[str, ...]
    more: int


def difference(
    root: Path,
    module: str,
    files: Mapping[str, bytes],
    *,
    exclude: Sequence[str] = (),
    source_roots: Sequence[str] = (),
) -> str:
    """`import pkg: 356 -> 47 modules of the tree, no longer loads torch, pkg.config`, for files with these bytes."""
    found = counted_difference(root, module, files, exclude=exclude, source_roots=source_roots)
    if found.before == found.after and not found.gone:
        return f"import {module}: {found.before:,} modules of the tree, as before"
    more = f" and {found.more:,} more" if found.more else ""
    no_longer = listed(list(found.gone), verbose=True)
    said = f", no longer loads {no_longer}{more}" if no_longer else ""
    return f"import {module}: {found.before:,} -> {found.after:,} modules of the tree{said}"


def counted_difference(
    root: Path,
    module: str,
    files: Mapping[str, bytes],
    *,
    exclude: Sequence[str] = (),
    source_roots: Sequence[str] = (),
) -> Difference:
    """The same as numbers. Raises CodemodError where they cannot be had."""
    loads = open_tree(root, module, exclude=exclude, source_roots=source_roots).loads
    edited = Loads(loads.graph.edited(files))
    before, after = loads.closure(module), edited.closure(module)
    gone = before - after
    counts = [sum(map(loads.in_tree, each)) for each in (before, after)]
    packages = by_weight(third_party(gone, loads, after), gone, loads)
    own = biggest([name for name in gone if loads.in_tree(name)])
    named = (*own[:_FEW], *packages[:_FEW])
    return Difference(counts[0], counts[1], named, len(own[_FEW:]) + len(packages[_FEW:]))
