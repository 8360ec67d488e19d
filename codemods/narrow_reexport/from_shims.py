"""A checkout that uses an installed package follows the shims that the package left for it.

Owns the search for the installed files (an interpreter is asked for its folders, nothing of the package is run), the
reading of all their shims, and the plan over several packages at once.
Invariant: it never imports the package, never writes into a site-packages, and runs no `.pth` line.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.engine.bans import Ban
from codemods.engine.config import line_width
from codemods.engine.discover import is_code, list_files
from codemods.engine.errors import UnknownPackage, Unreadable
from codemods.engine.graph import ImportGraph
from codemods.engine.installed import installed_package
from codemods.engine.model import Failure, FileChange, Module, Refusal, Warned
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.project import EditedTree, Tree
from codemods.engine.source import NotPython, decode, parse
from codemods.narrow_reexport.context import Context, Resolutions
from codemods.narrow_reexport.coverage import with_coverage
from codemods.narrow_reexport.forms.init_uses import InitPlan
from codemods.narrow_reexport.forms.shim_table import MARKER, Shim, read_shim
from codemods.narrow_reexport.late_readers import Surveyed
from codemods.narrow_reexport.outcome import assemble, ban_change, plan_files
from codemods.narrow_reexport.parts import ground
from codemods.narrow_reexport.pipeline import drop_unused
from codemods.narrow_reexport.prepare import hidden_names, without_paths
from codemods.narrow_reexport.request import Checkout, Request, Result, accepted_sites
from codemods.narrow_reexport.resolve import Resolution, resolve
from codemods.narrow_reexport.scan import Scan, scan
from codemods.narrow_reexport.session import Session

_NONE: frozenset[str] = frozenset()
_NOTHING = Scan((), (), (), _NONE, frozenset(), _NONE, _NONE, _NONE, _NONE, _NONE, 0)


def run(request: Request) -> Result:
    """Compute what the shims of an installed package change in a checkout. Raises CodemodError for what cannot be."""
    roots = (request.root, *request.also)
    trees = {root: Session(root, request.options.exclude).tree for root in roots}
    folder = request.package.replace(".", "/")
    for path in (f"{folder}/__init__.py", f"src/{folder}/__init__.py"):
        if path in trees[request.root].paths:
            detail = f"{request.package} is a package of this tree; --from-shims is for checkouts that use it"
            raise UnknownPackage(detail, path=path, line=1, hint=f"narrow it here: {request.package} SYMBOL...")
    site = installed_package(request.package, request.python)
    installed = Tree(site, tuple(f"{folder}/{path}" for path in list_files(site / folder)))
    layout = Layout(installed.paths, request.package)
    base = _Base(site, installed, layout, Namespaces(layout.locate, installed.read))
    shims = _shims(base)
    found = [(package, *_resolutions(package, shim, base)) for package, shim in shims]
    skipped = tuple(row for _, _, rows in found for row in rows)
    work = [_Work(package, resolutions) for package, resolutions, _ in found if resolutions]
    where = f"{site / folder}"
    if not work:
        note = f"no shim in {where}: there is nothing to migrate"
        searched = sum(len(tree.paths) for tree in trees.values())
        return Result(request.package, skipped=skipped, notes=(note,), searched=searched, installed=where)
    result = _all(request, base, work, trees)
    asked = (("from_shims", True), *((("python", request.python),) if request.python else ()))
    return replace(result, skipped=skipped, installed=where, asked=asked)


@dataclass(frozen=True, slots=True)
class _Base:
    """The installed package's files."""

    root: Path
    tree: Tree
    layout: Layout
    namespaces: Namespaces


@dataclass(frozen=True, slots=True)
class _Work:
    """One package with a shim, and what its names are now."""

    package: Module
    resolutions: tuple[Resolution, ...]


# --- the shims ---


def _shims(base: _Base) -> list[tuple[Module, Shim]]:
    found: list[tuple[Module, Shim]] = []
    for path in base.tree.paths:
        if not path.endswith("/__init__.py"):
            continue
        data = base.tree.read(path)
        if MARKER.encode() not in data:
            continue
        try:
            source = decode(data, path)
            shim = read_shim(source, parse(source))
        except NotPython as error:
            raise Unreadable(f"has a shim, and {error.reason}", path=path, line=error.line) from error
        if shim is not None and shim.rows is None:
            raise Unreadable("the table of its shim cannot be read", path=path, line=shim.line)
        if shim is not None and shim.rows:
            found.append((base.layout.module_at(path), shim))
    return found


def _resolutions(
    package: Module, shim: Shim, base: _Base
) -> tuple[tuple[Resolution, ...], tuple[tuple[str, str], ...]]:
    """What the names of a shim are, and those of its rows that are not in effect, with the reason."""
    namespaces = base.namespaces
    syntax = namespaces.syntax(package)
    assert syntax is not None
    known = {row.name: row.origin for row in shim.rows or ()}
    resolved = resolve(package, [row.name for row in shim.rows or ()], namespaces, known)
    skipped = [(refusal.symbol, refusal.reason) for refusal in resolved.refusals]
    skipped += [(package.name, error.detail) for error in resolved.errors]
    kept: list[Resolution] = []
    for found in resolved.resolutions:
        row = shim.row(found.symbol.name)
        if not found.narrowed:
            skipped.append((str(found.symbol), "the installed package exports it again beside its shim"))
        elif found.same_name:
            skipped.append((str(found.symbol), "the installed package has a module of that name beside its shim"))
        elif row is not None:
            kept.append(replace(found, site=syntax.source.site(row.line)))
    return tuple(kept), tuple(skipped)


# --- the plan ---


def _all(request: Request, base: _Base, work: Sequence[_Work], trees: Mapping[Path, Tree]) -> Result:
    """Plan every package on the files as they are, then lay the plans over each other where they meet in a file."""
    settled = [_settled(request, base, each, trees) for each in work]
    results = [result for _, result in settled]
    work = [each for each, _ in settled]
    refusals = tuple(dict.fromkeys(sorted(refusal for result in results for refusal in result.refusals)))
    failures = [failure for result in results for failure in result.failures]
    merged = Result(
        request.package,
        tuple(found for each in work for found in each.resolutions),
        refusals=refusals,
        warnings=tuple(dict.fromkeys(sorted(warning for result in results for warning in result.warnings))),
        mentions=tuple(dict.fromkeys(sorted(mention for result in results for mention in result.mentions))),
        accepted=tuple(dict.fromkeys(sorted(accepted for result in results for accepted in result.accepted))),
        failures=tuple(failures),
        searched=sum(len(tree.paths) for tree in trees.values()),
    )
    if failures or (refusals and not request.options.keep_going):
        return merged
    laid: dict[Path, dict[str, FileChange]] = {root: {} for root in trees}
    changing = [(each, result) for each, result in zip(work, results, strict=True) if any(c for _, c in result.changes)]
    for each, result in changing:
        if any(change.path in laid[root] for root, changes in result.changes for change in changes):
            # import vllm.ops, vllm.layers        both plans edit the file: the second one edits what the first one made
            result = _plan(moved_accepts(request, laid[request.root]), base, each, _over(trees, laid))
            if result.refusals or result.failures:
                return replace(merged, refusals=result.refusals, failures=result.failures)
        for root, changes in result.changes:
            for change in changes:
                first = laid[root].get(change.path)
                whole = replace(change, before=first.before, sites=first.sites + change.sites) if first else change
                laid[root][change.path] = whole
    for each, _ in changing if len(changing) > 1 else ():
        again = _plan(moved_accepts(request, laid[request.root]), base, each, _over(trees, laid))
        paths = [change.path for _, changes in again.changes for change in changes]
        failures += [Failure("second pass", path, "a second pass would still change it") for path in paths]
    rows = [Ban(found.symbol, found.origin) for each in work for found in each.resolutions]
    complete: list[tuple[Path, tuple[FileChange, ...]]] = []
    for root, own in laid.items():
        row = ban_change(trees[root], rows) if request.options.ban and (own or root == request.root) else None
        complete.append((root, (*(own[path] for path in sorted(own)), *([row] if row is not None else []))))
    grounds = tuple(each for _, result in changing for each in result.grounds)
    return replace(merged, changes=tuple(complete), failures=tuple(failures), grounds=grounds)


def _settled(request: Request, base: _Base, work: _Work, trees: Mapping[Path, Tree]) -> tuple[_Work, Result]:
    """The plan of one package; with --keep-going without the symbols that are refused, which stay in the result."""
    result = _plan(request, base, work, trees)
    refused: list[Refusal] = []
    while request.options.keep_going and result.refusals and work.resolutions:
        refused += result.refusals
        out = {refusal.symbol for refusal in result.refusals}
        left = tuple(found for found in work.resolutions if str(found.symbol) not in out)
        work = replace(work, resolutions=left if len(left) < len(work.resolutions) else ())
        result = _plan(request, base, work, trees) if work.resolutions else Result(request.package)
    return work, replace(result, refusals=(*refused, *result.refusals))


def _plan(request: Request, base: _Base, work: _Work, trees: Mapping[Path, Tree]) -> Result:
    """Plan the call sites of one package, as in a checkout that only uses it; the package itself gets no edit."""
    namespaces, resolutions = base.namespaces, work.resolutions
    main = Checkout(base.root, Tree(base.root, ()), base.layout, scan=_NOTHING)
    others = [
        Checkout(root, tree, Layout(tree.paths, work.package.name, (), base=base.layout))
        for root, tree in trees.items()
    ]
    for checkout in others:
        tree = checkout.tree
        checkout.scan = scan(
            tree.paths, tree.read, checkout.layout, resolutions, (), wants_names=False, progress=_told(request)
        )
    scans = [checkout.scan for checkout in others if checkout.scan is not None]
    context = Context(
        work.package,
        Resolutions(without_paths(resolutions, scans)),
        base.layout,
        hidden_names(work.package, namespaces),
        frozenset(),
        tuple(pair for each in scans for pair in each.carriers),
        line_width(request.root),
        frozenset().union(*(each.early for each in scans)),
        starred_modules=frozenset().union(*(each.starred_modules for each in scans)),
        star_reads=frozenset().union(*(each.star_reads for each in scans)),
        accepted=accepted_sites(request),
    )
    # nothing that the package loads can import the checkout, so no import of it can close a cycle
    blind = ImportGraph(lambda name: None, base.tree.read)
    context = with_coverage(
        context, Surveyed([main, *others], namespaces, blind, _NONE, lambda words: base.tree.paths), callers_only=False
    )
    for checkout in others:
        assert checkout.scan is not None
        checkout.sources = {survivor.path: survivor.data for survivor in checkout.scan.python}
        own = replace(context, layout=checkout.layout)
        checkout.plans = plan_files(checkout.sources, own, request.progress, request.planner)
        drop_unused(checkout, own)
    options = replace(request.options, ban=False, shim=False, callers_only=False)
    inner = replace(request, root=base.root, options=options)
    result = assemble(inner, work.package, namespaces, [main, *others], context, InitPlan(), blind, frozenset())
    fallbacks = [each for _, changes in result.changes[1:] for change in changes for each in _fallbacks(change, work)]
    if request.options.strict and fallbacks:
        hint = "--strict turns this warning into a refusal"
        refused = tuple(Refusal(each.site, each.symbol, each.reason, hint) for each in fallbacks)
        return replace(result, changes=(), refusals=refused)
    stuck = _stuck(result, context, others)
    if stuck:
        return replace(result, changes=(), refusals=tuple(sorted({*result.refusals, *stuck})))
    moved = result.changes[1][1] if result.changes else ()
    # the package stays as it is: its `__init__` gives every name before and after, so nothing has to wait for it
    grounds = (ground(moved, list(others[0].plans.values()), replace(context, layout=others[0].layout), _NONE, b""),)
    return replace(result, changes=result.changes[1:], warnings=(*result.warnings, *fallbacks), grounds=grounds)


def _stuck(result: Result, context: Context, others: Sequence[Checkout]) -> list[Refusal]:
    """The patches that cannot move along with readers that they cover."""
    # def go(): return pkg.sym()        moves to the origin
    # with patch("pkg.sym"): go()       ... and this patch may not
    moving = {each.symbol for c in others for plan in c.plans.values() if plan.edits for each in plan.reached}
    obstacles = [
        (f"{context.package.name}:{each.name}", each.obstacle, each.hint) for each in context.patched if each.obstacle
    ]
    return [
        Refusal(warned.site, symbol, warned.reason, hint)
        for warned in result.warnings
        for symbol, obstacle, hint in obstacles
        if warned.symbol == symbol and symbol in moving and warned.reason.endswith(obstacle)
    ]


def _fallbacks(change: FileChange, work: _Work) -> Iterator[Warned]:
    # try: from pkg.ops.cuda import fused
    # except ImportError: from pkg import fused          for versions from before the move
    if not is_code(change.path):
        return
    source = decode(change.before, change.path)
    moved = {found.symbol.name: found for found in work.resolutions}
    for node in ast.walk(parse(source)):
        if not isinstance(node, ast.Try):
            continue
        tried = {inner.module for inner in node.body if isinstance(inner, ast.ImportFrom)}
        for inner in (inner for handler in node.handlers for inner in handler.body):
            if isinstance(inner, ast.ImportFrom) and inner.module == work.package.name and not inner.level:
                for found in (moved[alias.name] for alias in inner.names if alias.name in moved):
                    if found.origin.module in tried:
                        reason = (
                            "a fallback for versions from before the move takes the new path too: it falls back no more"
                        )
                        yield Warned(source.site(inner.lineno), str(found.symbol), reason)


def _told(request: Request) -> Callable[[int, int], None] | None:
    progress = request.progress
    return (lambda done, total: progress("scanning", done, total)) if progress else None


def _over(trees: Mapping[Path, Tree], laid: Mapping[Path, Mapping[str, FileChange]]) -> dict[Path, Tree]:
    return {
        root: EditedTree(root, tree.paths, {path: change.after for path, change in laid[root].items()})
        for root, tree in trees.items()
    }


def moved_accepts(request: Request, laid: Mapping[str, FileChange]) -> Request:
    """The request with each `--accept FILE:LINE` at the line where an earlier package's plan has put it."""
    moved: list[str] = []
    for path, line in sorted(accepted_sites(request)):
        change = laid.get(path)
        if change is not None:
            old, new = change.before.splitlines(), change.after.splitlines()
            for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
                if block.a < line <= block.a + block.size:
                    line += block.b - block.a
                    break
        moved.append(f"{path}:{line}")
    return replace(request, options=replace(request.options, accept=tuple(moved)))
