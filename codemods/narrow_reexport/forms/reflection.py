"""`getattr(pkg, name)`, `vars(pkg)`, `setattr(pkg, "sym", x)`: what may reach the symbol through the package as an object.

Owns the verdict on reflection that is not rewritten: a refusal where behaviour would change, a warning where it may.
Invariant: a computed name is passed over only if it is proved to be none of the symbols.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.engine.literal_names import is_open, possible
from codemods.engine.loaded import qualified
from codemods.engine.model import Refusal, Warned
from codemods.engine.references import AttributeUse, Names, Reflection
from codemods.engine.scopes import Syntax, Use, last_name
from codemods.narrow_reexport.context import Resolutions
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

_BUILTINS = {"getattr", "hasattr", "setattr", "delattr"}
_BY_NAME = _BUILTINS | {"object", "setitem", "delitem", "__getattribute__", "getattr_static"}
_GETTERS = {"attrgetter", "methodcaller"}
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
_MATCH = re.compile(r"^[ \t]*match\b[^\n]*:", re.M)
_CHANGES = ("setattr", "delattr", "setitem", "delitem")  # these write
_HINT = "make the names literal, or accept the site"
_AT_ORIGIN = "ask its origin there, or accept the site"


def judge_reflection(syntax: Syntax, uses: Sequence[Reflection], resolutions: Resolutions) -> TextPlan:
    """Verdicts on calls that get the package as an argument."""
    plan = TextPlan()
    by_name = resolutions.by_name
    every = _every(resolutions)
    for use in uses:
        site = syntax.source.site_of(use.use.node)
        call = use.use.node
        assert isinstance(call, ast.Call)
        last = use.how.rpartition(".")[2]
        if last in _HARMLESS:
            continue
        getter = _getter(call.func, use.use)
        if getter is not None:
            # attrgetter("sym", "light")(pkg)     get = attrgetter("sym"); get(pkg)
            kind = last_name(getter.func)
            parts = getter.args if kind == "attrgetter" else getter.args[:1]
            _judge_name(plan, syntax, use, f"{kind}()", parts, by_name, every)
            continue
        asked = _asked(use.use)
        if last in ("vars", "dir") and asked is not None:
            # "sym" in dir(pkg)
            _judge_name(plan, syntax, use, f"{last}()", [asked], by_name, every)
            continue
        if last in _BUILTINS and isinstance(call.func, ast.Name) and use.position != 0:
            # getattr(other, "sym", pkg)      the package is the default, or the value
            plan.warnings.append(Warned(site, every, f"{use.how}() gets the package and may read its names"))
            continue
        if last in _BY_NAME and use.literal:
            if use.name in by_name and not by_name[use.name].is_submodule:
                plan.refusals.append(
                    Refusal(
                        site,
                        str(by_name[use.name].symbol),
                        f"{last}() reaches the attribute by name",
                        "do it on the origin and see to its readers, or accept the site"
                        if last in _CHANGES
                        else "read it from its origin there, or accept the site",
                    )
                )
            continue
        if last in _BUILTINS and isinstance(call.func, ast.Name) and len(call.args) > 1:
            # getattr(pkg, name)
            _judge_name(plan, syntax, use, f"{last}()", call.args[1:2], by_name, every)
        elif last in _BY_NAME and len(call.args) > 1:
            reason = f"dynamic {last}(): the name is not a literal, so it may be any of the package's"
            plan.refusals.append(Refusal(site, every, reason, _HINT))
        elif last == "multiple" and any(keyword.arg in by_name for keyword in call.keywords):
            plan.refusals.append(
                Refusal(
                    site,
                    every,
                    "patch.multiple() replaces the attribute on the package",
                    "patch it at its origin, or accept the site",
                )
            )
        elif not _is_asked_by_key(use.use, call):
            plan.warnings.append(Warned(site, every, f"{use.how}() gets the package and may read its names"))
    return plan


def judge_namespaces(syntax: Syntax, names: Names, named: Sequence[AttributeUse], resolutions: Resolutions) -> TextPlan:
    """Verdicts on `pkg.__dict__` and `vars(pkg)[name]`; `named` are reads that are planned elsewhere."""
    plan = TextPlan()
    seen = {id(node) for read in named if read.by_name is not None for node in read.by_name.seen}
    by_name = resolutions.by_name
    every = _every(resolutions)
    for use in (*syntax.attributes, *syntax.calls):
        node = use.node
        receiver: ast.expr
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            receiver = node.value
        elif isinstance(node, ast.Call) and len(node.args) == 1 and _is_asked_by_key(use, node):
            receiver = node.args[0]
        else:
            continue
        bases = names.modules(receiver, use.scope)
        if names.target.package not in bases or id(node) in seen:
            continue
        key = use.parent.slice if isinstance(use.parent, ast.Subscript) and use.parent.value is node else _asked(use)
        spelled = ast.unparse(node)
        certain = bases == {names.target.package}
        if key is not None:
            # pkg.__dict__[name]     vars(pkg)[name]
            reflection = Reflection(use, spelled, "", False, certain)
            _judge_name(plan, syntax, reflection, spelled, [key], by_name, every)
        else:
            reason = "the package's __dict__ may be asked for the symbol"
            plan.warnings.append(Warned(syntax.source.site_of(node), every, reason))
    return plan


def judge_patterns(syntax: Syntax, names: Names, resolutions: Resolutions) -> TextPlan:
    """Verdicts on patterns that ask the package for the symbol."""
    plan = TextPlan()
    by_name = resolutions.moving
    matches = "match" in syntax.source.text and _MATCH.search(syntax.source.text) is not None
    subjects = {id(use.node): use for use in (*syntax.names, *syntax.attributes)} if matches else {}
    for node in ast.walk(syntax.tree) if subjects else ():
        use = subjects.get(id(node.subject)) if isinstance(node, ast.Match) else None
        if (
            use is None
            or not isinstance(node, ast.Match)
            or names.target.package not in names.modules(use.node, use.scope)
        ):
            continue
        for pattern in (
            each for case in node.cases for each in ast.walk(case.pattern) if isinstance(each, ast.MatchClass)
        ):
            for name in pattern.kwd_attrs:
                if name in by_name:
                    # match pkg: case object(sym=found):
                    reason = "a pattern asks the package for the symbol"
                    site = syntax.source.site(pattern.lineno)
                    hint = "read it from its origin there, or accept the site"
                    plan.refusals.append(Refusal(site, str(by_name[name].symbol), reason, hint))
    return plan


def _getter(node: ast.expr, use: Use) -> ast.Call | None:
    """The `attrgetter(...)` or `methodcaller(...)` that a callee is."""
    if isinstance(node, ast.Name):
        owner = use.scope.owner(node.id)
        bindings = owner.bindings[node.id] if owner is not None else []
        value = bindings[0].value if len(bindings) == 1 else None
        node = value if value is not None else node
    return node if isinstance(node, ast.Call) and last_name(node.func) in _GETTERS else None


def _asked(use: Use) -> ast.expr | None:
    # "sym" in vars(pkg)
    test = use.parent
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)):
        return test.left if test.comparators[0] is use.node else None
    return None


def _is_asked_by_key(use: Use, call: ast.Call) -> bool:
    # vars(pkg)[name]
    return (
        qualified(call.func, use.scope) == "builtins.vars"
        and isinstance(use.parent, ast.Subscript)
        and use.parent.value is call
    )


def _judge_name(
    plan: TextPlan,
    syntax: Syntax,
    use: Reflection,
    how: str,
    parts: Sequence[ast.expr],
    by_name: dict[str, Resolution],
    every: str,
) -> None:
    """The verdict on an attribute whose name is computed: nothing, if it is proved to be another one."""
    wanted = list(by_name)
    site = syntax.source.site_of(use.use.node)
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            able = frozenset({part.value.partition(".")[0]} & set(wanted))
        else:
            able = possible(part, use.use.scope, wanted)
        if not able:
            continue
        if is_open(part, use.use.scope):
            reason = f"dynamic {how}: the name is not a literal, so it may be any of the package's"
        elif isinstance(part, ast.Constant):
            reason = f"{how} reaches the attribute by name"
        else:
            reason = f"dynamic {how}: the name may be {' or '.join(sorted(able))} here"
        symbol = str(by_name[next(iter(able))].symbol) if len(able) == 1 else every
        if use.certain:
            hint = _AT_ORIGIN if isinstance(part, ast.Constant) else _HINT
            plan.refusals.append(Refusal(site, symbol, reason, hint))
        else:
            plan.warnings.append(Warned(site, symbol, reason))
        return


def _every(resolutions: Resolutions) -> str:
    return str(resolutions[0].symbol) if len(resolutions) == 1 else f"{resolutions[0].symbol.module}:*"
