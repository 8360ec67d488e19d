"""The package's own `__init__`: what goes, what stays, and what cannot be narrowed."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten, narrow, tree

USER = "from pkg import sym\n\nprint(sym(2))\n"
DIRECT = "from pkg.sub import sym\n\nprint(sym(2))\n"
# A user that also shows what else the package binds.
SHOW = (
    "import pkg\n\n"
    "print(sorted(name for name in vars(pkg) if not name.startswith('__') and name not in ('sub', 'sym')))\n"
)


def init(
    before: str,
    after: str,
    *,
    light: bool = True,
    more: dict[str, str | bytes] | None = None,
    says: str = "",
    show: bool = True,
) -> None:
    """The `__init__` becomes `after`; one caller follows; what else the package binds is the same."""
    tree = {**PKG, "pkg/__init__.py": before, "main.py": USER, "show.py": SHOW, **(more or {})}
    run = ["main", "show"] if show else ["main"]
    check_rewritten(
        tree,
        "pkg",
        "sym",
        {"pkg/__init__.py": after, "main.py": DIRECT},
        run=run,
        unloaded=["pkg.sub"] if light else [],
        says=says,
    )


def cannot(text: str, reason: str, *, at: str = "pkg/__init__.py:", more: dict[str, str | bytes] | None = None) -> None:
    """Exit 3: the target makes no sense."""
    check_refused({**PKG, "pkg/__init__.py": text, **(more or {})}, "pkg", "sym", reason, exit_code=3, at=at)


def refused(
    text: str, reason: str, *, at: str = "pkg/__init__.py:", more: dict[str, str | bytes] | None = None
) -> None:
    """Exit 4: a site stands in the way."""
    check_refused({**PKG, "pkg/__init__.py": text, **(more or {})}, "pkg", "sym", reason, at=at)


# --- the forms of the import ---


@pytest.mark.parametrize(
    "line", ["from .sub import sym", "from pkg.sub import sym", "from .sub import sym as sym", "from .sub import (sym)"]
)
def test_a_statement_of_the_symbol_alone_goes(line: str) -> None:
    init(f"from .light import light\n{line}\n\nVERSION = 1\n", "from .light import light\n\nVERSION = 1\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from .sub import Sym, sym", "from .sub import Sym"),
        ("from .sub import sym, Sym", "from .sub import Sym"),
        ("from .sub import (Sym, sym)", "from .sub import (Sym)"),
        ("from .sub import (\n    Sym,\n    sym,\n)", "from .sub import (\n    Sym,\n)"),
        (
            "from .sub import (\n    # class\n    Sym,  # a\n    # function\n    sym,  # b\n)",
            "from .sub import (\n    # class\n    Sym,  # a\n    # function\n)",
        ),
        ("from .sub import Sym, \\\n    sym", "from .sub import Sym"),
    ],
)
def test_one_of_several_names_goes_and_the_comments_of_the_others_stay(before: str, after: str) -> None:
    init(f"{before}\n", f"{after}\n", light=False, says="still load")


def test_comments_of_their_own_lines_stay_and_the_statements_own_comment_goes() -> None:
    init(
        "# Kernels.\nfrom .light import light\n\n# The heavy one.\nfrom .sub import sym  # noqa: F401\n\nVERSION = 1\n",
        "# Kernels.\nfrom .light import light\n\n# The heavy one.\n\nVERSION = 1\n",
    )


def test_a_docstring_and_a_licence_stay() -> None:
    init('# Copyright.\n"""Ops."""\n\nfrom .sub import sym\n', '# Copyright.\n"""Ops."""\n')


def test_statements_on_the_same_line_stay() -> None:
    init("A = 1; from .sub import sym; B = 2\n", "A = 1; B = 2\n")


def test_both_spellings_of_the_same_import_go() -> None:
    init("from .sub import sym\nfrom pkg.sub import sym\n\nA = 1\n", "A = 1\n")


def test_an_assignment_from_a_module_goes_with_the_import_that_only_served_it() -> None:
    init("from . import sub\n\nsym = sub.sym\nA = 1\n", "A = 1\n")


def test_an_assignment_from_an_aliased_module_goes_with_its_import() -> None:
    init("import pkg.sub as s\n\nsym = s.sym\nA = 1\n", "A = 1\n", show=False)


def test_the_import_of_the_module_stays_where_something_else_uses_it() -> None:
    init(
        "from . import sub\n\nsym = sub.sym\nlimit = sub.Sym.limit\n",
        "from . import sub\n\nlimit = sub.Sym.limit\n",
        light=False,
        says="still load",
    )


def test_a_guard_that_is_left_empty_goes_as_a_whole() -> None:
    init(
        "from .light import light\n\ntry:\n    from .sub import sym\nexcept ImportError:\n    pass\n\nA = 1\n",
        "from .light import light\n\nA = 1\n",
    )


def test_a_guard_that_holds_more_keeps_the_rest() -> None:
    init(
        "try:\n    from .light import light\n    from .sub import sym\nexcept ImportError:\n    pass\n",
        "try:\n    from .light import light\nexcept ImportError:\n    pass\n",
    )


def test_an_init_that_is_left_empty_is_an_empty_file() -> None:
    init("from .sub import sym\n", "")


def test_crlf_and_a_missing_final_newline_stay() -> None:
    tree = {**PKG, "pkg/__init__.py": b"from .light import light\r\nfrom .sub import sym\r\nA = 1", "main.py": USER}
    after = {"pkg/__init__.py": b"from .light import light\r\nA = 1", "main.py": DIRECT}
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_the_import_at_the_end_without_a_newline_goes() -> None:
    tree = {**PKG, "pkg/__init__.py": b"from .light import light\nfrom .sub import sym", "main.py": USER}
    check_rewritten(
        tree,
        "pkg",
        "sym",
        {"pkg/__init__.py": b"from .light import light", "main.py": DIRECT},
        run=["main"],
        unloaded=["pkg.sub"],
    )


def test_the_stub_beside_it_is_narrowed_too() -> None:
    tree = {
        **PKG,
        "pkg/__init__.pyi": (
            'from .light import light as light\nfrom .sub import sym as sym\n\n__all__ = ["light", "sym"]\n'
        ),
        "main.py": USER,
    }
    after = {
        "pkg/__init__.py": "from .light import light\n",
        "pkg/__init__.pyi": 'from .light import light as light\n\n__all__ = ["light"]\n',
        "main.py": DIRECT,
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_stub_that_declares_the_symbol_itself_is_refused() -> None:
    check_refused(
        {**PKG, "pkg/__init__.pyi": "def sym(x: int = ...) -> int: ...\n"},
        "pkg",
        "sym",
        "stub",
        at="pkg/__init__.pyi:1",
    )


# --- where it comes from ---


def test_a_symbol_from_another_package_moves_there() -> None:
    tree = {
        "pkg/__init__.py": "from other.x import sym\n\nA = 1\n",
        "other/__init__.py": "",
        "other/x.py": "def sym(x):\n    return x\n",
        "main.py": USER,
    }
    after = {"pkg/__init__.py": "A = 1\n", "main.py": "from other.x import sym\n\nprint(sym(2))\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["other.x"])


def test_a_symbol_of_the_standard_library_moves_there() -> None:
    tree = {
        "pkg/__init__.py": "from json import dumps\n\nA = 1\n",
        "main.py": "from pkg import dumps\n\nprint(dumps([1]))\n",
    }
    after = {"pkg/__init__.py": "A = 1\n", "main.py": "from json import dumps\n\nprint(dumps([1]))\n"}
    check_rewritten(tree, "pkg", "dumps", after, run=["main"])


CHAIN: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .a import sym\n",
    "pkg/a/__init__.py": "from .b import sym\n",
    "pkg/a/b.py": "def sym(x):\n    return x\n",
    "main.py": USER,
}


def test_a_chain_is_followed_one_hop_by_default() -> None:
    after = {"pkg/__init__.py": "", "main.py": "from pkg.a import sym\n\nprint(sym(2))\n"}
    check_rewritten(CHAIN, "pkg", "sym", after, run=["main"], unloaded=["pkg.a"])


def test_to_definition_follows_a_chain_to_its_end() -> None:
    after = {"pkg/__init__.py": "", "main.py": "from pkg.a.b import sym\n\nprint(sym(2))\n"}
    check_rewritten(CHAIN, "pkg", "sym", after, options=["--to-definition"], run=["main"], unloaded=["pkg.a"])


def test_a_symbol_that_is_a_submodule_needs_no_change_at_from_imports() -> None:
    tree = {
        "pkg/__init__.py": "from . import sub\n\nA = 1\n",
        "pkg/sub.py": "def f():\n    return 'f'\n",
        "main.py": "from pkg import sub\n\nprint(sub.f())\n",
    }
    check_rewritten(tree, "pkg", "sub", {"pkg/__init__.py": "A = 1\n"}, run=["main"], unloaded=["pkg.sub"])


def test_a_del_of_a_submodule_that_is_no_longer_loaded_goes_too() -> None:
    tree = {**PKG, "pkg/__init__.py": "from .sub import sym\n\ndel sub\n\nA = 1\n", "main.py": USER}
    check_rewritten(
        tree, "pkg", "sym", {"pkg/__init__.py": "A = 1\n", "main.py": DIRECT}, run=["main"], unloaded=["pkg.sub"]
    )


def test_a_del_of_several_names_keeps_the_others() -> None:
    tree = {**PKG, "pkg/__init__.py": "import os\nfrom .sub import sym\n\ndel os, sub\n", "main.py": USER}
    check_rewritten(
        tree,
        "pkg",
        "sym",
        {"pkg/__init__.py": "import os\n\ndel os\n", "main.py": DIRECT},
        run=["main"],
        unloaded=["pkg.sub"],
    )


@pytest.mark.parametrize(
    "below", ["from .sub import other as _other", "from . import sub as _sub", "import pkg.sub as _sub"]
)
def test_a_del_of_a_submodule_that_is_loaded_again_below_is_refused(below: str) -> None:
    files = {"pkg/sub.py": "def sym(): ...\n\n\nother = 1\n", "main.py": USER}
    files["pkg/__init__.py"] = f"from .sub import sym\ndel sub\n{below}\n"
    check_refused(files, "pkg", "sym", "the __init__ deletes the submodule sub here", at="pkg/__init__.py:2")


@pytest.mark.parametrize("above", ["from .sub import sym, other", "from .sub import sym\nfrom . import sub"])
def test_a_del_of_a_submodule_that_another_import_above_loads_stays(above: str) -> None:
    files = {"pkg/sub.py": "def sym(): ...\n\n\nother = 1\n", "main.py": USER, "pkg/__init__.py": f"{above}\ndel sub\n"}
    with tree(files) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert (root / "pkg/__init__.py").read_text().endswith("\ndel sub\n")
        assert oracle.run_programs(root, ["main"], ["."])


# --- stars in the `__init__` ---


STARRED: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .light import light\nfrom .sub import *\n",
    "pkg/light.py": "def light(x):\n    return x\n",
    "pkg/sub.py": (
        "import os\n\n_private = os.sep\n\n\ndef sym(x=1):\n    return x * 10\n\n\ndef other():\n    return 'o'\n"
    ),
    "main.py": "from pkg import other, sym\n\nprint(sym(2), other())\n",
}


def test_a_star_becomes_the_other_names_that_it_binds() -> None:
    after = {
        "pkg/__init__.py": "from .light import light\nfrom .sub import other\n",
        "main.py": "from pkg import other\nfrom pkg.sub import sym\n\nprint(sym(2), other())\n",
    }
    check_rewritten(STARRED, "pkg", "sym", after, run=["main"], says="star")


def test_a_star_goes_when_all_its_names_are_narrowed() -> None:
    tree = {
        **STARRED,
        "pkg/sub.py": '__all__ = ["other", "sym"]\n\n\ndef sym(x=1):\n    return x\n\n\ndef other():\n    return 3\n',
    }
    after = {
        "pkg/__init__.py": "from .light import light\n",
        "main.py": "from pkg.sub import other, sym\n\nprint(sym(2), other())\n",
    }
    check_rewritten(tree, "pkg", "sym other", after, run=["main"], unloaded=["pkg.sub"])


def test_a_nested_star_is_resolved() -> None:
    tree = {
        "pkg/__init__.py": "from .sub import *\n",
        "pkg/sub.py": "from .deep import *\n\n\ndef other():\n    return 3\n",
        "pkg/deep.py": "def sym(x=1):\n    return x\n",
        "main.py": "from pkg import other, sym\n\nprint(sym(2), other())\n",
    }
    after = {
        "pkg/__init__.py": "from .sub import other\n",
        "main.py": "from pkg import other\nfrom pkg.sub import sym\n\nprint(sym(2), other())\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


def test_what_a_star_brought_by_accident_stays_where_someone_reads_it() -> None:
    tree = {**STARRED, "main.py": "import pkg\n\nprint(pkg.sym(2), pkg.other(), pkg.os.sep)\n"}
    after = {
        "pkg/__init__.py": "from .light import light\nfrom .sub import os, other\n",
        "main.py": "import pkg\nimport pkg.sub\n\nprint(pkg.sub.sym(2), pkg.other(), pkg.os.sep)\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


def test_what_a_star_brought_by_accident_and_nobody_reads_is_reported() -> None:
    after = {
        "pkg/__init__.py": "from .light import light\nfrom .sub import other\n",
        "main.py": "from pkg import other\nfrom pkg.sub import sym\n\nprint(sym(2), other())\n",
    }
    check_rewritten(STARRED, "pkg", "sym", after, run=["main"], says=r"\bos\b")


def test_a_name_that_a_star_binds_only_under_a_condition_is_not_listed() -> None:
    tree = {
        **STARRED,
        "pkg/sub.py": (
            "import sys\n\nif sys.platform == 'never':\n    maybe = 1\n\n\ndef sym(x=1):\n"
            "    return x\n\n\ndef other():\n    return 3\n"
        ),
    }
    after = {
        "pkg/__init__.py": "from .light import light\nfrom .sub import other\n",
        "main.py": "from pkg import other\nfrom pkg.sub import sym\n\nprint(sym(2), other())\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], says=r"\bmaybe\b")


# --- cannot ---


@pytest.mark.parametrize(
    "definition", ["def sym(): pass", "class sym: pass", "sym = 3", "async def sym(): pass", "sym: int = 3"]
)
def test_a_symbol_that_is_defined_in_the_init_cannot_be_narrowed(definition: str) -> None:
    cannot(f"from .light import light\n\n{definition}\n", "defined", at="pkg/__init__.py:3")


def test_a_fallback_is_a_second_origin() -> None:
    cannot("try:\n    from .sub import sym\nexcept ImportError:\n    sym = None\n", "origin", at="pkg/__init__.py:")


def test_a_flag_beside_the_import_is_a_second_origin() -> None:
    cannot(
        "try:\n    from .sub import sym\n    HAS_SUB = True\nexcept ImportError:\n    HAS_SUB = False\n",
        "line 3|line 5",
        at="pkg/__init__.py:2",
    )


def test_branches_with_different_origins_are_named_with_their_lines() -> None:
    cannot(
        (
            "import sys\n\nif sys.platform == 'win32':\n"
            "    from .light import light as sym\nelse:\n    from .sub import sym\n"
        ),
        r"line 4.*line 6|line 4[\s\S]*:6",
    )


def test_a_symbol_that_is_wrapped_later_has_more_than_one_origin() -> None:
    cannot(
        "import functools\nfrom .sub import sym\n\nsym = functools.lru_cache(sym)\n",
        "defined|origin",
        at="pkg/__init__.py:4",
    )


def test_a_symbol_that_exists_only_for_type_checkers_cannot_be_narrowed() -> None:
    cannot(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .sub import sym\n",
        "TYPE_CHECKING",
        at="pkg/__init__.py:4",
    )


def test_a_third_party_module_bound_by_import_is_no_reexport() -> None:
    cannot("import json as sym\n", "module json", at="pkg/__init__.py:1")


# --- the `__init__` uses it ---


@pytest.mark.parametrize(
    "use",
    [
        "A = sym(1)",
        "@sym\ndef f(): pass",
        "def f(x=sym): pass",
        "class A:\n    x = sym",
        "print([sym for _ in 'a'])",
        "f = lambda: sym(1)",
        "del sym",
    ],
)
def test_a_use_at_import_time_is_refused_or_cannot_be(use: str) -> None:
    exit_code = 3 if use == "del sym" else 4
    reason = "deleted|origin" if use == "del sym" else "--callers-only"
    check_refused(
        {**PKG, "pkg/__init__.py": f"from .sub import sym\n\n{use}\n"},
        "pkg",
        "sym",
        reason,
        exit_code=exit_code,
        at="pkg/__init__.py:",
    )


def test_a_base_class_in_the_init_is_refused_with_its_line() -> None:
    tree = {**PKG, "pkg/__init__.py": "from .sub import Sym\n\n\nclass Own(Sym):\n    pass\n"}
    check_refused(tree, "pkg", "Sym", "uses Sym", at="pkg/__init__.py:4")


def test_a_use_in_a_function_takes_the_import_along() -> None:
    init(
        "from .sub import sym\n\n\ndef run():\n    return sym(2)\n",
        "def run():\n    from .sub import sym\n    return sym(2)\n",
        more={"second.py": "import pkg\n\nprint(pkg.run())\n"},
    )


def test_an_import_moved_into_a_function_stands_below_its_docstring() -> None:
    init(
        'from .sub import sym\n\n\ndef run():\n    """Run."""\n    return sym(2)\n',
        'def run():\n    """Run."""\n    from .sub import sym\n    return sym(2)\n',
    )


def test_each_function_that_uses_it_gets_the_import() -> None:
    init(
        (
            "from .sub import sym\n\n\ndef run():\n    return sym(2)\n\n\nclass A:\n"
            "    def run(self):\n        return sym(3)\n"
        ),
        (
            "def run():\n    from .sub import sym\n    return sym(2)\n\n\nclass A:\n"
            "    def run(self):\n        from .sub import sym\n        return sym(3)\n"
        ),
    )


def test_a_one_line_function_gets_the_import_on_its_line() -> None:
    init("from .sub import sym\n\n\ndef run(): return sym(2)\n", "def run(): from .sub import sym; return sym(2)\n")


def test_the_functions_of_the_init_still_work_afterwards() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": (
            "from .sub import sym\n\n\ndef run():\n    def inner():\n"
            "        return sym(2)\n\n    return inner() + sym(1)\n"
        ),
        "main.py": "import pkg\n\nprint(pkg.run())\n",
    }
    after = {
        "pkg/__init__.py": (
            "def run():\n    from .sub import sym\n    def inner():\n"
            "        return sym(2)\n\n    return inner() + sym(1)\n"
        ),
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_local_of_the_same_name_in_a_function_needs_no_import() -> None:
    init("from .sub import sym\n\n\ndef run(sym):\n    return sym\n", "def run(sym):\n    return sym\n")


def test_a_global_statement_for_the_symbol_in_the_init_is_refused_or_cannot_be() -> None:
    tree = {**PKG, "pkg/__init__.py": "from .sub import sym\n\n\ndef reset():\n    global sym\n    sym = None\n"}
    check_refused(tree, "pkg", "sym", "rebound|global|origin", exit_code=3, at="pkg/__init__.py:6")


def test_an_annotation_of_the_init_that_names_it_is_refused() -> None:
    tree = {**PKG, "pkg/__init__.py": 'from .sub import Sym\n\n\ndef run(x: "Sym"):\n    return x\n'}
    check_refused(tree, "pkg", "Sym", "annotation", at="pkg/__init__.py:4")


def test_a_submodule_that_the_init_uses_through_the_import_is_refused() -> None:
    # `sub` is bound in the package because the import loaded it
    refused("from .sub import sym\n\nlimit = sub.Sym.limit\n", "submodule sub", at="pkg/__init__.py:3")


def test_callers_only_moves_the_callers_and_keeps_the_import() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": 'from .light import light\nfrom .sub import sym\n\n__all__ = ["light", "sym"]\nA = sym(1)\n',
        "main.py": "from pkg import sym, A\n\nprint(sym(2), A)\n",
    }
    after = {
        "pkg/__init__.py": 'from .light import light\nfrom .sub import sym\n\n__all__ = ["light"]\nA = sym(1)\n',
        "main.py": "from pkg import A\nfrom pkg.sub import sym\n\nprint(sym(2), A)\n",
    }
    check_rewritten(tree, "pkg", "sym", after, options=["--callers-only"], run=["main"])


# --- the origin stands in the way ---


def test_an_origin_that_rebinds_the_symbol_later_is_refused() -> None:
    sub = "sym = 1\n\n\ndef bump():\n    global sym\n    sym = 2\n"
    check_refused({**PKG, "pkg/sub.py": sub}, "pkg", "sym", "rebinds|copy", at="pkg/sub.py:6")


def test_an_origin_that_claims_to_live_in_the_package_is_refused() -> None:
    sub = "def sym():\n    pass\n\n\nsym.__module__ = 'pkg'\n"
    check_refused({**PKG, "pkg/sub.py": sub}, "pkg", "sym", "__module__", at="pkg/sub.py:5")


def test_an_origin_that_imports_its_symbol_through_the_package_is_refused() -> None:
    sub = "def sym():\n    pass\n\n\ndef late():\n    from pkg import sym as again\n    return again\n\n\nimport pkg\n"
    check_rewritten(
        {**PKG, "pkg/sub.py": sub},
        "pkg",
        "sym",
        {
            "pkg/__init__.py": "from .light import light\n",
            "pkg/sub.py": sub.replace("from pkg import", "from pkg.sub import"),
        },
    )
