"""A lazy export whose table lies in another file: `from .tables import WHERE` in a module with a `__getattr__`.

Owns the question whether a table that names the package and a symbol is taken by a module that may give names out by it.
Invariant: it never edits, and evaluates nothing; a table that no lazy export of the tree can reach never counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from codemods.engine.import_lines import import_lines
from codemods.engine.model import Refusal, Site, Symbol
from codemods.engine.namespace import module_statements
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.byways import absolute
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.lazy_tables import changed_names, entry_in, gives_out
from codemods.narrow_reexport.request import Checkout
from codemods.narrow_reexport.resolve import Resolution

_LAZY = re.compile(rb"\bdef __getattr__\(|LazyModule\(|\bmodules\[__name__\]")
_QUOTED = re.compile(rb"[\"'](\w+)(?=[\"'])")
_WHOLE = "*"  # the module itself


def tables_elsewhere(checkouts: Sequence[Checkout], context: Context) -> Iterator[Refusal]:
    """The entries by which a module of another file may give a symbol out through the package."""
    # outer/tables.py:  WHERE = {"pkg": ["sym"]}            outer/__init__.py:  from .tables import WHERE
    wanted = {found.symbol.name.encode(): found.symbol for found in context.resolutions if _may_move(found)}
    leaf = re.escape(context.package.name.rpartition(".")[2].encode())
    named = re.compile(rb"[\"'](?:[\w.]*\.)?" + leaf + rb"[\"':.]")
    for checkout in checkouts:
        tables: dict[str, dict[str, tuple[Site, str]]] = {}
        for path, data in checkout.sources.items():
            if path == context.package.path or not named.search(data):
                continue
            symbols = [wanted[name] for name in wanted.keys() & set(_QUOTED.findall(data))]
            found = _tables(checkout, path, data, symbols) if symbols else {}
            if found:
                tables[checkout.layout.module_at(path).name] = found
        for path in checkout.tree.paths if tables else ():
            if path.endswith(".py") and _LAZY.search(data := checkout.tree.read(path)):
                yield from _given_out(checkout, path, data, tables)


def _may_move(found: Resolution) -> bool:
    return not found.is_submodule and not found.narrowed


def _tables(checkout: Checkout, path: str, data: bytes, symbols: Sequence[Symbol]) -> dict[str, tuple[Site, str]]:
    """By the name of a table, the entry that leads to a symbol through the package."""
    syntax = _syntax(path, data)
    module = checkout.layout.module_at(path)
    found: dict[str, tuple[Site, str]] = {}
    for statement in module_statements(syntax.tree.body) if syntax is not None else ():
        for symbol in sorted(symbols):
            entry = entry_in([statement], module, symbol)
            if entry is not None and syntax is not None:
                for name in changed_names(statement):
                    found.setdefault(name, (syntax.source.site_of(entry), str(symbol)))
    return found


def _given_out(
    checkout: Checkout, path: str, data: bytes, tables: Mapping[str, Mapping[str, tuple[Site, str]]]
) -> Iterator[Refusal]:
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
    syntax = _syntax(path, data) if taken else None
    for bound, (source, name) in taken.items() if syntax is not None else ():
        if syntax is not None and gives_out(syntax, {bound}):
            for table, (site, symbol) in tables[source].items():
                if name in (_WHOLE, table):
                    module = checkout.layout.module_at(path).name
                    reason = f"{module} gives names out lazily by this table, through the package, as it seems"
                    yield Refusal(site, symbol, reason, "let the table name the origin first")


def _syntax(path: str, data: bytes) -> Syntax | None:
    try:
        source = decode(data, path)
        return analyse(source, parse(source))
    except NotPython:  # said elsewhere, where it matters
        return None
