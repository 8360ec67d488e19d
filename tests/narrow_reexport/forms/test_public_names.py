"""Tests and files that list a package's public names."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_rewritten

FILES: Tree = {
    "pkg/__init__.py": 'from .sub import sym\nfrom .light import other\n\n__all__ = ["sym", "other"]\n',
    "pkg/sub.py": "def sym(): ...\n",
    "pkg/light.py": "other = 1\n",
}
AFTER: Tree = {"pkg/__init__.py": 'from .light import other\n\n__all__ = ["other"]\n'}


@pytest.mark.parametrize(
    "statement",
    [
        "assert set(pkg.__all__) == {'sym', 'other'}",
        "assert 'sym' in pkg.__all__",
        "assert len(pkg.__all__) == 2",
        "print(sorted(pkg.__all__))",
        "assert {n for n in pkg.__all__} == KNOWN",
        "names = pkg.__all__",
        "assert dir(pkg) == KNOWN",
    ],
)
def test_a_test_that_compares_the_names_is_said(statement: str) -> None:
    tree = {**FILES, "test_api.py": f"import pkg\n\nKNOWN = ['sym', 'other']\n\n\ndef test():\n    {statement}\n"}
    outcome = check_rewritten(tree, "pkg", "sym", AFTER, says=r"warning: test_api.py:7: ")
    assert outcome.text.count("warning:") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "for name in pkg.__all__:\n    print(name)",
        "assert 'other' in pkg.__all__",
        "print([name for name in pkg.__all__ if name not in ('sym', 'old')])",
        "assert 'absent' not in pkg.__all__",
        "import other\nassert 'sym' in other.__all__",
    ],
)
def test_going_through_the_names_is_no_comparison(statement: str) -> None:
    tree = {**FILES, "other.py": "__all__ = ['sym']\nsym = 1\n", "main.py": f"import pkg\n{statement}\n"}
    outcome = check_rewritten(tree, "pkg", "sym", AFTER)
    assert "warning:" not in outcome.text


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("api.txt", "pkg\n    other\n    sym\n", 3),
        ("api/pkg.txt", "other\nsym\n", 2),
        ("public_api.json", '{"pkg": ["other", "sym"], "pkg.sub": []}\n', 1),
        ("public_api.json", '{\n  "pkg": [\n    "other",\n    "sym"\n  ]\n}\n', 4),
        ("api.yaml", "pkg:\n  - other\n  - sym\n", 3),
        ("docs/api.rst", ".. currentmodule:: pkg\n\n.. autosummary::\n\n   other\n   sym\n", 6),
        ("api.toml", 'module = "pkg"\nnames = ["other", "sym"]\n', 2),
    ],
)
def test_a_file_that_lists_the_names_is_said(path: str, text: str, line: int) -> None:
    check_rewritten(
        {**FILES, path: text}, "pkg", "sym", AFTER, says=rf"warning: {path}:{line}: .*list the names of pkg"
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("notes.txt", "pkg is fast\nand has a sym in it\n"),
        ("names.txt", "other\nsym\n"),
        ("names.json", '["pkgs", "sym"]\n'),
        ("names.rst", "pkg\n===\n\nA symbol: sym is here.\n"),
        ("names.yaml", "sym: 1\npkg.sub: 2\n"),
    ],
)
def test_prose_and_lists_of_something_else_are_not(path: str, text: str) -> None:
    assert "warning:" not in check_rewritten({**FILES, path: text}, "pkg", "sym", AFTER).text
