"""A shim is read from its text: by its marker and its literal table, without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.model import Symbol
from codemods.engine.source import decode, parse
from codemods.narrow_reexport.forms.shim import with_shim
from codemods.narrow_reexport.forms.shim_table import Moved, Shim, read_shim


def read(text: str) -> Shim | None:
    source = decode(text.encode(), "pkg/__init__.py")
    return read_shim(source, parse(source))


def test_what_is_written_is_read_again() -> None:
    rows = (Moved("sym", Symbol("pkg.sub", "impl"), "2.0"), Moved("x", Symbol("other", "x"), "a future version"))
    after = with_shim(b"import os\n", "pkg/__init__.py", rows, 88)
    assert isinstance(after, bytes)
    found = read(after.decode())
    assert found is not None and found.rows is not None
    assert [(row.name, row.origin, row.removal) for row in found.rows] == [
        (row.name, row.origin, row.removal) for row in rows
    ]
    assert after.decode().splitlines()[found.rows[0].line - 1].startswith('    "sym": (')


def test_a_table_without_the_marker_is_somebody_elses() -> None:
    assert read('_MOVED = {"a": ("pkg.sub", "a", "1")}\n') is None


def test_the_marker_must_stand_right_above_the_table() -> None:
    text = '# codemods: shim narrow_reexport\n\nx = 1\n_MOVED = {"a": ("pkg.sub", "a", "1")}\n'
    assert read(text) is None


@pytest.mark.parametrize(
    "table",
    [
        "dict(a=1)",
        '{"a": "pkg.sub"}',
        '{"a": ("pkg.sub", "a")}',
        '{"a": ("pkg.sub", "a", 1)}',
        '{"a": ("pkg..sub", "a", "1")}',
        "{**others}",
        '{"a b": ("pkg.sub", "a", "1")}',
        '{"a": (module(), "a", "1")}',
    ],
)
def test_a_table_that_is_laid_out_otherwise_is_unreadable_and_not_guessed_at(table: str) -> None:
    found = read(f"# codemods: shim narrow_reexport\n_MOVED = {table}\n")
    assert found == Shim(2, None)


def test_the_page_shows_the_text_that_is_written() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "narrow_reexport.md").read_text(encoding="utf-8")
    written = with_shim(b"", "pkg/__init__.py", (Moved("fused", Symbol("pkg.ops.cuda", "fused"), "2.0"),), 88)
    assert isinstance(written, bytes) and f"```python\n{written.decode()}```\n" in page
