"""Splitting a change: who gets which file, and what stays together."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.errors import BadConfiguration
from codemods.engine.split import MissingExtra, Part, joined, split, way_of

PATHS = ["a/one.py", "a/b/two.py", "c/three.py", "top.py"]


def named(way: str, codeowners: str | None = None, prefix: str = "", tree: list[str] | None = None) -> dict[str, str]:
    own = way_of(way, PATHS, tree or PATHS, codeowners, prefix)
    return {path: own(path) for path in PATHS}


def test_folders_to_a_depth() -> None:
    assert named("directory") == {"a/one.py": "a", "a/b/two.py": "a", "c/three.py": "c", "top.py": "."}
    assert named("directory:2")["a/b/two.py"] == "a/b"


def test_the_outermost_package_counts_and_its_folder_may_lie_deeper() -> None:
    tree = [*PATHS, "a/b/__init__.py", "c/__init__.py"]
    assert named("package", tree=tree) == {"a/one.py": "a", "a/b/two.py": "a/b", "c/three.py": "c", "top.py": "."}


def test_a_number_of_parts_of_the_same_size() -> None:
    assert sorted(named("count:2").values()) == ["1-of-2", "1-of-2", "2-of-2", "2-of-2"]
    assert set(named("count:9").values()) == {"1-of-4", "2-of-4", "3-of-4", "4-of-4"}


@pytest.mark.parametrize(
    "way", ["", "owner", "count", "count:0", "count:x", "directory:0", "package:2", "codeowners:x"]
)
def test_anything_else_is_an_error_that_names_the_ways(way: str) -> None:
    with pytest.raises(BadConfiguration, match="directory"):
        named(way, "")


# --- CODEOWNERS ---


def test_the_last_pattern_that_matches_counts_also_if_it_names_nobody() -> None:
    pytest.importorskip("codeowners")
    text = "* @all\na/ @org/a @x\n/a/b/\n*.py[x] @nobody\n!c/ @not # @comment\nc/* @c # not @me\n"
    assert named("codeowners", text) == {
        "a/one.py": "@org/a @x",
        "a/b/two.py": "unowned",
        "c/three.py": "@c",
        "top.py": "@all",
    }


def test_patterns_start_at_the_top_of_the_checkout() -> None:
    pytest.importorskip("codeowners")
    assert named("codeowners", "/sub/a/ @a\n", prefix="sub/")["a/one.py"] == "@a"
    assert named("codeowners", "/sub/a/ @a\n")["a/one.py"] == "unowned"


def test_without_the_file_or_the_extra_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadConfiguration, match="CODEOWNERS"):
        named("codeowners")
    monkeypatch.setitem(sys.modules, "codeowners", None)
    with pytest.raises(MissingExtra) as caught:
        named("codeowners", "* @all\n")
    assert "codemods[split]" in caught.value.hint


# --- groups ---


def test_a_group_lands_where_most_of_it_belongs() -> None:
    way = way_of("directory", PATHS, PATHS, None)
    parts = split(PATHS, [["a/one.py", "a/b/two.py", "top.py"]], way)
    assert parts == (Part("a", ("a/b/two.py", "a/one.py", "top.py")), Part("c", ("c/three.py",)))


def test_groups_that_share_a_path_are_one() -> None:
    assert joined([["a", "b"], ["c"], ["b", "c"], ["d"]]) == (frozenset("abc"), frozenset("d"))


FILES = st.sets(st.sampled_from([f"{a}/{b}.py" for a in "pqr" for b in "xyz"]), min_size=1)


@given(FILES, st.lists(st.sets(st.sampled_from([f"{a}/{b}.py" for a in "pqr" for b in "xyz"]))), st.integers(1, 4))
def test_every_path_is_in_one_part_and_no_group_is_torn(paths: set[str], groups: list[set[str]], number: int) -> None:
    parts = split(paths, groups, way_of(f"count:{number}", sorted(paths), (), None))
    assert sorted(path for part in parts for path in part.paths) == sorted(paths)
    for group in groups:
        assert sum(bool(group & set(part.paths)) for part in parts) <= 1
    assert parts == split(sorted(paths, reverse=True), groups[::-1], way_of(f"count:{number}", sorted(paths), (), None))
