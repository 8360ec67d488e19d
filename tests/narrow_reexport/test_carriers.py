"""Modules that hand the package on under a name of theirs: the statement counts wherever on its line it stands."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.verbs import Tree, narrow, tree

TOP: Tree = {
    "top/__init__.py": "",
    "top/pkg/__init__.py": "from .light import light\nfrom .sub import sym\n",
    "top/pkg/light.py": "def light():\n    return 1\n",
    "top/pkg/sub.py": "def sym():\n    return 2\n\n\ndef other():\n    return 3\n",
}


@pytest.mark.parametrize("head", ["", "\ufeff", "if True: ", "X = 1; ", "\f"])
@pytest.mark.parametrize("carrier", ["from top import pkg", "import top.pkg as pkg", "from top import pkg as q"])
@pytest.mark.parametrize(
    "reader",
    [
        "import car\n\nprint(car.{name}.sym())\n",
        "from car import {name}\n\nprint({name}.sub.other(), {name}.light())\n",
    ],
)
def test_what_is_read_through_a_carrier_follows(head: str, carrier: str, reader: str) -> None:
    text = reader.format(name="q" if carrier.endswith(" q") else "pkg")
    before = {**TOP, "car.py": f"{head}{carrier}\n".encode(), "main.py": text}
    with tree(before) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "top.pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert (old[0].exit_code, oracle.differences(old, oracle.run_programs(root, ["main"]))) == (0, [])
        assert narrow(root, "top.pkg", "sym").code == 0
