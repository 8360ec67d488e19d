"""The answer about one module: what is loaded, who is to blame, and the command that helps."""

from __future__ import annotations

from pathlib import Path

from codemods.import_cost.answer import answer
from tests.import_cost.checkouts import HEAVY, opened


def test_the_most_costly_import_comes_first_with_all_that_only_it_brings(tmp_path: Path) -> None:
    found = answer(opened(tmp_path, HEAVY), "pkg")
    first = found.blames[0]
    assert first.origin == "pkg.heavy"
    assert first.names == ("big", "bigger")
    assert first.saved == ("pkg.heavy", "pkg.models", "pkg.models.model")
    assert set(first.third_party) == {"torch", "transformers"}
    assert first.command == "narrow-reexport pkg big bigger"
    assert first.files == ("app.py",)


def test_shared_parts_are_blamed_on_nobody(tmp_path: Path) -> None:
    found = answer(opened(tmp_path, HEAVY), "pkg")
    assert len(found.loaded) == 6
    assert not any("pkg.shared" in blame.saved for blame in found.blames if blame.origin == "pkg.heavy")
    assert "numpy" in found.third_party
    assert not any("numpy" in blame.third_party for blame in found.blames if blame.origin == "pkg.heavy")


def test_chains_lead_to_third_party_packages_first(tmp_path: Path) -> None:
    chains = dict(answer(opened(tmp_path, HEAVY), "pkg").blames[0].chains)
    assert list(chains)[-1] == "pkg.models"
    assert [edge.imported for edge in chains["transformers"]] == ["pkg.heavy", "pkg.models.model", "transformers"]
    assert [(edge.path, edge.line) for edge in chains["transformers"]][-1] == ("pkg/models/model.py", 1)


def test_a_module_that_is_no_package_has_nothing_to_narrow(tmp_path: Path) -> None:
    found = answer(opened(tmp_path, HEAVY), "pkg.heavy")
    assert found.path == "pkg/heavy.py"
    assert all(not blame.command for blame in found.blames)


def test_a_star_has_no_ready_command(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "from .a import *\n", "pkg/a.py": "x = 1\n"}
    (blame,) = answer(opened(tmp_path, files), "pkg").blames
    assert (blame.names, blame.command) == (("*",), "")


def test_a_third_party_import_is_blamed_and_not_narrowed(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "import torch\n"}
    (blame,) = answer(opened(tmp_path, files), "pkg").blames
    assert (blame.origin, blame.third_party, blame.command) == ("torch", ("torch",), "")


def test_what_does_not_parse_is_named(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "from .bad import x\n", "pkg/bad.py": "def f(:\n  match = \n import\n"}
    found = answer(opened(tmp_path, files), "pkg")
    assert found.unreadable == ("pkg.bad",)
