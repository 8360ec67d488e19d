"""What `import package` no longer loads, and who relied on it.

Owns the modules that are lost with a re-export, those of the standard library among them, and the files that are not
concerned.
Invariant: it reads import graphs, and imports nothing of what it reads about.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from codemods.engine.graph import ImportGraph
from codemods.engine.model import Module
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
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


def spared(
    package: Module,
    layout: Layout,
    losing: Iterable[str],
    orphans: frozenset[str],
    before: ImportGraph,
    after: ImportGraph,
) -> frozenset[tuple[str, str]]:
    """Of the files that read a lost submodule of another package, those that do not get it by importing this package."""
    found: set[tuple[str, str]] = set()
    foreign = {name for name in orphans if not name.startswith(f"{package.name}.")}
    for path in losing if foreign else ():
        name = layout.module_at(path).name
        needs = before.closure(name) - after.closure(name)
        found |= {(path, module) for module in foreign if module not in needs}
    return frozenset(found)
