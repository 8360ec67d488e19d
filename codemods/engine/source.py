"""A Python file as text with exact positions: decoding, line starts, parsing with `ast`.

Owns the way from bytes to text and back, and from `ast` positions to offsets in that text.
Invariant: it never loses a byte; `encode(decode(data)) == data`, or decoding fails.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Set
from dataclasses import dataclass
from itertools import accumulate, pairwise

from codemods.engine.model import Site
from codemods.engine.words import spelled, words_of

LARGEST = 20_000_000  # bytes; a syntax tree takes up to a hundred times as much memory as its text
_NEWLINE = re.compile(r"\r\n|\r|\n")
_COOKIE = re.compile(rb"coding[:=]")
_LAZY = re.compile(r"(?:^|;)[ \t\f]*(?P<word>lazy)[ \t]+(?=(?:from|import)\b)", re.M)


class NotPython(Exception):
    """The bytes are no Python that this interpreter can parse: why, and at which line (0 where there is none)."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line


class TooDeep(NotPython):
    """Python reads the file, but it is nested too deeply to be followed here."""

    def __init__(self, reason: str = "it is nested too deeply to be followed", line: int = 0) -> None:
        super().__init__(reason, line)


@dataclass(slots=True)
class Source:
    """One decoded file. `text` has no BOM and keeps its newlines."""

    path: str
    text: str
    encoding: str
    bom: bool
    _starts: tuple[int, ...] = ()
    _words: frozenset[str] | None = None

    @property
    def starts(self) -> tuple[int, ...]:
        """`starts[n]` is the offset of line n + 1; found when first asked for."""
        if not self._starts:
            lengths = [len(line) + 1 for line in self.text.split("\n")] if "\r" not in self.text else []
            if lengths:
                self._starts = (0, *accumulate(lengths[:-1]))
            else:
                self._starts = (0, *(match.end() for match in _NEWLINE.finditer(self.text)))
        return self._starts

    def offset(self, line: int, column: int) -> int:
        """The offset in characters of an `ast` position (1-based line, column in UTF-8 bytes)."""
        start = self.starts[line - 1]
        if self.text.isascii():
            return start + column
        return start + len(self.line(line).encode("utf-8")[:column].decode("utf-8"))

    def line(self, line: int) -> str:
        """The text of a 1-based line without its newline."""
        start = self.starts[line - 1]
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.pattern) -> tuple[int, int]:
        """The offsets [start, end) of a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def line_of(self, offset: int) -> int:
        """The 1-based line that holds an offset."""
        return bisect_right(self.starts, offset)

    def site(self, line: int, column: int = 0) -> Site:
        """The place a message names."""
        return Site(self.path, line, column, self.line(line).strip() if 0 < line <= len(self.starts) else "")

    def site_of(self, node: ast.expr | ast.stmt | ast.alias | ast.pattern) -> Site:
        """The place of a node."""
        return self.site(node.lineno, node.col_offset)

    @property
    def newline(self) -> str:
        """The newline that the file uses first; LF where it has none."""
        found = _NEWLINE.search(self.text)
        return found[0] if found else "\n"

    def spelled(self, names: Set[str]) -> Set[str]:
        """Those of some identifiers that the text may spell, none left out; quick for a thousand of them."""
        return spelled(self.text, names, self._all_words)

    def _all_words(self) -> frozenset[str]:
        if self._words is None:
            self._words = words_of(self.text)
        return self._words

    def encode(self, text: str) -> bytes:
        """The bytes of an edited text of this file. Raises UnicodeEncodeError where the encoding lacks a character."""
        return (BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


def decode(data: bytes, path: str) -> Source:
    """The text of a file, by its BOM, its cookie, or UTF-8 (PEP 263). Raises NotPython."""
    if len(data) > LARGEST:
        raise NotPython(f"it is too large to be taken apart ({len(data) >> 20} MB)")
    bom = data.startswith(BOM_UTF8)
    body = data[3:] if bom else data
    encoding = "utf-8"
    if _COOKIE.search(body[:400]):
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        except SyntaxError as error:
            raise NotPython(f"its encoding is unknown or wrong ({error.msg})", 1) from None
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        text = body.decode(encoding)
        exact = encoding == "utf-8" or text.encode(encoding) == body
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        raise NotPython(
            f"it is not {encoding} text, and no other encoding is declared", body.count(b"\n", 0, start) + 1
        ) from None
    if not exact:
        raise NotPython(f"its encoding {encoding} does not give back the same bytes", 1)
    return Source(path, text, encoding, bom)


def parse(source: Source) -> ast.Module:
    """The syntax tree of a file. Raises NotPython, naming the line, also for trees too deep to handle."""
    try:
        return _parsed(source.text)
    except SyntaxError as error:
        tree = _with_lazy_imports(source)
        if tree is not None:
            return tree
        raise NotPython(f"it does not parse: {error.msg}", error.lineno or 0) from None
    except ValueError as error:
        raise NotPython(f"it does not parse: {error}") from None
    except (RecursionError, MemoryError):
        raise NotPython("it is nested too deeply to be parsed") from None


def is_lazy(source: Source, statement: ast.stmt) -> bool:
    """Whether an import statement is a `lazy` one (PEP 810)."""
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False
    return source.text.startswith("lazy", source.offset(statement.lineno, statement.col_offset))


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the file's own affair
        return ast.parse(text)


def _with_lazy_imports(source: Source) -> ast.Module | None:
    """The tree of a file with `lazy` imports, for an interpreter that does not know them; None where that is not all."""
    # lazy from pkg import sym       is read as       0;   from pkg import sym       and starts where `lazy` does
    places = {match.start("word") for match in _LAZY.finditer(source.text)}
    while places:
        text = source.text
        for at in places:
            text = f"{text[:at]}0;  {text[at + 4 :]}"
        try:
            tree = _parsed(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        found = _restored(source, tree, places)
        if found == places:
            return tree
        places = found  # the others stand in strings
    return None


def _restored(source: Source, tree: ast.Module, places: set[int]) -> set[int]:
    """Take the stand-ins out of a tree, and give the import behind each its whole extent; the places that were found."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for suite in ("body", "orelse", "finalbody"):
            statements = getattr(node, suite, None)
            if not isinstance(statements, list):
                continue
            for upper, lower in list(pairwise(statements)):
                if not isinstance(upper, ast.Expr) or not isinstance(lower, (ast.Import, ast.ImportFrom)):
                    continue
                at = source.offset(upper.lineno, upper.col_offset)
                if at in places:
                    found.add(at)
                    lower.lineno, lower.col_offset = upper.lineno, upper.col_offset
                    statements.remove(upper)
    return found
