"""What `import X` would load once some re-exports are narrowed: what goes, and what stays because of whom.

Owns the question `--what-if PKG:NAME...`.
Invariant: nothing is edited; a call site keeps what it takes from the package, as an import of its own from the origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codemods.engine.errors import UnknownSymbol
from codemods.engine.model import Symbol
from codemods.engine.outline import FromImports, Imports
from codemods.import_cost.chains import Chain, Shortest, changed_edges
from codemods.import_cost.loads import Loads, Pairs, Taken, third_party


@dataclass(frozen=True, slots=True)
class Stays:
    """An origin that is still loaded: because the package takes `others` from it too, or by `chain`."""

    package: str
    origin: str
    others: tuple[str, ...]
    chain: Chain


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Modules of the tree that `import module` loads before and after, and the third-party packages that go."""

    module: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    gone: tuple[str, ...]
    third_party: tuple[str, ...]
    stays: tuple[Stays, ...]
    cut: Pairs  # the edges that go
    moved: tuple[tuple[str, frozenset[str]], ...]  # (call site, origins that it imports by itself then)


def what_if(loads: Loads, module: str, symbols: Sequence[Symbol]) -> WhatIf:
    """Narrow all `symbols` at once, in thought. Raises UnknownSymbol where a package imports no such name."""
    whole = loads.closure(module)
    without: set[tuple[str, str]] = set()
    extra: dict[str, dict[str, int]] = {}
    touched: list[tuple[str, Taken, tuple[str, ...]]] = []
    for package in dict.fromkeys(symbol.module for symbol in symbols):
        named = {symbol.name for symbol in symbols if symbol.module == package}
        every = loads.taken(package)
        _all_known(package, named, every)
        going = [taken for taken in every if named & set(taken.names)]
        touched += [(package, taken, tuple(sorted(set(taken.names) - named))) for taken in going]
        gone = [taken for taken in going if set(taken.names) <= named]
        without |= _edges(package, gone, every)
        origins = {name: taken.origin for taken in going for name in taken.names if name in named}
        for taker, name, line in takers(loads, package, whole):
            for each in origins if name == "*" else (name,):
                if each in origins and not (name == "*" and each.startswith("_")):
                    extra.setdefault(taker, {}).setdefault(origins[each], line)
    moved = {taker: frozenset(origins) for taker, origins in extra.items()}
    narrowed = {(symbol.module, symbol.name) for symbol in symbols}
    without |= {pair for taker in moved for pair in _let_go(loads, taker, narrowed)}
    cut = frozenset(without)
    after = loads.closure(module, cut, moved)
    shortest = Shortest(changed_edges(loads, cut, extra), module)
    stays = (Stays(package, taken.origin, others, shortest.to(taken.origin)) for package, taken, others in touched)
    return WhatIf(
        module,
        loads.of_tree(whole),
        loads.of_tree(after),
        loads.of_tree(whole - after),
        third_party(whole - after, loads, after),
        tuple(each for each in stays if each.origin in after),
        cut,
        tuple(moved.items()),
    )


def takers(loads: Loads, package: str, inside: Iterable[str]) -> Iterable[tuple[str, str, int]]:
    """(module, name, line) of the modules that take a name from the package as they are imported."""
    for module in inside:
        if module != package and loads.in_tree(module):
            for event in loads.graph.outline(module).events:
                if isinstance(event, FromImports) and event.module == package:
                    for name, _ in event.names:
                        yield module, name, event.line


def _let_go(loads: Loads, taker: str, narrowed: set[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """The packages that a call site no longer imports, since all that it takes from them comes from the origins then."""
    kept: dict[int, bool] = {}  # line -> whether an import stays on it
    for event in loads.graph.outline(taker).events:
        if isinstance(event, (FromImports, Imports)):
            # from pkg import sym        becomes        from pkg.sub import sym
            moves = isinstance(event, FromImports) and all((event.module, name) in narrowed for name, _ in event.names)
            kept[event.line] = kept.get(event.line, False) or not moves
    for package in {package for package, _ in narrowed}:
        lines = [edge.line for edge in loads.graph.edges(taker) if edge.imported == package]
        if lines and not any(kept.get(line, True) for line in lines):
            yield taker, package


def _edges(package: str, gone: Sequence[Taken], every: Sequence[Taken]) -> Pairs:
    """The edges that go with all of these: those that no other import of the package shares."""
    origins = {taken.origin for taken in gone}
    shared = {target for taken in every if taken.origin not in origins for target in taken.targets}
    targets = {target for taken in gone for target in taken.targets - shared}
    return frozenset((package, target) for target in targets if not package.startswith(f"{target}."))


def _all_known(package: str, named: set[str], every: Sequence[Taken]) -> None:
    known = {name for taken in every for name in taken.names}
    for name in sorted(named - known):
        import difflib

        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else ""
        raise UnknownSymbol(f"{package} imports no {name}", hint=hint)


def _in_tree(names: Iterable[str], loads: Loads) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if loads.in_tree(name)))
