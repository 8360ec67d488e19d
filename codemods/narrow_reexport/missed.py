"""Who looks up, as it is imported, what a module has registered by then: and no longer has, once the re-export is gone.

Owns the question which modules have run before a statement of the package, or of a module that it goes on loading, or of an
edited one: before the narrowing, and after it.
Invariant: it never edits; of the packages above that are running meanwhile, nothing is counted on.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from codemods.engine.discover import runs
from codemods.engine.graph import ImportGraph, parents
from codemods.engine.model import Module, Refusal, Symbol
from codemods.engine.namespace import Namespaces
from codemods.engine.source import NotPython, decode, parse
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.lookup import Asked, Lookup, asked, asked_of, lookups, spells, stores
from codemods.narrow_reexport.forms.registration import Registration, registrations
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.side_effects import symbol_of

_END = sys.maxsize  # the end of a module comes after all of its lines
_AT_ONCE = 20  # modules; the trees of all of sympy's would take 290 MiB
Wanted: TypeAlias = "tuple[str, Symbol]"  # a name, and the container in which it is looked up


def missed_lookups(
    registered: Mapping[str, Sequence[Registration]],
    checkout: Checkout,
    context: Context,
    before: ImportGraph,
    after: ImportGraph,
    overlay: Mapping[str, bytes],
) -> Iterator[Refusal]:
    """The lookups that come too early. `registered` is what lost modules are known to register, `overlay` the new texts."""
    # pkg/__init__.py:  from .sequences import SeqPer        it registers EmptySequence with S
    #                   EmptySequence = S.EmptySequence
    orders = _Orders(before, after, overlay)
    every = {name: [each for each in found if each.into is not None] for name, found in registered.items()}
    goes_on = after.closure(context.package.name, orders.above(after, context.package.name))
    for looking, passing in _in_turn(goes_on, checkout):
        for name, wanted in sorted(orders.gone(context.package.name, looking, passing).items()):
            known = every.get(name, [])
            every[name] = [*known, *(each for each in _kept_by(name, wanted, passing) if each not in known)]
    every = {name: found for name, found in every.items() if found}
    if not every:
        return
    loads = cache(after.closure)
    edited = {checkout.layout.module_at(path).name for path, plan in checkout.plans.items() if plan.edits}
    keys = {key for found in every.values() for each in found for key in each.keys}
    for name, passing in _in_turn(goes_on | edited, checkout):
        module = passing.locate(name)
        if module is None or not module.path or not runs(module.path):
            continue
        if not spells(passing.bytes_of(module), keys):
            continue
        # what a call site loads is more to look through than its text
        entry, from_these = name, every
        if name in goes_on:
            entry = context.package.name
            later = orders.ends_later(entry, name)
            from_these = {source: found for source, found in every.items() if source in later}
        for lookup in lookups(module, passing, [each for found in from_these.values() for each in found]):
            source = next(each for each, found in from_these.items() if lookup.registration in found)
            if name != source and orders.comes_too_late(entry, module, lookup, source, passing):
                yield _refusal(lookup, name, source, context, loads)


def _in_turn(names: Set[str], checkout: Checkout) -> Iterator[tuple[str, Namespaces]]:
    """The modules, each with a view of the tree that forgets what it has parsed after some of them."""
    for number, name in enumerate(sorted(names)):
        if number % _AT_ONCE == 0:
            passing = Namespaces(checkout.layout.locate, checkout.tree.read)
        yield name, passing


@dataclass(frozen=True, slots=True)
class _Order:
    """The modules that one import runs, in the order in which they end."""

    ended: list[str]
    come_to: dict[str, list[tuple[int, int]]]  # each import of a module by its line, and how many have ended by then

    def before(self, name: str, line: int) -> frozenset[str]:
        """The modules that have ended when this line is come to; all of them for a module that is not run."""
        # import a; X = REGISTRY["a"]        what is imported on the line itself stands in front, as a rule
        ended = next((count for at, count in self.come_to.get(name, ()) if at > line), len(self.ended))
        return frozenset(self.ended[:ended])


class _Orders:
    """What has run before a line of a module, in the tree as it is and as it will be."""

    def __init__(self, before: ImportGraph, after: ImportGraph, overlay: Mapping[str, bytes]) -> None:
        self.before = before
        self.after = after
        self.overlay = overlay
        self._order = lru_cache(4)(self._simulated)  # two graphs, the package and the file at hand

    def gone(self, entry: str, name: str, namespaces: Namespaces) -> dict[str, set[Wanted]]:
        """Modules that had run before a module looked something up in `import entry`, and will not have; with what it asks."""
        module = namespaces.locate(name)
        if module is None or not module.path or not self._may_lack(entry, module):
            return {}
        found: dict[str, set[Wanted]] = {}
        places = asked_of(module, namespaces)
        lines = self._lines_after(module, [one for one, _ in places])
        gone: dict[tuple[int, int], frozenset[str]] = {}
        own = self.before.closure(name)
        for (one, containers), line in zip(places, lines, strict=True):
            # the same imports stand before most of them
            above = (_last(self.before, name, one.node.lineno), _last(self.after, name, line))
            if above not in gone:
                ran = self._ran(self.before, entry, name, one.node.lineno)
                gone[above] = ran - self._ran(self.after, entry, name, line)
            for each in gone[above]:
                # P = ParamSpec("P"); P.args        into what the module makes itself, only its own imports can have put it
                reach = [into for into in containers if into.module != name or each in own]
                found.setdefault(each, set()).update((one.key, into) for into in reach)
        return {each: wanted for each, wanted in found.items() if wanted}

    def _may_lack(self, entry: str, module: Module) -> bool:
        """Whether some line of a module may be come to with fewer modules run than before: cheap, by its imports alone."""
        if module.path in self.overlay:
            return True
        name = module.name
        lines = {0, *(edge.line for edge in self.before.edges(name))}  # after each
        return any(
            self._ran(self.before, entry, name, line) - self._ran(self.after, entry, name, line) for line in lines
        )

    def comes_too_late(self, entry: str, module: Module, lookup: Lookup, source: str, namespaces: Namespaces) -> bool:
        """Whether the registration ran before the lookup in `import entry`, and will not, nor another one under the same name."""
        if source not in self._ran(self.before, entry, module.name, lookup.site.line):
            return False
        places = [one for one, _ in asked_of(module, namespaces)]
        lines = self._lines_after(module, places)
        line = next(new for one, new in zip(places, lines, strict=True) if one.node.lineno == lookup.site.line)
        ran = self._ran(self.after, entry, module.name, line)
        assert lookup.registration.into is not None
        wanted = {(lookup.key, lookup.registration.into)}
        return source not in ran and not any(_kept_by(name, wanted, namespaces) for name in sorted(ran))

    def ends_later(self, entry: str, name: str) -> frozenset[str]:
        """The modules that some line of a module may have relied on in `import entry`, and that may not have run by then now."""
        ran = self._ran(self.before, entry, name, _END - 1)
        return ran - self._ran(self.after, entry, name, 0)

    def above(self, graph: ImportGraph, name: str) -> list[str]:
        """The packages above that are running as the module is imported: those that import it."""
        return [each for each in parents(name) if name in graph.closure(each)]

    def _ran(self, graph: ImportGraph, entry: str, name: str, line: int) -> frozenset[str]:
        """The modules that have run to their end when `import entry` comes to a line of the module."""
        return self._order(graph, entry).before(name, line)

    def _simulated(self, graph: ImportGraph, entry: str) -> _Order:
        started = {entry, *self.above(graph, entry)}
        order = _Order([], {entry: []})
        running = [(entry, iter(graph.edges(entry)))]
        while running:
            at, edges = running[-1]
            edge = next(edges, None)
            order.come_to[at].append((edge.line if edge is not None else _END, len(order.ended)))
            if edge is None:
                order.ended.append(at)
                running.pop()
            elif edge.imported not in started:
                started.add(edge.imported)
                order.come_to[edge.imported] = []
                running.append((edge.imported, iter(graph.edges(edge.imported))))
        return order

    def _lines_after(self, module: Module, places: Sequence[Asked]) -> list[int]:
        """Where these stand in the new text: the same expressions, in their order."""
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
    return max((edge.line for edge in graph.edges(name) if edge.line <= line), default=0)


def _kept_by(name: str, wanted: Collection[Wanted], namespaces: Namespaces) -> list[Registration]:
    """What a module puts into these containers under these names, as it is imported."""
    module = namespaces.locate(name)
    if module is None or not module.path:
        return []
    data = namespaces.bytes_of(module)
    keys = b"|".join(sorted(re.escape(key) for key in {key.encode() for key, _ in wanted} if key in data))
    # @register("key")        def key(): ...        register(key)        core.key = f        but not logger.key()
    if not keys or re.search(rb"(?<![\w.])(?:" + keys + rb")\b|\.(?:" + keys + rb")[ \t]*=(?!=)", data) is None:
        return []
    every = (*registrations(module, namespaces), *stores(module, namespaces))
    return [each for each in every if any((key, each.into) in wanted for key in each.keys)]


def _refusal(
    lookup: Lookup, name: str, source: str, context: Context, loads: Callable[[str], Collection[str]]
) -> Refusal:
    registers = f"{source} registers it ({lookup.registration.site}), and is not imported before that any more"
    reason = f"{lookup.spelled} is looked up as {name} is imported; {registers}"
    return Refusal(
        lookup.site, symbol_of(source, context, loads), reason, f"import {source} there, for what it registers"
    )
