"""`try: from .a import x; from .b import y`: names under one guard, each bound only where those before it were.

Owns the warning that a name under a guard no longer depends on its neighbours once one of them is narrowed.
Invariant: it never edits and never refuses: whether an import fails is not known from here.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.engine.model import Module, Warned
from codemods.engine.namespace import absolute
from codemods.engine.scopes import Syntax
from codemods.engine.walk import catches_import_error, suppresses_import_error
from codemods.narrow_reexport.resolve import Resolution


def untied(
    package: Module, syntax: Syntax, removed: Mapping[ast.stmt, set[int]], resolutions: Mapping[str, Resolution]
) -> list[Warned]:
    """Warnings for the names that stood under one guard with an import that goes."""
    found: list[Warned] = []
    for guard in syntax.blocks:
        guards = (isinstance(guard, ast.Try) and catches_import_error(guard)) or (
            isinstance(guard, ast.With) and suppresses_import_error(guard)
        )
        body = guard.body if guards and isinstance(guard, (ast.Try, ast.With)) else []
        imports = [statement for statement in body if isinstance(statement, ast.ImportFrom)]
        for number, later in enumerate(imports):
            # from .a import x        this one fails: neither x nor y is bound
            # from .b import y
            earlier = [each for each in imports[:number] if absolute(package, each) != absolute(package, later)]
            if not earlier:
                continue
            goes = removed.get(later, set())
            names = [alias.asname or alias.name for alias in later.names]
            symbol = next((str(resolutions[name].symbol) for name in names if name in resolutions), "")
            first = ast.unparse(earlier[0])
            if goes and symbol:
                reason = f"{symbol.rpartition(':')[2]} was bound only where `{first}` did not fail; its origin does not ask for that"
                found.append(Warned(syntax.source.site_of(later), symbol, reason))
            elif any(removed.get(each) and len(removed[each]) == len(each.names) for each in earlier):
                gone = next(each for each in earlier if removed.get(each))
                symbol = next(
                    str(resolutions[name].symbol)
                    for name in (alias.asname or alias.name for alias in gone.names)
                    if name in resolutions
                )
                reason = f"{', '.join(names)} will be bound even where `{ast.unparse(gone)}` would have failed before"
                found.append(Warned(syntax.source.site_of(later), symbol, reason))
    return found
