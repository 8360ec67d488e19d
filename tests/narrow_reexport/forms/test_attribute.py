"""`pkg.sym`, whichever way the file reached the package."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED, answered, blocks, moves, same_moves, stays
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, narrow, tree


def test_a_late_read_stays_late_under_import_pkg() -> None:
    moves("import pkg\n\nprint(pkg.sym(2))\n", "import pkg.sub\n\nprint(pkg.sub.sym(2))\n")


def test_other_reads_of_the_package_keep_its_import() -> None:
    moves(
        "import pkg\n\nprint(pkg.sym(2), pkg.light(3))\n",
        "import pkg\nimport pkg.sub\n\nprint(pkg.sub.sym(2), pkg.light(3))\n",
    )


def test_a_submodule_that_is_imported_already_is_not_imported_again() -> None:
    moves(
        "import pkg.sub\n\nprint(pkg.sym(2), pkg.sub.Sym.limit)\n",
        "import pkg.sub\n\nprint(pkg.sub.sym(2), pkg.sub.Sym.limit)\n",
    )


def test_import_of_another_submodule_gets_the_origin_beside_it() -> None:
    moves(
        "import pkg.light\n\nprint(pkg.sym(2))\n",
        "import pkg.light\nimport pkg.sub\n\nprint(pkg.sub.sym(2))\n",
    )


def test_an_aliased_package_becomes_a_from_import() -> None:
    moves(
        "import pkg as p\n\nprint(p.sym(2), p.light(3))\n",
        "import pkg as p\nfrom pkg.sub import sym\n\nprint(sym(2), p.light(3))\n",
    )


def test_a_package_imported_from_its_parent_becomes_a_from_import() -> None:
    tree = {f"top/{path}": text for path, text in PKG.items()} | {
        "top/__init__.py": "",
        "main.py": "from top import pkg\n\nprint(pkg.sym(2), pkg.light(3))\n",
        "alias.py": "from top import pkg as q\n\nprint(q.sym(2), q.light(3))\n",
        "top/inside.py": "from . import pkg\n\nprint(pkg.sym(2), pkg.light(3))\n",
    }
    after = {
        "top/pkg/__init__.py": NARROWED["pkg/__init__.py"],
        "main.py": "from top import pkg\nfrom top.pkg.sub import sym\n\nprint(sym(2), pkg.light(3))\n",
        "alias.py": "from top import pkg as q\nfrom top.pkg.sub import sym\n\nprint(sym(2), q.light(3))\n",
        "top/inside.py": "from . import pkg\nfrom .pkg.sub import sym\n\nprint(sym(2), pkg.light(3))\n",
    }
    check_rewritten(tree, "top.pkg", "sym", after, run=["main", "alias", "top.inside"], unloaded=["top.pkg.sub"])


def test_a_dotted_import_of_a_nested_package_goes_one_deeper() -> None:
    tree = {f"top/{path}": text for path, text in PKG.items()} | {
        "top/__init__.py": "",
        "main.py": "import top.pkg\n\nprint(top.pkg.sym(2))\n",
    }
    after = {
        "top/pkg/__init__.py": NARROWED["pkg/__init__.py"],
        "main.py": "import top.pkg.sub\n\nprint(top.pkg.sub.sym(2))\n",
    }
    check_rewritten(tree, "top.pkg", "sym", after, run=["main"], unloaded=["top.pkg.sub"])


def test_every_place_of_an_expression_is_found() -> None:
    moves(
        """
        import pkg

        def deco(f=pkg.sym):
            return f

        @pkg.sym
        def ignored():
            pass

        class Small(object):
            limit = pkg.sym(1)

        print([pkg.sym(x) for x in range(2)], {k: pkg.sym for k in ""}, (lambda: pkg.sym(3))())
        if (y := pkg.sym(4)) and not pkg.sym is None:
            print(y, -pkg.sym(5), pkg.sym(*[6]), [pkg.sym][0](7))
        """,
        """
        import pkg.sub

        def deco(f=pkg.sub.sym):
            return f

        @pkg.sub.sym
        def ignored():
            pass

        class Small(object):
            limit = pkg.sub.sym(1)

        print([pkg.sub.sym(x) for x in range(2)], {k: pkg.sub.sym for k in ""}, (lambda: pkg.sub.sym(3))())
        if (y := pkg.sub.sym(4)) and not pkg.sub.sym is None:
            print(y, -pkg.sub.sym(5), pkg.sub.sym(*[6]), [pkg.sub.sym][0](7))
        """,
        more={"pkg/sub.py": "def sym(x=1):\n    return x if callable(x) else x * 10\n"},
        run=["main"],
    )


CLASSES: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .light import light\nfrom .sub import Err\n",
    "pkg/light.py": "def light(x):\n    return x\n",
    "pkg/sub.py": "class Err(Exception):\n    __slots__ = ()\n    code = 7\n",
}


def test_base_classes_and_handlers_are_rewritten() -> None:
    text = """
    import pkg

    class Own(pkg.Err):
        pass

    try:
        raise Own
    except (KeyError, pkg.Err) as error:
        print(type(error).__mro__[1].__name__, pkg.Err.code)
    """
    after = text.replace("import pkg", "import pkg.sub").replace("pkg.Err", "pkg.sub.Err")
    check_rewritten(
        {**CLASSES, "main.py": text}, "pkg", "Err", {**NARROWED, "main.py": after}, run=["main"], unloaded=["pkg.sub"]
    )


def test_a_pattern_stays_a_value_pattern() -> None:
    text = (
        "import pkg\n\nmatch 7:\n    case pkg.Err.code:\n        print('code')\n"
        "    case pkg.Err():\n        print('class')\n"
    )
    after = text.replace("import pkg", "import pkg.sub").replace("pkg.Err", "pkg.sub.Err")
    check_rewritten(
        {**CLASSES, "main.py": text}, "pkg", "Err", {**NARROWED, "main.py": after}, run=["main"], unloaded=["pkg.sub"]
    )


def test_a_value_pattern_through_an_alias_never_becomes_a_capture() -> None:
    # `case LIMIT:` would match anything
    tree = {
        "pkg/__init__.py": "from .sub import LIMIT\n",
        "pkg/sub.py": "LIMIT = 3\n",
        "main.py": (
            "import pkg as p\n\nmatch 4:\n    case p.LIMIT:\n        print('limit')\n"
            "    case _:\n        print('other')\n"
        ),
    }
    after = {
        "pkg/__init__.py": "",
        "main.py": (
            "import pkg as p\nimport pkg.sub\n\nmatch 4:\n    case p.sub.LIMIT:\n"
            "        print('limit')\n    case _:\n        print('other')\n"
        ),
    }
    check_rewritten(tree, "pkg", "LIMIT", after, run=["main"], unloaded=["pkg.sub"])


def test_reads_deep_inside_functions_follow_the_import_at_module_level() -> None:
    moves(
        (
            "import pkg\n\n\ndef outer():\n    def inner():\n        return pkg.sym(2)\n\n"
            "    return inner\n\n\nprint(outer()())\n"
        ),
        (
            "import pkg.sub\n\n\ndef outer():\n    def inner():\n"
            "        return pkg.sub.sym(2)\n\n    return inner\n\n\nprint(outer()())\n"
        ),
    )


def test_an_import_in_a_function_stays_there() -> None:
    moves(
        "def run():\n    import pkg\n\n    return pkg.sym(2)\n\n\nprint(run())\n",
        "def run():\n    import pkg.sub\n\n    return pkg.sub.sym(2)\n\n\nprint(run())\n",
    )


def test_a_global_declaration_in_a_function_is_followed() -> None:
    moves(
        "def load():\n    global pkg\n    import pkg\n\n\nload()\nprint(pkg.sym(2))\n",
        "def load():\n    global pkg\n    import pkg\n    import pkg.sub\n\n\nload()\nprint(pkg.sub.sym(2))\n",
    )


def test_a_local_name_of_the_package_is_not_the_package() -> None:
    stays(
        """
        class Other:
            sym = "other"

        def run(pkg):
            return pkg.sym

        def local():
            pkg = Other
            return pkg.sym

        class Holder:
            def __init__(self):
                self.pkg = Other

            def get(self):
                return self.pkg.sym

        print(run(Other), local(), Holder().get(), [pkg.sym for pkg in [Other]])
        """
    )


def test_a_parameter_shadows_the_import_only_where_it_is_in_scope() -> None:
    moves(
        "import pkg\n\n\ndef run(pkg):\n    return pkg.sym\n\n\nprint(pkg.sym(2))\n",
        "import pkg.sub\n\n\ndef run(pkg):\n    return pkg.sym\n\n\nprint(pkg.sub.sym(2))\n",
    )


def test_a_class_attribute_does_not_reach_into_methods() -> None:
    moves(
        (
            "import pkg\n\n\nclass A:\n    pkg = None\n\n    def run(self):\n"
            "        return pkg.sym(2)\n\n\nprint(A().run())\n"
        ),
        (
            "import pkg.sub\n\n\nclass A:\n    pkg = None\n\n    def run(self):\n"
            "        return pkg.sub.sym(2)\n\n\nprint(A().run())\n"
        ),
    )


def test_a_name_that_is_the_package_only_on_some_paths_is_refused() -> None:
    blocks(
        "import pkg\nimport sys\n\nif len(sys.argv) > 9:\n    pkg = sys\n\nprint(pkg.sym(2))\n",
        "only on some paths",
        at="main.py:7",
    )


def test_a_fallback_to_none_is_still_the_package() -> None:
    # the origin first: where it fails, `pkg` is still unbound, as before
    moves(
        "try:\n    import pkg\nexcept ImportError:\n    pkg = None\n\nprint(pkg.sym(2) if pkg else None)\n",
        (
            "try:\n    import pkg.sub\n    import pkg\nexcept ImportError:\n"
            "    pkg = None\n\nprint(pkg.sub.sym(2) if pkg else None)\n"
        ),
    )


def test_a_wrapper_with_the_name_of_the_symbol_does_not_call_itself() -> None:
    moves(
        "import pkg\n\n\ndef sym(x):\n    return pkg.sym(x) + 1\n\n\nprint(sym(2))\n",
        "import pkg.sub\n\n\ndef sym(x):\n    return pkg.sub.sym(x) + 1\n\n\nprint(sym(2))\n",
    )


def test_a_wrapper_under_an_alias_gets_a_private_name() -> None:
    moves(
        "import pkg as p\n\n\ndef sym(x):\n    return p.sym(x) + 1\n\n\nprint(sym(2), p.light(1))\n",
        (
            "import pkg as p\nfrom pkg.sub import sym as _sym\n\n\ndef sym(x):\n"
            "    return _sym(x) + 1\n\n\nprint(sym(2), p.light(1))\n"
        ),
    )


def test_a_local_variable_of_the_symbols_name_is_not_clobbered() -> None:
    moves(
        "import pkg as p\n\n\ndef run():\n    sym = p.sym(2)\n    return sym\n\n\nprint(run(), p.light(1))\n",
        (
            "import pkg as p\nfrom pkg.sub import sym as _sym\n\n\ndef run():\n"
            "    sym = _sym(2)\n    return sym\n\n\nprint(run(), p.light(1))\n"
        ),
    )


def test_a_package_gets_no_new_public_name() -> None:
    more = {
        "main.py": "import outer\n\nprint(outer.run(), [name for name in vars(outer) if not name.startswith('_')])\n"
    }
    moves(
        "import pkg as p\n\n\ndef run():\n    return p.sym(2), p.light(1)\n",
        "import pkg as p\nfrom pkg.sub import sym as _sym\n\n\ndef run():\n    return _sym(2), p.light(1)\n",
        path="outer/__init__.py",
        more=more,
    )


def test_a_file_that_imports_the_package_but_not_the_symbol_is_left_alone_and_light() -> None:
    stays("import pkg\nimport sys\n\nprint(pkg.light(2))\n# sym is read elsewhere\n")


def test_a_same_name_read_becomes_a_from_import() -> None:
    same_moves("import pkg\n\nprint(pkg.fused(2))\n", "from pkg.fused import fused\n\nprint(fused(2))\n")


def test_a_same_name_read_beside_others_keeps_import_pkg() -> None:
    same_moves(
        "import pkg\n\nprint(pkg.fused(2), pkg.__name__)\n",
        "import pkg\nfrom pkg.fused import fused\n\nprint(fused(2), pkg.__name__)\n",
    )


def test_a_hidden_module_is_reached_by_a_from_import() -> None:
    # `pkg.rotary` stays the function, so `pkg.rotary.helper` would fail
    tree = {
        "pkg/__init__.py": "from .rotary import helper, rotary\n",
        "pkg/rotary.py": "def rotary():\n    return 'r'\n\n\ndef helper():\n    return 'h'\n",
        "main.py": "import pkg\n\nprint(pkg.helper(), pkg.rotary())\n",
    }
    after = {
        "pkg/__init__.py": "from .rotary import rotary\n",
        "main.py": "import pkg\nfrom pkg.rotary import helper\n\nprint(helper(), pkg.rotary())\n",
    }
    check_rewritten(tree, "pkg", "helper", after, run=["main"])


def test_a_submodule_that_only_the_package_loaded_gets_its_own_import() -> None:
    moves(
        "import pkg\n\nprint(pkg.sub.Sym.limit, pkg.light(1))\n",
        "import pkg\nimport pkg.sub\n\nprint(pkg.sub.Sym.limit, pkg.light(1))\n",
    )


def test_a_module_of_another_package_that_only_the_origin_loaded_gets_its_own_import() -> None:
    more = {
        "pkg/sub.py": "import tools.deep\n\n\ndef sym(x=1):\n    return x * 10\n",
        "tools/__init__.py": "",
        "tools/deep.py": "def f():\n    return 'deep'\n",
    }
    moves(
        "import pkg\nimport tools\n\nprint(tools.deep.f(), pkg.light(1))\n",
        "import pkg\nimport tools\nimport tools.deep\n\nprint(tools.deep.f(), pkg.light(1))\n",
        more=more,
    )


def test_a_standard_library_module_that_only_the_origin_loaded_gets_its_own_import() -> None:
    more = {"pkg/sub.py": "import xml.dom.minidom\n\n\ndef sym(x=1):\n    return x * 10\n"}
    moves(
        "import pkg\nimport xml\n\nprint(xml.dom.minidom.Node.TEXT_NODE, pkg.light(1))\n",
        "import pkg\nimport xml\nimport xml.dom.minidom\n\nprint(xml.dom.minidom.Node.TEXT_NODE, pkg.light(1))\n",
        more=more,
    )


@pytest.mark.parametrize(
    ("statement", "verb"),
    [
        ("pkg.sym = print", "assigns"),
        ("del pkg.sym", "deletes"),
        ("pkg.sym += 1", "assigns"),
        ("for pkg.sym in []: pass", "assigns"),
    ],
)
def test_a_write_to_the_attribute_is_refused(statement: str, verb: str) -> None:
    blocks(f"import pkg\n\n{statement}\n", verb, at="main.py:3")


def test_a_container_that_holds_the_package_is_never_passed_over_in_silence() -> None:
    answered("import pkg\n\nall_of = {'a': pkg}\nprint(all_of['a'].sym(2))\n", "main.py:")


def test_another_modules_attribute_that_is_the_package_is_followed() -> None:
    more = {"consumer.py": "import pkg\n\n\ndef f():\n    return pkg.light(1)\n"}
    moves(
        "import consumer\n\nprint(consumer.f(), consumer.pkg.sym(4))\n",
        "import consumer\nimport pkg.sub\n\nprint(consumer.f(), consumer.pkg.sub.sym(4))\n",
        more=more,
    )


def test_a_file_whose_last_use_of_the_package_moves_still_gives_it_to_others() -> None:
    more = {"main.py": "import consumer\n\nprint(consumer.f(), consumer.pkg.light(4))\n"}
    tree = {**PKG, "consumer.py": "import pkg as pkg\n\n\ndef f():\n    return pkg.sym(1)\n", **more}
    after = {**NARROWED, "consumer.py": "import pkg as pkg\nfrom pkg.sub import sym\n\n\ndef f():\n    return sym(1)\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_reads_of_two_symbols_share_one_import() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import Sym, sym\n",
        "main.py": "import pkg\n\nprint(pkg.sym(2), pkg.Sym.limit)\n",
    }
    after = {**NARROWED, "main.py": "import pkg.sub\n\nprint(pkg.sub.sym(2), pkg.sub.Sym.limit)\n"}
    check_rewritten(tree, "pkg", "sym Sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_read_with_white_space_and_newlines_in_it_is_found() -> None:
    moves(
        "import pkg\n\nprint((pkg\n    . sym(2)), pkg  .  sym(3))\n",
        "import pkg.sub\n\nprint((pkg\n    . sub.sym(2)), pkg  .  sub.sym(3))\n",
    )


def test_white_space_in_the_import_is_part_of_the_name_that_is_replaced() -> None:
    tree = {
        "outer/__init__.py": "",
        "outer/pkg/__init__.py": "from .implkg import sym\n",
        "outer/pkg/implkg.py": "def sym():\n    return 1\n",
        "main.py": "import outer . pkg\n\nprint(outer . pkg . sym())\n",
    }
    after = {
        "outer/pkg/__init__.py": "",
        "main.py": "import outer.pkg.implkg\n\nprint(outer . pkg . implkg.sym())\n",
    }
    check_rewritten(tree, "outer.pkg", "sym", after, run=["main"])


def test_a_comment_between_the_package_and_the_name_survives() -> None:
    with tree({**PKG, "main.py": "import pkg\n\nprint((pkg  # the heavy one\n       .sym(2)))\n"}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4), outcome.text
        assert "# the heavy one" in (root / "main.py").read_text()


def test_a_package_reached_by_import_module_follows_or_is_refused() -> None:
    answered('import importlib\n\nprint(importlib.import_module("pkg").sym(2))\n', "main.py:3")


def test_the_package_assigned_to_another_name_is_followed() -> None:
    moves(
        "import pkg\n\nops = pkg\nprint(ops.sym(2), pkg.light(1))\n",
        "import pkg.sub\n\nops = pkg\nprint(ops.sub.sym(2), pkg.light(1))\n",
    )


def test_a_symbol_that_is_a_submodule_is_loaded_where_it_is_read() -> None:
    tree = {
        "pkg/__init__.py": "from . import sub\n",
        "pkg/sub.py": "def f():\n    return 'f'\n",
        "main.py": "import pkg\n\nprint(pkg.sub.f())\n",
        "fromit.py": "from pkg import sub\n\nprint(sub.f())\n",
    }
    after = {"pkg/__init__.py": "", "main.py": "import pkg\nimport pkg.sub\n\nprint(pkg.sub.f())\n"}
    check_rewritten(tree, "pkg", "sub", after, run=["main", "fromit"], unloaded=["pkg.sub"])


def test_the_same_name_function_and_its_module_are_told_apart() -> None:
    files = {**SAME, "main.py": "import pkg.fused\n\nprint(pkg.fused(2))\n"}
    after = {**SAME_NARROWED, "main.py": "import pkg.fused\nfrom pkg.fused import fused\n\nprint(fused(2))\n"}
    check_rewritten(files, "pkg", "fused", after, run=["main"], unloaded=["pkg.fused"])


def test_an_optional_symbol_read_at_module_level_is_refused() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": (
            "from .light import light\n\ntry:\n    from .sub import sym\nexcept ImportError:\n    pass\n"
        ),
        "main.py": "import pkg\n\nprint(pkg.sym(2))\n",
    }
    check_refused(tree, "pkg", "sym", "optional", at="main.py:3")


def test_a_late_read_and_one_that_must_be_early_share_one_import_statement() -> None:
    tree = {
        "pkg/__init__.py": "from .a import fa\nfrom .b import fb\n",
        "pkg/a.py": "def fa():\n    return 1\n",
        "pkg/b.py": "def fb():\n    return 2\n",
        "user.py": "import pkg\n\n\ndef f():\n    return pkg.fa(), pkg.fb()\n",
        "main.py": 'from unittest import mock\n\nimport user\n\nwith mock.patch("pkg.b.fb"):\n    print(user.f())\n',
    }
    after = {
        "pkg/__init__.py": "",
        "user.py": "import pkg\nimport pkg.a\nfrom pkg.b import fb\n\n\ndef f():\n    return pkg.a.fa(), fb()\n",
    }
    check_rewritten(tree, "pkg", "fa fb", after, run=["main"])


THREE: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .m_a import a\nfrom .m_b import b\nfrom .m_c import c\n",
    "pkg/m_a.py": "def a():\n    return 'a'\n",
    "pkg/m_b.py": "def b():\n    return 'b'\n",
    "pkg/m_c.py": "def c():\n    return 'c'\n",
}


def test_one_import_of_the_package_becomes_one_for_each_of_several_origins() -> None:
    before = {**THREE, "main.py": "import pkg\n\nprint(pkg.a(), pkg.b(), pkg.c())\n"}
    after = {
        "pkg/__init__.py": "",
        "main.py": "import pkg.m_a\nimport pkg.m_b\nimport pkg.m_c\n\nprint(pkg.m_a.a(), pkg.m_b.b(), pkg.m_c.c())\n",
    }
    check_rewritten(before, "pkg", "a b c", after, run=["main"])


def test_an_import_of_several_modules_is_widened_for_several_origins() -> None:
    before = {
        **THREE,
        "main.py": "def f():\n    import os, pkg  # both\n    return os.sep, pkg.a(), pkg.b()\n\n\nprint(f())\n",
    }
    with tree(before) as root:
        outcome = narrow(root, "pkg", "a", "b", "c")
        assert outcome.code == 0, outcome.text
        text = (root / "main.py").read_text()
        assert "import os, pkg.m_a  # both\n    import pkg.m_b\n" in text
        assert oracle.run_programs(root, ["main"], ["."])


def test_an_import_of_the_origin_that_stands_below_a_read_does_not_serve_it() -> None:
    text = (
        "import pkg\nprint(getattr(pkg, 'a')())\nimport pkg as p\n\n\nclass A:\n    f = staticmethod(p.a)\n\n\n"
        "print(pkg.b(), A.f())\n"
    )
    before = {**THREE, "main.py": text}
    with tree(before) as root:
        old = oracle.run_programs(root, ["main"], ["."])
        outcome = narrow(root, "pkg", "a")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"], ["."]))
        assert (root / "main.py").read_text().startswith("import pkg\nimport pkg.m_a\nprint(getattr(pkg.m_a, 'a')())\n")


def test_an_origin_imported_in_another_branch_does_not_serve_a_read() -> None:
    text = (
        "try:\n    import operator\n    import pkg\nexcept ImportError:\n    raise\nelse:\n"
        "    f = operator.attrgetter('a')(pkg)\nimport pkg, pkg as p\nprint(f(), p.a())\n"
    )
    with tree({**THREE, "main.py": text}) as root:
        old = oracle.run_programs(root, ["main"], ["."])
        outcome = narrow(root, "pkg", "a")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"], ["."]))


# Names that stand in two scopes, each found by a reader of the change that let symbols share one.
FIRST = "def first():\n    return p.a()\n\n\n"
BELOW = "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n"


def same_behaviour(files: Tree, symbols: str) -> str:
    with tree(files) as root:
        old = oracle.run_programs(root, ["main"], ["."])
        outcome = narrow(root, "pkg", *symbols.split())
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"], ["."]))
        return (root / "pkg/m.py").read_text()


@pytest.mark.parametrize("star", ["", "from .m import *\n"])  # with it new names in m are private
@pytest.mark.parametrize(
    "reads",
    [
        f"{FIRST}def second(flag):\n    if flag:\n        import pkg as q\n        return q.c()\n    return p.b()\n",
        f"{FIRST}def second(flag):\n    if flag:\n        import pkg as q\n        return q.a()\n    return p.a()\n",
        f"{FIRST}def second(flag):\n    import pkg as q\n    return q.c(), p.b()\n",
    ],
)
def test_a_name_of_a_function_never_hides_one_of_the_module_from_its_readers(star: str, reads: str) -> None:
    files: Tree = {
        "pkg/__init__.py": f"{star}from .sub import a, b, c\n",
        "pkg/sub.py": f"from . import m\n\n\n{BELOW}",
        "pkg/m.py": f"import pkg as p\n\n\n{reads}",
        "main.py": "from pkg import m\n\nprint(m.first(), m.second(0), m.second(1))\n",
    }
    same_behaviour(files, "a b c")


def test_two_modules_of_one_name_get_two_names() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .m import *\nfrom .sub import a\nfrom .other.sub import b\n",
        "pkg/sub.py": f"from . import m\n\n\n{BELOW}",
        "pkg/other/__init__.py": "",
        "pkg/other/sub.py": f"from .. import m\n\n\n{BELOW}",
        "pkg/m.py": f"import pkg as p\n\n\n{FIRST}def second():\n    import pkg as q\n    return q.b(), p.a()\n",
        "main.py": "from pkg import m\n\nprint(m.first(), m.second())\n",
    }
    same_behaviour(files, "a b")


def test_no_name_is_one_that_a_class_would_mangle() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .m import *\nfrom ._core import a, b\n",
        "pkg/_core.py": f"from . import m\n\n\n{BELOW}",
        "pkg/m.py": "import pkg as p\n\n\nclass C:\n    def run(self):\n        return p.a(), p.b()\n",
        "main.py": "from pkg.m import C\n\nprint(C().run())\n",
    }
    assert "import pkg._core as _core\n" in same_behaviour(files, "a b")


def test_symbols_of_one_module_share_its_name() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .m import *\nfrom .sub import a, b\n",
        "pkg/sub.py": f"from . import m\n\n\n{BELOW}",
        "pkg/m.py": "import pkg as p\n\n\ndef run():\n    return p.a(), p.b()\n",
        "main.py": "from pkg.m import run\n\nprint(run())\n",
    }
    text = same_behaviour(files, "a b")
    assert text.count("import pkg.sub as _sub\n") == 1 and "return _sub.a(), _sub.b()" in text


@pytest.mark.parametrize("read", ["q.sym()", "[q.sym for _ in '1'][0]()"])
def test_a_late_import_of_the_package_is_no_way_to_an_origin_that_is_patched(read: str) -> None:
    files: Tree = {
        **PKG,
        "late.py": f"def f():\n    import pkg as q\n    return {read}\n",
        "test_late.py": "from unittest import mock\nimport late\n\n\ndef test():\n"
        "    with mock.patch('pkg.sub.sym', lambda: 8):\n        return late.f()\n",
    }
    check_refused(files, "pkg", "sym", "a test patches the name at its origin, and this import inside", at="late.py:3")


def test_a_name_with_combining_vowels() -> None:
    name = "\N{DEVANAGARI LETTER KA}\N{DEVANAGARI VOWEL SIGN I}"
    files: Tree = {
        "pkg/__init__.py": f"from .sub import {name}\n",
        "pkg/sub.py": f"def {name}():\n    return 1\n",
        "pkg/m.py": "",
        "main.py": f"import pkg\n\nprint(pkg.{name}())\n",
    }
    same_behaviour(files, name)
