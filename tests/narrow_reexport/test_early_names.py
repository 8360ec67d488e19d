"""A module that takes another name from the package while the package is imported: its place in the order is kept or refused."""

from __future__ import annotations

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

# lion runs while the package has not bound the function `light` yet, and gets the module of that name
EARLY: Tree = {
    "pkg/__init__.py": "from .lion import roar\nfrom .light import light\n",
    "pkg/lion.py": "from . import light\n\n\ndef roar():\n    return light.light()\n",
    "pkg/light.py": "def light():\n    return 'light'\n",
    "main.py": "from pkg import roar\n\nprint(roar())\n",
}


def test_a_module_that_would_get_the_function_where_it_got_the_module_is_refused() -> None:
    check_refused(
        EARLY, "pkg", "roar", "takes light while pkg is being imported, and gets the module", at="pkg/lion.py:1"
    )


def test_it_is_refused_where_the_name_comes_by_a_star() -> None:
    before = {**EARLY, "pkg/__init__.py": "from .lion import *\nfrom .light import *\n"}
    check_refused(before, "pkg", "roar", "takes light while pkg is being imported", at="pkg/lion.py:1")


def test_a_module_that_the_package_goes_on_loading_early_stays() -> None:
    more = {"pkg/__init__.py": "from .lion import roar, mane\nfrom .light import light\n"}
    before = {**EARLY, **more, "pkg/lion.py": f"{EARLY['pkg/lion.py']}\n\ndef mane():\n    return 1\n"}
    after = {
        "pkg/__init__.py": "from .lion import mane\nfrom .light import light\n",
        "main.py": "from pkg.lion import roar\n\nprint(roar())\n",
    }
    check_rewritten(before, "pkg", "roar", after, run=["main"])


def test_a_module_that_ran_after_the_name_was_bound_stays() -> None:
    before = {
        **EARLY,
        "pkg/__init__.py": "from .light import light\nfrom .lion import roar\n",
        "pkg/lion.py": "from . import light\n\n\ndef roar():\n    return light()\n",
    }
    after = {
        "pkg/__init__.py": "from .light import light\n",
        "main.py": "from pkg.lion import roar\n\nprint(roar())\n",
    }
    check_rewritten(before, "pkg", "roar", after, run=["main"])


def test_an_import_inside_a_function_runs_later_anyway() -> None:
    before = {**EARLY, "pkg/lion.py": "def roar():\n    from . import light\n\n    return light()\n"}
    after = {
        "pkg/__init__.py": "from .light import light\n",
        "main.py": "from pkg.lion import roar\n\nprint(roar())\n",
    }
    check_rewritten(before, "pkg", "roar", after, run=["main"])


def test_a_call_site_that_would_load_the_origin_before_the_name_is_bound_is_refused() -> None:
    before = {
        "pkg/__init__.py": "from . import user\nfrom .light import light\nfrom .lion import roar\n",
        "pkg/user.py": "def use():\n    import pkg\n\n    return pkg.roar()\n",
        "pkg/lion.py": "from . import light\n\n\ndef roar():\n    return light()\n",
        "pkg/light.py": EARLY["pkg/light.py"],
        "main.py": "import pkg.user\n\nprint(pkg.user.use())\n",
    }
    after = {
        "pkg/__init__.py": "from . import user\nfrom .light import light\n",
        "pkg/user.py": "def use():\n    import pkg.lion\n\n    return pkg.lion.roar()\n",
    }
    check_rewritten(before, "pkg", "roar", after, run=["main"])
    eager = {**before, "pkg/user.py": "import pkg\n\n\ndef use():\n    return pkg.roar()\n"}
    check_refused(eager, "pkg", "roar", "gets the symbol of that name", at="pkg/lion.py:1")


def test_a_star_that_would_stand_for_the_module_that_goes_is_refused() -> None:
    # .big has loaded big.lion, and its star takes that along; the import of pkg.lion hid it
    before = {
        "pkg/__init__.py": "from .big import *\nfrom .lion import roar\n",
        "pkg/big/__init__.py": "from .lion import Lion\n",
        "pkg/big/lion.py": "class Lion: ...\n",
        "pkg/lion.py": "def roar():\n    return 1\n",
        "main.py": "from pkg import lion, roar\n\nprint(lion.__name__, roar())\n",
    }
    check_refused(before, "pkg", "roar", r"also takes the module pkg\.big\.lion", at="pkg/__init__.py:1")
    listed = {**before, "pkg/big/__init__.py": "from .lion import Lion\n\n__all__ = ['Lion']\n"}
    after = {
        "pkg/__init__.py": "from .big import *\n",
        "main.py": "from pkg import lion\nfrom pkg.lion import roar\n\nprint(lion.__name__, roar())\n",
    }
    check_rewritten(listed, "pkg", "roar", after, run=["main"])
