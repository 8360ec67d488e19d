"""The cut-down tree of an edited file: what stays keeps its place, and in doubt there is none."""

from __future__ import annotations

import argparse
import ast
import inspect
import tokenize

import pytest

from codemods.engine.edits import apply
from codemods.engine.model import Edit
from codemods.engine.shortened import shortened_tree
from codemods.engine.source import decode, parse

FILE = """\
\"\"\"A module.\"\"\"
from a import b  # kept

x = 1; y = 2


@decorated(
    1,
)
def f():
    return {
        "a": 1,
    }


def g():
    import z
    return z
"""


def cut(text: str, old: str, new: str) -> ast.Module | None:
    source = decode(text.encode(), "m.py")
    at = text.index(old)
    return shortened_tree(source, parse(source), [Edit("m.py", at, at + len(old), new)])


def places(tree: ast.Module) -> list[tuple[str, int, int]]:
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return [(ast.unparse(node), node.lineno, node.col_offset) for node in found]


@pytest.mark.parametrize("new", ["from a.c import b", "from a.c import b\nimport d", "import a.c"])
def test_imports_have_the_places_that_they_have_in_the_edited_file(new: str) -> None:
    tree = cut(FILE, "from a import b", new)
    assert tree is not None
    assert places(tree) == places(ast.parse(FILE.replace("from a import b", new)))
    assert sum(isinstance(statement, ast.Pass) for statement in tree.body) == 2  # the docstring borders on the edit


def test_an_edit_that_breaks_its_statement_gives_no_tree() -> None:
    assert cut(FILE, "from a import b", "from a import (b") is None
    assert cut(FILE, "from a import b", "from a import") is None


def test_a_quote_that_is_left_open_does_not_hide_behind_what_was_cut() -> None:
    text = 'import a\nx = 1\nt = """import b"""\n'
    assert cut(text, "import a\n", 'import a; """\n') is None


@pytest.mark.parametrize("text", ["import a\r\nx = 1\r\n", "import a\n\x0cx = 1\n"])
def test_other_ends_of_lines_are_left_to_the_whole_way(text: str) -> None:
    assert cut(text, "import a", "import b") is None


def test_the_last_statement_may_lack_its_end_of_line() -> None:
    tree = cut("import a\nx = 1", "import a", "import b")
    assert tree is not None and ast.unparse(tree) == "import b\npass"


def test_every_cut_of_real_files_agrees_with_the_whole() -> None:
    for module in (ast, tokenize, argparse, inspect):
        with open(module.__file__, "rb") as file:  # noqa: PTH123
            source = decode(file.read(), "m.py")
        tree = parse(source)
        statement = next(s for s in tree.body if isinstance(s, (ast.Import, ast.ImportFrom)))
        start, end = source.span(statement)
        edits = [Edit("m.py", start, end, "import one\nimport two")]
        short = shortened_tree(source, tree, edits)
        assert short is not None
        assert places(short) == places(ast.parse(apply(source.text, edits)))


def test_the_word_in_a_text_keeps_no_statement() -> None:
    tree = cut('import a\n\n\ndef f():\n    """What is important: import nothing."""\n', "import a", "import b")
    assert tree is not None and ast.unparse(tree) == "import b\npass"
