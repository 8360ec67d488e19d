"""Python code inside other text: as rows that know their places in the file, and as a module to be planned.

Owns the virtual module: snippets that run one after the other, a barrier between those that do not touch, and in front
of them the imports that the surroundings have made (the prelude).
Invariant: code that does not parse is left out and handed back, never passed over.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from codemods.engine.model import Edit, Reached, Symbol
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.forms.page import MENTION, REFUSAL, WARNING

Planner = Callable[[str, bytes, Context], FilePlan]  # the one that plans a file of code
_BARRIER = "0"  # no import is moved across it, or joined with one beyond it


@dataclass(frozen=True, slots=True)
class Row:
    """One line of code, without what stands before it and its newline."""

    code: str
    marks: tuple[int, ...]  # for each character of the code, and for its end, the offset in the file
    start: int  # of the whole line in the file, prompt and indentation with it
    after: int  # where the next line of the file starts
    opens: bool = True  # no continuation of the example above it
    masked: int = 0  # so many of its first characters are no Python: something harmless stands in their place

    @property
    def end(self) -> int:
        return self.marks[-1]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Rows that follow each other in the file, and how a new one among them is written."""

    rows: tuple[Row, ...]
    newline: str
    prompts: tuple[str, str]  # before a line that opens a statement, before one that continues it
    spell: Callable[[str], str]  # the code of a line as the file spells it
    examples: bool = False  # doctest: each statement stands by itself


@dataclass(frozen=True, slots=True)
class Note:
    """A verdict on a place, by its offset in the file."""

    start: int
    last: int
    name: str
    weight: int
    reason: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the virtual module: whose it is (-1: a barrier, -2: the prelude)."""

    code: str
    snippet: int
    row: Row | None = None
    broken: bool = False  # the row's own code is no Python


@dataclass(frozen=True, slots=True)
class Planned:
    """The virtual module, its plan, and the rows that it left out."""

    lines: tuple[Line, ...]
    edits: tuple[Edit, ...] = ()
    notes: tuple[Note, ...] = ()
    broken: tuple[Row, ...] = ()
    reached: tuple[tuple[int, Reached], ...] = ()  # where the code reaches a symbol: an offset, and what is there

    @property
    def text(self) -> str:
        return "".join(f"{line.code}\n" for line in self.lines)


def plan_snippets(
    path: str,
    snippets: Sequence[Snippet],
    context: Context,
    plan: Planner,
    *,
    prelude: Sequence[str] = (),
    shared: Callable[[str], bool] = lambda name: False,
    line_of: Callable[[int], int],
    lenient: bool,
) -> Planned:
    """Plan snippets that share a namespace. `shared` tells whether somebody else reads a name that they import.

    What stands in the way is left where it is, with a warning, if `lenient`.
    """
    lines, broken = _assembled(snippets, prelude)
    planned = Planned(lines, broken=broken)
    beside = f"{path.rpartition('/')[0]}/__text__.py".lstrip("/")
    data = planned.text.encode("utf-8", "replace")
    taken = frozenset(
        (beside, number)
        for number, line in enumerate(lines, 1)
        if line.row is not None and (path, line_of(line.row.marks[0])) in context.accepted
    )
    own = replace(context, accepted=taken)
    found = plan(beside, data, own)
    stands = found.refusals
    if lenient and stands:
        own = replace(own, accepted=taken | {(beside, refusal.site.line) for refusal in stands})
        found = plan(beside, data, own)
    free = frozenset((beside, name) for name in found.unused if not shared(name))
    if free:
        found = plan(beside, data, replace(own, droppable=free))
    notes: list[Note] = []
    refused, warned = (WARNING, MENTION) if lenient else (REFUSAL, WARNING)
    ends = _statement_ends(planned.text)
    for refusal in {*stands, *found.refusals, *(() if lenient else found.accepted)}:
        notes.append(_note(lines, ends, refusal.site.line, refusal.symbol, refused, refusal.reason, refusal.hint))
    for warning in found.warnings:
        notes.append(_note(lines, ends, warning.site.line, warning.symbol, warned, warning.reason))
    for mention in found.mentions:
        notes.append(_note(lines, ends, mention.site.line, mention.symbol, MENTION))
    if lenient and found.refusals:
        for edit in found.edits:
            at = planned.text.count("\n", 0, edit.start) + 1
            code = lines[at - 1].code
            symbols = [each.symbol for each in context.resolutions if each.symbol.name in code]
            symbol = str((symbols or [context.resolutions[0].symbol])[0])
            reason = "another place of the same code stands in the way"
            notes.append(_note(lines, ends, at, symbol, WARNING, reason))
    reached = tuple((_row_near(lines, each.site.line).marks[0], each) for each in found.reached)
    return replace(planned, edits=() if found.refusals else found.edits, notes=tuple(notes), reached=reached)


def parsed(code: str) -> ast.Module | None:
    """The code's syntax tree, if it has one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def code_of(rows: Iterable[Row]) -> str:
    return "".join(f"{row.code}\n" for row in rows)


def _units(snippet: Snippet) -> list[tuple[Row, ...]]:
    if not snippet.examples:
        return [snippet.rows]
    units: list[list[Row]] = []
    for row in snippet.rows:
        if row.opens or not units:
            units.append([])
        units[-1].append(row)
    return [tuple(unit) for unit in units]


def _assembled(snippets: Sequence[Snippet], prelude: Sequence[str]) -> tuple[tuple[Line, ...], tuple[Row, ...]]:
    whole = parsed("".join(f"{code_of(snippet.rows)}{_BARRIER}\n" for snippet in snippets)) is not None
    barrier = Line(_BARRIER, -1)
    lines = [barrier]  # it keeps a comment on the first line from being an encoding cookie
    for statement in prelude:
        lines += [Line(code, -2) for code in statement.split("\n")]
    broken: list[Row] = []
    for number, snippet in enumerate(snippets):
        lines.append(barrier)
        for unit in _units(snippet):
            if whole or parsed(code_of(unit)) is not None:
                lines += [Line(row.code, number, row) for row in unit]
            else:
                broken += unit
                lines += [Line(_BARRIER, number, row, True) for row in unit]
    return (*lines, barrier), tuple(broken)


def _statement_ends(text: str) -> dict[int, int]:
    tree = parsed(text)
    ends: dict[int, int] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            ends[node.lineno] = max(ends.get(node.lineno, 0), node.end_lineno or 0)
    return ends


def _note(
    lines: Sequence[Line], ends: dict[int, int], line: int, symbol: str, weight: int, reason: str = "", hint: str = ""
) -> Note:
    first = _row_near(lines, line)
    last = _row_near(lines, ends.get(line, line))
    name = symbol.rpartition(":")[2]
    return Note(first.marks[0], max(last.marks[0], first.marks[0]), name, weight, reason, hint)


def _row_near(lines: Sequence[Line], line: int) -> Row:
    # what belongs to the prelude is told at the first row
    near = [*lines[max(line - 1, 0) :], *reversed(lines[: max(line - 1, 0)])]
    return next(each.row for each in near if each.row is not None)


def touched_names(context: Context) -> frozenset[str]:
    """What a text must spell to be worth a look: the symbols, and the modules that the package no longer loads."""
    leaves = _leaves_below(context.package.name, context.lost)
    return context.resolutions.names | leaves if leaves else context.resolutions.names


@lru_cache(maxsize=16)
def _leaves_below(package: str, modules: frozenset[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in modules if name.startswith(f"{package}."))


def prelude_of(statements: Iterable[ast.stmt], context: Context, code: ast.Module) -> tuple[str, ...]:
    """The imports among `statements` through which `code`, which runs after them, can reach the package."""
    package = context.package.name
    nodes = list(ast.walk(code))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    statements = [*statements]
    wanted = read - bound - _assigned(statements)
    starred = {found.symbol.name for found in context.resolutions if found.starred}
    kept: dict[str, None] = {}
    for node in _imports(statements):
        if isinstance(node, ast.Import):
            # import pkg        import pkg as p
            reach = [
                a for a in node.names if f"{package}.".startswith(f"{a.name}.") or a.name.startswith(f"{package}.")
            ]
            if any((alias.asname or alias.name.partition(".")[0]) in wanted for alias in reach):
                kept[ast.unparse(ast.Import(reach))] = None
        elif node.names[0].name == "*":
            # from pkg import *
            if node.module and starred & wanted and package.endswith(node.module):
                kept[ast.unparse(node)] = None
        else:
            # from parent import pkg as p
            leaf = package.rpartition(".")[2]
            reach = [a for a in node.names if a.name == leaf and (a.asname or a.name) in wanted]
            if reach:
                kept[ast.unparse(ast.ImportFrom(node.module, reach, node.level))] = None
    return tuple(kept)


def _assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """The names that statements bind in their own scope, other than by imports."""
    names: set[str] = set()
    todo: list[ast.AST] = [*statements]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif not isinstance(node, (ast.Lambda, ast.ExceptHandler)):  # except ImportError: pkg = None
            todo += ast.iter_child_nodes(node)
    return names


def _imports(statements: Iterable[ast.stmt]) -> Iterable[ast.Import | ast.ImportFrom]:
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        elif isinstance(statement, (ast.If, ast.Try, ast.With)):
            yield from _imports(statement.body)


def symbol_named(context: Context, name: str) -> str:
    return str(Symbol(context.package.name, name))
