"""Reads that a patch covers stay late, whatever the name or its origin looks like."""

from __future__ import annotations

import sys

import pytest

from tests.narrow_reexport.patching import moves, sees
from tests.narrow_reexport.trees import PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

new_mock = pytest.mark.skipif(sys.version_info < (3, 11), reason="mock.patch looks for modules first from 3.11 on")


def test_a_patch_of_a_consumer_is_untouched() -> None:
    engine: Tree = {"engine.py": "from pkg import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    after: Tree = {"engine.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch("engine.sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
    moves(test, test, engine=engine, engine_after=after)


def test_a_reader_that_was_bound_before_the_patch_stays_bound() -> None:
    bound: Tree = {"bound.py": "from pkg import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    bound_after: Tree = {"bound.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    test = (
        "from unittest import mock\n\n"
        "import bound\n"
        "import engine\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1), bound.run(1))\n"
    )
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"), more=bound, more_after=bound_after)


@pytest.mark.parametrize(
    ("engine", "after"),
    [
        (
            "import pkg as kernels\n\n\ndef run(x):\n    return kernels.sym(x)\n",
            "import pkg as kernels\nimport pkg.sub\n\n\ndef run(x):\n    return kernels.sub.sym(x)\n",
        ),
        (
            "import pkg as kernels\n\nrun = lambda x: kernels.sym(x)\n",
            "import pkg as kernels\nimport pkg.sub\n\nrun = lambda x: kernels.sub.sym(x)\n",
        ),
        (
            "def run(x):\n    import pkg\n\n    return pkg.sym(x)\n",
            "def run(x):\n    import pkg.sub\n\n    return pkg.sub.sym(x)\n",
        ),
        (
            "import pkg as kernels\n\npkg = 1\n\n\ndef run(x):\n    return kernels.sym(x), pkg\n",
            "import pkg.sub as _sub\n\npkg = 1\n\n\ndef run(x):\n    return _sub.sym(x), pkg\n",
        ),
        (
            "import pkg\nfrom pkg.sub import sym\n\n\ndef run(x):\n    return pkg.sym(x), sym(x)\n",
            "import pkg\nfrom pkg.sub import sym\n\n\ndef run(x):\n    return pkg.sub.sym(x), sym(x)\n",
        ),
        (
            (
                "import pkg\n\n\n"
                "class C:\n"
                "    def run(self, x):\n"
                "        return [pkg.sym(y) for y in [x]], f'{pkg.sym(x)}'\n\n\n"
                "run = C().run\n"
            ),
            (
                "import pkg.sub\n\n\n"
                "class C:\n"
                "    def run(self, x):\n"
                "        return [pkg.sub.sym(y) for y in [x]], f'{pkg.sub.sym(x)}'\n\n\n"
                "run = C().run\n"
            ),
        ),
    ],
    ids=["alias", "lambda", "function", "taken", "bound-too", "method"],
)
def test_a_late_read_of_a_patched_name_stays_late(engine: str, after: str) -> None:
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"), engine={"engine.py": engine}, engine_after={"engine.py": after})


def test_a_script_that_reads_while_it_patches_reads_late() -> None:
    test = (
        "from unittest import mock\n\n"
        "import pkg as p\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(p.sym(1))\n"
        "print(p.sym(1))\n"
    )
    after = (
        "from unittest import mock\n\n"
        "import pkg as p\n"
        "import pkg.sub\n\n"
        'with mock.patch("pkg.sub.sym", return_value="mocked"):\n'
        "    print(p.sub.sym(1))\n"
        "print(p.sub.sym(1))\n"
    )
    moves(test, after, engine={})


def test_a_star_s_names_are_bound_before_the_patch_and_stay_so() -> None:
    star: Tree = {"starred.py": "from pkg import *\n\n\ndef run(x):\n    return sym(x)\n"}
    star_after: Tree = {
        "starred.py": "from pkg import *\nfrom pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import starred\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1), starred.run(1))\n"
    )
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"), more=star, more_after=star_after)


def test_a_patch_that_nobody_is_covered_by_moves_too() -> None:
    test = 'from unittest import mock\n\nwith mock.patch("pkg.sym", return_value="mocked") as m:\n    print(m(1))\n'
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"), engine={})


def test_two_tests_and_two_symbols_move_together() -> None:
    more: Tree = {
        "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x), pkg.light(x)\n",
        "other.py": (
            "from unittest import mock\n\n"
            "import engine\n"
            "import pkg\n\n"
            'with mock.patch.object(pkg, "light", return_value="dark"):\n'
            "    print(engine.run(2))\n"
        ),
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import other\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"), mock.patch("pkg.light"):\n'
        "    print(engine.run(1)[0])\n"
    )
    tree = {**PKG, **more, "main.py": test}
    sees(tree, "mocked")
    after = {
        "pkg/__init__.py": "",
        "engine.py": (
            "import pkg.sub\n\n\ndef run(x):\n    from pkg.light import light\n    return pkg.sub.sym(x), light(x)\n"
        ),
        "other.py": (
            "from unittest import mock\n\n"
            "import engine\n"
            "import pkg\n"
            "import pkg.light\n\n"
            'with mock.patch.object(pkg.light, "light", return_value="dark"):\n'
            "    print(engine.run(2))\n"
        ),
        "main.py": test.replace("pkg.sym", "pkg.sub.sym").replace('"pkg.light"', '"pkg.light.light"'),
    }
    outcome = check_rewritten(tree, "pkg", "sym light", after, run=["main"], unloaded=["pkg.sub"])
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("engine", "after"),
    [
        (
            "import pkg\n\n\ndef run(x):\n    return pkg.fused(x)\n",
            "import pkg\n\n\ndef run(x):\n    from pkg.fused import fused\n    return fused(x)\n",
        ),
        (
            "import pkg\n\n\ndef run(x): return pkg.fused(x)\n",
            "import pkg\n\n\ndef run(x): from pkg.fused import fused; return fused(x)\n",
        ),
        (
            (
                "import pkg\n\n\n"
                "def run(x):\n"
                "    fused = 1\n"
                "    if pkg.fused(x):\n"
                "        return [pkg.fused(y) for y in [x]], fused\n"
            ),
            (
                "import pkg\n\n\n"
                "def run(x):\n"
                "    fused = 1\n"
                "    from pkg.fused import fused as _fused\n"
                "    if _fused(x):\n"
                "        from pkg.fused import fused as _fused\n"
                "        return [_fused(y) for y in [x]], fused\n"
            ),
        ),
        (
            "import pkg\n\n\ndef run(x):\n    def inner(y=pkg.fused(x)):\n        return y\n\n    return inner()\n",
            (
                "import pkg\n\n\n"
                "def run(x):\n"
                "    from pkg.fused import fused\n"
                "    def inner(y=fused(x)):\n"
                "        return y\n\n"
                "    return inner()\n"
            ),
        ),
        (
            "import pkg as p\n\nrun = lambda x: p.fused(x)\n",
            "import pkg as p\nimport pkg.fused\n\nrun = lambda x: p.fused.fused(x)\n",
        ),
        (
            "import pkg\n\n\ndef run(x):\n    return list(pkg.fused(y) for y in [x])\n",
            "import pkg.fused\n\n\ndef run(x):\n    return list(pkg.fused.fused(y) for y in [x])\n",
        ),
    ],
    ids=["plain", "one-line", "taken", "default", "lambda", "generator"],
)
def test_a_same_named_function_is_imported_where_it_is_read(engine: str, after: str) -> None:
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import pkg\n\n"
        'with mock.patch("pkg.fused", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
        'with mock.patch.object(pkg, "fused", return_value="again"):\n'
        "    print(engine.run(1))\n"
    )
    tree = {**SAME, "engine.py": engine, "main.py": test}
    sees(tree, "mocked")
    wanted = test.replace('"pkg.fused"', '"pkg.fused.fused"').replace("(pkg,", "(pkg.fused,")
    wanted = wanted.replace("import pkg\n", "import pkg\nimport pkg.fused\n")
    check_rewritten(
        tree,
        "pkg",
        "fused",
        {**SAME_NARROWED, "engine.py": after, "main.py": wanted},
        run=["main"],
        unloaded=["pkg.fused"],
    )


@new_mock
def test_a_path_through_a_same_named_module_stays_for_mock_and_is_refused_for_monkeypatch() -> None:
    tree = {**SAME, "pkg/fused.py": "FACTOR = 3\n\n\ndef fused(x=1):\n    return x * FACTOR\n"}
    test = (
        "from unittest import mock\n\n"
        "from pkg import fused\n\n"
        'with mock.patch("pkg.fused.FACTOR", "mocked"):\n'
        "    print(fused(1))\n"
    )
    sees({**tree, "main.py": test}, "mocked")
    after = test.replace("from pkg import", "from pkg.fused import")
    check_rewritten({**tree, "main.py": test}, "pkg", "fused", {**SAME_NARROWED, "main.py": after}, run=["main"])
    test = 'def test(monkeypatch):\n    monkeypatch.setattr("pkg.fused.cache", {})\n'
    check_refused({**tree, "main.py": test}, "pkg", "fused", "is the module after the run", at="main.py:2")


ROTARY: Tree = {
    "pkg/__init__.py": "from .rotary import helper, rotary\n",
    "pkg/rotary.py": "def rotary(x):\n    return x\n\n\ndef helper(x):\n    return x * 2\n",
    "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.helper(x)\n",
}
HELPER = (
    "from unittest import mock\n\n"
    "import engine\n\n"
    'with mock.patch("pkg.helper", return_value="mocked"):\n'
    "    print(engine.run(1))\n"
)


def supports(python: str) -> Tree:
    return {"pyproject.toml": f'[project]\nname = "pkg"\nrequires-python = ">={python}"\n'}


def test_an_origin_behind_another_name_is_refused_where_mock_goes_by_attributes() -> None:
    tree = {**ROTARY, **supports("3.10"), "main.py": HELPER}
    sees(tree, "mocked")
    check_refused(tree, "pkg", "helper", "not reached by attributes.*before Python 3.11", at="main.py:5")


def test_a_path_through_a_same_named_module_is_doubtful_where_mock_goes_by_attributes() -> None:
    tree = {**SAME, "pkg/fused.py": "FACTOR = 3\n\n\ndef fused(x=1):\n    return x * FACTOR\n", **supports("3.10")}
    test = 'from unittest import mock\n\nmock.patch("pkg.fused.FACTOR", 1)\n'
    says = "main.py:3: before Python 3.11 pkg.fused is the module"
    check_rewritten({**tree, "main.py": test}, "pkg", "fused", SAME_NARROWED, says=says)


@new_mock
def test_an_origin_behind_another_name_is_imported_where_it_is_read() -> None:
    rotary = {**ROTARY, **supports("3.11")}
    test = HELPER
    sees({**rotary, "main.py": test}, "mocked")
    after = {
        "pkg/__init__.py": "from .rotary import rotary\n",
        "engine.py": "import pkg\n\n\ndef run(x):\n    from pkg.rotary import helper\n    return helper(x)\n",
        "main.py": test.replace("pkg.helper", "pkg.rotary.helper"),
    }
    check_rewritten({**rotary, "main.py": test}, "pkg", "helper", after, run=["main"])
    test = 'def test(monkeypatch):\n    monkeypatch.setattr("pkg.helper", 1)\n'
    check_refused({**rotary, "main.py": test}, "pkg", "helper", "not reached by attributes", at="main.py:2")
    test = 'import pkg\nfrom unittest import mock\n\nmock.patch.object(pkg, "helper")\n'
    check_refused({**rotary, "main.py": test}, "pkg", "helper", "no import of pkg.rotary fits", at="main.py:4")


def test_an_origin_outside_the_package_is_patched_there() -> None:
    tree: Tree = {
        "pkg/__init__.py": "from other.x import sym\n",
        "other/__init__.py": "",
        "other/x.py": "def sym(x):\n    return x * 2\n",
        "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x)\n",
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import pkg\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
        'with mock.patch.object(pkg, "sym", return_value="2"):\n'
        "    print(engine.run(1))\n"
    )
    sees({**tree, "main.py": test}, "mocked")
    after = {
        "pkg/__init__.py": "",
        "engine.py": "import pkg\nimport other.x as _x\n\n\ndef run(x):\n    return _x.sym(x)\n",
        "main.py": test.replace('"pkg.sym"', '"other.x.sym"')
        .replace("(pkg,", "(_x,")
        .replace("import pkg\n", "import other.x as _x\nimport pkg\n"),
    }
    check_rewritten({**tree, "main.py": test}, "pkg", "sym", after, run=["main"], unloaded=["other.x"])


def test_a_patched_submodule_stays_while_something_loads_it() -> None:
    tree: Tree = {
        "pkg/__init__.py": "from . import sub\n",
        "pkg/sub.py": "def f():\n    return 1\n",
        "engine.py": "def run():\n    from pkg import sub\n\n    return sub.f()\n",
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import pkg.sub\n\n"
        'with mock.patch("pkg.sub") as m:\n'
        '    m.f.return_value = "mocked"\n'
        "    print(engine.run())\n"
    )
    sees({**tree, "main.py": test}, "mocked")
    check_rewritten(
        {**tree, "main.py": test}, "pkg", "sub", {"pkg/__init__.py": ""}, run=["main"], unloaded=["pkg.sub"]
    )
    alone = test.replace("import pkg.sub\n", "")
    check_refused({**tree, "main.py": alone}, "pkg", "sub", "nothing loads the submodule", at="main.py:5")
