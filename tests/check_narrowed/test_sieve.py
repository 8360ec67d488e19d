"""The sieve: a file that cannot reach a banned name is not parsed, and one that can is never missed."""

from __future__ import annotations

import pytest

from codemods.check_narrowed.sieve import Sieve
from codemods.engine.modules import Layout

FILES = {
    "pkg/__init__.py": b"",
    "pkg/ops/__init__.py": b"",
    "pkg/ops/sub.py": b"",
    "app/__init__.py": b"",
    "app/holder.py": b"from pkg import ops as held\nimport pkg.ops as direct\n",
    "app/stars.py": b"from app.holder import *\n",
}
LAYOUT = Layout(tuple(FILES), "pkg")
MANY = tuple(f"name_{number}" for number in range(20))  # so many are looked for by another way


def suspects(text: str, path: str = "app/use.py", names: tuple[str, ...] = ("sym", "größe")) -> bool:
    few = Sieve({"pkg.ops": names}, lambda: LAYOUT, FILES.__getitem__).suspects(path, text.encode())
    many = Sieve({"pkg.ops": (*names, *MANY)}, lambda: LAYOUT, FILES.__getitem__).suspects(path, text.encode())
    assert few == many
    return few == {"pkg.ops"}


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.ops import sym\n",
        "from pkg.ops import (\n    a,  # sym\n    sym as s,\n)\n",
        "from pkg.ops import a, \\\n    sym\n",
        "from pkg.ops import *\nsym()\n",
        "import pkg.ops\npkg.ops.sym()\n",
        "import pkg.ops as o\no.sym\n",
        "import pkg.ops as o\no. \\\n  sym\n",
        "from pkg import ops\n@ops.sym\ndef f(): ...\n",
        "import pkg.ops.sym as m\n",
        "from app.holder import held\nheld.sym\n",
        "from app.stars import direct as d\nd.sym\n",
        "from app import holder\nholder.held.sym\n",
        "from app.stars import *\nheld.sym\n",
        "import pkg.ops\ngetattr(pkg.ops, 'sym')\n",
        "from unittest.mock import patch\npatch('pkg.ops.sym')\n",
        "import pkgutil\npkgutil.resolve_name('pkg.ops:sym')\n",
        "def test(mocker): mocker.patch('pkg.ops.sym')\n",
        "from pkg.ops import größe\n",
        "import pkg.ops as maß\nmaß.größe\n",
        "import pkg.ops\npkg.ops.ſym\n",  # Python reads it as `sym`
        "x = 1; from pkg.ops import sym\n",
        "import pkg . ops as o\no.sym\n",
        "import pkg.ops as o\n(o).sym\n",
        "import pkg.ops\n(pkg.ops).sym\n",
        "import pkg.ops as o\n(o if o else f(1)).sym\n",
        "import pkg.ops\n(p := pkg.ops).sym\n",
        "import pkg.ops as o\nx = (o.  # said\n  sym)\n",
        "import pkg.ops as o\nx = (o  # said\n  .sym)\n",
        "import pkg.ops\na = b = pkg.ops\nb.sym\n",
        "import pkg.ops\na = b = pkg.ops\na.sym\n",
        "import pkg.ops\na = (pkg.ops)\na.sym\n",
        "from unittest import mock\nP = 'pkg.ops'\nmock.patch(f'{P}.sym')\n",
        "import operator, pkg\noperator.attrgetter('ops.sym')(pkg)\n",
        "from app import holder as h\ngetattr(h.held, 'sym')\n",
    ],
)
def test_what_reaches_the_name_is_suspected(text: str) -> None:
    assert suspects(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("from . import sym\n", "pkg/ops/user.py"),
        ("from .. import ops\nops.sym\n", "pkg/other/user.py"),
        ("from ..ops import sym\n", "pkg/other/user.py"),
    ],
)
def test_relative_imports_count_from_the_file(text: str, path: str) -> None:
    assert suspects(text, path)
    assert not suspects(text, "app/deep/use.py")


@pytest.mark.parametrize(
    "text",
    [
        "from pkg.ops.sub import sym\n",
        "from other.ops import sym\n",
        "from pkg.ops import symbol, a_sym\n",
        "import pkg.ops\nself.sym = 1\nother.sym()\n",
        "import pkg.ops\npkg.ops.sub.sym()\n",
        "import other as pkg2\npkg2.ops.sym\n",
        "sym = 1\n",
        "import os\nlabel = 'sym'\n",
    ],
)
def test_what_cannot_reach_the_name_is_not_parsed(text: str) -> None:
    assert not suspects(text)
