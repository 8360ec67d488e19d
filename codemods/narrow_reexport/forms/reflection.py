"""`getattr(pkg, "sym")`, `vars(pkg)`: the symbol reached by its name through the package as an object.

Owns the verdict on reflection and on strings: a refusal where behaviour would change, a warning where it may, a mention
where the text is inert.
Invariant: it never edits a string that may be a label, and never passes over one that may be resolved.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.engine.model import Refusal, Warned
from codemods.engine.references import Reflection
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

_BY_NAME = {
    "getattr",
    "hasattr",
    "setattr",
    "delattr",
    "object",
    "attrgetter",
    "setitem",
    "delitem",
    "__getattribute__",
}
_HARMLESS = {
    "isinstance",
    "type",
    "id",
    "repr",
    "str",
    "print",
    "reload",
    "len",
    "bool",
    "ismodule",
    "getsource",
    "getfile",
    "getsourcefile",
    "getdoc",
    "help",
    "hash",
}


def judge_reflection(syntax: Syntax, uses: Sequence[Reflection], resolutions: Sequence[Resolution]) -> TextPlan:
    """Verdicts on calls that get the package as an argument."""
    plan = TextPlan()
    by_name = {found.symbol.name: found for found in resolutions}
    every = str(resolutions[0].symbol) if len(resolutions) == 1 else f"{resolutions[0].symbol.module}:*"
    for use in uses:
        site = syntax.source.site_of(use.use.node)
        last = use.how.rpartition(".")[2]
        if last in _HARMLESS:
            continue
        if last in _BY_NAME and use.literal:
            if use.name in by_name and not by_name[use.name].is_submodule:
                plan.refusals.append(
                    Refusal(
                        site,
                        str(by_name[use.name].symbol),
                        f"{last}() reaches the attribute by name",
                        "read it from its origin there, or accept the site",
                    )
                )
            continue
        call = use.use.node
        assert isinstance(call, ast.Call)
        if last in _BY_NAME and len(call.args) > 1:
            plan.refusals.append(
                Refusal(
                    site,
                    every,
                    f"dynamic {last}(): the name is not a literal, so it may be any of the package's",
                    "make the names literal, or accept the site",
                )
            )
        elif last == "multiple" and any(keyword.arg in by_name for keyword in call.keywords):
            plan.refusals.append(
                Refusal(
                    site,
                    every,
                    "patch.multiple() replaces the attribute on the package",
                    "patch it at its origin, or accept the site",
                )
            )
        else:
            plan.warnings.append(Warned(site, every, f"{use.how}() gets the package and may read its names"))
    return plan
