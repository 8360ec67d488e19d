"""`from pkg import sym`, in every shape and place."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, blocks, moves, same_moves, stays
from tests.narrow_reexport.verbs import check_rewritten


def test_a_single_name_moves_to_its_origin() -> None:
    moves("from pkg import sym\n\nprint(sym(2))\n", "from pkg.sub import sym\n\nprint(sym(2))\n")


def test_an_alias_goes_along() -> None:
    moves("from pkg import sym as s\n\nprint(s(2))\n", "from pkg.sub import sym as s\n\nprint(s(2))\n")


def test_a_redundant_alias_keeps_its_form() -> None:
    moves("from pkg import sym as sym\n\nprint(sym(2))\n", "from pkg.sub import sym as sym\n\nprint(sym(2))\n")


def test_another_name_at_the_origin_becomes_an_alias() -> None:
    tree = {
        "pkg/__init__.py": "from .sub import impl as sym\n",
        "pkg/sub.py": "def impl():\n    return 'impl'\n",
        "main.py": "from pkg import sym\n\nprint(sym())\n",
        "alias.py": "from pkg import sym as other\n\nprint(other())\n",
    }
    after = {
        "pkg/__init__.py": "",
        "main.py": "from pkg.sub import impl as sym\n\nprint(sym())\n",
        "alias.py": "from pkg.sub import impl as other\n\nprint(other())\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main", "alias"], unloaded=["pkg.sub"])


def test_an_alias_that_is_the_name_at_the_origin_still_binds_it() -> None:
    tree = {
        "pkg/__init__.py": "from .sub import impl as sym\n",
        "pkg/sub.py": "def impl():\n    return 'impl'\n",
        "main.py": "from pkg import sym as impl\n\nprint(impl())\n",
    }
    after = {"pkg/__init__.py": "", "main.py": "from pkg.sub import impl\n\nprint(impl())\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


@pytest.mark.parametrize("names", ["sym, light", "light, sym"])
def test_the_other_names_of_the_statement_stay(names: str) -> None:
    moves(
        f"from pkg import {names}\n\nprint(sym(2), light(3))\n",
        "from pkg import light\nfrom pkg.sub import sym\n\nprint(sym(2), light(3))\n",
    )


def test_a_name_in_the_middle_leaves_both_neighbours() -> None:
    moves(
        "from pkg import light as a, sym, light as b\n\nprint(sym(2), a(3), b(4))\n",
        "from pkg import light as a, light as b\nfrom pkg.sub import sym\n\nprint(sym(2), a(3), b(4))\n",
    )


def test_the_same_symbol_imported_twice_under_two_names_moves_twice() -> None:
    moves(
        "from pkg import sym, sym as twin\n\nprint(sym(2), twin(3))\n",
        "from pkg.sub import sym, sym as twin\n\nprint(sym(2), twin(3))\n",
    )


def test_a_parenthesised_import_keeps_its_rows_and_their_comments() -> None:
    moves(
        """
        from pkg import (
            light,  # cheap
            # the heavy one
            sym,
        )

        print(sym(2), light(3))
        """,
        """
        from pkg import (
            light,  # cheap
            # the heavy one
        )
        from pkg.sub import sym

        print(sym(2), light(3))
        """,
    )


def test_a_parenthesised_import_of_the_symbol_alone_keeps_its_shape() -> None:
    moves(
        "from pkg import (\n    sym,\n)\n\nprint(sym(2))\n",
        "from pkg.sub import (\n    sym,\n)\n\nprint(sym(2))\n",
    )


def test_a_backslash_continuation_stays_valid() -> None:
    moves(
        "from pkg import light, \\\n    sym\n\nprint(sym(2), light(3))\n",
        "from pkg import light\nfrom pkg.sub import sym\n\nprint(sym(2), light(3))\n",
    )


def test_statements_on_one_line_stay_on_one_line() -> None:
    moves(
        "import os; from pkg import light, sym; sep = os.sep\nprint(sym(2), light(3), sep)\n",
        "import os; from pkg import light; from pkg.sub import sym; sep = os.sep\nprint(sym(2), light(3), sep)\n",
    )


def test_a_one_line_suite_keeps_both_imports_inside() -> None:
    moves(
        "FAST = False\nif FAST: from pkg import light, sym\nelse: sym = light = None\nprint(sym, light)\n",
        (
            "FAST = False\nif FAST: from pkg import light; from pkg.sub import sym\n"
            "else: sym = light = None\nprint(sym, light)\n"
        ),
    )


def test_a_trailing_comment_stays_with_the_names_that_stay() -> None:
    moves(
        "from pkg import light, sym  # kernels\n\nprint(sym(2), light(3))\n",
        "from pkg import light  # kernels\nfrom pkg.sub import sym\n\nprint(sym(2), light(3))\n",
    )


def test_a_pragma_on_the_statement_goes_with_both() -> None:
    moves(
        "from pkg import light, sym  # noqa: E402\n\nprint(sym(2), light(3))\n",
        "from pkg import light  # noqa: E402\nfrom pkg.sub import sym  # noqa: E402\n\nprint(sym(2), light(3))\n",
    )


def test_a_pragma_on_the_row_of_the_symbol_goes_with_the_symbol() -> None:
    moves(
        """
        from pkg import (
            light,
            sym,  # type: ignore[attr-defined]
        )

        print(sym(2), light(3))
        """,
        """
        from pkg import (
            light,
        )
        from pkg.sub import sym  # type: ignore[attr-defined]

        print(sym(2), light(3))
        """,
    )


def test_a_comment_on_a_moved_statement_stays_on_it() -> None:
    moves(
        "from pkg import sym  # noqa: F401  # kernels\n\nprint(sym(2))\n",
        "from pkg.sub import sym  # noqa: F401  # kernels\n\nprint(sym(2))\n",
    )


def test_an_import_in_a_function_stays_in_the_function() -> None:
    moves(
        "def run():\n    from pkg import sym\n\n    return sym(2)\n\n\nprint(run())\n",
        "def run():\n    from pkg.sub import sym\n\n    return sym(2)\n\n\nprint(run())\n",
    )


def test_an_import_in_a_class_body_stays_an_attribute_of_the_class() -> None:
    moves(
        "class Ops:\n    from pkg import light, sym\n\n\nprint(Ops.sym(2), Ops.light(3))\n",
        "class Ops:\n    from pkg import light\n    from pkg.sub import sym\n\n\nprint(Ops.sym(2), Ops.light(3))\n",
    )


def test_an_import_in_a_try_stays_under_its_own_guard() -> None:
    moves(
        "try:\n    from pkg import sym\nexcept ImportError:\n    sym = None\n\nprint(sym(2))\n",
        "try:\n    from pkg.sub import sym\nexcept ImportError:\n    sym = None\n\nprint(sym(2))\n",
    )


def test_an_import_for_type_checkers_stays_for_type_checkers() -> None:
    moves(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pkg import light, sym\n\nprint('x')\n",
        (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
            "    from pkg import light\n    from pkg.sub import sym\n\nprint('x')\n"
        ),
    )


def test_an_import_under_a_platform_test_stays_there() -> None:
    moves(
        "import sys\n\nif sys.platform == 'never':\n    from pkg import sym\nelse:\n    sym = str\nprint(sym(2))\n",
        "import sys\n\nif sys.platform == 'never':\n    from pkg.sub import sym\nelse:\n    sym = str\nprint(sym(2))\n",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from . import sym", "from .sub import sym"),
        ("from . import light, sym", "from . import light\nfrom .sub import sym"),
        ("from pkg import sym", "from pkg.sub import sym"),
    ],
)
def test_a_relative_import_stays_relative_and_an_absolute_one_absolute(before: str, after: str) -> None:
    moves(f"{before}\n\nprint(sym(2))\n", f"{after}\n\nprint(sym(2))\n", path="pkg/user.py", run=["pkg.user"])


def test_a_relative_import_from_a_sibling_package_keeps_its_dots() -> None:
    tree = {f"top/{path}": text for path, text in PKG.items()} | {
        "top/__init__.py": "",
        "top/app/__init__.py": "",
        "top/app/deep/__init__.py": "",
        "top/app/main.py": "from ..pkg import sym\n\nprint(sym(2))\n",
        "top/app/deep/main.py": "from ...pkg import light, sym\n\nprint(sym(2), light(3))\n",
    }
    after = {
        "top/pkg/__init__.py": NARROWED["pkg/__init__.py"],
        "top/app/main.py": "from ..pkg.sub import sym\n\nprint(sym(2))\n",
        "top/app/deep/main.py": "from ...pkg import light\nfrom ...pkg.sub import sym\n\nprint(sym(2), light(3))\n",
    }
    check_rewritten(tree, "top.pkg", "sym", after, run=["top.app.main", "top.app.deep.main"], unloaded=["top.pkg.sub"])


def test_a_relative_import_becomes_absolute_where_the_origin_is_in_another_distribution() -> None:
    tree = {
        "pkg/__init__.py": "from other.x import sym\n",
        "other/__init__.py": "",
        "other/x.py": "def sym():\n    return 'x'\n",
        "pkg/user.py": "from . import sym\n\nprint(sym())\n",
    }
    after = {"pkg/__init__.py": "", "pkg/user.py": "from other.x import sym\n\nprint(sym())\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["pkg.user"], unloaded=["other.x"])


def test_a_dot_that_means_another_package_is_left_alone() -> None:
    more = {"other/__init__.py": "sym = 'another'\n"}
    stays("from . import sym\n\nprint(sym)\n", path="other/user.py", run=["other.user"], more=more)


def test_another_package_with_the_same_last_name_is_left_alone() -> None:
    more = {"app/__init__.py": "", "app/pkg.py": "sym = 'another'\n"}
    stays("from app.pkg import sym\nfrom app import pkg\n\nprint(sym, pkg.sym)\n", more=more)


def test_a_file_without_the_symbol_is_left_alone() -> None:
    stays("from pkg import light\n\nprint(light(2))\n")


def test_names_that_merely_contain_the_symbol_are_left_alone() -> None:
    more = {"pkg/names.py": "symbol = 1\nmy_sym = 2\n"}
    stays("from pkg.names import symbol, my_sym\n\nprint(symbol, my_sym)\n", more=more)


def test_an_import_from_the_origin_joins_the_direct_import_that_is_there() -> None:
    more = {"pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\ndef helper():\n    return 'h'\n"}
    moves(
        "from pkg import sym\nfrom pkg.sub import helper\n\nprint(sym(2), helper())\n",
        "from pkg.sub import helper, sym\n\nprint(sym(2), helper())\n",
        more=more,
    )


def test_the_symbol_imported_from_both_places_is_imported_once() -> None:
    moves(
        "from pkg import sym\nfrom pkg.sub import sym\n\nprint(sym(2))\n",
        "from pkg.sub import sym\n\nprint(sym(2))\n",
    )


def test_a_direct_import_behind_other_code_is_not_joined() -> None:
    more = {"pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\ndef helper():\n    return 'h'\n"}
    moves(
        "from pkg import sym\n\nprint(sym(2))\nfrom pkg.sub import helper\n\nprint(helper())\n",
        "from pkg.sub import sym\n\nprint(sym(2))\nfrom pkg.sub import helper\n\nprint(helper())\n",
        more=more,
    )


def test_an_import_in_a_function_does_not_join_the_one_at_module_level() -> None:
    more = {"pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\ndef helper():\n    return 'h'\n"}
    moves(
        (
            "from pkg.sub import helper\n\n\ndef run():\n    from pkg import sym\n\n"
            "    return sym(2), helper()\n\n\nprint(run())\n"
        ),
        (
            "from pkg.sub import helper\n\n\ndef run():\n    from pkg.sub import sym\n\n"
            "    return sym(2), helper()\n\n\nprint(run())\n"
        ),
        more=more,
    )


def test_the_same_name_module_is_never_bound_in_silence() -> None:
    same_moves("from pkg import fused\n\nprint(fused(2))\n", "from pkg.fused import fused\n\nprint(fused(2))\n")


def test_import_as_of_a_same_name_module_binds_the_function_as_before() -> None:
    same_moves("import pkg.fused as f\n\nprint(f(2))\n", "from pkg.fused import fused as f\n\nprint(f(2))\n")


def test_import_as_under_the_same_name_needs_no_alias() -> None:
    same_moves("import pkg.fused as fused\n\nprint(fused(2))\n", "from pkg.fused import fused\n\nprint(fused(2))\n")


def test_import_as_among_other_modules_leaves_them_where_they_are() -> None:
    same_moves(
        "import os, pkg.fused as f\n\nprint(f(2), os.sep)\n",
        "import os\nfrom pkg.fused import fused as f\n\nprint(f(2), os.sep)\n",
    )


def test_another_name_of_a_same_name_module_is_left_alone() -> None:
    same_moves("from pkg.fused import other\n\nprint(other())\n", "from pkg.fused import other\n\nprint(other())\n")


def test_crlf_stays_crlf_in_new_lines_too() -> None:
    moves(
        b"from pkg import light, sym\r\n\r\nprint(sym(2), light(3))\r\n",
        b"from pkg import light\r\nfrom pkg.sub import sym\r\n\r\nprint(sym(2), light(3))\r\n",
    )


def test_mixed_newlines_stay_mixed() -> None:
    moves(
        b"import os\nfrom pkg import sym\r\nprint(sym(2))\nprint(len(os.sep))\r\n",
        b"import os\nfrom pkg.sub import sym\r\nprint(sym(2))\nprint(len(os.sep))\r\n",
    )


def test_a_bom_stays() -> None:
    moves(b"\xef\xbb\xbffrom pkg import sym\nprint(sym(2))\n", b"\xef\xbb\xbffrom pkg.sub import sym\nprint(sym(2))\n")


def test_an_encoding_cookie_is_obeyed() -> None:
    moves(
        "# -*- coding: latin-1 -*-\nfrom pkg import sym  # caf\xe9\nprint(sym(2), len('\xfc'))\n".encode("latin-1"),
        "# -*- coding: latin-1 -*-\nfrom pkg.sub import sym  # caf\xe9\nprint(sym(2), len('\xfc'))\n".encode("latin-1"),
    )


def test_a_missing_newline_at_the_end_stays_missing() -> None:
    moves(b"print(1)\nfrom pkg import light, sym", b"print(1)\nfrom pkg import light\nfrom pkg.sub import sym")


def test_form_feeds_tabs_and_trailing_blanks_stay() -> None:
    moves(
        b"from pkg import sym\n\x0c\nif True:\n\tprint(sym(2))   \n\n\n",
        b"from pkg.sub import sym\n\x0c\nif True:\n\tprint(sym(2))   \n\n\n",
    )


def test_a_tab_indented_import_is_indented_by_tabs() -> None:
    moves(
        b"def run():\n\tfrom pkg import light, sym\n\treturn sym(2), light(3)\nprint(run())\n",
        b"def run():\n\tfrom pkg import light\n\tfrom pkg.sub import sym\n\treturn sym(2), light(3)\nprint(run())\n",
    )


def test_shebang_docstring_and_future_imports_stay_on_top() -> None:
    moves(
        (
            '#!/usr/bin/env python\n"""Doc."""\nfrom __future__ import annotations\n\n'
            "from pkg import sym\n\nprint(sym(2), __doc__)\n"
        ),
        (
            '#!/usr/bin/env python\n"""Doc."""\nfrom __future__ import annotations\n\n'
            "from pkg.sub import sym\n\nprint(sym(2), __doc__)\n"
        ),
    )


def test_a_non_ascii_symbol_moves_like_any_other() -> None:
    tree = {
        "pkg/__init__.py": "from .sub import größe\n",
        "pkg/sub.py": "def größe():\n    return 'ä'\n",
        "main.py": "text = '日本'; from pkg import größe  # ü\n\nprint(größe(), text)\n",
    }
    after = {
        "pkg/__init__.py": "",
        "main.py": "text = '日本'; from pkg.sub import größe  # ü\n\nprint(größe(), text)\n",
    }
    check_rewritten(tree, "pkg", "größe", after, run=["main"], unloaded=["pkg.sub"])


def test_a_decomposed_spelling_of_the_symbol_is_found() -> None:
    # Python compares identifiers after NFKC: `ﬁt` with a ligature is `fit`
    tree = {
        "pkg/__init__.py": "from .sub import fit\n",
        "pkg/sub.py": "def fit():\n    return 'fit'\n",
        "main.py": "from pkg import \ufb01t\n\nprint(\ufb01t())\n",
    }
    after = {"pkg/__init__.py": "", "main.py": "from pkg.sub import fit\n\nprint(\ufb01t())\n"}
    check_rewritten(tree, "pkg", "fit", after, run=["main"], unloaded=["pkg.sub"])


def test_a_stub_is_rewritten_like_code() -> None:
    moves(
        "from pkg import light, sym\n\ndef run(x: int) -> int: ...\n",
        "from pkg import light\nfrom pkg.sub import sym\n\ndef run(x: int) -> int: ...\n",
        path="main.pyi",
        run=[],
    )


def test_conftest_and_dunder_main_are_rewritten_too() -> None:
    tree = {
        **PKG,
        "tests/conftest.py": "from pkg import sym\n",
        "app/__main__.py": "from pkg import sym\n\nprint(sym(2))\n",
        "app/__init__.py": "",
    }
    after = {
        **NARROWED,
        "tests/conftest.py": "from pkg.sub import sym\n",
        "app/__main__.py": "from pkg.sub import sym\n\nprint(sym(2))\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["app"], unloaded=["pkg.sub"])


def test_an_onward_reexport_still_exports_it_from_the_origin() -> None:
    more = {"main.py": "from outer import sym\nimport outer\n\nprint(sym(2), outer.sym(3), outer.__all__)\n"}
    moves(
        'from pkg import light, sym as sym\n\n__all__ = ["light", "sym"]\n',
        'from pkg import light\nfrom pkg.sub import sym as sym\n\n__all__ = ["light", "sym"]\n',
        path="outer/__init__.py",
        more=more,
    )


def test_a_parent_package_that_reexports_it_again_follows() -> None:
    tree = {f"top/{path}": text for path, text in PKG.items()} | {
        "top/__init__.py": "from .pkg import light, sym\n",
        "main.py": "from top import sym\n\nprint(sym(2))\n",
    }
    after = {
        "top/pkg/__init__.py": NARROWED["pkg/__init__.py"],
        "top/__init__.py": "from .pkg import light\nfrom .pkg.sub import sym\n",
    }
    check_rewritten(tree, "top.pkg", "sym", after, run=["main"])


def test_a_name_bound_twice_by_one_statement_is_refused() -> None:
    # the second `x` wins, and the split would have to keep that
    blocks("from pkg import sym as x, light as x\n\nprint(x(3))\n", "binds one name twice", at="main.py:1")
