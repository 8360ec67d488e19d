"""IPython's magics: what is masked, and that every character keeps its place."""

from __future__ import annotations

import ast

import pytest

from codemods.narrow_reexport.forms.magic import is_shell, is_shell_cell, masked
from codemods.narrow_reexport.forms.snippet import Row


def rows(code: str) -> list[Row]:
    found = []
    at = 0
    for line in code.split("\n"):
        found.append(Row(line, tuple(range(at, at + len(line) + 1)), at, at + len(line) + 1))
        at += len(line) + 1
    return found


@pytest.mark.parametrize(
    "code",
    [
        "%matplotlib inline\nx = 1",
        "if x:\n    %load_ext a\n    y",
        "!ls {x}\nfiles = !ls\na, b = %who",
        "%%time\nx = 1",
        "%timeit -n 10 -r3 f(x)\n%time y = f(x)",
        "?f\nf?\nf??\npkg.f?",
        "!ls \\\n  -l\nx = 1",
        "%x",
    ],
)
def test_the_rest_parses_and_lines_keep_their_length(code: str) -> None:
    found, python = masked(rows(code))
    assert python
    ast.parse("\n".join(row.code for row in found))
    assert [len(row.code) for row in found] == [len(line) for line in code.split("\n")]


def test_the_statement_behind_a_timing_magic_stays() -> None:
    found, _ = masked(rows("%timeit -n 10 f(x)"))
    assert found[0].code.startswith("0;")
    assert found[0].code.endswith(" f(x)")


@pytest.mark.parametrize(
    "code", ['x = ("%d"\n% y)', 'x = """\n%run a\n"""', "x = 7 \\\n% 3", "x = y % 3  # why?", "x = {\n'a': 1\n}"]
)
def test_what_is_inside_a_statement_is_python(code: str) -> None:
    found, _ = masked(rows(code))
    assert not any(row.masked for row in found)


@pytest.mark.parametrize("first", ["%%bash", "%%writefile a.py", "%%html", "%%cython -a"])
def test_a_cell_of_another_language_is_no_python(first: str) -> None:
    assert not masked(rows(f"{first}\nx"))[1]


def test_shells_are_told_apart() -> None:
    assert is_shell("!ls")
    assert is_shell("x = !ls")
    assert is_shell("%pip install x")
    assert not is_shell("%run x.py")
    assert is_shell_cell("%%bash -e")
    assert not is_shell_cell("%%writefile x.py")
