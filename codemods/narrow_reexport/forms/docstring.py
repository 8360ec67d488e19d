"""Python shown in docstrings: doctest examples and fenced blocks, rewritten like code.

Owns the way from a docstring's value to the characters of its literal, and what its examples find bound: the names of
the module that it stands in.
Invariant: a literal whose characters cannot be told apart is warned about and left alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.edits import apply
from codemods.engine.model import Edit, Reached, Warned
from codemods.engine.source import Source
from codemods.engine.words import spelled
from codemods.narrow_reexport.context import Context, as_shown
from codemods.narrow_reexport.forms.page import MENTION, Page, import_matches
from codemods.narrow_reexport.forms.shown import Written, blocks, examples, lines_of
from codemods.narrow_reexport.forms.snippet import (
    Planned,
    Planner,
    Row,
    Snippet,
    code_of,
    parsed,
    plan_snippets,
    prelude_of,
    symbol_named,
    touched_names,
)
from codemods.narrow_reexport.forms.weave import Cut, Unwoven, Woven, woven

_SHOWS = re.compile(r"^[ \t]*(?:>>>|```|~~~|\.\. [\w-]+::)", re.M)
_MARKS = (">>>", "```", "~~~", "::")  # what `_SHOWS` finds has one of them
_LITERAL = re.compile(r"(?P<kind>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')")
_PIECE = re.compile(
    r"\\(?:\r\n|N\{[^}]*\}|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])|\r\n|[\s\S]"
)
_WARNING = "a doctest reads the symbol through the package, which will fail"


@dataclass(slots=True)
class Docstrings:
    """The edits of a file's docstrings, what their examples read that is left, and the statements that were edited."""

    edits: list[Edit] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    spans: list[Edit] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)  # where such strings start: what else is said of them does not count


def plan_docstrings(source: Source, tree: ast.Module, context: Context, plan: Planner) -> Docstrings:
    """Plan the Python that a file's docstrings show."""
    planned = Docstrings()
    showing = [*showing_symbols(source, tree, context)]
    own = {name for name in context.lost if name.startswith(f"{context.package.name}.")}
    inner = replace(as_shown(context), lost=frozenset(own))
    for node in showing:
        _Docstring(source, node, inner, plan, planned).run(tree)
        planned.lines.add(node.lineno)
    return planned


def showing_symbols(source: Source, tree: ast.Module, context: Context) -> Iterator[ast.Constant]:
    """The docstrings of a file that may show Python that matters, by their text."""
    names = touched_names(context)
    if not any(mark in source.text for mark in _MARKS) or not source.spelled(names):
        return
    for node in _docstrings(tree.body):
        text = str(node.value)
        if _SHOWS.search(text) is not None and spelled(text, names):
            yield node


def read_in_examples(source: Source, tree: ast.Module, names: Iterable[str]) -> frozenset[str]:
    """Those of a module's names that the examples of its docstrings read, as far as their text tells."""
    asked = [*names]
    if not asked or ">>>" not in source.text:
        return frozenset()
    texts = [str(node.value) for node in _docstrings(tree.body)]
    shown = "\n".join(text for text in texts if ">>>" in text)
    return frozenset(name for name in asked if re.search(rf"\b{re.escape(name)}\b", shown))


def _docstrings(statements: Sequence[ast.stmt]) -> Iterator[ast.Constant]:
    """The strings whose examples doctest runs, in a module or in one of its blocks."""
    # f.__doc__ = _doc        _doc = """>>> pkg.sym(2)"""
    named = {
        statement.value.id
        for statement in statements
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name)
        if any(_is_doc(target) for target in statement.targets)
    }
    for statement in statements:
        if isinstance(statement, ast.Expr):
            yield from _strings(statement.value)
        elif isinstance(statement, ast.Assign):
            first = statement.targets[0]
            if _is_doc(first) or (isinstance(first, ast.Name) and first.id in named):
                yield from _strings(statement.value)
            elif isinstance(first, ast.Name) and first.id == "__test__" and isinstance(statement.value, ast.Dict):
                # __test__ = {"more": """>>> pkg.sym(2)"""}
                for value in statement.value.values:
                    yield from _strings(value)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list) and inner:
                own = isinstance(inner[0], ast.stmt)
                for block in [inner] if own else [each.body for each in inner]:
                    yield from _docstrings(block)


def _is_doc(target: ast.expr) -> bool:
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return name == "__doc__"


def _strings(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node


class _Docstring:
    def __init__(self, source: Source, node: ast.Constant, context: Context, plan: Planner, into: Docstrings) -> None:
        self.source = source
        self.node = node
        self.context = context
        self.plan = plan
        self.into = into

    def run(self, tree: ast.Module) -> None:
        """Add what the docstring shows; `tree` is the module that it stands in."""
        start, end = self.source.span(self.node)
        value = str(self.node.value)
        lines = written(self.source.text, start, end, value)
        literal = _LITERAL.match(self.source.text, start)
        raw = literal is not None and literal["kind"] in ("r", "R")
        newline = "\\n" if literal is not None and len(literal["quote"]) == 1 else self.source.newline

        def spell(code: str) -> str:
            return code if raw else code.replace("\\", "\\\\")

        def line_of(offset: int) -> int:
            if lines is not None:
                return self.source.line_of(offset)
            return min(self.node.lineno + value.count("\n", 0, offset), self.node.end_lineno or self.node.lineno)

        # where characters have no place, as in "a" "b", the value is planned to tell what stands there
        read = lines_of(value) if lines is None else lines
        shown = (examples(read, newline, spell), blocks(read, newline, spell))
        # the examples share a namespace, a block has its own
        groups = [shown[0]] if shown[0] else []
        groups += [[block] for block in shown[1]]
        planned = [self._planned(group, tree, line_of) for group in groups]
        found = [
            _woven(each, group) if lines is not None else None for each, group in zip(planned, groups, strict=True)
        ]
        codes: list[str] = []
        for group, each in zip(groups, found, strict=True):
            after = each.codes if each is not None else [[row.code for row in s.rows] for s in group]
            codes += [code for rows in after for code in rows]
        cuts = [cut for each in found if each is not None for cut in each.cuts]
        safe = not cuts or self._reads_back(cuts, end, codes)
        path = self.source.path
        for group, plan, each in zip(groups, planned, found, strict=True):
            if each is None or not safe:
                self._say_left(plan, line_of)
            spans = each.spans if safe and each is not None else ()
            self._by_rows([row for snippet in group for row in snippet.rows], spans, line_of)
            self.into.spans += [Edit(path, low, high, "") for low, high in spans]
        self.into.edits += [Edit(path, *cut) for cut in cuts if safe]

    def _planned(self, group: Sequence[Snippet], tree: ast.Module, line_of: Callable[[int], int]) -> Planned:
        rows = [row for snippet in group for row in snippet.rows]
        code = parsed(code_of(rows)) or ast.Module([], [])
        prelude = list(prelude_of(tree.body, self.context, code))
        if self.source.path == self.context.package.path:
            prelude += self._own_names(code)
        planned = plan_snippets(
            self.source.path, group, self.context, self.plan, prelude=prelude, line_of=line_of, lenient=True
        )
        self.into.reached += [replace(each, site=self.source.site(line_of(at))) for at, each in planned.reached]
        for note in planned.notes:
            if note.weight != MENTION:
                site = self.source.site(line_of(note.start))
                reason = f"a doctest is left as it is: {note.reason}"
                self.into.warnings.append(Warned(site, symbol_named(self.context, note.name), reason))
        return planned

    def _own_names(self, code: ast.Module) -> list[str]:
        # in the package's own __init__ an example finds what the package binds: >>> sym(2)
        names = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
        bound = {
            node.id for node in ast.walk(code) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        bound |= {
            alias.asname or alias.name
            for node in ast.walk(code)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }
        read = names - bound
        return [
            f"from {self.context.package.name} import {name}"
            for name in self.context.resolutions.moving
            if name in read
        ]

    def _reads_back(self, cuts: Sequence[Cut], end: int, expected: Sequence[str]) -> bool:
        """Whether the literal still is one, and shows the code that was planned."""
        start, _ = self.source.span(self.node)
        edits = [Edit(self.source.path, low, high, new) for low, high, new in cuts]
        text = apply(self.source.text, edits)
        literal = text[start : len(text) - (len(self.source.text) - end)]
        try:
            value = ast.literal_eval(literal)
        except (SyntaxError, ValueError):
            return False
        lines = written(literal, 0, len(literal), str(value))
        shown = [*examples(lines or (), "\n", str), *blocks(lines or (), "\n", str)]
        return [row.code for snippet in shown for row in snippet.rows] == list(expected)

    def _by_rows(self, rows: Sequence[Row], spans: Sequence[tuple[int, int]], line_of: Callable[[int], int]) -> None:
        """Warn of what the rows still read through the package by its full path."""
        text = "\n".join(row.code for row in rows)
        package = self.context.package.name
        if package not in text:
            return
        spelt = spelled(text, self.context.resolutions.names)
        wanted = {
            name: found
            for name, found in self.context.resolutions.moving.items()
            if name in spelt and not (found.narrowed and found.same_name)
        }
        if not wanted:
            return
        page = Page(self.source.path, text, package, wanted)
        pattern = rf"(?<![\w.]){re.escape(package)}\.(?P<name>{'|'.join(map(re.escape, wanted))})\b"
        found = [(match.start(), match["name"]) for match in re.finditer(pattern, text)]
        found += [(m.start(), name) for m, names in import_matches(text, package, wanted) for name in names]
        for at, name in found:
            row = rows[page.line_of(at) - 1]
            if any(start <= row.start < end for start, end in spans):
                continue
            if self._imports_module(text, at, name):
                continue
            site = self.source.site(line_of(row.marks[0]))
            self.into.warnings.append(Warned(site, symbol_named(self.context, name), _WARNING))

    def _imports_module(self, text: str, at: int, name: str) -> bool:
        # import pkg.f        from pkg.f import g       pkg.f.f         the module f, not the function
        found = self.context.resolutions.by_name[name]
        row = text[text.rfind("\n", 0, at) + 1 : at]
        after = text[at:].split("\n", 1)[0]
        dotted = after.startswith(f"{self.context.package.name}.{name}")
        if re.search(r"\b(?:from|import)[ \t]+\Z", row) and dotted:
            return True
        return found.same_name and dotted and after[len(self.context.package.name) + len(name) + 1 :][:1] == "."

    def _say_left(self, planned: Planned, line_of: Callable[[int], int]) -> None:
        """Warn of each place that was to be edited and is not."""
        for edit in planned.edits:
            at = planned.text.count("\n", 0, edit.start)
            row = planned.lines[at].row or next((line.row for line in planned.lines if line.row is not None), None)
            code = planned.text[planned.text.rfind("\n", 0, edit.start) + 1 : edit.end + 1]
            found = [f for f in self.context.resolutions if re.search(rf"\b{re.escape(f.symbol.name)}\b", code)]
            line = line_of(row.marks[0]) if row is not None else self.node.lineno
            symbol = str((found or self.context.resolutions)[0].symbol)
            self.into.warnings.append(Warned(self.source.site(line), symbol, _WARNING))


def _woven(planned: Planned, group: Sequence[Snippet]) -> Woven | None:
    try:
        return woven(planned, group)
    except Unwoven:
        return None


def written(text: str, start: int, end: int, value: str) -> list[Written] | None:
    """The lines of a string literal's value with their places; None where they cannot be told from its characters."""
    literal = _LITERAL.match(text, start)
    if literal is None:
        return None
    quote = literal["quote"]
    inner, stop = literal.end(), end - len(quote)
    if stop < inner or not text.startswith(quote, stop):
        return None
    raw = literal["kind"] in ("r", "R") or "\\" not in text[inner:stop]
    lines = lines_of(text, inner, stop) if raw else _unescaped(text, inner, stop)
    read = "\n".join(line.text for line in lines)
    return lines if value in (read, f"{read}\n") else None


def _unescaped(text: str, start: int, end: int) -> list[Written]:
    lines: list[Written] = []
    chars: list[str] = []
    marks: list[int] = []
    for piece in _PIECE.finditer(text, start, end):
        for number, char in enumerate(_decoded(piece[0])):
            marks.append(piece.start() + number)
            if char != "\n":
                chars.append(char)
                continue
            lines.append(Written("".join(chars), tuple(marks), piece.end()))
            chars, marks = [], []
    if chars:
        lines.append(Written("".join(chars), (*marks, end), end))
    return lines


def _decoded(piece: str) -> str:
    if piece in ("\r\n", "\r"):
        return "\n"
    if piece[0] != "\\":
        return piece
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # \d is no escape: the backslash stays
        try:
            return str(ast.literal_eval(f'"""{piece}"""'))
        except (SyntaxError, ValueError):
            return piece
