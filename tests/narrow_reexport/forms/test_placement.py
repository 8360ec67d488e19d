"""Where a new import stands: in place, joined, or at its sorted place; and how long its line may be."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, moves, stays
from tests.narrow_reexport.verbs import check_rewritten


def test_an_unsorted_block_keeps_its_order() -> None:
    moves(
        "import sys\nfrom pkg import sym\nimport os\n\nprint(sym(2), os.sep, sys.byteorder)\n",
        "import sys\nfrom pkg.sub import sym\nimport os\n\nprint(sym(2), os.sep, sys.byteorder)\n",
    )


def test_in_a_sorted_block_the_new_statement_alone_moves_to_its_place() -> None:
    more = {"pkg/names.py": "A = 1\n", "quality.py": "Q = 1\n"}
    moves(
        (
            "import os\n\nfrom pkg import sym\nfrom pkg.names import A\n"
            "from quality import Q\n\nprint(sym(2), A, Q, os.sep)\n"
        ),
        (
            "import os\n\nfrom pkg.names import A\nfrom pkg.sub import sym\n"
            "from quality import Q\n\nprint(sym(2), A, Q, os.sep)\n"
        ),
        more=more,
    )


def test_it_never_moves_over_a_statement_that_is_no_import() -> None:
    more = {"pkg/names.py": "A = 1\n"}
    moves(
        "from pkg import sym\nB = 2\nfrom pkg.names import A\n\nprint(sym(2), A, B)\n",
        "from pkg.sub import sym\nB = 2\nfrom pkg.names import A\n\nprint(sym(2), A, B)\n",
        more=more,
    )


def test_it_never_moves_over_a_blank_line() -> None:
    more = {"pkg/names.py": "A = 1\n"}
    moves(
        "from pkg import sym\n\nfrom pkg.names import A\n\nprint(sym(2), A)\n",
        "from pkg.sub import sym\n\nfrom pkg.names import A\n\nprint(sym(2), A)\n",
        more=more,
    )


def test_an_import_that_binds_the_same_name_is_not_crossed() -> None:
    more = {"pkg/names.py": "def sym(x):\n    return 'names'\n"}
    moves(
        "from pkg import sym\nfrom pkg.names import sym\n\nprint(sym(2))\n",
        "from pkg.sub import sym\nfrom pkg.names import sym\n\nprint(sym(2))\n",
        more=more,
    )


def test_an_isort_comment_keeps_everything_in_place() -> None:
    more = {"pkg/names.py": "A = 1\n"}
    moves(
        "# isort: off\nfrom pkg import sym\nfrom pkg.names import A\n# isort: on\n\nprint(sym(2), A)\n",
        "# isort: off\nfrom pkg.sub import sym\nfrom pkg.names import A\n# isort: on\n\nprint(sym(2), A)\n",
        more=more,
    )


def test_comments_between_imports_stay_where_they_are() -> None:
    moves(
        "# first\nfrom pkg import light\n# second\nfrom pkg import sym\n# third\n\nprint(sym(2), light(1))\n",
        "# first\nfrom pkg import light\n# second\nfrom pkg.sub import sym\n# third\n\nprint(sym(2), light(1))\n",
    )


def test_two_statements_of_one_block_become_one_import() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import Sym, sym\n",
        "main.py": "from pkg import sym\nfrom pkg import Sym\n\nprint(sym(2), Sym.limit)\n",
    }
    after = {**NARROWED, "main.py": "from pkg.sub import Sym, sym\n\nprint(sym(2), Sym.limit)\n"}
    check_rewritten(tree, "pkg", "sym Sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_read_between_two_imports_keeps_them_apart() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import Sym, sym\n",
        "main.py": "from pkg import sym\nprint(sym(2))\nfrom pkg import Sym\n\nprint(Sym.limit)\n",
    }
    after = {
        **NARROWED,
        "main.py": "from pkg.sub import sym\nprint(sym(2))\nfrom pkg.sub import Sym\n\nprint(Sym.limit)\n",
    }
    check_rewritten(tree, "pkg", "sym Sym", after, run=["main"], unloaded=["pkg.sub"])


def test_names_of_two_origins_become_two_statements_in_order() -> None:
    tree = {
        "pkg/__init__.py": "from .b import two\nfrom .a import one\n",
        "pkg/a.py": "def one():\n    return 1\n",
        "pkg/b.py": "def two():\n    return 2\n",
        "main.py": "from pkg import one, two\n\nprint(one(), two())\n",
    }
    after = {"pkg/__init__.py": "", "main.py": "from pkg.a import one\nfrom pkg.b import two\n\nprint(one(), two())\n"}
    check_rewritten(tree, "pkg", "one two", after, run=["main"], unloaded=["pkg.a", "pkg.b"])


LONG = "a_rather_long_module_name_for_a_kernel_of_some_kind"
NAMES = ("first_function_of_the_kernel", "second_function_of_the_kernel")
LONG_TREE: dict[str, str | bytes] = {
    "pkg/__init__.py": f"from .{LONG} import {', '.join(NAMES)}\nA = 1\n",
    f"pkg/{LONG}.py": "".join(f"def {name}():\n    return 1\n\n\n" for name in NAMES),
    "main.py": f"from pkg import A, {', '.join(NAMES)}\n\nprint(A, {NAMES[0]}(), {NAMES[1]}())\n",
}


@pytest.mark.parametrize(
    ("settings", "wraps"),
    [
        ({}, True),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 140\n"}, False),
        ({"pyproject.toml": "[tool.black]\nline-length = 140\n"}, False),
        ({"pyproject.toml": "[tool.black]\nline-length = 140\n[tool.ruff]\nline-length = 100\n"}, True),
        ({"ruff.toml": "line-length = 140\n"}, False),
    ],
)
def test_a_long_import_is_wrapped_at_the_width_of_the_target(settings: dict[str, str], wraps: bool) -> None:
    line = f"from pkg.{LONG} import {', '.join(NAMES)}\n"
    wrapped = f"from pkg.{LONG} import (\n    {NAMES[0]},\n    {NAMES[1]},\n)\n"
    after = {
        "pkg/__init__.py": "A = 1\n",
        "main.py": f"from pkg import A\n{wrapped if wraps else line}\nprint(A, {NAMES[0]}(), {NAMES[1]}())\n",
    }
    check_rewritten({**LONG_TREE, **settings}, "pkg", " ".join(NAMES), after, run=["main"], unloaded=[f"pkg.{LONG}"])


def test_a_wrapped_import_in_a_function_is_indented() -> None:
    body = f"def run():\n    from pkg import A, {', '.join(NAMES)}\n\n    return A, {NAMES[0]}\n"
    wrapped = f"    from pkg.{LONG} import (\n        {NAMES[0]},\n        {NAMES[1]},\n    )\n"
    after = {
        "pkg/__init__.py": "A = 1\n",
        "main.py": (
            f"from pkg import A\n"
            f"{wrapped.replace('        ', '____').replace('    ', '').replace('____', '    ')}\n"
            f"print(A, {NAMES[0]}(), {NAMES[1]}())\n"
        ),
        "late.py": f"def run():\n    from pkg import A\n{wrapped}\n    return A, {NAMES[0]}\n",
    }
    check_rewritten({**LONG_TREE, "late.py": body}, "pkg", " ".join(NAMES), after, run=["main"])


def test_a_line_with_a_pragma_is_never_wrapped() -> None:
    names = ", ".join(NAMES)
    tree = {**LONG_TREE, "main.py": f"from pkg import {names}  # noqa: F401\n\nprint({NAMES[0]}())\n"}
    after = {
        "pkg/__init__.py": "A = 1\n",
        "main.py": f"from pkg.{LONG} import {names}  # noqa: F401\n\nprint({NAMES[0]}())\n",
    }
    check_rewritten(tree, "pkg", " ".join(NAMES), after, run=["main"])


def test_the_last_statement_of_a_file_without_a_newline_gets_none() -> None:
    moves(b"x = 1\nfrom pkg import sym", b"x = 1\nfrom pkg.sub import sym")


def test_a_block_that_was_sorted_by_length_is_not_resorted() -> None:
    stays(
        (
            "import os\nimport sys\nimport abc\nfrom pkg import light\n\nprint(light(2), os.sep, abc, sys.byteorder)\n"
        ).replace("print(light(2), os.sep, abc, sys.byteorder)", "print(light(2))")
    )


def test_an_import_under_an_else_stays_under_it() -> None:
    moves(
        (
            "import sys\n\nif sys.platform == 'never':\n    sym = None\nelse:\n"
            "    from pkg import light, sym\n\nprint(sym(2))\n"
        ),
        (
            "import sys\n\nif sys.platform == 'never':\n    sym = None\nelse:\n"
            "    from pkg import light\n    from pkg.sub import sym\n\nprint(sym(2))\n"
        ),
    )


def test_match_with_and_loop_bodies_keep_their_imports() -> None:
    moves(
        (
            "import contextlib\n\nfor _ in range(1):\n"
            "    with contextlib.suppress(KeyError):\n        match 1:\n"
            "            case 1:\n                from pkg import light, sym\n"
            "                print(sym(2), light(1))\n"
        ),
        (
            "import contextlib\n\nfor _ in range(1):\n"
            "    with contextlib.suppress(KeyError):\n        match 1:\n"
            "            case 1:\n                from pkg import light\n"
            "                from pkg.sub import sym\n"
            "                print(sym(2), light(1))\n"
        ),
    )
