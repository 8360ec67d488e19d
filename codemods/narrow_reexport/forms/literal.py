"""String literals as characters with places: which characters of the file make which character of the value.

Owns the way from an offset in a string's value to the file and back, for literals written plainly or with simple escapes.
Invariant: where the way is not one to one there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LITERAL = re.compile(r"(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|\"|')")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


@dataclass(frozen=True, slots=True)
class Literal:
    """One string literal: its value, and for each character of that and its end the offset in the file."""

    value: str
    marks: tuple[int, ...]
    quote: str
    raw: bool

    def spelled(self, text: str, newline: str = "\n") -> str | None:
        """How the literal spells new text in a file with that newline; None where it cannot."""
        if "\\" in text or self.quote[0] in text or "\r" in text:
            return None
        if len(self.quote) == 3:
            return text.replace("\n", newline)
        return None if self.raw and "\n" in text else text.replace("\n", "\\n")


def literal_at(text: str, start: int, end: int, value: str) -> Literal | None:
    """The literal that stands at [start, end), if it is a single one and each of its characters has a place."""
    opened = _LITERAL.match(text, start, end)
    if opened is None:
        return None
    raw, quote = opened["prefix"] in ("r", "R"), opened["quote"]
    at, stop = opened.end(), end - len(quote)
    marks: list[int] = []
    found: list[str] = []
    while at < stop:
        marks.append(at)
        char, width = text[at], 1
        if char == "\\" and not raw:
            if text[at + 1] == "\n":
                marks.pop()  # the line goes on below
                at += 2
                continue
            if text[at + 1] not in _ESCAPES:
                return None
            char, width = _ESCAPES[text[at + 1]], 2
        elif text.startswith("\r\n", at):
            char, width = "\n", 2
        elif text.startswith(quote, at):
            return None  # another literal follows
        found.append(char)
        at += width
    if at != stop or "".join(found) != value or text[stop:end] != quote:
        return None
    return Literal(value, (*marks, stop), quote, raw)
