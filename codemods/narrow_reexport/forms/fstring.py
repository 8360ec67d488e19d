"""`f"{pkg.sym(x):>{pkg.sym}} {pkg.sym=}"`: reads inside f-strings.

Owns positions inside f-strings, which `ast` gives wrong before Python 3.12; LibCST gives them right.
Invariant: it never changes what the string says: the text that `{expr=}` prints is written out.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import libcst as cst
from libcst.metadata import CodePosition, MetadataWrapper, PositionProvider

from codemods.engine.model import Edit
from codemods.engine.source import Source


class Unclear(Exception):
    """The f-string cannot be rewritten with its text kept."""


def rewrite_fstring(source: Source, node: ast.JoinedStr, texts: Mapping[ast.AST, str]) -> list[Edit]:
    """The edits for one f-string. `texts` is the new code of the attribute nodes in it that change. Raises Unclear."""
    attributes = _in_source_order(node)
    start, end = source.span(node)
    code = source.text[start:end]
    try:
        wrapper = MetadataWrapper(cst.parse_module(f"({code})\n"))
    except cst.ParserSyntaxError:
        raise Unclear("LibCST cannot parse this f-string") from None
    positions = wrapper.resolve(PositionProvider)
    finder = _Finder()
    wrapper.visit(finder)
    code_for = cst.Module([]).code_for_node
    spelled = ["".join(code_for(found).split()) for found, _ in finder.found]
    if spelled != ["".join(ast.unparse(attribute).split()) for attribute in attributes] and not _alike(
        finder, attributes
    ):
        raise Unclear("its parts cannot be told apart")
    lines = [0]
    wrapped = f"({code})\n"
    for number, char in enumerate(wrapped):
        if char == "\n":
            lines.append(number + 1)

    def offset(position: CodePosition) -> int:
        return lines[position.line - 1] + position.column

    pieces: list[tuple[int, int, str]] = []
    debug: dict[cst.FormattedStringExpression, None] = {}
    for (found, around), attribute in zip(finder.found, attributes, strict=True):
        if attribute not in texts:
            continue
        where = positions[found]
        pieces.append((offset(where.start), offset(where.end), texts[attribute]))
        debug.update(dict.fromkeys(each for each in around if each.equal is not None))
    for expression in debug:
        pieces += _written_out(
            wrapped, expression, offset(positions[expression].start), offset(positions[expression.expression].end)
        )
    return [Edit(source.path, start + first - 1, start + last - 1, text) for first, last, text in pieces]


def _alike(finder: _Finder, attributes: list[ast.Attribute]) -> bool:
    # quotes and parentheses may be spelled otherwise; the chains of names may not
    def chain(node: ast.expr) -> list[str]:
        return [*chain(node.value), node.attr] if isinstance(node, ast.Attribute) else [getattr(node, "id", "")]

    def path(node: cst.BaseExpression) -> list[str]:
        if isinstance(node, cst.Attribute):
            return [*path(node.value), node.attr.value]
        return [node.value if isinstance(node, cst.Name) else ""]

    return [path(found) for found, _ in finder.found] == [chain(attribute) for attribute in attributes]


def _in_source_order(node: ast.AST) -> list[ast.Attribute]:
    """All attributes below a node as they stand in the source; `ast.walk` goes by the order of evaluation."""
    found = [node] if isinstance(node, ast.Attribute) else []
    if isinstance(node, ast.IfExp):
        parts: list[ast.AST] = [node.body, node.test, node.orelse]
    elif isinstance(node, ast.Dict):
        parts = [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None]
    elif isinstance(node, ast.DictComp):
        parts = [node.key, node.value, *node.generators]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        parts = [node.elt, *node.generators]
    else:
        parts = list(ast.iter_child_nodes(node))
    return found + [inner for part in parts for inner in _in_source_order(part)]


def _written_out(
    wrapped: str, expression: cst.FormattedStringExpression, start: int, end: int
) -> list[tuple[int, int, str]]:
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
    return [
        (start, start, text),
        (close - (len(wrapped[end:close]) - len(wrapped[end:close].rstrip())), whole_end, conversion),
    ]


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
