"""`__all__ = [n for n in dir(pkg)]`, `globals().update(vars(pkg))`: a module that takes the package's names as its own.

Owns the question whether a listing of the package's names decides what another module exports.
Invariant: it never edits; a listing that is only looked at (printed, counted) is none of its business.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.engine.model import Refusal
from codemods.engine.namespace import all_values
from codemods.engine.references import Names, Reflection
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.verdicts import TextPlan

_LISTINGS = ("dir", "vars", "getmembers", "getmembers_static")
_OWN = ("globals", "locals", "vars")


def judge_mirrors(syntax: Syntax, names: Names, uses: Sequence[Reflection], context: Context) -> TextPlan:
    """Refusals of listings of the package that end up in this module's own names."""
    plan = TextPlan()
    symbols = [str(found.symbol) for found in context.resolutions if not found.narrowed]
    listings = _listings(syntax, names, uses, context.package.name) if symbols else {}
    if not listings:
        return plan
    every = symbols[0] if len(symbols) == 1 else f"{context.package.name}:*"
    statements = [node for node in ast.walk(syntax.tree) if isinstance(node, ast.stmt)]
    for listing in sorted(listings.values(), key=lambda node: (node.lineno, node.col_offset)):
        # names = dir(pkg); __all__ = [n for n in names if n[0] != "_"]
        carried: set[str] = set()
        grown = True
        while grown:
            new = {name for part in statements if _holds(part, listing, carried) for name in _assigned(part)}
            grown = not new <= carried
            carried |= new
        if any(_exports(part, listing, carried) for part in statements):
            reason = f"{ast.unparse(listing)} decides what this module exports, and will list other names"
            hint = "write the names out here, or accept the site"
            plan.refusals.append(Refusal(syntax.source.site_of(listing), every, reason, hint))
    return plan


def _listings(syntax: Syntax, names: Names, uses: Sequence[Reflection], package: str) -> dict[int, ast.expr]:
    found: dict[int, ast.expr] = {}
    for use in uses:
        if use.how.rpartition(".")[2] in _LISTINGS and isinstance(use.use.node, ast.expr):
            found[id(use.use.node)] = use.use.node
    for read in syntax.attributes:
        # pkg.__dict__                  pkg.__dir__()
        if isinstance(read.node, ast.Attribute) and read.node.attr in ("__dict__", "__dir__"):
            keyed = isinstance(read.parent, ast.Subscript) and isinstance(read.parent.slice, ast.Constant)
            if not keyed and package in names.modules(read.node.value, read.scope):
                found[id(read.node)] = read.node
    return found


def _parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """What runs as one with the statement: all of a simple one and of a loop, the head of other compound ones."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.Try, ast.With)):
        return
    yield from ast.walk(statement)


def _holds(statement: ast.stmt, listing: ast.expr, carried: set[str]) -> bool:
    return any(
        node is listing or (isinstance(node, ast.Name) and node.id in carried and isinstance(node.ctx, ast.Load))
        for node in _parts(statement)
    )


def _assigned(statement: ast.stmt) -> set[str]:
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
        return set()
    return {node.id for node in _parts(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _exports(statement: ast.stmt, listing: ast.expr, carried: set[str]) -> bool:
    if not _holds(statement, listing, carried):
        return False
    # __all__ = [n for n in dir(pkg)]
    if all_values(statement):
        return True
    # globals().update(vars(pkg))   for k, v in vars(pkg).items(): globals()[k] = v
    for node in _parts(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OWN and not node.args:
            return True
        if isinstance(node, ast.stmt) and all_values(node):
            return True
    # sys.modules[__name__].__dict__.update(vars(pkg))
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in _parts(statement))
