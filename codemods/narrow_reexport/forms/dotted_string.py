"""`"pkg.sym"`, `"pkg:sym"`, code in a string: the symbol's path as text in Python code.

Owns the verdict on string constants: a refusal where they may be resolved, a mention where they are inert, and an edit
where a person asks for that.
Invariant: it never edits a string that may be a label unless asked to, and never passes over one that may be resolved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from codemods.engine.model import Edit, Refusal, Warned
from codemods.engine.scopes import Syntax, Use
from codemods.engine.words import spelled
from codemods.narrow_reexport.context import Resolutions
from codemods.narrow_reexport.forms.code_string import Rewriter, is_prose, is_run_later, symbols_in_code
from codemods.narrow_reexport.forms.label import is_compared, is_text, names_module
from codemods.narrow_reexport.forms.literal import literal_at
from codemods.narrow_reexport.forms.settings import MAY_BE_MODULE, WAY_OUT
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

# "ext://pkg.sym" of logging's settings      "error:text:pkg.Warning" of warning filters
_SCHEME = re.compile(r"ext://|(?:error|ignore|always|all|default|module|once):[^:\n]*:(?=[^:\n]*(?::[^:\n]*){0,2}\Z)")
_BY_HAND = "change it by hand, or accept the site"


def judge_strings(
    syntax: Syntax,
    resolutions: Resolutions,
    types: Sequence[Use],
    rewriter: Rewriter | None = None,
    handled: AbstractSet[int] = frozenset(),
) -> TextPlan:
    """Verdicts on strings that spell the symbol's path or hold code that imports it; `types`, and the nodes in `handled`
    (patch targets), are decided elsewhere.

    With a `rewriter` they are rewritten where that is certain.
    """
    plan = TextPlan()
    package, moving = resolutions[0].symbol.module, resolutions.moving
    typed = {id(use.node) for use in types} | handled
    for use in syntax.strings:
        assert isinstance(use.node, ast.Constant)
        value = str(use.node.value)
        if id(use.node) in typed or isinstance(use.parent, (ast.JoinedStr, ast.Expr)):
            continue  # a docstring, or a piece of an f-string
        if package not in value:
            continue
        named = [moving[name] for name in sorted(spelled(value, moving.keys()))]
        settled = [_judge(syntax, use, value, found, plan, rewriter) for found in named]
        if named and not any(settled):
            _judge_code(syntax, use, value, symbols_in_code(use, value, named), plan, rewriter)
    for use in syntax.byte_strings:
        # run([sys.executable, "-"], input=b"from pkg import sym")
        assert isinstance(use.node, ast.Constant) and isinstance(use.node.value, bytes)
        value = use.node.value.decode("utf-8", "replace")
        named = [moving[name] for name in sorted(spelled(value, moving.keys()))] if package in value else []
        _judge_code(syntax, use, value, symbols_in_code(use, value, named), plan, rewriter)
    return plan


def _judge(syntax: Syntax, use: Use, value: str, found: Resolution, plan: TextPlan, rewriter: Rewriter | None) -> bool:
    """Whether the string is the symbol's path, or goes on from it; if so the verdict is in the plan."""
    symbol = found.symbol
    site = syntax.source.site_of(use.node)
    scheme = _SCHEME.match(value)
    gone = (found.narrowed and found.same_name) or is_text(use)
    if scheme is not None and not gone and re.match(rf"{re.escape(symbol.dotted)}(?::|\Z)", value[scheme.end() :]):
        reason = f"the string {value} ends in a path through the package, which is resolved when it is used"
        plan.refusals.append(Refusal(site, str(symbol), reason, _BY_HAND))
        return True
    exact = value in (symbol.dotted, str(symbol))
    deeper = value.startswith((f"{symbol.dotted}.", f"{symbol}.")) and all(
        part.isidentifier() for part in value.replace(":", ".").split(".")
    )
    module = found.same_name and value.startswith(symbol.dotted)
    if not exact and not deeper:
        return False
    if module and (deeper or names_module(use)):
        return True  # pkg.f.other: the module of that name
    compared = is_compared(use) and not found.same_name
    if is_text(use) or (compared and rewriter is None):
        return True  # listed with the mentions
    if rewriter is not None and not compared and not module and not rewriter.accepts(use.node.lineno):
        edit = _moved(syntax, use, value, found)
        if edit is not None:
            plan.edits.append(edit)
            return True
    if exact:
        reason = f"the string is exactly {value}: it may be resolved, or be a label"
    else:
        reason = f"the string {value} is a path through the package: it may be resolved"
    hint = MAY_BE_MODULE if module else WAY_OUT if rewriter is None else _BY_HAND
    if compared:
        reason = f"the string {value} is compared with others, which --rewrite-strings may change"
    plan.refusals.append(Refusal(site, str(symbol), reason, hint))
    return True


def _moved(syntax: Syntax, use: Use, value: str, found: Resolution) -> Edit | None:
    # import_string("pkg.sym")      ->  import_string("pkg.sub.sym")
    # load("pkg:sym.attr")          ->  load("pkg.sub:sym.attr")
    if found.narrowed and found.same_name:
        return None  # by now it may be the module
    start, end = syntax.source.span(use.node)
    literal = literal_at(syntax.source.text, start, end, value)
    separator = value[len(found.symbol.module)]
    text = literal.spelled(f"{found.origin.module}{separator}{found.origin.name}") if literal is not None else None
    if literal is None or text is None:
        return None
    return Edit(syntax.source.path, literal.marks[0], literal.marks[len(found.symbol.dotted)], text)


def _judge_code(
    syntax: Syntax, use: Use, value: str, read: Sequence[Resolution], plan: TextPlan, rewriter: Rewriter | None
) -> None:
    # exec("from pkg import sym")        TEXT = """from pkg import sym"""
    if not read:
        return
    if rewriter is not None and not rewriter.accepts(use.node.lineno):
        rewritten = rewriter.code(syntax, use)
        if rewritten is not None:
            plan.edits += rewritten[0]
            plan.warnings += rewritten[1]
            return
    site = syntax.source.site_of(use.node)
    for found in read:
        if (isinstance(use.parent, ast.Assign) and not is_run_later(syntax, use)) or is_prose(use, value):
            reason = "the string holds code that reads the symbol through the package"
            plan.warnings.append(Warned(site, str(found.symbol), reason))
            continue
        reason = "code in a string reads the symbol through the package"
        hint = WAY_OUT if rewriter is None else _BY_HAND
        plan.refusals.append(Refusal(site, str(found.symbol), reason, hint))
