"""Bytes to text and back, and from positions of `ast` to offsets."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.source import NotPython, decode, parse

TEXTS = st.text(alphabet=st.sampled_from(list("ab =#\n\r\t\x0cäß日𝔸'\"()")), max_size=60)


@given(TEXTS, st.booleans())
def test_no_byte_is_lost(text: str, bom: bool) -> None:
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode("utf-8")
    source = decode(data, "m.py")
    assert source.encode(source.text) == data
    assert source.bom is bom


@given(st.lists(st.sampled_from(["a", "ä", "日本", "", "x = '𝔸'"]), max_size=6), st.sampled_from(["\n", "\r\n", "\r"]))
def test_lines_are_those_of_the_parser(rows: list[str], newline: str) -> None:
    source = decode(newline.join(rows).encode(), "m.py")
    assert [source.line(number) for number in range(1, len(source.starts) + 1)] == (rows or [""])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_span_of_a_node_is_its_text(newline: str) -> None:
    text = newline.join(["# ä", "x = 'ß'; größe = f(日本, \"a\")", "\x0cif größe:", "\tx = 1", ""])
    source = decode(text.encode(), "m.py")
    for node in ast.walk(parse(source)):
        if isinstance(node, (ast.expr, ast.stmt)):
            start, end = source.span(node)
            assert source.text[start:end].replace("\r\n", "\n") == (ast.get_source_segment(text, node) or "").replace(
                "\r\n", "\n"
            )


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"x = 1\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", "cp1252"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "utf-8"),
        (b"x = 1\n\n# coding: latin-1\ny = 2\n", "utf-8"),
    ],
)
def test_the_encoding_is_found_as_python_finds_it(data: bytes, encoding: str) -> None:
    source = decode(data, "m.py")
    assert source.encoding == encoding
    assert source.encode(source.text) == data


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"x = 1\ny = '\xe9'\n", 2), (b"# coding: klingon\n", 1), (b"\xef\xbb\xbf# coding: latin-1\nx = '\xe9'\n", 1)],
)
def test_what_is_no_text_is_named_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(NotPython) as caught:
        decode(data, "m.py")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = (\n", 1), ("x = 1\ndef (:\n", 2), ("if x:\ny = 1\n", 2), ("x = '\n", 1), ("\x00", 0), ("(" * 3000, 0)],
)
def test_what_does_not_parse_is_named_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotPython) as caught:
        parse(decode(text.encode(), "m.py"))
    assert caught.value.line == line or not line


def test_invalid_escapes_do_not_warn() -> None:
    parse(decode(b"x = '\\d'\n", "m.py"))


@pytest.mark.parametrize(
    ("data", "newline"), [(b"a\nb\r\n", "\n"), (b"a\r\nb\n", "\r\n"), (b"a\rb\n", "\r"), (b"a", "\n"), (b"", "\n")]
)
def test_the_first_newline_of_a_file_is_its_newline(data: bytes, newline: str) -> None:
    assert decode(data, "m.py").newline == newline


def test_every_offset_has_its_line() -> None:
    source = decode(b"ab\r\n\r\ncd\re", "m.py")
    assert [source.line_of(offset) for offset in range(len(source.text))] == [1, 1, 1, 1, 2, 2, 3, 3, 3, 4]


def test_a_site_shows_the_line_without_its_indentation() -> None:
    site = decode(b"if x:\n    y = 1  \n", "pkg/m.py").site(2, 4)
    assert (str(site), site.text, site.column) == ("pkg/m.py:2", "y = 1", 4)
