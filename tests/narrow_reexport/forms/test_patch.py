"""Tests that patch: which targets move, with which readers, and which are refused.

Owns a consumer that reads `pkg.sym` late, and the shorthand for a test program beside it. Each rewritten program runs
before and after, and must have seen its patch.
"""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import Outcome, Tree, check_refused, check_rewritten
from tests.narrow_reexport.verbs import tree as laid

ENGINE: Tree = {"engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x)\n"}
ENGINE_AFTER: Tree = {"engine.py": "import pkg.sub\n\n\ndef run(x):\n    return pkg.sub.sym(x)\n"}
LOCAL: Tree = {"engine.py": "def run(x):\n    from pkg import sym\n\n    return sym(x)\n"}
LOCAL_AFTER: Tree = {"engine.py": "def run(x):\n    from pkg.sub import sym\n\n    return sym(x)\n"}
MOCKER = """
from unittest import mock


class _Patcher:
    def __call__(self, target, *args, **kwargs):
        return mock.patch(target, *args, **kwargs).start()

    def object(self, target, name, *args, **kwargs):
        return mock.patch.object(target, name, *args, **kwargs).start()

    def dict(self, target, *args, **kwargs):
        return mock.patch.dict(target, *args, **kwargs).start()

    def multiple(self, target, **kwargs):
        return mock.patch.multiple(target, **kwargs).start()


class Mocker:
    patch = _Patcher()

    def spy(self, obj, name):
        real = getattr(obj, name)
        return mock.patch.object(obj, name, side_effect=lambda *args: ("spied", real(*args))).start()

    def stopall(self):
        mock.patch.stopall()
"""

# pytest is not installed where the programs run; this goes by attributes, as its own does
MONKEY: Tree = {
    "monkey.py": """
import importlib

_GONE = object()


def _resolve(path):
    parts = path.split(".")
    used = parts.pop(0)
    found = importlib.import_module(used)
    for part in parts:
        used += "." + part
        if not hasattr(found, part):
            importlib.import_module(used)
        found = getattr(found, part)
    return found


class MonkeyPatch:
    def __init__(self):
        self.saved = []

    def setattr(self, target, name, value=_GONE, raising=True):
        if isinstance(target, str):
            target, name, value = _resolve(target.rpartition(".")[0]), target.rpartition(".")[2], name
        self.saved.append((target, name, getattr(target, name)))
        setattr(target, name, value)

    def delattr(self, target, name=None):
        if name is None:
            target, name = _resolve(target.rpartition(".")[0]), target.rpartition(".")[2]
        self.saved.append((target, name, getattr(target, name)))
        delattr(target, name)

    def undo(self):
        while self.saved:
            setattr(*self.saved.pop())
"""
}


def moves(
    test: str,
    after: str,
    *,
    engine: Tree | None = None,
    engine_after: Tree | None = None,
    more: Tree | None = None,
    more_after: Tree | None = None,
    symbols: str = "sym",
    shows: str = "mocked",
    says: str = "",
) -> Outcome:
    """The patches of one program move with the readers in `engine.py`, and it prints what it printed."""
    tree = {**PKG, **(ENGINE if engine is None else engine), **(more or {}), "main.py": test}
    wanted = {
        **NARROWED,
        **(ENGINE_AFTER if engine is None else engine_after or {}),
        **(more_after or {}),
        "main.py": after,
    }
    sees(tree, shows)
    return check_rewritten(tree, "pkg", symbols, wanted, run=["main"], unloaded=["pkg.sub"], says=says)


def sees(tree: Tree, shows: str) -> None:
    """The program works, and its patch reaches someone: no test here can pass because nothing was patched."""
    with laid(tree) as root:
        (ran,) = oracle.run_programs(root, ["main"])
        assert ran.exit_code == 0, ran.error
        assert shows in ran.output, ran.output


def refused(test: str, reason: str, *, at: str = "main.py", more: Tree | None = None, engine: Tree = ENGINE) -> None:
    """The program's patch cannot move, and the refusal names it."""
    check_refused({**PKG, **engine, **(more or {}), "main.py": test}, "pkg", "sym", reason, at=at)


# --- the ways to write a patch ---


@pytest.mark.parametrize(
    "code",
    [
        'with mock.patch("pkg.sym", return_value="mocked"):\n    print(engine.run(1))\n',
        (
            "with mock.patch('pkg.sym', new=lambda x: \"mocked\") as m, mock.patch('pkg.light'):\n"
            "    print(engine.run(1), m(2))\n"
        ),
        (
            'with mock.patch("pkg.light"):\n'
            '    with mock.patch("pkg.sym") as m:\n'
            '        m.return_value = "mocked"\n'
            "        print(engine.run(1))\n"
        ),
        (
            '@mock.patch("pkg.light")\n'
            '@mock.patch("pkg.sym", return_value="mocked")\n'
            "def test(m, light):\n"
            "    print(engine.run(1), m.call_count)\n\n\n"
            "test()\n"
        ),
        'p = mock.patch(target="pkg.sym", new=lambda x: "mocked")\np.start()\nprint(engine.run(1))\np.stop()\n',
        (
            '@mock.patch("pkg.sym", lambda x: "mocked")\n'
            "class Test:\n"
            "    def test_it(self):\n"
            "        print(engine.run(1))\n\n\n"
            "Test().test_it()\n"
        ),
        "import contextlib\n\nwith contextlib.ExitStack() as stack:\n"
        '    stack.enter_context(mock.patch("pkg.sym", return_value="mocked"))\n    print(engine.run(1))\n',
        'p = mock.patch\nwith p("pkg.sym", return_value="mocked"):\n    print(engine.run(1))\n',
        'mock.patch.multiple("pkg", sym=lambda x: "mocked").start()\nprint(engine.run(1))\n',
    ],
    ids=["with", "with-two", "nested", "decorator", "start", "class", "stack", "alias", "multiple"],
)
def test_a_target_that_is_a_string_moves_with_its_reader(code: str) -> None:
    test = f"from unittest import mock\n\nimport engine\n\n{code}print(engine.run(1))\n"
    for engine, after in ((ENGINE, ENGINE_AFTER), (LOCAL, LOCAL_AFTER)):
        text = test.replace("pkg.sym", "pkg.sub.sym").replace('multiple("pkg"', 'multiple("pkg.sub"')
        moves(test, text, engine=engine, engine_after=after)


@pytest.mark.parametrize(
    "names",
    [
        "from unittest import mock as m\n|m.patch",
        "from unittest.mock import patch as p\n|p",
        "import unittest.mock\n|unittest.mock.patch",
    ],
)
def test_the_file_s_own_names_for_patch_are_followed(names: str) -> None:
    line, _, callee = names.partition("|")
    test = f'{line}\nimport engine\n\nwith {callee}("pkg.sym", return_value="mocked"):\n    print(engine.run(1))\n'
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"))
    test = (
        f"{line}\n"
        f"import engine\n"
        f"import pkg\n\n"
        f'with {callee}.object(pkg, "sym", return_value="mocked"):\n'
        f"    print(engine.run(1))\n"
    )
    moves(test, test.replace("import pkg\n", "import pkg\nimport pkg.sub\n").replace("(pkg,", "(pkg.sub,"))


def test_a_test_case_patches_in_its_set_up() -> None:
    test = """
import unittest
from unittest.mock import patch

import engine
import pkg


class EngineTest(unittest.TestCase):
    def setUp(self):
        patcher = patch.object(pkg, attribute="sym", return_value="mocked")
        self.sym = patcher.start()
        self.addCleanup(patcher.stop)

    def test_it(self):
        print(engine.run(1), self.sym.called)


unittest.main(argv=["x"])
"""
    moves(test, test.replace("import pkg\n", "import pkg\nimport pkg.sub\n").replace("object(pkg,", "object(pkg.sub,"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import pkg as p|p", "import pkg as p\nimport pkg.sub|p.sub"),
        ("import pkg.light|pkg", "import pkg.light\nimport pkg.sub|pkg.sub"),
        ("import importlib, pkg|pkg", "import importlib, pkg\nimport pkg.sub|pkg.sub"),
        ("import pkg\n\nq = pkg|q", "import pkg\nimport pkg.sub\n\nq = pkg|q.sub"),
    ],
)
def test_a_patched_package_becomes_the_module_under_the_name_it_has(before: str, after: str) -> None:
    text = (
        "from unittest.mock import patch\n\n"
        "{}\n"
        "import engine\n\n"
        'with patch.object({}, "sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
    moves(text.format(*before.split("|")), text.format(*after.split("|")))


def test_a_package_that_a_function_imports_is_patched_there() -> None:
    test = """
from unittest import mock

import engine


def test():
    from acme import ops

    with mock.patch.object(ops, "sym", return_value="mocked"):
        print(engine.run(1))


test()
"""
    tree = {
        "acme/__init__.py": "",
        "acme/ops/__init__.py": "from .sub import sym\n",
        "acme/ops/sub.py": "def sym(x):\n    return x * 10\n",
        "engine.py": "import acme.ops\n\n\ndef run(x):\n    return acme.ops.sym(x)\n",
        "main.py": test,
    }
    sees(tree, "mocked")
    after = {
        "acme/ops/__init__.py": "",
        "engine.py": "import acme.ops.sub\n\n\ndef run(x):\n    return acme.ops.sub.sym(x)\n",
        "main.py": test.replace("import ops\n", "import ops\n    import acme.ops.sub\n").replace("(ops,", "(ops.sub,"),
    }
    check_rewritten(tree, "acme.ops", "sym", after, run=["main"], unloaded=["acme.ops.sub"])


def test_a_test_inside_the_package_s_parent_patches_it_by_a_relative_name() -> None:
    test = (
        "from unittest import mock\n\n"
        "from . import engine, ops\n\n"
        'with mock.patch.object(ops, "sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
    tree = {
        "acme/__init__.py": "",
        "acme/ops/__init__.py": "from .sub import sym\n",
        "acme/ops/sub.py": "def sym(x):\n    return x * 10\n",
        "acme/engine.py": "from . import ops\n\n\ndef run(x):\n    return ops.sym(x)\n",
        "acme/test_it.py": test,
        "main.py": "import acme.test_it\n",
    }
    sees(tree, "mocked")
    after = {
        "acme/ops/__init__.py": "",
        "acme/engine.py": "from . import ops\nimport acme.ops.sub\n\n\ndef run(x):\n    return ops.sub.sym(x)\n",
        "acme/test_it.py": test.replace("engine, ops\n", "engine, ops\nimport acme.ops.sub\n").replace(
            "(ops,", "(ops.sub,"
        ),
    }
    check_rewritten(tree, "acme.ops", "sym", after, run=["main"], unloaded=["acme.ops.sub"])


@pytest.mark.parametrize(
    "call",
    [
        'monkeypatch.setattr("pkg.sym", lambda x: "mocked")',
        'monkeypatch.setattr("pkg.sym", lambda x: "mocked", raising=False)',
        'monkeypatch.setattr(target="pkg.sym", name=lambda x: "mocked")',
        'monkeypatch.setattr(pkg, "sym", lambda x: "mocked")',
        'monkeypatch.setattr(pkg, name="sym", value=lambda x: "mocked")',
        'mp.setattr(pkg, "sym", lambda x: "mocked")',
    ],
)
def test_pytest_s_monkeypatch_moves(call: str) -> None:
    test = (
        f"from monkey import MonkeyPatch\n\n"
        f"import pkg\n"
        f"import engine\n\n"
        f"mp = monkeypatch = MonkeyPatch()\n"
        f"{call}\n"
        f"print(engine.run(1))\n"
        f"monkeypatch.undo()\n"
        f"print(engine.run(1))\n"
    )
    if '"pkg.sym"' in call:
        moves(test, test.replace("pkg.sym", "pkg.sub.sym"), more=MONKEY)
    else:
        after = test.replace("import pkg\n", "import pkg\nimport pkg.sub\n").replace("(pkg,", "(pkg.sub,")
        moves(test, after, more=MONKEY)


@pytest.mark.parametrize("call", ['monkeypatch.delattr("pkg.sym")', 'monkeypatch.delattr(pkg, "sym")'])
def test_a_name_that_a_test_deletes_is_deleted_at_its_origin(call: str) -> None:
    test = (
        f"from monkey import MonkeyPatch\n\n"
        f"import pkg\n"
        f"import engine\n\n"
        f"monkeypatch = MonkeyPatch()\n"
        f"{call}\n"
        f"try:\n"
        f"    print(engine.run(1))\n"
        f"except AttributeError:\n"
        f"    print('mocked away')\n"
        f"monkeypatch.undo()\n"
        f"print(engine.run(1))\n"
    )
    if '"pkg.sym"' in call:
        moves(test, test.replace("pkg.sym", "pkg.sub.sym"), more=MONKEY)
    else:
        after = test.replace("import pkg\n", "import pkg\nimport pkg.sub\n").replace("(pkg,", "(pkg.sub,")
        moves(test, after, more=MONKEY)


@pytest.mark.parametrize(
    "call",
    [
        'mocker.patch("pkg.sym", return_value="mocked")',
        'mocker.patch.object(pkg, "sym", return_value="mocked")',
        'mocker.patch.multiple("pkg", sym=lambda x: "mocked")',
        'mocker.patch.multiple(pkg, sym=lambda x: "mocked")',
        'mocker.spy(pkg, "sym")',
    ],
)
def test_pytest_mock_moves(call: str) -> None:
    test = (
        f"import pkg\n"
        f"import engine\n"
        f"from mocker import Mocker\n\n\n"
        f"def test_it(mocker):\n"
        f"    {call}\n"
        f"    print(engine.run(1))\n"
        f"    mocker.stopall()\n\n\n"
        f"test_it(Mocker())\n"
        f"print(engine.run(1))\n"
    )
    after = test.replace('"pkg.sym"', '"pkg.sub.sym"').replace('("pkg"', '("pkg.sub"')
    if "(pkg," in test:
        after = after.replace("import pkg\n", "import pkg\nimport pkg.sub\n").replace("(pkg,", "(pkg.sub,")
    moves(test, after, more={"mocker.py": MOCKER}, shows="spied" if "spy" in call else "mocked")


def test_a_target_kept_in_a_constant_moves_where_the_constant_is_nothing_else() -> None:
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'TARGET = "pkg.sym"\n\n\n'
        "def test():\n"
        '    with mock.patch(TARGET, return_value="mocked"):\n'
        "        print(engine.run(1))\n\n\n"
        "test()\n"
    )
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"))


@pytest.mark.parametrize(
    "code",
    [
        'TARGET = "pkg.sym"\nprint(TARGET)\nmock.patch(TARGET)\n',
        'PKG = "pkg"\nmock.patch(f"{PKG}.sym")\n',
        'PKG = "pkg"\nmock.patch(PKG + ".sym")\n',
        'import pkg\nmock.patch(f"{pkg.__name__}.sym")\n',
        'mock.patch("pkg." "sym")\n',
        'NAME = "sym"\nmock.patch("pkg." + NAME)\n',
    ],
)
def test_a_target_that_is_put_together_from_parts_is_refused(code: str) -> None:
    refused(f"from unittest import mock\n\n{code}", "put together from parts|label")


def test_a_computed_attribute_of_the_package_is_refused() -> None:
    refused(
        "from unittest import mock\nimport sys\nimport pkg\n\nmock.patch.object(pkg, sys.argv[1])  # sym\n",
        "dynamic object",
    )


def test_a_patched_package_that_no_import_statement_gives_is_refused() -> None:
    test = 'import importlib\nfrom unittest import mock\n\nmock.patch.object(importlib.import_module("pkg"), "sym")\n'
    refused(test, "reached through a call", at="main.py:4")


def test_a_package_that_is_another_module_on_some_paths_is_refused() -> None:
    test = (
        "from unittest import mock\n\n"
        "import pkg\n"
        "import random\n\n"
        "p = pkg if random.random() > 2 else random\n"
        'mock.patch.object(p, "sym")\n'
    )
    refused(test, "only on some paths", at="main.py:7")


def test_a_package_that_another_module_carries_is_patched_through_it() -> None:
    carrier: Tree = {"engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x), pkg.light(x)\n"}
    after: Tree = {
        "engine.py": "import pkg\nimport pkg.sub\n\n\ndef run(x):\n    return pkg.sub.sym(x), pkg.light(x)\n"
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch("engine.pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
    moves(test, test.replace("engine.pkg.sym", "pkg.sub.sym"), engine=carrier, engine_after=after)
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch.object(engine.pkg, "sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
    wanted = test.replace("import engine\n", "import engine\nimport pkg.sub as _sub  # noqa: F401\n").replace(
        "engine.pkg,", "engine.pkg.sub,"
    )
    tree = {**PKG, **carrier, "main.py": test}
    sees(tree, "mocked")
    check_rewritten(
        tree, "pkg", "sym", {**NARROWED, **after, "main.py": wanted.replace(" as _sub  # noqa: F401", "")}, run=["main"]
    )


# --- who is covered ---


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


# --- who would come under the patch ---

PATCH = (
    "from unittest import mock\n\n"
    "import engine\n\n"
    'with mock.patch("pkg.sym", return_value="mocked"):\n'
    "    print(engine.run(1))\n"
)


@pytest.mark.parametrize(
    "sub",
    [
        "def sym(x):\n    return x * 10\n\n\ndef batch(xs):\n    return [sym(x) for x in xs]\n",
        "def sym(x):\n    return sym(x - 1) if x > 2 else x\n",
        "class sym:\n    @classmethod\n    def make(cls):\n        return sym()\n",
        "def sym(x):\n    return x\n\n\nbatch = lambda x: sym(x)\n",
        "import pkg.sub\n\n\ndef sym(x):\n    return x\n\n\ndef batch(x):\n    return pkg.sub.sym(x)\n",
    ],
    ids=["another", "recursion", "class", "lambda", "path"],
)
def test_the_origin_s_own_readers_would_come_under_the_patch(sub: str) -> None:
    refused(PATCH, r"would also reach pkg/sub\.py:\d+", at="main.py:5", more={"pkg/sub.py": sub})


@pytest.mark.parametrize(
    "sub",
    [
        (
            "from __future__ import annotations\n\n\n"
            "def sym(x):\n"
            "    return x * 10\n\n\n"
            "class Sym:\n"
            "    def copy(self) -> sym:\n"
            "        other: sym = 1\n"
            "        return other\n"
        ),
        "def sym(x):\n    return x * 10\n\n\nTEN = sym(1)\n\n\n@sym\nclass Sym:\n    pass\n".replace("x * 10", "x"),
        "def sym(x):\n    return x * 10\n\n\ndef other(sym):\n    return sym(1)\n",
    ],
    ids=["annotations", "eager", "parameter"],
)
def test_reads_of_the_origin_that_no_patch_can_reach_do_not_count(sub: str) -> None:
    moves(PATCH, PATCH.replace("pkg.sym", "pkg.sub.sym"), more={"pkg/sub.py": sub})


@pytest.mark.parametrize(
    "third",
    [
        "def run():\n    from pkg.sub import sym\n\n    return sym(1)\n",
        "import pkg.sub\n\n\ndef run():\n    return pkg.sub.sym(1)\n",
        "from pkg import sub\n\n\ndef run():\n    return sub.sym(1)\n",
        "import pkg.sub as s\n\n\ndef run():\n    return getattr(s, 'sym')(1)\n",
        "from pkg.sub import sym as direct\nimport pkg.sub as s\n\n\ndef __getattr__(name):\n    return s.sym\n",
    ],
    ids=["local", "path", "module", "getattr", "module-getattr"],
)
def test_a_third_file_that_reads_the_origin_late_would_come_under_the_patch(third: str) -> None:
    refused(PATCH, r"would also reach third\.py:\d+", at="main.py:5", more={"third.py": third})


def test_a_reader_that_gets_the_origin_from_another_module_would_come_under_the_patch() -> None:
    more = {
        "holder.py": "import pkg.sub as ops\n",
        "third.py": "import holder\n\n\ndef run():\n    return holder.ops.sym(1)\n",
    }
    refused(PATCH, r"would also reach third\.py:5", at="main.py:5", more=more)


def test_a_third_file_that_took_the_name_before_is_left_alone() -> None:
    third: Tree = {"third.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import third\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1), third.run(1))\n"
    )
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"), more=third)


@pytest.mark.parametrize(
    "direct",
    [
        'mock.patch("pkg.sub.sym")',
        'mock.patch.object(pkg.sub, "sym")',
        'mock.patch.object(pkg.sub, attribute="sym")',
    ],
)
def test_a_test_that_patches_the_origin_already_stands_in_the_way(direct: str) -> None:
    other = f"from unittest import mock\n\nimport pkg.sub\n\nwith {direct}:\n    pass\n"
    refused(PATCH, r"other\.py:5 patches pkg\.sub\.sym too", at="main.py:5", more={"other.py": other})


def test_a_patch_of_the_origin_by_object_keeps_local_readers_out_too() -> None:
    test = 'from unittest import mock\n\nimport pkg.sub\n\nwith mock.patch.object(pkg.sub, "sym"):\n    pass\n'
    refused(test, "patches the name at its origin", at="engine.py:2", engine=LOCAL)


def test_an_accepted_patch_is_left_to_the_person_who_accepted_it() -> None:
    sub = "def sym(x):\n    return x * 10\n\n\ndef batch(xs):\n    return [sym(x) for x in xs]\n"
    test = PATCH.replace('"mocked"):', '"mocked"):  # codemods: accept narrow_reexport')
    tree = {**PKG, **ENGINE, "pkg/sub.py": sub, "main.py": test}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, **ENGINE_AFTER}, says="accepted")


# --- what is behind the name ---


def test_what_lies_behind_the_name_moves_whoever_reads_it() -> None:
    sub = (
        "class Sym:\n"
        "    limit = 3\n\n\n"
        "def own():\n"
        "    return Sym.limit\n\n\n"
        "table = {'a': 1}\n\n\n"
        "def read():\n"
        "    return table['a']\n"
    )
    test = """
from unittest import mock

import pkg
from pkg.sub import own, read

with mock.patch("pkg.Sym.limit", "mocked"), mock.patch.dict("pkg.table", {"a": 2}):
    print(own(), read())
with mock.patch.object(pkg.Sym, "limit", 5), mock.patch.dict(pkg.table, a=3):
    print(own(), read())
"""
    tree = {"pkg/__init__.py": "from .sub import Sym, table\n", "pkg/sub.py": sub, "main.py": test}
    sees(tree, "mocked")
    after = test.replace("pkg.Sym", "pkg.sub.Sym").replace("pkg.table", "pkg.sub.table")
    check_rewritten(
        tree, "pkg", "Sym table", {"pkg/__init__.py": "", "main.py": after}, run=["main"], unloaded=["pkg.sub"]
    )


def test_a_name_that_is_another_at_its_origin_is_patched_under_that() -> None:
    init: Tree = {
        "pkg/__init__.py": "from .light import light\nfrom .sub import impl as sym\n",
        "pkg/sub.py": "def impl(x):\n    return x * 10\n",
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
    after = (
        test.replace("import pkg\n", "import pkg\nimport pkg.sub\n")
        .replace("pkg.sym", "pkg.sub.impl")
        .replace('(pkg, "sym"', '(pkg.sub, "impl"')
    )
    engine = {"engine.py": "import pkg.sub\n\n\ndef run(x):\n    return pkg.sub.impl(x)\n"}
    moves(test, after, more=init, more_after={**NARROWED, **engine})


def test_multiple_names_of_one_module_move_at_once() -> None:
    more: Tree = {
        "pkg/__init__.py": "from .sub import other, sym\n",
        "pkg/sub.py": "def sym(x):\n    return x\n\n\ndef other(x):\n    return x\n",
        "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x), pkg.other(x)\n",
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch.multiple("pkg", sym=lambda x: "mocked", other=lambda x: 2):\n'
        "    print(engine.run(1))\n"
    )
    after = {
        "pkg/__init__.py": "",
        "engine.py": "import pkg.sub\n\n\ndef run(x):\n    return pkg.sub.sym(x), pkg.sub.other(x)\n",
    }
    moves(test, test.replace('"pkg"', '"pkg.sub"'), more=more, more_after=after, symbols="sym other")
    check_refused({**PKG, **more, "main.py": test}, "pkg", "sym", "different places", at="main.py:5")


# --- the function that has the name of its module ---


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


# --- origins whose path is no way to them ---


def test_an_origin_behind_another_name_is_imported_where_it_is_read() -> None:
    rotary: Tree = {
        "pkg/__init__.py": "from .rotary import helper, rotary\n",
        "pkg/rotary.py": "def rotary(x):\n    return x\n\n\ndef helper(x):\n    return x * 2\n",
        "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.helper(x)\n",
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch("pkg.helper", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
    )
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


# --- the __init__ reads the name itself ---

OWN = {"pkg/__init__.py": "from .sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
OWN_TEST = (
    "from unittest import mock\n\n"
    "import pkg\n\n"
    'with mock.patch("pkg.sym", return_value="mocked"):\n'
    "    print(pkg.run(1))\n"
)


def test_a_name_that_the_init_reads_in_functions_moves_with_its_import() -> None:
    tree = {**PKG, **OWN, "main.py": OWN_TEST}
    sees(tree, "mocked")
    after = {
        "pkg/__init__.py": "def run(x):\n    from .sub import sym\n    return sym(x)\n",
        "main.py": OWN_TEST.replace("pkg.sym", "pkg.sub.sym"),
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


@pytest.mark.parametrize(
    "body",
    ["    return lambda: sym(1)\n", "    print(sym)\n\n    def inner():\n        return sym(1)\n\n    return inner\n"],
)
def test_a_function_that_the_init_makes_would_keep_the_name_it_found(body: str) -> None:
    tree = {**PKG, "pkg/__init__.py": f"from .sub import sym\n\n\ndef make():\n{body}", "main.py": OWN_TEST}
    check_refused(tree, "pkg", "sym", "in a function inside another", at="main.py:5")


def test_a_name_that_the_init_keeps_keeps_its_patches() -> None:
    init = "from .sub import sym\n\nTEN = sym(1)\n\n\ndef run(x):\n    return sym(x)\n"
    tree = {**PKG, "pkg/__init__.py": init, "main.py": OWN_TEST}
    sees(tree, "mocked")
    check_rewritten(
        tree, "pkg", "sym", {}, options=["--callers-only"], run=["main"], says=r"warning: main\.py:5.*keeps the name"
    )


def test_readers_on_both_sides_of_a_kept_name_are_refused() -> None:
    init = "from .sub import sym\n\nTEN = sym(1)\n\n\ndef run(x):\n    return sym(x)\n"
    tree = {**PKG, **ENGINE, "pkg/__init__.py": init, "main.py": OWN_TEST}
    check_refused(tree, "pkg", "sym", "no one target covers both", at="main.py:5", options=["--callers-only"])


def test_a_kept_name_that_only_call_sites_read_late_is_patched_at_its_origin() -> None:
    init = "from .sub import sym\n\nTEN = sym(1)\n"
    tree = {**PKG, **ENGINE, "pkg/__init__.py": init, "main.py": PATCH}
    sees(tree, "mocked")
    after = {**ENGINE_AFTER, "main.py": PATCH.replace("pkg.sym", "pkg.sub.sym")}
    check_rewritten(tree, "pkg", "sym", after, options=["--callers-only"], run=["main"])
