"""TOML with places: every complaint has a line."""

from __future__ import annotations

import pytest

from codemods.engine.errors import BadConfiguration
from codemods.engine.toml import did_you_mean, line_of_key, parse_toml


@pytest.mark.parametrize(
    ("data", "line", "detail"),
    [
        (b"a = 1\nb = \n", 2, "not valid TOML"),
        (b"a = 1\r\na = 2\r\n", 2, "not valid TOML"),
        (b"a = [1,\n2,\n", 3, "not valid TOML"),
        (b"a = 1\nb = '\xff'\n", 2, "not UTF-8"),
        (b"a = " + b"[" * 100_000, 0, "nested too deeply"),
    ],
)
def test_a_broken_file_is_named_with_its_line(data: bytes, line: int, detail: str) -> None:
    with pytest.raises(BadConfiguration, match=detail) as caught:
        parse_toml(data, "x.toml")
    assert (caught.value.path, caught.value.line) == ("x.toml", line)


def test_a_sound_file_gives_its_tables() -> None:
    assert parse_toml("[a]\r\nb = 'ü'\r\n".encode(), "x.toml") == {"a": {"b": "ü"}}


TEXT = """\
strict = 1
[tool.other] # strict = 2
strict = 3
[tool.codemods]
narrow_reexport.exclude = []
[ tool . codemods . "narrow_reexport" ]
not-strict = 1
"strict" = 4
[symbols]
"pkg:name" = { origin = "pkg.strict:name" }
[deep.inner.x]
"""


@pytest.mark.parametrize(
    ("key", "table", "line"),
    [
        ("strict", "", 1),
        ("strict", "tool.other", 3),
        ("strict", "tool.codemods.narrow_reexport", 8),
        ("exclude", "tool.codemods.narrow_reexport", 0),
        ("narrow_reexport", "tool.codemods", 5),
        ("pkg:name", "symbols", 10),
        ("origin", "symbols", 10),
        ("inner", "deep", 11),
        ("x", "deep.inner", 11),
        ("absent", "", 0),
    ],
)
def test_a_key_is_found_in_its_table_first(key: str, table: str, line: int) -> None:
    if key == "exclude":  # a dotted key, so that the table has no header of its own for it
        line = 5
    assert line_of_key(TEXT, key, table) == line


def test_a_near_miss_is_suggested_else_all_are_listed() -> None:
    assert did_you_mean("exlude", ["exclude", "also"]) == "did you mean `exclude`?"
    assert did_you_mean("zzz", ["exclude", "also"]) == "known: also, exclude"
