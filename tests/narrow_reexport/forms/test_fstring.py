"""Reads inside f-strings: the code changes, the text does not."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import answered, moves


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('f"{pkg.sym(2)}"', 'f"{pkg.sub.sym(2)}"'),
        ("f'{pkg.sym(2)!r}'", "f'{pkg.sub.sym(2)!r}'"),
        ('f"{pkg.sym(2):>5}"', 'f"{pkg.sub.sym(2):>5}"'),
        ('f"{1:>{pkg.sym(1)}}"', 'f"{1:>{pkg.sub.sym(1)}}"'),
        ('f"ä {pkg.sym(2)} ö {pkg.sym(3)}"', 'f"ä {pkg.sub.sym(2)} ö {pkg.sub.sym(3)}"'),
        ('f"pkg.sym {pkg.sym(2)} {{pkg.sym}}"', 'f"pkg.sym {pkg.sub.sym(2)} {{pkg.sym}}"'),
        ('f"""\n{pkg.sym(2)}\n  {pkg.sym(3)}\n"""', 'f"""\n{pkg.sub.sym(2)}\n  {pkg.sub.sym(3)}\n"""'),
        ('f"a" f"{pkg.sym(2)}" "b"', 'f"a" f"{pkg.sub.sym(2)}" "b"'),
        ('rf"\\d{pkg.sym(2)}"', 'rf"\\d{pkg.sub.sym(2)}"'),
        ("f\"{f'{pkg.sym(2)}'}\"", "f\"{f'{pkg.sub.sym(2)}'}\""),
        ('f"{pkg.light(pkg.sym(2))}"', None),
    ],
)
def test_the_expression_is_rewritten_and_the_text_stays(before: str, after: str | None) -> None:
    if after is None:
        moves(
            f"import pkg\n\nprint({before})\n", 'import pkg\nimport pkg.sub\n\nprint(f"{pkg.light(pkg.sub.sym(2))}")\n'
        )
        return
    moves(f"import pkg\n\nprint({before})\n", f"import pkg.sub\n\nprint({after})\n")


@pytest.mark.parametrize(
    "text",
    [
        'f"{pkg.sym(2)=}"',
        'f"{pkg.sym(2) = }"',
        'f"{pkg.sym(2)=!s}"',
        'f"{pkg.sym(2)=:>5}"',
        'f"{ pkg.sym( 2 ) = !r:>9}"',
        "f'{pkg.sym(len(\"ab\"))=}'",
    ],
)
def test_a_self_documenting_expression_prints_the_same_or_is_refused(text: str) -> None:
    answered(f"import pkg\n\nprint({text})\n", "main.py:3")


def test_a_self_documenting_expression_writes_its_text_out() -> None:
    moves('import pkg\n\nprint(f"{pkg.sym(2)=}")\n', 'import pkg.sub\n\nprint(f"pkg.sym(2)={pkg.sub.sym(2)!r}")\n')


def test_an_alias_in_an_f_string_becomes_the_bare_name() -> None:
    moves(
        'import pkg as p\n\nprint(f"{p.sym(2)} {p.light(1)}")\n',
        'import pkg as p\nfrom pkg.sub import sym\n\nprint(f"{sym(2)} {p.light(1)}")\n',
    )


def test_a_literal_brace_text_is_no_read() -> None:
    moves(
        'import pkg\n\nprint(f"{{pkg.sym}} {pkg.light(1)}")\n', 'import pkg\n\nprint(f"{{pkg.sym}} {pkg.light(1)}")\n'
    )
