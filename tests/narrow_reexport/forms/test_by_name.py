"""Attributes of the package read by a literal name: `getattr(pkg, "sym")` and its kin, rewritten."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, moves, same_moves
from tests.narrow_reexport.verbs import check_refused, check_rewritten, check_unchanged


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('getattr(pkg, "sym")(2)', 'getattr(pkg.sub, "sym")(2)'),
        ("getattr(pkg, 'sym', None)(2)", "getattr(pkg.sub, 'sym', None)(2)"),
        ('getattr(pkg, "sym", print("x"))(2)', 'getattr(pkg.sub, "sym", print("x"))(2)'),
        ('getattr(pkg, "sym", pkg.sym)(2)', 'getattr(pkg.sub, "sym", pkg.sub.sym)(2)'),
        ('hasattr(pkg, "sym")', 'hasattr(pkg.sub, "sym")'),
        ('vars(pkg)["sym"](2)', "pkg.sub.sym(2)"),
        ('vars(pkg).get("sym", None)(2)', "pkg.sub.sym(2)"),
        ('pkg.__dict__["sym"](2)', "pkg.sub.sym(2)"),
        ('pkg.__dict__.get("sym")(2)', "pkg.sub.sym(2)"),
        ('operator.attrgetter("sym")(pkg)(2)', 'operator.attrgetter("sym")(pkg.sub)(2)'),
        ('operator.attrgetter("sym.__name__")(pkg)', 'operator.attrgetter("sym.__name__")(pkg.sub)'),
        ('operator.methodcaller("sym", 2)(pkg)', 'operator.methodcaller("sym", 2)(pkg.sub)'),
        ('inspect.getattr_static(pkg, "sym")(2)', 'inspect.getattr_static(pkg.sub, "sym")(2)'),
        ('pkg.__getattribute__("sym")(2)', 'pkg.sub.__getattribute__("sym")(2)'),
        ('object.__getattribute__(pkg, "sym")(2)', 'object.__getattribute__(pkg.sub, "sym")(2)'),
        ('(getattr)((pkg), "sym")(2)', '(getattr)((pkg.sub), "sym")(2)'),
        ('getattr(  # late\n    pkg, "sym")(2)', 'getattr(  # late\n    pkg.sub, "sym")(2)'),
    ],
)
def test_a_literal_read_goes_to_the_module_of_the_origin(before: str, after: str) -> None:
    head = "import inspect\nimport operator\n"
    moves(f"{head}import pkg\n\nprint({before})\n", f"{head}import pkg.sub\n\nprint({after})\n")


def test_the_package_stays_imported_where_something_else_reads_it() -> None:
    moves(
        'import pkg\n\nprint(getattr(pkg, "sym")(2), getattr(pkg, "light")(2))\n',
        'import pkg\nimport pkg.sub\n\nprint(getattr(pkg.sub, "sym")(2), getattr(pkg, "light")(2))\n',
    )


def test_a_read_in_a_function_stays_late() -> None:
    moves(
        """
        def f():
            import pkg

            return getattr(pkg, "sym", None)

        print(f()(2))
        """,
        """
        def f():
            import pkg.sub

            return getattr(pkg.sub, "sym", None)

        print(f()(2))
        """,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('getattr(p, "sym")(2)', "sym(2)"),
        ('getattr(p, "sym", None)(2)', "sym(2)"),
        ('p.__dict__["sym"](2)', "sym(2)"),
        ('attrgetter("sym")(p)(2)', "sym(2)"),
    ],
)
def test_under_an_alias_the_name_itself_is_imported(before: str, after: str) -> None:
    head = "from operator import attrgetter\n\n"
    moves(
        f"{head}import pkg as p\n\nprint({before}, p.light(1), attrgetter)\n",
        f"{head}import pkg as p\nfrom pkg.sub import sym\n\nprint({after}, p.light(1), attrgetter)\n",
    )


def test_a_question_under_an_alias_is_asked_of_the_module() -> None:
    moves(
        'import pkg as p\n\nprint(hasattr(p, "sym"), p.light(1))\n',
        'import pkg as p\nimport pkg.sub\n\nprint(hasattr(p.sub, "sym"), p.light(1))\n',
    )


def test_a_symbol_that_has_the_name_of_its_module_is_imported_from_it() -> None:
    same_moves(
        'import pkg\n\nprint(getattr(pkg, "fused")(2))\n',
        "from pkg.fused import fused\n\nprint(fused(2))\n",
    )


def test_a_question_after_the_name_of_a_module_is_refused() -> None:
    check_refused(
        {**SAME, "main.py": 'import pkg\n\nprint(hasattr(pkg, "fused"))\n'},
        "pkg",
        "fused",
        "origin|clobber",
        at="main.py:3",
    )


RENAMED: dict[str, str | bytes] = {
    **PKG,
    "pkg/__init__.py": "from .light import light\nfrom .sub import _impl as sym\n",
    "pkg/sub.py": "def _impl(x=1):\n    return x * 10\n",
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("getattr(pkg, 'sym')(2)", "getattr(pkg.sub, '_impl')(2)"),
        ('vars(pkg)["sym"](2)', "pkg.sub._impl(2)"),
        ('operator.attrgetter("sym.__name__")(pkg)', 'operator.attrgetter("_impl.__name__")(pkg.sub)'),
    ],
)
def test_the_literal_follows_where_the_origin_has_another_name(before: str, after: str) -> None:
    check_rewritten(
        {**RENAMED, "main.py": f"import operator\nimport pkg\n\nprint({before})\n"},
        "pkg",
        "sym",
        {**NARROWED, "main.py": f"import operator\nimport pkg.sub\n\nprint({after})\n"},
        run=["main"],
    )


def test_an_attrgetter_that_goes_through_the_parent_follows() -> None:
    check_rewritten(
        {
            "top/__init__.py": "",
            **{f"top/{path}": text for path, text in PKG.items()},
            "main.py": 'import operator\nimport top.pkg\n\nprint(operator.attrgetter("pkg.sym")(top)(2))\n',
        },
        "top.pkg",
        "sym",
        {
            "top/pkg/__init__.py": NARROWED["pkg/__init__.py"],
            "main.py": ('import operator\nimport top.pkg.sub\n\nprint(operator.attrgetter("sym")(top.pkg.sub)(2))\n'),
        },
        run=["main"],
        unloaded=["top.pkg.sub"],
    )


OPTIONAL: dict[str, str | bytes] = {
    **PKG,
    "pkg/__init__.py": "from .light import light\n\ntry:\n    from .sub import sym\nexcept ImportError:\n    pass\n",
}


@pytest.mark.parametrize(
    "code", ['hasattr(pkg, "sym")', 'getattr(pkg, "sym", None)', 'vars(pkg).get("sym")', 'getattr(pkg, "sym")']
)
def test_a_question_after_an_optional_name_is_refused(code: str) -> None:
    check_refused({**OPTIONAL, "main.py": f"import pkg\n\nprint({code})\n"}, "pkg", "sym", "optional", at="main.py:3")


def test_a_question_after_a_name_that_is_gone_already_is_a_warning() -> None:
    tree = {
        **PKG,
        **NARROWED,
        "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n',
        "main.py": 'import pkg\n\nprint(hasattr(pkg, "sym"))\n',
    }
    check_unchanged(tree, "pkg", "sym", says=r"main\.py:3")
