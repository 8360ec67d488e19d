"""Documents: doctest examples, fenced blocks and code directives are rewritten; all else is told."""

from __future__ import annotations

import sys

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import check_rewritten, outside, tree


def check(before: str | bytes, after: str | bytes, *, path: str = "README.md", says: str = "") -> str:
    return check_rewritten({**PKG, path: before}, "pkg", "sym", {**NARROWED, path: after}, says=says).text


def stays(text: str, *, path: str = "README.md", says: str = "") -> str:
    return check(text, text, path=path, says=says)


OLD, NEW = "from pkg import sym\nsym(2)\n", "from pkg.sub import sym\nsym(2)\n"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("```python", "```"),
        ("```py", "```"),
        ("``` python3", "```"),
        ("~~~python", "~~~"),
        ("````python", "````"),
        ('```python title="a.py" hl_lines="1"', "```"),
        ("```{python}", "```"),
        ("```{.python .numberLines}", "```"),
        ("```{code-cell} ipython3\n:tags: [x]\n", "```"),
        ("```{code-block} python", "```"),
    ],
)
def test_a_fenced_block_of_python_is_rewritten(opening: str, closing: str) -> None:
    check(f"# Ops\n\n{opening}\n{OLD}{closing}\n", f"# Ops\n\n{opening}\n{NEW}{closing}\n")


@pytest.mark.parametrize("language", ["bash", "text", "toml", "", "pythonic", "rust"])
def test_a_block_of_another_language_is_left_alone(language: str) -> None:
    stays(f"```{language}\n{OLD}```\n", says=r"README\.md:2")


@pytest.mark.parametrize(
    "directive",
    [
        ".. code-block:: python",
        ".. code:: python",
        ".. testcode::",
        ".. sourcecode:: python3",
        ".. code-block:: python\n   :linenos:",
    ],
)
def test_a_code_directive_is_rewritten(directive: str) -> None:
    before = f"Ops\n===\n\n{directive}\n\n   from pkg import sym\n   sym(2)\n\nMore.\n"
    check(before, before.replace("from pkg import", "from pkg.sub import"), path="docs/index.rst")


def test_a_directive_of_another_language_is_left_alone() -> None:
    stays(".. code-block:: bash\n\n   from pkg import sym\n", path="docs/index.rst", says=r"index\.rst:3")


def test_a_new_line_is_indented_like_its_block() -> None:
    check(
        "1. First:\n\n   ```python\n   from pkg import light, sym\n   ```\n\n- ```py\n  from pkg import light, sym\n  ```\n",
        "1. First:\n\n   ```python\n   from pkg import light\n   from pkg.sub import sym\n   ```\n\n"
        "- ```py\n  from pkg import light\n  from pkg.sub import sym\n  ```\n",
    )


def test_a_block_in_a_quotation_keeps_its_marks() -> None:
    check(
        "> ```python\n> from pkg import light, sym\n> ```\n",
        "> ```python\n> from pkg import light\n> from pkg.sub import sym\n> ```\n",
    )


def test_a_block_that_is_indented_as_a_whole_is_parsed_all_the_same() -> None:
    check(
        "```python\n    from pkg import light, sym\n    x = 1\n```\n",
        "```python\n    from pkg import light\n    from pkg.sub import sym\n    x = 1\n```\n",
    )


def test_a_block_reads_what_an_earlier_block_imported() -> None:
    check(
        "```python\nimport pkg\n```\n\nThen:\n\n```python\nx = 1\ny = pkg.sym(2)\n```\n",
        "```python\nimport pkg\n```\n\nThen:\n\n```python\nx = 1\nimport pkg.sub\ny = pkg.sub.sym(2)\n```\n",
    )


def test_a_block_without_an_import_is_a_mention() -> None:
    text = stays("```python\npkg.sym(2)\n```\n", says=r"README\.md:2")
    assert "warning: README" not in text


def test_a_block_that_does_not_parse_is_a_mention() -> None:
    text = stays("```python\n$ pip install pkg\nfrom pkg import sym\n```\n", says=r"README\.md:3")
    assert "warning: README" not in text


def test_the_other_blocks_are_rewritten_beside_one_that_does_not_parse() -> None:
    broken = "```python\n$ pip\nfrom pkg import sym\n```\n\n"
    check(f"{broken}```python\n{OLD}```\n", f"{broken}```python\n{NEW}```\n")


def test_what_would_be_a_refusal_in_code_is_a_warning() -> None:
    stays("```python\nimport pkg\npkg.sym = 3\n```\n", says=r"warning: README\.md:3: a document's code is left")


def test_roles_and_prose_are_mentions() -> None:
    text = stays("See :func:`pkg.sym`, ``pkg.sym``.\n\n.. autofunction:: pkg.sym\n", path="api.rst", says=r"api\.rst:1")
    assert "warning: api" not in text


def test_a_fence_that_nothing_closes_is_left_alone() -> None:
    stays(f"```python\n{OLD}", says=r"README\.md:2")


EXAMPLES = "Ops\n\n    >>> import pkg\n    >>> pkg.sym(2)\n    20\n\nText.\n\n>>> from pkg import light, sym\n>>> sym(light(1))\n10\n"
EXAMPLES_AFTER = (
    "Ops\n\n    >>> import pkg.sub\n    >>> pkg.sub.sym(2)\n    20\n\nText.\n\n"
    ">>> from pkg import light\n>>> from pkg.sub import sym\n>>> sym(light(1))\n10\n"
)


@pytest.mark.parametrize("path", ["README.md", "docs/ops.rst", "notes.txt"])
def test_the_examples_of_a_page_pass_before_and_after(path: str) -> None:
    check(EXAMPLES, EXAMPLES_AFTER, path=path)
    for files in ({**PKG, path: EXAMPLES}, {**PKG, **NARROWED, path: EXAMPLES_AFTER}):
        with tree(files) as root:
            done = outside(root, [sys.executable, "-m", "doctest", path], {"PYTHONPATH": str(root)})
            assert (done.code, done.out) == (0, "")


def test_prompts_inside_a_fence_are_examples() -> None:
    check(
        "```pycon\n>>> from pkg import sym\n>>> sym(2)\n20\n```\n",
        "```pycon\n>>> from pkg.sub import sym\n>>> sym(2)\n20\n```\n",
    )


def test_crlf_and_a_missing_last_newline_are_kept() -> None:
    before = b"```python\r\nfrom pkg import light, sym\r\n```"
    check(before, before.replace(b"light, sym", b"light\r\nfrom pkg.sub import sym"))


def test_magics_in_a_block_are_kept() -> None:
    check(
        "```python\n%pip install pkg\nimport pkg\npkg.sym(2)\n```\n",
        "```python\n%pip install pkg\nimport pkg.sub\npkg.sub.sym(2)\n```\n",
    )


def test_a_page_that_is_not_utf_8_is_not_edited() -> None:
    text = "caf\xe9\n\n```python\nfrom pkg import sym\n```\n".encode("latin-1")
    check(text, text, says=r"warning: README\.md:4")


def test_a_function_of_its_module_s_name_is_imported_from_the_module() -> None:
    before = "```python\nimport pkg\npkg.fused(2)\n```\n\n```python\nfrom pkg import fused\n```\n"
    after = "```python\nfrom pkg.fused import fused\nfused(2)\n```\n\n```python\nfrom pkg.fused import fused\n```\n"
    check_rewritten({**SAME, "README.md": before}, "pkg", "fused", {**SAME_NARROWED, "README.md": after})


def test_an_accept_comment_leaves_a_line_of_a_block() -> None:
    stays("```python\nimport pkg\npkg.sym(2)  # codemods: accept narrow_reexport\n```\n")


def test_a_name_that_a_block_above_binds_anew_is_left_alone() -> None:
    stays(
        "```python\nimport pkg\n```\n\n```python\npkg = load()\n```\n\n```python\npkg.sym(2)\n```\n",
        says=r"README\.md:10",
    )


def test_a_submodule_that_only_the_package_loaded_is_imported_in_a_block() -> None:
    check(
        "```python\nimport pkg\nprint(pkg.sub.Sym)\n```\n",
        "```python\nimport pkg\nimport pkg.sub\nprint(pkg.sub.Sym)\n```\n",
    )


def test_what_only_a_page_reads_through_the_package_is_kept() -> None:
    tree = {
        "pkg/__init__.py": "from .sub import *\n",
        "pkg/sub.py": "import os\n\n\ndef sym():\n    pass\n",
        "README.md": "```python\nimport pkg\npkg.os.getcwd()\n```\n",
    }
    check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": "from .sub import os\n"})


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "README.md",
            "```python\nimport pkg\n\npkg.sym(2)\n```\n",
            "```python\nimport pkg.sub\n\npkg.sub.sym(2)\n```\n",
        ),
        (
            "shown.py",
            '"""Shown.\n\n>>> import pkg\n>>> pkg.sym(2)\n20\n"""\n',
            '"""Shown.\n\n>>> import pkg.sub\n>>> pkg.sub.sym(2)\n20\n"""\n',
        ),
    ],
)
def test_an_example_reads_an_optional_reexport_as_if_it_were_there(path: str, before: str, after: str) -> None:
    # a second run no longer sees that it was optional, and would rewrite what this one left
    guarded = "try:\n    from .sub import sym\nexcept ImportError:\n    pass\n"
    files = {**PKG, "pkg/__init__.py": f"from .light import light\n{guarded}", path: before}
    check_rewritten(files, "pkg", "sym", {**NARROWED, path: after})
