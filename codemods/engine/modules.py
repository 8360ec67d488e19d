"""Which file is which module: import roots, found by themselves or given.

Owns the map between paths and dotted names. Source roots are folders that stand on `sys.path` when the programs of
the tree run: the root itself, `src/`, the folder above any topmost package, and each portion of a namespace package.
Invariant: it never reads a file; it works on the list of paths alone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from codemods.engine.errors import UnknownPackage
from codemods.engine.model import Module

PYTHON = (".py", ".pyi")
_NOWHERE = "\0"  # the root of a package that is not in this tree


class Layout:
    """The modules of a tree, seen from one package."""

    def __init__(
        self,
        paths: Sequence[str],
        package: str,
        source_roots: Sequence[str] = (),
        base: Layout | None = None,
        root: str | None = None,
    ) -> None:
        """Find the root of `package`, unless it is given. Raises UnknownPackage where there is none, or more than one.

        With `base` the tree is another checkout, which only uses the package: the package is looked up in `base`.
        """
        self._files = frozenset(path for path in paths if path.endswith(PYTHON))
        self._folders: set[str] = set()
        self._parents: dict[str, set[str]] = {}
        for path in self._files:
            folder, _, name = path.rpartition("/")
            self._parents.setdefault(name.rpartition(".")[0], set()).add(folder)
            while folder not in self._folders:
                self._folders.add(folder)
                if not folder:
                    break
                above, _, last = folder.rpartition("/")
                self._parents.setdefault(last, set()).add(above)
                folder = above
        self._given = tuple(
            posixpath.normpath(root.replace("\\", "/")).removeprefix(".").lstrip("/") for root in source_roots
        )
        self.package = package
        self.top = package.partition(".")[0]
        self._base = base
        self.root = root if root is not None else self._root_of(package) if base is None else _NOWHERE
        self._portions = self._namespace_portions() if base is None else ()

    def facts(self) -> tuple[object, ...]:
        """All that its answers follow from."""
        base = self._base.facts() if self._base is not None else ()
        return (self.package, self.root, self._given, tuple(sorted(self._files)), base)

    def locate(self, name: str) -> Module | None:
        """The module of the tree with this dotted name; a package before a module; None where the tree has none."""
        top = name.partition(".")[0]
        below = name.replace(".", "/")
        if self._base is not None and top == self.top:
            return self._base.locate(name)
        for root in self._roots_for(top):
            prefix = f"{root}/" if root else ""
            for path, is_package in ((f"{prefix}{below}/__init__.py", True), (f"{prefix}{below}.py", False)):
                if path in self._files:
                    return Module(name, path, is_package)
        for root in self._roots_for(top):
            folder = f"{root}/{below}" if root else below
            if folder in self._folders:
                return Module(name, "", True)
        return None

    def module_at(self, path: str) -> Module:
        """The module that a file is. A script outside every package is a module of its own folder."""
        folder, slash, name = path.rpartition("/")
        stem = folder + slash + (name.rpartition(".")[0] or name)  # bin/serve: a program without a suffix
        root = self._root_of_file(path)
        below = stem[len(root) + 1 :] if root else stem
        if path.endswith(".pyi"):
            # foo-stubs/ops.pyi        the stub of foo.ops (PEP 561)
            top, slash, rest = below.partition("/")
            below = top.removesuffix("-stubs") + slash + rest
        dotted = below.replace("/", ".")
        is_package = dotted == "__init__" or dotted.endswith(".__init__")
        return Module(dotted.removesuffix("__init__").rstrip(".") if is_package else dotted, path, is_package)

    def shadowed_by(self, path: str) -> str:
        """The file or folder that an absolute import of the package's top-level name reaches from this script instead.

        `scripts/ops.py` beside `scripts/run.py`: there `import ops` is the script's neighbour. Empty where nothing shadows.
        """
        if self._inside(path):
            return ""
        root = self._root_of_file(path)
        if root == self.root or root in self._portions:
            return ""
        other = f"{root}/{self.top}" if root else self.top
        if self._given and root not in self._given:
            return ""
        if other == (f"{self.root}/{self.top}" if self.root else self.top):
            return ""
        if f"{other}.py" in self._files:
            return f"{other}.py"
        return other if f"{other}/__init__.py" in self._files else ""

    def is_package_folder(self, folder: str) -> bool:
        """Whether a folder has an `__init__.py`."""
        return f"{folder}/__init__.py" in self._files if folder else "__init__.py" in self._files

    def _inside(self, path: str) -> bool:
        return any(
            path.startswith(f"{root}/{self.top}/" if root else f"{self.top}/") for root in (self.root, *self._portions)
        )

    def _root_of_file(self, path: str) -> str:
        for root in (self.root, *self._portions):
            if path.startswith(f"{root}/{self.top}/" if root else f"{self.top}/"):
                return root
        folder = path.rpartition("/")[0]
        stub = path.endswith(".pyi")
        while folder and (self.is_package_folder(folder) or (stub and f"{folder}/__init__.pyi" in self._files)):
            folder = folder.rpartition("/")[0]
        return folder

    def _root_of(self, package: str) -> str:
        below = package.replace(".", "/")
        file = f"{below}/__init__.py"
        found = sorted(
            path[: -len(file)].rstrip("/") for path in self._files if path == file or path.endswith(f"/{file}")
        )
        found = [root for root in found if not self.is_package_folder(root)]
        if self._given:
            found = [root for root in self._given if root in found]
        for preferred in ("", "src", *self._given):
            if preferred in found:
                return preferred
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownPackage(
                f"more than one package is called {package}: {', '.join(f'{root}/{file}' for root in found)}",
                path=f"{found[0]}/{file}",
                line=1,
                hint="name the one you mean with --source-root, for example --source-root " + found[0],
            )
        raise self._unknown(package, below)

    def _unknown(self, package: str, below: str) -> UnknownPackage:
        for root in ("", "src/"):
            if f"{root}{below}.py" in self._files:
                return UnknownPackage(
                    f"{package} is a module, not a package: only a package's __init__ re-exports",
                    path=f"{root}{below}.py",
                    line=1,
                )
            if f"{root}{below}" in self._folders:
                return UnknownPackage(
                    f"{package} is a folder without __init__.py: a namespace package re-exports nothing",
                    path=f"{root}{below}",
                )
        known = sorted(
            path.removesuffix("/__init__.py").removeprefix("src/").replace("/", ".")
            for path in self._files
            if path.endswith("/__init__.py")
        )
        import difflib

        last = package.rpartition(".")[2]
        near = (
            difflib.get_close_matches(package, known, 1, 0.8)
            or [name for name in known if name.rpartition(".")[2] == last][:1]
        )
        hint = (
            f"did you mean {near[0]}?"
            if near
            else "run the command at the root of the checkout, or name the folder above the package with --source-root"
        )
        if not self._files:
            hint = "there is no Python file below this folder; run the command at the root of the checkout"
        return UnknownPackage(f"no package {package} in this tree", hint=hint)

    def _namespace_portions(self) -> tuple[str, ...]:
        own = f"{self.root}/{self.top}" if self.root else self.top
        if self.is_package_folder(own):
            return ()
        others = self._parents.get(self.top, set()) - {self.root}
        return tuple(
            sorted(
                root
                for root in others
                if (f"{root}/{self.top}" if root else self.top) in self._folders
                and not self.is_package_folder(f"{root}/{self.top}" if root else self.top)
                and not self.is_package_folder(root)
                and not root.startswith(f"{own}/")
            )
        )

    def _roots_for(self, top: str) -> tuple[str, ...]:
        if top == self.top:
            return (self.root, *self._portions)
        candidates = {root for root in self._parents.get(top, ()) if not self.is_package_folder(root)}
        candidates = {
            root
            for root in candidates
            if not (root == f"{self.root}/{self.top}".strip("/") or self._inside(f"{root}/x.py"))
        }
        first = [root for root in (self.root, *self._given, "", "src") if root in candidates]
        return (*dict.fromkeys(first), *sorted(candidates - set(first), key=lambda root: (root.count("/"), root)))
