"""What still names a symbol that the `__init__` binds no more: it is cut by itself."""

from __future__ import annotations

import pytest

from tests.check_narrowed.verbs import rows, run
from tests.narrow_reexport.verbs import expect_tree, tree

FILES = {
    "narrowed.toml": rows("pkg:sym"),
    "pkg/__init__.py": "",
    "pkg/sub.py": "__all__ = ['sym', 'other']\ndef sym(): ...\ndef other(): ...\n",
}


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "pkg/__init__.py",
            "__all__ = [\n    'own',  # stays\n    'sym',\n]\n",
            "__all__ = [\n    'own',  # stays\n]\n",
        ),
        ("pkg/__init__.py", "__all__ = ['own']\n__all__ += ['sym']\n", "__all__ = ['own']\n"),
        (
            "pkg/__init__.py",
            "from . import sub\n__all__ = sub.__all__\n",
            'from . import sub\n__all__ = [name for name in sub.__all__ if name != "sym"]\n',
        ),
        ("pkg/__init__.pyi", "from .sub import other as other, sym as sym\n", "from .sub import other as other\n"),
        ("pkg/__init__.pyi", "from .sub import *\n", "from .sub import other as other\n"),
        ("pkg/__init__.pyi", "__all__ = ['own', 'sym']\n", "__all__ = ['own']\n"),
        ("pkg-stubs/__init__.pyi", "from pkg.sub import sym as sym\nx: int\n", "x: int\n"),
    ],
)
def test_a_leftover_is_cut_and_nothing_else(path: str, before: str, after: str) -> None:
    with tree({**FILES, path: before}) as root:
        assert run(root).code == 1
        assert run(root, "--fix").code == 0
        expect_tree(root, {**FILES, path: after})
        assert run(root).code == 0


def test_the_entry_stays_where_the_re_export_has_to() -> None:
    init = "from .sub import sym\n\nsym()\n__all__ = ['sym']\n"
    with tree({**FILES, "pkg/__init__.py": init}) as root:
        outcome = run(root, "--fix")
        assert outcome.code == 1
        assert "uses sym at import time" in outcome.out
        expect_tree(root, {**FILES, "pkg/__init__.py": init})


def test_what_is_left_always_has_a_reason() -> None:
    init = "from . import sub\nglobals().update(sym=sub.sym)\n"
    with tree({**FILES, "pkg/__init__.py": init}) as root:
        outcome = run(root, "--fix")
        assert outcome.code == 1
        assert "pkg/__init__.py: not fixed: " in outcome.out
