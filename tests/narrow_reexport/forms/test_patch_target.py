"""The ways to write a patch, each with a reader that it covers."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.patching import (
    ENGINE,
    ENGINE_AFTER,
    LOCAL,
    LOCAL_AFTER,
    MOCKER,
    MONKEY,
    moves,
    refused,
    sees,
)
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_rewritten


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
