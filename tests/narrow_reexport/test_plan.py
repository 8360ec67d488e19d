"""What the plan of one file adds up to: what is counted, what is accepted, what is left as it is.

Each test here notices a change in `plan.py` that no other one noticed (`make mutate`).
"""

from __future__ import annotations

import json

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, check_unchanged, narrow, tree

ACCEPT = "  # codemods: accept narrow_reexport"


def sites(files: Tree, symbol: str) -> dict[str, int]:
    with tree(files) as root:
        outcome = narrow(root, "pkg", symbol, "--output-format", "json")
        assert outcome.code == 0, outcome.text
        return {change["path"]: change["sites"] for change in json.loads(outcome.out)["changes"]}


def test_sites_in_code_and_in_examples_are_added_up() -> None:
    example = '"""\n>>> from pkg import sym\n>>> sym(2)\n20\n"""\n'
    main = f"{example}from pkg import sym\n\n\ndef f():\n    from pkg import sym as s\n    return s\n"
    assert sites({**PKG, "main.py": main}, "sym")["main.py"] == 3


def test_an_import_of_the_module_that_gave_the_symbol_is_one_site() -> None:
    assert sites({**SAME, "main.py": "import pkg.fused as f\n\nprint(f(2))\n"}, "fused")["main.py"] == 1


def test_a_star_that_needs_the_symbol_is_one_site() -> None:
    assert sites({**PKG, "main.py": "from pkg import *\n\nprint(sym(2))\n"}, "sym")["main.py"] == 1


def test_a_doubt_that_a_person_has_taken_on_is_not_printed() -> None:
    doubtful = "CODE = 'from pkg import sym'"
    said = check_rewritten({**PKG, "main.py": f"{doubtful}\n"}, "pkg", "sym", dict(NARROWED), says="warning: main.py:1")
    assert "warning: main.py" in said.text
    taken = check_rewritten({**PKG, "main.py": f"{doubtful}{ACCEPT}\n"}, "pkg", "sym", dict(NARROWED))
    assert "warning: main.py" not in taken.text


def test_an_accepted_statement_that_binds_one_name_twice_stays_as_it_is() -> None:
    main = f"from pkg import light as x, sym as x{ACCEPT}\n"
    check_rewritten({**PKG, "main.py": main}, "pkg", "sym", dict(NARROWED))


def test_an_origin_that_runs_as_a_program_and_imports_itself_through_the_package_is_refused() -> None:
    itself = 'def sym(x=1):\n    return x * 10\n\n\nif __name__ == "__main__":\n    from pkg import sym\n\n    print(sym(2))\n'
    before = {**PKG, "pkg/sub.py": itself}
    check_refused(before, "pkg", "sym", "the origin imports its own symbol through the package", at="pkg/sub.py:6")


def test_an_origin_that_imports_itself_in_a_function_follows() -> None:
    itself = "def sym(x=1):\n    return x * 10\n\n\ndef twice(x):\n    from pkg import sym\n\n    return sym(sym(x))\n"
    after = {**NARROWED, "pkg/sub.py": itself.replace("from pkg import", "from pkg.sub import")}
    check_rewritten({**PKG, "pkg/sub.py": itself}, "pkg", "sym", after)


@pytest.mark.parametrize(("listed", "refused"), [('["sym", "light"]', True), ('["light"]', False)])
def test_a_module_with_the_list_of_the_package_stands_in_the_way_of_listed_names_only(
    listed: str, refused: bool
) -> None:
    init = f"from .light import light\nfrom .sub import sym\n\n__all__ = {listed}\n"
    main = "from pkg import *\nfrom pkg import __all__\n\nprint(light(2), __all__)\n"
    before = {**PKG, "pkg/__init__.py": init, "main.py": main}
    if refused:
        check_refused(before, "pkg", "sym", "takes the package's __all__ as its own", at="main.py:2")
    else:
        after = {"pkg/__init__.py": init.replace("from .sub import sym\n", "")}
        check_rewritten(before, "pkg", "sym", after, run=["main"])


def test_a_second_run_over_such_a_module_finds_the_symbol_narrowed() -> None:
    init = 'from .fused import fused\n\n__all__ = ["fused"]\n'
    narrowed = {
        "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:fused" = { origin = "pkg.fused:fused" }\n',
        "pkg/__init__.py": init.replace("from .fused import fused\n\n", "").replace('"fused"', ""),
        "pkg/fused.py": SAME["pkg/fused.py"],
        "main.py": "from pkg import __all__\n\nprint(__all__)\n",
    }
    check_unchanged(narrowed, "pkg", "fused")


def test_one_name_of_a_statement_that_comes_too_early_is_enough() -> None:
    before: Tree = {
        "pkg/__init__.py": "from .x import e\nfrom .b import b\nfrom .d import d\n",
        "pkg/x.py": "def e():\n    return 2\n",
        "pkg/b.py": "from pkg import d, e\n\n\ndef b():\n    return d.__name__, e()\n",
        "pkg/d.py": "def d():\n    return 1\n",
        "main.py": "import pkg\n\nprint(pkg.b(), pkg.d())\n",
    }
    check_refused(before, "pkg", "d e", "before the __init__ binds the name", at="pkg/b.py:1")


def test_a_star_brings_no_submodule_of_another_package() -> None:
    before: Tree = {
        "pkg/__init__.py": "import other.deep\nfrom .light import light\nfrom .sub import sym\n",
        "pkg/light.py": PKG["pkg/light.py"],
        "pkg/sub.py": "import other.deep\n\n\ndef sym(x=1):\n    return x * 10\n",
        "other/__init__.py": "",
        "other/deep.py": "X = 1\n",
        "main.py": "from pkg import *\n\nprint(sym(2), light(1))\n",
    }
    after: Tree = {
        "pkg/__init__.py": "import other.deep\nfrom .light import light\n",
        "main.py": "from pkg import *\nfrom pkg.sub import sym\n\nprint(sym(2), light(1))\n",
    }
    check_rewritten(before, "pkg", "sym", after, run=["main"])


def test_a_name_that_a_statement_imports_twice_as_itself_moves() -> None:
    main = "from pkg import sym, light, sym\n\nprint(sym(2), light(1))\n"
    with tree({**PKG, "main.py": main}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        text = (root / "main.py").read_text(encoding="utf-8")
        assert "from pkg import light\n" in text and "from pkg.sub import sym" in text


OTHER: Tree = {
    "pkg/__init__.py": "from .sub import sym\n",
    "pkg/sub.py": "import oth.helper\nimport third.tool\n\n\ndef sym(): ...\n",
    "oth/__init__.py": "",
    "oth/helper.py": "limit = 3\n",
    "third/__init__.py": "",
    "third/tool.py": "limit = 4\n",
}


def test_a_file_that_loads_a_lost_submodule_by_other_imports_is_left_alone() -> None:
    before: Tree = {
        **OTHER,
        "user.py": "import oth.helper\n",
        "main.py": "import pkg\nimport oth\nimport user\n\nprint(oth.helper.limit)\n",
        "bare.py": "import pkg\nimport oth\n\nprint(oth.helper.limit)\n",
    }
    after: Tree = {
        "pkg/__init__.py": "",
        "bare.py": "import pkg\nimport oth\nimport oth.helper\n\nprint(oth.helper.limit)\n",
    }
    check_rewritten(before, "pkg", "sym", after, run=["main", "bare"])


def test_of_two_stars_the_one_that_somebody_reads_through_keeps_the_submodule() -> None:
    before: Tree = {
        **PKG,
        "one.py": "from pkg import *\n",
        "two.py": "from pkg import *\n",
        "main.py": "import one\n\nprint(one.sub.Sym.limit)\n",
        "more.py": "import two\n\nprint(two.light(2))\n",
    }
    with tree(before) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert "import sub" in (root / "one.py").read_text(encoding="utf-8")
        assert (root / "two.py").read_text(encoding="utf-8") == before["two.py"]


def test_a_star_keeps_the_submodules_of_its_own_package_alone() -> None:
    main = "import pkg\nfrom oth import *\n\ntool = 1\nprint(helper.limit, tool)\n"
    after: Tree = {"pkg/__init__.py": "", "main.py": main.replace("import *\n", "import *\nfrom oth import helper\n")}
    check_rewritten({**OTHER, "main.py": main}, "pkg", "sym", after, run=["main"])


def test_nor_does_it_take_a_submodule_of_another_package_for_its_own() -> None:
    main = "import pkg\nfrom oth import *\n\nprint(helper.limit, tool)\n"
    before: Tree = {**OTHER, "oth/__init__.py": "tool = 5\n", "main.py": main}
    after: Tree = {"pkg/__init__.py": "", "main.py": main.replace("import *\n", "import *\nfrom oth import helper\n")}
    check_rewritten(before, "pkg", "sym", after, run=["main"])


def test_a_star_keeps_a_submodule_that_has_the_symbols_name_in_another_package() -> None:
    before: Tree = {
        "pkg/__init__.py": "from .sub import sym\n",
        "pkg/sub.py": "import oth.sym\n\n\ndef sym(): ...\n",
        "oth/__init__.py": "",
        "oth/sym.py": "limit = 3\n",
        "main.py": "import pkg\nfrom oth import *\n\nprint(sym.limit)\n",
    }
    after: Tree = {
        "pkg/__init__.py": "",
        "main.py": "import pkg\nfrom oth import *\nfrom oth import sym\n\nprint(sym.limit)\n",
    }
    check_rewritten(before, "pkg", "sym", after, run=["main"])


def test_one_name_of_a_statement_that_an_origin_imports_from_itself_is_enough() -> None:
    before: Tree = {
        "pkg/__init__.py": "from .other import far\nfrom .sub import sym\n",
        "pkg/other.py": "def far():\n    return 1\n",
        "pkg/sub.py": "def sym(x=1):\n    return x\n\n\nif __name__ == '__main__':\n    from pkg import far, sym\n",
    }
    check_refused(before, "pkg", "far sym", "the origin imports its own symbol through the package", at="pkg/sub.py:6")


def test_the_comment_of_an_import_of_the_module_stays_with_it() -> None:
    main = "import pkg.fused as f  # by hand\n\nprint(f(2))\n"
    after = {**SAME_NARROWED, "main.py": "from pkg.fused import fused as f  # by hand\n\nprint(f(2))\n"}
    check_rewritten({**SAME, "main.py": main}, "pkg", "fused", after, run=["main"])


def test_the_comment_of_a_line_with_other_statements_stays_on_the_line() -> None:
    main = "import pkg.fused as f; x = 2  # two\n\nprint(f(x))\n"
    with tree({**SAME, "main.py": main}) as root:
        outcome = narrow(root, "pkg", "fused")
        assert outcome.code == 0, outcome.text
        assert (root / "main.py").read_text(encoding="utf-8").count("# two") == 1


def test_an_init_that_imports_the_module_before_the_symbol_goes_on_getting_the_module() -> None:
    init = "from . import fused as m\nfrom .fused import fused\n\nNAME = m.__name__\n"
    after: Tree = {"pkg/__init__.py": "from . import fused as m\n\nNAME = m.__name__\n"}
    main = "import pkg\n\nprint(pkg.NAME)\n"
    check_rewritten({**SAME, "pkg/__init__.py": init, "main.py": main}, "pkg", "fused", after, run=["main"])
