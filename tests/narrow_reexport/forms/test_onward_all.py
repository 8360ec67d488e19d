"""`__all__ = pkg.__all__ + [...]` in another module: what it listed through the package, it still lists and binds."""

from __future__ import annotations

from tests.narrow_reexport.verbs import check_rewritten

PKG = {
    "pkg/__init__.py": 'from .light import light\nfrom .sub import sym\n\n__all__ = ["light", "sym"]\n',
    "pkg/light.py": "def light():\n    return 'light'\n",
    "pkg/sub.py": "def sym():\n    return 'sym'\n",
    # nothing spells the symbol, and every listed name must be there
    "main.py": "import outer\n\nprint([(name, getattr(outer, name)()) for name in sorted(outer.__all__)])\n",
}
NARROWED = {"pkg/__init__.py": 'from .light import light\n\n__all__ = ["light"]\n'}


def _follows(before: str, after: str) -> None:
    tree = {**PKG, "outer.py": before}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, "outer.py": after}, run=["main"], unloaded=["pkg.sub"])


def test_a_star_beside_a_list_built_from_the_packages_binds_what_the_list_names() -> None:
    _follows(
        (
            "from pkg import *  # NOQA isort:skip\nfrom pkg import __all__ as names  # isort:skip\n\n\n"
            'def own():\n    return 1\n\n\n__all__ = names + ["own"]\n'
        ),
        (
            "from pkg import *  # NOQA isort:skip\nfrom pkg import __all__ as names  # isort:skip\n"
            "from pkg.sub import sym\n\n\n"
            'def own():\n    return 1\n\n\n__all__ = names + ["sym"] + ["own"]\n'
        ),
    )


def test_a_star_beside_an_attribute_of_the_package_binds_what_the_list_names() -> None:
    _follows(
        "import pkg\nfrom pkg import *\n\n__all__ = []\n__all__ += pkg.__all__\n",
        'import pkg\nfrom pkg import *\nfrom pkg.sub import sym\n\n__all__ = []\n__all__ += pkg.__all__ + ["sym"]\n',
    )


def test_names_that_are_unpacked_into_a_list_are_bound_too() -> None:
    _follows(
        "import pkg\nfrom pkg import *\n\n__all__ = [*pkg.__all__]\n",
        'import pkg\nfrom pkg import *\nfrom pkg.sub import sym\n\n__all__ = [*pkg.__all__, "sym"]\n',
    )
