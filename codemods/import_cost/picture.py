"""What an import loads as a tree: each module once, under the one that alone brings it in.

Owns `Picture`, the numbers and chains that pages and graphs are drawn from, with packages outside the tree as leaves.
Invariant: it counts on the graph alone; source text comes from the `read` it is given, and is data to whoever draws it.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from codemods.engine.model import ImportEdge
from codemods.import_cost.dominators import children, dominators, sums
from codemods.import_cost.loads import Loads, Pairs

Read = Callable[[str], "bytes | None"]


class Kind(Enum):
    """What stands at a node."""

    MODULE = "module"  # a file of the tree
    FOLDER = "folder"  # a namespace package: loaded, with no file of its own
    THIRD_PARTY = "third-party"  # a package that is not in the tree, all its modules together
    MISSING = "missing"  # spelled like a part of the tree, and not there: compiled, generated, or optional


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that is loaded. `above` dominates it ("" for the start); `via` imports it on a shortest chain.

    `modules` and `packages` count the files of the tree and the third-party packages that would go with it, itself included;
    `importers` those that import it directly.
    """

    name: str
    kind: Kind
    above: str
    via: ImportEdge | None
    text: str
    modules: int
    packages: int
    importers: int


@dataclass(frozen=True, slots=True)
class Picture:
    """What `import start` loads. The nodes stand in depth-first order of the dominator tree, the start first."""

    start: str
    nodes: tuple[Node, ...]
    stdlib: int

    @property
    def modules(self) -> int:
        return self.nodes[0].modules

    @property
    def packages(self) -> int:
        return self.nodes[0].packages

    def chain(self, name: str) -> tuple[ImportEdge, ...]:
        """A shortest chain of imports to a node."""
        by_name = {node.name: node for node in self.nodes}
        found: list[ImportEdge] = []
        via = by_name[name].via if name in by_name else None
        while via:
            found.append(via)
            via = by_name[via.importer].via
        return tuple(reversed(found))


def picture(
    loads: Loads,
    start: str,
    without: Pairs = frozenset(),
    extra: Mapping[str, frozenset[str]] | None = None,
    read: Read | None = None,
) -> Picture:
    """The picture of one import; `without` and `extra` are edges that are left out and added, as in `Loads.closure`."""
    inside = loads.closure(start, without, extra or {})
    drawn = Drawn(loads, inside, without, extra or {})
    immediate = dominators(start, drawn.successors)
    kinds = {name: drawn.kind(name) for name in (start, *immediate)}
    modules = sums(immediate, start, {name: 1 for name, kind in kinds.items() if kind is Kind.MODULE})
    packages = sums(immediate, start, {name: 1 for name, kind in kinds.items() if kind is Kind.THIRD_PARTY})
    via = _shortest(start, drawn)
    source = _Source(read)
    importers = Counter(each for name in kinds for each in drawn.successors(name))
    nodes = []
    for name, above in _in_order(start, immediate, {name: (-modules[name], -packages[name]) for name in modules}):
        text = source.line(via.get(name))
        node = Node(name, kinds[name], above, via.get(name), text, modules[name], packages[name], importers[name])
        nodes.append(node)
    return Picture(start, tuple(nodes), sum(1 for name in inside if not drawn.name(name)))


class Drawn:
    """The graph as it is drawn: a third-party package is one leaf, the standard library is left out."""

    def __init__(
        self, loads: Loads, inside: Iterable[str], without: Pairs, extra: Mapping[str, frozenset[str]]
    ) -> None:
        self._loads = loads
        self._without = without
        self._extra = extra
        self._edges: dict[str, tuple[ImportEdge, ...]] = {}
        self._tops = {name.partition(".")[0] for name in inside if loads.in_tree(name)}

    def edges(self, module: str) -> tuple[ImportEdge, ...]:
        """One edge to each node that a module loads directly."""
        if module not in self._edges:
            found: dict[str, ImportEdge] = {}
            for edge in self._all(module):
                target = self.name(edge.imported)
                if target and target != module:
                    # The statement that spells it says more than the implicit edge to a parent package.
                    if target not in found or (edge.line and not found[target].line):
                        found[target] = ImportEdge(module, target, edge.path, edge.line)
            self._edges[module] = tuple(found.values())
        return self._edges[module]

    def successors(self, module: str) -> Iterable[str]:
        return (edge.imported for edge in self.edges(module))

    def name(self, module: str) -> str:
        """The node that stands for a module; empty for the standard library."""
        top = module.partition(".")[0]
        if top in self._tops:
            return module
        return "" if top in sys.stdlib_module_names else top

    def kind(self, name: str) -> Kind:
        # openai/run.py      a folder of scripts that has the name of a package: what is imported is the package
        if name.partition(".")[0] not in self._tops:
            return Kind.THIRD_PARTY
        module = self._loads.graph.module(name)
        if module is None:
            return Kind.MISSING
        return Kind.MODULE if module.path else Kind.FOLDER

    def _all(self, module: str) -> Iterable[ImportEdge]:
        if self.kind(module) is Kind.THIRD_PARTY:
            return
        for edge in self._loads.graph.edges(module):
            if (module, edge.imported) not in self._without:
                yield edge
        for target in sorted(self._extra.get(module, ())):
            yield ImportEdge(module, target, "", -1)


def _shortest(start: str, drawn: Drawn) -> dict[str, ImportEdge]:
    came: dict[str, ImportEdge] = {}
    todo = deque([start])
    while todo:
        for edge in drawn.edges(todo.popleft()):
            if edge.imported not in came and edge.imported != start:
                came[edge.imported] = edge
                todo.append(edge.imported)
    return came


def _in_order(
    start: str, immediate: Mapping[str, str], size: Mapping[str, tuple[int, int]]
) -> Iterable[tuple[str, str]]:
    """Depth first, the largest first; (node, what dominates it)."""
    below = children(immediate)
    todo = [(start, "")]
    while todo:
        node, above = todo.pop()
        yield node, above
        todo += [
            (each, node) for each in sorted(below.get(node, ()), key=lambda each: (size[each], each), reverse=True)
        ]


class _Source:
    """Source lines by path and line number, each file split once."""

    def __init__(self, read: Read | None) -> None:
        self._read = read
        self._lines: dict[str, list[bytes]] = {}

    def line(self, edge: ImportEdge | None) -> str:
        if not self._read or not edge or not edge.path or edge.line < 1:
            return ""
        if edge.path not in self._lines:
            self._lines[edge.path] = (self._read(edge.path) or b"").splitlines()
        lines = self._lines[edge.path]
        return lines[edge.line - 1].decode("utf-8", "replace").strip()[:200] if edge.line <= len(lines) else ""
