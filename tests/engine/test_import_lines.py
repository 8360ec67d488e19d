"""Import statements by their look: every one that Python runs, in every layout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemods.engine.import_lines import import_lines

CODEMODS = Path(__file__).resolve().parents[2] / "codemods"


def shown(text: str) -> list[str]:
    found = []
    for each in import_lines(text.encode()):
        names = ", ".join(n.decode() + (f" as {a.decode()}" if a else "") for n, a in each.names)
        found.append(f"import {names}" if each.module is None else f"from {each.module.decode()} import {names}")
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import a\n", ["import a"]),
        ("import a.b as c, d\n", ["import a.b as c, d"]),
        ("from a.b import c\n", ["from a.b import c"]),
        ("from . import c\n", ["from . import c"]),
        ("from .import c\n", ["from . import c"]),
        ("from ... a import c\n", ["from ...a import c"]),
        ("from.a import(c)\n", ["from .a import c"]),
        ("from a import (  # x\n    b,  # y\n    c as d,\n)\n", ["from a import b, c as d"]),
        ("from a import b, \\\n    c as \\\n  d\n", ["from a import b, c as d"]),
        ("from a \\\n    import b\n", ["from a import b"]),
        ("from \\\r\n  a \\\r\n    import \\\r\n b\r\n", ["from a import b"]),
        ("x = 1; import a; from b import c\n", ["import a", "from b import c"]),
        ("if x: import a\n", ["import a"]),
        ("try:\n\timport a\n", ["import a"]),
        ("lazy import a\nlazy from b import c\n", ["import a", "from b import c"]),
        ("from a import *\n", ["from a import *"]),
        ("    >>> from a import b\n    >>> import c\n", ["from a import b", "import c"]),
        ("import_module('a')\nreimport a\nx.import_(b)\n", []),
        ("from a import b", ["from a import b"]),
        ("import a # import b\n", ["import a"]),
        ("from größe import länge as maß\n", ["from größe import länge as maß"]),
    ],
)
def test_statements_are_found_by_their_look(text: str, wanted: list[str]) -> None:
    assert shown(text) == wanted


def test_every_import_of_this_project_is_found() -> None:
    for path in CODEMODS.rglob("*.py"):
        text = path.read_text()
        found = shown(text)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert ast.unparse(node) in found, f"{path}:{node.lineno}"
