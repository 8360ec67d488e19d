"""A star in the `__init__` that becomes names: no name of the package may come to mean something else."""

from __future__ import annotations

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

# a star without `__all__` takes the submodules too that its package has loaded: `late` wins over `early`
TWO: dict[str, str | bytes] = {
    "pkg/__init__.py": "from pkg.early import *\nfrom pkg.late import *\n",
    "pkg/early/__init__.py": "from pkg.early.triads import draw\n",
    "pkg/early/triads.py": "def draw():\n    return 'draw'\n",
    "pkg/late/__init__.py": "from pkg.late.triads import census\nfrom pkg.late.paths import sym\n",
    "pkg/late/triads.py": "def census():\n    return 'census'\n",
    "pkg/late/paths.py": "def sym():\n    return 'sym'\n\n\ndef other():\n    return 'other'\n",
    "main.py": "import pkg\n\nprint(sorted((k, getattr(v, '__name__', '')) for k, v in vars(pkg).items() if k == 'triads'))\n",
}
USER = "import pkg\n\nprint(pkg.sym())\n"
USER_AFTER = "import pkg.late\n\nprint(pkg.late.sym())\n"


def _narrows(before: Tree, init: str, after: Tree | None = None, says: str = "") -> None:
    tree = {**TWO, **before, "user.py": USER}
    changed = {"pkg/__init__.py": init, "user.py": USER_AFTER, **(after or {})}
    check_rewritten(tree, "pkg", "sym", changed, run=["main", "user"], says=says)


def test_a_submodule_that_an_earlier_star_also_brings_is_named() -> None:
    _narrows({}, "from pkg.early import *\nfrom pkg.late import census, triads\n")


def test_a_submodule_that_the_package_has_itself_is_named() -> None:
    tree = {"pkg/__init__.py": "import pkg.triads\nfrom pkg.late import *\n", "pkg/triads.py": ""}
    _narrows(tree, "import pkg.triads\nfrom pkg.late import census, triads\n")


def test_a_submodule_that_somebody_reads_through_the_package_is_named() -> None:
    tree = {
        "pkg/__init__.py": "from pkg.late import *\n",
        "main.py": "import pkg\n\nprint(pkg.paths.other(), pkg.triads.census())\n",
    }
    _narrows(tree, "from pkg.late import census, paths, triads\n")


def test_a_submodule_that_nobody_reads_goes_and_is_reported() -> None:
    tree = {"pkg/__init__.py": "from pkg.late import *\n", "main.py": "import pkg\n\nprint(pkg.census())\n"}
    _narrows(tree, "from pkg.late import census\n", says="paths, triads")


def test_a_submodule_that_comes_through_an_inner_star_is_named() -> None:
    tree = {
        "pkg/late/__init__.py": "from pkg.late.inner import *\nfrom pkg.late.paths import sym\n",
        "pkg/late/inner/__init__.py": "from pkg.late.inner.triads import census\n",
        "pkg/late/inner/triads.py": "def census():\n    return 'census'\n",
    }
    _narrows(tree, "from pkg.early import *\nfrom pkg.late import census, triads\n")


def test_a_name_that_the_stars_module_only_imported_stays_where_another_star_has_it_too() -> None:
    tree = {
        "pkg/early/__init__.py": "import json as tool\n",
        "pkg/late/__init__.py": "import math as tool\nfrom pkg.late.paths import sym\n",
        "main.py": "import pkg\n\nprint(vars(pkg)['too' + 'l'].__name__)\n",
    }
    _narrows(tree, "from pkg.early import *\nfrom pkg.late import tool\n")


def test_the_symbol_of_a_star_with_a_list_takes_no_submodules_along() -> None:
    tree = {
        "pkg/late/__init__.py": (
            "from pkg.late.triads import census\nfrom pkg.late.paths import sym\n\n__all__ = ['census', 'sym']\n"
        )
    }
    _narrows(tree, "from pkg.early import *\nfrom pkg.late import census\n")


def test_a_submodule_that_is_loaded_only_under_a_condition_is_refused_where_it_is_read() -> None:
    late = "import sys\nfrom pkg.late.paths import sym\n\nif len(sys.path) > 1:\n    import pkg.late.triads as _\n"
    tree = {
        **TWO,
        "pkg/__init__.py": "from pkg.late import *\n",
        "pkg/late/__init__.py": late,
        "main.py": "import pkg\n\nprint(pkg.triads.census())\n",
    }
    check_refused(tree, "pkg", "sym", "also brings triads, which pkg.late binds only under a", at="pkg/__init__.py:1")


def test_another_star_that_no_longer_finds_a_submodule_loaded_is_refused() -> None:
    tree = {
        "pkg/__init__.py": "from pkg.deep.leaf import sym\nfrom pkg.deep import *\n",
        "pkg/deep/__init__.py": "light = 1\n",
        "pkg/deep/leaf.py": "def sym():\n    return 'sym'\n\n\ndef other():\n    return 'other'\n",
        "main.py": "import pkg\n\nprint(pkg.leaf.other(), pkg.light)\n",
    }
    check_refused(tree, "pkg", "sym", "takes the submodule leaf", at="pkg/__init__.py:2")


def test_another_star_whose_lost_submodule_nobody_reads_is_left_alone() -> None:
    tree = {
        "pkg/__init__.py": "from pkg.deep.leaf import sym\nfrom pkg.deep import *\n",
        "pkg/deep/__init__.py": "light = 1\n",
        "pkg/deep/leaf.py": "def sym():\n    return 'sym'\n",
        "main.py": "import pkg\n\nprint(pkg.light)\n",
    }
    check_rewritten(
        tree,
        "pkg",
        "sym",
        {"pkg/__init__.py": "from pkg.deep import *\n"},
        run=["main"],
        unloaded=["pkg.deep.leaf"],
    )
