"""`getattr(pkg, "sym")`, `patch("pkg.sym")`, `vars(pkg)`, `"pkg.sym"`: the symbol reached by its name as text.

Owns the verdict on reflection and on strings: a refusal where behaviour would change, a warning where it may, a mention
where the text is inert.
Invariant: it never edits a string that may be a label, and never passes over one that may be resolved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Mention, Refusal, Warned
from codemods.engine.references import Reflection
from codemods.engine.scopes import Syntax, Use, last_name
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
_PATCHERS = {"patch", "setattr", "delattr", "object", "multiple", "dict", "replace"}
_RUNNERS = {"exec", "eval", "compile"}
_ACCEPT = re.compile(r"#\s*codemods:\s*accept\s+narrow_reexport\b")


@dataclass(slots=True)
class TextPlan:
    """Verdicts on one file's strings and reflection."""

    edits: list[Edit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


def accepts(line: str) -> bool:
    """Whether a source line carries the accept comment."""
    return _ACCEPT.search(line) is not None


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


def judge_strings(syntax: Syntax, resolutions: Sequence[Resolution], types: Sequence[Use]) -> TextPlan:
    """Verdicts on strings that spell the symbol's path or hold code that imports it; `types` are handled elsewhere."""
    plan = TextPlan()
    typed = {id(use.node) for use in types}
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
        if _patches(use):
            reason = (
                "a test patches the name on the package; the target must move together with the readers that it covers"
            )
        else:
            reason = f"the string is exactly {value}: it may be resolved, or be a label"
        plan.refusals.append(Refusal(site, str(symbol), reason, "change it by hand, or accept the site"))
        return
    if value.startswith((f"{symbol.dotted}.", f"{symbol}.")) and " " not in value and not found.same_name:
        _deeper(syntax, use, value, found, plan)
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


def _deeper(syntax: Syntax, use: Use, value: str, found: Resolution, plan: TextPlan) -> None:
    # patch("pkg.Cls.method")      ->  patch("pkg.sub.Cls.method"): the class is the same object
    site = syntax.source.site_of(use.node)
    if not _patches(use):
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


def _patches(use: Use) -> bool:
    call = use.parent if isinstance(use.parent, ast.Call) else None
    if isinstance(use.parent, ast.keyword):
        return use.parent.arg == "target"
    if call is None:
        return False
    name = last_name(call.func)
    return name in _PATCHERS and bool(call.args) and call.args[0] is use.node


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
