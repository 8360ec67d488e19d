"""The attributes of other modules that a module reads as it is imported."""

from __future__ import annotations

import pytest

from codemods.engine.eager_reads import Reads, with_reads
from codemods.engine.model import Module
from codemods.engine.outline import outline

MODULE = Module("pkg.m", "pkg/m.py", False)
KNOWN = {"pkg", "pkg.m", "pkg.other", "pkg.deep", "pkg.deep.leaf"}


def reads(text: str) -> list[tuple[int, str, str, bool]]:
    def locate(name: str) -> Module | None:
        return Module(name, name, False) if name in KNOWN else None

    events = with_reads(text.encode(), MODULE, outline(text.encode(), MODULE).events, locate)
    return [(each.line, each.module, each.name, each.guarded) for each in events if isinstance(each, Reads)]


@pytest.mark.parametrize(
    "text",
    [
        "from . import other\nx = other.K\n",
        "from pkg import other as o\nclass A(o.K): pass\n",
        "import pkg.other as o\n@o.K\ndef f(): ...\n",
        "import pkg.other\ndef f(x=pkg.other.K): ...\n",
        "from . import other\nx = [other.K for _ in (1,)]\n",
        "from . import other\nif other.K: pass\n",
        "from . import other\nprint(other.K.deeper)\n",
    ],
)
def test_what_runs_at_import_is_a_read(text: str) -> None:
    assert reads(text) == [(2, "pkg.other", "K", False)]


@pytest.mark.parametrize(
    "text",
    [
        "from . import other\ndef f():\n    return other.K\n",
        "from . import other\nf = lambda: other.K\n",
        "from .other import K\nK.attr\n",
        "from . import other\nother = 1\nother.K\n",
        "from . import other\nother.K = 1\n",
        "from . import other\nother.__name__\n",
        "import pkg.deep.leaf\npkg.deep.leaf\n",
        "import elsewhere\nelsewhere.K\n",
        "from __future__ import annotations\nfrom . import other\ndef f(x: other.K): ...\n",
        "from typing import TYPE_CHECKING\nfrom . import other\nif TYPE_CHECKING:\n    other.K\n",
        "def broken(:\n",
    ],
)
def test_what_does_not_is_none(text: str) -> None:
    assert reads(text) == []


def test_a_read_whose_failure_is_caught_is_guarded() -> None:
    text = "from . import other\ntry:\n    x = other.K\nexcept AttributeError:\n    x = None\n"
    assert reads(text) == [(3, "pkg.other", "K", True)]


def test_reads_stand_in_order_among_imports_and_bindings() -> None:
    text = "from . import other\nfirst = 1\nx = other.K\nlast = 2\n"
    module = Module("pkg.other", "pkg/other.py", False)
    events = with_reads(text.encode(), MODULE, outline(text.encode(), MODULE).events, {"pkg.other": module}.get)
    assert [type(event).__name__ for event in events] == ["FromImports", "Binds", "Reads", "Binds", "Binds"]
