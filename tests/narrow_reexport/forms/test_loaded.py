"""The package reached by a string: `importlib.import_module("pkg").sym` and its kin."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED, blocks, moves, stays
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, narrow, tree

HEAD = "import builtins\nimport importlib\nimport pkgutil\nimport sys\nfrom importlib import import_module as im\n\n"
TOP: dict[str, str | bytes] = {"top/__init__.py": "", **{f"top/{path}": text for path, text in PKG.items()}}
TOP_NARROWED: dict[str, str | bytes] = {"top/pkg/__init__.py": NARROWED["pkg/__init__.py"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('importlib.import_module("pkg").sym(2)', 'importlib.import_module("pkg.sub").sym(2)'),
        ("importlib.import_module(name='pkg').sym(2)", "importlib.import_module(name='pkg.sub').sym(2)"),
        ('im("pkg").sym(2)', 'im("pkg.sub").sym(2)'),
        ('getattr(im("pkg"), "sym")(2)', 'getattr(im("pkg.sub"), "sym")(2)'),
        ('getattr(im("pkg"), "sym", None)(2)', 'getattr(im("pkg.sub"), "sym", None)(2)'),
        ('hasattr(im("pkg"), "sym")', 'hasattr(im("pkg.sub"), "sym")'),
        ('__import__("pkg").sym(2)', '__import__("pkg.sub", fromlist=["sym"]).sym(2)'),
        ('builtins.__import__("pkg").sym(2)', 'builtins.__import__("pkg.sub", fromlist=["sym"]).sym(2)'),
        ('__import__("pkg", fromlist=["sym"]).sym(2)', '__import__("pkg.sub", fromlist=["sym"]).sym(2)'),
        ('__import__("pkg", {}, {}, ["sym"], 0).sym(2)', '__import__("pkg.sub", {}, {}, ["sym"], 0).sym(2)'),
        ('pkgutil.resolve_name("pkg:sym")(2)', 'pkgutil.resolve_name("pkg.sub:sym")(2)'),
        ('pkgutil.resolve_name("pkg.sym")(2)', 'pkgutil.resolve_name("pkg.sub.sym")(2)'),
        ('pkgutil.resolve_name("pkg:sym.__name__")', 'pkgutil.resolve_name("pkg.sub:sym.__name__")'),
    ],
)
def test_the_string_leads_to_the_origin(before: str, after: str) -> None:
    moves(f"{HEAD}print({before})\n", f"{HEAD}print({after})\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('im(".pkg", "top").sym(2)', 'im(".pkg.sub", "top").sym(2)'),
        ('im(".pkg", package=__package__).sym(2)', 'im(".pkg.sub", package=__package__).sym(2)'),
        ('im("..pkg", __name__).sym(2)', 'im("..pkg.sub", __name__).sym(2)'),
        ('im(".", "top.pkg").sym(2)', 'im(".sub", "top.pkg").sym(2)'),
        ('getattr(im("top.pkg"), "sym")(2)', 'getattr(im("top.pkg.sub"), "sym")(2)'),
        ('__import__("top.pkg", fromlist=["x"]).sym(2)', '__import__("top.pkg.sub", fromlist=["x"]).sym(2)'),
    ],
)
def test_a_string_that_is_relative_or_dotted_stays_so(before: str, after: str) -> None:
    head = "from importlib import import_module as im\n\n"
    check_rewritten(
        {**TOP, "top/user.py": f"{head}print({before})\n"},
        "top.pkg",
        "sym",
        {**TOP_NARROWED, "top/user.py": f"{head}print({after})\n"},
        run=["top.user"],
        unloaded=["top.pkg.sub"],
    )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ('__import__("top.pkg").pkg.sym(2)', "call or a container"),
        ('__import__("top.pkg", fromlist=["light"]).sym(2)', "call or a container"),
        ('__import__("top.pkg", fromlist=["*"]).sym(2)', "call or a container"),
        ('__import__("top.pkg", fromlist=sys.argv).sym(2)', "call or a container"),
        ('sys.modules["top.pkg"].sym(2)', "call or a container"),
        ('sys.modules.get("top.pkg").sym(2)', "call or a container"),
        ("f\"{im('top.pkg').sym(2)}\"", "call or a container"),
        ('(m := im("top.pkg")).sym(2)', "call or a container"),
        ('getattr(im("top.pkg"), sys.argv[0])', "dynamic"),
        ('getattr(im(".pkg", "top"), sys.argv[0])', "dynamic"),
    ],
)
def test_what_the_string_cannot_say_is_refused(code: str, reason: str) -> None:
    text = f"import sys\nfrom importlib import import_module as im\n\nprint({code})\n"
    check_refused({**TOP, "user.py": text}, "top.pkg", "sym", reason, at="user.py:4")


def test_a_function_that_is_only_called_import_module_is_refused() -> None:
    blocks(
        'import pkg\n\n\ndef import_module(name):\n    return pkg\n\n\nprint(import_module("pkg").sym(2))\n',
        "call or a container",
        at="main.py:8",
    )


def test_a_dynamic_read_in_a_file_that_never_spells_the_symbol_is_refused() -> None:
    for code in (
        'getattr(importlib.import_module("pkg"), sys.argv[0], 1)',
        'getattr(__import__("pkg"), sys.argv[0], 1)',
        'getattr(sys.modules["pkg"], sys.argv[0], 1)',
    ):
        blocks(f"import importlib\nimport sys\n\nprint({code})\n", "dynamic", at="main.py:4")
    for head in ("import pkg as p", "p = importlib.import_module('pkg')", "import pkg\np = pkg"):
        blocks(f"import importlib\nimport sys\n{head}\nprint(getattr(p, sys.argv[0], 1))\n", "dynamic", at="main.py:")


def test_the_table_of_modules_follows_where_the_origin_is_loaded_already() -> None:
    moves(
        'import sys\n\nimport pkg.sub\n\nprint(sys.modules["pkg"].sym(2), pkg.light(1))\n',
        'import sys\n\nimport pkg.sub\n\nprint(sys.modules["pkg.sub"].sym(2), pkg.light(1))\n',
    )


def test_the_table_of_modules_follows_with_an_import_beside_the_packages() -> None:
    moves(
        'import sys\n\nimport pkg\n\nprint(sys.modules["pkg"].sym(2), pkg.light(1))\n',
        'import sys\n\nimport pkg\nimport pkg.sub\n\nprint(sys.modules["pkg.sub"].sym(2), pkg.light(1))\n',
    )


def test_a_name_that_serves_for_the_symbol_alone_is_given_the_origin() -> None:
    moves(
        """
        import importlib


        def f():
            m = importlib.import_module("pkg")
            return m.sym(2), getattr(m, "sym")(3)


        print(f())
        """,
        """
        import importlib


        def f():
            m = importlib.import_module("pkg.sub")
            return m.sym(2), getattr(m, "sym")(3)


        print(f())
        """,
    )


def test_a_name_that_serves_for_more_keeps_the_package() -> None:
    moves(
        """
        import importlib

        m = importlib.import_module("pkg")
        print(m.sym(2), getattr(m, "sym", None)(3), m.light(1))
        """,
        """
        import importlib

        m = importlib.import_module("pkg")
        print(importlib.import_module("pkg.sub").sym(2), getattr(importlib.import_module("pkg.sub"), "sym", None)(3), m.light(1))
        """,
    )


def test_a_name_that_is_bound_twice_is_refused() -> None:
    blocks(
        """
        import importlib

        m = importlib.import_module("pkg")
        if m.light(0):
            m = None
        print(m.sym(2))
        """,
        "no import statement shows",
        at="main.py:6",
    )


def test_a_name_whose_callee_is_another_where_it_is_read_is_refused() -> None:
    blocks(
        """
        import importlib

        m = importlib.import_module("pkg")


        def f(importlib):
            return m.sym(2), m.light(1)


        print(f(None))
        """,
        "no import statement shows",
        at="main.py:7",
    )


def test_a_symbol_that_has_the_name_of_its_module_is_read_from_the_module() -> None:
    check_rewritten(
        {
            **SAME,
            "main.py": f'{HEAD}print(im("pkg").fused(2), pkgutil.resolve_name("pkg:fused")(2), im("pkg.fused").other())\n',
        },
        "pkg",
        "fused",
        {
            **SAME_NARROWED,
            "main.py": f'{HEAD}print(im("pkg.fused").fused(2), pkgutil.resolve_name("pkg.fused:fused")(2), im("pkg.fused").other())\n',
        },
        run=["main"],
        unloaded=["pkg.fused"],
    )


def test_the_name_follows_where_the_origin_has_another_one() -> None:
    tree: Tree = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import _impl as sym\n",
        "pkg/sub.py": "def _impl(x=1):\n    return x * 10\n",
        "main.py": f'{HEAD}print(im("pkg").sym(2), __import__("pkg", fromlist=["sym"]).sym(2), getattr(im("pkg"), "sym")(2))\n',
    }
    after = {
        **NARROWED,
        "main.py": (
            f'{HEAD}print(im("pkg.sub")._impl(2), __import__("pkg.sub", fromlist=["_impl"])._impl(2), '
            'getattr(im("pkg.sub"), "_impl")(2))\n'
        ),
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_module_reached_through_the_package_by_a_string_is_none_of_our_business() -> None:
    stays(
        'import importlib\n\nprint(importlib.import_module("pkg").light(1), importlib.import_module("pkg.sub").sym(2))\n'
    )


@pytest.mark.parametrize(
    "code",
    [
        'name = "pkg"\nprint(importlib.import_module(name).sym(2))\n',
        'for name in ("pkg",):\n    print(getattr(importlib.import_module(name), "sym")(2))\n',
        'name = "pkg"\nprint(sys.modules[name].sym(2))\n',
    ],
)
def test_a_string_that_was_given_a_name_first_is_refused(code: str) -> None:
    blocks(f"import importlib\nimport sys\n\n{code}", "call or a container|by name", at="main.py:5")


def test_a_name_that_the_frame_is_asked_for_keeps_the_package() -> None:
    moves(
        """
        import importlib


        def f():
            m = importlib.import_module("pkg")
            return m.sym(2), locals()["m"].light(1)


        print(f())
        """,
        """
        import importlib


        def f():
            m = importlib.import_module("pkg")
            return importlib.import_module("pkg.sub").sym(2), locals()["m"].light(1)


        print(f())
        """,
    )


def test_a_path_that_resolves_to_the_module_itself_stays() -> None:
    text = 'import pkgutil\n\nprint(pkgutil.resolve_name("pkg.fused").other())\n'
    check_rewritten({**SAME, "main.py": text}, "pkg", "fused", dict(SAME_NARROWED), run=["main"])


def test_a_question_and_a_read_of_what_a_test_patches_share_one_import() -> None:
    moves(
        'import pkg\n\n\ndef f():\n    return vars(pkg)["sym"](1), hasattr(pkg, "sym")\n',
        'import pkg\nfrom pkg.sub import sym\n\n\ndef f():\n    return sym(1), hasattr(pkg.sub, "sym")\n',
        path="user.py",
        more={
            "main.py": (
                "from unittest import mock\n\nimport user\n\n"
                'with mock.patch("pkg.sub.sym", lambda x: "patched"):\n    print(user.f())\n'
            )
        },
    )


@pytest.mark.parametrize("read", ['importlib.import_module("pkg").sym(1)', 'getattr(pkg, "sym", print())(1)'])
def test_a_late_read_of_what_a_test_patches_at_its_origin_is_refused(read: str) -> None:
    more = {
        "test_it.py": 'from unittest import mock\n\n\ndef test_it():\n    with mock.patch("pkg.sub.sym"):\n        pass\n'
    }
    blocks(f"import importlib\nimport pkg\n\n\ndef f():\n    return {read}\n", "patch|call or a container", more=more)


def test_a_read_by_name_of_what_a_test_patches_at_its_origin_becomes_early() -> None:
    moves(
        'import pkg\n\n\ndef f():\n    return getattr(pkg, "sym")(1), hasattr(pkg, "sym")\n',
        ('import pkg\nfrom pkg.sub import sym\n\n\ndef f():\n    return sym(1), hasattr(pkg.sub, "sym")\n'),
        path="user.py",
        more={
            "main.py": (
                "from unittest import mock\n\nimport user\n\n"
                'with mock.patch("pkg.sub.sym", lambda x: "patched"):\n    print(user.f())\n'
            )
        },
    )


@pytest.mark.parametrize(
    "read",
    [
        "def f(x: 'm.Sym' = None):\n    return x\n",
        "from typing import cast\n\nv = cast('m.Sym', 1)\n",
        "v: m.Sym = 1\n",
        "match 1:\n    case m.Sym():\n        pass\n",
        "match 1:\n    case m.Sym:\n        pass\n",
    ],
)
def test_a_read_where_no_call_can_stand_is_refused(read: str) -> None:
    # the name in a string or a pattern cannot become `importlib.import_module("pkg.sub").Sym`
    files: Tree = {
        "pkg/__init__.py": "from .sub import Sym as Sym\n",
        "pkg/sub.py": "class Sym_impl: ...\n\n\nSym = Sym_impl\n",
        "main.py": f"import importlib\n\nm = importlib.import_module('pkg')\n{read}",
    }
    check_refused(
        files, "pkg", "Sym", "m is bound to the package in a way that no import statement shows", at="main.py"
    )


def test_a_class_body_reads_before_an_import_that_stands_below_it() -> None:
    text = "import sys\nimport pkg\n\n\nclass A:\n    f = staticmethod(sys.modules['pkg'].sym)\n"
    "\n\nfrom pkg.sub import Sym\n\nprint(A.f(2), Sym)\n"
    files: Tree = {**PKG, "main.py": text}
    with tree(files) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4), outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"]))
