"""Types written as text are rewritten like code; the same spelling as a label is not."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten, narrow, tree

CLASS: dict[str, str | bytes] = {**PKG, "pkg/__init__.py": "from .light import light\nfrom .sub import Sym\n"}


def types(before: str, after: str, *, run: bool = True) -> None:
    check_rewritten(
        {**CLASS, "main.py": before},
        "pkg",
        "Sym",
        {**NARROWED, "main.py": after},
        run=["main"] if run else [],
        unloaded=["pkg.sub"],
    )


HINTS = (
    "\nimport typing\n"
    "print(sorted((k, getattr(v, '__name__', str(v)[-9:])) for k, v in typing.get_type_hints(f).items()))\n"
)


@pytest.mark.parametrize(
    "code",
    [
        'def f(x: "pkg.Sym") -> None: ...',
        "def f(x: 'pkg.Sym') -> None: ...",
        'def f() -> "pkg.Sym": ...',
        'def f(*x: "list[pkg.Sym]", **y: "pkg.Sym | None"): ...',
        "def f(x: pkg.Sym) -> pkg.Sym: ...",
        'class f:\n    x: "pkg.Sym"',
    ],
)
def test_an_annotation_is_rewritten(code: str) -> None:
    text = f"import pkg\n\n\n{code}\n{HINTS}"
    types(text, text.replace("import pkg\n", "import pkg.sub\n", 1).replace("pkg.Sym", "pkg.sub.Sym"))


def test_annotations_under_the_future_import_are_rewritten() -> None:
    text = (
        f"from __future__ import annotations\n\nimport pkg\n\n\n"
        f"def f(x: pkg.Sym | None, y: list[pkg.Sym]) -> pkg.Sym: ...\n{HINTS}"
    )
    types(text, text.replace("import pkg\n", "import pkg.sub\n", 1).replace("pkg.Sym", "pkg.sub.Sym"))


@pytest.mark.parametrize(
    "code",
    [
        'x = typing.cast("pkg.Sym", 3)',
        'x = typing.cast("list[pkg.Sym]", 3)',
        'x = typing.TypeVar("x", bound="pkg.Sym")',
        'x = typing.NewType("x", "pkg.Sym")',
        'x: "pkg.Sym" = None',
    ],
)
def test_a_typing_call_is_rewritten(code: str) -> None:
    text = f"import typing\n\nimport pkg\n\n{code}\nprint(type(x).__name__)\n"
    types(text, text.replace("import pkg\n", "import pkg.sub\n", 1).replace("pkg.Sym", "pkg.sub.Sym"))


def test_a_type_comment_is_rewritten() -> None:
    text = "import pkg\n\nx = []  # type: list[pkg.Sym]\nprint(x, pkg.light(1))\n"
    types(text, "import pkg\nimport pkg.sub\n\nx = []  # type: list[pkg.sub.Sym]\nprint(x, pkg.light(1))\n")


def test_a_type_ignore_comment_is_left_alone() -> None:
    text = "import pkg\n\nx = pkg.light(1)  # type: ignore[Sym]\nprint(x)\n"
    types(text, text)


def test_a_string_of_a_literal_type_is_a_value() -> None:
    text = "import typing\n\nimport pkg\n\n\ndef f(x: typing.Literal['Sym']): ...\n\n\nprint(pkg.light(1))\n"
    types(text, text)


def test_a_bare_name_in_a_string_annotation_follows_its_import() -> None:
    text = f'from pkg import Sym\n\n\ndef f(x: "Sym") -> "list[Sym]": ...\n{HINTS}'
    types(text, text.replace("from pkg import", "from pkg.sub import"))


def test_a_name_for_type_checkers_only_is_rewritten_there() -> None:
    text = (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import pkg\n\n\n"
        'def f(x: "pkg.Sym"): ...\n\n\nprint(1)\n'
    )
    types(text, text.replace("import pkg\n", "import pkg.sub\n").replace("pkg.Sym", "pkg.sub.Sym"))


def test_a_label_that_spells_the_path_is_not_rewritten() -> None:
    check_refused(
        {**CLASS, "main.py": 'import pkg\n\nLABEL = "pkg.Sym"\nprint(pkg.light(1))\n'},
        "pkg",
        "Sym",
        "exactly pkg.Sym",
        at="main.py:3",
    )


def test_a_type_put_together_from_parts_is_refused() -> None:
    code = 'import pkg\n\n\ndef f(x: "list[" "pkg.Sym]"): ...\n'
    check_refused({**CLASS, "main.py": code}, "pkg", "Sym", "parts", at="main.py:4")


def test_a_parameter_named_like_the_package_does_not_hide_it_from_annotations() -> None:
    text = f"import pkg\n\n\ndef f(pkg: pkg.Sym): ...\n{HINTS}"
    types(text, text.replace("import pkg\n", "import pkg.sub\n", 1).replace("pkg.Sym", "pkg.sub.Sym"))


def test_a_second_run_tells_the_module_of_the_symbols_name_in_a_type_comment() -> None:
    before: dict[str, str | bytes] = {
        "pkg/__init__.py": "from .Sym import Sym\n",
        "pkg/Sym.py": "class Sym: ...\n",
        "main.py": "try:\n    import pkg.Sym\nexcept Exception:\n    raise\nelse:\n\n    class D(pkg.Sym): ...\n\n"
        "    x = [pkg.Sym()]  # type: list[pkg.Sym]\nimport pkg.Sym\n"
        "\n\nclass E(pkg.Sym): ...\n\n\nprint(len(x), D.__name__, E.__mro__[1].__module__)\n",
        "test_it.py": "from unittest import mock\n\n\n@mock.patch('pkg.Sym')\ndef test_it(_):\n    return 1\n",
    }
    with tree(before) as root:
        old = oracle.run_programs(root, ["main", "test_it"])
        outcome = narrow(root, "pkg", "Sym")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main", "test_it"]))
        assert "# type: list[pkg.Sym.Sym]" in (root / "main.py").read_text()
        assert narrow(root, "pkg", "Sym").code == 0
