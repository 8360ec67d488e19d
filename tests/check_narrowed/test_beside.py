"""Comments inside expressions: for which lines they speak."""

from __future__ import annotations

import pytest

from codemods.check_narrowed.verdicts import taken_on


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("f(\n    g(\n        1,\n    ),  # lint-ignore\n    h(),\n)\n", {2, 3, 4}),
        ("f(\n    a=g(\n        1,\n    ),  # lint-ignore\n)\n", {2, 3, 4}),
        ("x = [\n    # lint-ignore\n    a,\n    b,\n]\n", {1, 2, 3, 4, 5}),
        ("x = [  # lint-ignore\n    a,\n]\n", {1}),
        ("x = [\n    a,\n    b  # lint-ignore\n]\n", {1, 2, 3, 4}),
        ("x = [\n    a,\n    b,  # lint-ignore\n]\n", {3}),
        ("x = y[\n    a  # lint-ignore\n]\n", {1, 2, 3}),
        ("x = {\n    a  # lint-ignore\n}\n", {2}),
        ("@a\n# lint-ignore\n@b\ndef f():\n    pass\n", {1, 2, 3, 4}),
    ],
)
def test_a_comment_speaks_for_these_lines(text: str, taken: set[int]) -> None:
    assert taken_on("main.py", text.encode()) == taken
