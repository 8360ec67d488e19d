"""`pkg.sub.sym = fake`, `patch.dict(pkg.__dict__, sym=fake)`: a module's name that other code binds anew.

Owns the recognition of such places, by attribute, by `setattr` or through the module's `__dict__`, and the refusal of each.
Invariant: it never edits; the calls that tests patch single names with are judged elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.engine.loaded import qualified
from codemods.engine.model import Module, Refusal
from codemods.engine.references import Names, Target
from codemods.engine.scopes import Syntax, Use, last_name
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.verdicts import TextPlan

_TABLES = {"dict", "setitem", "delitem", "update", "setdefault", "pop", "__setitem__", "__delitem__"}
_CHANGED = (ast.Store, ast.Del)


def judge_rebinding(syntax: Syntax, module: Module, names: Names, context: Context) -> TextPlan:
    """Refusals for a file that rebinds a symbol at its origin, or replaces it in the package's `__dict__`."""
    plan = TextPlan()
    by_symbol = context.resolutions.moving
    for name, use in _in_tables(syntax, names):
        if name in by_symbol and not by_symbol[name].narrowed:
            # patch.dict("pkg.__dict__", sym=fake)        monkeypatch.setitem(vars(pkg), "sym", fake)
            reason = "the symbol is replaced in the package's __dict__"
            hint = "replace it where the tested code looks it up, or accept the site"
            plan.refusals.append(Refusal(syntax.source.site_of(use.node), str(by_symbol[name].symbol), reason, hint))
    by_leaf = context.resolutions.by_leaf
    spelled = sorted(syntax.source.spelled(by_leaf.keys()))
    for origin, by_name in (pair for leaf in spelled for pair in by_leaf[leaf].items()):
        if module.name == origin:
            continue
        target = Target(origin, frozenset(by_name), frozenset(), frozenset(), {}, context.layout.locate)
        there = Names(syntax, module, target)
        for name, use in (*_stored(syntax, there), *_in_tables(syntax, there)):
            # pkg.sub.sym = fake        the package held what was there before, and so did its readers
            found = by_name[name]
            reason = f"the code rebinds {found.origin.dotted}, which readers of {found.symbol.dotted} did not see"
            hint = "rebind it before anything imports it, or accept the site"
            plan.refusals.append(Refusal(syntax.source.site_of(use.node), str(found.symbol), reason, hint))
    return plan


def _stored(syntax: Syntax, names: Names) -> Iterator[tuple[str, Use]]:
    """The names of a module that are assigned to or deleted from outside."""
    target = names.target
    for use in syntax.attributes:
        # pkg.sub.sym = fake        del pkg.sub.sym
        node = use.node
        assert isinstance(node, ast.Attribute)
        if node.attr in target.names and isinstance(node.ctx, _CHANGED):
            if target.package in names.modules(node.value, use.scope):
                yield node.attr, use
    for use in syntax.calls:
        # setattr(pkg.sub, "sym", fake)
        call = use.node
        assert isinstance(call, ast.Call)
        if len(call.args) < 2 or qualified(call.func, use.scope) not in ("builtins.setattr", "builtins.delattr"):
            continue
        name = call.args[1].value if isinstance(call.args[1], ast.Constant) else None
        if isinstance(name, str) and name in target.names and target.package in names.modules(call.args[0], use.scope):
            yield name, use


def _in_tables(syntax: Syntax, names: Names) -> Iterator[tuple[str, Use]]:
    """The names of a module that are replaced in its `__dict__`."""
    target = names.target
    for use in (*syntax.attributes, *syntax.calls):
        # pkg.sub.__dict__["sym"] = fake
        key = use.parent.slice if isinstance(use.parent, ast.Subscript) and use.parent.value is use.node else None
        changed = isinstance(use.parent, ast.Subscript) and isinstance(use.parent.ctx, _CHANGED)
        if changed and isinstance(key, ast.Constant) and key.value in target.names and _is_table(use.node, use, names):
            yield str(key.value), use
    for use in syntax.calls:
        call = use.node
        assert isinstance(call, ast.Call)
        if last_name(call.func) not in _TABLES:
            continue
        # patch.dict(pkg.__dict__, sym=fake)      monkeypatch.setitem(vars(pkg), "sym", fake)      vars(pkg).update(sym=fake)
        own = isinstance(call.func, ast.Attribute) and _is_table(call.func.value, use, names)
        first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "in_dict"), None)
        if own or (first is not None and _is_table(first, use, names)):
            spelled: list[object] = [keyword.arg for keyword in call.keywords]
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                spelled += [node.value for node in ast.walk(argument) if isinstance(node, ast.Constant)]
            for name in dict.fromkeys(each for each in spelled if each in target.names):
                yield str(name), use


def _is_table(node: ast.AST, use: Use, names: Names) -> bool:
    """Whether an expression is the `__dict__` of the module that is asked for."""
    if isinstance(node, ast.Constant):
        return node.value == f"{names.target.package}.__dict__"
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return names.target.package in names.modules(node.value, use.scope)
    if isinstance(node, ast.Call) and len(node.args) == 1 and qualified(node.func, use.scope) == "builtins.vars":
        return names.target.package in names.modules(node.args[0], use.scope)
    return False
