"""What has to be known of the whole tree before a file is planned: one `Context` for all of its files.

Owns the scan, the modules that `import package` no longer loads, and whom the patches of the tree reach.
Invariant: it decides nothing about a call site, and never writes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from codemods.engine.config import line_width
from codemods.engine.edits import edited
from codemods.engine.graph import ImportGraph
from codemods.engine.model import Failure, Module, Symbol
from codemods.engine.namespace import Namespaces, all_values, module_statements
from codemods.narrow_reexport.context import Context, Resolutions
from codemods.narrow_reexport.coverage import with_coverage
from codemods.narrow_reexport.early_names import run_before
from codemods.narrow_reexport.forms.init_uses import InitPlan
from codemods.narrow_reexport.forms.package_init import plan_init
from codemods.narrow_reexport.late_readers import Surveyed
from codemods.narrow_reexport.lost import Reliance, foreign_orphans, handed_on, origins_of, spared, taken_by_stars
from codemods.narrow_reexport.request import Checkout, Request, accepted_sites
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.scan import Scan, scan
from codemods.narrow_reexport.session import Session
from codemods.narrow_reexport.star_modules import StarModules


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the planning of any file needs, found out from the whole tree; `checkouts` are scanned."""

    context: Context
    in_tree: frozenset[str]  # modules of the tree that `import package` no longer loads
    orphans: frozenset[str]
    before: ImportGraph
    after: ImportGraph
    star_modules: StarModules
    reliances: Mapping[Path, Reliance]  # by the root of a checkout

    def context_of(self, checkout: Checkout) -> Context:
        """The context for the files of one checkout, as if each relied on the package for what it no longer loads."""
        return replace(self.context, layout=checkout.layout)

    def sparing(self, checkout: Checkout, paths: Iterable[str]) -> Context:
        """The same, with what some files do not get by importing the package: their imports are followed for that."""
        assert checkout.scan is not None
        losing = {path: checkout.tree.read(path) for path in paths if path in checkout.scan.losing}
        free = spared(self.context.package, self.reliances[checkout.root], losing, self.orphans)
        return replace(self.context_of(checkout), spared=free)


def prepare(
    request: Request,
    session: Session,
    package: Module,
    namespaces: Namespaces,
    before: ImportGraph,
    checkouts: Sequence[Checkout],
    resolutions: tuple[Resolution, ...],
    *,
    covers: bool = True,
) -> Prepared:
    """Everything that has to be known of the tree before a file is planned.

    Without `covers` it is not asked whom the patches of the tree reach, which costs most where names are common.
    """
    main = checkouts[0]
    width = line_width(request.root)
    callers_only = request.options.callers_only
    stars = StarModules(package, namespaces, before)
    first = init_plan(
        package, namespaces, resolutions, origins_of(package, resolutions), frozenset(), width, callers_only, stars
    )
    lost = frozenset[str]()
    after = before
    if not callers_only:
        after = before.edited(_init_bytes(package, namespaces, first))
        lost = before.closure(package.name) - after.closure(package.name)
    in_tree = frozenset(name for name in lost if main.layout.locate(name) is not None)
    # a submodule that its own package imports is there whenever the package is
    loads = {parent: after.closure(parent) for parent in {name.rpartition(".")[0] for name in in_tree} if parent}
    foreign = foreign_orphans(lost - in_tree)
    orphans = foreign | frozenset(name for name in in_tree if name not in loads.get(name.rpartition(".")[0], {name}))
    taken = taken_by_stars(orphans, namespaces)
    progress = request.progress
    words = {package.name.rpartition(".")[2], *(found.symbol.name for found in resolutions)}
    words |= {name.rpartition(".")[2] for name in orphans}
    spelling = partial(session.candidates, f"{package.path.rpartition('/')[0]}/")
    reliances = {
        checkout.root: Reliance(checkout.layout, before, after, own_tree=checkout is main) for checkout in checkouts
    }
    for checkout in checkouts:
        with request.clock.stage("scan"):
            checkout.scan = scan(
                spelling(words) if checkout is main else checkout.tree.paths,
                checkout.tree.read,
                checkout.layout,
                resolutions,
                orphans,
                star_takes=taken,
                relied_on=reliances[checkout.root].lost_by,
                wants_names=any(found.stars for found in resolutions)
                or _has_aliases(package, namespaces, resolutions)
                or _has_stars(package, namespaces),
                spelling=spelling if checkout is main else None,
                renamed=session.renamed if checkout is main else dict,
                progress=(lambda done, total: progress("scanning", done, total)) if progress else None,
            )
    context = _context(request, package, namespaces, before, resolutions, orphans, checkouts, width)
    context = replace(context, unbound=_unbound(package, before, resolutions))
    if orphans:
        handed = {
            pair
            for each in checkouts
            for pair in handed_on(package, each.layout, before, _losing(each), orphans).items()
        }
        context = replace(context, carriers=(*context.carriers, *sorted(handed - {*context.carriers})))
    if covers:
        surveyed = Surveyed(checkouts, namespaces, before, lost, spelling)
        with request.clock.stage("coverage"):
            context = with_coverage(context, surveyed, callers_only=callers_only)
    return Prepared(replace(context, star_takes=taken), in_tree, orphans, before, after, stars, reliances)


def _losing(checkout: Checkout) -> dict[str, bytes]:
    assert checkout.scan is not None
    return {survivor.path: survivor.data for survivor in checkout.scan.python if survivor.path in checkout.scan.losing}


def without_paths(resolutions: Iterable[Resolution], scans: Sequence[Scan]) -> Iterator[Resolution]:
    """The same, where `pkg.sub.sym` is no way to a symbol if somebody puts another thing in the place of `pkg.sub`."""
    # patch.object(pkg, "sub", fake)        pkg.sym is what it was; pkg.sub.sym is not, and an import of the module is
    replaced = frozenset().union(*(each.replaced for each in scans))
    for found in resolutions:
        through = any(f"{found.origin.module}.".startswith(f"{module}.") for module in replaced)
        yield replace(found, path_is_module=False) if through and not found.is_submodule else found


def _unbound(package: Module, graph: ImportGraph, resolutions: tuple[Resolution, ...]) -> frozenset[tuple[str, str]]:
    """Who runs before the `__init__` has bound a name that is a submodule's name too."""
    found: set[tuple[str, str]] = set()
    for name, line in (
        (r.symbol.name, r.site.line) for r in resolutions if r.same_name and not r.narrowed and not r.lazy
    ):
        # from .a import a; from .d import d        while a is imported, pkg.d is the module d, or nothing
        found |= {(module, name) for module in run_before(package, graph, line)}
    return frozenset(found)


def _has_aliases(package: Module, namespaces: Namespaces, resolutions: Iterable[Resolution]) -> bool:
    # sym = sub.sym: the import that served it may go, if nobody reads that name
    names = [found.symbol.name for found in resolutions]
    return any(not binding.is_import for name in names for binding in namespaces.bindings(package.name, name))


def _has_stars(package: Module, namespaces: Namespaces) -> bool:
    # a star without `__all__` takes submodules along, and some may no longer be loaded
    syntax = namespaces.syntax(package)
    return syntax is not None and any(s.names[0].name == "*" for s, _ in syntax.imports)


def init_plan(
    package: Module,
    namespaces: Namespaces,
    resolutions: tuple[Resolution, ...],
    lost: frozenset[str],
    read_names: frozenset[str],
    width: int,
    callers_only: bool,
    stars: StarModules,
) -> InitPlan:
    syntax = namespaces.syntax(package)
    assert syntax is not None
    return plan_init(
        package,
        syntax,
        namespaces,
        resolutions,
        lost,
        read_names,
        width,
        callers_only=callers_only,
        star_modules=stars,
    )


def _init_bytes(package: Module, namespaces: Namespaces, plan: InitPlan) -> dict[str, bytes]:
    syntax = namespaces.syntax(package)
    assert syntax is not None
    after = edited(syntax.source, plan.edits)
    return (
        {} if isinstance(after, Failure) else {package.path: after}
    )  # the failure comes again, and is said, at the end


def _context(
    request: Request,
    package: Module,
    namespaces: Namespaces,
    before: ImportGraph,
    resolutions: tuple[Resolution, ...],
    lost: frozenset[str],
    checkouts: Sequence[Checkout],
    width: int,
) -> Context:
    scans = [checkout.scan for checkout in checkouts if checkout.scan is not None]
    risky: set[str] = set()
    for module in {found.origin.module for found in resolutions}:
        risky |= before.closure(module)
    return Context(
        package,
        Resolutions(without_paths(resolutions, scans)),
        checkouts[0].layout,
        hidden_names(package, namespaces),
        lost,
        tuple(pair for each in scans for pair in each.carriers),
        width,
        frozenset().union(*(each.early for each in scans)),
        frozenset(risky),
        frozenset().union(*(each.starred_modules for each in scans)),
        frozenset().union(*(each.star_reads for each in scans)),
        frozenset(),
        accepted_sites(request),
        _all_is_tuple(package, namespaces),
        rewrite_strings=request.options.rewrite_strings,
        old_mock=(3,) < namespaces.floor < (3, 11),
    )


def _all_is_tuple(package: Module, namespaces: Namespaces) -> bool:
    syntax = namespaces.syntax(package)
    assert syntax is not None
    values = [value for statement in module_statements(syntax.tree.body) for value, _ in all_values(statement)]
    return bool(values) and isinstance(values[0], ast.Tuple)


def hidden_names(package: Module, namespaces: Namespaces) -> frozenset[str]:
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
