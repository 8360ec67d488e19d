"""`getattr(pkg, "sym", None)`: an attribute read by its name, written anew from the symbol's origin.

Owns the shapes of such reads: what stays of them, and where a plain name may stand in their place.
Invariant: a default is dropped only if nothing can tell, and the kind of question (`hasattr`) stays the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from codemods.engine.by_name import named_reads
from codemods.engine.model import Warned
from codemods.engine.references import AttributeUse, Names, Reflection
from codemods.engine.scopes import Syntax, Use
from codemods.engine.source import Source
from codemods.narrow_reexport.resolve import Resolution


def taken_over(
    syntax: Syntax, names: Names, by_name: dict[str, Resolution], references: Sequence[object]
) -> tuple[list[AttributeUse], list[Reflection]]:
    """The attribute reads by name that are planned like others, and the reflection that is left to be judged."""
    reads = named_reads(syntax, names, frozenset(by_name))
    seen = {id(node) for read in reads if read.by_name is not None for node in read.by_name.seen}
    left = [each for each in references if isinstance(each, Reflection) and id(each.use.node) not in seen]
    return reads, left


def hindrance(read: AttributeUse, found: Resolution, syntax: Syntax) -> str:
    """Why a read by name cannot be rewritten, whatever import it gets; empty where it can."""
    by_name = read.by_name
    if by_name is None:
        return ""
    if by_name.hinders:
        return by_name.hinders
    if read.use.fstring is not None:
        return "the symbol is read by its name inside an f-string"
    if found.optional and (by_name.how == "hasattr" or by_name.default is not None):
        return "the re-export is optional (try/except ImportError), and the code asks whether it is there"
    if by_name.plain and (not _is_inert(by_name.default) or _has_comment(read.use, syntax.source)):
        return f"{by_name.how} is read with a default that does something"
    return ""


def asks_after_it(read: AttributeUse, found: Resolution, syntax: Syntax) -> Warned | None:
    """Once the symbol is gone from the package, asking whether it is there has another answer, on purpose or not."""
    by_name = read.by_name
    if by_name is None or not found.narrowed or not (by_name.how == "hasattr" or by_name.default is not None):
        return None
    reason = f"{by_name.how} asks the package for the symbol, which it no longer has"
    return Warned(syntax.source.site_of(read.node), str(found.symbol), reason)


def can_be_name(read: AttributeUse) -> bool:
    """Whether the symbol's bare name may stand in the place of the whole read."""
    by_name = read.by_name
    if by_name is None:
        return True
    return by_name.how not in ("hasattr", "methodcaller") and not by_name.rest and _is_inert(by_name.default)


def base_of(read: AttributeUse, source: Source) -> str:
    """What stands before the attribute: the receiver's text, with the packages that an `attrgetter` goes through."""
    assert read.by_name is not None
    start, end = source.span(read.by_name.receiver)
    return ".".join([source.text[start:end], *read.by_name.prefix])


def from_module(read: AttributeUse, source: Source, module: str, name: str) -> list[tuple[Use, str]]:
    """The new code of a read whose symbol is `name` in the module that the code `module` is."""
    by_name = read.by_name
    if by_name is None or by_name.plain:
        # vars(pkg)["sym"]               ->  pkg.sub.sym
        return [(read.use, f"{module}.{name}")]
    # getattr(pkg, "sym", None)          ->  getattr(pkg.sub, "sym", None)
    receiver = replace(read.use, node=by_name.receiver)
    return [(receiver, module), *renamed(read, source, name)]


def renamed(read: AttributeUse, source: Source, name: str) -> list[tuple[Use, str]]:
    """The new literal where the symbol has another name at its origin, or is reached through fewer packages."""
    by_name = read.by_name
    assert by_name is not None and isinstance(by_name.literal, ast.Constant)
    text = ".".join([name, *by_name.rest])
    if by_name.literal.value == text:
        return []
    return [(replace(read.use, node=by_name.literal), quoted(source, by_name.literal, text))]


def quoted(source: Source, literal: ast.expr, text: str) -> str:
    """A string literal with the quotes of the one that it replaces."""
    start, _ = source.span(literal)
    quote = re.compile(r"\w*('''|\"\"\"|'|\")").match(source.text, start)
    mark = quote[1] if quote else '"'
    return f"{mark}{text}{mark}"


def _is_inert(default: ast.expr | None) -> bool:
    """Whether a default that is never taken can go: evaluating it does nothing."""
    if isinstance(default, (ast.List, ast.Tuple)):
        return all(_is_inert(element) for element in default.elts)
    if isinstance(default, ast.Dict):
        return not default.keys
    return default is None or isinstance(default, (ast.Constant, ast.Name))


def _has_comment(use: Use, source: Source) -> bool:
    start, end = source.span(use.node)
    return "#" in source.text[start:end]
