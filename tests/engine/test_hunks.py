"""Hunks: what a plan file holds of an edit, and that it makes the new text again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.errors import CannotWrite
from codemods.engine.hunks import Hunk, apply_hunks, hunks_of

TEXT = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\xe9\n", b"\r", b"\n", b"x"]), max_size=12).map(b"".join)


@given(TEXT, TEXT)
def test_hunks_make_the_new_text_to_the_byte_also_after_a_way_through_json(before: bytes, after: bytes) -> None:
    hunks = hunks_of(before, after)
    told = json.loads(json.dumps([[hunk.line, hunk.old, hunk.new] for hunk in hunks]))
    assert apply_hunks(before, [Hunk(*each) for each in told], "x.py") == after
    assert (before == after) == (not hunks)


def test_a_hunk_names_the_line_and_holds_nothing_that_stays() -> None:
    assert hunks_of(b"a\nb\nc\n", b"a\nB\nc\n") == (Hunk(2, "b\n", "B\n"),)


def test_a_hunk_is_not_laid_over_another_text() -> None:
    with pytest.raises(CannotWrite, match=r"x\.py:2"):
        apply_hunks(b"a\nother\n", [Hunk(2, "b\n", "B\n")], "x.py")
