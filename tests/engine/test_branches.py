"""Which branches of an `if` run at import."""

from __future__ import annotations

import ast
import itertools

import pytest

from codemods.engine.branches import branches

PARTS = ("False", "True", "0", "1", "None", "x")


def runs(test: str) -> tuple[bool, bool]:
    return branches(ast.parse(test, mode="eval").body)


@pytest.mark.parametrize("form", ["{}", "not {}", "{} and {}", "{} or {}", "not ({} or not {})", "{} and ({} or {})"])
def test_a_branch_is_left_out_only_if_no_value_of_the_unknown_reaches_it(form: str) -> None:
    for parts in itertools.product(PARTS, repeat=form.count("{}")):
        test = form.format(*parts)
        reached = {bool(eval(test, {"x": value})) for value in (True, False)}
        body, rest = runs(test)
        assert body or True not in reached, test
        assert rest or False not in reached, test
        if test.count("x") <= 1:  # two unknowns that are one are not followed
            assert (body, rest) == (True in reached, False in reached), test


@pytest.mark.parametrize(
    ("test", "body", "rest"),
    [
        ("TYPE_CHECKING", False, True),
        ("typing.TYPE_CHECKING and x", False, True),
        ("not TYPE_CHECKING or x", True, False),
        ("not (TYPE_CHECKING or x)", True, True),
        ("__name__ == '__main__'", False, True),
        ("__name__ == '__main__' and x", False, True),
        ("x == '__main__'", True, True),
        ("''", True, True),
        ("sys.version_info >= (3, 0)", True, True),
    ],
)
def test_what_decides(test: str, body: bool, rest: bool) -> None:
    assert runs(test) == (body, rest)
