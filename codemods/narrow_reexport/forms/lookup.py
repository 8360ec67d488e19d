"""`EmptySequence = S.EmptySequence`: a module that, as it is imported, looks up what another one has registered.

Owns the question what the statements of a module look up at import time, by a name that is spelled out, and in which container.
Invariant: it runs nothing; what the module has put there itself is no lookup.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.engine.model import Module, Site, Symbol
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.callees import Callees
from codemods.narrow_reexport.forms.frames import Frame, Space, Value, place
from codemods.narrow_reexport.forms.registration import Registration, running

_ASKING = ("get", "pop", "setdefault")


@dataclass(frozen=True, slots=True)
class Lookup:
    """A place that reads a registered object, and the registration that it relies on."""

    site: Site
    spelled: str
    key: str
    registration: Registration


@dataclass(frozen=True, slots=True)
class Asked:
    """An expression that runs at import, the name that it asks for, and the container that it asks."""

    node: ast.expr
    key: str
    container: ast.expr


def asked(tree: ast.Module) -> list[Asked]:
    """What a module asks for as it is imported, in the order of its statements."""
    stored: set[tuple[str, str]] = set()
    found: list[Asked] = []
    for node in _eager(tree.body, annotations=not _defers_annotations(tree)):
        one = _asked(node)
        if one is None:
            continue
        entry = (one.key, ast.dump(one.container))
        if isinstance(getattr(node, "ctx", None), ast.Store):
            stored.add(entry)
        elif entry not in stored:
            found.append(one)
    return found


def asked_of(module: Module, namespaces: Namespaces) -> list[tuple[Asked, frozenset[Symbol]]]:
    """The same with the containers of the tree that are asked; without what asks something else (`logging.getLogger`)."""
    syntax = namespaces.syntax(module)
    callees = Callees(namespaces, Frame(module, None))
    found = [(one, _containers(one, callees)) for one in (asked(syntax.tree) if syntax is not None else ())]
    return [(one, containers) for one, containers in found if containers]


def spells(data: bytes, keys: Iterable[str]) -> bool:
    """Whether a text may look up one of these names."""
    return any(before + key.encode() in data for key in keys for before in (b".", b'"', b"'"))


def lookups(module: Module, namespaces: Namespaces, registered: Iterable[Registration]) -> Iterator[Lookup]:
    """Where the module looks up one of these as it is imported."""
    by_key: dict[str, list[Registration]] = {}
    for each in registered:
        for key in each.keys:
            by_key.setdefault(key, []).append(each)
    if not spells(namespaces.bytes_of(module), by_key):
        return
    syntax = namespaces.syntax(module)
    for one, containers in asked_of(module, namespaces) if syntax is not None else ():
        for each in by_key.get(one.key, ()):
            if syntax is not None and each.into in containers:
                yield Lookup(syntax.source.site_of(one.node), ast.unparse(one.node), one.key, each)


def stores(module: Module, namespaces: Namespaces) -> Iterator[Registration]:
    """What the module puts into containers of others by plain assignments, as it is imported."""
    # REGISTRY["name"] = f            core.THING = thing
    syntax = namespaces.syntax(module)
    callees = Callees(namespaces, Frame(module, None))
    for statement in running(syntax.tree.body) if syntax is not None else ():
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            one = _asked(target)
            if one is None or syntax is None:
                continue
            for into in sorted(_containers(one, callees)):
                if into.module != module.name:
                    site = syntax.source.site_of(statement)
                    yield Registration(site, ast.unparse(target), True, into, frozenset({one.key}))


def _containers(one: Asked, callees: Callees) -> frozenset[Symbol]:
    try:
        values = callees.values(one.container, callees.top)
    except RecursionError:  # a chain of names that is too long to be followed
        return frozenset()
    return frozenset(at for value in values if (at := _container(value)) is not None)


def _container(value: Value) -> Symbol | None:
    return Symbol(value.name, "") if isinstance(value, Space) else place(value)


def _asked(node: ast.AST) -> Asked | None:
    # S.EmptySequence            REGISTRY["name"]            REGISTRY.get("name")
    if isinstance(node, ast.Attribute):
        key, container = node.attr, node.value
    elif isinstance(node, ast.Subscript):
        key, container = _text(node.slice), node.value
    elif (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKING and node.args
    ):
        key, container = _text(node.args[0]), node.func.value
    else:
        return None
    # not a container within: TABLE["layers"]["relu"]
    plain = key and isinstance(container, (ast.Name, ast.Attribute)) and isinstance(node, ast.expr)
    return Asked(node, key, container) if plain else None


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _defers_annotations(tree: ast.Module) -> bool:
    return any(
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(alias.name == "annotations" for alias in statement.names)
        for statement in tree.body
    )


def _eager(body: list[ast.stmt], *, annotations: bool) -> Iterator[ast.expr]:
    """The expressions that run as a module is imported: no bodies of functions."""
    for statement in running(body):
        todo: list[ast.AST | None] = []
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += [*statement.decorator_list, *statement.args.defaults, *statement.args.kw_defaults]
            if annotations:
                every = [n for n in ast.walk(statement.args) if isinstance(n, ast.arg)]
                todo += [*(each.annotation for each in every), statement.returns]
        elif isinstance(statement, ast.ClassDef):
            todo += [*statement.decorator_list, *statement.bases, *(each.value for each in statement.keywords)]
            yield from _eager(statement.body, annotations=annotations)
        elif isinstance(statement, ast.AnnAssign) and not annotations:
            todo += [statement.value, statement.target]
        elif isinstance(statement, (ast.Assign, ast.AugAssign)):
            # the value runs first
            todo += [statement.value, *(statement.targets if isinstance(statement, ast.Assign) else [statement.target])]
        else:
            todo += [n for n in ast.iter_child_nodes(statement) if isinstance(n, (ast.expr, ast.withitem))]
        while todo:
            node = todo.pop(0)
            if isinstance(node, ast.expr):
                yield node
            if node is not None and not isinstance(node, ast.Lambda):
                todo += ast.iter_child_nodes(node)
