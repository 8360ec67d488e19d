"""`try: from .sub import sym` / `except ImportError as e: raise RuntimeError(...) from e`: a guard that only rewords the error.

Owns what becomes of that error: `import pkg` no longer raises it, and a call site raises the plain ImportError instead.
Invariant: a `try` around the import of the package that tells the two errors apart is refused, never rewritten.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from codemods.engine.model import Module, Refusal, Warned
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.resolve import Resolution

_ANY = ("Exception", "BaseException")


def reworded(syntax: Syntax, resolutions: Iterable[Resolution]) -> list[Warned]:
    """Warnings at the `raise` statements of the `__init__` that stood for a failed import of a symbol."""
    found: list[Warned] = []
    for resolution in resolutions:
        for binding in syntax.module.bindings.get(resolution.symbol.name, []) if resolution.reraised else ():
            owner = binding.block.owner
            for handler in owner.handlers if isinstance(owner, ast.Try) else ():
                site = syntax.source.site(handler.body[-1].lineno)
                reason = (
                    "without what the origin needs, importing the package no longer raises this: "
                    "a call site raises the ImportError itself"
                )
                found.append(Warned(site, str(resolution.symbol), reason))
    return found


def told_apart(syntax: Syntax, package: Module, resolutions: Sequence[Resolution]) -> list[Refusal]:
    """Refusals where a `try` around an import of the package catches one of the two errors and not the other."""
    reraised = [found for found in resolutions if found.reraised and not found.narrowed]
    if not reraised or syntax.source.path == package.path:
        return []
    leaf = re.compile(rf"\b{re.escape(package.name.rpartition('.')[2])}\b|^from \.")
    refusals: list[Refusal] = []
    for node in ast.walk(syntax.tree):
        # try: from pkg import sym        except RuntimeError: ...
        if not isinstance(node, ast.Try) or not node.handlers or _catches_all(node):
            continue
        for inner in (part for statement in node.body for part in ast.walk(statement)):
            if isinstance(inner, (ast.Import, ast.ImportFrom)) and leaf.search(ast.unparse(inner)):
                reason = "a failed import raises another error here once the package no longer rewords it, and this try tells them apart"
                hint = "catch both errors first (except (ImportError, ...)), or accept the site"
                refusals.append(Refusal(syntax.source.site_of(inner), str(reraised[0].symbol), reason, hint))
    return refusals


def _catches_all(statement: ast.Try) -> bool:
    return any(
        handler.type is None or ast.unparse(handler.type).rpartition(".")[2] in _ANY for handler in statement.handlers
    )
