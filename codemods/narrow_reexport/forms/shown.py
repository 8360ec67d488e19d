"""Python shown in prose: doctest examples, fenced blocks of Markdown, code directives of reStructuredText.

Owns what counts as such code, and where it stands in the lines of a page or of a docstring.
Invariant: it reads lines alone, and decides nothing about what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codemods.narrow_reexport.forms.snippet import Row, Snippet

_NEWLINE = re.compile(r"\r\n|\r|\n")
_PROMPT = re.compile(r"(?P<lead>[ \t]*(?:>(?!>>)[ \t]?)*)(?P<prompt>>>>|\.\.\.)(?: |\Z)")
_FENCE = re.compile(
    r"(?P<lead>[ \t]*(?:>[ \t]?|(?:[-*+]|\d+[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})[ \t]*(?P<info>.*)"
)
_DIRECTIVE = re.compile(
    r"(?P<lead>[ \t]*)\.\.[ \t]+"
    r"(?P<kind>code-block|code|sourcecode|testcode|testsetup|testcleanup|jupyter-execute|ipython|plot)::[ \t]*(?P<info>.*)"
)
_LANGUAGES = frozenset(
    {"python", "py", "python3", "ipython", "ipython3", "pycon", "python-console", "python-repl", "doctest", "pyodide"}
)
_ROLES = frozenset(
    {"code-cell", "code-block", "code", "sourcecode", "testcode", "testsetup", "jupyter-execute", "doctest"}
)


@dataclass(frozen=True, slots=True)
class Written:
    """One line of a text, as it reads; `marks` are the offsets in the file of its characters and its end."""

    text: str
    marks: tuple[int, ...]
    after: int


def lines_of(text: str, start: int = 0, end: int | None = None) -> list[Written]:
    """The lines of the characters [start, end) of a file."""
    end = len(text) if end is None else end
    found: list[Written] = []
    at = start
    while at < end:
        newline = _NEWLINE.search(text, at, end)
        stop, after = newline.span() if newline else (end, end)
        found.append(Written(text[at:stop], tuple(range(at, stop + 1)), after))
        at = after
    return found


def examples(lines: Sequence[Written], newline: str, spell: Callable[[str], str]) -> list[Snippet]:
    """The doctest examples; those that stand line below line are one snippet."""
    found: list[tuple[int, str, list[Row]]] = []
    for number, line in enumerate(lines):
        # >>> from pkg import (
        # ...     sym)
        prompt = _PROMPT.match(line.text)
        if prompt is None:
            continue
        opens = prompt["prompt"] == ">>>"
        row = Row(line.text[prompt.end() :], line.marks[prompt.end() :], line.marks[0], line.after, opens)
        if found and found[-1][0] == number - 1 and found[-1][1] == prompt["lead"]:
            found[-1] = (number, prompt["lead"], [*found[-1][2], row])
        elif opens:
            found.append((number, prompt["lead"], [row]))
    return [Snippet(tuple(rows), newline, (f"{lead}>>> ", f"{lead}... "), spell, True) for _, lead, rows in found]


def blocks(lines: Sequence[Written], newline: str, spell: Callable[[str], str]) -> list[Snippet]:
    """The fenced blocks and directives that hold Python and no prompts."""
    found: list[Snippet] = []
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at].text)
        directive = _DIRECTIVE.match(lines[at].text) if fence is None else None
        inside: list[tuple[str, Written]] = []
        python = False
        if fence is not None:
            inside, after = _fenced(lines, at, fence)
            python = _is_python(fence["info"])
        elif directive is not None:
            inside, after = _indented(lines, at, directive)
            python = directive["kind"] not in ("code-block", "code", "sourcecode") or _is_python(directive["info"])
        else:
            after = at + 1
        rows = _rows(inside) if python else ()
        if rows and not any(_PROMPT.match(row.code) and row.code.lstrip().startswith(">>>") for row in rows):
            lead = _lead_of(inside)
            found.append(Snippet(rows, newline, (lead, lead), spell))
        at = after
    return found


def _is_python(info: str) -> bool:
    # ```python title="x"      ```{code-cell} ipython3      ```{.python .numberLines}      ```{python echo=FALSE}
    words = re.findall(r"[\w-]+", info.lower())
    if words and words[0] in _ROLES and info.lstrip().startswith("{"):
        return words[0] in ("testcode", "testsetup") or len(words) == 1 or words[1] in _LANGUAGES
    return bool(words) and words[0] in _LANGUAGES


def _fenced(lines: Sequence[Written], at: int, fence: re.Match[str]) -> tuple[list[tuple[str, Written]], int]:
    """The lines of a fenced block, each with what stands before its code, and the number of the line after it."""
    # - ```python          the lines below are indented as far as the fence
    lead = re.sub(r"[-*+\d.)]", " ", fence["lead"])
    close = re.compile(rf"[ \t>]*{re.escape(fence['fence'][0])}{{{len(fence['fence'])},}}[ \t]*\Z")
    inside: list[tuple[str, Written]] = []
    for number in range(at + 1, len(lines)):
        text = lines[number].text
        if close.match(text):
            return _without_options(inside) if fence["info"].startswith("{") else inside, number + 1
        if text.startswith(lead):
            inside.append((lead, lines[number]))
        else:
            shared = len(text) - len(text.lstrip()) if not lead.strip() else len(text)
            inside.append((text[: min(shared, len(lead))], lines[number]))
    return [], at + 1  # nothing closes it


def _indented(lines: Sequence[Written], at: int, directive: re.Match[str]) -> tuple[list[tuple[str, Written]], int]:
    outer = len(directive["lead"].expandtabs())
    inside: list[tuple[str, Written]] = []
    number = at + 1
    while number < len(lines):
        text = lines[number].text
        if text.strip() and len(text) - len(text.lstrip()) <= outer:
            break
        inside.append(("", lines[number]))
        number += 1
    while inside and not inside[-1][1].text.strip():
        inside.pop()
        number -= 1
    return _without_options(inside), max(number, at + 1)


def _without_options(inside: list[tuple[str, Written]]) -> list[tuple[str, Written]]:
    # :linenos:            the options of a directive, and the blank line after them
    at = 0
    while at < len(inside) and re.match(r"[ \t]*:[\w-]+:", inside[at][1].text):
        at += 1
    while at < len(inside) and not inside[at][1].text.strip():
        at += 1
    return inside[at:]


def _lead_of(inside: Sequence[tuple[str, Written]]) -> str:
    """What stands before the code of every line: the fence's own, and the indentation that all lines share."""
    full = [(lead, line.text[len(lead) :]) for lead, line in inside if line.text[len(lead) :].strip()]
    if not full:
        return ""
    margins = [code[: len(code) - len(code.lstrip(" \t"))] for _, code in full]
    margin = min(margins, key=len)
    return full[0][0] + (margin if all(each.startswith(margin) for each in margins) else "")


def _rows(inside: Sequence[tuple[str, Written]]) -> tuple[Row, ...]:
    whole = _lead_of(inside)
    rows: list[Row] = []
    for lead, line in inside:
        cut = len(whole) if line.text.startswith(whole) else len(line.text) if not line.text.strip() else len(lead)
        rows.append(Row(line.text[cut:], line.marks[cut:], line.marks[0], line.after))
    return tuple(rows)
