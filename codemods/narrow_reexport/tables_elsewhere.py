"""A lazy export whose table lies in another file: `from .tables import WHERE` in a module with a `__getattr__`.

Owns the question whether a table that names the package and a symbol is taken by a module that may give names out by it.
Invariant: it never edits, and evaluates nothing; a table that no lazy export of the tree can reach never counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial

from codemods.engine.import_lines import ImportLine, import_lines
from codemods.engine.model import Module, Refusal, Site, Symbol
from codemods.engine.namespace import Namespaces, module_statements
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.byways import absolute
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.lazy_tables import changed_names, entries_in, gives_out
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.resolve import Resolution

_GETATTR = re.compile(rb"def __getattr__\([^,()]*\)")
_QUOTED = re.compile(rb"[\"'](\w+)(?=[\"'])")
_FILLS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.Expr)
_WHOLE = "*"  # the module itself


def tables_elsewhere(checkouts: Sequence[Checkout], namespaces: Namespaces, context: Context) -> Iterator[Refusal]:
    """The entries by which a module of another file may give a symbol out through the package."""
    # outer/tables.py:  WHERE = {"pkg": ["sym"]}            outer/__init__.py:  from .tables import WHERE
    wanted = {found.symbol.name.encode(): found.symbol for found in context.resolutions if _may_move(found)}
    leaf = context.package.name.rpartition(".")[2].encode()
    named = re.compile(re.escape(leaf) + rb"[\"':.]")
    for checkout in checkouts:
        spelled: dict[str, list[Symbol]] = {}
        for path, data in checkout.sources.items():
            if path != context.package.path and leaf in data and named.search(data):
                symbols = [wanted[name] for name in wanted.keys() & set(_QUOTED.findall(data))]
                spelled |= {checkout.layout.module_at(path).name: symbols} if symbols else {}
        takers = _takers(checkout, spelled.keys()) if spelled else {}
        # what was read of this tree before need not be read again
        syntax_of = namespaces.syntax if checkout is checkouts[0] else partial(_parsed, checkout)
        tables: dict[str, dict[str, tuple[Site, str]]] = {}
        for name in frozenset().union(*takers.values()):
            module = checkout.layout.locate(name)
            syntax = syntax_of(module) if module is not None else None
            if module is not None and syntax is not None:
                tables[name] = _tables(syntax, module, spelled[name])
        for path in takers:
            yield from _given_out(checkout, path, tables)


def _takers(checkout: Checkout, modules: Set[str]) -> dict[str, frozenset[str]]:
    """The modules that give names out lazily, by their paths, and which of some modules they import something from."""
    found: dict[str, frozenset[str]] = {}
    for path in checkout.tree.paths:
        if path.endswith(".py") and _is_lazy(data := checkout.tree.read(path)):
            taken = {module for line in import_lines(data) for module in _sources(checkout, path, line)} & modules
            found |= {path: frozenset(taken)} if taken else {}
    return found


def _is_lazy(data: bytes) -> bool:
    # def __getattr__(name)        a method has two parameters
    found = b"__getattr__" in data and _GETATTR.search(data) is not None
    return found or b"LazyModule(" in data or b"modules[__name__]" in data


def _sources(checkout: Checkout, path: str, line: ImportLine) -> Iterator[str]:
    source = absolute(checkout.layout, path, line.module.decode("utf-8", "replace")) if line.module else ""
    yield source
    for encoded, _ in line.names:
        name = encoded.decode("utf-8", "replace")
        yield f"{source}.{name}" if source else name


def _may_move(found: Resolution) -> bool:
    return not found.is_submodule and not found.narrowed


def _tables(syntax: Syntax, module: Module, symbols: Sequence[Symbol]) -> dict[str, tuple[Site, str]]:
    """By the name of a table, the entry that leads to a symbol through the package."""
    names = {symbol.name: symbol for symbol in symbols}
    statements = [each for each in module_statements(syntax.tree.body) if isinstance(each, _FILLS)]
    found: dict[str, tuple[Site, str]] = {}
    for statement, entry, listed in entries_in(statements, module, symbols[0].module, frozenset(names)):
        for table in changed_names(statement):
            found.setdefault(table, (syntax.source.site_of(entry), str(names[listed])))
    return found


def _parsed(checkout: Checkout, module: Module) -> Syntax | None:
    try:
        source = decode(checkout.tree.read(module.path), module.path)
        return analyse(source, parse(source))
    except NotPython:  # said elsewhere, where it matters
        return None


def _given_out(
    checkout: Checkout, path: str, tables: Mapping[str, Mapping[str, tuple[Site, str]]]
) -> Iterator[Refusal]:
    data = checkout.tree.read(path)
    taken: dict[str, tuple[str, str]] = {}  # a local name: the table that it may be, or the module of some
    for line in import_lines(data):
        source = absolute(checkout.layout, path, line.module.decode("utf-8", "replace")) if line.module else ""
        for encoded, alias in line.names:
            name = encoded.decode("utf-8", "replace")
            bound = alias.decode("utf-8", "replace") or name.partition(".")[0]
            dotted = f"{source}.{name}" if source else name
            if name == "*" and source in tables:
                taken |= {each: (source, each) for each in tables[source]}
            elif dotted in tables:
                taken[bound] = (dotted, _WHOLE)
            elif name in tables.get(source, {}):
                taken[bound] = (source, name)
    syntax = _parsed(checkout, checkout.layout.module_at(path)) if taken else None
    for bound, (source, name) in taken.items():
        if syntax is not None and gives_out(syntax, {bound}):
            for table, (site, symbol) in tables[source].items():
                if name in (_WHOLE, table):
                    module = checkout.layout.module_at(path).name
                    reason = f"{module} gives names out lazily by this table, through the package, as it seems"
                    yield Refusal(site, symbol, reason, "let the table name the origin first")
