"""Another package that exports the symbol onward lazily: `_LAZY = {"sym": "pkg"}` in `outer/__init__.py`.

Owns the question whether a `__getattr__` of another module takes the symbol through the package, and the cut in its table.
Invariant: an entry is edited only if, read again, the module gives the symbol from its origin and all else as before.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from codemods.engine.edits import apply
from codemods.engine.model import Edit, Module, Refusal, Symbol, Warned
from codemods.engine.scopes import Syntax, Use
from codemods.engine.source import NotPython, Source, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.lazy_export import as_symbol
from codemods.narrow_reexport.forms.lazy_getattr import Execution, getattr_bindings
from codemods.narrow_reexport.forms.lazy_tables import entry_for
from codemods.narrow_reexport.forms.lazy_values import Taken, Unclear
from codemods.narrow_reexport.forms.verdicts import TextPlan
from codemods.narrow_reexport.resolve import Resolution

_QUOTED = re.compile(r"""(["'])([\w.:]*)\1\Z""")


@dataclass(slots=True)
class Onward:
    """The verdicts, and the strings that they settle."""

    plan: TextPlan = field(default_factory=TextPlan)
    settled: list[Use] = field(default_factory=list)
    reached: list[tuple[ast.expr, str]] = field(
        default_factory=list
    )  # entries that lead through the package, and to what


def onward_lazy(syntax: Syntax, module: Module, context: Context) -> Onward:
    """Plan the lazy exports of one module that lead through the package."""
    onward = Onward()
    if module.name == context.package.name or not exports_lazily(syntax):
        return onward
    by_symbol = {found.symbol: found for found in context.resolutions if not found.is_submodule}
    answers = _answers(syntax, module, context)
    for name, answer in answers.items():
        if isinstance(answer, Symbol) and answer in by_symbol:
            _one(syntax, module, context, name, by_symbol[answer], answers, onward)
        elif isinstance(answer, Unclear):
            found = next((found for found in context.resolutions if found.symbol.name == name), None)
            if found is None or found.narrowed:
                continue
            entry = entry_for(syntax, module, found.symbol)
            if entry is not None:
                # _import_structure = {"pkg": ["sym"]}, and then something that cannot be followed
                reason = (
                    f"this module exports the symbol onward lazily, through the package, as it seems: {answer.reason}"
                )
                hint = "let its table name the origin first"
                onward.plan.refusals.append(Refusal(syntax.source.site_of(entry), str(found.symbol), reason, hint))
                continue
            reason = "the module's __getattr__ may take the symbol through the package; it cannot be followed"
            onward.plan.warnings.append(Warned(syntax.source.site(answer.line), str(found.symbol), reason))
    return onward


def exports_lazily(syntax: Syntax) -> bool:
    """Whether a file has a module `__getattr__`, or puts a lazy module in its place."""
    return bool(getattr_bindings(syntax)) or "LazyModule(" in syntax.source.text


def _answers(syntax: Syntax, module: Module, context: Context) -> dict[str, Symbol | Unclear | None]:
    reader = Execution(module, syntax, context.layout.locate, lambda _: None)
    spelled = {str(use.node.value) for use in syntax.strings if isinstance(use.node, ast.Constant)}
    answers: dict[str, Symbol | Unclear | None] = {}
    for name in sorted(part for part in spelled if part.isidentifier()):
        try:
            answer = reader.ask(name)
            # from .pkg import sym; return sym        an import statement, which is rewritten like any other
            answers[name] = None if isinstance(answer, Taken) and answer.stated else as_symbol(answer)
        except Unclear as error:
            answers[name] = error
    return answers


def _one(
    syntax: Syntax,
    module: Module,
    context: Context,
    name: str,
    found: Resolution,
    answers: dict[str, Symbol | Unclear | None],
    onward: Onward,
) -> None:
    source = syntax.source
    for edits, settled in _options(syntax, name, found):
        text = apply(source.text, edits)
        try:
            changed = Source(source.path, text, source.encoding, source.bom)
            after = _answers(analyse(changed, parse(changed)), module, context)
        except NotPython:
            continue
        if after.get(name) == found.origin and all(
            _same(after.get(other), answer) for other, answer in answers.items() if other != name
        ):
            onward.plan.edits += edits
            onward.settled += settled
            onward.reached += [(use.node, found.symbol.name) for use in settled[:1]]
            return
    lines = [use for use in syntax.strings if isinstance(use.node, ast.Constant) and use.node.value == name]
    site = source.site(lines[0].node.lineno if lines else 1)
    reason = "this module exports the symbol onward lazily, through the package"
    onward.plan.refusals.append(Refusal(site, str(found.symbol), reason, "let its table name the origin first"))


def _same(after: Symbol | Unclear | None, before: Symbol | Unclear | None) -> bool:
    if isinstance(before, Unclear):
        return isinstance(after, Unclear) and after.reason == before.reason
    return after == before


def _options(syntax: Syntax, name: str, found: Resolution) -> list[tuple[list[Edit], list[Use]]]:
    """Ways to let an entry of a table name the origin; which of them is right is asked of the result."""
    below = found.origin.module.removeprefix(found.symbol.module)
    if not below.startswith(".") or not found.origin.module.startswith(found.symbol.module):
        return []
    options: list[tuple[list[Edit], list[Use]]] = []
    for node in ast.walk(syntax.tree):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or key.value != name:
                continue
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
            texts = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
            if not texts or len(texts) != len(parts):
                continue
            if len(texts) == 1:
                # {"sym": ".ops"}        {"sym": "pkg.ops:sym"}
                stem = texts[0].removesuffix(found.symbol.name)
                news = [[texts[0] + below]]
                if stem != texts[0] and stem.endswith((":", ".")):
                    news.append([f"{stem[:-1]}{below}{stem[-1]}{found.origin.name}"])
            else:
                # {"sym": ("pkg.ops", "sym")}
                names = [found.origin.name if text == found.symbol.name else text for text in texts[1:]]
                news = [[texts[0] + below, *names]]
            for new in news:
                option = _edits(syntax, parts, new)
                if option is not None:
                    options.append(option)
    return options


def _edits(syntax: Syntax, parts: list[ast.expr], new: list[str]) -> tuple[list[Edit], list[Use]] | None:
    edits: list[Edit] = []
    for part, text in zip(parts, new, strict=True):
        start, end = syntax.source.span(part)
        match = _QUOTED.match(syntax.source.text[start:end])
        if match is None:
            return None
        if match[2] != text:
            edits.append(Edit(syntax.source.path, start, end, f"{match[1]}{text}{match[1]}"))
    return edits, [use for use in syntax.strings if use.node in parts]
