"""Who uses a package's names through the package, as the bytes of the files look.

Owns counting the files for the answer: from-imports, star imports, and attributes of the package where it is imported.
Invariant: it counts files that look like users; it decides nothing. What only passes the package on is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from codemods.import_cost.tree import Opened


def users(opened: Opened, package: str, names: Collection[str]) -> Mapping[str, frozenset[str]]:
    """The files that reach each name through the package: name -> paths, the package's own `__init__` left out."""
    own = opened.layout.locate(package)
    skipped = own.path if own else ""
    found: dict[str, set[str]] = {name: set() for name in names}
    held: dict[str, set[str]] = {}  # path -> what the package is called there
    stars: set[str] = set()
    parent, _, leaf = package.rpartition(".")
    for path, use in opened.uses.of(package):
        if use.name in found:
            found[use.name].add(path)  # from pkg import name
        elif use.name == "*":
            stars.add(path)
        elif not use.name:
            held.setdefault(path, set()).add(use.bound or leaf)  # import pkg [as p]
    for path, use in opened.uses.of(parent) if parent else ():
        if use.name == leaf:
            held.setdefault(path, set()).add(use.bound)  # from above import pkg
    above = parent
    while above:
        for path, use in opened.uses.of(above):
            if not use.name:
                held.setdefault(path, set()).add(leaf)  # import above: above.pkg.name
        above = above.rpartition(".")[0]
    wanted = {name for name in names if name.isidentifier()}
    for path in (stars | held.keys()) - {skipped} if wanted else ():
        data = opened.tree.read(path)
        anyhow = "|".join(sorted(map(re.escape, wanted)))
        holders = "|".join(sorted(map(re.escape, held.get(path, ()))))
        if holders:
            # p.name        above.pkg.name
            pattern = rf"\b(?:{holders})\s*\.\s*({anyhow})\b"
            for hit in re.findall(pattern.encode(), data):
                found[hit.decode()].add(path)
        if path in stars:
            for hit in set(re.findall(rf"\b({anyhow})\b".encode(), data)):
                found[hit.decode()].add(path)
    return {name: frozenset(paths - {skipped}) for name, paths in found.items()}
