"""The package's own `__init__`: the re-export that comes back, and the `__all__` entry.

Owns the question whether an `__init__` binds a banned name to something that it takes from elsewhere.
Invariant: a name that the package defines itself, or imports for type checkers alone, is no re-export.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.check_narrowed.guard import Guard, View
from codemods.check_narrowed.offence import Offence
from codemods.check_narrowed.taken import is_deleted_again, is_module_import, is_taken, stored
from codemods.engine.bans import Ban
from codemods.engine.errors import CodemodError
from codemods.engine.model import Module, Site, When
from codemods.engine.namespace import Namespaces, absolute, all_values, module_statements
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.forms.lazy_export import is_lazily_bound
from codemods.narrow_reexport.resolve import resolve

_LAZY = ("getattr", "lazy", "Lazy", "sys.modules", "_structure")  # one of them stands in whatever exports lazily


def init_offences(guard: Guard, path: str, data: bytes) -> Iterator[Offence]:
    """What an `__init__.py` or `__init__.pyi` does against the rows of its package."""
    view = guard.view_of_init(path)
    if view is None or not guard.suspects_init(path, data):
        return
    try:
        yield from _found(view, guard, path, data)
    except NotPython as error:
        for name in (name for name in view.rows if name.encode() in data):
            site = Site(path, error.line or 1, 0, "")
            message = f"the __init__ names the symbol, and {error.reason}: it cannot be checked"
            yield Offence(site, str(view.rows[name].symbol), "unparsed", message)


def _found(view: View, guard: Guard, path: str, data: bytes) -> Iterator[Offence]:
    tree = parse(decode(data, path))
    if path.endswith(".pyi"):
        syntax = analyse(decode(data, path), tree)
        yield from _stub(view, path, syntax, view.namespaces)
        return
    namespaces = Namespaces(view.layout.locate, lambda other: data if other == path else guard.read(other))
    syntax = namespaces.syntax(view.module) or analyse(decode(data, path), tree, expressions=False)
    for name, ban in view.rows.items():
        for site in _bound(view.module, name, ban, namespaces, syntax):
            yield Offence(site, str(ban.symbol), "re-export", _message(ban))
    yield from _entries(view, syntax, namespaces)


def _message(ban: Ban) -> str:
    what = "imports the submodule" if ban.origin == ban.symbol else "re-exports"
    return f"the __init__ {what} {ban.symbol.name} again, which was narrowed: it is to be imported from {ban.origin.module}"


def _bound(package: Module, name: str, ban: Ban, namespaces: Namespaces, syntax: Syntax) -> Iterator[Site]:
    """The statements that bind a banned name to what comes from elsewhere."""
    source = syntax.source
    found = [b for b in namespaces.bindings(package.name, name) if is_taken(package, b, syntax, namespaces)]
    if ban.origin != ban.symbol:
        found = [b for b in found if not is_module_import(package, b, namespaces) and not is_deleted_again(syntax, b)]
    for put, statement in stored(package, syntax, namespaces):
        # globals()["sym"] = sub.sym
        if put == name and not ban.lazy:
            yield source.site_of(statement)
    for binding in found:
        if not (ban.lazy and is_lazily_bound(package, syntax, binding)):
            yield source.site_of(binding.node if isinstance(binding.node, ast.alias) else binding.statement)
    for statement, block in syntax.imports:
        if isinstance(statement, ast.Import):
            # import pkg.sub         in the `__init__` of pkg binds `sub` for everybody
            if ban.origin == ban.symbol and block.when is not When.LATE:
                if any(alias.name == ban.symbol.dotted and not alias.asname for alias in statement.names):
                    yield source.site_of(statement)
        elif statement.names[0].name == "*" and block.when is not When.TYPING:
            star = namespaces.star(absolute(package, statement))
            if star is not None and name in star:
                yield source.site_of(statement)
    if not found and not ban.lazy and any(word in source.text for word in _LAZY):
        lazily = _lazily(package, name, namespaces)
        if lazily is not None:
            yield lazily


def _lazily(package: Module, name: str, namespaces: Namespaces) -> Site | None:
    """Where a lazy export gives the name out: `__getattr__`, a table, `lazy_loader`."""
    try:
        resolved = resolve(package, (name,), namespaces, {})
    except CodemodError:
        return None
    sites = [found.site for found in resolved.resolutions if found.lazy]
    sites += [refusal.site for refusal in resolved.refusals]
    return sites[0] if sites else None


def _entries(view: View, syntax: Syntax, namespaces: Namespaces) -> Iterator[Offence]:
    for statement in module_statements(syntax.tree.body):
        for value, removes in all_values(statement):
            for name, node in _listed(view.module, value, syntax, namespaces) if not removes else ():
                ban = view.rows.get(name)
                if ban is not None and not ban.lazy:
                    message = f"__all__ lists {ban.symbol.name} again, which was narrowed to {ban.origin}"
                    yield Offence(syntax.source.site_of(node), str(ban.symbol), "all-entry", message)


def _listed(package: Module, value: ast.expr, syntax: Syntax, namespaces: Namespaces) -> Iterator[tuple[str, ast.expr]]:
    """The entries, and where each is from. [name for name in sub.__all__ if name != "sym"] leaves one out."""
    pending: list[ast.AST] = [value]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Constant):
            yield str(node.value), node
        elif isinstance(node, (ast.Attribute, ast.Name)):
            # __all__ = sub.__all__
            source = namespaces.dunder_all_of(package, syntax, node)
            exports = namespaces.exports(source) if source and source != package.name else None
            yield from ((name, node) for name in (exports.names if exports is not None else ()))
        elif not isinstance(node, ast.Compare):
            # a condition chooses among the names of what it goes through
            some = isinstance(node, ast.comprehension) and node.ifs
            pending += (
                [node.target, *node.ifs] if some and isinstance(node, ast.comprehension) else ast.iter_child_nodes(node)
            )


def _stub(view: View, path: str, syntax: Syntax, namespaces: Namespaces) -> Iterator[Offence]:
    stub = Module(view.module.name, path, True)
    for name, ban in view.rows.items():
        if ban.lazy:
            continue
        # from .impl import sym as sym        sym = impl.sym
        for binding in syntax.module.bindings.get(name, []):
            importing = isinstance(binding.statement, ast.ImportFrom)
            if importing or (not binding.is_import and is_taken(stub, binding, syntax, namespaces)):
                if ban.origin == ban.symbol or not is_module_import(stub, binding, namespaces):
                    node = binding.node if isinstance(binding.node, ast.alias) else binding.statement
                    yield Offence(syntax.source.site_of(node), str(ban.symbol), "re-export", _message(ban))
        # from .impl import *
        for statement, block in syntax.imports:
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                star = namespaces.star(absolute(stub, statement)) if block.scope is syntax.module else None
                if star is not None and name in star and (star.listed or name not in star.imported):
                    yield Offence(syntax.source.site_of(statement), str(ban.symbol), "re-export", _message(ban))
    yield from _entries(view, syntax, namespaces)
