"""One tree and the rows of its `narrowed.toml`: which files are looked at for which rows, and how the planner sees them.

Owns reading the rows, and turning them into what `narrow_reexport` plans with.
Invariant: it never writes, and reads no file but those that it is asked about, the rows, and modules that lead to a package.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.check_narrowed.sieve import Sieve
from codemods.engine.bans import FILE_NAME, Ban, load_bans
from codemods.engine.config import load_check_options, load_narrow_options
from codemods.engine.discover import excluder, list_files
from codemods.engine.disk import read_file
from codemods.engine.errors import CodemodError, Unreadable
from codemods.engine.model import Module, Site
from codemods.engine.modules import Layout
from codemods.engine.project import Tree

if TYPE_CHECKING:  # most files are told by their bytes, and then the planner is not loaded at all
    from codemods.engine.namespace import Namespaces
    from codemods.narrow_reexport.context import Context
    from codemods.narrow_reexport.resolve import Resolution

_CODE = (".py", ".pyx", ".so", ".pyd")  # but no stubs: those of an installed package stand in many trees
# from .sub import *        __all__ = sub.__all__        from .sub import __all__ as theirs
_ONWARD = re.compile(rb"import[ \t\\\r\n]*\(?[ \t]*\*|\.[ \t]*__all__\b|import[\s(\\]*__all__\b|\b__all__[ \t]+as\b")


def find_rows(start: Path) -> Path | None:
    """The folder of the nearest `narrowed.toml`, from `start` upward, up to the top of the git checkout: each has its own."""
    for folder in (start, *start.parents):
        if os.path.lexists(folder / FILE_NAME):
            return folder
        if (folder / ".git").exists():
            return None
    return None


def guarded(root: Path, read: Callable[[str], bytes] | None = None) -> Guard:
    """The guard of a tree, as its rows and its configuration say. Raises `BadConfiguration` and `Unreadable`."""
    narrow, own = load_narrow_options(root), load_check_options(root)
    return Guard(
        root, read_rows(root), exclude=(*narrow.exclude, *own.exclude), source_roots=narrow.source_root, read=read
    )


def read_rows(root: Path) -> tuple[Ban, ...]:
    """The rows of a tree. Raises `BadConfiguration`, and `Unreadable` where there is no file."""
    try:
        data = read_file(root / FILE_NAME)
    except OSError as error:
        hint = "narrow-reexport writes it; check_narrowed --add PKG:SYMBOL starts it"
        raise Unreadable(f"cannot be read: {error.strerror}", path=FILE_NAME, hint=hint) from error
    return load_bans(data)


def followed(rows: Sequence[Ban]) -> tuple[Ban, ...]:
    """The rows, each with the origin that is left when its own origin was narrowed as well.

    "outer:sym" = { origin = "pkg:sym" }, and later "pkg:sym" = { origin = "pkg.sub:sym" }        sym comes from pkg.sub
    """
    known = {ban.symbol: ban.origin for ban in rows}
    result = []
    for ban in rows:
        origin, seen = ban.origin, {ban.symbol}
        while origin in known and origin not in seen:
            seen.add(origin)
            origin = known[origin]
        result.append(ban if origin == ban.origin else replace(ban, origin=origin))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class View:
    """What the guard knows of one package: its module, and its rows by name."""

    module: Module
    rows: dict[str, Ban]
    layout: Layout
    namespaces: Namespaces
    outside: bool = False  # no package of this tree: only its users are, and `module` has the path that it would have


class Guard:
    """The rows of one tree, ready to be asked about its files. `paths` are listed when first needed, unless given."""

    def __init__(
        self,
        root: Path,
        rows: Sequence[Ban],
        *,
        exclude: Sequence[str] = (),
        source_roots: Sequence[str] = (),
        paths: Sequence[str] | None = None,
        read: Callable[[str], bytes] | None = None,
    ) -> None:
        self.root = root
        self.rows = followed(rows)
        self.exclude = tuple(exclude)
        self._is_excluded = excluder(self.exclude)
        self.source_roots = tuple(source_roots)
        self._tree = Tree(root, tuple(paths)) if paths is not None else None
        self._given = read
        self._layouts: dict[str, Layout] = {}
        self._gone: dict[str, CodemodError] = {}
        self._views: dict[str, View | None] = {}
        self._latest: tuple[str, bytes, tuple[str, ...]] | None = None
        self._contexts: dict[str, tuple[int, Context | None]] = {}
        self._doubtful: dict[str, str] = {}  # packages outside the tree, and code of the tree that may be them
        self._elsewhere: set[str] = set()  # paths that files of installed packages would have here
        self._allowed: dict[tuple[str, ...], Callable[[str], bool]] = {}
        self.by_package: dict[str, dict[str, Ban]] = {}
        for ban in self.rows:
            self.by_package.setdefault(ban.symbol.module, {})[ban.symbol.name] = ban
        # a symbol that is a submodule is found by the import system: it is banned in the `__init__` alone
        wanted = {
            package: [name for name, ban in named.items() if ban.origin != ban.symbol]
            for package, named in self.by_package.items()
        }
        self._sieve = Sieve({p: names for p, names in wanted.items() if names}, self._any_layout, self.read)

    def __reduce__(self) -> tuple[object, ...]:
        """A worker process begins with the rows and the list of files; it finds out the rest by itself."""
        return _again, (self.root, self.rows, self.exclude, self.source_roots, self.tree.paths)

    @property
    def tree(self) -> Tree:
        """The files of the tree."""
        if self._tree is None:
            self._tree = Tree(self.root, list_files(self.root, exclude=self.exclude))
        return self._tree

    def read(self, path: str) -> bytes:
        """The bytes of a file; nothing of a package that is not in the tree."""
        if path in self._elsewhere:
            return b""
        return self._given(path) if self._given is not None else self.tree.read(path)

    def suspects(self, path: str, data: bytes) -> tuple[str, ...]:
        """The packages that a file may reach a banned name through, sorted."""
        if self._latest is None or self._latest[0] != path or self._latest[1] is not data:
            self._latest = (path, data, tuple(sorted(self._sieve.suspects(path, data))))
        return self._latest[2]  # the check asks first, and the verdict asks again

    def view(self, package: str) -> View | None:
        """What is known of a package; None where it was in the tree and is gone."""
        if package not in self._views:
            from codemods.engine.namespace import Namespaces

            layout = self.layout(package)
            outside = self._outside(package) if layout is None else None
            layout = layout or outside
            module = layout.locate(package) if layout is not None else None
            self._views[package] = (
                View(
                    module, self.by_package[package], layout, Namespaces(layout.locate, self.read), outside is not None
                )
                if layout is not None and module is not None and module.path
                else None
            )
        return self._views[package]

    def view_of_init(self, path: str) -> View | None:
        """The package whose `__init__.py` or `__init__.pyi` this file is, if there are rows for it."""
        folder, _, name = path.rpartition("/")
        if name not in ("__init__.py", "__init__.pyi"):
            return None
        folder = "/".join(part.removesuffix("-stubs") for part in folder.split("/"))
        leaf = folder.rpartition("/")[2]
        for package in self.by_package:
            if package.rpartition(".")[2] == leaf and f"/{folder}".endswith("/" + package.replace(".", "/")):
                view = self.view(package)
                if view is not None and not view.outside and f"{folder}/__init__.py" == view.module.path:
                    return view
        return None

    def suspects_init(self, path: str, data: bytes) -> bool:
        """Whether a file is the `__init__` of a package with rows, and may bind or list one of their names."""
        view = self.view_of_init(path)
        if view is None:
            return False
        # identifiers are compared after NFKC: other letters may spell an ASCII name
        return (
            not data.isascii() or _ONWARD.search(data) is not None or any(name.encode() in data for name in view.rows)
        )

    def context(self, package: str) -> Context | None:
        """The context in which a file's references are found. It plans nothing that could be written."""
        known = self._contexts.get(package)
        if known is None or known[0] != len(self._sieve.carried):  # the sieve learns from the files that it sees
            known = self._contexts[package] = (len(self._sieve.carried), self._context(package))
        return known[1]

    def _context(self, package: str) -> Context | None:
        from codemods.narrow_reexport.context import Context, Patched, Resolutions

        view = self.view(package)
        if view is None:
            return None
        resolutions = Resolutions(self._resolution(view, ban) for ban in view.rows.values() if ban.origin != ban.symbol)
        return Context(
            view.module,
            resolutions,
            view.layout,
            frozenset(),
            frozenset(),
            tuple(sorted(self._sieve.carried.items())),
            88,
            guarding=True,
            verifying=True,
            patched=tuple(Patched(found.symbol.name) for found in resolutions),
        )

    def excludes(self, path: str) -> bool:
        """Whether the configuration leaves this file out, however it is asked about."""
        return self._is_excluded(path)

    def allows(self, ban: Ban, path: str) -> bool:
        """Whether the row's `allow` lets this file do as before."""
        if not ban.allow:
            return False
        if ban.allow not in self._allowed:
            import pathspec

            self._allowed[ban.allow] = pathspec.GitIgnoreSpec.from_lines(ban.allow).match_file
        return self._allowed[ban.allow](path)

    def _resolution(self, view: View, ban: Ban) -> Resolution:
        from codemods.narrow_reexport.resolve import Resolution

        same = view.layout.locate(ban.symbol.dotted) is not None
        site = Site(view.module.path, 1, 0, "")
        public = not ban.symbol.name.startswith("_")
        return Resolution(ban.symbol, ban.origin, site, False, same, public, False, False, (), narrowed=True)

    def layout(self, package: str) -> Layout | None:
        """The modules of the tree as a package sees them; None where it is not in the tree."""
        try:
            return self.layout_of(package)
        except CodemodError:
            return None  # this package is gone, another one of the same top may be there

    def layout_of(self, package: str) -> Layout:
        """The same. Raises `UnknownPackage` where it is not in the tree, or is there more than once."""
        top = package.partition(".")[0]
        known = self._layouts.get(top)
        if known is not None and (module := known.locate(package)) is not None and module.is_package and module.path:
            return known
        if package in self._gone:
            raise self._gone[package]
        try:
            layout = Layout(self.tree.paths, package, self.source_roots)
        except CodemodError as error:
            self._gone[package] = error
            raise
        if known is None:
            self._layouts[top] = layout
        return layout

    def at_root(self, top: str) -> bool:
        """Whether the tree has a top-level package: at its root, in `src`, or where another row has its packages."""
        roots = {"", "src/"}
        for package in self.by_package:
            layout = self.layout(package)
            if layout is not None:
                roots.add(f"{layout.root}/" if layout.root else "")
        prefixes = tuple(f"{root}{top}/" for root in roots)
        return any(path.startswith(prefixes) for path in self.tree.paths)

    def idle(self) -> tuple[tuple[str, str], ...]:
        """The packages whose rows guard nothing, each with the code of the tree that may be it."""
        for package in self.by_package:
            if self.layout(package) is None:
                self.view(package)
        return tuple(sorted(self._doubtful.items()))

    def _may_hold(self, top: str) -> str:
        """Code of the tree that may be the top-level package, wherever it stands: on a search path, or by a test's setup."""
        for path in self.tree.paths:
            *folders, name = path.split("/")
            if path.endswith(_CODE) and (top in folders or name.partition(".")[0] == top):
                return path
        return ""

    def _outside(self, package: str) -> Layout | None:
        """The modules of the tree, with a package that is installed beside it (`narrow-reexport --from-shims` wrote its rows)."""
        from codemods.engine.graph import parents

        top = package.partition(".")[0]
        if self._gone[package].path:
            return None
        if (held := self._may_hold(top)) and not self.at_root(top):
            self._doubtful[package] = held
        if held:
            return None
        near = {each: rows for each, rows in self.by_package.items() if each.partition(".")[0] == top}
        origins = {ban.origin.module for rows in near.values() for ban in rows.values()}
        packages = {part for each in (*near, *origins) for part in parents(each)} | near.keys()
        paths = [f"{each.replace('.', '/')}/__init__.py" for each in packages]
        paths += [f"{each.replace('.', '/')}.py" for each in origins - packages]
        self._elsewhere.update(paths)
        installed = Layout(paths, package, root="")
        return Layout(self.tree.paths, package, self.source_roots, base=installed)

    def _any_layout(self) -> Layout | None:
        found = (self.layout(package) for package in self.by_package)
        layout = next((layout for layout in found if layout is not None), None)
        if layout is None:
            views = (self.view(package) for package in self.by_package)
            layout = next((view.layout for view in views if view is not None), None)
        return layout


def _again(
    root: Path, rows: tuple[Ban, ...], exclude: tuple[str, ...], source_roots: tuple[str, ...], paths: tuple[str, ...]
) -> Guard:
    return Guard(root, rows, exclude=exclude, source_roots=source_roots, paths=paths)
