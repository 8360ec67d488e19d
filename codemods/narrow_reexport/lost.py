"""What `import package` no longer loads, and who relied on it.

Owns the modules that are lost with a re-export, those of the standard library among them, and the files that are not
concerned.
Invariant: it reads import graphs, and imports nothing of what it reads about.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from codemods.engine.graph import ImportGraph, parents
from codemods.engine.import_lines import ImportLine, import_lines
from codemods.engine.model import Module, Symbol
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.outline import Binds, FromImports, Imports
from codemods.narrow_reexport.byways import absolute
from codemods.narrow_reexport.resolve import Resolution


def foreign_orphans(lost: frozenset[str]) -> frozenset[str]:
    """Lost modules outside the tree that their own package does not import: `xml.dom`, but not `os.path`.

    The standard library is read, not imported. Of third-party packages nothing is known here: nearly all of them load
    the submodules that code reads from them (`torch.nn`), so theirs do not count.
    """
    dotted = {name for name in lost if "." in name and name.partition(".")[0] in sys.stdlib_module_names}
    if not dotted:
        return frozenset()
    folder = Path(sysconfig.get_path("stdlib"))

    def locate(name: str) -> Module | None:
        below = folder.joinpath(*name.split("."))
        if (below / "__init__.py").is_file():
            return Module(name, str(below / "__init__.py"), True)
        return Module(name, f"{below}.py", False) if Path(f"{below}.py").is_file() else None

    library = ImportGraph(locate, lambda path: Path(path).read_bytes())
    kept = set()
    for name in dotted:
        parent = name.rpartition(".")[0]
        if any(edge.imported == name for edge in library.edges(parent)):
            continue
        if locate(name) is None:
            continue  # os.path and the like: no file of its own
        kept.add(name)
    return frozenset(kept)


def origins_of(package: Module, resolutions: Iterable[Resolution]) -> frozenset[str]:
    """The origins' modules below the package, and the packages between: what the removed imports loaded themselves."""
    found: set[str] = set()
    for resolution in resolutions:
        name = resolution.origin.dotted if resolution.is_submodule else resolution.origin.module
        while name.startswith(f"{package.name}."):
            found.add(name)
            name = name.rpartition(".")[0]
    return frozenset(found)


def taken_by_stars(orphans: frozenset[str], namespaces: Namespaces) -> frozenset[str]:
    """Lost submodules that `from their.package import *` takes once they are loaded: no `__all__`, or one that names them."""
    found: set[str] = set()
    for name in orphans:
        parent, _, last = name.rpartition(".")
        exports = namespaces.exports(parent)
        listed = exports is not None and exports.complete
        if parent and exports is not None and last in exports.names:
            found.add(name)  # the import system loads it for the star, too
        elif parent and not listed and not last.startswith("_"):
            found.add(name)
    return frozenset(found)


class Reliance:
    """Which files get a lost module of another package by importing the one that is narrowed, straight or through others."""

    def __init__(self, layout: Layout, before: ImportGraph, after: ImportGraph, *, own_tree: bool) -> None:
        self.layout, self.before, self.after = layout, before, after
        self.own_tree = own_tree  # the graphs are those of this tree

    def lost_by(self, path: str, data: bytes, modules: frozenset[str]) -> frozenset[str]:
        """Those of some modules that a file gets in no other way."""
        name = self.layout.module_at(path).name
        located = self.before.module(name) if self.own_tree else None
        every = {loaded for line in import_lines(data) for loaded in self._loaded(path, line)}
        eager = {name} if located is not None and located.path == path else every  # bin/some-script.py
        if eager != every:
            # what it loads itself is told by its outline alone, without those of others
            sources = {event.module for event in self.before.outline(name).events if not isinstance(event, Binds)}
            modules -= {loaded for source in sources for loaded in (source, *parents(source))}
        found: frozenset[str] = frozenset()
        # what a function imports counts for what functions read; what a file imports as it is loaded counts for itself
        for roots in (eager, eager | every) if eager != every else (every,):
            left = modules - found
            found |= self.before.reached(roots, left - self.after.reached(roots, left))
        return found

    def _loaded(self, path: str, line: ImportLine) -> Iterator[str]:
        # import a.b        from a import b        from . import b
        for name, _ in line.names:
            if line.module is None:
                yield name.decode("utf-8", "replace")
                continue
            source = absolute(self.layout, path, line.module.decode("utf-8", "replace"))
            below = f"{source}.{name.decode('utf-8', 'replace')}"
            yield below if self.layout.locate(below) is not None else source


def handed_on(
    package: Module, layout: Layout, graph: ImportGraph, files: Mapping[str, bytes], orphans: Iterable[str]
) -> dict[tuple[str, str], str]:
    """Packages of lost modules that files take from modules that imported them: (module, name) to the package."""
    # from compat import other        import compat; compat.other
    above = {parent for name in orphans if not name.startswith(f"{package.name}.") for parent in parents(name)}
    found: dict[tuple[str, str], str] = {}
    for path, data in files.items() if above else ():
        for line in import_lines(data):
            names = [name.decode("utf-8", "replace") for name, _ in line.names]
            if line.module is None:
                sources = [part for name in names for part in (*parents(name), name)]
            else:
                sources = [absolute(layout, path, line.module.decode("utf-8", "replace"))]
            for source in sources:
                whole = line.module is None or "*" in names
                for name in graph.ever_bound(source) if whole else names:
                    held = _held(graph, source, name) if not whole or name.encode() in data else ""
                    if held in above and held != f"{source}.{name}":
                        found[source, name] = held
    return found


def _held(graph: ImportGraph, module: str, name: str, asked: set[Symbol] | None = None) -> str:
    """The module that a name of a module is, as far as import statements tell; empty where it is none."""
    asked = asked if asked is not None else set()
    if Symbol(module, name) in asked:
        return ""
    asked.add(Symbol(module, name))
    for event in reversed(graph.outline(module).events):
        if isinstance(event, Imports) and event.bound == name:
            return name if event.module.startswith(f"{name}.") else event.module
        if not isinstance(event, FromImports):
            continue
        for taken, bound in event.names:
            # from .other import pkg        the submodule, or what that module holds under the name
            dotted = f"{event.module}.{taken}"
            if bound == name:
                return (_held(graph, event.module, taken, asked) if graph.module(dotted) is None else "") or dotted
            found = _held(graph, event.module, name, asked) if taken == "*" else ""
            if found:
                return found
    return ""


def spared(
    package: Module, reliance: Reliance, losing: Mapping[str, bytes], orphans: frozenset[str]
) -> frozenset[tuple[str, str]]:
    """Of the files that read a lost submodule of another package, those that do not get it by importing this package."""
    foreign = frozenset(name for name in orphans if not name.startswith(f"{package.name}."))
    return frozenset(
        (path, module)
        for path, data in (losing.items() if foreign else ())
        for module in foreign - reliance.lost_by(path, data, foreign)
    )
