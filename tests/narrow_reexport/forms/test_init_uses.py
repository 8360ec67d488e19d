"""The `__init__` that uses the submodule which the re-export's import bound by the way."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

SUB: Tree = {"pkg/sub.py": "limit = 3\n\n\ndef sym(): ...\n", "pkg/light.py": "light = 1\n"}


@pytest.mark.parametrize(
    ("init", "line"),
    [
        ("from .sub import sym\nsub.limit = 4\n", 2),
        ("from .sub import sym\n\n\ndef go():\n    return sub.limit\n", 5),
        ("from .sub import sym\ndel globals()['sub']\n", 2),
        ("from .sub import sym\nfor n in ['sub']:\n    del globals()[n]\n", 2),
    ],
)
def test_a_use_of_the_submodule_by_its_name_is_refused(init: str, line: int) -> None:
    check_refused({**SUB, "pkg/__init__.py": init}, "pkg", "sym", "the submodule", at=f"pkg/__init__.py:{line}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from .sub import sym\nfrom . import sub\ndel sub\n", "from . import sub\ndel sub\n"),
        ("from .sub import sym\nfrom .light import light\ndel sub, light\n", "from .light import light\ndel light\n"),
        ("from .sub import sym\ntry:\n    del sub\nexcept NameError:\n    pass\n", ""),
        ("from .sub import sym\nfrom . import sub as _s\n_s.limit = 4\n", "from . import sub as _s\n_s.limit = 4\n"),
        ("from .sub import sym\nnames = ['sub']\n", "names = ['sub']\n"),
    ],
)
def test_what_does_not_need_the_re_export_stays_or_goes_with_it(before: str, after: str) -> None:
    main = "import pkg\nfrom pkg.sub import limit\nprint(limit)\n"
    check_rewritten(
        {**SUB, "pkg/__init__.py": before, "main.py": main}, "pkg", "sym", {"pkg/__init__.py": after}, run=["main"]
    )
