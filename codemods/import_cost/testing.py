"""A budget as one line of a test:

    from codemods.import_cost.testing import assert_import_budget

    def test_ops_stay_light():
        assert_import_budget("pkg.ops", forbid=["torch.cuda", "pkg.config"], max_modules=60)

Owns the way from a package's name to the folder that it is imported from.
Invariant: the package is not imported, nor is anything else of the tree; what is asserted is read from its source.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

from codemods.engine.errors import UnknownPackage
from codemods.import_cost.budgets import Budget, Exceeded, verify
from codemods.import_cost.report import chain_lines
from codemods.import_cost.tree import open_tree


def assert_import_budget(
    module: str,
    *,
    forbid: Iterable[str] = (),
    max_modules: int | None = None,
    root: str | Path | None = None,
) -> None:
    """Fail with the offending chain where `import module` loads something forbidden, or too many modules of its tree.

    `root` is the checkout; without it, the folder on `sys.path` that the top-level package is found in.
    """
    __tracebackhide__ = True
    budget = Budget(module, tuple(forbid), max_modules)
    folder = Path(root) if root is not None else _folder(module)
    # beside an installed package lie others, which are not of its tree
    opened = open_tree(folder, module, exclude=() if root is not None else _others(folder, module))
    _, exceeded = verify(opened.loads, budget)
    if exceeded:
        raise AssertionError("\n".join(line for each in exceeded for line in _told(each)))


def _told(exceeded: Exceeded) -> list[str]:
    return [exceeded.message, *chain_lines(exceeded.chain, indent="  ")]


def _folder(module: str) -> Path:
    """Where the import system finds the top-level package, without importing it."""
    top = module.partition(".")[0]
    spec = PathFinder.find_spec(top, sys.path)
    if spec is None:
        hint = "pass root=, the folder of the checkout"
        raise UnknownPackage(f"{top} is not on sys.path", hint=hint)
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).parent
    if spec.origin is None:
        raise UnknownPackage(f"{top} has no file", hint="pass root=, the folder of the checkout")
    return Path(spec.origin).parent


def _others(folder: Path, module: str) -> list[str]:
    top = module.partition(".")[0]
    kept = {top, f"{top}.py"}
    return [f"/{_literal(each.name)}" for each in folder.iterdir() if each.name not in kept]


def _literal(name: str) -> str:
    return "".join(f"\\{char}" if char in "*?[]!#\\ " else char for char in name)
