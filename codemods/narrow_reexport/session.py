"""What several runs over one tree share: the list of its files, their bytes and words, the outlines of its modules.

Owns the caches of a process that asks for many symbols one after the other; a run of its own needs none of them.
Invariant: it never changes a verdict: a run gives the same result with it and without it, as long as no file changes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codemods.engine.discover import is_code, list_files
from codemods.engine.graph import ImportGraph
from codemods.engine.import_lines import ImportLine
from codemods.engine.model import Module
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.outline import Outline
from codemods.engine.parallel import each_read
from codemods.engine.project import RememberedTree, Tree
from codemods.engine.python_floor import oldest_python
from codemods.engine.words import Words
from codemods.narrow_reexport.foreign_reads import renamed_imports
from codemods.narrow_reexport.needles import has_star


class Session:
    """One tree, listed once. With `remember` its bytes are kept, and its words indexed when first asked for."""

    def __init__(
        self, root: Path, exclude: Sequence[str] = (), *, remember: bool = False, tree: Tree | None = None
    ) -> None:
        """A `tree` that is given is taken as it is."""
        listed = list_files(root, exclude=exclude) if tree is None else tree.paths
        paths, self.leading_out = _canonical(Tree(root, listed), listed)
        if tree is None:
            tree = RememberedTree(root, paths) if remember else Tree(root, paths)
        self.tree = tree
        self._remember = remember
        self._outlines: dict[Module, Outline] = {}
        self._views: dict[tuple[str, tuple[str, ...]], tuple[Layout, Namespaces, ImportGraph]] = {}
        self._words: Words | None = None
        self._always: tuple[int, ...] = ()
        self._renamed: dict[str, list[ImportLine]] | None = None

    def edited(self, files: Mapping[str, bytes]) -> Session:
        """The same tree with these bytes in some files; what is known of all others is kept."""
        after = Session.__new__(Session)
        after.tree, after.leading_out = self.tree.edited(files), self.leading_out
        after._remember, after._words, after._always = self._remember, self._words, self._always
        after._outlines = {module: found for module, found in self._outlines.items() if module.path not in files}
        after._views = {}
        after._renamed = None if self._renamed is None else dict(self._renamed)
        for path, data in files.items() if after._renamed is not None else ():
            after._renamed[path] = renamed_imports(path, data, None) or []  # type: ignore[index]
        if after._words is not None:
            numbers = {path: number for number, path in enumerate(after.tree.paths) if path in files}
            for path, number in numbers.items():
                after._words.add(number, files[path])
            after._always += tuple(number for path, number in numbers.items() if _unspelled(path, files[path]))
        return after

    def view(self, package: str, source_roots: Sequence[str]) -> tuple[Layout, Namespaces, ImportGraph]:
        """The tree as one package sees it. Raises UnknownPackage."""
        key = (package, tuple(source_roots))
        if key not in self._views:
            layout = Layout(self.tree.paths, package, source_roots)
            namespaces = Namespaces(layout.locate, self.tree.read)
            module = layout.locate(package)
            if module is not None:
                namespaces.floor = oldest_python(module.path, frozenset(self.tree.paths), self.tree.read)
            self._views.clear()  # runs come package by package, and one view of a large tree is enough to keep
            graph = ImportGraph(layout.locate, self.tree.read)
            graph.outlines = self._outlines
            self._views[key] = (layout, namespaces, graph)
        return self._views[key]

    def candidates(self, folder: str, words: Iterable[str]) -> tuple[str, ...]:
        """The files that can matter to a scan for these words; all of them where nothing is remembered.

        Those below `folder`, those that spell one of the words, and those that a scan looks at whatever they spell: with
        a star import, or with identifiers that Python reads in another normal form.
        """
        spelled = tuple(words)
        if not self._remember or not all(word.isascii() for word in spelled):
            return self.tree.paths
        if self._words is None:
            self._words = Words(self.tree.paths, self.tree.read)
            self._always = tuple(
                number for number, path in enumerate(self.tree.paths) if _unspelled(path, self.tree.read(path))
            )
        found = self._words.spelling(spelled) | set(self._always)
        found |= {number for number, path in enumerate(self.tree.paths) if path.startswith(folder)}
        return tuple(self.tree.paths[number] for number in sorted(found))

    def renamed(self) -> Mapping[str, Sequence[ImportLine]]:
        """The imports that give other names, of all files; nothing where nothing is remembered, and all files are looked at."""
        if self._remember and self._renamed is None:
            self._renamed = dict(each_read(renamed_imports, self.tree.paths, self.tree.read, None))
        return self._renamed or {}


def _unspelled(path: str, data: bytes) -> bool:
    if not is_code(path):
        return False
    if has_star(data):
        return True
    return not data.isascii() and not unicodedata.is_normalized("NFKC", data.decode("utf-8", "replace"))


def _canonical(tree: Tree, paths: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The files to look at, and the symlinks that lead out of the tree. A link's target is edited once, under its path."""
    listed = set(paths)
    kept: dict[str, None] = {}
    leading_out: list[str] = []
    for path in paths:
        real = tree.canonical(path)
        if real == path or path.endswith("/__init__.py"):
            kept[path] = None
        elif real is None:
            leading_out.append(path)
        elif real not in listed:
            kept[real] = None
    return tuple(sorted(kept)), leading_out
