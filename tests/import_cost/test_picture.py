"""The picture of an import: each node once, its numbers those of the closure."""

from __future__ import annotations

from pathlib import Path

from codemods.import_cost.answer import answer
from codemods.import_cost.loads import Loads
from codemods.import_cost.picture import Kind, Node, Picture, picture
from tests.import_cost.checkouts import opened
from tests.import_cost.trees import HEAVY, loads_of

CUT = frozenset({("pkg", "pkg.heavy")})


def by_name(found: Picture) -> dict[str, Node]:
    assert len({node.name for node in found.nodes}) == len(found.nodes)
    return {node.name: node for node in found.nodes}


def recount(loads: Loads, start: str, without: str) -> int:
    """How many files of the tree go when no edge leads to a node any more."""
    importers = {(name, without) for name in loads.closure(start)}
    return sum(map(loads.in_tree, loads.closure(start))) - sum(
        map(loads.in_tree, loads.closure(start, frozenset(importers)))
    )


def test_each_thing_stands_under_what_alone_brings_it_in() -> None:
    above = {name: node.above for name, node in by_name(picture(loads_of(HEAVY), "pkg")).items()}
    assert above == {
        "pkg": "",
        "pkg.light": "pkg",
        "pkg.shared": "pkg",
        "numpy": "pkg.shared",
        "pkg.heavy": "pkg",
        "torch": "pkg.heavy",
        "pkg.models.model": "pkg.heavy",
        "pkg.models": "pkg.heavy",
        "pkg._C": "pkg.models.model",
        "transformers": "pkg.models.model",
    }


def test_the_numbers_are_those_of_taking_each_module_away() -> None:
    loads = loads_of(HEAVY)
    for node in picture(loads, "pkg").nodes[1:]:
        assert node.modules == recount(loads, "pkg", node.name) or node.kind is not Kind.MODULE, node


def test_packages_outside_the_tree_are_leaves_and_the_standard_library_is_left_out() -> None:
    found = picture(loads_of(HEAVY), "pkg")
    kinds = {name: node.kind for name, node in by_name(found).items()}
    assert {name for name, kind in kinds.items() if kind is Kind.THIRD_PARTY} == {"numpy", "torch", "transformers"}
    assert kinds["pkg._C"] is Kind.MISSING
    assert (found.modules, found.packages, found.stdlib) == (6, 3, 1)
    assert by_name(found)["torch"].importers == 1


def test_without_an_edge_what_it_brings_in_is_gone() -> None:
    found = picture(loads_of(HEAVY), "pkg", CUT)
    assert (found.modules, found.packages) == (3, 1)
    assert set(by_name(found)) == {"pkg", "pkg.light", "pkg.shared", "numpy"}


def test_an_added_edge_brings_its_target_back() -> None:
    found = picture(loads_of(HEAVY), "pkg", CUT, {"pkg.light": frozenset({"pkg.heavy"})})
    assert found.modules == 6
    assert [edge.line for edge in found.chain("pkg.heavy")] == [1, -1]


def test_a_chain_is_a_shortest_one_with_its_source_lines() -> None:
    loads = loads_of(HEAVY)
    found = picture(loads, "pkg", read=lambda path: HEAVY[path].encode())
    for node in found.nodes:
        if node.kind is Kind.MODULE:
            assert len(found.chain(node.name)) == len(loads.graph.chain("pkg", node.name))
    assert [(edge.path, edge.line) for edge in found.chain("torch")] == [("pkg/__init__.py", 2), ("pkg/heavy.py", 3)]
    assert by_name(found)["torch"].text == "import torch.nn"
    assert by_name(found)["pkg"].via is None


def test_a_folder_of_scripts_with_the_name_of_a_package_is_not_that_package() -> None:
    files = {"pkg/__init__.py": "import openai.types\n", "openai/run.py": ""}
    found = by_name(picture(loads_of(files), "pkg"))
    assert found["openai"].kind is Kind.THIRD_PARTY
    assert set(found) == {"pkg", "openai"}


def test_a_namespace_package_counts_no_file_of_its_own() -> None:
    files = {"pkg/__init__.py": "import pkg.space.deep\n", "pkg/space/deep.py": ""}
    found = picture(loads_of(files), "pkg")
    assert by_name(found)["pkg.space"].kind is Kind.FOLDER
    assert found.modules == 2


def test_a_module_runs_the_packages_around_it() -> None:
    found = by_name(picture(loads_of(HEAVY), "pkg.light"))
    assert found["pkg"].above == "pkg.light"
    assert found["pkg.heavy"].above == "pkg"


def test_it_agrees_with_the_answer_in_text(tmp_path: Path) -> None:
    tree = opened(tmp_path, HEAVY)
    said = answer(tree, "pkg")
    found = picture(tree.loads, "pkg")
    names = {kind: {node.name for node in found.nodes if node.kind is kind} for kind in Kind}
    assert names[Kind.MODULE] == set(said.loaded)
    assert names[Kind.THIRD_PARTY] == set(said.third_party)
    # what only one statement of the package brings in is what its origin dominates
    sizes = {node.name: node.modules for node in found.nodes}
    saved = {blame.origin: len(blame.saved) for blame in said.blames if blame.saved}
    assert saved == {"pkg.heavy": sizes["pkg.heavy"], "pkg.light": sizes["pkg.light"]}
