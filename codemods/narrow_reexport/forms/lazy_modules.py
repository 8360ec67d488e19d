"""`__lazy_modules__ = ["pkg.sub"]`: modules whose imports in this file are lazy from Python 3.15 on (PEP 810).

Owns the list: what it names, the entry that a new import needs to stay lazy, the entry that nothing needs any more.
Invariant: an import that was lazy by the list is lazy afterwards, or the run is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from codemods.engine.model import Edit, Module, Refusal, Symbol, When
from codemods.engine.namespace import absolute
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.statement import Change

_NAME = "__lazy_modules__"
_DISPLAYS = (ast.List, ast.Tuple, ast.Set)


def lazy_modules(syntax: Syntax) -> frozenset[str]:
    """The modules that the file's list names, as far as it is literal."""
    found = _display(syntax)
    return frozenset(_texts(found)) if found is not None else frozenset()


def keep_lazy(
    syntax: Syntax, module: Module, changes: Sequence[Change], edits: Sequence[Edit], symbol: Symbol
) -> tuple[list[Edit], list[Refusal]]:
    """Add the modules that new imports name to the list, where the old imports were lazy by it."""
    if _NAME not in syntax.source.text or not (changes or edits):
        return [], []
    bound = _assigned(syntax)
    if not bound and f"{_NAME} " not in syntax.source.text:
        return [], []
    found = _display(syntax)
    if found is None:
        site = syntax.source.site(syntax.source.line_of(syntax.source.text.index(_NAME)))
        reason = "__lazy_modules__ is made in a way that cannot be read: an import here may be lazy by it"
        return [], [Refusal(site, str(symbol), reason, "write it as one literal list first")]
    names = _texts(found)
    wanted: list[str] = []
    for change in changes:
        if change.block.when is When.LATE or not _listed(change.statement, module, names):
            continue
        wanted += [new.module for new in change.new if new.module not in names]
    starts = {edit.start: edit.text for edit in edits}
    for statement, block in syntax.imports:
        # import pkg        ->  import pkg.sub
        for alias in statement.names if isinstance(statement, ast.Import) and block.when is not When.LATE else ():
            new = starts.get(syntax.source.span(alias)[0], "")
            wanted += [new] if alias.name in names and new and new not in names else []
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        return [], []
    start, end = syntax.source.span(found)
    pieces = sequence.display(syntax.source.text[start:end].replace("\r\n", "\n"))
    quote = pieces.items[0][0]
    for name in wanted:
        pieces = sequence.with_item(pieces, len(pieces.items), f"{quote}{name}{quote}")
    return [Edit(syntax.source.path, start, end, pieces.text.replace("\n", syntax.source.newline))], []


def unneeded(syntax: Syntax, module: Module, origins: Iterable[str], gone: Iterable[ast.stmt]) -> list[Edit]:
    """Take modules out of the list that no import of the file names any more."""
    found = _display(syntax)
    if found is None:
        return []
    left: set[str] = set()
    dead = set(gone)
    for statement, _ in syntax.imports:
        if statement not in dead:
            left |= _sources(statement, module)
    drop = [number for number, name in enumerate(_texts(found)) if name in set(origins) - left]
    if not drop:
        return []
    start, end = syntax.source.span(found)
    if len(drop) == len(found.elts):
        empty = {ast.List: "[]", ast.Tuple: "()", ast.Set: "set()"}[type(found)]
        return [Edit(syntax.source.path, start, end, empty)]
    pieces = sequence.without(sequence.display(syntax.source.text[start:end].replace("\r\n", "\n")), drop).left
    if isinstance(found, ast.Tuple) and len(pieces.items) == 1 and not pieces.commas[0]:
        pieces = sequence.Sequence(pieces.head, pieces.items, (",",), pieces.gaps, pieces.tail)
    return [Edit(syntax.source.path, start, end, pieces.text.replace("\n", syntax.source.newline))]


def _display(syntax: Syntax) -> ast.List | ast.Tuple | ast.Set | None:
    found = _assigned(syntax)
    value = found[0].value if len(found) == 1 else None
    if not isinstance(value, _DISPLAYS) or not value.elts:
        return None
    literal = all(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in value.elts)
    return value if literal else None


def _assigned(syntax: Syntax) -> list[ast.Assign | ast.AnnAssign | ast.AugAssign]:
    found: list[ast.Assign | ast.AnnAssign | ast.AugAssign] = []
    for statement in syntax.tree.body:
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
            targets = [statement.target]
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == _NAME for target in targets):
            found.append(statement)
    return found


def _texts(found: ast.List | ast.Tuple | ast.Set) -> list[str]:
    return [str(part.value) for part in found.elts if isinstance(part, ast.Constant)]


def _sources(statement: ast.Import | ast.ImportFrom, module: Module) -> set[str]:
    if isinstance(statement, ast.ImportFrom):
        return {absolute(module, statement)}
    return {alias.name for alias in statement.names}


def _listed(statement: ast.Import | ast.ImportFrom, module: Module, names: Sequence[str]) -> bool:
    return not _sources(statement, module).isdisjoint(names)
