"""A tree opened for questions: its files, its modules, the graph, and who imports what from where.

Owns the way from a root folder to `Opened`: list, look up in the cache, read what is new on all cores, remember.
Invariant: it imports nothing of the tree; a cached outline counts only while the file's time, size and module are the same.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.engine import discover
from codemods.engine.errors import UnknownPackage, Unreadable
from codemods.engine.graph import ImportGraph
from codemods.engine.model import Module
from codemods.engine.modules import Layout
from codemods.engine.outline import Outline
from codemods.engine.project import Tree
from codemods.import_cost import cache
from codemods.import_cost.loads import Loads
from codemods.import_cost.records import Record, UseIndex, decode_outline, read_outline, read_uses

_BESIDE = frozenset({"tests", "test", "docs", "doc", "examples", "benchmarks", "tools", "scripts"})
_MANY = 150  # new files; below, starting processes costs more than it saves
_FRESH = 2_000_000_000  # nanoseconds: so young a file may change again without a change of its time (FAT has 2 s)


@dataclass(frozen=True)
class Opened:
    """One tree, seen from one module."""

    tree: Tree
    layout: Layout
    loads: Loads
    records: Mapping[str, Record]

    @functools.cached_property
    def uses(self) -> UseIndex:
        """Who imports what from where, in all Python files of the tree."""
        return UseIndex(self.records)

    @functools.cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules of the top-level package, as far as they are what their name leads to."""
        top = self.layout.top
        names = (record.module.name for record in self.records.values() if record.outline)
        return tuple(name for name in names if name.partition(".")[0] == top and self.loads.in_tree(name))


def open_tree(
    root: Path,
    name: str,
    *,
    exclude: Sequence[str] = (),
    source_roots: Sequence[str] = (),
    cached: bool = True,
    within: str = "",
) -> Opened:
    """Open the tree for `name`, a package or module in it. Raises UnknownPackage where there is none.

    With `within` the tree is this folder of the root alone: an installed package, among many that are no part of it.
    """
    if within.endswith(".py"):
        paths: tuple[str, ...] = (within,)
    else:
        paths = discover.list_files(root / within, exclude=exclude)
    if within and not within.endswith(".py"):
        paths = tuple(f"{within}/{path}" for path in paths)
    layout = Layout(paths, name, source_roots, root=_root_of(paths, name, source_roots))
    tree = Tree(root, paths)
    records = _records(tree, layout, cache.cache_file(root / within) if cached else None)
    graph = ImportGraph(_locator(layout, source_roots), _reader(tree), _stored(records))
    return Opened(tree, layout, Loads(graph), records)


def main_package(root: Path) -> str:
    """The one package of a checkout, where there is one. Raises UnknownPackage with the choice where there are more."""
    files = [path for path in discover.list_files(root) if path.endswith("/__init__.py")]
    tops = sorted(path.split("/")[0] for path in files if path.count("/") == 1)
    tops += sorted(path.split("/")[1] for path in files if path.count("/") == 2 and path.startswith("src/"))
    found = [name for name in dict.fromkeys(tops) if name not in _BESIDE]
    if len(found) == 1:
        return found[0]
    hint = "name one: " + ", ".join(found) if found else "name a package"
    raise UnknownPackage("there is more than one package here" if found else "there is no package here", hint=hint)


def _reader(tree: Tree) -> Callable[[str], bytes | None]:
    def read(path: str) -> bytes | None:
        try:
            return tree.read(path)
        except Unreadable:  # counts like a file that does not parse
            return None

    return read


def _stored(records: Mapping[str, Record]) -> Callable[[Module], Outline | None]:
    def stored(module: Module) -> Outline | None:
        record = records.get(module.path)
        if record is None or not record.outline or record.module != module:
            return None
        return decode_outline(record.outline)

    return stored


# --- what is known of each file ---


def _records(tree: Tree, layout: Layout, file: Path | None) -> dict[str, Record]:
    known = cache.load(file) if file is not None else {}
    now = time.time_ns()
    found: dict[str, Record] = {}
    states: dict[str, tuple[int, int]] = {}
    modules: dict[str, Module] = {}
    for path in tree.paths:
        if not discover.runs(path):
            continue
        try:
            state = os.stat(f"{tree.root}/{path}")  # noqa: PTH116 - thousands of paths
        except OSError:
            continue
        module = layout.module_at(path)
        wanted = module.name.partition(".")[0] == layout.top
        record = known.get(path)
        if (
            record is not None
            and (record.changed, record.size, record.module) == (state.st_mtime_ns, state.st_size, module)
            and (record.outline or not wanted)
        ):
            found[path] = record
        else:
            states[path] = (state.st_mtime_ns, state.st_size)
            modules[path] = module
    read = _reader(tree)
    jobs = [(path, data) for path in modules if (data := read(path)) is not None]
    top = layout.top
    for function, inside in ((read_outline, True), (read_uses, False)):
        part = [job for job in jobs if (modules[job[0]].name.partition(".")[0] == top) is inside]
        for (path, _), (outline, uses) in zip(part, _each(function, part, modules), strict=True):
            found[path] = Record(*states[path], modules[path], outline, uses)
    if file is not None and (jobs or len(found) != len(known)):
        kept = {path: each for path, each in found.items() if now - each.changed > _FRESH}
        if kept.keys() != known.keys() or any(path in states for path in kept):
            cache.store(file, kept)
    return found


_Reads = Callable[[str, bytes, Mapping[str, Module]], tuple[bytes, bytes]]


def _each(
    function: _Reads, jobs: Sequence[tuple[str, bytes]], modules: Mapping[str, Module]
) -> list[tuple[bytes, bytes]]:
    if len(jobs) < _MANY or function is read_uses:  # as quick as sending the bytes to another process
        return [function(path, data, modules) for path, data in jobs]
    from codemods.engine import parallel  # a warm run does without it

    return list(parallel.each(function, jobs, modules))


# --- where a module lies ---


def _locator(layout: Layout, source_roots: Sequence[str]) -> Callable[[str], Module | None]:
    """The module of the tree that an import of this name reaches, as far as a tree can tell.

    Beside the top-level package in question a tree has folders `docker/` and `torch/`, scripts called `types.py`, and
    the like; an import of such a name reaches the standard library or what is installed.
    """
    preferred = {layout.root, "", "src", *(root.rstrip("/").removeprefix("./") for root in source_roots)}
    reached: dict[str, bool] = {layout.top: True}

    def reaches(top: str) -> bool:
        found = layout.locate(top) if top not in sys.stdlib_module_names else None
        if found is None or not found.path:
            return False
        return found.is_package or found.path.removesuffix(f"{top}.py").rstrip("/") in preferred

    def locate(name: str) -> Module | None:
        top = name.partition(".")[0]
        if top not in reached:
            reached[top] = reaches(top)
        return layout.locate(name) if reached[top] else None

    return locate


def _root_of(paths: Sequence[str], name: str, source_roots: Sequence[str]) -> str:
    """The folder on `sys.path` from which `import name` finds a module of the tree."""
    below = name.replace(".", "/")
    files = frozenset(path for path in paths if path.endswith(".py"))
    ends = (f"{below}/__init__.py", f"{below}.py")
    roots = {path[: -len(end)].rstrip("/") for path in files for end in ends if path == end or path.endswith(f"/{end}")}
    if not roots:  # a folder without __init__.py
        roots = {
            path[: path.index(f"/{below}/")] if not path.startswith(f"{below}/") else ""
            for path in files
            if f"/{path}".find(f"/{below}/") >= 0
        }
    roots = {root for root in roots if f"{root}/__init__.py".lstrip("/") not in files or not root}
    given = [root.rstrip("/").removeprefix("./") for root in source_roots]
    if given:
        roots &= set(given)
    for preferred in (*given, "", "src"):
        if preferred in roots:
            return "" if preferred == "." else preferred
    if len(roots) == 1:
        return roots.pop()
    if roots:
        listed = ", ".join(sorted(f"{root}/{below}" for root in roots)[:3])
        hint = f"name the one you mean with --source-root, for example --source-root {min(roots)}"
        raise UnknownPackage(f"more than one module is called {name}: {listed}", hint=hint)
    return unknown(paths, name)


def known(opened: Opened, name: str) -> None:
    """Raise UnknownPackage for a name that would lie in the tree and does not: "not loaded" would be true of any slip.

    A module without a source file, compiled or generated, is known if somebody in the tree imports it.
    """
    graph = opened.loads.graph
    top = graph.module(name.partition(".")[0])
    if top is None or not top.path or graph.module(name) is not None:
        return
    edges = (edge for module in opened.modules for edge in graph.edges(module))
    if not any(f"{edge.imported}.".startswith(f"{name}.") for edge in edges):
        unknown(opened.tree.paths, name)


def unknown(paths: Sequence[str], name: str) -> str:
    """Raise UnknownPackage for a name that leads nowhere, with the nearest one that leads somewhere."""
    import difflib

    known = sorted(
        path.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").replace("/", ".")
        for path in paths
        if path.endswith(".py")
    )
    last = name.rpartition(".")[2]
    near = difflib.get_close_matches(name, known, 1, 0.8) or [each for each in known if each.rpartition(".")[2] == last]
    hint = "run the command at the root of the checkout, or pass --source-root"
    if name in known:
        hint = "there is one, but not below the --source-root that is given"
    elif near:
        hint = f"did you mean {near[0]}?"
    raise UnknownPackage(f"no module {name} in this tree", hint=hint)
