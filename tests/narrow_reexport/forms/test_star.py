"""`from pkg import *`: consumers that get the symbol by a star."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG, moves, same_moves, stays
from tests.narrow_reexport.verbs import check_rewritten, narrow, tree


def test_a_used_name_gets_an_explicit_import_beside_the_star() -> None:
    moves(
        "from pkg import *\n\nprint(sym(2), light(1))\n",
        "from pkg import *\nfrom pkg.sub import sym\n\nprint(sym(2), light(1))\n",
    )


def test_a_relative_star_gets_a_relative_import() -> None:
    moves(
        "from . import *\n\nprint(sym(2), light(1))\n",
        "from . import *\nfrom .sub import sym\n\nprint(sym(2), light(1))\n",
        path="pkg/user.py",
        run=["pkg.user"],
    )


def test_a_star_that_does_not_use_the_name_is_left_alone() -> None:
    stays("from pkg import *\n\nprint(light(1))\n")


def test_a_name_bound_again_before_its_first_use_is_left_alone() -> None:
    stays("from pkg import *\n\n\ndef sym(x):\n    return 'own'\n\n\nprint(sym(2), light(1))\n")


def test_the_binding_order_is_kept() -> None:
    # the later star wins, so the explicit import may not stand below it
    more = {"later.py": "def sym(x):\n    return 'later'\n"}
    moves(
        "from pkg import *\nfrom later import *\n\nprint(sym(2), light(1))\n",
        "from pkg import *\nfrom pkg.sub import sym\nfrom later import *\n\nprint(sym(2), light(1))\n",
        more=more,
    )


def test_a_star_that_all_hides_the_name_from_needs_nothing() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": 'from .light import light\nfrom .sub import sym\n\n__all__ = ["light"]\n',
        "main.py": "from pkg import *\n\nsym = light\nprint(sym(2))\n",
    }
    check_rewritten(
        tree,
        "pkg",
        "sym",
        {"pkg/__init__.py": 'from .light import light\n\n__all__ = ["light"]\n'},
        run=["main"],
        unloaded=["pkg.sub"],
    )


def test_an_outer_package_that_passes_the_star_on_still_exports_it() -> None:
    more = {"main.py": "from outer import sym\n\nprint(sym(2))\n"}
    moves("from pkg import *\n", "from pkg import *\nfrom pkg.sub import sym\n", path="outer/__init__.py", more=more)


def test_an_outer_all_that_lists_the_name_still_holds() -> None:
    more = {"main.py": "from outer import *\n\nprint(sym(2))\n"}
    moves(
        'from pkg import *\n\n__all__ = ["light", "sym"]\n',
        'from pkg import *\nfrom pkg.sub import sym\n\n__all__ = ["light", "sym"]\n',
        path="outer/__init__.py",
        more=more,
    )


def test_a_module_that_passes_the_star_on_to_a_reader_still_does() -> None:
    more = {"main.py": "import middle\n\nprint(middle.sym(2))\n"}
    moves("from pkg import *\n", "from pkg import *\nfrom pkg.sub import sym\n", path="middle.py", more=more)


def test_a_chain_of_stars_still_ends_in_the_symbol() -> None:
    more = {"second.py": "from middle import *\n", "main.py": "from second import sym\n\nprint(sym(2))\n"}
    moves("from pkg import *\n", "from pkg import *\nfrom pkg.sub import sym\n", path="middle.py", more=more)


def test_a_star_in_a_try_stays_in_the_try() -> None:
    moves(
        "try:\n    from pkg import *\nexcept ImportError:\n    pass\n\nprint(sym(2), light(1))\n",
        (
            "try:\n    from pkg.sub import sym\n    from pkg import *\n"
            "except ImportError:\n    pass\n\nprint(sym(2), light(1))\n"
        ),
    )


def test_a_submodule_that_the_star_took_along_is_imported() -> None:
    # without __all__ a star takes the submodules too that the package had loaded
    moves(
        "from pkg import *\n\nprint(sub.Sym.limit, light(1))\n",
        "from pkg import *\nfrom pkg import sub\n\nprint(sub.Sym.limit, light(1))\n",
    )


def test_two_stars_of_one_file_are_told_apart() -> None:
    more = {"other/__init__.py": "sym = 'another'\n"}
    stays("from other import *\n\nprint(sym)\n", more=more)


def test_a_star_of_a_name_used_only_in_a_function_counts_as_used() -> None:
    moves(
        "from pkg import *\n\n\ndef run():\n    return sym(2)\n\n\nprint(run(), light(1))\n",
        "from pkg import *\nfrom pkg.sub import sym\n\n\ndef run():\n    return sym(2)\n\n\nprint(run(), light(1))\n",
    )


def test_a_name_used_in_a_string_annotation_counts_as_used() -> None:
    text = (
        'import typing\nfrom pkg import *\n\n\ndef run(x: "Sym"):\n    return x\n\n\n'
        "print(typing.get_type_hints(run)['x'].limit, light(1))\n"
    )
    tree = {**PKG, "pkg/__init__.py": "from .light import light\nfrom .sub import Sym\n", "main.py": text}
    after = text.replace("from pkg import *\n", "from pkg import *\nfrom pkg.sub import Sym\n")
    check_rewritten(tree, "pkg", "Sym", {**NARROWED, "main.py": after}, run=["main"], unloaded=["pkg.sub"])


def test_an_import_that_a_star_needs_is_not_joined_with_one_above_the_star() -> None:
    # once the module pkg.fused is loaded, the star binds it over the function
    same_moves(
        "from pkg import fused\nimport pkg\nfrom pkg import *\n\nprint(fused(2))\n",
        "from pkg.fused import fused\nimport pkg\nfrom pkg import *\nfrom pkg.fused import fused\n\nprint(fused(2))\n",
    )


def test_a_new_name_beside_a_star_is_one_that_the_star_cannot_bind() -> None:
    same_moves(
        "from pkg import fused\nimport pkg\nfrom pkg import *\n\nprint(pkg.fused(2))\n",
        "from pkg.fused import fused, fused as _fused\nfrom pkg import *\n\nprint(_fused(2))\n",
    )


def test_a_type_string_reads_the_star_where_the_name_was_deleted_above_it() -> None:
    files: dict[str, str | bytes] = {
        **PKG,
        "pkg/__init__.py": "from .light import light\nfrom .sub import Sym\n",
    }
    text = (
        "from pkg import Sym\n\ndel Sym\nfrom pkg import *\nimport typing\n\n\ndef f(a: 'list[Sym]'): ...\n\n\n"
        "print(typing.get_type_hints(f))\n"
    )
    after = text.replace("from pkg import Sym\n", "from pkg.sub import Sym\n").replace(
        "import *\n", "import *\nfrom pkg.sub import Sym\n"
    )
    check_rewritten({**files, "main.py": text}, "pkg", "Sym", {**NARROWED, "main.py": after}, run=["main"])


@pytest.mark.parametrize("line", ["\ufefffrom pkg import *", "if True: from pkg import *", "X = 1; from pkg import *"])
def test_a_package_passes_the_name_on_wherever_its_star_stands(line: str) -> None:
    # the file never spells the symbol, so that the star alone shows that it matters
    before: dict[str, str | bytes] = {
        **PKG,
        "outer/__init__.py": f"{line}\n".encode(),
        "main.py": "import outer\n\nprint(outer.sym(2))\n",
    }
    with tree(before) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"]))
        assert b"from pkg.sub import sym" in (root / "outer/__init__.py").read_bytes()


def test_a_type_string_reads_the_star_below_an_import_for_type_checkers() -> None:
    files: dict[str, str | bytes] = {**PKG, "pkg/__init__.py": "from .light import light\nfrom .sub import Sym\n"}
    text = (
        "import typing\n\nif typing.TYPE_CHECKING:\n    from pkg import Sym\n\n\ndef f(a: 'Sym'): ...\n\n\n"
        "from pkg import *\n\nprint(typing.get_type_hints(f))\n"
    )
    after = text.replace("    from pkg import Sym", "    from pkg.sub import Sym").replace(
        "import *\n", "import *\nfrom pkg.sub import Sym\n"
    )
    check_rewritten({**files, "main.py": text}, "pkg", "Sym", {**NARROWED, "main.py": after}, run=["main"])


def test_a_class_body_reads_the_star_above_a_later_binding() -> None:
    text = "from pkg import *\n\n\nclass A:\n    f = staticmethod(sym)\n\n\nsym = 1\nprint(A.f(2))\n"
    moves(text, text.replace("import *\n", "import *\nfrom pkg.sub import sym\n"))


def test_a_function_is_called_before_the_name_is_bound_again() -> None:
    text = "from pkg import *\n\n\ndef go():\n    return sym(2)\n\n\nprint(go())\nfrom pkg import sym\n"
    wanted = text.replace("from pkg import sym\n", "from pkg.sub import sym\n")
    moves(text, wanted.replace("import *\n", "import *\nfrom pkg.sub import sym\n"))


def test_a_function_below_the_other_binding_needs_nothing_of_the_star() -> None:
    text = "from pkg import *\nfrom pkg import sym\n\n\ndef go():\n    return sym(2)\n\n\nprint(go())\n"
    moves(text, text.replace("from pkg import sym\n", "from pkg.sub import sym\n"))
