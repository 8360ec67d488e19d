"""Docstrings: doctest examples and fenced blocks are rewritten like code; `python -m doctest` says the same afterwards."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import as_bytes, check_rewritten, outside, tree


def check(
    before: str,
    after: str,
    *,
    path: str = "main.py",
    base: Mapping[str, str | bytes] = PKG,
    narrowed: Mapping[str, str | bytes] = NARROWED,
    symbol: str = "sym",
    says: str = "",
) -> str:
    """The file is rewritten, and its examples pass before and after."""
    found = check_rewritten({**base, path: before}, "pkg", symbol, {**narrowed, path: after}, says=says)
    for files in ({**base, path: before}, {**base, **narrowed, path: after}):
        with tree(files) as root:
            done = outside(root, [sys.executable, "-m", "doctest", "-v", path], {"PYTHONPATH": str(root)})
            assert done.code == 0, done.text
            assert ">>>" in as_bytes(before).decode()
            assert "0 passed" not in done.out
    return found.text


def test_an_import_in_a_doctest_is_rewritten() -> None:
    check(
        '''
        """Run.

        >>> from pkg import sym
        >>> sym(2)
        20
        """
        ''',
        '''
        """Run.

        >>> from pkg.sub import sym
        >>> sym(2)
        20
        """
        ''',
    )


def test_a_new_statement_gets_a_prompt_and_the_indentation_of_its_neighbour() -> None:
    check(
        '''
        class A:
            def f(self):
                """F.

                    >>> from pkg import light, sym  # both
                    >>> sym(light(2))
                    20
                """
        ''',
        '''
        class A:
            def f(self):
                """F.

                    >>> from pkg import light  # both
                    >>> from pkg.sub import sym
                    >>> sym(light(2))
                    20
                """
        ''',
    )


def test_a_statement_of_several_lines_keeps_its_continuation_prompts() -> None:
    check(
        '''
        """
        >>> from pkg import (
        ...     light,
        ...     sym,
        ... )
        >>> sym(light(2))
        20
        """
        ''',
        '''
        """
        >>> from pkg import (
        ...     light,
        ... )
        >>> from pkg.sub import sym
        >>> sym(light(2))
        20
        """
        ''',
    )


def test_reads_by_attribute_follow_with_their_import() -> None:
    check(
        '''
        """
        >>> import pkg
        >>> for number in (1, 2):
        ...     print(pkg.sym(number))
        10
        20
        >>> [pkg.sym(3),
        ...  pkg.light(1)]
        [30, 1]
        """
        ''',
        '''
        """
        >>> import pkg
        >>> import pkg.sub
        >>> for number in (1, 2):
        ...     print(pkg.sub.sym(number))
        10
        20
        >>> [pkg.sub.sym(3),
        ...  pkg.light(1)]
        [30, 1]
        """
        ''',
    )


def test_an_example_that_reads_the_module_s_own_import_gets_one_of_its_own() -> None:
    check(
        '''
        import pkg


        def f():
            """
            >>> x = 1
            >>> pkg.sym(2)
            20
            """
            return pkg.light(1)
        ''',
        '''
        import pkg


        def f():
            """
            >>> x = 1
            >>> import pkg.sub
            >>> pkg.sub.sym(2)
            20
            """
            return pkg.light(1)
        ''',
    )


def test_an_example_of_the_init_that_reads_the_name_gets_an_import() -> None:
    before = PKG["pkg/__init__.py"]
    check_rewritten(
        {**PKG, "pkg/__init__.py": f'"""Ops.\n\n>>> sym(2)\n20\n"""\n{before!s}'},
        "pkg",
        "sym",
        {"pkg/__init__.py": '"""Ops.\n\n>>> from pkg.sub import sym\n>>> sym(2)\n20\n"""\nfrom .light import light\n'},
    )


def test_an_example_in_the_origin_takes_the_symbol_from_there() -> None:
    text = 'def sym(x=1):\n    """\n    >>> from pkg import sym\n    >>> sym(2)\n    20\n    """\n    return x * 10\n'
    check(text, text.replace("from pkg import", "from pkg.sub import"), path="pkg/sub.py")


def test_examples_of_one_docstring_share_a_namespace_and_prose_between_them_is_kept() -> None:
    check(
        '''
        r"""\\d

        >>> import pkg as p

        Now pkg.sym is there.

        >>> p.sym(2)  # p.sym
        20
        """
        ''',
        '''
        r"""\\d

        >>> from pkg.sub import sym

        Now pkg.sym is there.

        >>> sym(2)  # p.sym
        20
        """
        ''',
        says=r"main\.py:5",
    )


def test_escapes_in_a_literal_do_not_shift_the_edits() -> None:
    check(
        '''
        def f():
            """A tab\\t and \\\\ and \\u00e9.

            >>> print("a\\\\\\\\b"); from pkg import sym; x = sym(2)
            a\\\\b
            """
        ''',
        '''
        def f():
            """A tab\\t and \\\\ and \\u00e9.

            >>> print("a\\\\\\\\b"); from pkg.sub import sym; x = sym(2)
            a\\\\b
            """
        ''',
    )


def test_lines_that_are_escapes_are_lines() -> None:
    check(
        'def f():\n    ">>> from pkg import light, sym\\n>>> sym(light(2))\\n20"\n',
        'def f():\n    ">>> from pkg import light\\n>>> from pkg.sub import sym\\n>>> sym(light(2))\\n20"\n',
    )


def test_a_newline_escape_in_a_comment_of_an_example_is_no_hindrance() -> None:
    check(
        'import pkg as p\n\n\ndef f():\n    """\n    >>> end = chr(10)  # end = \\n\n    >>> p.sym(2)\n    20\n    """\n    p.light(1)\n',
        'import pkg as p\n\n\ndef f():\n    """\n    >>> end = chr(10)  # end = \\n\n    >>> from pkg.sub import sym\n'
        '    >>> sym(2)\n    20\n    """\n    p.light(1)\n',
    )


def test_a_backslash_that_joins_lines_is_no_hindrance() -> None:
    check(
        '"""One \\\nline.\n\n>>> from pkg import sym\n"""\n',
        '"""One \\\nline.\n\n>>> from pkg.sub import sym\n"""\n',
    )


@pytest.mark.parametrize("read", ["from pkg import sym", "import pkg as p; p.sym(2)"])
def test_a_docstring_of_two_literals_is_warned_of(read: str) -> None:
    text = f'def f():\n    (\n        "F.\\n"\n        ">>> {read}\\n"\n    )\n'
    check_rewritten(
        {**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED), says=r"warning: main\.py:[34]: a doctest reads"
    )


def test_a_backslash_after_the_opening_quotes_is_no_hindrance() -> None:
    check('"""\\\n>>> from pkg import sym\n"""\n', '"""\\\n>>> from pkg.sub import sym\n"""\n')


def test_crlf_is_kept() -> None:
    before = '"""\r\n>>> from pkg import light, sym\r\n>>> sym(light(2))\r\n20\r\n"""\r\n'
    check(before, before.replace("import light, sym", "import light\r\n>>> from pkg.sub import sym"))


def test_an_example_that_ends_with_the_quotes_can_grow() -> None:
    check('""">>> from pkg import light, sym"""\n', '""">>> from pkg import light\n>>> from pkg.sub import sym"""\n')


def test_an_example_that_does_not_parse_is_warned_of_and_the_others_are_rewritten() -> None:
    before = '"""\n>>> from pkg import sym ...\n\n>>> from pkg import sym\n"""\n'
    after = '"""\n>>> from pkg import sym ...\n\n>>> from pkg.sub import sym\n"""\n'
    tree = {**PKG, "main.py": before}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, "main.py": after}, says=r"warning: main\.py:2: a doctest reads")


def test_what_would_be_a_refusal_in_code_is_a_warning_in_an_example() -> None:
    text = '"""\n>>> import pkg\n>>> pkg.sym = 3\n>>> pkg.sym\n3\n"""\n'
    after = '"""\n>>> import pkg\n>>> import pkg.sub\n>>> pkg.sym = 3\n>>> pkg.sub.sym\n3\n"""\n'
    tree = {**PKG, "main.py": text}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, "main.py": after}, says=r"warning: main\.py:3: a doctest is left")


def test_a_fenced_block_in_a_docstring_is_rewritten() -> None:
    check(
        'def f():\n    """\n    >>> 1\n    1\n\n    ```python\n    from pkg import light, sym\n    ```\n    """\n',
        'def f():\n    """\n    >>> 1\n    1\n\n    ```python\n    from pkg import light\n    from pkg.sub import sym\n    ```\n    """\n',
    )


def test_a_function_of_its_module_s_name_is_imported_in_the_example() -> None:
    check(
        '"""\n>>> import pkg\n>>> pkg.fused(2)\n20\n>>> from pkg.fused import other\n>>> other()\n\'other\'\n"""\n',
        '"""\n>>> from pkg.fused import fused\n>>> fused(2)\n20\n>>> from pkg.fused import other\n>>> other()\n\'other\'\n"""\n',
        base=SAME,
        narrowed=SAME_NARROWED,
        symbol="fused",
    )


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ('__test__ = {"more": """', '"""}\n'),
        ('__doc__ = """', '"""\n'),
        ('def f():\n    pass\n\n\nf.__doc__ = """', '"""\n'),
        ('def f():\n    pass\n\n\n_doc = """', '"""\nf.__doc__ = _doc\n'),
    ],
)
def test_other_strings_that_doctest_runs_are_rewritten_too(head: str, tail: str) -> None:
    check(
        f"{head}\n>>> from pkg import sym\n>>> sym(2)\n20\n{tail}",
        f"{head}\n>>> from pkg.sub import sym\n>>> sym(2)\n20\n{tail}",
    )


def test_a_string_that_is_no_docstring_is_left_alone() -> None:
    text = 'TEXT = """\n>>> from pkg import sym\n"""\n'
    check_rewritten({**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED))


@pytest.mark.parametrize("quote", ["'''", '"""'])
def test_a_docstring_of_a_stub_is_like_any_other(quote: str) -> None:
    text = f"def f() -> None:\n    {quote}\n    >>> from pkg import sym\n    {quote}\n"
    after = text.replace("from pkg import", "from pkg.sub import")
    check_rewritten({**PKG, "main.pyi": text}, "pkg", "sym", {**NARROWED, "main.pyi": after})


def test_a_skipped_example_stays_skipped() -> None:
    before = '"""\n>>> from pkg import light, sym  # doctest: +SKIP\n>>> 1\n1\n"""\n'
    after = (
        '"""\n>>> from pkg import light  # doctest: +SKIP\n'
        '>>> from pkg.sub import sym  # doctest: +SKIP\n>>> 1\n1\n"""\n'
    )
    check(before, after)


def test_an_import_that_skipped_examples_alone_need_is_skipped() -> None:
    text = 'import pkg\n\n\ndef f():\n    """\n    >>> pkg.sym("x" * 0)  # doctest: +SKIP\n    20\n    """\n    pkg.light(1)\n'
    after = text.replace(">>> pkg.sym", ">>> import pkg.sub  # doctest: +SKIP\n    >>> pkg.sub.sym")
    check_rewritten({**PKG, "main.py": text}, "pkg", "sym", {**NARROWED, "main.py": after})


def test_an_import_that_only_examples_read_is_kept() -> None:
    before = 'import pkg as p\n\n\ndef f():\n    """\n    >>> p.light(2)\n    2\n    """\n    return p.sym(1)\n'
    after = (
        "import pkg as p\nfrom pkg.sub import sym\n\n\ndef f():\n"
        '    """\n    >>> p.light(2)\n    2\n    """\n    return sym(1)\n'
    )
    check(before, after)


def test_a_submodule_that_only_the_package_loaded_is_imported_in_the_example() -> None:
    check(
        '"""\n>>> import pkg\n>>> pkg.sub.Sym.limit\n3\n"""\n',
        '"""\n>>> import pkg\n>>> import pkg.sub\n>>> pkg.sub.Sym.limit\n3\n"""\n',
    )


def test_an_accept_comment_leaves_an_example() -> None:
    text = '"""\n>>> import pkg\n>>> pkg.sym(2)  # codemods: accept narrow_reexport\n20\n"""\n'
    outcome = check_rewritten({**PKG, "main.py": text}, "pkg", "sym", dict(NARROWED))
    assert "warning: main.py" not in outcome.text


def test_an_alias_that_a_guard_binds_otherwise_is_followed() -> None:
    head = "try:\n    import pkg as p\nexcept ImportError:\n    p = None\n\n\ndef f():\n"
    check(
        f'{head}    """\n    >>> p.sym(2)\n    20\n    """\n',
        f'{head}    """\n    >>> from pkg.sub import sym\n    >>> sym(2)\n    20\n    """\n',
    )


def test_an_example_that_reads_what_the_module_s_star_gave_gets_an_import() -> None:
    head = "from pkg import *\n\n\ndef f():\n"
    check(
        f'{head}    """\n    >>> sym(2)\n    20\n    """\n    return light(1)\n',
        f'{head}    """\n    >>> from pkg.sub import sym\n    >>> sym(2)\n    20\n    """\n    return light(1)\n',
    )
