"""Who looks up, as it is imported, what a module has registered by then: and no longer has, once the re-export is gone.

Owns the question which modules do not run any more before the statements of the package, and of those who are edited.
Invariant: it never edits; it asks in the order of imports only where the package and its parents import each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from codemods.engine.discover import runs
from codemods.engine.graph import ImportGraph, parents
from codemods.engine.model import Refusal
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.lookup import Lookup, looked_up, lookups
from codemods.narrow_reexport.forms.registration import Registration, registrations
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.side_effects import SPELLS_REGISTRATION, symbol_of


def missed_lookups(
    registered: Mapping[str, Sequence[Registration]],
    checkout: Checkout,
    namespaces: Namespaces,
    context: Context,
    before: ImportGraph,
    after: ImportGraph,
) -> Iterator[Refusal]:
    """Asked are the modules that `import package` goes on loading, and the edited ones. `registered` is what is known already."""
    # pkg/__init__.py:  from .sequences import SeqPer        it registers EmptySequence with S
    #                   EmptySequence = S.EmptySequence
    package = context.package.name
    # import top        its `__init__` imports top.pkg, which sees of top what has run so far: nothing is counted on
    above = [name for name in parents(package) if package in after.closure(name)]
    runs_before, runs_after = before.closure(package, above), after.closure(package, above)
    kept = _registrations(runs_before - runs_after, registered, namespaces, context)
    if not kept:
        return
    loads = cache(after.closure)
    edited_too = {checkout.layout.module_at(path).name for path, plan in checkout.plans.items() if plan.edits}
    for name in sorted(runs_after | edited_too):
        module = namespaces.locate(name)
        if module is None or not module.path or not runs(module.path):
            continue
        for lookup in lookups(module, namespaces, [each for found in kept.values() for each in found]):
            source = next(each for each, found in kept.items() if lookup.registration in found)
            if name == source or source not in before.closure(name) or (name != package and source in loads(name)):
                continue
            yield _refusal(lookup, name, source, context, loads)


def _registrations(
    gone: Collection[str],
    registered: Mapping[str, Sequence[Registration]],
    namespaces: Namespaces,
    context: Context,
) -> dict[str, list[Registration]]:
    """What modules register that no longer run, as far as they spell a registration, or something that the package looks up."""
    keys = looked_up(context.package, namespaces)
    spells = re.compile(
        rb"\b(?:" + b"|".join(re.escape(key.encode()) for key in sorted(keys)) + rb")\b" if keys else rb"(?!)"
    )
    found: dict[str, list[Registration]] = {}
    for name in sorted(gone):
        module = namespaces.locate(name)
        if module is None or not module.path:
            continue
        if name in registered:
            every = registered[name]
        else:
            data = namespaces.bytes_of(module)
            every = registrations(module, namespaces) if spells.search(data) or SPELLS_REGISTRATION.search(data) else ()
        kept = [each for each in every if each.into is not None]
        if kept:
            found[name] = kept
    return found


def _refusal(
    lookup: Lookup, name: str, source: str, context: Context, loads: Callable[[str], Collection[str]]
) -> Refusal:
    registers = f"{source} registers it ({lookup.registration.site}), and is not imported before that any more"
    reason = f"{lookup.spelled} is looked up as {name} is imported; {registers}"
    return Refusal(
        lookup.site, symbol_of(source, context, loads), reason, f"import {source} there, for what it registers"
    )
