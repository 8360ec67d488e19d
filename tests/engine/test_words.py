"""The word index names every file that spells a word."""

from __future__ import annotations

from codemods.engine.words import Words

FILES = {"a.py": b"import pkg\n", "b.py": b"# pkg_more, x.pkg()\n", "c.py": b"packages\n", "d.py": b""}


def test_files_are_found_by_whole_words() -> None:
    words = Words(tuple(FILES), FILES.__getitem__)
    assert words.spelling(["pkg"]) == {0, 1}
    assert words.spelling(["packages", "pkg_more"]) == {1, 2}
    assert words.spelling(["pack"]) == set()
