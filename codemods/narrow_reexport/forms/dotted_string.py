"""`"pkg.sym"`, `"pkg:sym"`, code in a string: the symbol's path as text in Python code.

Owns the verdict on string constants: a refusal where they may be resolved, a mention where they are inert.
Invariant: it never edits a string that may be a label, and never passes over one that may be resolved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from codemods.engine.model import Refusal, Warned
from codemods.engine.scopes import Syntax, Use
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

_RUNNERS = {"exec", "eval", "compile"}


def judge_strings(
    syntax: Syntax, resolutions: Sequence[Resolution], types: Sequence[Use], handled: AbstractSet[int]
) -> TextPlan:
    """Verdicts on strings that spell the symbol's path or hold code that imports it.

    `types`, and the nodes in `handled` (patch targets), are decided elsewhere.
    """
    plan = TextPlan()
    typed = {id(use.node) for use in types} | handled
    for use in syntax.strings:
        assert isinstance(use.node, ast.Constant)
        value = str(use.node.value)
        if id(use.node) in typed or isinstance(use.parent, ast.JoinedStr):
            continue
        for found in resolutions:
            if found.symbol.name in value and not found.is_submodule:
                _judge(syntax, use, value, found, plan)
    return plan


def _judge(syntax: Syntax, use: Use, value: str, found: Resolution, plan: TextPlan) -> None:
    symbol, name = found.symbol, found.symbol.name
    site = syntax.source.site_of(use.node)
    inert = isinstance(use.parent, ast.Expr)  # a docstring
    if found.same_name and value == symbol.dotted and _names_module(use):
        return
    if value in (symbol.dotted, str(symbol)) and inert:
        return
    if value in (symbol.dotted, str(symbol)):
        reason = f"the string is exactly {value}: it may be resolved, or be a label"
        plan.refusals.append(Refusal(site, str(symbol), reason, "change it by hand, or accept the site"))
        return
    if value.startswith((f"{symbol.dotted}.", f"{symbol}.")) and " " not in value and not found.same_name:
        reason = f"the string {value} is a path through the package: it may be resolved"
        plan.refusals.append(Refusal(site, str(symbol), reason, "change it by hand, or accept the site"))
        return
    code = re.search(rf"\bfrom\s+{re.escape(symbol.module)}\s+import\b[^;\n]*\b{re.escape(name)}\b", value)
    if code is not None and not inert:
        if isinstance(use.parent, ast.Assign):
            plan.warnings.append(
                Warned(site, str(symbol), "the string holds code that imports the symbol through the package")
            )
        else:
            plan.refusals.append(
                Refusal(
                    site,
                    str(symbol),
                    "code in a string imports the symbol through the package",
                    "change it by hand, or accept the site",
                )
            )
        return
    if re.search(rf"(?<![\w.]){re.escape(symbol.module)}[.:]{re.escape(name)}\b", value) and _runs(use):
        plan.refusals.append(
            Refusal(
                site,
                str(symbol),
                "code in a string reads the symbol through the package",
                "change it by hand, or accept the site",
            )
        )


def _names_module(use: Use) -> bool:
    # sys.modules["pkg.f"]     import_module("pkg.f")     these can only be the module
    if isinstance(use.parent, ast.Subscript):
        return isinstance(use.parent.value, ast.Attribute) and use.parent.value.attr == "modules"
    call = use.parent if isinstance(use.parent, ast.Call) else None
    name = call.func.attr if call is not None and isinstance(call.func, ast.Attribute) else ""
    return name in ("import_module", "find_spec", "reload", "run_module")


def _runs(use: Use) -> bool:
    call = use.parent if isinstance(use.parent, ast.Call) else None
    name = call.func.id if call is not None and isinstance(call.func, ast.Name) else ""
    return name in _RUNNERS
