"""The stages in order: discover, resolve, scan, plan, verify. The command line writes and reports.

Owns the flow of one run, from a request to a `Result` that holds every change as bytes.
Invariant: it never writes; whatever it returns is either complete and verified, or holds the reasons why not.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codemods.engine.bans import FILE_NAME, Ban, load_bans, with_bans
from codemods.engine.config import NarrowOptions, line_width
from codemods.engine.discover import checkout_top, list_files
from codemods.engine.errors import CodemodError, UnknownPackage, UnknownSymbol
from codemods.engine.graph import ImportGraph, risky_entries, unmasked_cycles
from codemods.engine.model import Failure, FileChange, ImportEdge, Mention, Module, Refusal, Site, Symbol, Warned
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.project import Tree
from codemods.engine.source import NotPython, decode
from codemods.engine.verify import check_outside, check_parses
from codemods.narrow_reexport.forms.document import judge_document
from codemods.narrow_reexport.forms.package_init import InitPlan, plan_init
from codemods.narrow_reexport.plan import Context, FilePlan, apply, plan_file
from codemods.narrow_reexport.resolve import Resolution, Resolved, resolve
from codemods.narrow_reexport.scan import Scan, readers_of, scan

_PARALLEL_FROM = 120  # files that survive the scan; below, starting workers costs more than they save


@dataclass(frozen=True, slots=True)
class Request:
    """One run: where, what, and how."""

    root: Path
    package: str
    symbols: tuple[str, ...]
    every: bool = False
    options: NarrowOptions = field(default_factory=NarrowOptions)
    also: tuple[Path, ...] = ()
    progress: Callable[[str, int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class StillLoaded:
    """What `import package` still loads of an origin, and through which chain of imports."""

    symbol: Symbol
    origin: str
    chain: tuple[ImportEdge, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a run, before anything is written."""

    package: str
    resolutions: tuple[Resolution, ...] = ()
    changes: tuple[tuple[Path, tuple[FileChange, ...]], ...] = ()
    refusals: tuple[Refusal, ...] = ()
    errors: tuple[CodemodError, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    warnings: tuple[Warned, ...] = ()
    mentions: tuple[Mention, ...] = ()
    accepted: tuple[Refusal, ...] = ()
    still: tuple[StillLoaded, ...] = ()
    dropped: tuple[tuple[str, tuple[str, ...]], ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    searched: int = 0

    @property
    def files(self) -> int:
        """How many files change, `narrowed.toml` aside."""
        return sum(change.path != FILE_NAME for _, changes in self.changes for change in changes)


@dataclass(slots=True)
class _Checkout:
    """One tree of a run: the one that holds the package, or one given with `--also`."""

    root: Path
    tree: Tree
    layout: Layout
    plans: dict[str, FilePlan] = field(default_factory=dict)
    sources: dict[str, bytes] = field(default_factory=dict)
    scan: Scan | None = None


def run(request: Request) -> Result:
    """Compute everything that one request changes. Raises CodemodError for what cannot be."""
    paths = list_files(request.root, exclude=request.options.exclude)
    paths = _canonical(Tree(request.root, paths), paths)
    tree = Tree(request.root, paths)
    layout = Layout(paths, request.package, request.options.source_root)
    package = layout.locate(request.package)
    if package is None:
        raise UnknownPackage(f"no package {request.package} in this tree")
    namespaces = Namespaces(layout.locate, tree.read)
    bans = load_bans(tree.read(FILE_NAME)) if (request.root / FILE_NAME).is_file() else ()
    known = {ban.symbol.name: ban.origin for ban in bans if ban.symbol.module == request.package}
    resolved = _resolve(package, request, namespaces, known)
    if resolved.errors and not request.options.keep_going:
        raise resolved.errors[0]
    if resolved.refusals and not request.options.keep_going:
        return Result(request.package, resolved.resolutions, refusals=resolved.refusals, skipped=resolved.skipped)
    main = _Checkout(request.root, tree, layout)
    others = [_other(root, request, layout) for root in request.also]
    result = _narrow(request, package, namespaces, main, others, resolved.resolutions)
    refused: list[Refusal] = list(resolved.refusals)
    left = resolved.resolutions
    while request.options.keep_going and result.refusals and left:
        # the refused symbols are left out, the rest is planned again
        refused += result.refusals
        out = {refusal.symbol for refusal in result.refusals}
        every = any(symbol.endswith(":*") for symbol in out)
        left = tuple(found for found in left if not every and str(found.symbol) not in out)
        result = _narrow(request, package, namespaces, main, others, left) if left else Result(request.package)
    if request.options.keep_going:
        result = replace(result, refusals=tuple(refused), errors=resolved.errors)
    outside = checkout_top(request.root)
    notes = list(result.notes)
    if outside is not None and outside.resolve() != request.root.resolve():
        notes.append(
            f"only files below {request.root.name}/ were looked at; the checkout starts higher up, so run there, or name its other folders with --also"
        )
    return replace(
        result, skipped=resolved.skipped, notes=tuple(notes), searched=sum(len(c.tree.paths) for c in (main, *others))
    )


def _resolve(package: Module, request: Request, namespaces: Namespaces, known: dict[str, Symbol]) -> Resolved:
    resolved = resolve(
        package, request.symbols, namespaces, known, every=request.every, to_definition=request.options.to_definition
    )
    errors: list[CodemodError] = []
    found = list(resolved.resolutions)
    for error in resolved.errors:
        # nothing binds it any more and no row says so: it may have been narrowed without one
        name = next((name for name in request.symbols if f"has no name {name}" in error.detail), "")
        origin = _defined_below(package, name, namespaces) if isinstance(error, UnknownSymbol) and name else None
        if origin is not None:
            syntax = namespaces.syntax(package)
            assert syntax is not None
            same = origin.module == f"{package.name}.{name}"
            found.append(
                Resolution(
                    Symbol(package.name, name),
                    origin,
                    syntax.source.site(1),
                    False,
                    same,
                    False,
                    False,
                    False,
                    (),
                    narrowed=True,
                )
            )
        else:
            errors.append(error)
    return replace(resolved, resolutions=tuple(found), errors=tuple(errors))


def _defined_below(package: Module, name: str, namespaces: Namespaces) -> Symbol | None:
    module = namespaces.locate(f"{package.name}.{name}")
    if module is not None and namespaces.bindings(module.name, name):
        return Symbol(module.name, name)
    return None


def _canonical(tree: Tree, paths: Sequence[str]) -> tuple[str, ...]:
    # a symlink's target is edited once, under its own path
    listed = set(paths)
    kept: dict[str, None] = {}
    for path in paths:
        real = tree.canonical(path)
        if real == path:
            kept[path] = None
        elif real is not None and real not in listed:
            kept[real] = None
    return tuple(sorted(kept))


def _other(root: Path, request: Request, layout: Layout) -> _Checkout:
    paths = list_files(root, exclude=request.options.exclude)
    paths = _canonical(Tree(root, paths), paths)
    return _Checkout(root, Tree(root, paths), Layout(paths, request.package, (), base=layout))


def _narrow(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    main: _Checkout,
    others: Sequence[_Checkout],
    resolutions: tuple[Resolution, ...],
) -> Result:
    if not resolutions:
        return Result(request.package)
    width = line_width(request.root)
    before = ImportGraph(main.layout.locate, main.tree.read)
    callers_only = request.options.callers_only
    first = _plan_init(
        package, namespaces, resolutions, _origins(package, resolutions), frozenset(), width, callers_only
    )
    if first.refusals and not request.options.keep_going:
        return Result(request.package, resolutions, refusals=_unaccepted(first.refusals, namespaces, package, request))
    lost = frozenset[str]()
    after = before
    if not callers_only:
        after = before.edited(_init_bytes(package, namespaces, first))
        lost = before.closure(package.name) - after.closure(package.name)
    in_tree = frozenset(name for name in lost if main.layout.locate(name) is not None)
    # a submodule that its own package imports is there whenever the package is
    loads = {parent: after.closure(parent) for parent in {name.rpartition(".")[0] for name in in_tree} if parent}
    foreign = _foreign_orphans(lost - in_tree)
    orphans = foreign | frozenset(name for name in in_tree if name not in loads.get(name.rpartition(".")[0], {name}))
    checkouts = [main, *others]
    progress = request.progress
    for checkout in checkouts:
        checkout.scan = scan(
            checkout.tree.paths,
            checkout.tree.read,
            checkout.layout,
            resolutions,
            orphans,
            wants_names=any(found.stars for found in resolutions),
            progress=(lambda done, total: progress("scanning", done, total)) if progress else None,
        )
    context = _context(request, package, namespaces, before, resolutions, orphans, checkouts, width)
    for checkout in checkouts:
        assert checkout.scan is not None
        checkout.sources = {survivor.path: survivor.data for survivor in checkout.scan.python}
        own = replace(context, layout=checkout.layout, spared=_spared(package, checkout, orphans, before, after))
        checkout.plans = _plan_files(checkout.sources, own, progress)
        _drop_unused(checkout, own)
    read_names = frozenset().union(*(checkout.scan.read_names for checkout in checkouts if checkout.scan is not None))
    init = _plan_init(
        package,
        namespaces,
        resolutions,
        in_tree | _origins(package, resolutions) if not callers_only else frozenset(),
        read_names,
        width,
        callers_only,
    )
    return _assemble(request, package, namespaces, checkouts, context, init, before, in_tree)


def _foreign_orphans(lost: frozenset[str]) -> frozenset[str]:
    """Lost modules outside the tree that their own package does not import: `xml.dom`, but not `os.path`.

    The standard library is read, not imported. Of third-party packages nothing is known: their submodules count.
    """
    dotted = {name for name in lost if "." in name}
    if not dotted:
        return frozenset()
    folder = Path(sysconfig.get_path("stdlib"))

    def locate(name: str) -> Module | None:
        if name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        below = folder.joinpath(*name.split("."))
        if (below / "__init__.py").is_file():
            return Module(name, str(below / "__init__.py"), True)
        return Module(name, f"{below}.py", False) if Path(f"{below}.py").is_file() else None

    library = ImportGraph(locate, lambda path: Path(path).read_bytes())
    kept = set()
    for name in dotted:
        parent = name.rpartition(".")[0]
        if locate(name) is not None and name in library.closure(parent):
            continue
        if name.partition(".")[0] in sys.stdlib_module_names and locate(name) is None:
            continue  # os.path and the like: no file of its own
        kept.add(name)
    return frozenset(kept)


def _origins(package: Module, resolutions: Iterable[Resolution]) -> frozenset[str]:
    """The origins' modules below the package, and the packages between: what the removed imports loaded themselves."""
    found: set[str] = set()
    for resolution in resolutions:
        name = resolution.origin.dotted if resolution.is_submodule else resolution.origin.module
        while name.startswith(f"{package.name}."):
            found.add(name)
            name = name.rpartition(".")[0]
    return frozenset(found)


def _plan_init(
    package: Module,
    namespaces: Namespaces,
    resolutions: tuple[Resolution, ...],
    lost: frozenset[str],
    read_names: frozenset[str],
    width: int,
    callers_only: bool,
) -> InitPlan:
    syntax = namespaces.syntax(package)
    assert syntax is not None
    return plan_init(package, syntax, namespaces, resolutions, lost, read_names, width, callers_only=callers_only)


def _init_bytes(package: Module, namespaces: Namespaces, plan: InitPlan) -> dict[str, bytes]:
    syntax = namespaces.syntax(package)
    assert syntax is not None
    return {package.path: syntax.source.encode(apply(syntax.source.text, plan.edits))}


def _context(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    before: ImportGraph,
    resolutions: tuple[Resolution, ...],
    lost: frozenset[str],
    checkouts: Sequence[_Checkout],
    width: int,
) -> Context:
    scans = [checkout.scan for checkout in checkouts if checkout.scan is not None]
    risky: set[str] = set()
    for module in {found.origin.module for found in resolutions}:
        risky |= before.closure(module)
    return Context(
        package,
        resolutions,
        checkouts[0].layout,
        _hidden(package, namespaces),
        lost,
        tuple(pair for each in scans for pair in each.carriers),
        width,
        frozenset().union(*(each.early for each in scans)),
        frozenset(risky),
        frozenset().union(*(each.starred_modules for each in scans)),
        frozenset().union(*(each.star_reads for each in scans)),
        frozenset(),
        _accepted(request),
    )


def _spared(
    package: Module, checkout: _Checkout, orphans: frozenset[str], before: ImportGraph, after: ImportGraph
) -> frozenset[tuple[str, str]]:
    """Of the files that read a lost submodule of another package, those that do not get it by importing this package."""
    assert checkout.scan is not None
    spared: set[tuple[str, str]] = set()
    foreign = {name for name in orphans if not name.startswith(f"{package.name}.")}
    for path in checkout.scan.losing if foreign else ():
        name = checkout.layout.module_at(path).name
        needs = before.closure(name) - after.closure(name)
        spared |= {(path, module) for module in foreign if module not in needs}
    return frozenset(spared)


def _hidden(package: Module, namespaces: Namespaces) -> frozenset[str]:
    """Names that the package binds to something else than its submodule of that name."""
    syntax = namespaces.syntax(package)
    assert syntax is not None
    found: set[str] = set()
    for name in syntax.module.bindings:
        if namespaces.is_submodule(package.name, name):
            origins = {namespaces.origin(package, binding) for binding in namespaces.bindings(package.name, name)}
            if origins and origins != {Symbol(package.name, name)}:
                found.add(name)
    star = namespaces.star(package.name)
    for name in star.certain if star is not None else ():
        if name not in syntax.module.bindings and namespaces.is_submodule(package.name, name):
            found.add(name)
    return frozenset(found)


def _accepted(request: Request) -> frozenset[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for spelled in request.options.accept:
        path, _, line = spelled.rpartition(":")
        found.add((path.replace("\\", "/").removeprefix("./"), int(line)))
    return frozenset(found)


def _plan_files(
    sources: dict[str, bytes], context: Context, progress: Callable[[str, int, int], None] | None
) -> dict[str, FilePlan]:
    jobs = list(sources.items())
    if len(jobs) < _PARALLEL_FROM:
        return {path: plan_file(path, data, context) for path, data in jobs}
    from codemods.engine.parallel import each

    plans: dict[str, FilePlan] = {}
    for number, plan in enumerate(each(plan_file, jobs, context)):
        plans[plan.path] = plan
        if progress is not None:
            progress("planning", number + 1, len(jobs))
    return plans


def _drop_unused(checkout: _Checkout, context: Context) -> None:
    pairs = {(path, name) for path, plan in checkout.plans.items() for name in plan.unused}
    if not pairs:
        return
    free = pairs - readers_of(pairs, checkout.tree.paths, checkout.tree.read, checkout.layout)
    droppable = replace(context, droppable=frozenset(free))
    for path in {path for path, _ in free}:
        checkout.plans[path] = plan_file(path, checkout.sources[path], droppable)


def _assemble(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    checkouts: Sequence[_Checkout],
    context: Context,
    init: InitPlan,
    before: ImportGraph,
    lost: frozenset[str],
) -> Result:
    main = checkouts[0]
    refusals: list[Refusal] = list(_unaccepted(init.refusals, namespaces, package, request))
    warnings: list[Warned] = list(init.warnings)
    mentions: list[Mention] = []
    accepted: list[Refusal] = []
    changes: list[tuple[Path, tuple[FileChange, ...]]] = []
    failures: list[Failure] = []
    for checkout in checkouts:
        assert checkout.scan is not None
        own: list[FileChange] = []
        for plan in checkout.plans.values():
            refusals += plan.refusals
            warnings += plan.warnings
            mentions += plan.mentions
            accepted += plan.accepted
            change, problem = _changed(plan, checkout.sources[plan.path])
            if problem is not None:
                refusals.append(problem)
            elif change is not None:
                own.append(change)
        for survivor in checkout.scan.others:
            verdict = judge_document(survivor.path, survivor.data, context.resolutions, context.accepted)
            refusals += verdict.refusals
            warnings += verdict.warnings
            mentions += verdict.mentions
        changes.append((checkout.root, tuple(sorted(own, key=lambda change: change.path))))
    inits, stub_refusals = _init_changes(request, package, namespaces, main, context, init)
    refusals += stub_refusals
    if request.options.strict:
        refusals += [
            Refusal(warning.site, warning.symbol, warning.reason, "--strict turns this warning into a refusal")
            for warning in warnings
        ]
    result = Result(
        request.package,
        context.resolutions,
        refusals=tuple(dict.fromkeys(sorted(refusals))),
        warnings=tuple(dict.fromkeys(sorted(warnings))),
        mentions=tuple(dict.fromkeys(sorted(mentions))),
        accepted=tuple(sorted(accepted)),
        dropped=tuple(sorted(init.dropped.items())),
    )
    if result.refusals:
        return result
    overlay = {change.path: change.after for change in (*changes[0][1], *inits)}
    after = before.edited(overlay)
    cycles = _cycles(main, context, lost, before, after, overlay)
    if cycles:
        return replace(result, refusals=cycles)
    failures += _verify(changes, inits, replace(context, lost=frozenset(), verifying=True), checkouts)
    rows = _rows(request, context, init)
    complete = []
    for number, (root, own_changes) in enumerate(changes):
        finished = [*own_changes]
        row = _ban_change(root, rows) if number == 0 or own_changes else None
        finished += [row] if row is not None else []
        finished += inits if number == 0 else []
        complete.append((root, tuple(finished)))
    return replace(
        result, changes=tuple(complete), still=_still(package, context, after, request), failures=tuple(failures)
    )


def _changed(plan: FilePlan, data: bytes) -> tuple[FileChange | None, Refusal | None]:
    if not plan.edits or plan.refusals:
        return None, None
    source = decode(data, plan.path)
    after = source.encode(apply(source.text, plan.edits))
    if after == data:
        return None, None
    return FileChange(plan.path, data, after, plan.sites), None


def _init_changes(
    request: Request, package: Module, namespaces: Namespaces, main: _Checkout, context: Context, init: InitPlan
) -> tuple[list[FileChange], list[Refusal]]:
    changes: list[FileChange] = []
    refusals: list[Refusal] = []
    stub_path = f"{package.path}i"
    if (request.root / stub_path).is_file():
        # `__init__.pyi` beside it: the same narrowing
        stub = Module(package.name, stub_path, True)
        syntax = namespaces.syntax(stub)
        data = main.tree.read(stub_path)
        if syntax is None:
            refusals.append(
                Refusal(
                    Site(stub_path, 1, 0, ""),
                    str(context.resolutions[0].symbol),
                    "the stub of the __init__ does not parse",
                    "mend it first",
                )
            )
        else:
            plan = plan_init(
                stub,
                syntax,
                namespaces,
                context.resolutions,
                frozenset(),
                frozenset(),
                context.width,
                callers_only=request.options.callers_only,
                stub=True,
            )
            refusals += _unaccepted(plan.refusals, namespaces, stub, request)
            after = syntax.source.encode(apply(syntax.source.text, plan.edits))
            if after != data:
                changes.append(FileChange(stub_path, data, after, 1))
    syntax = namespaces.syntax(package)
    assert syntax is not None
    data = namespaces.bytes_of(package)
    after = syntax.source.encode(apply(syntax.source.text, init.edits))
    if after != data:
        changes.append(FileChange(package.path, data, after, len(context.resolutions)))
    return changes, refusals


def _unaccepted(
    refusals: Iterable[Refusal], namespaces: Namespaces, package: Module, request: Request
) -> tuple[Refusal, ...]:
    from codemods.narrow_reexport.forms.reflection import accepts

    marked = _accepted(request)
    return tuple(
        dict.fromkeys(r for r in refusals if (r.site.path, r.site.line) not in marked and not accepts(r.site.text))
    )


def _cycles(
    main: _Checkout,
    context: Context,
    lost: frozenset[str],
    before: ImportGraph,
    after: ImportGraph,
    overlay: dict[str, bytes],
) -> tuple[Refusal, ...]:
    # a file that the package never loads can be on no cycle with what it loads
    near = before.closure(context.package.name)
    changed = {main.layout.module_at(path).name for path in overlay if path.endswith(".py")} & near
    entries = risky_entries(after, sorted(changed | lost | {found.origin.module for found in context.resolutions}))
    refusals: list[Refusal] = []
    for fault in unmasked_cycles(before, after, entries):
        text = _line(overlay.get(fault.path) or main.tree.read(fault.path), fault.path, fault.line)
        refusals.append(
            Refusal(
                Site(fault.path, fault.line, 0, text),
                str(context.resolutions[0].symbol),
                f"a circular import would show: {' -> '.join(fault.cycle)} cannot take {fault.name} from {fault.source} any more",
                "break the cycle first, or make one of its imports local to a function",
            )
        )
    return tuple(refusals)


def _line(data: bytes, path: str, line: int) -> str:
    try:
        source = decode(data, path)
    except NotPython:
        return ""
    return source.site(line).text


def _verify(
    changes: Sequence[tuple[Path, tuple[FileChange, ...]]],
    inits: Sequence[FileChange],
    context: Context,
    checkouts: Sequence[_Checkout],
) -> list[Failure]:
    failures: list[Failure] = []
    for (_, own), checkout in zip(changes, checkouts):
        after = {change.path: change.after for change in own}
        plans = _plan_files(after, replace(context, layout=checkout.layout), None)
        for change in own:
            failures += check_outside(change, checkout.plans[change.path].edits)
            plan = plans[change.path]
            if any(refusal not in checkout.plans[change.path].accepted for refusal in plan.refusals) and any(
                "parse" in refusal.reason for refusal in plan.refusals
            ):
                failures.append(Failure("parses", change.path, plan.refusals[0].reason))
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
    return [Ban(found.symbol, found.origin) for found in context.resolutions if found.symbol.name not in init.kept]


def _ban_change(root: Path, rows: Sequence[Ban]) -> FileChange | None:
    path = root / FILE_NAME
    tree = Tree(root, (FILE_NAME,))
    data = tree.read(FILE_NAME) if path.is_file() else b""
    old = {ban.symbol: ban for ban in load_bans(data)} if data else {}
    merged = [replace(old[row.symbol], origin=row.origin) if row.symbol in old else row for row in rows]
    after = with_bans(data, merged) if merged else data
    return FileChange(FILE_NAME, data, after) if after != data else None


def _still(package: Module, context: Context, after: ImportGraph, request: Request) -> tuple[StillLoaded, ...]:
    found: dict[str, StillLoaded] = {}
    if request.options.callers_only:
        return ()
    for resolution in context.resolutions:
        origin = resolution.origin.dotted if resolution.is_submodule else resolution.origin.module
        if origin == package.name or origin in found:
            continue
        chain = after.chain(package.name, origin)
        if chain:
            found[origin] = StillLoaded(resolution.symbol, origin, chain)
    return tuple(found.values())
