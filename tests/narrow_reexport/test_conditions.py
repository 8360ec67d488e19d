"""A re-export under a condition: narrowed where the condition always holds, an error that names its line elsewhere."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten

MAIN = "import pkg\nfrom pkg import sym\n\nprint(sym(2), pkg.light(1))\n"
AFTER = "import pkg\nfrom pkg.sub import sym\n\nprint(sym(2), pkg.light(1))\n"
PROJECT = '[project]\nname = "pkg"\nrequires-python = ">=3.9"\n'


@pytest.mark.parametrize(
    ("condition", "head"),
    [
        ("sys.version_info >= (3, 8)", "import sys\n\n"),
        ("not TYPE_CHECKING", "from typing import TYPE_CHECKING\n\n"),
        ("True", ""),
    ],
)
def test_a_condition_that_always_holds_is_none(condition: str, head: str) -> None:
    init = f"{head}from .light import light\n\nif {condition}:\n    from .sub import sym\n"
    left = f"{head}from .light import light\n"
    tree = {**PKG, "pkg/__init__.py": init, "main.py": MAIN, "pyproject.toml": PROJECT}
    check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": left, "main.py": AFTER}, run=["main"], unloaded=["pkg.sub"])


def test_what_else_stands_under_the_condition_stays() -> None:
    init = "import sys\n\nfrom .light import light\n\nif sys.version_info >= (3, 9):\n    from .sub import Sym, sym\n"
    tree = {**PKG, "pkg/__init__.py": init, "main.py": MAIN, "pyproject.toml": PROJECT}
    check_rewritten(
        tree, "pkg", "sym", {"pkg/__init__.py": init.replace("Sym, sym", "Sym"), "main.py": AFTER}, run=["main"]
    )


@pytest.mark.parametrize(
    "condition",
    ["sys.version_info >= (3, 10)", "sys.platform != 'savanna'", "sys.version_info >= (3, 9) and len(sys.path)"],
)
def test_a_condition_that_may_be_false_is_named(condition: str) -> None:
    # where it is false there is no such name, and `try: from pkg import sym` elsewhere may count on that
    init = f"import sys\n\nif {condition}:\n    from .sub import sym\n"
    tree = {**PKG, "pkg/__init__.py": init, "main.py": "from pkg import sym\n", "pyproject.toml": PROJECT}
    outcome = check_refused(tree, "pkg", "sym", "only under a condition", exit_code=3, at="pkg/__init__.py:4")
    assert "if it always holds" in outcome.text


def test_a_version_that_the_project_does_not_require_is_a_condition() -> None:
    init = "import sys\n\nif sys.version_info >= (3, 8):\n    from .sub import sym\n"
    check_refused(
        {**PKG, "pkg/__init__.py": init}, "pkg", "sym", "only under a condition", exit_code=3, at="pkg/__init__.py:4"
    )


def test_the_other_branch_of_a_condition_that_always_holds_still_counts() -> None:
    init = "import sys\n\nif sys.version_info < (3, 8):\n    pass\nelse:\n    from .sub import sym\n"
    tree = {**PKG, "pkg/__init__.py": init, "pyproject.toml": PROJECT}
    check_refused(tree, "pkg", "sym", "only under a condition", exit_code=3, at="pkg/__init__.py:6")


ALIASED = {
    "pkg/__init__.py": "from . import mapper as lib\nfrom .other import fn as mapper\nfrom .user import use\n",
    "pkg/mapper.py": "X = 1\n",
    "pkg/other.py": "def fn():\n    return 2\n",
    "pkg/user.py": "from . import lib\n\n\ndef use():\n    return lib.X\n",
    "main.py": "import pkg\nfrom pkg import lib\n\nprint(pkg.use(), lib.X)\n",
}


def test_a_submodule_under_an_alias_whose_own_name_becomes_something_else_is_refused() -> None:
    check_refused(ALIASED, "pkg", "lib", "pkg.mapper is the submodule for some imports", at="pkg/__init__.py:2")


def test_a_submodule_of_the_package_around_whose_name_becomes_something_else_is_refused() -> None:
    tree = {
        "top/__init__.py": "from . import core, pkg\nfrom .other import fn as core\n",
        "top/core.py": "X = 1\n",
        "top/other.py": "def fn():\n    return 2\n",
        "top/pkg/__init__.py": "from .. import core as lib\n",
        "main.py": "from top.pkg import lib\n\nprint(lib.X)\n",
    }
    check_refused(tree, "top.pkg", "lib", "top.core is the submodule for some imports", at="top/__init__.py:2")


def test_a_submodule_under_an_alias_that_keeps_its_own_name_follows() -> None:
    before = {**ALIASED, "pkg/__init__.py": ALIASED["pkg/__init__.py"].replace("as mapper", "as fn")}
    after = {
        "pkg/__init__.py": "from .other import fn as fn\nfrom .user import use\n",
        "pkg/user.py": ALIASED["pkg/user.py"].replace("import lib", "import mapper as lib"),
        "main.py": ALIASED["main.py"].replace("import lib", "import mapper as lib"),
    }
    check_rewritten(before, "pkg", "lib", after, run=["main"])
