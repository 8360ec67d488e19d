"""What counts as Python in a page, and where it stands."""

from __future__ import annotations

import pytest

from codemods.narrow_reexport.forms.shown import blocks, examples, lines_of


def code_in(text: str) -> list[str]:
    return ["\n".join(row.code for row in block.rows) for block in blocks(lines_of(text), "\n", str)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```python\na\n```\n", ["a"]),
        ("```python\na\n  b\n```\n```py\nc\n```", ["a\n  b", "c"]),
        ("````python\n```\na\n````\n", ["```\na"]),
        ("```text\n```python\n```\na\n", []),
        ("   ```python\n   a\n\n   b\n   ```\n", ["a\n\nb"]),
        (".. code:: python\n\n   a\n\n     b\n\nc\n", ["a\n\n  b"]),
        (".. code-block:: python\n   :name: x\n   :linenos:\n\n   a\n", ["a"]),
        (".. code-block:: python\n\nno\n", []),
        (".. code-block:: c\n\n   a\n", []),
        ("```python\n>>> a\n```\n", []),
        ("````md\n```python\na\n```\n````\n", []),
    ],
)
def test_blocks(text: str, found: list[str]) -> None:
    assert code_in(text) == found


def test_each_character_knows_its_place() -> None:
    text = "- ```python\n  a = 1\n  ```\n\n>>> b(\n...   c)\nd\n"
    for snippet in (*blocks(lines_of(text), "\n", str), *examples(lines_of(text), "\n", str)):
        for row in snippet.rows:
            assert text[row.marks[0] : row.end] == row.code
            assert text[row.after - 1] == "\n"


def test_examples_stand_line_below_line_or_apart() -> None:
    text = ">>> a\n>>> b(\n...   c)\nout\n>>> d\n  >>> e\n...\n...no\n"
    found = examples(lines_of(text), "\n", str)
    assert [[row.code for row in snippet.rows] for snippet in found] == [["a", "b(", "  c)"], ["d"], ["e"]]
    assert [row.opens for row in found[0].rows] == [True, True, False]
