"""Entry points and other paths that packaging tools resolve: `run = "pkg:sym"`, `attr = "pkg.sym"`.

Owns the places in `pyproject.toml`, `setup.cfg`, `setup.py` and `entry_points.txt` whose value is an object's path by the
rules of their format, and the way from there to the origin's path.
Invariant: it edits only such places, only the path in them, and never one that a person takes on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.engine.errors import BadConfiguration
from codemods.engine.source import Source
from codemods.engine.toml import parse_toml
from codemods.narrow_reexport.forms.page import REFUSAL, Page, Verdict, names_of

_ANY = "*"
# `pkg:sym`: what is before the colon is a module, what is after it an attribute of that
_OBJECTS = (
    ("project", "scripts", _ANY),
    ("project", "gui-scripts", _ANY),
    ("project", "entry-points", _ANY, _ANY),
    ("tool", "poetry", "scripts", _ANY),
    ("tool", "poetry", "scripts", _ANY, "callable"),
    ("tool", "poetry", "scripts", _ANY, "reference"),
    ("tool", "poetry", "plugins", _ANY, _ANY),
    ("tool", "flit", "scripts", _ANY),
    ("tool", "flit", "entrypoints", _ANY, _ANY),
    ("tool", "pdm", "scripts", _ANY, "call"),
    ("tool", "pdm", "version", "getter"),
)
# `pkg.sym`: the last part is an attribute of the module before it
_ATTRIBUTES = (
    ("tool", "setuptools", "dynamic", _ANY, "attr"),
    ("tool", "setuptools", "cmdclass", _ANY),
)
_MARK = "codemods-looks-for-this-value"
_SECTIONS = ("options.entry_points", "entry_points")
_NOTE = "entry points changed in {}: install the project again where it is installed, editable installs too"


def judge_entry_points(page: Page) -> None:
    """Rewrite the entry points of a file, if it is one that can hold some."""
    name = page.path.rpartition("/")[2]
    if name == "pyproject.toml":
        _in_toml(page)
    elif name in ("setup.cfg", "entry_points.txt"):
        _in_sections(page, every=name == "entry_points.txt")
    elif name == "setup.py":
        _in_setup(page)


def _in_toml(page: Page) -> None:
    # [project.scripts]
    # run = "pkg:sym [extra]"       ->  run = "pkg.sub:sym [extra]"
    path = rf"{re.escape(page.package)}(?P<sep>\s*:\s*|\.)(?P<name>{names_of(page)})(?P<tail>(?:\.\w+)*)"
    for match in re.finditer(rf"(?P<quote>\"|')\s*{path}(?P<rest>[^\"'\n]*)(?P=quote)", page.text):
        keys = _keys_at(page.text, match.start() + 1, match.end() - 1)
        if any(_is_like(keys, wanted) for wanted in _OBJECTS):
            if ":" in match["sep"] and re.match(r"\s*(?:\[.*\]|\(.*\))?\s*\Z", match["rest"]):
                _move(page, match)
            elif ":" not in match["sep"]:
                page.decide(match.start("name"))  # a module: an entry point without an attribute
        elif any(_is_like(keys, wanted) for wanted in _ATTRIBUTES) and not match["rest"].strip():
            _move(page, match)


def _keys_at(text: str, start: int, end: int) -> tuple[str, ...]:
    """The keys that lead to the value which stands there: the TOML parser is asked where a mark comes out."""
    try:
        tables = parse_toml(f"{text[:start]}{_MARK}{text[end:]}".encode(), "pyproject.toml")
    except BadConfiguration:
        return ()
    return next(_paths_to_mark(tables), ())


def _paths_to_mark(value: object) -> Iterator[tuple[str, ...]]:
    if value == _MARK:
        yield ()
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from ((str(key), *rest) for rest in _paths_to_mark(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from ((_ANY, *rest) for rest in _paths_to_mark(inner))


def _is_like(keys: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return len(keys) == len(wanted) and all(w in (_ANY, key) for key, w in zip(keys, wanted, strict=True))


def _in_sections(page: Page, *, every: bool) -> None:
    # [options.entry_points]
    # console_scripts =
    #     run = pkg:sym [extra]     ->      run = pkg.sub:sym [extra]
    package, names = re.escape(page.package), names_of(page)
    objects = re.compile(
        rf"[^#;\s][^\n]*?=[ \t]*{package}(?P<sep>[ \t]*:[ \t]*)(?P<name>{names})(?P<tail>(?:\.\w+)*)"
        r"[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?:[#;].*)?\Z"
    )
    attributes = re.compile(
        rf"(?:[^#;\s][^\n]*?=)?[ \t]*attr[ \t]*:[ \t]*{package}(?P<sep>\.)(?P<name>{names})(?P<tail>)[ \t]*\Z"
    )
    commands = re.compile(rf"[^#;\s][^\n]*?=[ \t]*{package}(?P<sep>\.)(?P<name>{names})(?P<tail>)[ \t]*(?:[#;].*)?\Z")
    section = option = ""
    for line in range(1, len(page.starts) + 1):
        row = page.row(line)
        text = row.lstrip(" \t")
        if row.startswith("["):
            section = row.partition("]")[0][1:].strip()
            continue
        if text == row and (opened := re.match(r"([\w.\-]+)[ \t]*[=:]", row)):
            option = opened[1]
        pattern = None
        if every or section in _SECTIONS:
            pattern = objects
        elif section in ("metadata", "options"):
            # [metadata] version = attr: pkg.sym        [options] cmdclass = x = pkg.Command
            pattern = commands if option == "cmdclass" else attributes
        at = page.starts[line - 1] + len(row) - len(text)
        match = pattern.search(page.text[: at + len(text)], at) if pattern is not None else None
        if match is not None and match.start() == at:
            _move(page, match)


def _in_setup(page: Page) -> None:
    # setup(entry_points={"console_scripts": ["run = pkg:sym"]})
    if "entry_points" not in page.text or not page.exact:
        return
    try:
        tree = ast.parse(page.text)
    except (SyntaxError, ValueError, RecursionError):
        return  # the planner of code says so
    path = rf"{re.escape(page.package)}(?P<sep>[ \t]*:[ \t]*)(?P<name>{names_of(page)})\b(?P<tail>(?:\.\w+)*)"
    end = r"(?=[ \t]*(?:\[[\w, \t\-]*\])?[ \t]*(?:\\n|[\"'\r\n]|\Z))"
    line = re.compile(rf"[\w.\-{{}}]+[ \t]*=[ \t]*{path}{end}", re.M)
    parts = ("sep", "name", "tail")
    source = Source(page.path, page.text, "utf-8", False)
    seen: list[tuple[int, int]] = []
    for node in ast.walk(tree):
        value = _text_of(node)
        if value is None or not isinstance(node, ast.expr):
            continue
        start, stop = source.span(node)
        if any(first <= start and stop <= last for first, last in seen):
            continue  # a piece of an f-string that has been looked at
        held = list(line.finditer(value))
        if not held:
            continue
        seen.append((start, stop))
        written = list(line.finditer(page.text, start, stop))
        if [match.group(*parts) for match in written] == [match.group(*parts) for match in held]:
            for match in written:
                _move(page, match)
            continue
        for match in held:
            # "run = pkg:" "sym"
            reason = f"an entry point names {page.package}:{match['name']} in a string that is put together from parts"
            page.put(node.lineno, match["name"], Verdict(REFUSAL, reason, "write it as one literal"))


def _text_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part)[3:-2]}}}"
            for part in node.values
        )
    return None


def _move(page: Page, match: re.Match[str]) -> None:
    found = page.wanted[match["name"]]
    start, end = match.start("sep") - len(page.package), match.end("name")
    line = page.line_of(start)
    page.decide(match.start("name"))
    if found.narrowed and found.same_name:
        return  # by now it is the module, and means it
    if not page.exact or page.is_accepted(line):
        reason = f"an entry point names {page.text[start:end]}, which is resolved when it is used"
        page.put(line, match["name"], Verdict(REFUSAL, reason, "change it by hand to the origin, or accept the site"))
        return
    page.edit(start, end, f"{found.origin.module}{match['sep']}{found.origin.name}")
    note = _NOTE.format(page.path)
    if note not in page.notes:
        page.notes.append(note)
