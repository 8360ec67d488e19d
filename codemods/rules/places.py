"""From the place of an offence to the syntax node that Fixit marks.

Owns finding a node by its position.
Invariant: it answers a node for every place, the module itself at worst, and changes none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodePosition, CodeRange

from codemods.check_narrowed.offence import Offence

_BLANK = (cst.EmptyLine, cst.TrailingWhitespace, cst.BaseParenthesizableWhitespace)


@dataclass(frozen=True, slots=True)
class Place:
    """The node of an offence and the range that is marked."""

    node: cst.CSTNode
    range: CodeRange


def node_at(module: cst.Module, positions: Mapping[cst.CSTNode, object], offence: Offence) -> Place:
    """The node at an offence's place: the alias, the attribute, the string, the `__all__` entry, or the statement."""
    start = CodePosition(offence.site.line, _characters(module, offence))
    inside: list[cst.CSTNode] = []
    there: list[cst.CSTNode] = []
    for node in _around(module, positions, start):
        inside.append(node)
        place = positions[node]
        if isinstance(place, CodeRange) and _pair(place.start) == _pair(start):
            there.append(node)
    chosen: cst.CSTNode | None = next(
        (n for n in there if isinstance(n, cst.Attribute) and n.attr.value == offence.name), None
    )
    chosen = chosen or next(
        (n for n in there if isinstance(n, (cst.ImportAlias, cst.BaseString, cst.BaseSmallStatement))), None
    )
    chosen = chosen or next((n for n in there if not isinstance(n, (cst.Module, cst.BaseStatement))), None)
    place = positions.get(chosen) if chosen is not None else None
    if chosen is None or not isinstance(place, CodeRange):
        # a line of a docstring, a module
        place = CodeRange(start, CodePosition(start.line, start.column + 1))
    return Place(chosen or (inside[-1] if inside else module), place)


def _around(node: cst.CSTNode, positions: Mapping[cst.CSTNode, object], at: CodePosition) -> Iterator[cst.CSTNode]:
    """The nodes that hold a place, from the outside in."""
    for child in node.children:
        place = positions.get(child)
        if not isinstance(place, CodeRange) or isinstance(child, _BLANK):
            continue
        if _pair(place.start) <= _pair(at) < _pair(place.end):
            yield child
            yield from _around(child, positions, at)
            return
        if isinstance(child, (cst.FunctionDef, cst.ClassDef)) and _pair(at) < _pair(place.start):
            # a decorator stands before the place where its function is said to start
            yield from _around(child, positions, at)
            return


def _characters(module: cst.Module, offence: Offence) -> int:
    """The column in characters; `ast` counts bytes."""
    lines = re.split(r"\r\n|\r|\n", module.code) if not offence.site.text.isascii() else []
    if not 0 < offence.site.line <= len(lines):
        return offence.site.column
    return len(lines[offence.site.line - 1].encode()[: offence.site.column].decode(errors="replace"))


def _pair(at: CodePosition) -> tuple[int, int]:
    return at.line, at.column
