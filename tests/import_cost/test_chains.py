"""Why a module is loaded: the shortest chains, one for each first import."""

from __future__ import annotations

from pathlib import Path

from codemods.import_cost.chains import Shortest, why
from tests.import_cost.checkouts import HEAVY, opened

TWO_WAYS = {
    "pkg/__init__.py": "import pkg.a\nimport pkg.b\nimport pkg.c\n",
    "pkg/a.py": "import pkg.a2\n",
    "pkg/a2.py": "import torch\n",
    "pkg/b.py": "import torch\n",
    "pkg/c.py": "import pkg\n",
}


def test_there_is_one_chain_for_each_first_import_the_shortest_first(tmp_path: Path) -> None:
    chains = why(opened(tmp_path, TWO_WAYS).loads, "pkg", "torch")
    assert [[edge.imported for edge in chain] for chain in chains] == [["pkg.b", "torch"], ["pkg.a", "pkg.a2", "torch"]]


def test_what_is_not_loaded_has_no_chain(tmp_path: Path) -> None:
    assert why(opened(tmp_path, TWO_WAYS).loads, "pkg", "numpy") == ()


def test_the_shortest_chains_are_those_of_the_graph(tmp_path: Path) -> None:
    loads = opened(tmp_path, HEAVY).loads
    shortest = Shortest(loads.graph.edges, "pkg")
    for target in loads.closure("pkg"):
        assert len(shortest.to(target)) == len(loads.graph.chain("pkg", target))
    assert shortest.to("nowhere") == ()


def test_a_module_runs_its_packages_first(tmp_path: Path) -> None:
    chains = why(opened(tmp_path, HEAVY).loads, "pkg.user", "torch")
    assert chains[0][0].line == 0
    assert chains[0][0].imported == "pkg"
