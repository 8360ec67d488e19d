"""What the import of a lost module did for others is refused, warned of, or taken on."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

REG = "KNOWN = []\n\n\ndef register(f):\n    KNOWN.append(f.__name__)\n    return f\n"
SUB = "from reg import register\n\n\n@register\ndef sym():\n    return 's'\n"
MAIN = "import pkg\nimport reg\n\nprint(reg.KNOWN)\n"
FILES: Tree = {"pkg/__init__.py": "from .sub import sym\n", "pkg/sub.py": SUB, "reg.py": REG, "main.py": MAIN}
EMPTY = {"pkg/__init__.py": ""}
NOBODY = "nothing imports it any more"
HELPED: Tree = {
    **FILES,
    "pkg/sub.py": "from . import helper\n\n\ndef sym():\n    return 's'\n",
    "pkg/helper.py": SUB.replace("sym", "help"),
}


def test_a_registration_that_nothing_runs_any_more_is_refused() -> None:
    check_refused(FILES, "pkg", "sym", NOBODY, at="pkg/sub.py:4")


def test_it_can_be_taken_on_and_is_recorded() -> None:
    check_rewritten(
        FILES, "pkg", "sym", EMPTY, options=["--accept-side-effects"], says=r"accepted: pkg/sub.py:4: register\(\)"
    )


def test_the_configuration_can_take_it_on() -> None:
    settings = "[tool.codemods.narrow_reexport]\naccept-side-effects = true\n"
    check_rewritten({**FILES, "pyproject.toml": settings}, "pkg", "sym", EMPTY, says="accepted: pkg/sub.py:4")


def test_one_site_can_be_taken_on() -> None:
    said = r"accepted: pkg/sub\.py:4: register\(\) registers"
    check_rewritten(FILES, "pkg", "sym", EMPTY, options=["--accept", "pkg/sub.py:4"], says=said)
    marked = {**FILES, "pkg/sub.py": SUB.replace("@register", "@register  # codemods: accept narrow_reexport")}
    check_rewritten(marked, "pkg", "sym", EMPTY, says=said)


def test_what_the_origin_alone_loaded_counts_too() -> None:
    check_refused(HELPED, "pkg", "sym", NOBODY, at="pkg/helper.py:4")


def test_a_call_site_that_loads_the_origin_makes_it_a_warning() -> None:
    tree = {**FILES, "user.py": "from pkg import sym\n"}
    after = {**EMPTY, "user.py": "from pkg.sub import sym\n"}
    check_rewritten(tree, "pkg", "sym", after, says=r"pkg/sub.py:4: register\(\) registers")
    check_refused(tree, "pkg", "sym", "--strict", options=["--strict"], at="pkg/sub.py:4")


def test_a_call_site_that_loads_the_helper_makes_it_a_warning() -> None:
    tree = {**HELPED, "user.py": "from pkg import sym\n"}
    after = {**EMPTY, "user.py": "from pkg.sub import sym\n"}
    check_rewritten(tree, "pkg", "sym", after, says=r"pkg/helper.py:4: register\(\).*import pkg alone no longer")


@pytest.mark.parametrize(
    "user",
    [
        "import pkg.helper\n",
        "from pkg import (\n    helper,\n)\n",
        "def late():\n    from pkg.helper import help\n",
        "import importlib\nimportlib.import_module('pkg.helper')\n",
        "from pkg.sub import sym\n",
    ],
)
def test_a_file_that_never_names_the_symbol_may_load_it_as_well(user: str) -> None:
    check_rewritten({**HELPED, "user.py": user}, "pkg", "sym", EMPTY, says=r"warning: pkg/helper.py:4")


@pytest.mark.parametrize(
    ("path", "user"),
    [
        ("user.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.helper import help\n"),
        ("user.py", '"""from pkg.helper import help"""\n'),
        ("user.py", "helper = 1\nimport os\n"),
        ("pkg/helper2.py", "from . import sub\n"),
    ],
)
def test_what_does_not_load_it_is_no_way_out(path: str, user: str) -> None:
    tree = {**HELPED, path: user}
    if path == "pkg/helper2.py":  # lost itself, and on the way to the helper
        tree["pkg/sub.py"] = "from . import helper, helper2\n\n\ndef sym():\n    return 's'\n"
    check_refused(tree, "pkg", "sym", NOBODY, at="pkg/helper.py:4")


def test_a_package_that_imports_whatever_it_finds_may_load_it() -> None:
    above = "import importlib, pkgutil\nfrom . import pkg\nfor m in pkgutil.walk_packages(pkg.__path__, 'top.pkg.'):\n    pass\n"
    tree = {
        "top/__init__.py": above,
        "top/pkg/__init__.py": "from .sub import sym\n",
        "top/pkg/sub.py": SUB.replace("from reg", "from top.reg"),
        "top/reg.py": REG,
    }
    check_rewritten(tree, "top.pkg", "sym", {"top/pkg/__init__.py": ""}, says="warning: top/pkg/sub.py:4")


def test_a_patch_of_another_module_is_refused() -> None:
    tree = {**FILES, "pkg/sub.py": "import reg\n\n\ndef sym(): ...\n\n\nreg.KNOWN = [1]\n"}
    check_refused(tree, "pkg", "sym", f"sets reg.KNOWN.*{NOBODY}", at="pkg/sub.py:7")


def test_a_setting_of_the_process_is_a_warning() -> None:
    tree = {**FILES, "pkg/sub.py": "import os\n\n\ndef sym(): ...\n\n\nos.environ['X'] = '1'\n"}
    check_rewritten(tree, "pkg", "sym", EMPTY, says="warning: pkg/sub.py:7: .*os.environ")


@pytest.mark.parametrize(
    "sub",
    [
        "MINE = {}\n\n\ndef sym(): ...\n\n\nMINE['sym'] = sym\n",
        "import logging\n\nlogger = logging.getLogger(__name__)\n\n\ndef sym(): ...\n",
        "import reg\n\n\ndef sym(): ...\n\n\nif __name__ == '__main__':\n    reg.register(sym)\n",
        "import functools\n\n\n@functools.lru_cache\ndef sym(): ...\n",
    ],
)
def test_what_the_origin_keeps_to_itself_is_no_side_effect(sub: str) -> None:
    outcome = check_rewritten({**FILES, "pkg/sub.py": sub}, "pkg", "sym", EMPTY, run=["main"], unloaded=["pkg.sub"])
    assert "warning:" not in outcome.text


def test_an_origin_that_the_package_still_loads_loses_nothing() -> None:
    tree = {
        **FILES,
        "pkg/__init__.py": "from .sub import sym\nfrom . import other\n",
        "pkg/other.py": "from . import sub\n",
    }
    outcome = check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": "from . import other\n"}, run=["main"])
    assert "register" not in outcome.text


def test_an_import_that_moves_into_a_function_of_the_init_still_runs_it() -> None:
    init = "from .sub import sym\n\n\ndef get():\n    return sym()\n"
    after = {"pkg/__init__.py": "def get():\n    from .sub import sym\n    return sym()\n"}
    check_rewritten(
        {**FILES, "pkg/__init__.py": init}, "pkg", "sym", after, says=r"warning: pkg/sub.py:4: register\(\) registers"
    )


@pytest.mark.parametrize(
    "filled",
    [
        "reg.KNOWN.append('sym')\n",
        "KNOWN += ['sym']\n",
        "def _setup():\n    KNOWN.append('sym')\n\n\n_setup()\n",
        "def _setup():\n    reg.KNOWN[:] = ['sym']\n\n\n_setup()\n",
        "[register(each) for each in (sym,)]\n",
        "assert register(sym)\n",
        "if register(sym):\n    pass\n",
    ],
)
def test_whatever_fills_a_container_of_another_module_is_refused(filled: str) -> None:
    text = f"import reg\nfrom reg import KNOWN, register\n\n\ndef sym():\n    return 's'\n\n\n{filled}"
    check_refused({**FILES, "pkg/sub.py": text}, "pkg", "sym", NOBODY, at="pkg/sub.py")


@pytest.mark.parametrize(
    "kept", ["mine = []\nmine += ['sym']\n", "own = KNOWN\nown = len([*KNOWN])\n", "assert len(KNOWN) < 9\n"]
)
def test_what_fills_nothing_of_others_is_no_side_effect(kept: str) -> None:
    text = f"from reg import KNOWN\n\n\ndef sym():\n    return 's'\n\n\n{kept}"
    check_rewritten({**FILES, "pkg/sub.py": text}, "pkg", "sym", EMPTY)


@pytest.mark.parametrize("other", ["subway", "other.sub"])
def test_a_new_import_of_another_module_does_not_load_it(other: str) -> None:
    path = f"pkg/{other}.py" if "." not in other else f"{other.replace('.', '/')}.py"
    source = f".{other}" if "." not in other else other
    tree: Tree = {
        **FILES,
        "pkg/__init__.py": f"from .sub import sym\nfrom {source} import two\n",
        path: "def two():\n    return 2\n",
        "user.py": "from pkg import two\n\nprint(two())\n",
    }
    check_refused(tree, "pkg", "sym two", NOBODY, at="pkg/sub.py:4")
