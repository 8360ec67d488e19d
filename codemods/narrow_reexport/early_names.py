"""`from pkg import light` before the `__init__` has bound `light`: the module, where everybody later gets the function.

Owns the question which modules run before the package binds a name that is a submodule's name too, and whose place in that
order a run changes; and whether the name of a submodule that goes is then another one's.
Invariant: it looks at names that are not narrowed; those that are have their own verdict where they are imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from codemods.engine.graph import ImportGraph, parents
from codemods.engine.model import Module, Refusal, Site
from codemods.engine.outline import FromImports, Imports
from codemods.narrow_reexport.context import Context


def run_before(package: Module, graph: ImportGraph, line: int) -> frozenset[str]:
    """The modules that run before a line of the `__init__` does."""
    # (the packages around it have begun before it does, and wait for it to end)
    around = {package.name, *parents(package.name)}
    seen = set(around)
    todo = [edge.imported for edge in graph.edges(package.name) if 0 < edge.line < line]
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += [edge.imported for edge in graph.edges(module)]
    return frozenset(seen - around)


def taken_early(context: Context, before: ImportGraph, after: ImportGraph) -> Iterator[Refusal]:
    """Modules that take another name from the package, and would get the symbol for the submodule, or the other way round."""
    package = context.package
    narrowed = {found.symbol.name for found in context.resolutions}
    for name in sorted(context.hidden - narrowed):
        # from .lion import roar; from .light import light        and in lion.py  from . import light
        old, new = (_bound_at(graph, package.name, name) for graph in (before, after))
        if not old or not new:
            continue
        early, then = run_before(package, before, old), run_before(package, after, new)
        for module in sorted(early ^ then):
            line = _takes(before, module, package.name, name)
            place = before.module(module)
            if line and place is not None:
                got, gets = ("the module", "the symbol") if module in early else ("the symbol", "the module")
                yield Refusal(
                    Site(place.path, line, 0, ""),
                    str(context.resolutions[0].symbol),
                    f"this takes {name} while {package.name} is being imported, and gets {got} of that name; "
                    f"it would run at another time, and get {gets}",
                    f"import it as what it is first: from {package.name}.{name} import ..., or import {package.name}.{name} as ...",
                )


def other_modules(context: Context, after: ImportGraph, lost: frozenset[str]) -> Iterator[Refusal]:
    """Submodules that the package loads no more, where it has something else of that name."""
    # from .big import *; from .lion import roar        and .big has loaded a `big.lion`, which the star takes along
    package = context.package.name
    closure = cache(after.closure)
    for found in context.resolutions:
        name = found.origin.module.removeprefix(f"{package}.")
        if found.origin.module not in lost or "." in name or name == found.symbol.name:
            continue
        for event in after.events(package):
            if isinstance(event, FromImports) and event.module != package:
                loaded = f"{event.module}.{name}" in closure(event.module)
                starred = ("*", "*") in event.names and "__all__" not in after.ever_bound(event.module)
                if loaded and (starred or (name, name) in event.names):
                    yield Refusal(
                        Site(context.package.path, event.line, 0, ""),
                        str(found.symbol),
                        f"this also takes the module {event.module}.{name}, and without {found.origin.module} "
                        f"{package}.{name} would be that one",
                        f"give {event.module} an __all__ without it first",
                    )


def _bound_at(graph: ImportGraph, package: str, name: str) -> int:
    """The first line of the `__init__` that binds a name to something else than the submodule; 0 for none.

    A star counts only where no other statement binds it: what it brings is not known for sure.
    """
    starred = 0
    for event in graph.events(package):
        if isinstance(event, FromImports):
            if any(given == name for _, given in event.names) and (
                event.module != package or (name, name) not in event.names
            ):
                return event.line
            if ("*", "*") in event.names and name in graph.ever_bound(event.module):
                starred = event.line  # the last one wins
        elif not isinstance(event, Imports) and getattr(event, "name", "") == name:
            return event.line
    return starred


def _takes(graph: ImportGraph, module: str, package: str, name: str) -> int:
    for event in graph.events(module):
        if isinstance(event, FromImports) and event.module == package and any(each == name for each, _ in event.names):
            return event.line
    return 0
