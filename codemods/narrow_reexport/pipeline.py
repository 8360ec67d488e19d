"""The stages in order: discover, resolve, scan, plan, verify. The command line writes and reports.

Owns the flow of one run, from a request to a `Result` that holds every change as bytes.
Invariant: it never writes; whatever it returns is either complete and verified, or holds the reasons why not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from codemods.engine.bans import FILE_NAME, load_bans
from codemods.engine.discover import checkout_top, is_code, submodules
from codemods.engine.errors import CodemodError, UnknownPackage, UnknownSymbol
from codemods.engine.graph import ImportGraph
from codemods.engine.model import Module, Refusal, Site, Symbol, Warned
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.project import Tree
from codemods.engine.source import decode
from codemods.narrow_reexport.byways import readers_of
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.forms.init_uses import InitPlan
from codemods.narrow_reexport.forms.lazy_export import is_closed
from codemods.narrow_reexport.forms.shim_table import shimmed
from codemods.narrow_reexport.outcome import assemble, plan_files, verify_share
from codemods.narrow_reexport.plan import plan_file
from codemods.narrow_reexport.prepare import Prepared, init_plan, prepare
from codemods.narrow_reexport.request import Checkout, Request, Result
from codemods.narrow_reexport.resolve import Resolution, Resolved, resolve
from codemods.narrow_reexport.reuse import Earlier
from codemods.narrow_reexport.session import Session


def run(request: Request, session: Session | None = None) -> Result:
    """Compute everything that one request changes. Raises CodemodError for what cannot be.

    A `session` of the same root lets many requests share what they know of the tree.
    """
    with request.clock.stage("discover"):
        session = session or Session(request.root, request.options.exclude)
        tree = session.tree
        layout, namespaces, graph = session.view(request.package, request.options.source_root)
    package = layout.locate(request.package)
    if package is None:
        raise UnknownPackage(f"no package {request.package} in this tree")
    bans = load_bans(tree.read(FILE_NAME)) if tree.has(FILE_NAME) else ()
    known = {ban.symbol.name: ban.origin for ban in bans if ban.symbol.module == request.package}
    syntax = namespaces.syntax(package)
    known |= shimmed(syntax.source, syntax.tree) if syntax is not None else {}
    with request.clock.stage("resolve"):
        resolved = _resolve(package, request, namespaces, known, tree)
    if resolved.errors and not request.options.keep_going:
        raise resolved.errors[0]
    if resolved.refusals and not request.options.keep_going:
        return Result(request.package, resolved.resolutions, refusals=resolved.refusals, skipped=resolved.skipped)
    main = Checkout(request.root, tree, layout)
    # a folder inside the tree is looked at anyway, but for a checkout of its own, of which git lists no file
    also = [root for root in request.also if not _holds(tree, request.root.resolve(), root)]
    others = [_other(root, request, layout) for root in also]
    narrow = partial(_narrow, request, session, package, namespaces, graph, main, others)
    resolved = _with_guesses(resolved, package, narrow)
    if resolved.errors and not request.options.keep_going:
        raise resolved.errors[0]
    result = narrow(resolved.resolutions)
    refused: list[Refusal] = list(resolved.refusals)
    left = resolved.resolutions
    while request.options.keep_going and result.refusals and left:
        # the refused symbols are left out, the rest is planned again
        refused += result.refusals
        out = {refusal.symbol for refusal in result.refusals}
        every = any(symbol.endswith(":*") for symbol in out)
        fewer = tuple(found for found in left if not every and str(found.symbol) not in out)
        left = fewer if len(fewer) < len(left) else ()  # a refusal that belongs to none of them stands against all
        result = narrow(left) if left else Result(request.package)
    if request.options.keep_going:
        result = replace(result, refusals=tuple(refused), errors=resolved.errors)
    foreign = _links_out(tree, session.leading_out, resolved.resolutions)
    result = replace(result, warnings=tuple(sorted({*result.warnings, *foreign})))
    outside = checkout_top(request.root)
    notes = list(result.notes)
    if outside is not None and outside.resolve() != request.root.resolve():
        notes.append(
            f"only files below {request.root.name}/ were looked at; the checkout starts higher up: "
            "run there, or name its other folders with --also"
        )
    apart = [path for path in submodules(request.root) if (request.root / path).resolve() not in request.also]
    if apart:
        notes.append(f"files of git submodules were not looked at: name them with --also ({', '.join(apart)})")
    return replace(
        result,
        skipped=resolved.skipped,
        notes=tuple(notes),
        searched=sum(len(c.tree.paths) for c in (main, *others)),
        outside=tuple(sorted({r.loads for r in resolved.resolutions if layout.locate(r.loads) is None})),
    )


def _holds(tree: Tree, top: Path, folder: Path) -> bool:
    """Whether the tree has files of a folder."""
    if top == folder:
        return True
    inside = f"{folder.relative_to(top).as_posix()}/" if top in folder.parents else None
    return inside is not None and any(path.startswith(inside) for path in tree.paths)


def _resolve(
    package: Module, request: Request, namespaces: Namespaces, known: dict[str, Symbol], tree: Tree
) -> Resolved:
    resolved = resolve(
        package, request.symbols, namespaces, known, every=request.every, to_definition=request.options.to_definition
    )
    errors: list[CodemodError] = []
    found = list(resolved.resolutions)
    # a star that cannot be read, or a module `__getattr__`, may still export it
    syntax = namespaces.syntax(package)
    assert syntax is not None
    unread = any("cannot be read" in error.detail for error in resolved.errors)
    for error in resolved.errors:
        # nothing binds it any more and no row says so: it may have been narrowed by hand
        name = next((name for name in request.symbols if f"has no name {name}" in error.detail), "")
        origin = (
            _defined_below(package, name, namespaces, tree)
            if isinstance(error, UnknownSymbol) and name and not unread and is_closed(package, syntax, namespaces, name)
            else None
        )
        if origin is not None:
            symbol, same = Symbol(package.name, name), namespaces.is_submodule(package.name, name)
            site, flags = syntax.source.site(1), (False, same, False, False, False, ())
            found.append(Resolution(symbol, origin, site, *flags, narrowed=True, guessed=True))
        else:
            errors.append(error)
    return replace(resolved, resolutions=tuple(found), errors=tuple(errors))


def _with_guesses(resolved: Resolved, package: Module, narrow: Callable[[tuple[Resolution, ...]], Result]) -> Resolved:
    """The same, where a guessed origin is an error unless nobody reads the symbol: then there is nothing to do.

    The definition may be what somebody took the re-export of away by hand, or another thing of that name. Code that does well
    without the symbol, in a `try` of its own or of a caller, or with what is bound at run time, would get it.
    """
    guessed = tuple(found for found in resolved.resolutions if found.guessed)
    tried = narrow(guessed) if guessed else Result(package.name)
    if not (tried.refusals or tried.failures or any(changes for _, changes in tried.changes)):
        return resolved
    errors = []
    for found in guessed:
        row = f'"{found.symbol}" = {{ origin = "{found.origin}" }}'
        detail = f"{package.name} has no name {found.symbol.name}; {found.origin.module} is the one module below it that defines one"
        hint = f"if it came from there, say so in {FILE_NAME} (`version = 1`, `[symbols]`, `{row}`) and run again"
        errors.append(UnknownSymbol(detail, path=package.path, line=1, hint=hint))
    left = tuple(found for found in resolved.resolutions if not found.guessed)
    return replace(resolved, resolutions=left, errors=(*resolved.errors, *errors))


def _defined_below(package: Module, name: str, namespaces: Namespaces, tree: Tree) -> Symbol | None:
    """Where a name that the package no longer binds is defined, if one module below the package defines it."""
    folder = package.path.rpartition("/")[0] + "/"
    spelled = re.compile(
        rb"^(?:(?:async[ \t]+)?def|class)[ \t]+" + name.encode() + rb"\b|^" + name.encode() + rb"[ \t]*[:=]", re.M
    )
    found: list[Symbol] = []
    for path in tree.paths:
        if (
            path.startswith(folder)
            and path.endswith(".py")
            and path != package.path
            and spelled.search(tree.read(path))
        ):
            below = path.removesuffix(".py").removesuffix("/__init__")[len(folder) :].replace("/", ".")
            found.append(Symbol(f"{package.name}.{below}", name))
    near = [symbol for symbol in found if symbol.module.count(".") == package.name.count(".") + 1]
    found = near if len(near) == 1 else found
    return found[0] if len(found) == 1 and namespaces.bindings(found[0].module, name) else None


def _links_out(tree: Tree, links: Sequence[str], resolutions: Sequence[Resolution]) -> list[Warned]:
    """Symlinks to files outside the tree that spell a symbol: they are not edited, and that is said."""
    found = []
    for path in links:
        data = tree.read(path) if is_code(path) else b""
        for resolution in resolutions:
            if resolution.symbol.name.encode() in data:
                reason = "a symlink to a file outside the tree spells the symbol: it was not looked into"
                found.append(Warned(Site(path, 1, 0, ""), str(resolution.symbol), reason))
    return found


def _other(root: Path, request: Request, layout: Layout) -> Checkout:
    tree = Session(root, request.options.exclude).tree
    return Checkout(root, tree, Layout(tree.paths, request.package, (), base=layout))


def _narrow(
    request: Request,
    session: Session,
    package: Module,
    namespaces: Namespaces,
    before: ImportGraph,
    main: Checkout,
    others: Sequence[Checkout],
    resolutions: tuple[Resolution, ...],
) -> Result:
    if not resolutions:
        return Result(request.package)
    checkouts = [main, *others]
    with request.clock.stage("prepare"):
        ready = prepare(request, session, package, namespaces, before, checkouts, resolutions)
    with request.clock.stage("plan"):
        _plan(request, checkouts, ready)
        if request.shared_out:
            return Result(request.package)
        init = _plan_package(request, package, namespaces, checkouts, ready, resolutions)
    return assemble(request, package, namespaces, checkouts, ready.context, init, before, ready.in_tree)


def _plan(request: Request, checkouts: Sequence[Checkout], ready: Prepared) -> None:
    """Plan every Python file that survived the scan."""
    for checkout in checkouts:
        assert checkout.scan is not None
        checkout.sources = {survivor.path: survivor.data for survivor in checkout.scan.python}
        own = ready.context_of(checkout)
        holding = checkout.earlier.still_holding(checkout.sources, own)
        anew = {path: data for path, data in checkout.sources.items() if path not in holding}
        checkout.plans = {**holding, **plan_files(anew, own, request.progress, request.planner)}
        if request.shared_out:
            verify_share(checkout, own, request.planner)
            continue
        # most of them come out as having nothing to do, and then it need not be known whom their imports spare
        asked = [path for path in sorted(checkout.scan.losing) if not _is_idle(checkout.plans.get(path))]
        sparing = ready.sparing(checkout, asked)
        spared = {path: checkout.sources[path] for path in sorted({path for path, _ in sparing.spared})}
        checkout.earlier = Earlier(own, {path: plan for path, plan in checkout.plans.items() if path not in spared})
        if spared:
            checkout.plans |= plan_files(spared, sparing, None)
        drop_unused(checkout, sparing)


def _is_idle(plan: FilePlan | None) -> bool:
    """Whether a file has nothing to do, and nothing to say."""
    return plan is None or plan == FilePlan(plan.path)


def _plan_package(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    checkouts: Sequence[Checkout],
    ready: Prepared,
    resolutions: tuple[Resolution, ...],
) -> InitPlan:
    """Plan the package's `__init__`, by what the other files read."""
    read_names = frozenset().union(*(checkout.scan.read_names for checkout in checkouts if checkout.scan is not None))
    callers_only = request.options.callers_only
    final = frozenset() if callers_only else ready.in_tree
    context = ready.context
    init = init_plan(
        package, namespaces, resolutions, final, read_names, context.width, callers_only, ready.star_modules
    )
    _read_itself(package, namespaces, init, replace(context, lost=frozenset()))
    return init


def _read_itself(package: Module, namespaces: Namespaces, init: InitPlan, context: Context) -> None:
    """Plan the `__init__` as a call site of its own: `def f(): from . import sym`."""
    plan = plan_file(package.path, namespaces.bytes_of(package), context)
    spans = [(edit.start, edit.end) for edit in init.edits]
    for edit in plan.edits:
        if any(edit.start < end and start < edit.end for start, end in spans):
            # from .sub import sym; from pkg import sym as s        the import of itself stands where one goes
            source = decode(namespaces.bytes_of(package), package.path)
            site = source.site(source.line_of(edit.start))
            reason = "the __init__ imports the symbol from itself"
            init.refusals.append(
                Refusal(site, str(context.resolutions[0].symbol), reason, "take that import out first")
            )
    init.edits += plan.edits
    init.refusals += plan.refusals
    init.warnings += plan.warnings


def drop_unused(checkout: Checkout, context: Context) -> None:
    pairs = {(path, name) for path, plan in checkout.plans.items() for name in plan.unused}
    if not pairs:
        return
    free = pairs - readers_of(pairs, checkout.tree.paths, checkout.tree.read, checkout.layout)
    droppable = replace(context, droppable=frozenset(free))
    for path in {path for path, _ in free}:
        checkout.plans[path] = plan_file(path, checkout.sources[path], droppable)
