"""Whom a patch reaches: the readers of a patched name, through the package before the run and at its origin after it.

Owns the question whether the patches of a symbol may move to its origin. Who reads a name while a patch is on is a fact of
the whole tree, so it is gathered before the first file is planned; nothing is parsed where nobody patches.
Invariant: a symbol's patches move only if no reader comes under them that was not under them, as far as the tree is known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.model import Module, Site, Symbol, When
from codemods.engine.namespace import Namespaces
from codemods.engine.references import (
    AttributeUse,
    FromName,
    ModuleAlias,
    Names,
    Reflection,
    Target,
    expression_references,
    import_references,
)
from codemods.engine.scopes import Syntax, Use
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context, Patched
from codemods.narrow_reexport.forms.patch_target import PatchTarget, PatchTargets, is_late
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.scan import scan

_PATCHES = re.compile(rb"patch|(?:set|del)attr\b|\bspy\b")
_QUOTED = re.compile(rb"[\"'][^\"'\r\n]*(?=[\"'])")
_WORD = re.compile(rb"\w+")
_LOOKS_UP = ("getattr", "hasattr", "attrgetter")


@dataclass(slots=True)
class _Readers:
    """What is known of one symbol."""

    through: list[Site] = field(default_factory=list)  # patches of the package's name
    direct: list[Site] = field(default_factory=list)  # patches of the origin's
    covered: list[Site] = field(default_factory=list)  # late readers of the package's name, at call sites
    own: list[Site] = field(default_factory=list)  # late readers in the `__init__` itself
    kept: list[Site] = field(default_factory=list)  # of those, readers in a function inside the one that will import it
    others: list[Site] = field(default_factory=list)  # late readers of the origin's name


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    module: Module
    syntax: Syntax


def with_coverage(
    context: Context,
    namespaces: Namespaces,
    checkouts: Sequence[Checkout],
    spelling: Callable[[Iterable[str]], Sequence[str]],
    *,
    callers_only: bool,
) -> Context:
    """The context with the verdict on each patched symbol; `spelling` gives the main tree's files that may spell words."""
    survey = _Survey(context, namespaces, checkouts, spelling)
    survey.patches()
    early = frozenset(name for name, readers in survey.readers.items() if readers.direct)
    wanted = [found for found in context.resolutions if survey.readers[found.symbol.name].through]
    if wanted:
        survey.through_package(wanted)
        survey.at_origins(wanted)
    verdicts = tuple(_verdict(found, survey.readers[found.symbol.name], callers_only) for found in wanted)
    paths = frozenset(
        found.symbol.name
        for found in wanted
        if found.path_is_module or _is_path(found, context, namespaces, callers_only)
    )
    return replace(
        context,
        early=context.early | early,
        patched=tuple(replace(verdict, path=verdict.name in paths) for verdict in verdicts),
    )


def _verdict(found: Resolution, readers: _Readers, callers_only: bool) -> Patched:
    name, origin = found.symbol.name, found.origin.dotted
    if callers_only and (readers.own or not readers.covered):
        if readers.own and readers.covered:
            # the __init__ goes on reading pkg.sym, and the call sites no longer do
            own, moved = readers.own[0], readers.covered[0]
            reason = (
                f"the __init__ keeps reading {name} ({own}), other readers move ({moved}): no one target covers both"
            )
            return Patched(name, reason, "narrow without --callers-only, or accept the site")
        return Patched(name, stays=True)
    hint = f"patch the name where the tested code looks it up, not {found.symbol.dotted}; or accept the site"
    covered = [*readers.covered, *readers.own]
    if readers.direct and covered:
        # patch("pkg.sym") in one test, patch("pkg.sub.sym") in another
        reason = (
            f"{readers.direct[0]} patches {origin} too, and readers of the package ({covered[0]}) would come under that"
        )
        return Patched(name, reason, hint)
    if readers.kept:
        inner = readers.kept[0]
        reason = f"the __init__ reads {name} in a function inside another ({inner}), which would take it too early"
        return Patched(name, reason, hint)
    if readers.others:
        # def batch(xs): return [sym(x) for x in xs]        in pkg/sub.py itself
        reason = (
            f"a patch of {origin} would also reach {readers.others[0]}, which one of {found.symbol.dotted} does not"
        )
        return Patched(name, reason, hint)
    return Patched(name)


def _is_path(found: Resolution, context: Context, namespaces: Namespaces, callers_only: bool) -> bool:
    """Whether the origin's dotted path, as code spells it, is the module once the run is done."""
    gone = {(each.symbol.module, each.symbol.name) for each in context.resolutions} if not callers_only else set()
    parent, *parts = found.origin.module.split(".")
    if namespaces.locate(parent) is None:
        return False
    for part in parts:
        module = namespaces.locate(parent)
        if module is None or namespaces.locate(f"{parent}.{part}") is None:
            return False
        if (parent, part) not in gone:
            for binding in namespaces.bindings(parent, part):
                if namespaces.origin(module, binding) != Symbol(parent, part):
                    return False
            star = namespaces.star(parent) if module.path else None
            if module.path and (star is None or part in star) and not namespaces.bindings(parent, part):
                return False
        parent = f"{parent}.{part}"
    return True


class _Survey:
    """The facts on all symbols of a run, from the files that can hold them."""

    def __init__(
        self,
        context: Context,
        namespaces: Namespaces,
        checkouts: Sequence[Checkout],
        spelling: Callable[[Iterable[str]], Sequence[str]],
    ) -> None:
        self.context = context
        self.namespaces = namespaces
        self.checkouts = checkouts
        self.spelling = spelling
        self.package = context.package
        self.readers = {found.symbol.name: _Readers() for found in context.resolutions}
        self.by_origin: dict[str, list[Resolution]] = {}
        for found in context.resolutions:
            if not found.is_submodule:
                self.by_origin.setdefault(found.origin.module, []).append(found)
        self._files: dict[tuple[int, str], _File | None] = {}
        self._eager: set[tuple[int, str]] = set()

    # Patches

    def patches(self) -> None:
        """Find the patches of every symbol, through the package and at its origin."""
        wanted = {
            name.encode() for found in self.context.resolutions for name in (found.symbol.name, found.origin.name)
        }
        for number, checkout in enumerate(self.checkouts):
            for path, data in self._patching(checkout, wanted):
                file = self._file(number, path, data)
                if file is None:
                    continue
                for target in self._targets(file, self._package_target(checkout)):
                    self._note(number, file, target, self.readers[target.name].through)
                for origin, resolutions in self.by_origin.items():
                    if origin.rpartition(".")[2].encode() not in data:
                        continue
                    for target in self._targets(file, self._origin_target(checkout, origin, ())):
                        for found in resolutions:
                            if found.origin.name == target.name:
                                self._note(number, file, target, self.readers[found.symbol.name].direct)

    def _patching(self, checkout: Checkout, wanted: set[bytes]) -> Iterator[tuple[str, bytes]]:
        """The files that patch something and spell one of the names in a string (or as a keyword)."""
        survivors = checkout.scan.python if checkout.scan is not None else ()
        files = {survivor.path: survivor.data for survivor in survivors}
        renamed = [
            found.origin.name
            for found in self.context.resolutions
            if found.origin.name != found.symbol.name and not found.is_submodule
        ]
        for path in self._spelling(checkout, renamed) if renamed else ():
            # from .sub import impl as sym: a patch of pkg.sub.impl need not spell the symbol
            if path.endswith(".py") and path not in files:
                data = checkout.tree.read(path)
                if _PATCHES.search(data):
                    files[path] = data
        for path, data in files.items():
            if not path.endswith(".py") or not _PATCHES.search(data):
                continue
            quoted = b" ".join(_QUOTED.findall(data)) if b"multiple" not in data else data
            if not wanted.isdisjoint(_WORD.findall(quoted)):
                yield path, data

    def _spelling(self, checkout: Checkout, words: Iterable[str]) -> Sequence[str]:
        return self.spelling(words) if checkout is self.checkouts[0] else checkout.tree.paths

    def _targets(self, file: _File, target: Target) -> Iterator[PatchTarget]:
        for found in PatchTargets(file.syntax, Names(file.syntax, file.module, target)).found():
            if found.replaces:
                yield found

    def _note(self, number: int, file: _File, target: PatchTarget, sites: list[Site]) -> None:
        sites.append(file.syntax.source.site_of(target.call.node))
        if not is_late(target.call):
            self._eager.add((number, file.path))

    # Readers

    def through_package(self, wanted: Sequence[Resolution]) -> None:
        """Who reads the symbols through the package while the program runs."""
        names = frozenset(found.symbol.name for found in wanted)
        needles = [name.encode() for name in names]
        for number, checkout in enumerate(self.checkouts):
            target = replace(self._package_target(checkout), names=names)
            for survivor in checkout.scan.python if checkout.scan is not None else ():
                if survivor.path.endswith(".py") and any(needle in survivor.data for needle in needles):
                    file = self._file(number, survivor.path, survivor.data)
                    for name, site in self._late_reads(number, file, target) if file is not None else ():
                        self.readers[name].covered.append(site)
        syntax = self.namespaces.syntax(self.package)
        assert syntax is not None
        own = _File(self.package.path, self.package, syntax)
        for name, site in self._late_reads(0, own, replace(self._package_target(self.checkouts[0]), names=names)):
            self.readers[name].own.append(site)
        for name in names:
            found = self.readers[name]
            uses = list(_late_globals(syntax, name))
            found.own += [syntax.source.site_of(use.node) for use in uses]
            functions = [_functions(use) for use in uses]
            homes = [each[0] for each in functions if each]
            for use, around in zip(uses, functions, strict=True):
                if any(isinstance(node, ast.Lambda) for node in around) or any(node in homes for node in around[1:]):
                    found.kept.append(syntax.source.site_of(use.node))

    def at_origins(self, wanted: Sequence[Resolution]) -> None:
        """Who reads the symbols at their origins while the program runs: the origin's own functions, and others."""
        by_origin: dict[str, list[Resolution]] = {}
        for found in wanted:
            by_origin.setdefault(found.origin.module, []).append(found)
        for origin, resolutions in by_origin.items():
            here = {found.origin.name: found for found in resolutions}
            module = self.namespaces.locate(origin)
            syntax = self.namespaces.syntax(module) if module is not None else None
            for name, found in here.items() if syntax is not None else ():
                for use in _late_globals(syntax, name):  # type: ignore[arg-type]
                    self.readers[found.symbol.name].others.append(syntax.source.site_of(use.node))  # type: ignore[union-attr]
            pseudo = [replace(found, symbol=found.origin) for found in resolutions]
            for number, checkout in enumerate(self.checkouts):
                paths = self._spelling(checkout, {origin.rpartition(".")[2], *here})
                looked = scan(paths, checkout.tree.read, checkout.layout, pseudo, (), wants_names=False)
                target = replace(self._origin_target(checkout, origin, looked.carriers), names=frozenset(here))
                files = {survivor.path: survivor.data for survivor in looked.python}
                if module is not None and module.path and number == 0:
                    files.setdefault(module.path, checkout.tree.read(module.path))
                for path, data in files.items():
                    if not path.endswith(".py") or not any(name.encode() in data for name in here):
                        continue
                    file = self._file(number, path, data)
                    for name, site in self._late_reads(number, file, target) if file is not None else ():
                        self.readers[here[name].symbol.name].others.append(site)

    def _late_reads(self, number: int, file: _File, target: Target) -> Iterator[tuple[str, Site]]:
        source = file.syntax.source
        script = (number, file.path) in self._eager
        for reference in import_references(file.syntax, file.module, target):
            if isinstance(reference, (FromName, ModuleAlias)):
                # def run(): from pkg import sym
                inside = script and reference.block is not file.syntax.body and reference.block.when is not When.TYPING
                if reference.block.when is When.LATE or inside:
                    yield reference.name, source.site_of(reference.statement)
        for reference in expression_references(file.syntax, file.module, target):
            if isinstance(reference, AttributeUse):
                # def run(): pkg.sym()
                late = is_late(reference.use) or script
                if late and not reference.stored and not _unread(file.syntax, reference.use):
                    yield reference.name, source.site_of(reference.node)
            elif isinstance(reference, Reflection) and reference.how.rpartition(".")[2] in _LOOKS_UP:
                if reference.name in target.names and (is_late(reference.use) or script):
                    yield reference.name, source.site_of(reference.use.node)

    # Files and targets

    def _file(self, number: int, path: str, data: bytes) -> _File | None:
        key = (number, path)
        if key not in self._files:
            self._files[key] = None
            try:
                source = decode(data, path)
                syntax = analyse(source, parse(source))
                self._files[key] = _File(path, self.checkouts[number].layout.module_at(path), syntax)
            except NotPython:
                pass  # the plan of that file says so
        return self._files[key]

    def _package_target(self, checkout: Checkout) -> Target:
        names = frozenset(found.symbol.name for found in self.context.resolutions if not found.is_submodule)
        carriers = dict(self.context.carriers)
        return Target(self.package.name, names, frozenset(), self.context.hidden, carriers, checkout.layout.locate)

    def _origin_target(
        self, checkout: Checkout, origin: str, carriers: Iterable[tuple[tuple[str, str], str]]
    ) -> Target:
        names = frozenset(found.origin.name for found in self.by_origin.get(origin, ()))
        return Target(origin, names, frozenset(), frozenset(), dict(carriers), checkout.layout.locate)


def _late_globals(syntax: Syntax, name: str) -> Iterator[Use]:
    """Reads of a module's own global in functions."""
    for use in syntax.names:
        if isinstance(use.node, ast.Name) and use.node.id == name and isinstance(use.node.ctx, ast.Load):
            if use.scope.owner(name) in (None, syntax.module) and is_late(use) and not _unread(syntax, use):
                yield use


def _unread(syntax: Syntax, use: Use) -> bool:
    # def f(): x: sym = 1        never evaluated; nor is any annotation under `from __future__ import annotations`
    if not use.annotation:
        return False
    if isinstance(use.statement, ast.AnnAssign) and isinstance(use.statement.target, ast.Name):
        return use.block.when is When.LATE
    return use.block.when is not When.LATE or any(
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(alias.name == "annotations" for alias in statement.names)
        for statement, _ in syntax.imports
    )


def _functions(use: Use) -> list[ast.AST]:
    """The functions around a use, from the inside out."""
    return [scope.node for scope in use.scope.inside() if scope.kind in ("function", "lambda")]
