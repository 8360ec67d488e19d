"""What names a narrowed symbol in an `__init__` that binds it no more: an `__all__` entry, a stub that still re-exports it.

Owns the cut of such leftovers, which the codemod takes for narrowed already; it is the codemod's own cut.
Invariant: an `__init__.py` that binds the name is never touched here: that takes the whole tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codemods.check_narrowed.guard import View
from codemods.engine.edits import edited
from codemods.engine.errors import CodemodError
from codemods.engine.model import Failure, Module
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.package_init import plan_init
from codemods.narrow_reexport.resolve import resolve


def without_leftovers(
    view: View, path: str, data: bytes, names: Sequence[str], namespaces: Namespaces, width: int
) -> tuple[bytes, list[str]]:
    """The bytes of an `__init__.py` or `__init__.pyi` of the package that no longer names these, or why they stay.

    `namespaces` reads the tree with this file as `data`.
    """
    known = {name: ban.origin for name, ban in view.rows.items()}
    try:
        found = resolve(view.module, names, namespaces, known).resolutions
    except CodemodError as error:
        return data, [error.detail]
    stub = path.endswith(".pyi")
    cut = tuple(replace(each, narrowed=False) for each in found if each.narrowed or stub)
    module = Module(view.module.name, path, True)
    syntax = namespaces.syntax(module)
    if not cut or syntax is None:
        return data, []
    plan = plan_init(module, syntax, namespaces, cut, frozenset(), frozenset(), width, stub=stub)
    if plan.refusals:
        return data, [f"{each.site}: {each.reason} ({each.hint})" for each in plan.refusals[:1]]
    after = edited(syntax.source, plan.edits)
    return (data, [f"our bug: {after.detail}"]) if isinstance(after, Failure) else (after, [])
