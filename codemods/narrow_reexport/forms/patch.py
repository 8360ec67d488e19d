"""`patch("pkg.sym")`, `patch("pkg.Cls.method")`: what tests replace through the package.

Owns the verdict on patch targets.
Invariant: a target moves only where every reader that it covered is still covered, and none other becomes covered.
"""

from __future__ import annotations

import ast

from codemods.engine.model import Edit, Refusal
from codemods.engine.scopes import Syntax, Use, last_name
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

_PATCHERS = {"patch", "setattr", "delattr", "object", "multiple", "dict", "replace"}


def judge_deeper(syntax: Syntax, use: Use, value: str, found: Resolution, plan: TextPlan) -> None:
    # patch("pkg.Cls.method")      ->  patch("pkg.sub.Cls.method"): the class is the same object
    site = syntax.source.site_of(use.node)
    if not is_patch_target(use):
        plan.refusals.append(
            Refusal(
                site,
                str(found.symbol),
                f"the string {value} is a path through the package: it may be resolved",
                "change it by hand, or accept the site",
            )
        )
        return
    start, end = syntax.source.span(use.node)
    text = syntax.source.text[start:end]
    if text.count(found.symbol.dotted) != 1:
        plan.refusals.append(
            Refusal(site, str(found.symbol), "the patch target is put together from parts", "write it as one literal")
        )
        return
    at = start + text.index(found.symbol.dotted)
    plan.edits.append(Edit(syntax.source.path, at, at + len(found.symbol.dotted), found.origin.dotted))


def is_patch_target(use: Use) -> bool:
    call = use.parent if isinstance(use.parent, ast.Call) else None
    if isinstance(use.parent, ast.keyword):
        return use.parent.arg == "target"
    if call is None:
        return False
    name = last_name(call.func)
    return name in _PATCHERS and bool(call.args) and call.args[0] is use.node
