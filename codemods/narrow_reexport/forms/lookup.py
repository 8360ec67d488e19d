"""`EmptySequence = S.EmptySequence`: a module that, as it is imported, looks up what another one has registered.

Owns the question which registered objects a module looks up at import time, by their names, in the container that keeps them.
Invariant: it runs nothing; a lookup counts only if its container is the one that the registration goes into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.engine.model import Module, Site
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.callees import Callees
from codemods.narrow_reexport.forms.frames import Frame, place
from codemods.narrow_reexport.forms.registration import Registration, running


@dataclass(frozen=True, slots=True)
class Lookup:
    """A place that reads a registered object, and the registration that it relies on."""

    site: Site
    spelled: str
    registration: Registration


def lookups(module: Module, namespaces: Namespaces, registered: Iterable[Registration]) -> Iterator[Lookup]:
    """Where the module looks up one of these as it is imported."""
    by_key: dict[str, list[Registration]] = {}
    for each in registered:
        for key in each.keys:
            by_key.setdefault(key, []).append(each)
    data = namespaces.bytes_of(module)
    if not any(before + key.encode() in data for key in by_key for before in (b".", b'"', b"'")):
        return
    syntax = namespaces.syntax(module)
    callees = Callees(namespaces, Frame(module, None))
    for node in _eager(syntax.tree.body) if syntax is not None else ():
        for each in by_key.get(_key(node), ()):
            # S.EmptySequence        REGISTRY["name"]
            values = callees.values(node.value, callees.top)  # type: ignore[attr-defined]
            if syntax is not None and any(place(value) == each.into for value in values):
                yield Lookup(syntax.source.site_of(node), ast.unparse(node), each)


def looked_up(module: Module, namespaces: Namespaces) -> frozenset[str]:
    """The names by which the module looks anything up as it is imported."""
    syntax = namespaces.syntax(module)
    return frozenset(key for node in _eager(syntax.tree.body) if (key := _key(node))) if syntax else frozenset()


def _key(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else ""
    return ""


def _eager(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """The expressions that run as a module is imported: no bodies of functions, no annotations of their parameters."""
    for statement in running(body):
        todo: list[ast.AST] = []
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            defaults = [*statement.args.defaults, *(each for each in statement.args.kw_defaults if each is not None)]
            todo += [*statement.decorator_list, *defaults]
        elif isinstance(statement, ast.ClassDef):
            todo += [*statement.decorator_list, *statement.bases, *(each.value for each in statement.keywords)]
            yield from _eager(statement.body)
        else:
            todo += [n for n in ast.iter_child_nodes(statement) if isinstance(n, (ast.expr, ast.withitem))]
        while todo:
            node = todo.pop(0)
            if isinstance(node, ast.expr):
                yield node
            if not isinstance(node, ast.Lambda):
                todo += ast.iter_child_nodes(node)
