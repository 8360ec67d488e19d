"""Files that may hold the package as a value: none too few, and none for a word that is merely spelled alike."""

from __future__ import annotations

import pytest

from codemods.narrow_reexport.holders import Bindings, bound_names, handing_test, reflection_test

WANTED = frozenset({b"wanted"})
REFLECTS = [
    "import a.config\ngetattr(a.config, name)\n",
    "from a import config\ngetattr(config, name)\n",
    "from a import (\n    other,\n    config,\n)\nvars(config)\n",
    "from .. import config\nhasattr( (config), name)\n",
    "import a.config as config\ndir(config)\n",
    "from a import *\ngetattr(config, name)\n",
    "if x: import a.config\ngetattr(a.config, name)\n",
    "lazy import a.config\ngetattr(a.config, name)\n",
    "import a\nq = a\ngetattr(q.config, name)\n",
    "import a\nq = a.config\ngetattr(q, name)\n",
    "import importlib\nm = importlib.import_module('a.config')\ngetattr(m, name)\n",
    "import sys\ngetattr(sys.modules['a'].config, name)\n",
    "import sys\np = sys.modules['a']\ngetattr(p.config, name)\n",
    "import a.config\ngetattr(a.config, 'wanted')\n",
    "import a.config\ngetattr(a.config, 'wanted', None)\n",
    "import a.config\ngetattr(a.config, '__dict__')[name]\n",
    "import a.config\ngetattr(a.config, 'wan' 'ted')\n",
    "import a.config\ngetattr(a.config, 'other' + name)\n",
    "import a.config\ngetattr(a.config, f'other{name}')\n",
    "import a.config\ngetattr(a.config, r'\\w')\n",
    "import a.config\ngetattr(  # why\n    a.config, name)\n",
    "import a.config\ngetattr(\n    # why\n    a.config,  # that\n    name)\n",
    "import a.config\ngetattr(a.config  # why\n    , name)\n",
    "import a.config\ngetattr(a.config, \\\n    name)\n",
    "import a.config\ngetattr(\\\n    a.config, name)\n",
    "import a.config\ngetattr(a . config, name)\n",
    f"import a.config\ngetattr(  # {'why ' * 60}\n    a.config, name)\n",
    f"import a.config\ngetattr(\n{'    # why' * 10}\n{'    # why' * 40}\n    a.config, name)\n",
    f"import a.config\ngetattr({' ' * 300}a.config, name)\n",
    "import a.config\ngetattr(" + "\n" * 300 + "a.config, name)\n",
    "import a.config\r\ngetattr(  # why\r\n    a.config, name)\r\n",
    "import a.config\ngetattr(a.\\\n    config, name)\n",
    "import a\nq = (a.config)\ngetattr(q, name)\n",
    "import a\nr = q = a.config\ngetattr(q, name)\n",
    "import a\nq = \\\n    a.config\ngetattr(q, name)\n",
]
INNOCENT = [
    "import a.config\ngetattr(self.config, name)\n",
    "from a.config import X\ndef f(config): return getattr(config, name)\n",
    "from a.config import X\nself.x = config\ngetattr(self, name)\n",
    "from a.config import X\ny = self.config\ngetattr(y, name)\n",
    "from a.config import X\ngetattr(f().config, name)\n",
    "import a.config\ngetattr(a.config, 'other')\n",
    "import a.config\ngetattr(x)\ny = [config, 1]\n",
    'import a.config\nsetattr(\n    a.config,\n    "other",\n    name,\n)\n',
]
HANDS = [
    "import a.config\nf(\n    a.config,\n)\n",
    "import a.config\nf(\n    # why\n    a.config  # that\n    ,\n)\n",
    "from a.config import X\nX . __dict__\n",
    "import a.config\nf(a.config)\n",
    "from a import config\nd = {'c': config}\n",
    "from a import config as config, b\nf(x, config, y)\n",
    "from a.config import X\nX.__dict__\n",
]
KEEPS = ["from a.config import X\nf(x=self.config, y=config)\n", "import a.config\ndef g(config, x): f(config)\n"]


@pytest.mark.parametrize("text", REFLECTS)
def test_a_computed_name_may_reach_a_package_that_the_file_binds(text: str) -> None:
    called = {b"config"} | ({b"q"} if "q = a.config" in text else set())
    assert reflection_test(b"config", WANTED)(Bindings(text.encode()), called)


@pytest.mark.parametrize("text", INNOCENT)
def test_a_local_of_the_same_name_is_not_the_package(text: str) -> None:
    assert not reflection_test(b"config", WANTED)(Bindings(text.encode()), {b"config"})


@pytest.mark.parametrize("text", HANDS)
def test_a_package_that_is_handed_on_is_seen(text: str) -> None:
    assert handing_test(b"config")(Bindings(text.encode()))


@pytest.mark.parametrize("text", KEEPS)
def test_a_local_that_is_handed_on_is_not_the_package(text: str) -> None:
    assert not handing_test(b"config")(Bindings(text.encode()))


def test_the_names_that_imports_bind() -> None:
    text = b"""\
import a.b, c.d as e  # f
from g import h, \\
    i as j
from k import (  # l
    m,  # n
    o as p,
)
    from . import q; import r
from s import *
t = a.u
v = w
"""
    assert bound_names(text) == {b"a", b"e", b"h", b"j", b"m", b"p", b"q", b"r", b"*", b"t"}
