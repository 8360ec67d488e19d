"""All re-exports of a repository, ranked by what they cost those who do not need them.

Owns the score of `--everywhere`. A re-export is a package and one origin that its `__init__` takes names from.
`saved` is the number of modules of the tree that `import package` would no longer load without it. `importers` is
the number of modules M of the tree, the package among them, such that `import M` loads the origin now and would not
without it, where each module that takes one of its names through the package as it is imported takes it from the
origin instead (so that a module which needs the origin never counts). The score is `saved` times `importers`.
Invariant: it counts on the graph alone, and each score is that of one re-export narrowed by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codemods.engine.outline import FromImports
from codemods.import_cost.loads import Loads, Pairs, exported, handed_on
from codemods.import_cost.tree import Opened


@dataclass(frozen=True, slots=True)
class Ranked:
    """One re-export and its score."""

    package: str
    path: str
    line: int
    origin: str
    names: tuple[str, ...]
    saved: int
    importers: int

    @property
    def score(self) -> int:
        """What it costs those who do not need it."""
        return self.saved * self.importers


def rank(opened: Opened, below: str = "") -> tuple[Ranked, ...]:
    """The re-exports of the packages at and below a module (all where it is empty), the worst first."""
    loads = opened.loads
    into, takers = _turned(loads, opened.modules)
    found = []
    for name in opened.modules:
        located = loads.graph.module(name)
        if located is None or not located.is_package or not f"{name}.".startswith(f"{below}." if below else ""):
            continue
        whole: frozenset[str] | None = None
        for taken in loads.taken(name):
            names = exported(loads, taken)
            if not names or not loads.in_tree(taken.origin) or name.startswith(f"{taken.origin}."):
                continue
            moved = {module for each in handed_on(loads, taken) for module in takers.get((name, each), ())}
            extra = {module: frozenset({taken.origin}) for module in moved}
            edges = loads.edges_of(name, taken)
            without = loads.closure(name, edges, extra)
            if taken.origin in without:  # loaded all the same, for whoever imports the package
                continue
            whole = whole or loads.closure(name)
            saved = sum(map(loads.in_tree, whole - without))
            before = _reaching(taken.origin, into, frozenset(), ())
            after = _reaching(taken.origin, into, edges, moved)
            importers = sum(map(loads.in_tree, before - after))
            found.append(Ranked(name, located.path, taken.lines[0], taken.origin, names, saved, importers))
    return tuple(sorted(found, key=lambda each: (-each.score, each.package, each.origin)))


def _turned(loads: Loads, modules: Iterable[str]) -> tuple[Mapping[str, list[str]], Mapping[tuple[str, str], set[str]]]:
    """Who imports a module, and who takes which name from a package."""
    into: dict[str, list[str]] = {}
    takers: dict[tuple[str, str], set[str]] = {}
    for module in modules:
        for each in loads.successors(module):
            into.setdefault(each, []).append(module)
        for event in loads.graph.outline(module).events:
            if isinstance(event, FromImports) and event.module != module:
                for name, _ in event.names:
                    takers.setdefault((event.module, name), set()).add(module)
    return into, takers


def _reaching(target: str, into: Mapping[str, list[str]], without: Pairs, extra: Iterable[str]) -> set[str]:
    """The modules that load `target`, by these edges without some, and with `extra` modules that import it directly."""
    cut = {imported for _, imported in without}
    seen = {target, *extra}
    todo = list(seen)
    while todo:
        name = todo.pop()
        for by in into.get(name, ()):
            if by not in seen and not (name in cut and (by, name) in without):
                seen.add(by)
                todo.append(by)
    return seen
