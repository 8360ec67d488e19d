"""Import cycles that the edits would lay bare: the refusal of each, laid on the symbols whose new imports close it.

Owns the choice of the symbols to blame; with `--keep-going` these are left out, and the others are narrowed.
Invariant: each cycle has at least one refusal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from codemods.engine.cycles import risky_entries, unmasked_cycles
from codemods.engine.graph import Fault, ImportGraph
from codemods.engine.model import Refusal, Site, Symbol
from codemods.engine.source import NotPython, decode
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.request import Checkout


def laid_bare(
    main: Checkout,
    context: Context,
    lost: frozenset[str],
    before: ImportGraph,
    after: ImportGraph,
    overlay: Mapping[str, bytes],
) -> tuple[Refusal, ...]:
    """Refusals for the imports that would fail after the edits and did not before."""
    # a file that the package never loads can be on no cycle with what it loads
    near = before.closure(context.package.name)
    changed = {main.layout.module_at(path).name for path in overlay if path.endswith(".py")} & near
    entries = risky_entries(after, sorted(changed | lost | {found.origin.module for found in context.resolutions}))
    faults = unmasked_cycles(before, after, entries)
    refusals: list[Refusal] = []
    for fault, symbols in zip(faults, _to_blame(faults, main, context, before, after), strict=True):
        text = _line(overlay.get(fault.path) or main.tree.read(fault.path), fault.path, fault.line)
        reason = f"a circular import would show: {' -> '.join(fault.cycle)} cannot take {fault.name} from {fault.source} any more"
        hint = "break the cycle first, or make one of its imports local to a function"
        refusals += [Refusal(Site(fault.path, fault.line, 0, text), symbol, reason, hint) for symbol in symbols]
    return tuple(refusals)


def _to_blame(
    faults: Sequence[Fault], main: Checkout, context: Context, before: ImportGraph, after: ImportGraph
) -> list[tuple[str, ...]]:
    """For each fault the symbols without which it is none, as few as will do for all of them."""
    ways = [_ways_out(fault, main, context, before, after) for fault in faults]
    blamed: set[str] = set()
    chosen: list[tuple[str, ...]] = [()] * len(faults)
    for number, found in sorted(enumerate(ways), key=lambda pair: len(pair[1])):
        # a ring is found from each module that it can be entered by, and its steps are not all on each of these ways
        chosen[number] = next((way for way in found if blamed.issuperset(way)), min(found, key=len))
        blamed.update(chosen[number])
    return chosen


def _ways_out(
    fault: Fault, main: Checkout, context: Context, before: ImportGraph, after: ImportGraph
) -> list[tuple[str, ...]]:
    # without all symbols of one step, nobody takes that step
    steps = [
        _new_imports(importer, imported, main, context, before, after) for importer, imported in pairwise(fault.cycle)
    ]
    if any(steps):
        return [step for step in steps if step]
    # every step is an old one, but what is taken at its end is new, or comes too late now
    ring = {fault.source, fault.module, *fault.cycle}
    wanted = {Symbol(fault.source, name) for name in (fault.name, *fault.also)}
    taken = [found for found in context.resolutions if found.origin in wanted]
    near = [found for found in context.resolutions if found.origin.module in ring]
    return [tuple(str(found.symbol) for found in taken or (*near, *context.resolutions)[:1])]


def _new_imports(
    importer: str, imported: str, main: Checkout, context: Context, before: ImportGraph, after: ImportGraph
) -> tuple[str, ...]:
    """The symbols that the importer reaches, if no old import of it starts the module and one of their origins does."""
    # pkg.Name in pkg/a.py        `import pkg` becomes `import pkg.sub`, which a.py did not start
    module = before.module(importer)
    plan = main.plans.get(module.path) if module is not None else None
    if plan is None or any(_starts(edge.imported, imported) for edge in before.edges(importer) if edge.line):
        return ()
    fresh = {edge.imported for edge in after.edges(importer)} - {edge.imported for edge in before.edges(importer)}
    reached = {each.symbol for each in plan.reached}
    return tuple(
        str(found.symbol)
        for found in context.resolutions
        if str(found.symbol) in reached and found.loads in fresh and _starts(found.loads, imported)
    )


def _starts(target: str, module: str) -> bool:
    """Whether the import of `target` starts that of `module`: itself, or a package around it."""
    return target == module or target.startswith(f"{module}.")


def _line(data: bytes, path: str, line: int) -> str:
    try:
        source = decode(data, path)
    except NotPython:
        return ""
    return source.site(line).text
