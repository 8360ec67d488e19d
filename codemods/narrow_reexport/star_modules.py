"""Submodules that a star in the `__init__` takes along: no `__all__`, and loaded by then.

Owns the answer to "which modules does `from .sub import *` bind here?", certain ones and possible ones.
Invariant: it reads files and the import graph, never edits; a module that may or may not be loaded is never called certain.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from codemods.engine.graph import ImportGraph, parents
from codemods.engine.model import ImportEdge, Module, When
from codemods.engine.namespace import Namespaces, absolute


class StarModules:
    """The submodules that stars in one package's `__init__` take."""

    def __init__(self, package: Module, namespaces: Namespaces, graph: ImportGraph) -> None:
        self.package = package
        self.namespaces = namespaces
        self.graph = graph
        # these are being imported while the star runs: what they import further down is not loaded yet
        self._unfinished = {package.name, *parents(package.name)}
        self._edges: dict[str, list[ImportEdge]] = {}

    def possible(self, star: ast.ImportFrom, without: Collection[str] = ()) -> frozenset[str]:
        """Every name that the star may bind to a submodule, as if the modules `without` were not loaded."""
        source = absolute(self.package, star)
        earlier = [edge.imported for edge in self.graph.edges(self.package.name) if 0 < edge.line < star.lineno]
        return self._names(source, self._loaded([source, *earlier], sure=False) - set(without), False, frozenset())

    def certain(self, star: ast.ImportFrom) -> frozenset[str]:
        """Names that the star binds to a submodule whatever happens."""
        source = absolute(self.package, star)
        return self._names(source, self._loaded([source], sure=True), True, frozenset())

    def _loaded(self, todo: list[str], *, sure: bool) -> frozenset[str]:
        seen = set(todo)
        todo = list(todo)
        while todo:
            name = todo.pop()
            for edge in () if name in self._unfinished else self.graph.edges(name):
                if edge.imported not in seen and (not sure or self._runs(edge)):
                    seen.add(edge.imported)
                    todo.append(edge.imported)
        return frozenset(seen)

    def _runs(self, edge: ImportEdge) -> bool:
        """Whether the import runs whenever its module is imported: not in a branch, a loop or a `try`."""
        if not edge.line:
            return True
        module = self.namespaces.locate(edge.importer)
        syntax = self.namespaces.syntax(module) if module is not None else None
        return syntax is not None and any(
            statement.lineno == edge.line and block.when is When.EAGER and not block.optional
            for statement, block in syntax.imports
        )

    def _names(self, source: str, loaded: frozenset[str], sure: bool, seen: frozenset[str]) -> frozenset[str]:
        star = self.namespaces.star(source)
        module = self.namespaces.locate(source)
        syntax = self.namespaces.syntax(module) if module is not None else None
        if star is None or star.listed or module is None or syntax is None or source in seen:
            return frozenset()
        names = {
            name.rpartition(".")[2]
            for name in loaded
            if name.rpartition(".")[0] == source and self.namespaces.locate(name) is not None
        }
        for statement, block in syntax.imports:
            # from .inner import *          in the module that the star reads: its submodules come through
            if not isinstance(statement, ast.ImportFrom) or statement.names[0].name != "*":
                continue
            if block.when in (When.EAGER, When.GUARDED) and not (sure and block.optional):
                inner = absolute(module, statement)
                names |= self._names(inner, loaded, sure, seen | {source}) if inner not in self._unfinished else set()
        return frozenset(name for name in names if not name.startswith("_") and name not in star.certain)
