"""A source text with its strings and comments blanked out, and the questions that `outline` asks of such a text.

Owns the lexical half of the fast outline: where strings end, where a logical line ends, where a block ends.
Invariant: it never guesses; what it cannot read with certainty raises `Unsure`, and the caller asks `ast` instead.
"""

from __future__ import annotations

import re

NEWLINE = "\x1f"  # stands for a line break that ends no statement; white space to `re` and `str.split`


class Unsure(Exception):
    """The text has a form that is not read here."""


def blanked(data: bytes) -> str:
    """The text with strings emptied, comments and continued line breaks gone, indentation in spaces."""
    if b"\0" in data or _COOKIE.match(data):
        raise Unsure
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unsure from None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            raise Unsure
    text = _QUIET.sub(_blank, text)
    if not text.isascii():  # `ast` normalises identifiers
        raise Unsure
    if "\f" in text:
        text = _FEED.sub("", text)
    if "\t" in text:
        text = _TABS.sub(lambda found: found[0].expandtabs(8), text)
    return text


def line_end(text: str, start: int) -> int:
    """Where the logical line that holds `start` ends."""
    depth, at = 0, start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        depth += _depth(text, at, end)
        if not depth:
            return end
        at = end + 1
    raise Unsure


def block_end(text: str, start: int, column: int) -> int:
    """Where the block whose header stands at `start`, in `column`, ends."""
    at, counted, depth = start, start, 0
    back = re.compile(f"^ {{0,{column}}}(?=[^ \\n)\\]}}])", re.MULTILINE)
    while found := back.search(text, at + 1):
        at = found.start()
        depth += _depth(text, counted, at)
        if not depth:
            return at
        counted = at
    if depth + _depth(text, counted, len(text)):
        raise Unsure
    return len(text)


def header_end(header: str) -> int:
    """Where the colon is in the header of a block that has its body on the same line."""
    depth = 0
    for at, char in enumerate(header):
        depth += (char in "([{") - (char in ")]}")
        if char == ":" and not depth:
            if "lambda" in header[:at]:
                break
            return at
    raise Unsure


def listed_names(listed: str) -> list[tuple[str, str]]:
    """(name, alias or nothing) of each item of an import statement."""
    inner = listed.strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1].rstrip().removesuffix(",")
    names: list[tuple[str, str]] = []
    for item in inner.split(","):
        words = item.split()
        if len(words) not in (1, 3) or (len(words) == 3 and words[1] != "as"):
            raise Unsure
        names.append((words[0], words[2] if len(words) == 3 else ""))
    return names


def assigns(code: str) -> bool:
    """Whether an `=` stands outside of all brackets, or may: a `lambda` hides it."""
    if "=" not in code or "lambda" in code:
        return "lambda" in code
    count = 1
    while count:
        code, count = _INNER.subn("", code)
    return bool(_EQUALS.search(code))


def breaks(text: str, start: int, end: int) -> int:
    """How many line breaks of the original text lie in the range."""
    return text.count("\n", start, end) + text.count(NEWLINE, start, end)


def one_line(code: str) -> str:
    """The code as `ast` takes it."""
    return code.replace(NEWLINE, " ").strip()


_QUIET = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r"|\#[^\n]*"
    r"|\\\n"
    r"|[\"'\\]",
    re.DOTALL,
)
_COOKIE = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=][ \t]*(?!utf-?8\b)", re.IGNORECASE)
_TABS = re.compile(r"^ *\t[ \t]*", re.MULTILINE)
_FEED = re.compile(r"^[ \t\f]*\f", re.MULTILINE)
_INNER = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")


def _blank(found: re.Match[str]) -> str:
    token = found[0]
    first = token[0]
    if first == "#":
        return ""
    if len(token) < 2:  # a quote that nothing closes, a stray backslash
        raise Unsure
    if first == "\\":
        return NEWLINE
    if "{" in token and found.string[max(found.start() - 2, 0) : found.start()].lower().strip("r")[-1:] in ("f", "t"):
        fields = token.replace("{{", "").replace("}}", "")
        if fields.count("{") != fields.count("}"):  # the same quotes again inside a field (PEP 701)
            raise Unsure
    if "\n" in token:
        return '"" ' + NEWLINE * token.count("\n")
    return '"__main__" ' if token.strip(first) == "__main__" else '"" '  # the space keeps two strings from joining


def _depth(text: str, start: int, end: int) -> int:
    opened = text.count("(", start, end) + text.count("[", start, end) + text.count("{", start, end)
    return opened - text.count(")", start, end) - text.count("]", start, end) - text.count("}", start, end)
