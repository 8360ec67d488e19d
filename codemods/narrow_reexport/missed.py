"""Who looks up, as it is imported, what a module has registered by then: and no longer has, once the re-export is gone.

Owns the question which modules have run before a statement of the package, or of a module that it goes on loading, or of an
edited one: before the narrowing, and after it.
Invariant: it never edits; of the packages above that are running meanwhile, nothing is counted on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache

from codemods.engine.discover import runs
from codemods.engine.graph import ImportGraph, parents
from codemods.engine.model import Module, Refusal
from codemods.engine.namespace import Namespaces
from codemods.engine.source import NotPython, decode, parse
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.lookup import Asked, Lookup, asked, lookups, stores
from codemods.narrow_reexport.forms.registration import Registration, registrations
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.side_effects import symbol_of


def missed_lookups(
    registered: Mapping[str, Sequence[Registration]],
    checkout: Checkout,
    namespaces: Namespaces,
    context: Context,
    before: ImportGraph,
    after: ImportGraph,
    overlay: Mapping[str, bytes],
) -> Iterator[Refusal]:
    """The lookups that come too early. `registered` is what lost modules are known to register, `overlay` the new texts."""
    # pkg/__init__.py:  from .sequences import SeqPer        it registers EmptySequence with S
    #                   EmptySequence = S.EmptySequence
    orders = _Orders(namespaces, before, after, overlay)
    every = {name: [each for each in found if each.into is not None] for name, found in registered.items()}
    own = orders.gone(context.package)
    every |= {name: [*_kept_by(name, own[name], namespaces)] for name in sorted(own)}
    every = {name: found for name, found in every.items() if found}
    if not every:
        return
    loads = cache(after.closure)
    edited = {checkout.layout.module_at(path).name for path, plan in checkout.plans.items() if plan.edits}
    goes_on = after.closure(context.package.name, orders.above(after, context.package.name))
    for name in sorted(goes_on | edited):
        module = namespaces.locate(name)
        if module is None or not module.path or not runs(module.path):
            continue
        for lookup in lookups(module, namespaces, [each for found in every.values() for each in found]):
            source = next(each for each, found in every.items() if lookup.registration in found)
            if name != source and orders.comes_too_late(module, lookup, source):
                yield _refusal(lookup, name, source, context, loads)


class _Orders:
    """What has run before a line of a module, in the tree as it is and as it will be."""

    def __init__(
        self, namespaces: Namespaces, before: ImportGraph, after: ImportGraph, overlay: Mapping[str, bytes]
    ) -> None:
        self.namespaces = namespaces
        self.before = before
        self.after = after
        self.overlay = overlay

    def gone(self, module: Module) -> dict[str, set[str]]:
        """Modules that had run before something was looked up, and will not have; with the names that are looked up."""
        found: dict[str, set[str]] = {}
        syntax = self.namespaces.syntax(module)
        places = asked(syntax.tree) if syntax is not None else []
        later = self._lines_after(module, places)
        known: dict[tuple[int, int], frozenset[str]] = {}
        for one, line in zip(places, later, strict=True):
            # the same imports stand before most of them
            lines = (_last(self.before, module.name, one.node.lineno), _last(self.after, module.name, line))
            if lines not in known:
                known[lines] = self._ran(self.before, module.name, one.node.lineno) - self._ran(
                    self.after, module.name, line
                )
            for name in known[lines]:
                found.setdefault(name, set()).add(one.key)
        return found

    def comes_too_late(self, module: Module, lookup: Lookup, source: str) -> bool:
        """Whether the registration ran before the lookup, and will not, nor another one under the same name."""
        if source not in self._ran(self.before, module.name, lookup.site.line):
            return False
        syntax = self.namespaces.syntax(module)
        places = [] if syntax is None else asked(syntax.tree)
        lines = self._lines_after(module, places)
        line = next(new for one, new in zip(places, lines, strict=True) if one.node.lineno == lookup.site.line)
        ran = self._ran(self.after, module.name, line)
        into, key = lookup.registration.into, {lookup.key}
        return source not in ran and not any(
            each.into == into for name in sorted(ran) for each in _kept_by(name, key, self.namespaces)
        )

    def above(self, graph: ImportGraph, name: str) -> list[str]:
        """The packages above that are running as the module is imported: those that import it."""
        return [each for each in parents(name) if name in graph.closure(each)]

    def _ran(self, graph: ImportGraph, name: str, line: int) -> frozenset[str]:
        running = [*self.above(graph, name), name]
        found: set[str] = set()
        for edge in graph.edges(name):
            if edge.line < line and edge.imported not in found and edge.imported not in running:
                found |= graph.closure(edge.imported, running)
        return frozenset(found)

    def _lines_after(self, module: Module, places: Iterable[Asked]) -> list[int]:
        """Where these stand in the new text: the same expressions, in their order."""
        places = [*places]
        if module.path not in self.overlay:
            return [one.node.lineno for one in places]
        try:
            tree = parse(decode(self.overlay[module.path], module.path))
        except NotPython:  # the failure is said elsewhere
            return [one.node.lineno for one in places]
        rest = [(ast.dump(one.node), one.node.lineno) for one in asked(tree)]
        lines: list[int] = []
        for one in places:
            wanted = ast.dump(one.node)
            at = next((number for number, (spelled, _) in enumerate(rest) if spelled == wanted), None)
            lines.append(rest.pop(at)[1] if at is not None else one.node.lineno)
        return lines


def _last(graph: ImportGraph, name: str, line: int) -> int:
    return max((edge.line for edge in graph.edges(name) if edge.line < line), default=0)


def _kept_by(name: str, keys: Collection[str], namespaces: Namespaces) -> Iterator[Registration]:
    """What a module puts into containers of others under one of these names, as it is imported."""
    module = namespaces.locate(name)
    if module is None or not module.path:
        return
    spells = re.compile(rb"\b(?:" + b"|".join(re.escape(key.encode()) for key in sorted(keys)) + rb")\b")
    if spells.search(namespaces.bytes_of(module)) is None:
        return
    for each in (*registrations(module, namespaces), *stores(module, namespaces)):
        if each.into is not None and not each.keys.isdisjoint(keys):
            yield each


def _refusal(
    lookup: Lookup, name: str, source: str, context: Context, loads: Callable[[str], Collection[str]]
) -> Refusal:
    registers = f"{source} registers it ({lookup.registration.site}), and is not imported before that any more"
    reason = f"{lookup.spelled} is looked up as {name} is imported; {registers}"
    return Refusal(
        lookup.site, symbol_of(source, context, loads), reason, f"import {source} there, for what it registers"
    )
