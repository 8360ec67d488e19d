"""The tree of who brings what."""

from __future__ import annotations

from pathlib import Path

from codemods.import_cost.brought import Node, dominator_tree
from tests.import_cost.checkouts import HEAVY, opened


def names(node: Node) -> list[str]:
    return [node.name, *(name for child in node.children for name in names(child))]


def test_each_module_stands_once_and_counts_for_all_above_it(tmp_path: Path) -> None:
    loads = opened(tmp_path, HEAVY).loads
    tree = dominator_tree(loads, "pkg")
    listed = names(tree)
    assert len(listed) == len(set(listed))
    assert {name for name in listed if loads.in_tree(name)} == {
        name for name in loads.closure("pkg") if loads.in_tree(name)
    }
    assert tree.size == 6
    heavy = tree.children[0]
    assert (heavy.name, heavy.size) == ("pkg.heavy", 3)
    assert "torch" in names(heavy)
    assert "torch.nn" not in listed


def test_a_deep_chain_needs_no_recursion(tmp_path: Path) -> None:
    files = {f"pkg/m{n}.py": f"import pkg.m{n + 1}\n" for n in range(1500)}
    files |= {"pkg/__init__.py": "import pkg.m0\n", "pkg/m1500.py": ""}
    assert dominator_tree(opened(tmp_path, files).loads, "pkg").size == 1502
