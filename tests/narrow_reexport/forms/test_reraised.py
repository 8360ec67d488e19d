"""A guard in the `__init__` that only rewords the error of a missing dependency: one origin, and no fallback."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import check_refused, check_rewritten

INIT = (
    "from .light import light\n\ntry:\n    from .sub import sym\nexcept ImportError as error:\n"
    '    raise RuntimeError("install it first") from error\n'
)
PKG = {
    "pkg/__init__.py": INIT,
    "pkg/light.py": "def light(x):\n    return x\n",
    "pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\ndef other():\n    return 3\n",
}
LEFT = {"pkg/__init__.py": "from .light import light\n"}


def test_the_guard_goes_with_its_last_import_and_a_warning_says_so() -> None:
    tree = {**PKG, "main.py": "from pkg import light, sym\n\nprint(sym(2), light(1))\n"}
    after = {**LEFT, "main.py": "from pkg import light\nfrom pkg.sub import sym\n\nprint(sym(2), light(1))\n"}
    says = r"pkg/__init__\.py:6: without what the origin needs"
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"], says=says)


def test_a_guard_with_another_import_stays() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": INIT.replace("import sym", "import other, sym"),
        "main.py": "import pkg\n\nprint(pkg.sym(2))\n",
    }
    after = {
        "pkg/__init__.py": INIT.replace("import sym", "import other"),
        "main.py": "import pkg.sub\n\nprint(pkg.sub.sym(2))\n",
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"])


@pytest.mark.parametrize("caught", ["RuntimeError", "ImportError", "(RuntimeError, OSError)"])
def test_a_try_that_tells_the_errors_apart_is_refused(caught: str) -> None:
    main = f"try:\n    from pkg import sym\nexcept {caught}:\n    sym = None\n\nprint(sym)\n"
    check_refused({**PKG, "main.py": main}, "pkg", "sym", "tells them apart", at="main.py:2")


def test_a_try_that_catches_both_is_rewritten() -> None:
    main = "try:\n    from pkg import sym\nexcept Exception:\n    sym = None\n\nprint(sym(1))\n"
    after = {**LEFT, "main.py": main.replace("from pkg import", "from pkg.sub import")}
    check_rewritten({**PKG, "main.py": main}, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_handler_that_does_more_than_raise_is_more_than_one_origin() -> None:
    init = INIT.replace("    raise", "    missing = True\n    raise")
    check_refused(
        {**PKG, "pkg/__init__.py": init}, "pkg", "sym", "records or replaces", exit_code=3, at="__init__.py:4"
    )


def test_one_handler_that_does_not_raise_is_more_than_one_origin() -> None:
    init = INIT + "except OSError:\n    sym = None\n"
    check_refused(
        {**PKG, "pkg/__init__.py": init}, "pkg", "sym", "more than one origin", exit_code=3, at="__init__.py:8"
    )
