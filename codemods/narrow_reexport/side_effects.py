"""What the lost modules did for others as they were imported: registrations, patches of other modules, settings.

Owns the question which of the modules that the package no longer loads nothing else loads either, and the verdicts on
what their import did.
Invariant: it never edits; a side effect that is known to be lost is refused or taken on, never passed over.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codemods.engine.discover import runs
from codemods.engine.edits import edited
from codemods.engine.graph import ImportGraph, parents
from codemods.engine.model import Failure, Module, Refusal, Site, Warned, When
from codemods.engine.namespace import Namespaces, absolute
from codemods.engine.source import NotPython, Source, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.foreign_state import state_changes
from codemods.narrow_reexport.forms.registration import Registration, registrations
from codemods.narrow_reexport.forms.verdicts import accepts
from codemods.narrow_reexport.request import Checkout

_SPELLS = re.compile(rb"^(?:@[\w.]*(?i:regist)|[\w.]*(?i:regist)\w*\()", re.M)
_FINDS_ALL = re.compile(rb"\b(?:iter_modules|walk_packages|glob|listdir|iterdir|scandir|autodiscover_modules)\(")


@dataclass(slots=True)
class SideEffects:
    """The verdicts, what was taken on, and the registrations of the lost modules that were looked at."""

    refusals: list[Refusal]
    warnings: list[Warned]
    accepted: list[Refusal]
    registered: dict[str, tuple[Registration, ...]]


@dataclass(frozen=True, slots=True)
class _Effect:
    site: Site
    said: str
    certain: bool
    registration: Registration | None = None


def side_effects(
    namespaces: Namespaces,
    checkouts: Sequence[Checkout],
    context: Context,
    lost: frozenset[str],
    after: ImportGraph,
    init: bytes,
    *,
    accept: bool,
) -> SideEffects:
    """Judge the import-time effects of all modules in `lost`, which `import package` no longer loads.

    `init` is the package's `__init__` as it will be: an import that moved into one of its functions still loads the origin.
    """
    plan = SideEffects([], [], [], {})
    if not lost or context.verifying:
        return plan
    origins = {found.loads for found in context.resolutions} & lost
    imported = _Imported({})
    importers = _importers(lost, after)
    loads = cache(after.closure)
    # what the call sites load by their new imports
    reached = _closures(after, [name for name in origins if _is_imported(name, checkouts, namespaces, imported)], lost)
    for name in sorted(lost):
        module = namespaces.locate(name)
        if module is None or not module.path:
            continue
        known = name in reached
        if known and name not in origins and not _SPELLS.search(namespaces.bytes_of(module)):
            continue
        effects = [*_effects(module, namespaces)]
        plan.registered[name] = tuple(each.registration for each in effects if each.registration is not None)
        if not effects:
            continue
        if not known and _is_loaded(_loaders(name, importers), lost, checkouts, context, init, imported):
            known = True
        symbol = symbol_of(name, context, loads)
        if known and name not in origins:
            # call sites that load the origin still run it; those that only import the package do not
            certain = [each for each in effects if each.certain and not _is_taken_on(each.site, context)]
            reason = f"; import {context.package.name} alone no longer runs it"
            plan.warnings += [Warned(each.site, symbol, each.said + reason) for each in certain[:1]]
            continue
        for each in effects:
            if each.certain and not known:
                reason = f"{each.said} as the module is imported, and nothing imports it any more"
                hint = "import the module where its effect is needed, or accept it (--accept-side-effects)"
                taken_on = accept or _is_taken_on(each.site, context)
                (plan.accepted if taken_on else plan.refusals).append(Refusal(each.site, symbol, reason, hint))
            elif not _is_taken_on(each.site, context):
                said = each.said if each.certain else each.said.replace(" registers ", " may register ")
                reason = f"{said}; import {context.package.name} no longer runs it"
                plan.warnings.append(Warned(each.site, symbol, reason))
    return plan


def _effects(module: Module, namespaces: Namespaces) -> Iterator[_Effect]:
    states = {each.site.line: each for each in state_changes(module, namespaces)}
    for registered in registrations(module, namespaces):
        state = states.get(registered.site.line)
        if registered.stores or state is None or not state.certain:
            said = f"{registered.callee}() registers an object"
            yield _Effect(registered.site, said, bool(registered.stores), registered)
            states.pop(registered.site.line, None)
    for state in states.values():
        yield _Effect(state.site, f"{module.name} {state.said}", state.certain)


def _is_taken_on(site: Site, context: Context) -> bool:
    return (site.path, site.line) in context.accepted or accepts(site.text)


def symbol_of(name: str, context: Context, loads: Callable[[str], Collection[str]]) -> str:
    """The symbol whose origin is the module, or loaded it."""
    for found in context.resolutions:
        if found.loads == name:
            return str(found.symbol)
    for found in context.resolutions:
        if name in loads(found.loads):
            return str(found.symbol)
    return str(context.resolutions[0].symbol)


def _closures(graph: ImportGraph, names: Sequence[str], within: frozenset[str]) -> set[str]:
    """The modules of `within` that imports of `names` load."""
    seen = set(names)
    todo = list(names)
    while todo:
        for edge in graph.edges(todo.pop()):
            if edge.imported in within and edge.imported not in seen:
                seen.add(edge.imported)
                todo.append(edge.imported)
    return seen


def _is_imported(name: str, checkouts: Sequence[Checkout], namespaces: Namespaces, imported: _Imported) -> bool:
    """Whether a new import of the module stands in some file that runs; looked for where an edit spells it."""
    module = namespaces.locate(name)
    leaf = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
    for checkout in checkouts:
        for path, plan in checkout.plans.items():
            if not runs(path) or (module is not None and path == module.path):
                continue
            # import other.sub        is none of pkg.sub
            if any(leaf.search(edit.text) for edit in plan.edits):
                if imported.reaches(checkout, path, frozenset({name})):
                    return True
    return False


def _is_loaded(
    above: frozenset[str],
    lost: frozenset[str],
    checkouts: Sequence[Checkout],
    context: Context,
    init: bytes,
    imported: _Imported,
) -> bool:
    """Whether some file outside of `lost` imports one of these modules after the run."""
    leaves = b"|".join(sorted({re.escape(each.rpartition(".")[2].encode()) for each in above}))
    line = re.compile(
        rb"^[ \t]*(?:from|import)\b[^\n]*\b(?:" + leaves + rb")\b|\bimport[ \t]*\([^)]*\b(?:" + leaves + rb")\b", re.M
    )
    text = re.compile(b"[\"'](?:" + b"|".join(re.escape(each.encode()) for each in sorted(above)) + b")[\"':.]")
    any_leaf = re.compile(leaves)
    for checkout in checkouts:
        for path in checkout.tree.paths:
            if not runs(path):
                continue
            data = checkout.tree.read(path)
            plan = checkout.plans.get(path)
            edits = plan.edits if plan is not None else ()
            if not any_leaf.search(data) and not any(any_leaf.search(edit.text.encode()) for edit in edits):
                if not (path.endswith("__init__.py") and _FINDS_ALL.search(data)):
                    continue
            own = checkout.layout.module_at(path).name
            if own in lost:
                continue
            # importlib.import_module("pkg.sub")       for m in pkgutil.iter_modules(__path__): ...
            if text.search(data) or (
                path.endswith("__init__.py")
                and any(each.startswith(f"{own}.") for each in above)
                and _FINDS_ALL.search(data)
            ):
                return True
            spelled = line.search(data) or any(any_leaf.search(edit.text.encode()) for edit in edits)
            if spelled and imported.reaches(checkout, path, above, init if path == context.package.path else None):
                return True
    return False


def _importers(lost: frozenset[str], graph: ImportGraph) -> dict[str, list[str]]:
    """The lost modules that import a module, for each."""
    found: dict[str, list[str]] = {}
    for each in lost:
        for edge in graph.edges(each):
            found.setdefault(edge.imported, []).append(each)
    return found


def _loaders(name: str, importers: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The module, and the lost modules whose import loads it."""
    seen, todo = {name}, [name]
    while todo:
        for each in importers.get(todo.pop(), ()):
            if each not in seen:
                seen.add(each)
                todo.append(each)
    return frozenset(seen)


def _after(checkout: Checkout, path: str, finished: bytes | None) -> Source | None:
    plan = checkout.plans.get(path) if finished is None else None
    data = checkout.tree.read(path) if finished is None else finished
    try:
        source = decode(data, path)
        after = edited(source, plan.edits) if plan is not None and plan.edits else data
        return decode(after, path) if not isinstance(after, Failure) else source
    except NotPython:
        return None


@dataclass(frozen=True, slots=True)
class _Imported:
    """What files import at run time, at module level or later, as they will be; each is parsed once."""

    known: dict[tuple[Path, str], frozenset[str]]

    def reaches(self, checkout: Checkout, path: str, wanted: frozenset[str], finished: bytes | None = None) -> bool:
        """Whether the file imports one of the modules, or something below it."""
        key = checkout.root, path
        if key not in self.known:
            self.known[key] = _imports(checkout, path, finished)
        return any(each in wanted or any(above in wanted for above in parents(each)) for each in self.known[key])


def _imports(checkout: Checkout, path: str, finished: bytes | None) -> frozenset[str]:
    source = _after(checkout, path, finished)
    try:
        syntax = analyse(source, parse(source), expressions=False) if source is not None else None
    except NotPython:
        syntax = None
    module = checkout.layout.module_at(path)
    found: set[str] = set()
    for statement, block in syntax.imports if syntax is not None else ():
        if block.when is When.TYPING:
            continue
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        else:
            base = absolute(module, statement)
            found |= {base, *(f"{base}.{alias.name}" for alias in statement.names)}
    return frozenset(found)
