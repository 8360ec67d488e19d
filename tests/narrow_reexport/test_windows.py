"""While which code a patch is on: tests run one at a time, so that one test's patch is not on in another."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.patching import ENGINE, ENGINE_AFTER, sees
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

TEST = (
    "from unittest import mock\n\nimport engine\n\n\n"
    'def test_engine():\n    with mock.patch("pkg.sym", return_value="mocked"):\n        print(engine.run(1))\n'
)
DIRECT = "def test_sub():\n    from pkg.sub import sym\n\n    print(sym(1))\n"
RUN: Tree = {"main.py": "import test_engine, test_sub\n\ntest_engine.test_engine()\ntest_sub.test_sub()\n"}


def moved(test: str, direct: str) -> None:
    tree = {**PKG, **ENGINE, **RUN, "test_engine.py": test, "test_sub.py": direct}
    sees(tree, "mocked")
    after = {**NARROWED, **ENGINE_AFTER, "test_engine.py": test.replace('"pkg.sym"', '"pkg.sub.sym"')}
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


@pytest.mark.parametrize(
    "test",
    [
        TEST,
        (
            "from unittest import mock\n\nimport engine\n\n\n"
            '@mock.patch("pkg.sym", return_value="mocked")\ndef test_engine(m):\n    print(engine.run(1))\n'
        ),
        (
            "from unittest import mock\n\nimport engine\n\n\n"
            '@mock.patch("pkg.sym", lambda x: "mocked")\nclass TestEngine:\n'
            "    def test_it(self):\n        print(engine.run(1))\n\n\ntest_engine = TestEngine().test_it\n"
        ),
        (
            "from unittest import mock\n\nimport engine\n\n\ndef fixture():\n"
            '    with mock.patch("pkg.sym", return_value="mocked"):\n        yield\n\n\n'
            "def test_engine():\n    for _ in fixture():\n        print(engine.run(1))\n"
        ),
    ],
    ids=["with", "decorator", "class", "fixture"],
)
def test_a_test_of_another_file_that_reads_the_origin_is_out_of_reach(test: str) -> None:
    moved(test, DIRECT)


def test_a_helper_of_another_test_file_is_out_of_reach() -> None:
    moved(TEST, DIRECT.replace("test_sub", "helper") + "\n\ndef test_sub():\n    helper()\n")


def test_what_is_no_test_file_is_within_reach() -> None:
    tree = {**PKG, **ENGINE, "test_engine.py": TEST, "helper.py": DIRECT}
    check_refused(tree, "pkg", "sym", r"would also reach helper\.py:2", at="test_engine.py:7")


def test_another_test_of_the_same_file_is_out_of_reach() -> None:
    test = TEST + "\n\n" + DIRECT
    moved(test, "from test_engine import test_sub as test_sub\n")


@pytest.mark.parametrize(
    ("test", "direct"),
    [
        # the reader is a helper of the same file
        (TEST + "\n\n" + DIRECT.replace("test_sub", "sub"), ""),
        # the reading test patches
        (TEST.replace("    with", "    from pkg.sub import sym\n\n    with"), ""),
        # the patching file may call that test
        (TEST + "\n\nimport test_sub  # noqa\n\n\ndef test_both():\n    test_sub.test_sub()\n", DIRECT),
        # a patch that lasts
        ('from unittest import mock\n\nmock.patch("pkg.sym").start()\n', DIRECT),
        (TEST.replace("def test_engine", '@pytest.fixture(scope="session")\ndef engine'), DIRECT),
        # the reading file uses something of the patching one
        (TEST.replace("test_engine", "fixture"), "from test_engine import fixture  # noqa\n\n\n" + DIRECT),
        # a fixture of the same file
        (TEST.replace("test_engine", "fixture") + "\n\n" + DIRECT, ""),
    ],
    ids=["helper", "same-test", "called", "lasting", "session", "borrowed", "fixture"],
)
def test_what_may_run_while_the_patch_is_on_is_within_reach(test: str, direct: str) -> None:
    tree = {**PKG, **ENGINE, "test_engine.py": test, "test_sub.py": direct}
    check_refused(tree, "pkg", "sym", "would also reach test_", at="test_engine.py:")


def test_a_patch_in_a_conftest_is_on_in_any_test() -> None:
    tree = {**PKG, **ENGINE, "conftest.py": TEST, "test_sub.py": DIRECT}
    check_refused(tree, "pkg", "sym", r"would also reach test_sub\.py:2", at="conftest.py:7")


def test_a_method_that_a_patching_class_inherits_is_within_reach() -> None:
    base = "class Base:\n    def test_sub(self):\n        from pkg.sub import sym\n\n        print(sym(1))\n"
    test = (
        "from unittest import mock\n\nfrom test_sub import Base\n\n\nclass TestEngine(Base):\n"
        '    def setUp(self):\n        mock.patch("pkg.sym").start()\n'
    )
    tree = {**PKG, **ENGINE, "test_engine.py": test, "test_sub.py": base}
    check_refused(tree, "pkg", "sym", r"would also reach test_sub\.py:3", at="test_engine.py:8")


def test_a_test_that_takes_the_name_from_the_package_is_out_of_reach_of_a_patch_of_the_origin() -> None:
    test = DIRECT.replace("pkg.sub", "pkg")
    direct = (
        "from unittest import mock\n\nimport pkg.sub\n\n\n"
        'def test_engine():\n    with mock.patch("pkg.sub.sym", return_value="mocked"):\n        print(pkg.sub.sym(1))\n'
    )
    tree = {**PKG, **RUN, "test_sub.py": test, "test_engine.py": direct}
    sees(tree, "mocked")
    check_rewritten(tree, "pkg", "sym", {**NARROWED, "test_sub.py": DIRECT}, run=["main"], unloaded=["pkg.sub"])
    helper = {**PKG, "sub.py": test.replace("test_sub", "sub"), "test_engine.py": direct}
    check_refused(helper, "pkg", "sym", "patches the name at its origin", at="sub.py:2")
