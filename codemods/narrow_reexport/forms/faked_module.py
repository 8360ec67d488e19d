"""`patch.dict(sys.modules, {"pkg": fake})`: a test that puts something else in the place of a module.

Owns the recognition of modules that are replaced in `sys.modules`, and the verdict on each: a refusal where a reader of
the symbol is known to run meanwhile, else a warning.
Invariant: it never edits; a replaced module counts only where its name is spelled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codemods.engine.model import Refusal, Warned
from codemods.engine.scopes import Syntax, Use, last_name
from codemods.narrow_reexport.context import Faked
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

_REPLACES = {"setitem", "dict", "update", "setdefault", "__setitem__"}


def faked_modules(syntax: Syntax, wanted: frozenset[str]) -> Iterator[tuple[str, Use]]:
    """The modules among `wanted` that a file replaces, each with the place."""
    for use in syntax.strings:
        # sys.modules["pkg"] = fake
        stored = isinstance(use.parent, ast.Subscript) and isinstance(use.parent.ctx, ast.Store)
        if stored and isinstance(use.node, ast.Constant) and use.node.value in wanted:
            if isinstance(use.parent, ast.Subscript) and _is_table(use.parent.value):
                yield str(use.node.value), use
    for use in syntax.calls:
        call = use.node
        assert isinstance(call, ast.Call)
        if last_name(call.func) not in _REPLACES:
            continue
        # monkeypatch.setitem(sys.modules, "pkg", fake)      patch.dict("sys.modules", {"pkg": fake})
        # sys.modules.update(pkg=fake)
        own = isinstance(call.func, ast.Attribute) and _is_table(call.func.value)
        if own or any(_is_table(argument) for argument in call.args[:1]):
            for name in dict.fromkeys(_names(call, use)):
                if name in wanted:
                    yield name, use


def may_fake(wanted: Iterable[str]) -> bytes:
    """A pattern that a file matches if it can replace one of the modules: it spells the name as a string or a keyword."""
    names = b"|".join(sorted(re.escape(name.encode()) for name in wanted))
    return rb"[\"'](?:" + names + rb")[\"']|\b(?:" + names + rb")[ \t]*="


def judge_fakes(syntax: Syntax, resolutions: Mapping[str, Resolution], faked: Sequence[Faked]) -> TextPlan:
    """Verdicts on the modules that a file replaces."""
    plan = TextPlan()
    for module, use in faked_modules(syntax, frozenset(each.module for each in faked)) if faked else ():
        for each in faked:
            if each.module != module:
                continue
            symbol = str(resolutions[each.name].symbol)
            site = syntax.source.site_of(use.node)
            if each.reader:
                hint = "replace the name where the tested code looks it up, or accept the site"
                plan.refusals.append(Refusal(site, symbol, f"{each.reason} ({each.reader})", hint))
            else:
                plan.warnings.append(Warned(site, symbol, each.reason))
    return plan


def _is_table(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == "sys.modules"
    return isinstance(node, ast.Attribute) and node.attr == "modules" and last_name(node.value) == "sys"


def _names(call: ast.Call, use: Use) -> Iterator[str]:
    for keyword in call.keywords:
        yield keyword.arg or ""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        table: ast.AST | None = argument
        owner = use.scope.owner(argument.id) if isinstance(argument, ast.Name) else None
        if owner is not None and isinstance(argument, ast.Name):
            # fakes = {"pkg": fake}; patch.dict(sys.modules, fakes)
            bindings = owner.bindings[argument.id]
            table = bindings[0].value if len(bindings) == 1 else None
        for node in ast.walk(table) if table is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
