"""A scan finds the same on all cores as on one."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from codemods.engine import parallel
from codemods.narrow_reexport import pipeline, prepare, scan
from codemods.narrow_reexport.request import Request
from codemods.narrow_reexport.scan import Scan
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Tree, tree

WIDE: Tree = {
    **PKG,
    "pkg/__init__.py": "from .light import *\nfrom .sub import sym\n",
    "pkg/inside.py": "from . import sym\n",
    "setup.py": "import pkg\n\nprint(pkg.sym)\n",
    "README.md": "```python\nfrom pkg import sym\n```\n",
    "plain.py": "from pkg import sym\n",
    "star.py": "from pkg import *\n\nprint(light(1))\n",
    "through.py": "import star\n\nprint(star.sym)\n",
    "carrier.py": "import pkg as p\n",
    "carried.py": "from carrier import p\n\nprint(p.sym)\n",
    "test_patch.py": "from unittest.mock import patch\nimport pkg\n\nwith patch('pkg.sym'):\n    pass\n"
    "with patch('pkg.sub.sym'):\n    pass\nwith patch.object(pkg, 'sym'):\n    pass\n",
    "loses.py": "import pkg\n\nprint(pkg.sub.Sym)\n",
    "asks.py": "import pkg\n\n\ndef f(name):\n    return getattr(pkg, name)\n",
    "nothing.py": "print('sym')\n",
}


def two() -> int:
    return 2


def scanned(root: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> list[Scan]:
    found: list[Scan] = []

    def keeping(*given: object, **named: object) -> Scan:
        found.append(scan.scan(*given, **named))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(prepare, "scan", keeping)
    monkeypatch.setattr(parallel, "_MANY", many)
    monkeypatch.setattr(parallel, "_AT_ONCE", 3)
    monkeypatch.setattr(parallel, "_cores", two)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    pipeline.run(Request(root, "pkg", ("sym",)))
    return found


def test_all_cores_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    with tree(WIDE) as root:
        alone = scanned(root, monkeypatch, 10_000)
        assert scanned(root, monkeypatch, 0) == alone
    left_alone = {"pkg/__init__.py", "pkg/light.py", "README.md", "nothing.py", "carrier.py", "through.py"}
    assert {survivor.path for survivor in alone[0].python} == WIDE.keys() - left_alone
    assert alone[0].star_reads == {("star", "sym")}
    assert {survivor.path for survivor in alone[0].others} == {"README.md", "setup.py"}
    assert alone[0].losing == {"loses.py", "test_patch.py"}
    assert alone[0].patched == {"sym"}
    assert alone[0].early == {"sym"}
    assert "sym" in alone[0].read_names
