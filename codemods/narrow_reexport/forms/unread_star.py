"""`from numpy import *` in an `__init__`: a star whose names are not known may bring the symbol as well.

Owns the question whether the package would go on binding the name, to something else, once the re-export is gone.
Invariant: it never edits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.engine.model import Module, Refusal, When
from codemods.engine.namespace import Namespaces, absolute
from codemods.engine.standard_library import standard_star
from codemods.engine.words import spelled
from codemods.narrow_reexport.resolve import Resolution


def unread_stars(package: Module, namespaces: Namespaces, resolutions: Iterable[Resolution]) -> Iterator[Refusal]:
    """Refusals for the stars that may stand in for a symbol."""
    syntax = namespaces.syntax(package)
    if syntax is None:
        return
    for statement, block in syntax.imports:
        if not isinstance(statement, ast.ImportFrom) or statement.names[0].name != "*":
            continue
        # from numpy import *; from ._aliases import full_like        numpy has a full_like, too
        source = absolute(package, statement)
        if block.when in (When.TYPING, When.LATE) or namespaces.star(source) is not None:
            continue
        for found in resolutions:
            if _is_bound(found) and _may_bring(namespaces, source, found.symbol.name):
                yield Refusal(
                    syntax.source.site_of(statement),
                    str(found.symbol),
                    f"this star may bring {found.symbol.name} as well, and then the package goes on binding it, to another object",
                    f"name what is needed of {source} there, or accept the site",
                )


def _is_bound(found: Resolution) -> bool:
    # a star takes a name with an underscore only if an `__all__` lists it: `__version__` stands in many (numpy's), `_x` in hardly any
    name = found.symbol.name
    private = name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
    return not (found.narrowed or found.lazy or private)


def _may_bring(namespaces: Namespaces, source: str, name: str) -> bool:
    module = namespaces.locate(source)
    if module is None:
        names = standard_star(source)
        return names is None or name in names
    # a module of the tree with an `__all__` that is computed
    syntax = namespaces.syntax(module)
    if syntax is None or any(
        isinstance(each, ast.ImportFrom) and each.names[0].name == "*" for each, _ in syntax.imports
    ):
        return True
    return bool(spelled(syntax.source.text, {name}))
