"""Comma-separated sequences: take entries out of `from m import (a, b)` or `["a", "b"]`, or put one in.

Owns the cut inside brackets: which comma, which comment and which line go with an entry. LibCST tells the pieces
apart; the pieces are put together again as text, so that what stays keeps every character.
Invariant: it never touches an entry that stays, and own-line comments survive the entry below them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it takes a quarter of a second to load, and a reader without a cut needs none of it
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Sequence:
    """The pieces of a sequence: `head gaps[0] items[0] commas[0] gaps[1] items[1] ... gaps[n] tail`."""

    head: str
    items: tuple[str, ...]
    commas: tuple[str, ...]  # "," with the white space before it, or "" where there is none
    gaps: tuple[str, ...]
    tail: str

    @property
    def text(self) -> str:
        """The code of the whole."""
        parts = [self.head, self.gaps[0]]
        for item, comma, gap in zip(self.items, self.commas, self.gaps[1:], strict=True):
            parts += [item, comma, gap]
        return "".join([*parts, self.tail])


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a sequence, and the comments that stood on the rows of the entries that went."""

    left: Sequence
    comments: dict[int, str]


def import_names(text: str) -> Sequence:
    """The pieces of a from-import statement, given its code without a trailing comment."""
    if text.startswith("lazy"):
        # lazy from pkg import sym
        word = text[: text.index("from")]
        pieces = import_names(text[len(word) :])
        return replace(pieces, head=word + pieces.head)
    import libcst as cst

    line = cst.parse_statement(text)
    assert isinstance(line, cst.SimpleStatementLine)
    statement = line.body[0]
    assert isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar)
    items = [_code(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for alias in statement.names]
    commas, between = _commas([alias.comma for alias in statement.names])
    opening = _code(statement.lpar.whitespace_after) if statement.lpar else ""
    closing = _code(statement.rpar.whitespace_before) if statement.rpar else ""
    last = statement.names[-1]
    # `import \`+newline: the white space before the first name belongs to the statement's head
    shell = _code(statement.with_changes(names=[last.with_changes(comma=cst.MaybeSentinel.DEFAULT)]))
    body = opening + items[-1] + closing
    head = shell[: shell.rindex(body)]
    tail = shell[len(head) + len(body) :]
    if statement.lpar is None:
        return Sequence(head, tuple(items), commas, ("", *between, closing), tail)
    return Sequence(
        head,
        tuple(items),
        commas,
        (opening, *between[:-1], between[-1] + closing) if commas[-1] else (opening, *between, closing),
        tail,
    )


def display(text: str) -> Sequence:
    """The pieces of a list, tuple, set or dict display, given its code."""
    import libcst as cst

    node = cst.parse_expression(text)
    assert isinstance(node, (cst.List, cst.Tuple, cst.Set, cst.Dict))
    items = [_code(element.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for element in node.elements]
    commas, between = _commas([element.comma for element in node.elements])
    if isinstance(node, cst.List):
        head, tail = "[", "]"
        opening, closing = _code(node.lbracket.whitespace_after), _code(node.rbracket.whitespace_before)
    elif isinstance(node, (cst.Set, cst.Dict)):
        head, tail = "{", "}"
        opening, closing = _code(node.lbrace.whitespace_after), _code(node.rbrace.whitespace_before)
    elif node.lpar:
        head, tail = "(", ")"
        opening, closing = _code(node.lpar[0].whitespace_after), _code(node.rpar[0].whitespace_before)
    else:
        head = tail = opening = closing = ""
    gaps = (opening, *between[:-1], between[-1] + closing) if items and commas[-1] else (opening, *between, closing)
    return Sequence(head, tuple(items), commas, gaps, tail)


def without(sequence: Sequence, drop: Collection[int]) -> Cut:
    """Take the entries at `drop` out; at least one must stay."""
    comments: dict[int, str] = {}
    items, commas, gaps = list(sequence.items), list(sequence.commas), list(sequence.gaps)
    for number in sorted(drop, reverse=True):
        before, after = gaps[number], gaps[number + 1]
        last = number == len(items) - 1
        alone = "\n" in before and ("\n" in after or (last and not sequence.tail and not after))
        if alone and "\n" in after:
            # a,            # comment of a
            # # own line    both lines of comments stay, the row of the entry goes with its own comment
            # sym,  # comment of sym
            comment, _, rest = after.partition("\n")
            if comment.strip().startswith("#"):
                comments[number] = comment.strip()
            gap = before[: before.rindex("\n") + 1] + rest
        elif last and "\n" in before and "#" in before:
            # a,  # comment of a
            # sym)                   the comment needs its line end
            gap = before[: before.rindex("\n") + 1] + after
        elif last:
            gap = after  # (a, sym)    (a, sym,)    a, \ sym
        elif "\n" in after and number > 0:
            gap = after  # (a, sym,  # comment of the row
        elif "\n" in after and "#" in after:
            gap = after  # (sym,  # comment of the row
        else:
            gap = before
        if last and number > 0 and not commas[number]:
            commas[number - 1] = ""
        del items[number], commas[number]
        gaps[number : number + 2] = [gap]
    return Cut(Sequence(sequence.head, tuple(items), tuple(commas), tuple(gaps), sequence.tail), comments)


def only(sequence: Sequence, keep: Collection[int]) -> Cut:
    """The sequence with the entries at `keep` alone."""
    return without(sequence, [number for number in range(len(sequence.items)) if number not in keep])


def with_item(sequence: Sequence, at: int, item: str) -> Sequence:
    """Put an entry in before position `at`, laid out like its neighbours."""
    items, commas, gaps = list(sequence.items), list(sequence.commas), list(sequence.gaps)
    rows = "\n" in gaps[0]
    between = "\n" + gaps[0].rpartition("\n")[2] if rows else " "
    if at == len(items):
        trailing = commas[-1]
        commas[-1] = commas[-1] or ","
        items.append(item)
        commas.append(trailing)
        comment = gaps[-1].partition("\n")[0] if "#" in gaps[-1] else ""
        gaps[-1:] = [comment + between, gaps[-1][len(comment) :]]
    else:
        items.insert(at, item)
        commas.insert(at, ",")
        gaps.insert(at + 1, between)
    return Sequence(sequence.head, tuple(items), tuple(commas), tuple(gaps), sequence.tail)


def _commas(nodes: list[cst.Comma | cst.MaybeSentinel]) -> tuple[tuple[str, ...], list[str]]:
    import libcst as cst

    commas, between = [], []
    for number, node in enumerate(nodes):
        last = number == len(nodes) - 1
        if isinstance(node, cst.Comma):
            commas.append(_code(node.whitespace_before) + ",")
            between.append(_code(node.whitespace_after))
        else:
            commas.append("")
            if not last:
                between.append("")
    return tuple(commas), between


def _code(node: cst.CSTNode) -> str:
    return _printer().code_for_node(node)


@cache
def _printer() -> cst.Module:
    import libcst as cst

    return cst.Module([])
