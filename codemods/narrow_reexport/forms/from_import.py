"""`from pkg import sym`: the call site that most files have.

Owns the split of a from-import: which names stay, which go to which module, and the comments that go with them.
Invariant: the new statements stand where the old one stood; `as`, parentheses and pragma comments go along.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Mapping

from codemods.engine.model import Module, Symbol
from codemods.engine.scopes import Block
from codemods.engine.source import Source
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.statement import PRAGMA, Change, NewImport, stands_alone, statement_end

_MODULE = re.compile(r"(?:lazy[ \t]+)?from(\s|\\)*(?P<module>[.\s\\]*[\w.\s\\]*?)(?P<gap>[\s\\]*)\bimport\b")
_COMMENTS = re.compile(r"#[^#]*")


def change_from_import(
    source: Source,
    module: Module,
    package: str,
    statement: ast.ImportFrom,
    block: Block,
    moves: Mapping[int, Symbol],
    renamed: Mapping[int, str],
) -> Change:
    """What becomes of a from-import when the names at the positions in `moves` come from their origins.

    `renamed` gives names that must be bound under another name than the statement says (rare: a private alias).
    """
    start, end = source.span(statement)
    text = source.text[start:end].replace("\r\n", "\n")
    newline = source.newline
    pieces = sequence.import_names(text)
    groups: dict[str, list[int]] = {}
    for number, origin in sorted(moves.items()):
        groups.setdefault(origin.module, []).append(number)
    stay = [number for number in range(len(pieces.items)) if number not in moves]
    alone = stands_alone(source, statement)
    code_end, line_end = statement_end(source, statement)
    trailing = source.text[code_end:line_end] if alone else ""
    new: list[NewImport] = []
    left: str | None = None
    if stay:
        # from pkg import a, sym, b      ->  from pkg import a, b
        #                                    from pkg.sub import sym
        cut = sequence.without(pieces, list(moves))
        shared = _pragmas(trailing) or _pragmas(pieces.gaps[0].partition("\n")[0])
        comments = dict(cut.comments)
        if len(moves) and len(pieces.items) - 1 in moves and "\n" in pieces.gaps[-2] and "\n" not in pieces.gaps[-1]:
            # from pkg import (a,  # comment of a
            #                  sym)  # comment of sym
            comments.setdefault(len(pieces.items) - 1, trailing.strip())
            trailing = ""
        left = _repaired(cut.left.text) + trailing
    else:
        cut = sequence.Cut(pieces, {})
        shared = trailing.strip()
        comments = {number: gap.partition("\n")[0].strip() for number, gap in enumerate(pieces.gaps[1:]) if "\n" in gap}
        comments = {number: comment for number, comment in comments.items() if comment.startswith("#")}
    for position, (target, numbers) in enumerate(groups.items()):
        names = tuple(_named(statement.names[number], moves[number], renamed.get(number, "")) for number in numbers)
        spelled = spell(module, statement, package, target)
        if not stay and position == 0:
            # from pkg import (sym)          ->  from pkg.sub import (sym), in the same shape
            shape = _reshaped(pieces, numbers, names, spelled)
            if shape is not None and ("\n" in shape or not alone):
                new.append(NewImport(spelled, target, names, shape=shape.replace("\n", newline) + trailing))
                continue
            new.append(NewImport(spelled, target, names, trailing.strip()))
            continue
        comment = "  ".join(dict.fromkeys(comments[number] for number in numbers if number in comments)) or shared
        if not stay and position and not PRAGMA.search(comment):
            comment = "" if comment == shared else comment
        new.append(NewImport(spelled, target, names, comment))
    if left is not None:
        left = left.replace("\n", newline) if newline != "\n" else left
    return Change(statement, block, left, new)


def spell(module: Module, statement: ast.ImportFrom, package: str, target: str) -> str:
    """The module `target` as this statement would write it: relative where the statement is and it can be."""
    if not statement.level:
        return target
    dots = "." * statement.level
    if target == package or target.startswith(f"{package}."):
        below = target[len(package) :].lstrip(".")
        if not statement.module:
            return dots + below
        return dots + statement.module + (f".{below}" if below else "")
    return relative(module, target) or target


def relative(module: Module, target: str) -> str:
    """`target` written relative to a module of the same top-level package; empty where it cannot be."""
    own = module.package.split(".") if module.package else []
    parts = target.split(".")
    if not own or own[0] != parts[0]:
        return ""
    common = 0
    while common < min(len(own), len(parts)) and own[common] == parts[common]:
        common += 1
    return "." * (len(own) - common + 1) + ".".join(parts[common:])


def _named(alias: ast.alias, origin: Symbol, renamed: str) -> tuple[str, str]:
    bound = renamed or alias.asname or alias.name
    if alias.asname is not None and alias.asname == alias.name == bound:
        return origin.name, alias.asname  # `sym as sym` keeps its form
    return origin.name, "" if bound == origin.name else bound


def _reshaped(
    pieces: sequence.Sequence, numbers: list[int], names: tuple[tuple[str, str], ...], spelled: str
) -> str | None:
    # the old statement with another module, in its own layout
    kept = sequence.only(pieces, numbers).left
    items = []
    for item, (name, alias) in zip(kept.items, names, strict=True):
        old = item.partition(" as ")[0].strip()
        if unicodedata.normalize("NFKC", old) == name and ((" as " in item) == bool(alias)):
            items.append(item)
        else:
            items.append(f"{name} as {alias}" if alias else name)
    text = sequence.Sequence(kept.head, tuple(items), kept.commas, kept.gaps, kept.tail).text
    match = _MODULE.match(text)
    if match is None:
        return None
    gap = match["gap"] or " "
    return _repaired(text[: match.start("module")] + spelled + gap + text[match.end("gap") :])


def _repaired(text: str) -> str:
    # a backslash that nothing follows any more
    return re.sub(r"[ \t]*\\\n[ \t]*\Z", "", text)


def _pragmas(comment: str) -> str:
    return "  ".join(part.strip() for part in _COMMENTS.findall(comment) if PRAGMA.match(part.strip()))
