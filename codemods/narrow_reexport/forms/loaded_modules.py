"""`sys.modules["pkg.sub"]`: code that asks for a module that only the package's import loaded.

Owns the verdicts on reads of `sys.modules` by a literal name.
Invariant: it never edits; a read that will raise is refused, a question whose answer may change is a warning.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.engine.model import Refusal, Warned, When
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms.verdicts import TextPlan

_ASKS = ("get", "pop", "setdefault", "__getitem__", "__contains__")


def judge_loaded(syntax: Syntax, lost: Iterable[str], symbol: str) -> TextPlan:
    """Verdicts on the places that look lost modules up in `sys.modules`."""
    plan, names = TextPlan(), frozenset(lost)
    imported = {
        dotted
        for statement, block in syntax.imports
        for alias in (statement.names if block.when is not When.TYPING else ())
        for dotted in (
            (alias.name,)
            if isinstance(statement, ast.Import)
            else (statement.module, f"{statement.module}.{alias.name}")
        )
    }
    for use in syntax.attributes if names else ():
        node, parent = use.node, use.parent
        if not (isinstance(node, ast.Attribute) and node.attr == "modules" and isinstance(node.value, ast.Name)):
            continue
        # sys.modules["pkg.sub"].f()          it will be a KeyError
        if isinstance(parent, ast.Subscript) and _is_one(parent.slice, names - imported):
            reason = (
                f"this reads {ast.literal_eval(parent.slice)} from sys.modules, and only the package's import loaded it"
            )
            plan.refusals.append(Refusal(syntax.source.site_of(node), symbol, reason, "import that module here first"))
        # "pkg.sub" in sys.modules
        elif isinstance(parent, ast.Compare) and _is_one(parent.left, names):
            reason = f"import of the package no longer loads {ast.literal_eval(parent.left)}: the answer may change"
            plan.warnings.append(Warned(syntax.source.site_of(node), symbol, reason))
    for use in syntax.calls if names else ():
        call = use.node
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in _ASKS
            and call.args
        ):
            # sys.modules.get("pkg.sub")
            asks = isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "modules"
            if asks and _is_one(call.args[0], names):
                reason = (
                    f"import of the package no longer loads {ast.literal_eval(call.args[0])}: the answer may change"
                )
                plan.warnings.append(Warned(syntax.source.site_of(call), symbol, reason))
    return plan


def _is_one(node: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Constant) and node.value in names
