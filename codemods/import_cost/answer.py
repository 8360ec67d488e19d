"""The answer to `import_cost MODULE`: what is loaded, and what each import of the module is to blame for.

Owns the data that every form of output shows.
Invariant: plain data, sorted, the same in each run; the text of a line is read here and nowhere later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from codemods.import_cost.blame import Cost, costs
from codemods.import_cost.chains import Chain, Shortest
from codemods.import_cost.loads import Loads, exported, third_party
from codemods.import_cost.tree import Opened
from codemods.import_cost.usage import users


@dataclass(frozen=True, slots=True)
class Blame:
    """What one origin is to blame for.

    `saved` are the modules of the tree that only it brings, `third_party` the packages that come with it alone,
    `files` who uses `names` through the package. `command` narrows the names; empty where that is not to be had.
    """

    origin: str
    names: tuple[str, ...]
    lines: tuple[int, ...]
    saved: tuple[str, ...]
    third_party: tuple[str, ...]
    files: tuple[str, ...]
    command: str
    chains: tuple[tuple[str, Chain], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What `import module` loads, and the blame for it, the most costly first."""

    module: str
    path: str
    loaded: tuple[str, ...]
    third_party: tuple[str, ...]
    unreadable: tuple[str, ...]
    blames: tuple[Blame, ...]


def answer(opened: Opened, module: str) -> Answer:
    """Everything that is to be said about one module."""
    loads = opened.loads
    whole = loads.closure(module)
    shortest = Shortest(loads.graph.edges, module)
    found = [cost for cost in costs(loads, module) if cost.saved]
    used = users(opened, module, {name for cost in found for name in exported(loads, cost.taken)})
    blames = []
    for cost in found:
        names = exported(loads, cost.taken)
        saved = loads.of_tree(cost.saved)
        packages = by_weight(third_party(cost.saved, loads, whole - cost.saved), cost.saved, loads)
        files = tuple(sorted({path for name in names for path in used[name]}))
        command = f"narrow-reexport {module} {' '.join(names)}" if _narrows(loads, cost, names) else ""
        notable = (*packages, *_packages(saved, module, cost, loads))
        chains = tuple((target, chain) for target in notable if (chain := shortest.to(target)))
        blames.append(Blame(cost.taken.origin, names, cost.taken.lines, saved, packages, files, command, chains))
    located = loads.graph.module(module)
    loaded = loads.of_tree(whole)
    return Answer(
        module,
        located.path if located else "",
        loaded,
        by_weight(third_party(whole, loads), whole, loads),
        tuple(name for name in loaded if not loads.graph.outline(name).readable),
        tuple(sorted(blames, key=lambda blame: (-len(blame.saved), -len(blame.third_party), blame.lines[0]))),
    )


def by_weight(packages: Collection[str], inside: Collection[str], loads: Loads) -> tuple[str, ...]:
    """Third-party packages, those that most modules import first."""
    weight: Counter[str] = Counter()
    for module in inside:
        if loads.in_tree(module):
            weight.update({each.partition(".")[0] for each in loads.successors(module)})
    return tuple(sorted(packages, key=lambda name: (-weight[name], name)))


def _in_tree(names: Collection[str], loads: Loads) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if loads.in_tree(name)))


def _narrows(loads: Loads, cost: Cost, names: tuple[str, ...]) -> bool:
    located = loads.graph.module(cost.module)
    is_package = located is not None and located.is_package
    return is_package and bool(names) and "*" not in names and loads.in_tree(cost.taken.origin)


def _packages(saved: Collection[str], module: str, cost: Cost, loads: Loads) -> tuple[str, ...]:
    """The packages with most of the saved modules; what the answer names anyhow is left out."""
    around = (module, cost.taken.origin)
    packages = [name for name in saved if (located := loads.graph.module(name)) is not None and located.is_package]
    return biggest(saved, [name for name in packages if name not in around])


def biggest(names: Collection[str], among: Collection[str] | None = None) -> tuple[str, ...]:
    """Those with most of the names at and below them (of `among`), none that lies in one of the others or around it."""
    below: Counter[str] = Counter()
    for name in names:
        while name:
            below[name] += 1
            name = name.rpartition(".")[0]
    found: list[str] = []
    for name in sorted(names if among is None else among, key=lambda name: (-below[name], name)):
        if not any(f"{name}.".startswith(f"{other}.") or f"{other}.".startswith(f"{name}.") for other in found):
            found.append(name)
    return tuple(found)
