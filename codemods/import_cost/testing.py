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
from codemods.import_cost.tree import known, open_tree


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
    folder, within = (Path(root), "") if root is not None else _found(module)
    opened = open_tree(folder, module, within=within)
    for forbidden in budget.forbid:
        known(opened, forbidden)
    _, exceeded = verify(opened.loads, budget)
    if exceeded:
        raise AssertionError("\n".join(line for each in exceeded for line in _told(each)))


def _told(exceeded: Exceeded) -> list[str]:
    return [exceeded.message, *chain_lines(exceeded.chain, indent="  ")]


def _found(module: str) -> tuple[Path, str]:
    """The folder on `sys.path` in which the top-level package is found, and the package's own; nothing is imported."""
    top = module.partition(".")[0]
    spec = PathFinder.find_spec(top, sys.path)
    hint = "pass root=, the folder of the checkout"
    if spec is None:
        raise UnknownPackage(f"{top} is not on sys.path", hint=hint)
    if spec.submodule_search_locations:
        for folder in map(Path, spec.submodule_search_locations):
            below = folder.joinpath(*module.split(".")[1:])
            if below.is_dir() or below.with_suffix(".py").is_file():  # one portion of a namespace package has it
                return folder.parent, folder.name
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise UnknownPackage(f"{top} has no source of {module}", hint=hint)
    path = Path(spec.origin)
    return (path.parent, path.name) if spec.submodule_search_locations is None else (path.parent.parent, top)
