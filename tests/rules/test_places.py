"""From an offence's place to a node."""

from __future__ import annotations

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from codemods.check_narrowed.offence import Offence
from codemods.engine.model import Site
from codemods.rules.places import node_at


@pytest.mark.parametrize(
    ("text", "line", "column", "kind", "marked"),
    [
        ("from a import b, sym\n", 1, 17, cst.ImportAlias, (1, 17, 1, 20)),
        ("from a import *\n", 1, 0, cst.ImportFrom, (1, 0, 1, 15)),
        ("x = a.b.sym()\n", 1, 4, cst.Attribute, (1, 4, 1, 11)),
        ("patch('a.sym')\n", 1, 6, cst.SimpleString, (1, 6, 1, 13)),
        ("__all__ = ['sym']\n", 1, 11, cst.SimpleString, (1, 11, 1, 16)),
        ("@a.sym\ndef f(): pass\n@a.sym\ndef g(): pass\n", 3, 1, cst.Attribute, (3, 1, 3, 6)),
        ("def f():\n    '''\n    >>> import a\n    '''\n", 3, 0, cst.SimpleString, (3, 0, 3, 1)),
        ("x = 'é', a.sym\n", 1, 10, cst.Attribute, (1, 9, 1, 14)),
        ("\n", 1, 0, cst.Module, (1, 0, 1, 1)),
    ],
)
def test_the_node_and_its_range(
    text: str, line: int, column: int, kind: type[cst.CSTNode], marked: tuple[int, int, int, int]
) -> None:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    site = Site("main.py", line, column, text.splitlines()[line - 1].strip())
    place = node_at(wrapper.module, positions, Offence(site, "a:sym", "call-site", ""))
    assert isinstance(place.node, kind)
    assert (place.range.start.line, place.range.start.column, place.range.end.line, place.range.end.column) == marked
