"""What a module does as it is imported, extracted fast: its eager imports and the names that it binds, in order.

Owns the step from bytes to `Outline`. Two ways lead there: `exact_outline` asks `ast`, `outline` reads logical lines
of a text whose strings and comments are blanked out, steps over function bodies unread, and hands anything that it
is not sure of (a walrus, a `match`, an odd f-string, a cookie) to the exact way. Both give equal outlines of a file
that compiles; a file that does not compile may still have an outline by the fast way.
Invariant: it never reads a file, never imports the code it looks at, and never guesses where it can ask `ast`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from codemods.engine import blanking
from codemods.engine.blanking import Unsure
from codemods.engine.branches import branches
from codemods.engine.model import Module
from codemods.engine.source import LARGEST


@dataclass(frozen=True, slots=True)
class Imports:
    """`import a.b.c [as x]`. `bound` is the name bound in the module: empty in a class body."""

    module: str
    line: int
    bound: str
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class FromImports:
    """`from m import n as b`, `m` absolute. `names` are (name, bound) pairs; `bound` is empty in a class body."""

    module: str
    names: tuple[tuple[str, str], ...]
    line: int
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Binds:
    """A statement other than an import binds `name` at module level. A class comes after the imports in its body."""

    name: str
    line: int


Event = Imports | FromImports | Binds


@dataclass(frozen=True, slots=True)
class Outline:
    """The eager events of a module in order. `readable` is false where the file does not parse."""

    events: tuple[Event, ...]
    readable: bool = True


def outline(data: bytes, module: Module) -> Outline:
    """The eager imports and bindings of `module`, whose source is `data`."""
    if len(data) > LARGEST:
        return Outline((), readable=False)
    try:
        return Outline(tuple(_Scan(blanking.blanked(data), module).run()))
    except (Unsure, *_UNPARSABLE):
        return exact_outline(data, module)


def exact_outline(data: bytes, module: Module) -> Outline:
    """The same by way of `ast`: the reference, four to five times slower."""
    try:
        tree, lazy = _parsed(data)
    except _UNPARSABLE:
        return Outline((), readable=False)
    return Outline(tuple(_eager(tree.body, _Place(module, lazy))))


# The exact way ---------------------------------------------------------------------------------------------------

_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # what `ast.parse` raises
_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_LAZY = re.compile(rb"\blazy[ \t]+(?=(?:import|from)\b)")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: its module, the positions of lazy imports, what encloses it."""

    module: Module
    lazy: frozenset[tuple[int, int]] = frozenset()
    in_class: bool = False
    guarded: bool = False


def _parsed(data: bytes) -> tuple[ast.Module, frozenset[tuple[int, int]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in somebody else's file are not our news
        try:
            return ast.parse(data), frozenset()
        except SyntaxError:
            if not _LAZY.search(data):
                raise
        # PEP 810 on an interpreter that does not know it: take the word away, remember the place.
        places: set[tuple[int, int]] = set()
        lines = data.split(b"\n")
        for index, line in enumerate(lines):
            while found := _LAZY.search(line):
                places.add((index + 1, found.start()))
                line = line[: found.start()] + line[found.end() :]
            lines[index] = line
        return ast.parse(b"\n".join(lines)), frozenset(places)


def _eager(body: Iterable[ast.stmt], place: _Place) -> Iterator[Event]:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if (node.lineno, node.col_offset) not in place.lazy and not getattr(node, "is_lazy", 0):
                yield from _imports(node, place)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not place.in_class:
                yield Binds(node.name, node.lineno)
        elif isinstance(node, ast.ClassDef):
            yield from _eager(node.body, replace(place, in_class=True))
            if not place.in_class:
                yield Binds(node.name, node.lineno)
        else:
            if not place.in_class:
                yield from (Binds(name, node.lineno) for name in _bound(node))
            yield from _eager_blocks(node, place)


def _eager_blocks(node: ast.stmt, place: _Place) -> Iterator[Event]:
    if isinstance(node, ast.If):
        body_runs, rest_runs = branches(node.test)
        if body_runs:
            yield from _eager(node.body, place)
        if rest_runs:
            yield from _eager(node.orelse, place)
    elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        catches = any(_catches(handler) for handler in getattr(node, "handlers", ()))
        yield from _eager(getattr(node, "body", ()), replace(place, guarded=place.guarded or catches))
        for handler in getattr(node, "handlers", ()):
            yield from _eager(handler.body, place)
        yield from _eager(getattr(node, "orelse", ()), place)
        yield from _eager(getattr(node, "finalbody", ()), place)
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield from _eager(case.body, place)
    elif isinstance(node, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)):
        yield from _eager(node.body, place)
        yield from _eager(getattr(node, "orelse", ()), place)


def _imports(node: ast.Import | ast.ImportFrom, place: _Place) -> Iterator[Event]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            bound = "" if place.in_class else alias.asname or alias.name.partition(".")[0]
            yield Imports(alias.name, node.lineno, bound, place.guarded)
        return
    module = place.module.absolute("." * node.level + (node.module or ""))
    if module:
        names = tuple((alias.name, "" if place.in_class else alias.asname or alias.name) for alias in node.names)
        yield FromImports(module, names, node.lineno, place.guarded)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(
        (isinstance(node, ast.Name) and node.id in _CATCHING)
        or (isinstance(node, ast.Attribute) and node.attr in _CATCHING)
        for node in ast.walk(handler.type)
    )


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement (its header only, where it has a body) binds."""
    if isinstance(node, ast.AnnAssign) and not node.value:
        return
    queue = list(ast.iter_child_nodes(node))
    for found in queue:  # grows as it goes
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store):
            yield found.id
        elif isinstance(found, (ast.MatchAs, ast.MatchStar)) and found.name:
            yield found.name
        elif isinstance(found, ast.MatchMapping) and found.rest:
            yield found.rest
        if isinstance(found, ast.comprehension):  # its target is its own
            queue += [found.iter, *found.ifs]
        elif not isinstance(found, (ast.stmt, ast.ExceptHandler, ast.Lambda)):
            queue += ast.iter_child_nodes(found)


# The fast way: a text without strings and comments, read by logical lines ------------------------------------------
_LINE = re.compile(r"^ *(?=[^ \n)\]}])", re.MULTILINE)
_DEF = re.compile(r"(?:async\s+)?def\s+(\w+)|class\s+(\w+)")
_IMPORT = re.compile(r"import\s+(.+)", re.DOTALL)
_FROM = re.compile(r"from\s*([\w.\s]*?)\bimport\b\s*(.+)", re.DOTALL)
_SIMPLE = re.compile(r"(\w+)\s*(=(?!=)|:|(?:[-+%&|^@]|\*\*?|//?|<<|>>)=)")
_FOR = re.compile(r"for\s+(\w+)\s+in\b")
_AS = re.compile(r"\bas\b")
_LAZY_TEXT = re.compile(r"lazy\s+(?:import|from)\b")
_TYPE = re.compile(r"type\s+(\w+)\s*[=\[]")
_BLOCK = re.compile(r"(?:if|elif|else|try|except|finally|for|while|with|class|def|async|match)\b")
_CLAUSES = frozenset({"elif", "else", "except", "finally"})
_BINDS_NOTHING = re.compile(r"(?:pass|return|raise|break|continue|global|nonlocal|del|assert)\b")
_HANDLES = re.compile(r"\b(?:" + "|".join(_CATCHING) + r")\b")
_TEST = re.compile(r"\b(?:TYPE_CHECKING|__name__|True|False|None|[01])\b")


@dataclass(slots=True)
class _Frame:
    """An open block: the column of its header, and what its further clauses need to know."""

    column: int
    in_class: bool
    rest_runs: bool = True  # whether `elif` and `else` after this branch run
    start: int = -1  # the events of a `try` body: [start, end)
    end: int = -1
    class_name: str = ""
    class_line: int = 0


class _Scan:
    """One pass over a blanked text. Local to `outline`, and gone after it."""

    __slots__ = ("closed", "counted", "events", "frames", "line", "module", "text")

    def __init__(self, text: str, module: Module) -> None:
        self.text = text
        self.module = module
        self.events: list[Event] = []
        self.frames: list[_Frame] = []
        self.closed: _Frame | None = None
        self.counted = 0
        self.line = 1

    def run(self) -> list[Event]:
        at = 0
        while found := _LINE.search(self.text, at):
            at = self._statement(found.end(), found.end() - found.start())
        self._close(0)
        return self.events

    def _statement(self, start: int, column: int) -> int:
        """Read the statement at `start`; the place to go on from."""
        text = self.text
        self.line += blanking.breaks(text, self.counted, start)
        self.counted = start
        self._close(column)
        in_class = bool(self.frames) and self.frames[-1].in_class
        if found := _BLOCK.match(text, start):
            return self._block(found[0], start, column, in_class)
        if text[start] == blanking.NEWLINE:  # a continuation decides the indentation
            raise Unsure
        end = blanking.line_end(text, start)
        if text[start] != "@":
            self._simple(text[start:end], in_class)
        return end

    def _close(self, column: int) -> None:
        self.closed = None
        while self.frames and self.frames[-1].column >= column:
            frame = self.frames.pop()
            if frame.class_name:
                self.events.append(Binds(frame.class_name, frame.class_line))
            self.closed = frame if frame.column == column else None

    def _block(self, word: str, start: int, column: int, in_class: bool) -> int:
        text, named = self.text, _DEF.match(self.text, start)
        frame = _Frame(column, in_class)
        if named:
            after = blanking.block_end(text, start, column)
            if word != "class" or text.find("import", start, after) < 0:
                if not in_class:
                    self.events.append(Binds(named[1] or named[2], self.line))
                return after
            frame.in_class = True
            frame.class_name, frame.class_line = ("" if in_class else named[2]), self.line
        end = blanking.line_end(text, start)
        header = text[start:end].rstrip()
        if word == "match" and not header.endswith(":"):
            self._simple(header, in_class)
            return end
        if not named and word in ("class", "def", "async", "match"):
            raise Unsure
        colon = len(header) - 1 if header.endswith(":") else blanking.header_end(header)
        runs = self._clause(word, header[len(word) : colon], frame)
        if not in_class and word in ("for", "with", "if", "elif", "while"):
            self._header(word, header[:colon])
        self.frames.append(frame)
        if not runs:
            return blanking.block_end(text, start, column)
        if header[colon + 1 :].strip():
            self._simple(header[colon + 1 :], frame.in_class, blanking.breaks(header, 0, colon))
        return end

    def _clause(self, word: str, rest: str, frame: _Frame) -> bool:
        """Whether the body of this block runs at import; notes in `frame` what later clauses ask for."""
        before = self.closed
        if word in _CLAUSES and before is None:
            raise Unsure
        if word == "try":
            frame.start = len(self.events)
        elif word == "except" and before:
            frame.start, frame.end = before.start, before.end if before.end >= 0 else len(self.events)
            kinds = _AS.split(rest)[0]
            if frame.start >= 0 and (not kinds.strip() or _HANDLES.search(kinds)):
                for index in range(frame.start, frame.end):
                    event = self.events[index]
                    if not isinstance(event, Binds):
                        self.events[index] = replace(event, guarded=True)
        elif word == "else" and before:
            return before.rest_runs
        elif word in ("if", "elif"):
            if word == "elif" and before and not before.rest_runs:
                frame.rest_runs = False
                return False
            if _TEST.search(rest):
                runs, frame.rest_runs = branches(ast.parse(blanking.one_line(rest), mode="eval").body)
                return runs
        return True

    def _header(self, word: str, header: str) -> None:
        if ":=" in header:
            raise Unsure
        if word == "for" and (found := _FOR.match(header)):
            self.events.append(Binds(found[1], self.line))
        elif word == "for" or (word == "with" and _AS.search(header)):
            self._ask(header + ": pass", self.line)

    def _simple(self, text: str, in_class: bool, below: int = 0) -> None:
        """Statements on one logical line that starts `below` lines under the current one."""
        at = 0
        for piece in text.split(";") if ";" in text else (text,):
            code = piece.strip()
            line = self.line + below
            if at or below or piece[:1] in " \n\x1f":
                line += blanking.breaks(text, 0, at + len(piece) - len(piece.lstrip()))
            at += len(piece) + 1
            if code.startswith("import") and (found := _IMPORT.fullmatch(code)):
                for name, alias in blanking.listed_names(found[1]):
                    bound = "" if in_class else alias or name.partition(".")[0]
                    self.events.append(Imports(name, line, bound))
            elif code.startswith("from") and (found := _FROM.fullmatch(code)):
                module = self.module.absolute("".join(found[1].split()))
                names = tuple(
                    (name, "" if in_class else alias or name) for name, alias in blanking.listed_names(found[2])
                )
                if module:
                    self.events.append(FromImports(module, names, line))
            elif not in_class and "=" in code and not _LAZY_TEXT.match(code):
                self._assignment(code, line)

    def _assignment(self, code: str, line: int) -> None:
        found = _SIMPLE.match(code)
        if ":=" in code:
            self._ask(code, line)
        elif found and found[2] == ":":
            if "lambda" in code:
                self._ask(code, line)
            elif blanking.assigns(code):
                self.events.append(Binds(found[1], line))
        elif found and not (found[2] == "=" and blanking.assigns(code[found.end() :])):
            self.events.append(Binds(found[1], line))
        elif alias := _TYPE.match(code):
            self.events.append(Binds(alias[1], line))
        elif found or (blanking.assigns(code) and not _BINDS_NOTHING.match(code)):
            self._ask(code, line)

    def _ask(self, code: str, line: int) -> None:
        for node in ast.parse(blanking.one_line(code)).body:
            self.events.extend(Binds(name, line) for name in _bound(node))
