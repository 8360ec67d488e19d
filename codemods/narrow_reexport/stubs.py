"""Stubs of the package's `__init__` that lie elsewhere: `pkg-stubs/` (PEP 561), `typings/pkg/`.

Owns which files those are, and their narrowing, which is the one of the `__init__.pyi` beside the `__init__`.
Invariant: a stub elsewhere never blocks a run; it only says what the package holds, and to type checkers alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.engine.model import Module, Site, Warned
from codemods.engine.modules import Layout
from codemods.engine.namespace import Namespaces
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.init_uses import InitPlan
from codemods.narrow_reexport.forms.package_init import plan_init


def mirrored(paths: Sequence[str], layout: Layout, package: Module) -> list[str]:
    """The `__init__.pyi` files elsewhere that are the package's."""
    return [
        path
        for path in paths
        if path.endswith("/__init__.pyi") and path != f"{package.path}i" and layout.module_at(path).name == package.name
    ]


def plan_mirrored(
    path: str, data: bytes, package: Module, namespaces: Namespaces, context: Context, *, callers_only: bool
) -> tuple[Module, InitPlan]:
    """Plan one such stub; what stands in the way is a warning, and the stub is left as it is."""
    stub = Module(package.name, path, True)
    syntax = namespaces.syntax(stub)
    if syntax is None:
        plan = InitPlan()
        for found in context.resolutions:
            if found.symbol.name.encode() in data:
                plan.warnings.append(Warned(Site(path, 1, 0, ""), str(found.symbol), "this stub does not parse"))
        return stub, plan
    plan = plan_stub(stub, syntax, namespaces, context, callers_only=callers_only)
    if plan.refusals:
        said = [Warned(each.site, each.symbol, f"{each.reason}; the stub is left as it is") for each in plan.refusals]
        plan = InitPlan()
        plan.warnings += said
    return stub, plan


def plan_stub(
    stub: Module, syntax: Syntax, namespaces: Namespaces, context: Context, *, callers_only: bool
) -> InitPlan:
    """The narrowing of one stub: nothing that it binds is loaded, and nobody reads names through it."""
    nothing: frozenset[str] = frozenset()
    return plan_init(
        stub,
        syntax,
        namespaces,
        context.resolutions,
        nothing,
        nothing,
        context.width,
        callers_only=callers_only,
        stub=True,
    )
