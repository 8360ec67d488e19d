"""`f"{pkg.sym(x):>{pkg.sym}} {pkg.sym=}"`: reads inside f-strings.

Owns positions inside f-strings, which `ast` gives wrong before Python 3.12; LibCST gives them right.
Invariant: it never changes what the string says: the text that `{expr=}` prints is written out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from codemods.engine.model import Edit
from codemods.engine.source import Source


class Unclear(Exception):
    """The f-string cannot be rewritten with its text kept."""


def rewrite_fstring(source: Source, node: ast.JoinedStr, attributes: list[ast.Attribute], texts: Mapping[ast.AST, str]) -> list[Edit]:
    """The edits for one f-string. `attributes` are all attribute nodes in it, in source order; `texts` the new code of
    those that change. Raises Unclear."""
    start, end = source.span(node)
    code = source.text[start:end]
    try:
        wrapper = MetadataWrapper(cst.parse_module(f"({code})\n"))
    except cst.ParserSyntaxError:
        raise Unclear("LibCST cannot parse this f-string") from None
    positions = wrapper.resolve(PositionProvider)
    finder = _Finder()
    wrapper.visit(finder)
    if [found.attr.value for found, _ in finder.found] != [attribute.attr for attribute in attributes]:
        raise Unclear("its parts cannot be told apart")
    lines = [0]
    wrapped = f"({code})\n"
    for number, char in enumerate(wrapped):
        if char == "\n":
            lines.append(number + 1)

    def offset(position: object) -> int:
        return lines[position.line - 1] + position.column  # type: ignore[attr-defined]

    pieces: list[tuple[int, int, str]] = []
    debug: dict[cst.FormattedStringExpression, None] = {}
    for (found, around), attribute in zip(finder.found, attributes):
        if attribute not in texts:
            continue
        where = positions[found]
        pieces.append((offset(where.start), offset(where.end), texts[attribute]))
        debug.update(dict.fromkeys(each for each in around if each.equal is not None))
    for expression in debug:
        pieces += _written_out(wrapped, expression, offset(positions[expression].start), offset(positions[expression.expression].end))
    return [Edit(source.path, start + first - 1, start + last - 1, text) for first, last, text in pieces]


def _written_out(wrapped: str, expression: cst.FormattedStringExpression, start: int, end: int) -> list[tuple[int, int, str]]:
    # {pkg.sym(2)=!s}    ->  pkg.sym(2)={sub.sym(2)!s}        without !s and format: !r, as `=` implies
    code = cst.Module([]).code_for_node
    equal = code(expression.equal) if expression.equal is not None else ""
    close = end
    while wrapped[close] in ") ":
        close += 1
    close = wrapped.index("=", end)
    whole_end = close + 1
    while wrapped[whole_end] in " \t":
        whole_end += 1
    text = wrapped[start + 1 : whole_end]
    if "\\" in text or any(quote in text for quote in ("'", '"')) or "{" in text or "\n" in text or not equal:
        raise Unclear("`{...=}` prints its own source, which holds quotes or braces")
    conversion = "" if expression.conversion or expression.format_spec is not None else "!r"
    return [(start, start, text), (close - (len(wrapped[end:close]) - len(wrapped[end:close].rstrip())), whole_end, conversion)]


class _Finder(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.around: list[cst.FormattedStringExpression] = []
        self.found: list[tuple[cst.Attribute, tuple[cst.FormattedStringExpression, ...]]] = []

    def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> None:
        self.around.append(node)

    def leave_FormattedStringExpression(self, original_node: cst.FormattedStringExpression) -> None:
        self.around.pop()

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self.found.append((node, tuple(self.around)))
