"""Edits become text, and text becomes bytes."""

import pytest

from codemods.engine.edits import apply, edited
from codemods.engine.model import Edit, Failure
from codemods.engine.source import decode


def test_edits_are_applied_from_left_to_right_whatever_their_order() -> None:
    assert apply("abcdef", [Edit("x.py", 4, 6, "Z"), Edit("x.py", 0, 1, ""), Edit("x.py", 2, 2, "+")]) == "b+cdZ"


def test_overlapping_edits_are_an_error() -> None:
    with pytest.raises(ValueError, match="overlap at offset 1"):
        apply("abc", [Edit("x.py", 0, 2, ""), Edit("x.py", 1, 3, "")])


def test_overlapping_edits_of_a_file_are_a_failure_with_its_path() -> None:
    source = decode(b"abc", "x.py")
    failure = edited(source, [Edit("x.py", 0, 2, ""), Edit("x.py", 1, 3, "")])
    assert isinstance(failure, Failure)
    assert failure.path == "x.py"
    assert "overlap" in failure.detail


def test_a_character_that_the_encoding_lacks_is_a_failure() -> None:
    source = decode("# coding: latin-1\nx = 'é'\n".encode("latin-1"), "x.py")
    assert isinstance(edited(source, [Edit("x.py", 0, 0, "漢")]), Failure)
    assert edited(source, [Edit("x.py", 18, 19, "y")]) == "# coding: latin-1\ny = 'é'\n".encode("latin-1")
