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
