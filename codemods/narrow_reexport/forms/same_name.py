"""`from pkg import f` where `pkg/f.py` defines `f`: whether the code means the function or the module.

Owns that question for code that stands in a tree where the symbol is narrowed, so that the name is bound to the module.
Invariant: a name that is only a way to the module's attributes (`f.f(x)`, `getattr(f, "f")`, `attrgetter("f")(f)`) is the module.
"""

from __future__ import annotations

import ast

from codemods.engine.references import FromName, ModuleAlias
from codemods.engine.scopes import Syntax, Use, last_name

# calls whose first argument may well be a module
_TAKE_MODULES = frozenset(
    {"getattr", "hasattr", "setattr", "delattr", "vars", "dir", "reload", "object", "multiple", "spy", "ismodule"}
    | {"getmembers", "getattr_static", "getsource", "getfile", "getsourcefile", "getdoc", "help", "stub", "id", "repr"}
)


def imported_symbol(syntax: Syntax, reference: FromName | ModuleAlias) -> bool:
    """Whether the name that an import binds is used as the symbol somewhere in the file."""
    alias = reference.statement.names[reference.number]
    bound = alias.asname or alias.name
    home = reference.block.scope.home(bound)
    return any(
        is_symbol(use)
        for use in syntax.names
        if isinstance(use.node, ast.Name)
        and use.node.id == bound
        and isinstance(use.node.ctx, ast.Load)
        and use.scope.owner(bound) is home
    )


def is_symbol(use: Use) -> bool:
    """Whether a read is of the symbol: it is called, or used otherwise than by attribute."""
    parent = use.parent
    if isinstance(parent, ast.Attribute):
        return False
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is use.node:
        if isinstance(parent.func, ast.Call) and last_name(parent.func.func) in ("attrgetter", "methodcaller"):
            return False  # attrgetter("f")(f)
        return last_name(parent.func) not in _TAKE_MODULES
    # p = f        f;        neither says which of the two
    return not isinstance(parent, ast.Expr)
