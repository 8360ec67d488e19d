"""A symbol that is named like its module: which of the two an import binds, and when."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.verbs import check_refused, check_rewritten, expect_tree, narrow, tree

EARLY: dict[str, str | bytes] = {
    "pkg/__init__.py": "from .b import b\nfrom .d import d\n",
    "pkg/b.py": "from pkg import d\n\n\ndef b():\n    return d.__name__\n",
    "pkg/d.py": "def d():\n    return 1\n",
    "main.py": "import pkg\n\nprint(pkg.b(), pkg.d())\n",
}


@pytest.mark.parametrize("line", ["from pkg import d", "from . import d", "import pkg.d as d"])
def test_an_import_that_runs_before_the_init_binds_the_name_gets_the_module_and_is_refused(line: str) -> None:
    before = {**EARLY, "pkg/b.py": f"{line}\n\n\ndef b():\n    return d.__name__\n"}
    check_refused(before, "pkg", "d", "before the __init__ binds the name", at="pkg/b.py:1")


def test_such_an_import_stays_where_a_person_accepts_it_and_the_program_does_the_same() -> None:
    with tree(EARLY) as root:
        old = oracle.run_programs(root, ["main"], ["."])
        outcome = narrow(root, "pkg", "d", "--accept", "pkg/b.py:1")
        assert outcome.code == 0, outcome.text
        after = {
            **EARLY,
            "pkg/__init__.py": "from .b import b\n",
            "main.py": "import pkg\nfrom pkg.d import d\n\nprint(pkg.b(), d())\n",
        }
        expect_tree(root, after)
        assert oracle.run_programs(root, ["main"], ["."]) == old


def test_an_import_in_a_function_of_such_a_module_runs_later_and_follows() -> None:
    before = {**EARLY, "pkg/b.py": "def b():\n    from pkg import d\n\n    return d()\n"}
    after = {
        "pkg/__init__.py": "from .b import b\n",
        "pkg/b.py": "def b():\n    from pkg.d import d\n\n    return d()\n",
        "main.py": "import pkg\nfrom pkg.d import d\n\nprint(pkg.b(), d())\n",
    }
    check_rewritten(before, "pkg", "d", after, run=["main"])


def test_a_module_that_the_init_loads_after_it_has_bound_the_name_follows() -> None:
    before = {
        **EARLY,
        "pkg/__init__.py": "from .d import d\nfrom .b import b\n",
        "pkg/b.py": "from pkg import d\n\n\ndef b():\n    return d()\n",
    }
    after = {
        "pkg/__init__.py": "from .b import b\n",
        "pkg/b.py": "from pkg.d import d\n\n\ndef b():\n    return d()\n",
        "main.py": "import pkg\nfrom pkg.d import d\n\nprint(pkg.b(), d())\n",
    }
    check_rewritten(before, "pkg", "d", after, run=["main"])


def test_a_package_around_it_waits_for_the_init_and_follows() -> None:
    before = {
        "outer/__init__.py": "from outer.pkg import d\n\nVALUE = d()\n",
        "outer/pkg/__init__.py": "from .b import b\nfrom .d import d\n",
        "outer/pkg/b.py": "import outer\n\n\ndef b():\n    return 2\n",
        "outer/pkg/d.py": "def d():\n    return 1\n",
        "main.py": "import outer\n\nprint(outer.VALUE)\n",
    }
    after = {
        "outer/__init__.py": "from outer.pkg.d import d\n\nVALUE = d()\n",
        "outer/pkg/__init__.py": "from .b import b\n",
    }
    check_rewritten(before, "outer.pkg", "d", after, run=["main"])


def test_the_module_behind_an_attrgetter_is_left_by_a_second_run() -> None:
    before = {
        "pkg/__init__.py": "from .fused import fused\n",
        "pkg/fused.py": "def fused(x):\n    return x\n",
        "main.py": "import operator\nimport pkg\n\n\ndef f():\n    return operator.attrgetter('fused')(pkg)(2)\n\n\nprint(f())\n",
        "test_it.py": "from unittest import mock\n\nimport main\n\n\n@mock.patch('pkg.fused', lambda x: 'fake')\n"
        "def test_it():\n    return main.f()\n\n\nprint(test_it())\n",
    }
    with tree(before) as root:
        programs = ["main", "test_it"]
        old = oracle.run_programs(root, programs, ["."])
        outcome = narrow(root, "pkg", "fused")
        assert outcome.code == 0, outcome.text
        assert not oracle.differences(old, oracle.run_programs(root, programs, ["."]))
        assert narrow(root, "pkg", "fused").code == 0
        assert "attrgetter('fused')(pkg.fused)" in (root / "main.py").read_text()
