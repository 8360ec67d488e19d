"""What IPython allows beside Python: magics, shell commands, questions.

Owns the test for a line that is no Python, and what stands in its place while the rest is planned.
Invariant: a line keeps its length, so that every other character keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from codemods.narrow_reexport.forms.snippet import Row

# %time x = 1      %timeit -n 10 f(x)      %%time
_PYTHON_MAGIC = re.compile(
    r"(?P<lead>[ \t]*)(?P<head>%(?:time|timeit|prun|memit|mprun|lprun)\b(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]+)\S"
)
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "debug", "px", "skip_if"})
# x = !ls      x = %magic
_ASSIGNED = re.compile(r"(?P<head>[ \t]*[\w, ]+=[ \t]*)[!%]")
_SHELL = re.compile(r"[ \t]*(?:[\w, ]+=[ \t]*)?!|[ \t]*%(?:pip|conda|sx|system|cd|ls|sh|bash)\b")
_SHELL_CELL = re.compile(r"%%(?:bash|sh|script|html|javascript|js|latex|markdown|svg|perl|ruby|cmd|sql)\b")
_QUESTION = re.compile(r"[ \t]*(?:\?.*|%*[\w.]+\?{1,2}[ \t]*)\Z")


def masked(rows: Sequence[Row]) -> tuple[tuple[Row, ...], bool]:
    """The rows of a cell with what is no Python masked; whether the cell holds Python at all."""
    first = next((row.code for row in rows if row.code.strip()), "")
    cell = re.match(r"%%(\w+)", first)
    if cell and cell[1] not in _PYTHON_CELLS:
        return tuple(rows), False
    result: list[Row] = []
    state = _State()
    continued = False  # a magic that ends with a backslash goes on in the next line
    for row in rows:
        code = row.code
        if not continued and state.within:
            state.read(code)
            result.append(row)
            continue
        stripped = code.lstrip()
        own = continued or stripped[:1] in ("%", "!", "?") or _ASSIGNED.match(code) or _QUESTION.match(code)
        if not own:
            state.read(code)
            result.append(row)
            continue
        python = None if continued else _PYTHON_MAGIC.match(code)
        within, continued = continued, code.endswith("\\") and python is None
        if python is not None:
            # %timeit f(x)         ->  0;      f(x)
            head = "0;".ljust(len(python["head"]))
            code = python["lead"] + head + code[len(python["lead"]) + len(head) :]
            state.read(code)
            result.append(replace(row, code=code, masked=len(python["lead"]) + len(head)))
            continue
        if within:
            result.append(replace(row, code=" " * len(code), masked=len(code)))
            continue
        assigned = _ASSIGNED.match(code)
        lead = assigned["head"] if assigned else code[: len(code) - len(stripped)]
        code = (lead + "0").ljust(len(code)) if code else code
        result.append(replace(row, code=code, masked=len(code)))
    return tuple(result), True


def is_shell(line: str) -> bool:
    """Whether a line that is no Python is a command of a shell: it may name the symbol, and reads nothing here."""
    return _SHELL.match(line) is not None


def is_shell_cell(first: str) -> bool:
    return _SHELL_CELL.match(first) is not None


class _State:
    """Whether the next line goes on with a statement: an open bracket or triple quote, a backslash."""

    def __init__(self) -> None:
        self.depth = 0
        self.quote = ""
        self.joined = False

    @property
    def within(self) -> bool:
        return self.depth > 0 or bool(self.quote) or self.joined

    def read(self, code: str) -> None:
        at = 0
        while at < len(code):
            if self.quote:
                if code[at] == "\\":
                    at += 2
                    continue
                if code.startswith(self.quote, at):
                    at += len(self.quote)
                    self.quote = ""
                    continue
                at += 1
                continue
            char = code[at]
            if char == "#":
                break
            if char in "\"'":
                self.quote = char * 3 if code.startswith(char * 3, at) else char
                at += len(self.quote)
                continue
            self.depth += (char in "([{") - (char in ")]}")
            at += 1
        self.joined = code.endswith("\\") and "#" not in code
        if len(self.quote) == 1 and not code.endswith("\\"):
            self.quote = ""  # a string that nothing closes: no Python, and the parser says so
        self.depth = max(self.depth, 0)
