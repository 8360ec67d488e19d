"""`pkg = LazyLoader("pkg", globals(), "pkg")`: an object made from the package's name, which may hand its attributes on.

Owns the verdict on reads of the symbol through such an object.
Invariant: it never edits; what the object does with the name is not known here.
"""

from __future__ import annotations

import ast

from codemods.engine.loaded import loading
from codemods.engine.model import Module, Refusal, Warned, When
from codemods.engine.scopes import Binding, Syntax, Use, last_name
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution


def judge_lazy_objects(syntax: Syntax, module: Module, package: str, resolutions: dict[str, Resolution]) -> TextPlan:
    """A refusal where the maker calls itself lazy, a warning where any call got the package's name."""
    plan = TextPlan()
    for use in syntax.attributes:
        node = use.node
        if not isinstance(node, ast.Attribute) or node.attr not in resolutions or typed_alone(use):
            continue
        call = _made_from(use, package, module)
        found = resolutions[node.attr]
        if call is None or found.narrowed or found.is_submodule:
            continue
        # zoo = LazyLoader("zoo", globals(), "zoo")        zoo.roar()
        maker = ast.unparse(call.func)
        site = syntax.source.site_of(node)
        if "lazy" in last_name(call.func).lower():
            reason = f"{ast.unparse(node.value)} is what {maker}() makes of the package's name: it may read the symbol from the package"
            plan.refusals.append(Refusal(site, str(found.symbol), reason, way_out(found)))
        else:
            reason = f"{maker}() gets the package's name, and what it gives is asked for {node.attr}"
            plan.warnings.append(Warned(site, str(found.symbol), reason))
    return plan


def typed_alone(use: Use) -> bool:
    """Whether the object is the package for type checkers, and something else at run time."""
    # if TYPE_CHECKING: import pkg        else: pkg = LazyLoader("pkg", globals(), "pkg")
    found = _bindings(use)
    typing = [each for each in found if each.block.when is When.TYPING]
    return bool(typing) and len(typing) < len(found)


def way_out(found: Resolution) -> str:
    """How the read can do without the package."""
    taken = (
        found.origin.name if found.origin.name == found.symbol.name else f"{found.origin.name} as {found.symbol.name}"
    )
    return f"import it where it is read (from {found.origin.module} import {taken}), or accept the site"


def _bindings(use: Use) -> list[Binding]:
    base = use.node.value if isinstance(use.node, ast.Attribute) else None
    owner = use.scope.owner(base.id) if isinstance(base, ast.Name) else None
    return owner.bindings[base.id] if owner is not None and isinstance(base, ast.Name) else []


def _made_from(use: Use, package: str, module: Module) -> ast.Call | None:
    for binding in _bindings(use):
        value = binding.value
        if isinstance(value, ast.Call) and loading(value, use.scope, module) is None:
            given = (*value.args, *(keyword.value for keyword in value.keywords))
            if any(isinstance(each, ast.Constant) and each.value == package for each in given):
                return value
    return None
