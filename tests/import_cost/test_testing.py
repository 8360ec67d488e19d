"""The budget as one line of a test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codemods.engine.errors import UnknownPackage
from codemods.import_cost.testing import assert_import_budget
from tests.import_cost.checkouts import HEAVY, write

NAME = "budgeted_pkg"
FILES = {path.replace("pkg/", f"{NAME}/"): text.replace("pkg", NAME) for path, text in HEAVY.items()}


@pytest.fixture(autouse=True)
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMODS_CACHE_DIR", str(tmp_path / "cache"))


def test_a_kept_budget_says_nothing(tmp_path: Path) -> None:
    write(tmp_path / "root", FILES)
    assert_import_budget(NAME, forbid=["torch.cuda"], max_modules=6, root=tmp_path / "root")


def test_an_exceeded_one_fails_with_the_chain(tmp_path: Path) -> None:
    write(tmp_path / "root", FILES)
    with pytest.raises(AssertionError) as error:
        assert_import_budget(NAME, forbid=["torch"], max_modules=5, root=tmp_path / "root")
    lines = str(error.value).splitlines()
    assert lines[0] == f"import {NAME} loads torch.nn, which its budget forbids"
    assert lines[1].split() == [f"{NAME}/__init__.py:2", f"{NAME}.heavy"]
    assert lines[2].split() == [f"{NAME}/heavy.py:3", "torch.nn"]
    assert lines[3] == f"import {NAME} loads 6 modules of the tree, its budget is 5"


def test_the_root_is_where_the_package_is_found_and_nothing_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "root", {**FILES, "another/__init__.py": "def broken(:\n"})
    monkeypatch.syspath_prepend(str(root))
    with pytest.raises(AssertionError, match=r"loads torch\.nn"):
        assert_import_budget(f"{NAME}.user", forbid=["torch"])
    assert NAME not in sys.modules


def test_what_lies_beside_an_installed_module_is_no_part_of_its_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "root", {"budgeted_module.py": "import budgeted_beside\n", "budgeted_beside.py": ""})
    monkeypatch.syspath_prepend(str(root))
    assert_import_budget("budgeted_module", max_modules=1)
    with pytest.raises(AssertionError, match="loads budgeted_beside"):
        assert_import_budget("budgeted_module", forbid=["budgeted_beside"])


def test_a_namespace_package_is_found_by_the_portion_that_has_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        files = {f"budgeted_ns/{name}/__init__.py": f"import third_{name}\n"}
        monkeypatch.syspath_prepend(str(write(tmp_path / name, files)))
    for name in ("one", "two"):
        with pytest.raises(AssertionError, match=f"loads third_{name}"):
            assert_import_budget(f"budgeted_ns.{name}", forbid=[f"third_{name}"], max_modules=1)


def test_a_package_that_is_nowhere_is_named() -> None:
    with pytest.raises(UnknownPackage, match=r"is not on sys\.path"):
        assert_import_budget("nowhere_to_be_found.sub", max_modules=1)


def test_this_project_keeps_a_budget() -> None:
    assert_import_budget("codemods.import_cost.cli", forbid=["libcst", "codemods.narrow_reexport"], max_modules=45)


def test_a_slip_in_what_is_forbidden_does_not_pass(tmp_path: Path) -> None:
    write(tmp_path / "root", FILES)
    with pytest.raises(UnknownPackage):
        assert_import_budget(NAME, forbid=[f"{NAME}.hevy"], root=tmp_path / "root")
