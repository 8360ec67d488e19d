"""The fixes of offences: what `narrow_reexport` would write, for one file or for the whole tree.

Owns the way from a file's offences to its new bytes. Call sites of a narrowed symbol are mended file by file; a re-export that
has come back is taken out by the codemod itself, which has to know every file.
Invariant: it never writes; what it cannot mend it leaves, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codemods.check_narrowed.guard import Guard, View
from codemods.check_narrowed.leftovers import without_leftovers
from codemods.check_narrowed.offence import Offence
from codemods.check_narrowed.verdicts import offences, taken_on
from codemods.engine.config import NarrowOptions, line_width
from codemods.engine.edits import edited
from codemods.engine.errors import CodemodError
from codemods.engine.model import Edit, Failure, FileChange
from codemods.engine.namespace import Namespaces
from codemods.engine.project import EditedTree
from codemods.engine.source import decode
from codemods.narrow_reexport.context import Context, Patched, Resolutions
from codemods.narrow_reexport.coverage import is_path
from codemods.narrow_reexport.pipeline import drop_unused, run
from codemods.narrow_reexport.plan import plan_file
from codemods.narrow_reexport.prepare import Prepared, prepare
from codemods.narrow_reexport.request import Checkout, Request
from codemods.narrow_reexport.resolve import resolve
from codemods.narrow_reexport.session import Session

_OURS = "narrow-reexport"
_MANY = 4  # packages
_BACK = ("re-export", "all-entry")


@dataclass(slots=True)
class Fixed:
    """The new bytes of files, and what was left, by file."""

    changes: dict[str, bytes] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)


class Fixer:
    """Mends the files of one guarded tree. What it has to know of the tree is found out once for each package."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self._session: Session | None = None
        self._ready: dict[str, tuple[Prepared, Checkout] | None] = {}

    def all(self, found: Mapping[str, Sequence[Offence]]) -> Fixed:
        """Mend every file that has offences."""
        fixed = Fixed()
        packages = {each.symbol.rpartition(":")[0] for offences_of in found.values() for each in offences_of}
        if self._session is None and len(packages) >= _MANY:
            # every package asks the whole tree which files spell its names: then it pays to know the words of each file
            self._session = Session(self.guard.root, tree=self.guard.tree, remember=True)
        for package in sorted(self.guard.by_package):
            view = self.guard.view(package)
            back = _names_back(view, found) if view is not None else ()
            if view is not None and back:
                self._take_out(view, back, fixed)
        for path in sorted(found):
            self._cut_leftovers(path, found[path], fixed)
        for path in sorted(found):
            before = fixed.changes.get(path, self.guard.read(path))
            after, left = self.file(path, before)
            if after != before:
                fixed.changes[path] = after
            if left:
                fixed.left.setdefault(path, []).extend(left)
        return fixed

    def file(self, path: str, data: bytes) -> tuple[bytes, list[str]]:
        """The bytes of a file whose call sites are mended, and why some are not."""
        left: list[str] = []
        for package in self.guard.suspects(path, data):
            after, reason = self._call_sites(package, path, data)
            if reason:
                left.append(reason)
            data = after
        return data, left

    def edits(
        self, package: str, path: str, data: bytes, lines: frozenset[int] | None = None
    ) -> tuple[tuple[Edit, ...], str]:
        """The edits for the call sites of one package, or for those on some lines as if the others were left alone."""
        guard = self.guard
        view = guard.view(package)
        if view is not None and view.outside:
            top = package.partition(".")[0]
            return (), f"{package} is not in this tree: write what is told above, or run {_OURS} --from-shims {top}"
        ready = self._prepared(package)
        finding = guard.context(package)
        if ready is None or view is None or finding is None or path == view.module.path:
            return (), ""
        prepared, checkout = ready
        wanted = tuple(
            # a star of the package brought the name, as long as the package bound it
            replace(found, starred=True) if found.narrowed and not found.symbol.name.startswith("_") else found
            for found in prepared.context.resolutions
            if found.symbol.name in view.rows and not guard.allows(view.rows[found.symbol.name], path)
        )
        marked = taken_on(path, data)
        reached = plan_file(path, data, finding).reached
        kept = frozenset(
            (path, each.site.line, each.symbol)
            for each in reached
            if each.site.line in marked or (lines is not None and each.site.line not in lines)
        )
        if not wanted or not reached:
            return (), ""
        patched = checkout.scan.patched if checkout.scan is not None else frozenset()
        here = frozenset(each.symbol.rpartition(":")[2] for each in reached if each.instead.startswith('"'))
        context = replace(
            _guarding(prepared.sparing(checkout, [path]), here | patched, view.namespaces),
            resolutions=Resolutions(wanted),
            left=kept,
        )
        plan = plan_file(path, data, context)
        own = replace(checkout, plans={path: plan}, sources={path: data})
        drop_unused(own, context)
        plan = own.plans[path]
        if plan.refusals:
            refusal = plan.refusals[0]
            return (), f"{refusal.site}: {refusal.reason}{_or(refusal.hint)}"
        # what the codemod only warns of in a narrowed tree: it is no reason against the other places
        places = {(each.site.line, each.symbol) for each in plan.reached}
        said = [each for each in plan.warnings if (each.site.line, each.symbol) in places]
        return plan.edits, f"{said[0].site}: {said[0].reason}" if said else ""

    def init(self, path: str, data: bytes) -> tuple[bytes, list[str]]:
        """The bytes of an `__init__` without the re-exports that have come back."""
        view = self.guard.view_of_init(path)
        here = offences(self.guard, path, data)
        if view is None or not any(each.kind in _BACK for each in here):
            return data, []
        fixed = Fixed({path: data})
        back = _names_back(view, {path: here})
        if back:
            self._take_out(view, back, fixed)
        self._cut_leftovers(path, here, fixed)
        return fixed.changes[path], fixed.left.get(path, [])

    # The re-export

    def _take_out(self, view: View, names: Sequence[str], fixed: Fixed) -> None:
        guard, package = self.guard, view.module
        tree = EditedTree(guard.root, guard.tree.paths, fixed.changes)
        try:
            options = NarrowOptions(source_root=guard.source_roots)
            request = Request(guard.root, package.name, tuple(names), options=options)
            result = run(request, Session(guard.root, tree=tree))
        except CodemodError as error:
            fixed.left.setdefault(package.path, []).append(f"{error.detail}{_or(error.hint)}")
            return
        if result.failures:
            failure = result.failures[0]
            fixed.left.setdefault(package.path, []).append(f"our bug: {failure.check}: {failure.detail}")
            return
        stays = [f"{r.site}: {r.reason}{_or(r.hint)}" for r in result.refusals]
        own = [change for root, changes in result.changes if root == guard.root for change in changes]
        stays += [f"{site} still needs it, and is left alone by a comment or a row" for site in self._needed(view, own)]
        if stays:
            command = f"{_OURS} {package.name} {' '.join(names)}"
            reasons = "; ".join(stays[:3]) + (f"; and {len(stays) - 3} more" if len(stays) > 3 else "")
            fixed.left.setdefault(package.path, []).append(f"`{command}` refuses: {reasons}")
            return
        for change in own:
            if change.path in guard.tree.paths and not change.path.endswith(".toml"):
                fixed.changes[change.path] = change.after

    def _cut_leftovers(self, path: str, found: Sequence[Offence], fixed: Fixed) -> None:
        # __all__ = ["sym"]        from .sub import sym as sym, in a stub
        view = self.guard.view_of_init(path)
        if view is None or view.module.path in fixed.left or not any(each.kind in _BACK for each in found):
            return
        data = fixed.changes.get(path, self.guard.read(path))
        tree = EditedTree(self.guard.root, self.guard.tree.paths, {**fixed.changes, path: data})
        left = [each for each in offences(self.guard, path, data) if each.kind in _BACK]
        names = tuple(sorted({each.name for each in left}))
        if not names:
            return
        namespaces = Namespaces(view.layout.locate, tree.read)
        after, why = without_leftovers(view, path, data, names, namespaces, line_width(self.guard.root))
        if why:
            fixed.left.setdefault(path, []).extend(why)
        elif after != data:
            fixed.changes[path] = after

    def _needed(self, view: View, changes: Iterable[FileChange]) -> list[str]:
        """Places that a person wants left alone, and that the re-export serves."""
        found = []
        context = self.guard.context(view.module.name)
        for change in changes if context is not None else ():
            if context is None or change.path == view.module.path or not change.path.endswith((".py", ".pyi")):
                continue
            marked = taken_on(change.path, change.before)
            allowing = {str(ban.symbol) for ban in view.rows.values() if self.guard.allows(ban, change.path)}
            if marked or allowing:
                reached = plan_file(change.path, change.before, context).reached
                found += [str(each.site) for each in reached if each.site.line in marked or each.symbol in allowing]
        return found

    # Call sites

    def _call_sites(self, package: str, path: str, data: bytes) -> tuple[bytes, str]:
        edits, reason = self.edits(package, path, data)
        if not edits:
            return data, reason
        after = edited(decode(data, path), edits)
        if isinstance(after, Failure):
            return data, f"{path}: our bug: {after.detail}"
        return after, reason

    def _prepared(self, package: str) -> tuple[Prepared, Checkout] | None:
        if package not in self._ready:
            self._ready[package] = self._prepare(package)
        return self._ready[package]

    def _prepare(self, package: str) -> tuple[Prepared, Checkout] | None:
        guard = self.guard
        view = guard.view(package)
        if view is None:
            return None
        if self._session is None:
            self._session = Session(guard.root, tree=guard.tree)  # shared: each module's outline is made once
        session = self._session
        layout, namespaces, graph = session.view(package, guard.source_roots)
        known = {name: ban.origin for name, ban in view.rows.items()}
        names = [name for name, ban in view.rows.items() if ban.origin != ban.symbol]
        resolved = resolve(view.module, names, namespaces, known)
        if not resolved.resolutions:
            return None
        checkout = Checkout(guard.root, guard.tree, layout)
        request = Request(guard.root, package, tuple(names), options=NarrowOptions(source_root=guard.source_roots))
        found = resolved.resolutions
        # a name that is gone is patched by nobody with success, so that no patch has to keep its readers
        covers = not all(each.narrowed for each in found)
        ready = prepare(request, session, view.module, namespaces, graph, [checkout], found, covers=covers)
        return ready, checkout


def _guarding(context: Context, here: frozenset[str], namespaces: Namespaces) -> Context:
    """A narrowed name is bound no more: a call site or a patch that reaches it fails, so that no behaviour is to be kept.

    `here` are names that strings of this file reach. Where nobody patches a name, its reads need not stay late.
    """
    gone = {found.symbol.name: found for found in context.resolutions if found.narrowed}
    anywhere = here | context.early | {each.name for each in context.patched}
    patched = [each for each in context.patched if each.name not in gone]
    patched += [
        Patched(name, path=found.path_is_module or is_path(found, context, namespaces, callers_only=False))
        for name, found in gone.items()
        if name in anywhere
    ]
    return replace(
        context,
        guarding=True,
        patched=tuple(patched),
        early=context.early - gone.keys(),
        faked=tuple(each for each in context.faked if each.name not in gone),
    )


def _names_back(view: View | None, found: Mapping[str, Sequence[Offence]]) -> tuple[str, ...]:
    if view is None:
        return ()
    here = [*found.get(view.module.path, ()), *found.get(f"{view.module.path}i", ())]
    return tuple(sorted({each.name for each in here if each.kind in _BACK}))


def _or(hint: str) -> str:
    return f" ({hint})" if hint else ""
