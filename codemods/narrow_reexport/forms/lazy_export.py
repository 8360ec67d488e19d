"""Lazy exports: which symbol a package gives out on demand, and which it provably does not.

Owns the questions "does the package's `__getattr__` give this name, and from where?", asked of the code by reading it.
Invariant: it never edits, and where the code cannot be followed it says so, with the line.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from codemods.engine.model import Module, Refusal, Site, Symbol, When
from codemods.engine.namespace import Namespaces, absolute, all_values
from codemods.engine.scopes import Binding, Syntax
from codemods.engine.source import is_lazy
from codemods.narrow_reexport.forms.lazy_getattr import Execution, getattr_bindings
from codemods.narrow_reexport.forms.lazy_modules import lazy_modules
from codemods.narrow_reexport.forms.lazy_values import Loaded, Taken, Unclear
from codemods.narrow_reexport.forms.shim_table import shimmed


@dataclass(frozen=True, slots=True)
class LazyExport:
    """A name that the package gives out on demand."""

    origin: Symbol
    site: Site
    starred: bool  # `from pkg import *` asks for it
    optional: bool  # a missing dependency leaves it out
    stars: tuple[str, ...]  # the modules whose star brings it for type checkers


def lazy_export(package: Module, syntax: Syntax, namespaces: Namespaces, name: str) -> LazyExport | Refusal | None:
    """The lazy export of a name, None where there is none, a refusal where it cannot be told or its meaning is not one."""
    reader = execution(package, syntax, namespaces)
    moved = shimmed(syntax.source, syntax.tree)  # a shim answers for what was narrowed
    try:
        found = as_symbol(reader.ask(name)) if name not in moved else None
    except Unclear as error:
        return lazy_refusal(package, syntax, name, error)
    if found is None or _lacks(namespaces, found):
        return None
    site = syntax.source.site(_spelled_at(syntax, name))
    if found.dotted != f"{package.name}.{name}" and namespaces.is_submodule(package.name, name):
        return order_decides(Symbol(package.name, name), site)
    exports = namespaces.exports(package.name)
    listed = exports is not None and (name in exports.names or not exports.complete)
    stars = _typing_stars(package, syntax, namespaces, name)
    return LazyExport(found, site, listed or not getattr_bindings(syntax), name in reader.optional, stars)


def lazy_origin(package: Module, syntax: Syntax, namespaces: Namespaces, name: str) -> Symbol | None:
    """Where a lazy export of `name` comes from; None where the package has none. Raises Unclear."""
    if name in shimmed(syntax.source, syntax.tree):
        return None  # a shim answers for what was narrowed
    found = as_symbol(execution(package, syntax, namespaces).ask(name))
    return None if found is not None and _lacks(namespaces, found) else found


def _typing_stars(package: Module, syntax: Syntax, namespaces: Namespaces, name: str) -> tuple[str, ...]:
    """The modules whose star brings the name for type checkers."""
    # if TYPE_CHECKING: from .modeling import *
    found = []
    for statement, block in syntax.imports:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" and block.when is When.TYPING:
            names = namespaces.star(absolute(package, statement))
            if names is not None and name in names:
                found.append(absolute(package, statement))
    return tuple(found)


def execution(package: Module, syntax: Syntax, namespaces: Namespaces) -> Execution:
    """A reader of the package's code, as it stands in `syntax`."""
    return Execution(package, syntax, namespaces.locate, namespaces.syntax)


def as_symbol(found: Loaded | Taken | None) -> Symbol | None:
    """The symbol that an answer of `__getattr__` is."""
    if isinstance(found, Loaded):
        return Symbol(*found.name.rpartition(".")[::2])
    return found.symbol if found is not None else None


def _lacks(namespaces: Namespaces, symbol: Symbol) -> bool:
    # def __getattr__(name): return getattr(_impl, name)        AttributeError where `_impl` has no such name
    module = namespaces.locate(symbol.module)
    syntax = namespaces.syntax(module) if module is not None else None
    if module is None or syntax is None or namespaces.locate(symbol.dotted) is not None:
        return False
    if re.search(r"\b(?:globals|vars|locals|setattr|exec)\(", syntax.source.text):
        return False  # it may bind names in a way that no statement shows
    stars = any(statement.names[0].name == "*" for statement, _ in syntax.imports)
    return not (stars or getattr_bindings(syntax) or namespaces.bindings(symbol.module, symbol.name))


def lazy_names(package: Module, syntax: Syntax, namespaces: Namespaces) -> list[str]:
    """The names that the file spells and that the package gives out on demand, in order."""
    reader = execution(package, syntax, namespaces)
    spelled = [str(use.node.value) for use in syntax.strings if isinstance(use.node, ast.Constant)]
    found: list[str] = []
    for name in dict.fromkeys(part for part in spelled if part.isidentifier()):
        try:
            answer = as_symbol(reader.ask(name))
        except Unclear:
            continue
        if answer is not None and not _lacks(namespaces, answer):
            found.append(name)
    return found


def is_lazily_bound(package: Module, syntax: Syntax, binding: Binding) -> bool:
    """Whether an import loads its module only when the name is first used, on a Python that knows PEP 810."""
    # lazy from .sub import sym        __lazy_modules__ = ["pkg.sub"]; from .sub import sym
    statement = binding.statement
    if is_lazy(syntax.source, statement):
        return True
    if not isinstance(statement, ast.ImportFrom) or "__lazy_modules__" not in syntax.module.bindings:
        return False
    return absolute(package, statement) in lazy_modules(syntax)


def is_closed(package: Module, syntax: Syntax, namespaces: Namespaces, name: str) -> bool:
    """Whether the package's `__getattr__`, if it has one, provably does not give `name`."""
    try:
        return lazy_origin(package, syntax, namespaces, name) is None
    except Unclear:
        return False


def lazy_refusal(package: Module, syntax: Syntax, name: str, error: Unclear) -> Refusal:
    """The refusal of a lazy export that cannot be followed."""
    return Refusal(
        syntax.source.site(error.line or 1),
        f"{package.name}:{name}",
        f"the package exports it lazily in a way that is not narrowed: {error.reason}",
        "leave it: a lazy export does not make the package heavy",
    )


def order_decides(symbol: Symbol, site: Site) -> Refusal:
    """The refusal of a lazy name that is the name of a submodule, too."""
    reason = f"{symbol.dotted} is a lazy name and a submodule: which of the two a reader gets depends on what was imported before"
    return Refusal(site, str(symbol), reason, "give the submodule another name first")


def _spelled_at(syntax: Syntax, name: str) -> int:
    """The line whose string is the name, outside `__all__` where there is one; 1 where there is none."""
    lines = [
        (bool(all_values(use.statement)), use.node.lineno)
        for use in syntax.strings
        if isinstance(use.node, ast.Constant) and use.node.value == name
    ]
    return min(lines)[1] if lines else 1
