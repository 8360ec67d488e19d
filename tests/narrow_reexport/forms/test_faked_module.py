"""Tests that replace a module in `sys.modules`: the package, or the module that a symbol comes from."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.patching import LOCAL, LOCAL_AFTER
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten

FAKES = [
    'sys.modules["{}"] = mock.MagicMock()',
    'monkeypatch.setitem(sys.modules, "{}", mock.MagicMock())',
    'mock.patch.dict(sys.modules, {{"{}": mock.MagicMock()}}).start()',
    'mock.patch.dict("sys.modules", values={{"{}": mock.MagicMock()}}).start()',
    'fakes = {{"{}": mock.MagicMock()}}; mock.patch.dict("sys.modules", fakes).start()',
    'sys.modules.update({{"{}": mock.MagicMock()}})',
]
TEST = "import sys\nfrom unittest import mock\n\nimport engine\n\n\ndef test(monkeypatch):\n    {}\n    print(engine.run(1))\n"


@pytest.mark.parametrize("fake", FAKES)
def test_a_replaced_package_is_refused_where_the_symbol_is_read_late(fake: str) -> None:
    tree = {**PKG, **LOCAL, "test_it.py": TEST.format(fake.format("pkg"))}
    check_refused(tree, "pkg", "sym", r"pkg is replaced here.*\(engine\.py:2\)", at="test_it.py:8")


@pytest.mark.parametrize("fake", FAKES)
def test_a_replaced_origin_is_refused_where_the_symbol_is_read_late(fake: str) -> None:
    tree = {**PKG, **LOCAL, "test_it.py": TEST.format(fake.format("pkg.sub"))}
    check_refused(tree, "pkg", "sym", r"pkg\.sub is replaced here.*\(engine\.py:2\)", at="test_it.py:8")


def test_a_replaced_package_is_a_warning_where_nobody_is_known_to_read_meanwhile() -> None:
    bound = {"engine.py": "from pkg import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    after = {"engine.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    tree = {**PKG, **bound, "test_it.py": TEST.format(FAKES[0].format("pkg"))}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, **after}, says=r"warning: test_it\.py:8.*pkg is replaced here")


@pytest.mark.parametrize("code", ['del sys.modules["pkg"]', 'sys.modules["other"] = 1', 'print({"pkg": 1})'])
def test_other_uses_of_the_table_and_of_the_name_are_nothing(code: str) -> None:
    tree = {**PKG, **LOCAL, "test_it.py": TEST.format(code)}
    outcome = check_rewritten(tree, "pkg", "sym", {**NARROWED, **LOCAL_AFTER})
    assert "is replaced here" not in outcome.text


def test_a_module_that_is_replaced_in_another_test_is_out_of_reach() -> None:
    reader = {"test_reader.py": "def test_reader():\n    from pkg import sym\n\n    print(sym(1))\n"}
    after = {"test_reader.py": "def test_reader():\n    from pkg.sub import sym\n\n    print(sym(1))\n"}
    test = (
        TEST.format(FAKES[1].format("pkg"))
        .replace("engine.run(1)", "1")
        .replace("import engine\n", "import pkg.light\n")
    )
    check_rewritten({**PKG, **reader, "test_it.py": test}, "pkg", "sym", {**NARROWED, **after})
