"""Which files can matter: a byte test for every file, before anything is parsed.

Owns which files survive, by what `needles` finds in each and by what follows from one file for others. A file does if it
spells a symbol and can reach the package, or if it can lose something without spelling the symbol: a star, a submodule that
only the package loaded, a name computed at run time.
Invariant: it may keep a file too many, never one too few; it parses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from codemods.engine.discover import is_code
from codemods.engine.import_lines import ImportLine
from codemods.engine.modules import Layout
from codemods.engine.parallel import each_read
from codemods.engine.words import WORD
from codemods.narrow_reexport.byways import absolute, carry_further, carry_on, reads_of, star_importers
from codemods.narrow_reexport.needles import NOTHING, Needles, Seen
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.stubs import mirrored


@dataclass(frozen=True, slots=True)
class Survivor:
    """A file that has to be looked at, with its bytes."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Scan:
    """What the byte tests found."""

    python: tuple[Survivor, ...]
    others: tuple[Survivor, ...]  # files that are not Python (and setup.py), and may name a symbol through the package
    carriers: tuple[tuple[tuple[str, str], str], ...]  # (module, name) -> module reached there
    starred_modules: frozenset[str]
    star_reads: frozenset[tuple[str, str]]
    read_names: frozenset[str]  # names read through the package, as far as bytes can tell (never too few)
    losing: frozenset[str]  # files that may read a submodule that is no longer loaded
    early: frozenset[str]  # symbols whose origin some string names exactly: a patch, most likely
    patched: frozenset[str]  # symbols that some call seems to replace on the package
    replaced: frozenset[str]  # modules on the way to an origin that some file seems to replace in their package
    searched: int


def scan(
    paths: Sequence[str],
    read: Callable[[str], bytes],
    layout: Layout,
    resolutions: Sequence[Resolution],
    lost: Iterable[str],
    *,
    star_takes: Iterable[str] = (),
    relied_on: Callable[[str, bytes, frozenset[str]], frozenset[str]] = lambda path, data, modules: modules,
    wants_names: bool,
    spelling: Callable[[Iterable[str]], Sequence[str]] | None = None,
    renamed: Callable[[], Mapping[str, Sequence[ImportLine]]] = lambda: {},
    progress: Callable[[int, int], None] | None = None,
) -> Scan:
    """Read every file once and keep what can matter. With `wants_names` the names read through the package are gathered.

    `spelling` gives the files that may spell some words, where that is known; `paths` then are the files to look at, and
    `renamed` gives the imports of all files that give other names.
    `relied_on` gives the lost modules of other packages that a file gets by way of the package, of those that it may read.
    """
    needles = Needles(layout, resolutions, lost, wants_names=wants_names)
    package, names, own = needles.package, needles.names, needles.own
    lost_by: dict[str, list[str]] = {}
    for dotted_name in star_takes:
        lost_by.setdefault(dotted_name.rpartition(".")[0], []).append(dotted_name.rpartition(".")[2])
    kept: dict[str, bytes] = {}
    unsure: dict[str, bytes] = {}
    others: list[Survivor] = []
    aliases: set[bytes] = set()
    carriers: dict[tuple[str, str], str] = {}
    stars: dict[str, set[str]] = {}
    reads: set[str] = set()
    early: set[str] = set()
    patched: set[str] = set()
    replaced: set[str] = set()
    losing: set[str] = set()
    holds: dict[str, tuple[tuple[str, bytes], ...]] = {}
    foreign: set[str] = set()  # what may read a lost submodule of another package
    numbers = {path: number for number, path in enumerate(paths)} if progress is not None else {}
    told = 0
    for path, seen in each_read(_look, paths, read, needles):
        if progress is not None and numbers[path] >= told:
            progress(numbers[path], len(paths))
            told = numbers[path] + 500
        if seen.other:
            others.append(Survivor(path, read(path)))
        if seen.kept:
            kept[path] = read(path)
        if seen.unsure:
            unsure[path] = read(path)
        if seen.losing:
            losing.add(path)
        if seen.holds:
            holds[path] = seen.holds
        if seen.foreign:
            foreign.add(path)
            # while other processes go on searching
            if not seen.kept and relied_on(path, data := read(path), seen.foreign):
                kept[path] = data
        if seen.stars:
            stars[path] = set(seen.stars)
        for name in seen.names:
            carriers[layout.module_at(path).name, name.decode()] = package
            aliases |= {name} - {needles.leaf}
        reads |= seen.reads
        early |= seen.early
        patched |= seen.patched
        replaced |= seen.replaced
    carry_on(carriers, stars, layout, package)
    if carriers:
        aliases |= carry_further(carriers, spelling or (lambda words: paths), read, layout, package)
        carry_on(carriers, stars, layout, package)
    for path, data in unsure.items():
        if any(re.search(rb"(?<!\w)" + re.escape(alias) + rb"(?!\w)", data) for alias in aliases):
            kept[path] = data
    if carriers and aliases and own:
        # from app import p; p.sub.other()        where app has `import pkg as p`
        words = [alias.decode("utf-8", "replace") for alias in sorted(aliases)]
        for path in spelling(words) if spelling is not None else paths:
            if is_code(path) and path not in kept and any(alias in (data := read(path)) for alias in aliases):
                if needles.loses_own.search(data):
                    kept[path] = data
                    losing.add(path)
    for path, lines in renamed().items() if needles.foreign.below else ():
        if path not in holds and (found := tuple(needles.foreign.bound_by(path, lines))):
            holds[path] = found
    for path, pairs in needles.foreign.handed_on(holds, stars, spelling or (lambda words: paths), read).items():
        modules = needles.foreign.read(data := read(path), pairs)
        if modules and (path in kept or relied_on(path, data, modules)):
            kept[path] = data
            foreign.add(path)
    losing |= foreign & kept.keys()
    starring = star_importers(stars, layout, package)
    for path in starring:
        kept[path] = kept.get(path) or read(path)
    for path in starring if wants_names else ():
        reads |= {word.decode("utf-8", "replace") for word in WORD.findall(kept[path])}
    everywhere = {layout.module_at(path).name: path for path in starring}
    leaves = [last.decode() for last in own]
    star_reads = reads_of(everywhere, [*names, *leaves], kept, unsure, stars, layout)
    star_reads |= _lost_through_stars(lost_by, paths, read, stars, layout, kept, losing)
    starred_modules = frozenset(
        absolute(layout, path, spelled_module) for path, found in stars.items() for spelled_module in found
    )
    init = layout.locate(package)
    init_paths = {init.path, f"{init.path}i", *mirrored(paths, layout, init)} if init else set()
    return Scan(
        tuple(Survivor(path, data) for path, data in sorted(kept.items()) if path not in init_paths),
        tuple(others),
        tuple(sorted((key, value) for key, value in carriers.items() if key[0] != package)),
        starred_modules,
        star_reads,
        frozenset(reads),
        frozenset(losing),
        frozenset(early),
        frozenset(patched),
        frozenset(replaced),
        len(paths),
    )


def _look(path: str, data: bytes, needles: Needles) -> Seen | None:
    seen = needles.look(path, data)
    return seen if seen != NOTHING else None


def _lost_through_stars(
    lost_by: dict[str, list[str]],
    paths: Sequence[str],
    read: Callable[[str], bytes],
    stars: dict[str, set[str]],
    layout: Layout,
    kept: dict[str, bytes],
    losing: set[str],
) -> frozenset[tuple[str, str]]:
    """Lost submodules that a star took along, and that are read through the module with the star; it is looked at then.

    from pkg import *        took `pkg.sub` too, as long as somebody had loaded it and pkg has no `__all__`
    """
    found: set[tuple[str, str]] = set()
    for parent, leaves in lost_by.items():
        starring = star_importers(stars, layout, parent) if parent else []
        if not starring:
            continue
        for path in starring:
            data = kept.setdefault(path, read(path))
            if any(leaf.encode() in data for leaf in leaves):
                losing.add(path)
        modules = {layout.module_at(path).name: path for path in starring}
        words = [leaf.encode() for leaf in leaves]
        lookers = {
            path: data for path in paths if is_code(path) and any(word in (data := read(path)) for word in words)
        }
        through = reads_of(modules, leaves, lookers, {}, stars, layout)
        losing |= {modules[module] for module, _ in through}
        found |= through
    return frozenset(found)
