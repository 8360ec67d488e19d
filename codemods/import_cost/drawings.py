"""What is drawn and timed of one import: the page, the graph for Graphviz, the measured run.

Owns the choice of what is drawn as "after": the re-exports that are named, else the import that costs a package most.
Invariant: only `timed` runs code of the target; the caller asked for that by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codemods.engine.model import Symbol
from codemods.import_cost.blame import costs
from codemods.import_cost.measure import Measured, measure
from codemods.import_cost.page import page
from codemods.import_cost.picture import Picture, picture
from codemods.import_cost.times import exclusive
from codemods.import_cost.tree import Opened
from codemods.import_cost.what_if import WhatIf, what_if


@dataclass(frozen=True, slots=True)
class Timing:
    """How the target's interpreter is run."""

    python: str
    runs: int
    calls: tuple[str, ...] = ()


def html(opened: Opened, module: str, symbols: Sequence[Symbol], measured: Measured | None = None) -> str:
    """The page for one import, with what it would load once `symbols` are narrowed."""
    wanted = tuple(symbols) or _most_costly(opened, module)
    before = before_picture(opened, module)
    after: Picture | None = None
    narrowing = ""
    if wanted:
        found: WhatIf = what_if(opened.loads, module, wanted)
        after = picture(opened.loads, module, found.cut, dict(found.moved), opened.tree.read)
        narrowing = ", ".join(map(str, wanted))
    times = exclusive(measured, before) if measured is not None and measured.took else None
    return page(before, after, narrowing=narrowing, times=times)


def before_picture(opened: Opened, module: str) -> Picture:
    """What the import loads today."""
    return picture(opened.loads, module, read=opened.tree.read)


def timed(opened: Opened, module: str, timing: Timing) -> Measured:
    """Run the import in the target's interpreter. Raises `ImportFailed`."""
    own = opened.layout.root
    beside = [opened.tree.root / folder for folder in _folders(opened, module) if folder != own]
    root = opened.tree.root / own
    return measure(module, root=root, python=timing.python, runs=timing.runs, calls=timing.calls, beside=beside)


def _folders(opened: Opened, module: str) -> list[str]:
    """The folders that must stand on `sys.path` for the import to find what it is thought to load."""
    found: dict[str, None] = {}
    for name in sorted(filter(opened.loads.in_tree, opened.loads.closure(module))):
        located = opened.loads.graph.module(name)
        below = name.replace(".", "/")
        for end in (f"{below}/__init__.py", f"{below}.py"):
            if located and f"/{located.path}".endswith(f"/{end}"):
                found[located.path[: -len(end)].rstrip("/")] = None
    return list(found)


def _most_costly(opened: Opened, module: str) -> tuple[Symbol, ...]:
    found = opened.loads.graph.module(module)
    if found is None or not found.is_package:
        return ()
    first = next(iter(costs(opened.loads, module)), None)
    if first is None or not any(map(opened.loads.in_tree, first.saved)):
        return ()
    return tuple(Symbol(module, name) for name in first.taken.names)
