"""Submodules that stars took along because the package had loaded them."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_rewritten, narrow, tree

STAR: Tree = {**PKG, "up/__init__.py": "from pkg import *\n"}


@pytest.mark.parametrize(
    "main",
    [
        "import up\nprint(up.sub.Sym.limit)\n",
        "from up import sub\nprint(sub.Sym.limit)\n",
        "import up\nprint(getattr(up, 'sub').Sym.limit)\n",
    ],
)
def test_a_submodule_read_through_a_star_importer_stays_there(main: str) -> None:
    after = "from pkg import *\nfrom pkg import sub\nfrom pkg.sub import sym\n"
    check_rewritten(
        {**STAR, "main.py": main},
        "pkg",
        "sym",
        {**NARROWED, "up/__init__.py": after},
        run=["main"],
        unloaded=["pkg.sub"],
    )


def test_two_stars_on_the_way_count_as_one() -> None:
    tree = {
        **PKG,
        "up/__init__.py": "from .mid import *\n",
        "up/mid.py": "from pkg import *\n",
        "main.py": "import up\nprint(up.sub.Sym.limit)\n",
    }
    after = {**NARROWED, "up/mid.py": "from pkg import *\nfrom pkg import sub\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


def test_a_listed_package_gives_no_submodule_to_a_star() -> None:
    init = '__all__ = ["light"]\n'
    tree = {
        **STAR,
        "pkg/__init__.py": f"{PKG['pkg/__init__.py']!s}{init}",
        "main.py": "import up\nprint(hasattr(up, 'sub'))\nsub = 1\n",
    }
    after = {"pkg/__init__.py": f"from .light import light\n{init}"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


OTHER: Tree = {
    "pkg/__init__.py": "from .sub import sym\n",
    "pkg/sub.py": "import oth.helper\n\n\ndef sym(): ...\n",
    "oth/__init__.py": "",
    "oth/helper.py": "limit = 3\n",
}


def test_the_star_of_another_package_keeps_its_submodule() -> None:
    tree = {**OTHER, "main.py": "import pkg\nfrom oth import *\n\nprint(helper.limit)\n"}
    after = {
        "pkg/__init__.py": "",
        "main.py": "import pkg\nfrom oth import *\nfrom oth import helper\n\nprint(helper.limit)\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["oth.helper"])


def test_it_is_kept_for_those_who_read_it_through_the_star() -> None:
    tree = {
        **OTHER,
        "con.py": "import pkg\nfrom oth import *\n",
        "main.py": "import con\n\nprint(con.helper.limit)\n",
    }
    after = {"pkg/__init__.py": "", "con.py": "import pkg\nfrom oth import *\nfrom oth import helper\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


def test_a_star_that_never_relied_on_the_package_is_left_alone() -> None:
    tree = {**OTHER, "main.py": "from oth import *\nimport oth.helper\n\nhelper = 1\nprint(helper)\n"}
    check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": ""}, run=["main"])


@pytest.mark.parametrize(
    "read",
    ["(oth\n    .helper.limit)", "oth. helper.limit", "(oth.\n    helper.limit)", "oth.\\\n    helper.limit"],
)
def test_white_space_around_the_dot_hides_no_read(read: str) -> None:
    tree = {**OTHER, "main.py": f"import pkg\nimport oth\n\nprint({read})\n"}
    after = {"pkg/__init__.py": "", "main.py": f"import pkg\nimport oth\nimport oth.helper\n\nprint({read})\n"}
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


@pytest.mark.parametrize("read", ["(pkg\n    .sub.Sym.limit)", "pkg. sub.Sym.limit", "(pkg.\n    sub.Sym.limit)"])
def test_nor_where_the_submodule_is_the_packages_own(read: str) -> None:
    tree = {**PKG, "main.py": f"import pkg\n\nprint({read})\n"}
    check_rewritten(
        tree, "pkg", "sym", {**NARROWED, "main.py": f"import pkg\nimport pkg.sub\n\nprint({read})\n"}, run=["main"]
    )


@pytest.mark.parametrize(
    ("imports", "read"),
    [
        ("import oth as o\n", "o.helper.limit"),
        ("import oth as o\n", "o . helper.limit"),
        ("import oth as \\\n    o\n", "o.helper.limit"),
        ("import oth\no = oth\n", "o.helper.limit"),
        ("import oth\n", "(oth  # a comment\n    .helper.limit)"),
        ("import oth\n", "(oth.\n    # a line of it\n    helper.limit)"),
        ("import oth\n", f"(oth.\n    # {'a long comment ' * 40}\n    # {'and more ' * 40}\n    helper.limit)"),
        ("import oth\n", "(oth).helper.limit"),
        ("import oth as o\np = o\n", "p.helper.limit"),
        ("import oth\no = (oth)\n", "o.helper.limit"),
        ("import oth\no: object = oth\n", "o.helper.limit"),
        ("import oth\np = o = oth\n", "p.helper.limit"),
        ("import oth as é\n", "é.helper.limit"),
        ("import oth\n", "(o := oth) and o.helper.limit"),
    ],
)
def test_another_name_of_the_package_hides_no_read(imports: str, read: str) -> None:
    main = f"import pkg\n{imports}\nprint({read})\n"
    with tree({**OTHER, "main.py": main}) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert "import oth.helper\n" in (root / "main.py").read_text(encoding="utf-8")
        assert not oracle.differences(old, oracle.run_programs(root, ["main"]))


def test_nor_does_the_name_of_a_name_that_another_file_gives_the_package() -> None:
    main = "from app import p\n\nprint(p . sub.Sym.limit)\n"
    with tree({**PKG, "app.py": "import pkg as p\n", "main.py": main}) as root:
        old = oracle.run_programs(root, ["main"])
        assert narrow(root, "pkg", "sym").code == 0
        assert not oracle.differences(old, oracle.run_programs(root, ["main"]))


@pytest.mark.parametrize(
    "text",
    [
        "import pkg; import oth; print(oth.helper.limit)\n",
        "import pkg, oth; print(oth.helper.limit)\n",
        "import oth, \\\n    pkg\n\nprint(oth.helper.limit)\n",
        "import pkg\rimport oth\rprint(oth.helper.limit)\r",
        "import pkg\nimport oth\n\n\ndef f():\n    yield \\\n    from oth.helper.items\n\n\nprint(*f())\n",
        # the package is loaded by another module
        "import con, oth\n\nprint(oth.helper.limit)\n",
        "import oth\nimport con\n\nprint(oth.helper.limit)\n",
    ],
)
def test_the_shape_of_the_line_hides_no_read(text: str) -> None:
    files = {**OTHER, "oth/helper.py": "limit = 3\nitems = [1, 2]\n", "con.py": "import pkg\n", "main.py": text}
    with tree(files) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"])), (root / "main.py").read_text()


@pytest.mark.parametrize("text", ["import pkg; print(pkg.sub.Sym.limit)\n", "import pkg\rprint(pkg.sub.Sym.limit)\r"])
def test_nor_a_read_of_the_packages_own(text: str) -> None:
    with tree({**PKG, "main.py": text}) as root:
        old = oracle.run_programs(root, ["main"])
        assert narrow(root, "pkg", "sym").code == 0
        assert not oracle.differences(old, oracle.run_programs(root, ["main"])), (root / "main.py").read_text()


@pytest.mark.parametrize(
    ("app", "main"),
    [
        ("import oth\n", "from app import oth\n\nprint(oth.helper.limit)\n"),
        ("import oth\n", "from app import oth as o\n\nprint(o.helper.limit)\n"),
        ("import oth as o\n", "from app import o\n\nprint(o.helper.limit)\n"),
        ("import oth\n", "import app\n\nprint(app.oth.helper.limit)\n"),
        ("from con import oth\n", "from app import oth\n\nprint(oth.helper.limit)\n"),
        ("", "import oth\n\n\ndef f():\n    import pkg\n\n    return oth.helper.limit\n\n\nprint(f())\n"),
    ],
)
def test_a_package_that_another_module_hands_on_is_followed(app: str, main: str) -> None:
    files = {
        **OTHER,
        "con.py": "import oth\n",
        "app.py": app,
        "main.py": main if "pkg" in main else f"import pkg\n{main}",
    }
    with tree(files) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, ["main"])), (root / "main.py").read_text()


def test_a_package_that_comes_with_a_star_is_refused() -> None:
    files = {**OTHER, "app.py": "import oth\n", "main.py": "import pkg\nfrom app import *\n\nprint(oth.helper.limit)\n"}
    with tree(files) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 4
        assert "main.py:4: refused: this reads oth.helper, which only the package's import loaded" in outcome.text


def test_an_import_of_the_submodule_itself_needs_no_other() -> None:
    main = "import con\nimport oth.helper\n\nprint(oth.helper.limit)\n"
    files = {**OTHER, "con.py": "import pkg\n", "main.py": main}
    check_rewritten(files, "pkg", "sym", {"pkg/__init__.py": ""}, run=["main"])


BY_NAME = [
    'vars({})["{}"].limit',
    '{}.__dict__["{}"].limit',
    '{} . __dict__["{}"].limit',
    'getattr({}, "{}").limit',
    'getattr(  # why\n    {},\n    "{}",\n).limit',
    'hasattr({}, "{}")',
]


@pytest.mark.parametrize("read", [*BY_NAME, 'attrgetter("{1}.limit")({0})'])
def test_a_submodule_that_is_read_by_its_name_stays_loaded(read: str) -> None:
    own: Tree = {"pkg/__init__.py": "from .sub import sym\n", "pkg/sub.py": "limit = 3\n\n\ndef sym(): ...\n"}
    for files, names, loaded in ((own, ("pkg", "sub"), "pkg"), (OTHER, ("oth", "helper"), "pkg, oth")):
        main = f"from operator import attrgetter\nimport {loaded}\n\nprint({read.format(*names)})\n"
        with tree({**files, "main.py": main}) as root:
            old = oracle.run_programs(root, ["main"])
            outcome = narrow(root, "pkg", "sym")
            assert outcome.code == 0, outcome.text
            assert not oracle.differences(old, oracle.run_programs(root, ["main"])), (root / "main.py").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimport pkg\n\nm = importlib.import_module('oth')\nprint(m.helper.limit)\n",
        "import importlib\nimport pkg\n\nprint(importlib.import_module('oth').helper.limit)\n",
        "import sys\nimport pkg\n\nprint(sys.modules['oth'].helper.limit)\n",
    ],
)
def test_a_package_that_no_statement_imports_gets_none(text: str) -> None:
    with tree({**OTHER, "main.py": text}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 4
        assert "refused: this reads oth.helper, which only the package's import loaded" in outcome.text


SPELLED = ["from {} import \\\n    o\n", "from {} import (  # why :)\n    o,\n)\n", "from {} \\\n    import o\n"]


@pytest.mark.parametrize("spelled", SPELLED)
def test_however_a_handed_on_name_is_imported(spelled: str) -> None:
    lost = {
        **OTHER,
        "compat.py": "import oth as o\n",
        "main.py": f"import pkg\n{spelled.format('compat')}\nprint(o.helper.limit)\n",
    }
    own = {
        **PKG,
        "compat.py": "import pkg as o\n",
        "mid.py": spelled.format("compat"),
        "main.py": "from mid import o\n\nprint(o.sym(2))\n",
    }
    for files in (lost, own):
        with tree(files) as root:
            old = oracle.run_programs(root, ["main"])
            outcome = narrow(root, "pkg", "sym")
            assert outcome.code == 0, outcome.text
            assert not oracle.differences(old, oracle.run_programs(root, ["main"])), (root / "main.py").read_text()
