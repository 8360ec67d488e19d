"""From the plans of all files to one outcome: everything verified, or the reasons why nothing is written.

Owns the assembly of changes in the order in which they are written, the rows of `narrowed.toml`, and the verification.
Invariant: it returns changes only if no site refused and every check of the result held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from codemods.engine.bans import FILE_NAME, Ban, load_bans, with_bans
from codemods.engine.discover import is_code
from codemods.engine.edits import edited
from codemods.engine.graph import ImportGraph
from codemods.engine.model import Failure, FileChange, Mention, Module, Refusal, Site, Warned
from codemods.engine.namespace import Namespaces
from codemods.engine.project import Tree
from codemods.engine.source import decode
from codemods.engine.verify import check_outside, check_parses
from codemods.narrow_reexport.context import Context, FilePlan, Planner
from codemods.narrow_reexport.early_names import other_modules, taken_early
from codemods.narrow_reexport.forms.document import plan_document
from codemods.narrow_reexport.forms.init_uses import ASKED, InitPlan
from codemods.narrow_reexport.forms.shim import plan_shim, with_shim
from codemods.narrow_reexport.forms.shim_table import Moved
from codemods.narrow_reexport.forms.unread_star import unread_stars
from codemods.narrow_reexport.forms.verdicts import accepts
from codemods.narrow_reexport.laid_bare import laid_bare
from codemods.narrow_reexport.missed import missed_lookups
from codemods.narrow_reexport.parts import Ground, ground
from codemods.narrow_reexport.plan import plan_file
from codemods.narrow_reexport.request import Checkout, Request, Result, StillLoaded, accepted_sites
from codemods.narrow_reexport.second_pass import plan_twice, verifying
from codemods.narrow_reexport.side_effects import side_effects
from codemods.narrow_reexport.stubs import mirrored, plan_mirrored, plan_stub
from codemods.narrow_reexport.tables_elsewhere import tables_elsewhere

_STRICT_HINT = "remove the doubt there (read the symbol from its origin), accept the site, or run without --strict"
_PARALLEL_FROM = 600_000  # bytes that survive the scan; below, starting workers costs more than they save


def assemble(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    checkouts: Sequence[Checkout],
    context: Context,
    init: InitPlan,
    before: ImportGraph,
    lost: frozenset[str],
) -> Result:
    main = checkouts[0]
    refusals: list[Refusal] = list(dict.fromkeys(init.refusals))  # its own uses cannot be taken on: the name is gone
    warnings: list[Warned] = list(init.warnings)
    mentions: list[Mention] = []
    accepted: list[Refusal] = []
    notes: list[str] = []
    changes: list[tuple[Path, tuple[FileChange, ...]]] = []
    failures: list[Failure] = []
    for checkout in checkouts:
        assert checkout.scan is not None
        own: list[FileChange] = []
        with request.clock.stage("plan"):
            plan_documents(checkout, context)
        for plan in checkout.plans.values():
            refusals += plan.refusals
            warnings += plan.warnings
            mentions += plan.mentions
            accepted += plan.accepted
            notes += plan.notes
            change = _changed(plan, checkout.sources[plan.path])
            if isinstance(change, Failure):
                failures.append(change)
            elif change is not None:
                own.append(change)
        changes.append((checkout.root, tuple(sorted(own, key=lambda change: change.path))))
    shim: tuple[Moved, ...] = ()
    own_syntax = namespaces.syntax(package)
    if request.options.shim and own_syntax is not None:
        bans = load_bans(main.tree.read(FILE_NAME)) if main.tree.has(FILE_NAME) else ()
        recorded = frozenset(ban.symbol for ban in bans if not ban.lazy)
        removal = request.options.shim_removal
        shim, shim_refusals, shim_warnings = plan_shim(own_syntax, context.resolutions, removal, recorded)
        refusals += shim_refusals
        # the shim answers before the package's own __getattr__
        warnings = [*(each for each in warnings if each.reason != ASKED or not shim), *shim_warnings]
    inits, stub = _init_changes(request, package, namespaces, main, context, init, shim, failures)
    refusals += _unaccepted(stub.refusals, request)
    warnings += stub.warnings
    overlay = {change.path: change.after for change in (*changes[0][1], *inits)}
    after = before.edited(overlay)
    with request.clock.stage("side effects"):
        effects = side_effects(
            namespaces,
            checkouts,
            context,
            lost,
            after,
            overlay.get(package.path, b""),
            accept=request.options.accept_side_effects,
        )
        if not request.options.callers_only:
            missed = missed_lookups(effects.registered, main, context, before, after, overlay)
            refusals += _unaccepted(missed, request)
    refusals += effects.refusals
    warnings += effects.warnings
    accepted += effects.accepted
    others = [*taken_early(context, before, after), *other_modules(context, after, lost)]
    if not request.options.callers_only:
        others += unread_stars(package, namespaces, context.resolutions)
        with request.clock.stage("plan"):
            others += tables_elsewhere(checkouts, namespaces, context)
    refusals += _unaccepted(others, request)
    if request.options.strict:
        doubts = [Refusal(each.site, each.symbol, each.reason, _STRICT_HINT) for each in dict.fromkeys(warnings)]
        refusals += _unaccepted(doubts, request)
    result = Result(
        request.package,
        context.resolutions,
        refusals=tuple(dict.fromkeys(sorted(refusals))),
        warnings=tuple(dict.fromkeys(sorted(warnings))),
        mentions=tuple(dict.fromkeys(sorted(mentions))),
        accepted=tuple(sorted(accepted)),
        dropped=tuple(sorted(init.dropped.items())),
        notes=tuple(notes),
    )
    if result.refusals or failures:
        return replace(result, failures=tuple(failures))
    with request.clock.stage("cycles"):
        cycles = laid_bare(main, context, lost, before, after, overlay)
    if cycles:
        return replace(result, refusals=cycles)
    with request.clock.stage("verify"):
        failures += _verify(changes, inits, context, checkouts, request.planner)
    rows = _rows(request, context, init)
    complete = []
    for number, (root, own_changes) in enumerate(changes):
        finished = [*own_changes]
        row = ban_change(checkouts[number].tree, rows) if number == 0 or own_changes else None
        finished += [row] if row is not None else []
        finished += inits if number == 0 else []
        complete.append((root, tuple(finished)))
    with request.clock.stage("parts"):
        grounds = _grounds(changes[0][1], main, context, before, namespaces) if request.wants_parts else ()
    return replace(
        result,
        changes=tuple(complete),
        still=_still(package, context, after),
        failures=tuple(failures),
        inits=tuple(change.path for change in inits),
        grounds=grounds,
    )


def _grounds(
    changes: Sequence[FileChange], main: Checkout, context: Context, before: ImportGraph, namespaces: Namespaces
) -> tuple[Ground, ...]:
    near = before.closure(context.package.name).union(*(before.closure(r.origin.module) for r in context.resolutions))
    init = namespaces.bytes_of(context.package)
    return (ground(changes, list(main.plans.values()), context, frozenset(near), init),)


def plan_documents(checkout: Checkout, context: Context) -> None:
    """Plan the files that are not Python; a `setup.py` is planned as both."""
    own = replace(context, layout=checkout.layout)
    for survivor in checkout.scan.others if checkout.scan is not None else ():
        plan = plan_document(survivor.path, survivor.data, own, plan_file)
        code = checkout.plans.get(survivor.path)
        if code is not None and not code.unparsed:
            source = decode(survivor.data, survivor.path)
            known = {mention.site.line for mention in plan.mentions} | {source.line_of(e.start) for e in plan.edits}
            others = tuple(mention for mention in code.mentions if mention.site.line not in known)
            plan = FilePlan(
                survivor.path,
                tuple(sorted({*code.edits, *plan.edits})),
                code.sites + plan.sites,
                code.refusals + plan.refusals,
                code.warnings + plan.warnings,
                others + plan.mentions,
                code.accepted + plan.accepted,
                code.reached,
                code.unused,
                notes=code.notes + plan.notes,
            )
        checkout.plans[survivor.path] = plan
        checkout.sources[survivor.path] = survivor.data


def _changed(plan: FilePlan, data: bytes) -> FileChange | Failure | None:
    if not plan.edits or plan.refusals:
        return None
    after = edited(decode(data, plan.path), plan.edits)
    if isinstance(after, Failure):
        return after
    return FileChange(plan.path, data, after, plan.sites) if after != data else None


def _init_changes(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    main: Checkout,
    context: Context,
    init: InitPlan,
    shim: tuple[Moved, ...],
    failures: list[Failure],
) -> tuple[list[FileChange], InitPlan]:
    """The changes of the `__init__` and of the stub beside it, and the stub's plan."""
    stub_plan = InitPlan()
    found: list[tuple[Module, InitPlan]] = []
    stub = Module(package.name, f"{package.path}i", True)
    if (request.root / stub.path).is_file():
        # `__init__.pyi` beside it: the same narrowing
        syntax = namespaces.syntax(stub)
        data = main.tree.read(stub.path)
        if syntax is not None:
            stub_plan = plan_stub(stub, syntax, namespaces, context, callers_only=request.options.callers_only)
            found.append((stub, stub_plan))
        elif any(resolution.symbol.name.encode() in data for resolution in context.resolutions):
            reason = "the stub of the __init__ does not parse"
            symbol = str(context.resolutions[0].symbol)
            stub_plan.refusals.append(Refusal(Site(stub.path, 1, 0, ""), symbol, reason, "mend it first"))
    for path in mirrored(main.tree.paths, main.layout, package):
        # pkg-stubs/__init__.pyi        a stub elsewhere
        options = {"callers_only": request.options.callers_only}
        elsewhere, plan = plan_mirrored(path, main.tree.read(path), package, namespaces, context, **options)
        stub_plan.warnings += plan.warnings
        if plan.edits:
            found.append((elsewhere, plan))
    found.append((package, init))
    changes: list[FileChange] = []
    for module, plan in found:
        syntax = namespaces.syntax(module)
        assert syntax is not None
        data = namespaces.bytes_of(module)
        after = edited(syntax.source, plan.edits) if not plan.refusals else data
        if shim and module == package and not isinstance(after, Failure) and not plan.refusals:
            after = with_shim(after, module.path, shim, context.width)
        if isinstance(after, Failure):
            failures.append(after)
        elif after != data:
            changes.append(FileChange(module.path, data, after, len(context.resolutions)))
    return changes, stub_plan


def _unaccepted(refusals: Iterable[Refusal], request: Request) -> tuple[Refusal, ...]:
    marked = accepted_sites(request)
    return tuple(
        dict.fromkeys(r for r in refusals if (r.site.path, r.site.line) not in marked and not accepts(r.site.text))
    )


def _verify(
    changes: Sequence[tuple[Path, tuple[FileChange, ...]]],
    inits: Sequence[FileChange],
    context: Context,
    checkouts: Sequence[Checkout],
    planner: Planner | None,
) -> list[Failure]:
    failures: list[Failure] = []
    for (_, own), checkout in zip(changes, checkouts, strict=True):
        after = {change.path: change.after for change in own}
        unsettled = {path: data for path, data in after.items() if not checkout.plans[path].settled}
        second = _second_context(context, checkout)
        code = {path: data for path, data in unsettled.items() if is_code(path)}
        plans = plan_files(code, second, None, planner)
        second = replace(second, layout=context.layout)
        plans |= {
            path: plan_document(path, data, second, plan_file) for path, data in unsettled.items() if path not in code
        }
        for change in own:
            failures += check_outside(change, checkout.plans[change.path].edits)
            if change.path not in unsettled:
                continue
            plan = plans[change.path]
            if plan.unparsed:
                failures.append(Failure("parses", change.path, "the new text does not parse"))
            if plan.edits:
                edit = plan.edits[0]
                failures.append(
                    Failure(
                        "second pass",
                        change.path,
                        f"a second pass would still change it near offset {edit.start}: {edit.text[:80]!r}",
                    )
                )
    for change in inits:
        failures += check_parses(change)
    return failures


def _rows(request: Request, context: Context, init: InitPlan) -> list[Ban]:
    if not request.options.ban or request.options.callers_only:
        return []
    sure = [found for found in context.resolutions if found.symbol.name not in init.kept and not found.guessed]
    return [Ban(found.symbol, found.origin) for found in sure]


def ban_change(tree: Tree, rows: Sequence[Ban]) -> FileChange | None:
    data = tree.read(FILE_NAME) if tree.has(FILE_NAME) else b""
    old = {ban.symbol: ban for ban in load_bans(data)} if data else {}
    merged = [replace(old[row.symbol], origin=row.origin) if row.symbol in old else row for row in rows]
    # "outer:sym" = { origin = "pkg:sym" }, and pkg:sym is narrowed now: the row follows
    moved = {row.symbol: row.origin for row in merged}
    named = {row.symbol for row in merged}
    merged += [
        replace(ban, origin=moved[ban.origin])
        for ban in old.values()
        if ban.origin in moved and ban.symbol not in named
    ]
    after = with_bans(data, merged) if merged else data
    return FileChange(FILE_NAME, data, after) if after != data else None


def _still(package: Module, context: Context, after: ImportGraph) -> tuple[StillLoaded, ...]:
    found: dict[str, StillLoaded] = {}
    for resolution in context.resolutions:
        origin = resolution.loads
        if origin == package.name or origin in found:
            continue
        chain = after.chain(package.name, origin)
        if chain:
            found[origin] = StillLoaded(resolution.symbol, origin, chain)
    return tuple(found.values())


def verify_share(checkout: Checkout, context: Context, planner: Planner | None) -> None:
    """The second pass over a share of the files, whose changes another machine is going to verify."""
    unsettled = [(path, plan) for path, plan in checkout.plans.items() if not plan.settled]
    changes = [_changed(plan, checkout.sources[path]) for path, plan in unsettled]
    after = {change.path: change.after for change in changes if isinstance(change, FileChange)}
    plan_files(after, _second_context(context, checkout), None, planner)


def _second_context(context: Context, checkout: Checkout) -> Context:
    return replace(verifying(context), layout=checkout.layout, spared=frozenset())


def plan_files(
    sources: dict[str, bytes],
    context: Context,
    progress: Callable[[str, int, int], None] | None,
    planner: Planner | None = None,
    executor: Executor | None = None,
) -> dict[str, FilePlan]:
    """The plans of many files: by the planner, on the executor, else on this machine, on all cores where that pays."""
    jobs = list(sources.items())
    plan_one = plan_file if context.verifying else plan_twice
    if planner is None and executor is None and sum(map(len, sources.values())) < _PARALLEL_FROM:
        return {path: plan_one(path, data, context) for path, data in jobs}
    from codemods.engine.parallel import each

    found = planner(jobs, context) if planner is not None else each(plan_one, jobs, context, executor)
    plans: dict[str, FilePlan] = {}
    for number, plan in enumerate(found):
        plans[plan.path] = plan
        if progress is not None:
            progress("planning", number + 1, len(jobs))
    return plans
