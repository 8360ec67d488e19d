"""A cycle that the edits would lay bare is laid on the symbols that close it, and on no others."""

from __future__ import annotations

import re

from tests.narrow_reexport.verbs import Tree, check_refused, narrow, tree

# `deco` is in every way of the ring, but it is the new import of `classes` by `misc` that closes it
STEP: Tree = {
    "pkg/__init__.py": "from .utils import deco\nfrom .classes import Graph\n",
    "pkg/utils/__init__.py": "from .misc import *\n\n\ndef deco(function):\n    return function\n",
    "pkg/utils/misc.py": "import pkg as p\n\n\ndef helper():\n    return p.Graph()\n",
    "pkg/classes.py": "from .generators import make\n\n\nclass Graph:\n    make = make\n",
    "pkg/generators.py": "import pkg as p\n\n\n@p.deco\ndef make():\n    return 1\n",
    "main.py": "import pkg\n\nprint(pkg.Graph, pkg.deco(1))\n",
}


def refused(text: str) -> set[str]:
    return set(re.findall(r"refused: .*\[(\S+)\]$", text, re.M))


def test_the_symbol_whose_new_import_closes_the_cycle_is_refused() -> None:
    reason = r"pkg\.utils -> pkg\.utils\.misc -> pkg\.classes -> pkg\.generators cannot take deco from pkg\.utils"
    outcome = check_refused(STEP, "pkg", "deco Graph", reason)
    assert refused(outcome.text) == {"pkg:Graph"}


def test_the_others_are_narrowed_at_once() -> None:
    with tree(STEP) as root:
        outcome = narrow(root, "pkg", "deco", "Graph", "--keep-going")
        assert refused(outcome.text) == {"pkg:Graph"}
        assert (root / "pkg/__init__.py").read_text() == "from .classes import Graph\n"
        assert "@p.utils.deco" in (root / "pkg/generators.py").read_text()


def test_all_that_one_statement_takes_too_early_is_refused_at_once() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .odd import *\nfrom .algos import a, b, c\n",
        "pkg/odd/__init__.py": "",
        "pkg/odd/algos.py": "",  # the star may take it along, so `pkg.algos` is no sure way to the module
        "pkg/algos/__init__.py": "from .generic import *\nfrom .parts import a, b, c\n",
        "pkg/algos/generic.py": "import pkg as p\n\n\ndef run():\n    return p.a() + p.b()\n",
        "pkg/algos/parts.py": "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n",
        "main.py": "from pkg import a, c\n\nprint(a(), c())\n",
    }
    reason = r"pkg\.algos -> pkg\.algos\.generic cannot take a from pkg\.algos"
    assert refused(check_refused(files, "pkg", "a b c", reason).text) == {"pkg:a", "pkg:b"}
