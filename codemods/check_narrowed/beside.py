"""Comments inside an expression that speak for a part of it, as Fixit reads them.

Owns the places that are not at the end of the line that they speak for: behind the comma of an argument that spans lines,
and inside the brackets of a list or a subscript.
Invariant: where Fixit takes a place as ignored, so does this.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from codemods.engine.source import Source

_COMMA = re.compile(r"[\s)]*,[ \t]*#")
_LAST = re.compile(r"[ \t]*#")
_OPENED = re.compile(r"\[[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n)((?:[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n))*)")


def beside(node: ast.expr | ast.keyword, source: Source, marked: Collection[int]) -> set[int]:
    """The lines of an expression that a comment on one of the `marked` lines speaks for."""
    if node.end_lineno is None or node.end_col_offset is None or not hasattr(node, "lineno"):
        return set()
    own = set(range(node.lineno, node.end_lineno + 1))
    # f(                          [
    #     pkg.sym(                    # lint-ignore
    #         1,                      pkg.sym,
    #     ),  # lint-ignore           2  # lint-ignore
    # )                           ]
    text = source.text
    comma = _COMMA.match(text, source.offset(node.end_lineno, node.end_col_offset))
    if comma is not None and source.line_of(comma.end() - 1) in marked:
        return own
    if len(own) == 1 or not isinstance(node, (ast.List, ast.ListComp, ast.Subscript)):
        return set()
    inner: ast.AST | None
    if isinstance(node, ast.List):
        inner = node.elts[-1] if node.elts else None
        opened = _OPENED.match(text, source.offset(node.lineno, node.col_offset))
    elif isinstance(node, ast.Subscript):
        inner, opened = node.slice, None
    else:
        last = node.generators[-1]
        inner = last.ifs[-1] if last.ifs else last.iter
        opened = _OPENED.match(text, source.offset(node.lineno, node.col_offset))
    if isinstance(inner, ast.expr):
        closing = _LAST.match(text, source.span(inner)[1])
        if closing is not None and source.line_of(closing.end() - 1) in marked:
            return own
    if opened is not None:
        rows = range(source.line_of(opened.start(1)), source.line_of(opened.end(1)))
        if any(number in marked for number in rows):
            return own
    return set()
