"""The word index names every file that spells a word; of one text and many names none is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.source import decode
from codemods.engine.words import Words, spelled, words_of

MANY = frozenset({"sym", *(f"other{number}" for number in range(60))})
FILES = {"a.py": b"import pkg\n", "b.py": b"# pkg_more, x.pkg()\n", "c.py": b"packages\n", "d.py": b""}


def test_files_are_found_by_whole_words() -> None:
    words = Words(tuple(FILES), FILES.__getitem__)
    assert words.spelling(["pkg"]) == {0, 1}
    assert words.spelling(["packages", "pkg_more"]) == {1, 2}
    assert words.spelling(["pack"]) == set()


@pytest.mark.parametrize("names", [frozenset({"sym"}), MANY])
@pytest.mark.parametrize(
    "text",
    [
        "from pkg import sym",
        "pkg.sym()",
        r"code = 'import pkg\nsym()'",
        r"'\x0asym'",
        r"'\12sym'",
        r"'\012sym'",
        r"'\u000asym'",
        r"'\U0000000asym'",
        r"'\N{NEWLINE}sym'",
        "f'{sym}'",
        "β.sym",
    ],
)
def test_a_name_is_found(text: str, names: frozenset[str]) -> None:
    assert spelled(text, names) == {"sym"}
    assert decode(text.encode(), "a.py").spelled(names) == {"sym"}


def test_part_of_a_longer_name_is_no_name_among_many() -> None:
    assert spelled("the_sym symbol", MANY) == set()


@given(st.text(), st.sampled_from(sorted(MANY)), st.text())
def test_whatever_stands_around_it(before: str, name: str, after: str) -> None:
    text = f"{before} {name} {after}"
    assert name in spelled(text, MANY)
    assert words_of(text) & MANY == spelled(text, MANY)
