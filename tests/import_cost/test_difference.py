"""What an edit does to an import, and the codemod that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.import_cost.difference import difference, is_known
from tests.import_cost.checkouts import HEAVY, write
from tests.narrow_reexport.verbs import narrow

LIGHTER = {"pkg/__init__.py": b"from .light import small\n"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CODEMODS_CACHE_DIR", str(tmp_path / "cache"))
    return write(tmp_path / "root", HEAVY)


def test_both_numbers_and_what_goes(root: Path) -> None:
    assert (
        difference(root, "pkg", LIGHTER)
        == "import pkg: 6 -> 3 modules of the tree, no longer loads pkg.models, pkg.heavy, torch, transformers"
    )


def test_an_edit_that_changes_no_import(root: Path) -> None:
    assert (
        difference(root, "pkg", {"pkg/light.py": b"import pkg.shared\n"})
        == "import pkg: 6 modules of the tree, as before"
    )


def test_the_codemod_says_it_when_asked_and_by_itself_once_the_graph_is_known(root: Path) -> None:
    assert not is_known(root)
    plain = narrow(root, "pkg", "big", "bigger", "--check")
    assert "modules of the tree" not in plain.text
    assert not is_known(root)
    asked = narrow(root, "pkg", "big", "bigger", "--check", "--cost")
    assert "import pkg: 6 -> 3 modules of the tree, no longer loads pkg.models, pkg.heavy, torch" in asked.text
    import os

    for path in root.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    narrow(root, "pkg", "big", "bigger", "--check", "--cost")
    assert is_known(root)
    done = narrow(root, "pkg", "big", "bigger")
    assert done.code == 0
    assert "import pkg: 6 -> 3 modules of the tree" in done.text
    assert (root / "pkg/__init__.py").read_text() == "from .light import small\n"
