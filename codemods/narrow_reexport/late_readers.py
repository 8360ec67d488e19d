"""Who looks a patched name up late, through the package and at its origin: facts on the whole tree.

Owns the search for patches and for the reads that they may reach. Files are planned one at a time, and who reads a name
while a patch is on is no fact of one file, so it is gathered before the first one is planned.
Invariant: nothing is parsed where nobody patches; a read is left out only if it cannot be late.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.discover import runs
from codemods.engine.graph import ImportGraph
from codemods.engine.model import Site, When
from codemods.engine.namespace import Namespaces
from codemods.engine.references import (
    AttributeUse,
    FromName,
    ModuleAlias,
    Names,
    Reflection,
    StarImport,
    Target,
    binds_package,
    expression_references,
    import_references,
)
from codemods.engine.scopes import Syntax, Use
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.faked_module import faked_modules, may_fake
from codemods.narrow_reexport.forms.patch_target import PatchTarget, PatchTargets, is_late, patch_calls
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.scan import scan
from codemods.narrow_reexport.windows import Parsed, Read, Windows

# whole words, `dispatch` is none; the word stands first, so that the engine looks for its bytes alone
_PATCHES = [
    re.compile(word + rb"(?<!\w" + word + rb")(?!\w)") for word in (rb"patch", rb"setattr", rb"delattr", rb"spy")
]
_LAST = re.compile(rb"[\"'.](\w+)[\"']")  # "pkg.sym"    "sym"    f"{PKG}.sym"
_WORD = re.compile(rb"\w+")
_LOOKS_UP = ("getattr", "hasattr", "attrgetter")


@dataclass(slots=True)
class Readers:
    """What is known of one symbol."""

    through: Windows = field(default_factory=Windows)  # patches of the package's name
    direct: Windows = field(default_factory=Windows)  # patches of the origin's
    covered: list[Read] = field(default_factory=list)  # late readers of the package's name, at call sites
    own: list[Site] = field(default_factory=list)  # late readers in the `__init__` itself
    kept: list[Site] = field(default_factory=list)  # of those, readers in a function inside the one that will import it
    others: list[Read] = field(default_factory=list)  # late readers of the origin's name
    takers: dict[str, Site] = field(default_factory=dict)  # modules that take the origin's name as they are imported

    @property
    def blocked(self) -> bool:
        """Whether a reader is known already that stands in the way of its patches."""
        return any(self.through.reach(read) for read in self.others)

    @property
    def touched(self) -> bool:
        """Whether somebody patches it."""
        return bool(self.through.patches or self.direct.patches)


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What a survey looks at: the checkouts, the namespaces and imports of the main one, and which files spell words."""

    checkouts: Sequence[Checkout]
    namespaces: Namespaces
    graph: ImportGraph
    lost: frozenset[str]  # modules that `import package` no longer loads
    spelling: Callable[[Iterable[str]], Sequence[str]]


class Survey:
    """The facts on all symbols of a run, from the files that can hold them."""

    def __init__(self, context: Context, tree: Surveyed) -> None:
        self.context = context
        self.tree = tree
        self.namespaces = tree.namespaces
        self.checkouts = tree.checkouts
        self.package = context.package
        self.readers = {found.symbol.name: Readers() for found in context.resolutions}
        self.by_origin: dict[str, list[Resolution]] = {}
        for found in context.resolutions:
            if not found.is_submodule:
                self.by_origin.setdefault(found.origin.module, []).append(found)
        self._files: dict[tuple[int, str], Parsed | None] = {}
        self.fakes: dict[str, Windows] = {}  # modules that somebody replaces in `sys.modules`
        self._calls: dict[Parsed, list[tuple[Use, str]]] = {}
        self._trees: dict[tuple[int, str], ast.Module] = {}
        self._eager: set[tuple[int, str]] = set()

    # Patches

    def patches(self) -> None:
        """Find the patches of every symbol, through the package and at its origin."""
        wanted = {
            name.encode() for found in self.context.resolutions for name in (found.symbol.name, found.origin.name)
        }
        modules = frozenset({self.package.name, *self.by_origin})
        spelled = re.compile(may_fake(modules))
        for number, checkout in enumerate(self.checkouts):
            for survivor in checkout.scan.python if checkout.scan is not None else ():
                if b"sys.modules" not in survivor.data or not runs(survivor.path):
                    continue
                if not spelled.search(survivor.data):
                    continue
                file = self._file(number, survivor.path, survivor.data)
                if file is not None:
                    for module, use in faked_modules(file.syntax, modules):
                        self.fakes.setdefault(module, Windows()).add(file, use)
            for path, data, quoted in self._patching(checkout, wanted):
                file = self._file(number, path, data)
                if file is None:
                    continue
                for target in self._targets(file, self._package_target(checkout)):
                    self._note(file, target, self.readers[target.name].through)
                for origin, resolutions in self.by_origin.items():
                    named = any(found.origin.name.encode() in quoted for found in resolutions)
                    if not named or origin.rpartition(".")[2].encode() not in data:
                        continue
                    for target in self._targets(file, self._origin_target(checkout, origin, ())):
                        for found in resolutions:
                            if found.origin.name == target.name:
                                self._note(file, target, self.readers[found.symbol.name].direct)

    def _patching(self, checkout: Checkout, wanted: set[bytes]) -> Iterator[tuple[str, bytes, set[bytes]]]:
        """The files that patch something and spell one of the names in a string (or as a keyword), with these words."""
        survivors = checkout.scan.python if checkout.scan is not None else ()
        files = {survivor.path: survivor.data for survivor in survivors}
        renamed = [
            found.origin.name
            for found in self.context.resolutions
            if found.origin.name != found.symbol.name and not found.is_submodule
        ]
        for path in self._spelling(checkout, renamed) if renamed else ():
            # from .sub import impl as sym: a patch of pkg.sub.impl need not spell the symbol
            if runs(path) and path not in files:
                data = checkout.tree.read(path)
                if _patches(data):
                    files[path] = data
        for path, data in files.items():
            if not runs(path) or not _patches(data):
                continue
            words = wanted.intersection((_LAST if b".multiple" not in data else _WORD).findall(data))
            if words:
                yield path, data, words

    def _spelling(self, checkout: Checkout, words: Iterable[str]) -> Sequence[str]:
        return self.tree.spelling(words) if checkout is self.checkouts[0] else checkout.tree.paths

    def _targets(self, file: Parsed, target: Target) -> Iterator[PatchTarget]:
        if file not in self._calls:
            self._calls[file] = patch_calls(file.syntax)
        for found in PatchTargets(Names(file.syntax, file.module, target)).found(self._calls[file]):
            if found.replaces:
                yield found

    def _note(self, file: Parsed, target: PatchTarget, windows: Windows) -> None:
        windows.add(file, target.call)
        if not is_late(target.call):
            self._eager.add((file.checkout, file.path))

    # Readers

    def through_package(self, wanted: Sequence[Resolution]) -> None:
        """Who reads the symbols through the package while the program runs."""
        names = frozenset(found.symbol.name for found in wanted)
        needles = [name.encode() for name in names]
        for number, checkout in enumerate(self.checkouts):
            target = replace(self._package_target(checkout), names=names)
            for survivor in checkout.scan.python if checkout.scan is not None else ():
                if runs(survivor.path) and any(needle in survivor.data for needle in needles):
                    file = self._reading(number, survivor.path, survivor.data, target)
                    for name, read in self._late_reads(file, target) if file is not None else ():
                        self.readers[name].covered.append(read)
        syntax = self.namespaces.syntax(self.package)
        assert syntax is not None
        own = Parsed(0, self.package.path, self.package, syntax)
        for name, read in self._late_reads(own, replace(self._package_target(self.checkouts[0]), names=names)):
            self.readers[name].own.append(read.site)
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
            here: dict[str, list[Readers]] = {}
            for found in resolutions:
                here.setdefault(found.origin.name, []).append(self.readers[found.symbol.name])
            module = self.namespaces.locate(origin)
            syntax = self.namespaces.syntax(module) if module is not None else None
            if module is not None and syntax is not None:
                own = Parsed(0, module.path, module, syntax)
                for name, each in here.items():
                    for use in _late_globals(syntax, name):
                        _note(each, Read(own, use.scope, own.site(use.node)))
            here = {name: each for name, each in here.items() if not all(one.blocked for one in each)}
            pseudo = [replace(found, symbol=found.origin) for found in resolutions if found.origin.name in here]
            if not pseudo:
                continue  # the origin reads them all itself: no need to ask further
            for number, checkout in enumerate(self.checkouts):
                paths = self._spelling(checkout, {origin.rpartition(".")[2], *here})
                looked = scan(paths, checkout.tree.read, checkout.layout, pseudo, (), wants_names=False)
                target = replace(self._origin_target(checkout, origin, looked.carriers), names=frozenset(here))
                files = {survivor.path: survivor.data for survivor in looked.python}
                if module is not None and module.path and number == 0:
                    files.setdefault(module.path, checkout.tree.read(module.path))
                for path, data in files.items():
                    if not runs(path) or not any(name.encode() in data for name in here):
                        continue
                    file = self._reading(number, path, data, target)
                    if file is None:
                        continue
                    for name, read in self._late_reads(file, target):
                        if not self._is_lazy_export(read):
                            _note(here[name], read)
                    for name, site in _takes(file, target) if path != self.package.path else ():
                        for readers in here[name]:
                            readers.takers.setdefault(file.module.name, site)

    def _late_reads(self, file: Parsed, target: Target) -> Iterator[tuple[str, Read]]:
        script = (file.checkout, file.path) in self._eager
        for reference in import_references(file.syntax, file.module, target):
            if isinstance(reference, (FromName, ModuleAlias)):
                # def run(): from pkg import sym
                inside = script and reference.block is not file.syntax.body and reference.block.when is not When.TYPING
                if reference.block.when is When.LATE or inside:
                    yield reference.name, Read(file, reference.block.scope, file.site(reference.statement))
        for reference in expression_references(file.syntax, file.module, target) if file.syntax.whole else ():
            if isinstance(reference, AttributeUse):
                # def run(): pkg.sym()
                late = is_late(reference.use) or script
                if late and not reference.stored and not _unread(file.syntax, reference.use):
                    yield reference.name, Read(file, reference.use.scope, file.site(reference.node))
            elif isinstance(reference, Reflection) and reference.how.rpartition(".")[2] in _LOOKS_UP:
                if reference.name in target.names and (is_late(reference.use) or script):
                    yield reference.name, Read(file, reference.use.scope, file.site(reference.use.node))

    def _is_lazy_export(self, read: Read) -> bool:
        # def __getattr__(name): from .sub import sym        the package's own export of it, which goes
        functions = [scope.node for scope in read.scope.inside() if scope.kind == "function"]
        return read.file.path == self.package.path and any(getattr(f, "name", "") == "__getattr__" for f in functions)

    # Files and targets

    def _reading(self, number: int, path: str, data: bytes, target: Target) -> Parsed | None:
        """A file as far as reads through the target need it: most only import from it, and their expressions are not walked."""
        key = (number, path)
        if key in self._files:
            return self._files[key]
        try:
            source = decode(data, path)
            tree = self._trees.get(key) or parse(source)
            self._trees[key] = tree
            light = analyse(source, tree, expressions=False)
            module = self.checkouts[number].layout.module_at(path)
            spelled = re.search(rf"""["']{re.escape(target.package)}["']""", source.text) is not None
            if spelled or binds_package(light, module, target):
                self._files[key] = Parsed(number, path, module, analyse(source, tree))
                return self._files[key]
        except NotPython:  # the plan of that file says so
            return None
        return Parsed(number, path, module, light)

    def _file(self, number: int, path: str, data: bytes) -> Parsed | None:
        key = (number, path)
        if key not in self._files:
            self._files[key] = None
            try:
                source = decode(data, path)
                syntax = analyse(source, parse(source))
                self._files[key] = Parsed(number, path, self.checkouts[number].layout.module_at(path), syntax)
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


def _patches(data: bytes) -> bool:
    """Whether a file may call something that patches, by the words in it."""
    return any(word.search(data) is not None for word in _PATCHES)


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


def _note(readers: Iterable[Readers], read: Read) -> None:
    for each in readers:
        each.others.append(read)


def _takes(file: Parsed, target: Target) -> Iterator[tuple[str, Site]]:
    """The names that a module takes from the target as it is imported."""
    for reference in import_references(file.syntax, file.module, target):
        if isinstance(reference, FromName) and reference.block.when in (When.EAGER, When.GUARDED):
            yield reference.name, file.site(reference.statement)
        elif isinstance(reference, StarImport) and reference.block.when is not When.TYPING:
            for name in target.names:
                yield name, file.site(reference.statement)
