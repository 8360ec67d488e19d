"""One tree and the rows of its `narrowed.toml`: which files are looked at for which rows, and how the planner sees them.

Owns reading the rows, and turning them into what `narrow_reexport` plans with.
Invariant: it never writes, and reads no file but those that it is asked about, the rows, and modules that lead to a package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.check_narrowed.sieve import Sieve
from codemods.engine.bans import FILE_NAME, Ban, load_bans
from codemods.engine.discover import list_files
from codemods.engine.errors import CodemodError, Unreadable
from codemods.engine.model import Module, Site
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.project import Tree
from codemods.narrow_reexport.context import Context, Patched
from codemods.narrow_reexport.resolve import Resolution


def find_rows(start: Path) -> Path | None:
    """The folder of the nearest `narrowed.toml`, from `start` upward."""
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    return None


def read_rows(root: Path) -> tuple[Ban, ...]:
    """The rows of a tree. Raises `BadConfiguration`, and `Unreadable` where there is no file."""
    try:
        data = (root / FILE_NAME).read_bytes()
    except OSError as error:
        hint = "narrow-reexport writes it; check_narrowed --add PKG:SYMBOL starts it"
        raise Unreadable(f"cannot be read: {error.strerror}", path=FILE_NAME, hint=hint) from error
    return load_bans(data)


@dataclass(frozen=True, slots=True)
class View:
    """What the guard knows of one package: its module, and its rows by name."""

    module: Module
    rows: dict[str, Ban]
    layout: Layout
    namespaces: Namespaces


class Guard:
    """The rows of one tree, ready to be asked about its files. `paths` are listed when first needed, unless given."""

    def __init__(
        self,
        root: Path,
        rows: Sequence[Ban],
        *,
        exclude: Sequence[str] = (),
        paths: Sequence[str] | None = None,
        read: Callable[[str], bytes] | None = None,
    ) -> None:
        self.root = root
        self.rows = tuple(rows)
        self._exclude = tuple(exclude)
        self._tree = Tree(root, tuple(paths)) if paths is not None else None
        self._given = read
        self._layouts: dict[str, Layout | None] = {}
        self._views: dict[str, View | None] = {}
        self._allowed: dict[tuple[str, ...], Callable[[str], bool]] = {}
        self.by_package: dict[str, dict[str, Ban]] = {}
        for ban in rows:
            self.by_package.setdefault(ban.symbol.module, {})[ban.symbol.name] = ban
        # a symbol that is a submodule is found by the import system: it is banned in the `__init__` alone
        wanted = {
            package: [name for name, ban in named.items() if ban.origin != ban.symbol]
            for package, named in self.by_package.items()
        }
        self._sieve = Sieve({p: names for p, names in wanted.items() if names}, self._any_layout, self.read)

    @property
    def tree(self) -> Tree:
        """The files of the tree."""
        if self._tree is None:
            self._tree = Tree(self.root, list_files(self.root, exclude=self._exclude))
        return self._tree

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        return self._given(path) if self._given is not None else self.tree.read(path)

    def suspects(self, path: str, data: bytes) -> tuple[str, ...]:
        """The packages that a file may reach a banned name through, sorted."""
        return tuple(sorted(self._sieve.suspects(path, data)))

    def view(self, package: str) -> View | None:
        """What is known of a package; None where it is not in the tree."""
        if package not in self._views:
            layout = self._layout(package)
            module = layout.locate(package) if layout is not None else None
            known = layout is not None and module is not None and module.path
            self._views[package] = (
                View(module, self.by_package[package], layout, Namespaces(layout.locate, self.read))
                if known and layout is not None and module is not None
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
                if view is not None and f"{folder}/__init__.py" == view.module.path:
                    return view
        return None

    def context(self, package: str) -> Context | None:
        """The context in which a file's references are found. It plans nothing that could be written."""
        view = self.view(package)
        if view is None:
            return None
        resolutions = tuple(self._resolution(view, ban) for ban in view.rows.values() if ban.origin != ban.symbol)
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

    def allows(self, ban: Ban, path: str) -> bool:
        """Whether the row's `allow` lets this file do as before."""
        if not ban.allow:
            return False
        if ban.allow not in self._allowed:
            import pathspec

            self._allowed[ban.allow] = pathspec.GitIgnoreSpec.from_lines(ban.allow).match_file
        return self._allowed[ban.allow](path)

    def _resolution(self, view: View, ban: Ban) -> Resolution:
        same = view.layout.locate(ban.symbol.dotted) is not None
        site = Site(view.module.path, 1, 0, "")
        public = not ban.symbol.name.startswith("_")
        return Resolution(ban.symbol, ban.origin, site, False, same, public, False, False, (), narrowed=True)

    def _layout(self, package: str) -> Layout | None:
        top = package.partition(".")[0]
        if top not in self._layouts:
            try:
                self._layouts[top] = Layout(self.tree.paths, package)
            except CodemodError:
                return None  # this package is gone, another one of the same top may be there
        return self._layouts[top]

    def _any_layout(self) -> Layout | None:
        found = (self._layout(package) for package in self.by_package)
        return next((layout for layout in found if layout is not None), None)
