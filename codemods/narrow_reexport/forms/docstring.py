"""Python shown in docstrings: doctest examples and fenced blocks, rewritten like code.

Owns the way from a docstring's value to the characters of its literal, and what its examples find bound: the names of
the module that it stands in.
Invariant: a literal whose characters cannot be told apart is warned about and left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.edits import apply
from codemods.engine.model import Edit, Warned
from codemods.engine.source import Source
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.page import MENTION, Page, import_matches
from codemods.narrow_reexport.forms.shown import Written, blocks, examples, lines_of
from codemods.narrow_reexport.forms.snippet import (
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
_MAY_SHOW = re.compile(r">>>|```|~~~|\.\. [\w-]+::")
_LITERAL = re.compile(r"(?P<kind>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')")
_ESCAPE = re.compile(r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[abfnrtv\\'\"])|\\(?![0-7xuUNabfnrtv\\'\"]|\Z)")
_WARNING = "a doctest reads the symbol through the package, which will fail"


@dataclass(slots=True)
class Docstrings:
    """The edits of a file's docstrings, what their examples read that is left, and the statements that were edited."""

    edits: list[Edit] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    spans: list[Edit] = field(default_factory=list)


def plan_docstrings(source: Source, tree: ast.Module, context: Context, plan: Planner) -> Docstrings:
    """Plan the Python that a file's docstrings show."""
    names = touched_names(context)
    planned = Docstrings()
    if _MAY_SHOW.search(source.text) is None or not any(name in source.text for name in names):
        return planned
    own = {name for name in context.lost if name.startswith(f"{context.package.name}.")}
    inner = replace(context, lost=frozenset(own))
    for node in _docstrings(tree.body):
        text = str(node.value)
        if _SHOWS.search(text) is None or not any(name in text for name in names):
            continue
        _Docstring(source, node, inner, plan, planned).run(tree)
    return planned


def read_in_examples(source: Source, tree: ast.Module, names: Iterable[str]) -> frozenset[str]:
    """Those of a module's names that the examples of its docstrings read, as far as their text tells."""
    asked = [*names]
    if not asked or ">>>" not in source.text:
        return frozenset()
    texts = [str(node.value) for node in _docstrings(tree.body)]
    shown = "\n".join(text for text in texts if ">>>" in text)
    return frozenset(name for name in asked if re.search(rf"\b{re.escape(name)}\b", shown))


def _docstrings(statements: Iterable[ast.stmt]) -> Iterator[ast.Constant]:
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                yield statement.value
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list):
                for each in inner:
                    yield from _docstrings([each] if isinstance(each, ast.stmt) else each.body)


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
        lines = written(self.source.text, start, end, str(self.node.value))
        if lines is None:
            # the escapes of the literal hide where a character stands
            self._by_value()
            return
        raw = self.source.text[start : start + 1] in "rR"

        def spell(code: str) -> str:
            return code if raw else code.replace("\\", "\\\\")

        shown = (examples(lines, self.source.newline, spell), blocks(lines, self.source.newline, spell))
        # the examples share a namespace, a block has its own
        groups = [shown[0]] if shown[0] else []
        groups += [[block] for block in shown[1]]
        found: list[Woven | None] = []
        codes: list[str] = []
        for group in groups:
            found.append(self._group(group, tree))
            after = found[-1].codes if found[-1] is not None else [[row.code for row in s.rows] for s in group]
            codes += [code for each in after for code in each]
        cuts = [cut for each in found if each is not None for cut in each.cuts]
        safe = not cuts or self._reads_back(cuts, end, codes)
        path = self.source.path
        for group, each in zip(groups, found, strict=True):
            spans = each.spans if safe and each is not None else ()
            self._by_rows([row for snippet in group for row in snippet.rows], spans)
            self.into.spans += [Edit(path, low, high, "") for low, high in spans]
        self.into.edits += [Edit(path, *cut) for cut in cuts if safe]

    def _group(self, group: Sequence[Snippet], tree: ast.Module) -> Woven | None:
        rows = [row for snippet in group for row in snippet.rows]
        code = parsed(code_of(rows)) or ast.Module([], [])
        prelude = list(prelude_of(tree.body, self.context, code))
        if self.source.path == self.context.package.path:
            prelude += self._own_names(code)
        planned = plan_snippets(
            self.source.path,
            group,
            self.context,
            self.plan,
            prelude=prelude,
            line_of=self.source.line_of,
            lenient=True,
        )
        for note in planned.notes:
            if note.weight != MENTION:
                line = self.source.line_of(note.start)
                reason = f"a doctest is left as it is: {note.reason}"
                self.into.warnings.append(Warned(self.source.site(line), symbol_named(self.context, note.name), reason))
        try:
            return woven(planned, group)
        except Unwoven:
            return None

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
        moved = [found.symbol.name for found in self.context.resolutions if not found.is_submodule]
        return [f"from {self.context.package.name} import {name}" for name in moved if name in names - bound]

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

    def _by_rows(self, rows: Sequence[Row], spans: Sequence[tuple[int, int]]) -> None:
        """Warn of what the rows still read through the package by its full path."""
        text = "\n".join(row.code for row in rows)
        package = self.context.package.name
        if package not in text:
            return
        wanted = {f.symbol.name: f for f in self.context.resolutions if not f.is_submodule}
        wanted = {name: f for name, f in wanted.items() if not (f.narrowed and f.same_name)}
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
            line = self.source.line_of(row.marks[0])
            self.into.warnings.append(Warned(self.source.site(line), symbol_named(self.context, name), _WARNING))

    def _imports_module(self, text: str, at: int, name: str) -> bool:
        # import pkg.f        from pkg.f import g       pkg.f.f         the module f, not the function
        found = next(f for f in self.context.resolutions if f.symbol.name == name)
        row = text[text.rfind("\n", 0, at) + 1 : at]
        after = text[at:].split("\n", 1)[0]
        dotted = after.startswith(f"{self.context.package.name}.{name}")
        if re.search(r"\b(?:from|import)[ \t]+\Z", row) and dotted:
            return True
        return found.same_name and dotted and after[len(self.context.package.name) + len(name) + 1 :][:1] == "."

    def _by_value(self) -> None:
        value = str(self.node.value)
        lines = lines_of(value)
        shown = [*examples(lines, "\n", str), *blocks(lines, "\n", str)]
        wanted = {f.symbol.name: f for f in self.context.resolutions if not f.is_submodule}
        text = "\n".join(row.code for snippet in shown for row in snippet.rows)
        package = self.context.package.name
        leaf = package.rpartition(".")[2]
        for name, found in wanted.items():
            if found.narrowed and found.same_name:
                continue
            read = re.search(rf"\b{re.escape(leaf)}\.{re.escape(name)}\b", text) is not None
            if read or any(name in names for _, names in import_matches(text, package, wanted)):
                near = [
                    number
                    for number in range(self.node.lineno, (self.node.end_lineno or self.node.lineno) + 1)
                    if re.search(rf"\b{re.escape(name)}\b", self.source.line(number))
                ]
                site = self.source.site(near[0] if near else self.node.lineno)
                self.into.warnings.append(Warned(site, str(found.symbol), _WARNING))


def written(text: str, start: int, end: int, value: str) -> list[Written] | None:
    """The lines of a string literal's value with their places; None where they cannot be told from its characters."""
    literal = _LITERAL.match(text, start)
    if literal is None:
        return None
    quote, raw = literal["quote"], literal["kind"] in ("r", "R")
    inner, stop = literal.end(), end - len(quote)
    if stop < inner or not text.startswith(quote, stop) or len(quote) == 1:
        return None
    lines: list[Written] = []
    for line in lines_of(text, inner, stop):
        if raw:
            lines.append(line)
            continue
        decoded = _unescaped(line)
        if decoded is None:
            return None
        lines.append(decoded)
    if not raw and lines and lines[0].text == "\\":
        # a backslash after the opening quotes takes the first newline away
        lines = lines[1:]
    read = "\n".join(line.text for line in lines)
    ends = text[inner:stop].endswith(("\n", "\r")) and bool(lines)
    return lines if read + ("\n" if ends else "") == value else None


def _unescaped(line: Written) -> Written | None:
    if "\\" not in line.text or line.text == "\\":
        return line
    chars: list[str] = []
    marks: list[int] = []
    at = 0
    while at < len(line.text):
        marks.append(line.marks[at])
        if line.text[at] != "\\":
            chars.append(line.text[at])
            at += 1
            continue
        escape = _ESCAPE.match(line.text, at)
        # \d and the like are no escape: the backslash stays
        char = "\n" if escape is None else "\\" if escape[0] == "\\" else str(ast.literal_eval(f'"{escape[0]}"'))
        if char == "\n" or len(char) != 1:
            return None  # lines that the file does not have
        chars.append(char)
        at = escape.end() if escape else at
    return Written("".join(chars), (*marks, line.marks[-1]), line.after)
