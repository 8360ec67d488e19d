"""Many re-exports of a tree that can be narrowed at once: found once, kept in `.cache/`.

Owns the choice of the rows: package by package, the smallest first, what the codemod does not refuse.
Invariant: the tree is not changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from every_reexport import packages_of, reexports_of
from real_vllm import CACHE

from codemods.engine.config import NarrowOptions
from codemods.engine.errors import CodemodError
from codemods.narrow_reexport.pipeline import run
from codemods.narrow_reexport.request import Request
from codemods.narrow_reexport.session import Session

Rows = list[tuple[str, list[str]]]


def rows_of(tree: Path, top: str, wanted: int, only: tuple[str, ...] = ()) -> Rows:
    """Packages and symbols, so many of these, that can be narrowed one after the other."""
    file = CACHE / f"rows-{tree.name}-{wanted}.json"
    if file.is_file():
        return [(package, names) for package, names in json.loads(file.read_text(encoding="utf-8"))]
    session = Session(tree, remember=True)
    asked = only or packages_of(session, top)
    packages = [(each, [name for name, _ in reexports_of(session, top, each)]) for each in asked]
    found: Rows = []
    for package, names in sorted(packages, key=lambda each: len(each[1])):
        left = wanted - sum(len(own) for _, own in found)
        if not names or not left:
            continue
        try:
            result = run(Request(tree, package, tuple(names[:left]), options=NarrowOptions(keep_going=True)), session)
        except CodemodError:
            continue
        kept = [each.symbol.name for each in result.resolutions]
        if result.changes and not result.failures:
            found.append((package, kept))
            session = session.edited({c.path: c.after for _, changes in result.changes for c in changes})
        print(f"\r{sum(len(own) for _, own in found)} of {wanted} rows", end="", file=sys.stderr)
    print(file=sys.stderr)
    CACHE.mkdir(exist_ok=True)
    file.write_text(json.dumps(found), encoding="utf-8")
    return found
