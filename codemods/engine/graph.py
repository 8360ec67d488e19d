"""The import graph with its implicit parent edges: what an import loads, by which chain, and whether it can fail.

Owns `ImportGraph` (edges, closure, chain) and a simulated import (`Process`). A graph outlines a module when it is
first asked about, and remembers it; which attributes of other modules it reads as it is imported is asked only of
modules that are simulated for that (`watch`).
Invariant: it never reads a file but through the `read` it was given, never imports anything, and never recurses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from codemods.engine.eager_reads import Reads, with_reads
from codemods.engine.lazy_twins import Twins, lazy_twins
from codemods.engine.listed_names import listed_names
from codemods.engine.model import ImportEdge, Module
from codemods.engine.outline import Binds, Event, FromImports, Imports, Outline, outline
from codemods.engine.project import digest


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """Line `line` of `module` cannot import `name` from `source`, which is only partly initialised.

    `cycle` is the stack of running imports, from `source` to `module`; `module` alone where `source` is not running
    any more, and lacks the name because its own star or guarded import came too early.
    """

    module: str
    path: str
    line: int
    name: str
    source: str
    cycle: tuple[str, ...]
    also: tuple[str, ...] = ()  # what else the statement takes and would not get

    def __str__(self) -> str:
        ring = " > ".join(self.cycle)
        return f"{self.path}:{self.line} cannot import {self.name} from partially initialized {self.source} ({ring})"


_UNREADABLE = Outline((), readable=False)


class ImportGraph:
    """The eager imports of a tree. `locate` maps a dotted name to its module, `read` a path to its bytes.

    `outlines` holds what was found so far; graphs of the same files may share it. `stored` gives outlines that were
    found in an earlier run, None where there is none.
    """

    def __init__(
        self,
        locate: Callable[[str], Module | None],
        read: Callable[[str], bytes | None],
        stored: Callable[[Module], Outline | None] = lambda module: None,
    ) -> None:
        self._locate = locate
        self._stored = stored
        self._read = read
        self._modules: dict[str, Module | None] = {}
        self.outlines: dict[Module, Outline] = {}
        self._edges: dict[str, tuple[ImportEdge, ...]] = {}
        self._own: dict[str, frozenset[str]] = {}
        self._ever: dict[str, frozenset[str]] = {}
        self._listed: dict[str, tuple[str, ...]] = {}
        self._twins: dict[str, Twins] = {}
        self._watched: dict[str, tuple[Event | Reads, ...]] = {}
        self._reads: dict[tuple[str, str], tuple[Event | Reads, ...]] = {}
        self._base: ImportGraph | None = None
        self._edited: Mapping[str, bytes] = {}

    def edited(self, files: Mapping[str, bytes]) -> ImportGraph:
        """The graph of the same tree with other bytes in some files; outlines of the rest are shared with this one."""
        graph = ImportGraph(self._locate, lambda path: files[path] if path in files else self._read(path))
        graph._base, graph._edited, graph._modules = self, files, self._modules
        return graph

    def module(self, name: str) -> Module | None:
        """The module of the tree with this dotted name, if there is one."""
        if name not in self._modules:
            self._modules[name] = self._locate(name)
        return self._modules[name]

    def outline(self, name: str) -> Outline:
        """The outline of a module; empty for a namespace package and for what is not in the tree."""
        module = self.module(name)
        if module is None:
            return _UNREADABLE
        if module not in self.outlines:
            if self._base is not None and module.path not in self._edited:
                return self._base.outline(name)
            found = self._stored(module)
            if found is None:
                data = self._read(module.path) if module.path else b""
                found = outline(data, module) if data is not None else _UNREADABLE
            self.outlines[module] = found
        return self.outlines[module]

    def watch(self, name: str) -> tuple[Event | Reads, ...]:
        """The events of a module with the attributes that it reads from other modules; a simulation minds them from now on."""
        if name not in self._watched:
            module = self.module(name)
            if self._base is not None and not (module and module.path in self._edited):
                self._watched[name] = self._base.watch(name)
            else:
                self._watched[name] = self._with_reads(name, module) if module else self.outline(name).events
        return self._watched[name]

    def _with_reads(self, name: str, module: Module) -> tuple[Event | Reads, ...]:
        data = (self._read(module.path) if module.path else b"") or b""
        known = (self._base or self)._reads
        key = (name, digest(data))  # a run may try many graphs that differ in a few files
        if key not in known:
            known[key] = with_reads(data, module, self.outline(name).events, self.module)
        return known[key]

    def events(self, name: str) -> tuple[Event | Reads, ...]:
        """What a module does as it is imported, in order; attribute reads of watched modules alone."""
        return self._watched.get(name) or self.outline(name).events

    def edges(self, name: str) -> tuple[ImportEdge, ...]:
        """The eager edges of one module in order, the implicit one to its parent first."""
        if name not in self._edges:
            module = self.module(name)
            path = module.path if module else ""
            parent = name.rpartition(".")[0]
            found = [ImportEdge(name, parent, path, 0)] if parent else []
            bound: set[str] = set()  # so far
            for event in self.outline(name).events:
                if not isinstance(event, Binds):
                    targets = self._targets(name, event, bound)
                    found += [ImportEdge(name, target, path, event.line) for target in targets if target != name]
                bound.update(_own(name, (event,)))
            self._edges[name] = tuple(found)
        return self._edges[name]

    def closure(self, name: str, running: Iterable[str] = ()) -> frozenset[str]:
        """Every dotted name that `import name` loads: itself, its parents, and what they import in turn.

        Modules that are `running` already are not entered again; they are left out, with what they alone import.
        """
        seen = {name, *running}
        todo = [name]
        while todo:
            for edge in self.edges(todo.pop()):
                if edge.imported not in seen:
                    seen.add(edge.imported)
                    todo.append(edge.imported)
        return frozenset(seen.difference(running))

    def reached(self, names: Iterable[str], wanted: frozenset[str]) -> frozenset[str]:
        """Those of some wanted modules that several imports in one process load; it looks no further than it has to."""
        todo = deque(seen := {*names})
        left = set(wanted - seen)
        while todo and left:
            for edge in self.edges(todo.popleft()):
                if edge.imported not in seen:
                    seen.add(edge.imported)
                    todo.append(edge.imported)
                    left.discard(edge.imported)
        return wanted - left

    def chain(self, source: str, target: str) -> tuple[ImportEdge, ...]:
        """A shortest chain of edges from `source` to `target`; empty where none leads there."""
        came: dict[str, ImportEdge] = {}
        todo = deque([source])
        while todo and target not in came:
            for edge in self.edges(todo.popleft()):
                if edge.imported not in came and edge.imported != source:
                    came[edge.imported] = edge
                    todo.append(edge.imported)
        found: list[ImportEdge] = []
        while target in came:
            found.append(came[target])
            target = came[target].importer
        return tuple(reversed(found))

    def simulate(self, entry: str) -> Fault | None:
        """What `import entry` in a fresh process fails with, as far as module-level imports decide it.

        Both branches of an `if` and the handlers of a `try` count as run. Attribute reads count in watched modules alone.
        """
        return Process(self).run(entry)

    def submodule(self, package: str, name: str) -> bool:
        """Whether `from package import name` may load a submodule of that name."""
        return name != "*" and self.module(f"{package}.{name}") is not None

    def ever_bound(self, name: str) -> frozenset[str]:
        """Every name that the module binds by a statement, those of its star imports included."""
        if name not in self._ever:
            names: set[str] = set()
            seen, todo = {name}, [name]
            while todo:
                at = todo.pop()
                for event in self.outline(at).events:
                    names.update(bound for bound in _bound(event) if at == name or not bound.startswith("__"))
                    if isinstance(event, FromImports) and ("*", "*") in event.names and event.module not in seen:
                        seen.add(event.module)
                        todo.append(event.module)
            self._ever[name] = frozenset(names)
        return self._ever[name]

    def star_submodules(self, package: str) -> tuple[str, ...]:
        """The submodules that `from package import *` loads, as its `__all__` names them in so many words."""
        module = self.module(package)
        if not module or not module.is_package or "__all__" not in self.ever_bound(package):
            return ()
        if package not in self._listed:
            self._listed[package] = listed_names(self._read(module.path) or b"")
        own = self._own_names(package)
        return tuple(name for name in self._listed[package] if self.submodule(package, name) and name not in own)

    def _targets(self, name: str, event: Imports | FromImports, bound: Set[str]) -> Iterator[str]:
        yield event.module
        if isinstance(event, Imports) or not self.module(event.module):
            return
        if ("*", "*") in event.names:
            yield from (f"{event.module}.{found}" for found in self.star_submodules(event.module))
        for found, _ in event.names:
            if self.submodule(event.module, found):
                # A package that imports from itself sees what it has bound so far, others see all of it.
                own = bound if event.module == name else self._own_names(event.module)
                if found not in own:
                    yield f"{event.module}.{found}"
            elif event.module != name and found != "*":
                yield from self.lazily(event.module, found)

    def lazily(self, package: str, name: str) -> tuple[str, ...]:
        """The modules that `from package import name` loads where the package gives the name out lazily.

        Known are names that the package imports for type checkers too, as such packages do.
        """
        found: list[str] = []
        seen: set[str] = set()
        at: str | None = package
        while at is not None and at not in seen and name not in self.ever_bound(at):
            seen.add(at)
            at = self._twin(at, name)
            found += [at] if at is not None else []
        return tuple(found)

    def _twin(self, package: str, name: str, above: frozenset[str] = frozenset()) -> str | None:
        if package not in self._twins:
            module = self.module(package)
            data = self._read(module.path) if module and module.is_package and module.path else None
            self._twins[package] = lazy_twins(data, module) if data and module else ()
        twins = self._twins[package]
        named = next((source for source, names in twins if name in names), None)
        if named is not None:
            return named
        above |= {package}
        stars = [source for source, names in twins if "*" in names and source not in above and self.module(source)]
        return next((s for s in stars if name in self.ever_bound(s) or self._twin(s, name, above)), None)

    def _own_names(self, name: str) -> frozenset[str]:
        if name not in self._own:
            self._own[name] = _own(name, self.outline(name).events)
        return self._own[name]


GIVEN = ("__name__", "__doc__", "__file__", "__path__", "__spec__", "__loader__", "__package__", "__builtins__")


def _bound(event: Event) -> Iterator[str]:
    if isinstance(event, FromImports):
        yield from (bound for _, bound in event.names if bound not in ("", "*"))
    elif isinstance(event, Imports):
        yield from (event.bound,) if event.bound else ()
    else:
        yield event.name


def _own(name: str, events: Iterable[Event]) -> frozenset[str]:
    """The names that these events of package `name` bind to anything but its submodule of that name."""
    found: set[str] = set()
    for event in events:
        if isinstance(event, FromImports):
            found.update(bound for taken, bound in event.names if not (event.module == name and taken == bound))
        elif not (isinstance(event, Imports) and event.module == f"{name}.{event.bound}"):
            found.update(_bound(event))
    return frozenset(found)


def parents(name: str) -> Iterator[str]:
    """The packages around a module, outermost first."""
    at = name.find(".")
    while at >= 0:
        yield name[:at]
        at = name.find(".", at + 1)


_Running = Generator[str, "Fault | None", "Fault | None"]


class Process:
    """One simulated interpreter: the modules it has begun to load, and the names bound in each so far."""

    def __init__(self, graph: ImportGraph) -> None:
        self.graph = graph
        self.bound: dict[str, set[str]] = {}
        self.running: list[tuple[str, _Running]] = []

    def run(self, entry: str) -> Fault | None:
        # Each generator yields the module that it needs loaded next and is sent the fault of that, if any.
        self.running = [("", self._import(entry))]
        answer: Fault | None = None
        while self.running:
            name, steps = self.running[-1]
            try:
                wanted = steps.send(answer)
            except StopIteration as stop:
                answer = stop.value
                self.running.pop()
                self._finish(name, answer)
                continue
            answer = None
            self.bound[wanted] = set(GIVEN)
            self.running.append((wanted, self._execute(wanted)))
        return answer

    def _finish(self, name: str, fault: Fault | None) -> None:
        if fault:
            self.bound.pop(name, None)  # as CPython takes a failed module out of `sys.modules`
            return
        parent, _, tail = name.rpartition(".")
        if parent in self.bound:
            self.bound[parent].add(tail)

    def _import(self, dotted: str) -> _Running:
        if dotted in self.bound:  # CPython, too, does not look at the parents of what is in `sys.modules`
            return None
        for name in (*parents(dotted), dotted):
            if name not in self.bound and self.graph.module(name):
                fault = yield name
                if fault:
                    return fault
        return None

    def _execute(self, name: str) -> _Running:
        bound = self.bound[name]
        for event in self.graph.events(name):
            if isinstance(event, Reads):
                fault = self._read(name, event)
                if fault and not event.guarded:
                    return fault
                continue
            if isinstance(event, FromImports):
                fault = yield from self._from_import(name, event)
            elif isinstance(event, Imports):
                fault = yield from self._import(event.module)
                if not fault:
                    fault = yield from self._import(event.module.partition(".")[0])
            else:
                fault = None
            if not fault:
                bound.update(_bound(event))
            elif isinstance(event, Binds) or not event.guarded:
                return fault
        return None

    def _from_import(self, name: str, event: FromImports) -> _Running:
        source = event.module
        fault = yield from self._import(source)
        if fault or source not in self.bound:
            return fault
        star = ("*", "*") in event.names
        taken = list(self.graph.star_submodules(source)) if star else [found for found, _ in event.names]
        for found in taken:
            if found not in self.bound[source] and self.graph.submodule(source, found):
                fault = yield from self._import(f"{source}.{found}")
                if fault:
                    return fault
        if star:
            self.bound[name].update(found for found in self.bound[source] if not found.startswith("__"))
        missing = [found for found in taken if not self._offers(source, found)]
        return self._fault(name, event.line, source, *missing) if missing else None

    def _read(self, name: str, event: Reads) -> Fault | None:
        if event.module not in self.bound or self._offers(event.module, event.name):
            return None
        return self._fault(name, event.line, event.module, event.name)

    def _fault(self, name: str, line: int, source: str, wanted: str, *also: str) -> Fault:
        path, stack = self._place(name), [frame for frame, _ in self.running]
        start = stack.index(source) if source in stack else len(stack) - 1
        return Fault(name, path, line, wanted, source, tuple(stack[start:]), also)

    def _offers(self, source: str, name: str) -> bool:
        bound = self.bound[source]
        if name in bound or f"{source}.{name}" in self.bound or "__getattr__" in bound:
            return True
        return name not in self.graph.ever_bound(source)  # bound in a way that no statement shows

    def _place(self, name: str) -> str:
        module = self.graph.module(name)
        return module.path if module else ""
