"""Byways to a package: modules that carry it under a name of theirs, and stars that pass its names on.

Owns the textual search for them, from module to module until nothing new is found.
Invariant: it may find a byway too many, never one too few; it parses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from codemods.engine.discover import is_code
from codemods.engine.import_lines import START, UP_TO_NAME, ImportLine, import_lines
from codemods.engine.modules import Layout
from codemods.engine.parallel import each_read
from codemods.engine.words import WORD


def readers_of(
    pairs: Iterable[tuple[str, str]], paths: Sequence[str], read: Callable[[str], bytes], layout: Layout
) -> set[tuple[str, str]]:
    """Of (path, name) pairs, those whose name some other file may read through that file's module: it spells both words."""
    wanted = {(path, name): layout.module_at(path).name.rpartition(".")[2].encode() for path, name in pairs}
    found: set[tuple[str, str]] = set()
    for path in paths:
        if not is_code(path):
            continue
        data = read(path)
        words: set[bytes] | None = None
        for key, leaf in wanted.items():
            if key in found or path == key[0] or leaf not in data:
                continue
            words = words if words is not None else set(WORD.findall(data))
            if leaf in words and (key[1].encode() in words or b"*" in data):
                found.add(key)
    return found


def carry_on(carriers: dict[tuple[str, str], str], stars: dict[str, set[str]], layout: Layout, package: str) -> None:
    """A star takes a carrier's name along: what reaches the package in C reaches it in M too, after `from C import *`."""
    parent, _, leaf = package.rpartition(".")
    starred = [
        (layout.module_at(path).name, absolute(layout, path, each)) for path, found in stars.items() for each in found
    ]
    grown = True
    while grown:
        grown = False
        for module, source in starred:
            names = {name for at, name in carriers if at == source and not name.startswith("_")}
            if source == parent:
                names.add(leaf)
            for name in names:
                if (module, name) not in carriers and f"{module}.{name}" != package:
                    carriers[module, name] = package
                    grown = True


def carry_further(
    carriers: dict[tuple[str, str], str],
    spelling: Callable[[Iterable[str]], Sequence[str]],
    read: Callable[[str], bytes],
    layout: Layout,
    package: str,
) -> set[bytes]:
    """Carriers of carriers: `from consumer import pkg as p`, `p = pkg` at module level. Gives the new names."""
    new: set[bytes] = set()
    fresh = dict(carriers)
    while fresh:
        by_module: dict[str, set[str]] = {}
        for module, name in fresh:
            by_module.setdefault(module, set()).add(name)
        names = sorted({name.encode() for _, name in fresh})
        spells = _taking(names)
        found: dict[tuple[str, str], str] = {}
        for module, own in by_module.items():
            located = layout.locate(module)
            for name in own if located is not None and located.path else ():
                # backend = pkg
                assigned = START + rb"(\w+)[ \t]*=[ \t]*" + re.escape(name.encode()) + rb"[ \t]*(?=[;#\r\n]|\Z)"
                for match in re.finditer(assigned, b"\n" + read(located.path)):  # type: ignore[union-attr]
                    found[module, match[1].decode()] = package
        paths = [path for path in spelling([name.decode() for name in names]) if is_code(path)]
        for path, lines in each_read(from_imports, paths, read, spells):
            for line in lines:
                taken = by_module.get(absolute(layout, path, (line.module or b"").decode("utf-8", "replace")), set())
                for listed, alias in line.names:
                    if listed.decode("utf-8", "replace") in taken:
                        found[layout.module_at(path).name, (alias or listed).decode("utf-8", "replace")] = package
        fresh = {key: value for key, value in found.items() if key not in carriers and key[0] != package}
        carriers.update(fresh)
        new |= {name.encode() for _, name in fresh}
    return new


def from_imports(_: str, data: bytes, spells: Callable[[bytes], bool]) -> list[ImportLine] | None:
    """The from-imports of a file that may take one of some names."""
    if not spells(data):
        return None
    return [line for line in import_lines(data) if line.module is not None]


def _taking(names: Sequence[bytes]) -> Callable[[bytes], bool]:
    """A test for files whose from-imports may take one of the names; its pattern begins with bytes to look for."""
    either = b"|".join(map(re.escape, names))
    pattern = re.compile(UP_TO_NAME + rb"(?:" + either + rb")(?!\w)")
    return lambda data: pattern.search(data) is not None


def whole_name(names: Sequence[bytes]) -> Callable[[bytes], bool]:
    """A test for files that may import one of the names as such: `import pkg as p`, `from . import (a, pkg)`, not `pkg.sub`.

    Each name has a pattern that it stands first in, so that the engine looks for its bytes alone.
    """
    ends = rb"[ \t]*(?:[,;#)\\\r\n]|as\b|\Z)"
    patterns = [
        (name, re.compile(re.escape(name) + rb"(?<![\w.]" + re.escape(name) + rb")" + ends))
        for name in sorted({*names})
    ]
    return lambda data: any(name in data and pattern.search(data) is not None for name, pattern in patterns)


def star_importers(stars: dict[str, set[str]], layout: Layout, package: str) -> list[str]:
    return [
        path for path, found in stars.items() if any(absolute(layout, path, spelled) == package for spelled in found)
    ]


def reads_of(
    modules: dict[str, str],
    names: Sequence[str],
    kept: dict[str, bytes],
    unsure: dict[str, bytes],
    stars: dict[str, set[str]],
    layout: Layout,
) -> frozenset[tuple[str, str]]:
    """Names that others may read through a module that stars the package, directly or through further stars.

    Names are matched as text: an import too many in such a module is harmless, one too few is not.
    """
    starred_by: dict[str, set[str]] = {}
    for path, spelled in stars.items():
        for each in spelled:
            starred_by.setdefault(absolute(layout, path, each), set()).add(layout.module_at(path).name)
    found: set[tuple[str, str]] = set()
    for module, own in modules.items():
        passing = {module}
        todo = [module]
        while todo:
            for other in starred_by.get(todo.pop(), set()) - passing:
                passing.add(other)
                todo.append(other)
        leaves = b"|".join(sorted(re.escape(name.rpartition(".")[2].encode()) for name in passing))
        reaches = re.compile(rb"^[^#\n]*\b(?:from|import)\b[^#\n]*\b(?:" + leaves + rb")\b", re.M)
        for path, data in (*kept.items(), *unsure.items()):
            if path != own and (layout.module_at(path).name in passing or reaches.search(data)):
                found |= {(module, name) for name in names if name.encode() in data}
    return frozenset(found)


def absolute(layout: Layout, path: str, spelled: str) -> str:
    return layout.module_at(path).absolute(spelled) if spelled.startswith(".") else spelled
