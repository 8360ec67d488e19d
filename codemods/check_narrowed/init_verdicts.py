"""The package's own `__init__`: the re-export that comes back, and the `__all__` entry.

Owns the question whether an `__init__` binds a banned name to something that it takes from elsewhere.
Invariant: a name that the package defines itself, or imports for type checkers alone, is no re-export.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.check_narrowed.guard import Guard, View
from codemods.check_narrowed.offence import Offence
from codemods.engine.bans import Ban
from codemods.engine.errors import CodemodError
from codemods.engine.model import Module, Site, When
from codemods.engine.namespace import Namespaces, absolute, all_values, module_statements
from codemods.engine.scopes import Binding, Syntax
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
        tree = parse(decode(data, path))
    except NotPython as error:
        for name in (name for name in view.rows if name.encode() in data):
            site = Site(path, error.line or 1, 0, "")
            message = f"the __init__ names the symbol, and {error.reason}: it cannot be checked"
            yield Offence(site, str(view.rows[name].symbol), "unparsed", message)
        return
    if path.endswith(".pyi"):
        syntax = analyse(decode(data, path), tree, expressions=False)
        yield from _stub(view, syntax)
        return
    namespaces = Namespaces(view.layout.locate, lambda other: data if other == path else guard.read(other))
    syntax = namespaces.syntax(view.module) or analyse(decode(data, path), tree, expressions=False)
    for name, ban in view.rows.items():
        for site in _bound(view.module, name, ban, namespaces, syntax):
            yield Offence(site, str(ban.symbol), "re-export", _message(ban))
    yield from _entries(view, syntax)


def _message(ban: Ban) -> str:
    what = "imports the submodule" if ban.origin == ban.symbol else "re-exports"
    return f"the __init__ {what} {ban.symbol.name} again, which was narrowed: it is to be imported from {ban.origin.module}"


def _bound(package: Module, name: str, ban: Ban, namespaces: Namespaces, syntax: Syntax) -> Iterator[Site]:
    """The statements that bind a banned name to what comes from elsewhere."""
    source = syntax.source
    found = [b for b in namespaces.bindings(package.name, name) if _is_taken(package, b, namespaces)]
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


def _is_taken(package: Module, binding: Binding, namespaces: Namespaces) -> bool:
    if binding.is_import:
        return True
    # sym = sub.sym
    return binding.value is not None and namespaces.origin(package, binding) is not None


def _lazily(package: Module, name: str, namespaces: Namespaces) -> Site | None:
    """Where a lazy export gives the name out: `__getattr__`, a table, `lazy_loader`."""
    try:
        resolved = resolve(package, (name,), namespaces, {})
    except CodemodError:
        return None
    sites = [found.site for found in resolved.resolutions if found.lazy]
    sites += [refusal.site for refusal in resolved.refusals]
    return sites[0] if sites else None


def _entries(view: View, syntax: Syntax) -> Iterator[Offence]:
    for statement in module_statements(syntax.tree.body):
        for value, removes in all_values(statement):
            for node in _listed(value) if not removes else ():
                if node.value not in view.rows:
                    continue
                ban = view.rows[node.value]
                if not ban.lazy:
                    message = f"__all__ lists {ban.symbol.name} again, which was narrowed to {ban.origin}"
                    yield Offence(syntax.source.site_of(node), str(ban.symbol), "all-entry", message)


def _listed(value: ast.expr) -> Iterator[ast.Constant]:
    """The strings that are entries. [name for name in sub.__all__ if name != "sym"] leaves one out."""
    pending: list[ast.AST] = [value]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Constant):
            yield node
        elif not isinstance(node, ast.Compare):
            pending += ast.iter_child_nodes(node)


def _stub(view: View, syntax: Syntax) -> Iterator[Offence]:
    # from .impl import sym as sym
    for statement, block in syntax.imports:
        for alias in statement.names:
            bound = alias.asname or alias.name
            ban = view.rows.get(bound)
            if (
                ban is not None
                and not ban.lazy
                and block.scope is syntax.module
                and isinstance(statement, ast.ImportFrom)
            ):
                yield Offence(syntax.source.site_of(alias), str(ban.symbol), "re-export", _message(ban))
    yield from _entries(view, syntax)
