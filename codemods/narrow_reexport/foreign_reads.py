"""Reads of submodules that are no longer loaded, as bytes: `other.sub` where `sub` is a lost module of a package `other`.

Owns the names under which a file may have such a package, those that it takes from modules that imported the package
among them, and the search for a read below one.
Invariant: it may take text for a read, and misses none that goes by a name which an import or an assignment gives; it
parses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial

from codemods.engine.discover import is_code
from codemods.engine.import_lines import UP_TO_NAME, ImportLine, import_lines
from codemods.engine.modules import Layout
from codemods.engine.parallel import each_read
from codemods.engine.words import WORD
from codemods.narrow_reexport.byways import absolute, from_imports, whole_name
from codemods.narrow_reexport.holders import asks_by_name

# a pattern for each word, which stands first: an alternative there would be tried at every byte
_LOADED = [
    (word, re.compile(re.escape(word) + rb"[ \t\f\r\n\\(\[]*[\"']([\w.]+)[\"']"))
    for word in (b"import_module", b"__import__", b"sys.modules", b"sys.modules.get")
]
_NAMED = re.compile(rb"[\"'](\w+)(?=[\"'.])")
_HANDED = re.compile(rb"[ \t\f\r\n\\]*(?:#|[,)]|\.[ \t\f\r\n\\]*__(?:dict|getattribute)__)")
_DOT, _SPACE = ord("."), b" \t\f\r\n\\"
_BREAK = re.compile(rb"[\r\n]")
_DOTTED = re.compile(rb"\.[ \t\f\r\n\\]*(?:#[^\r\n]*[\r\n][ \t\f\r\n\\]*)*([\w\x80-\xff]+)")
_RENAMES = re.compile(UP_TO_NAME + rb"as\b")
# o = other        o: object = (a.other        o = p = other        (o := other
_ASSIGNED = re.compile(rb"([\w\x80-\xff]+)[ \t]*(?::[^=:]*)?:?=[ \t(]*(?:[\w\x80-\xff]+\.)*\Z")
# what an import statement loads, and comments
_MODULES = re.compile(
    rb"(?:\xef\xbb\xbf)?[ \t\f]*(?:#[^\r\n]*|(?:lazy[ \t\f]+)?"
    rb"(?:import[ \t\f]+(?:[\w.,\x80-\xff \t\f]|\\\r?\n)*|from[ \t\f.](?:[\w.\x80-\xff \t\f]|\\\r?\n)*?\bimport\b))"
)


class ForeignReads:
    """Which files may read a lost submodule of another package than the one that is narrowed."""

    def __init__(self, layout: Layout, lost: Sequence[str]) -> None:
        self.layout = layout
        # by a package that a file may import: what is read below it, with the last name in front ("" for the package's own)
        self.below: dict[str, set[tuple[bytes, bytes, str]]] = {}
        for dotted in lost:
            parent, _, last = dotted.rpartition(".")
            held = b""
            while parent:
                self.below.setdefault(parent, set()).add((last.encode(), held, dotted))
                held = held or parent.rpartition(".")[2].encode()
                parent = parent.rpartition(".")[0]
        self.called: dict[str, list[str]] = {}  # the packages of one last name
        for parent in self.below:
            self.called.setdefault(parent.rpartition(".")[2], []).append(parent)
        self.tops = [(top, top.encode(), f".{top}.".encode()) for top in sorted(self.below) if "." not in top]
        either = b"|".join(re.escape(name.encode()) for name in sorted(self.called))
        self.imports = re.compile(UP_TO_NAME + rb"(?:" + either + rb")(?!\w)")

    def bound(self, path: str, data: bytes) -> tuple[tuple[str, bytes], ...]:
        """The packages of lost modules that the imports of a file bind, or may bind, with their names there."""
        if not self.below:
            return ()
        # import compat; compat.other.sub        looked for where the package lies in no other
        found = {(top, name): None for top, name, through in self.tops if through in data}
        # import_module("other").sub        whatever the result is called
        patterns = [pattern for word, pattern in _LOADED if word in data]
        named = {match[1].decode() for pattern in patterns for match in pattern.finditer(data)}
        found |= dict.fromkeys((name, b"") for name in sorted(named & self.below.keys()))
        if self.imports.search(data) is not None:
            found |= dict.fromkeys(self.bound_by(path, import_lines(data)))
        return tuple(found)

    def bound_by(self, path: str, lines: Iterable[ImportLine]) -> Iterator[tuple[str, bytes]]:
        """The same of some import statements."""
        for line in lines:
            source = absolute(self.layout, path, line.module.decode("utf-8", "replace")) if line.module else ""
            for encoded, alias in line.names:
                name = encoded.decode("utf-8", "replace")
                if line.module is None:
                    found, bound = [name if alias else name.partition(".")[0]], encoded.partition(b".")[0]
                elif (below := f"{source}.{name}") in self.below:
                    found, bound = [below], encoded
                else:
                    # from app import other        which app may have imported
                    found, bound = self.called.get(name, []), encoded
                    if found and (self.layout.locate(source) is None or self.layout.locate(below) is not None):
                        found = []
                yield from ((package, alias or bound) for package in found if package in self.below)

    def read(self, data: bytes, bound: Iterable[tuple[str, bytes]]) -> frozenset[str]:
        """The lost modules that a file may read which has these packages under these names."""
        wanted: dict[bytes, dict[str, set[bytes]]] = {}
        for package, name in bound:
            for last, held, dotted in self.below[package]:
                wanted.setdefault(last, {}).setdefault(dotted, set()).add(held or name)
        # vars(other)["sub"]
        named = wanted.keys() & set(_NAMED.findall(data)) if asks_by_name(data) else frozenset()
        read = (wanted.keys() & set(_DOTTED.findall(data))) | named
        other_names = cache(partial(_also_called, data))
        found: set[str] = set()
        for last in read:
            for dotted, holders in wanted[last].items():
                own = tuple(sorted(holders))
                if reads_below(data, last, own):
                    found.add(dotted)
                    continue
                others = other_names(own)
                if (others and reads_below(data, last, others)) or (last in named and _is_handed(data, own + others)):
                    found.add(dotted)
        return frozenset(found)

    def handed_on(
        self,
        holds: Mapping[str, Iterable[tuple[str, bytes]]],
        stars: Mapping[str, Iterable[str]],
        spelling: Callable[[Iterable[str]], Sequence[str]],
        read: Callable[[str], bytes],
    ) -> dict[str, set[tuple[str, bytes]]]:
        """What further files take, by other names than the packages' own, from files that hold some: by their paths."""
        # from compat import o        from compat import *        where compat has `import other as o`
        found: dict[str, set[tuple[str, bytes]]] = {}
        if not self.below:
            return {}
        fresh = {self.layout.module_at(path).name: {*pairs} for path, pairs in holds.items()}
        starring = [
            (path, absolute(self.layout, path, spelled)) for path, modules in stars.items() for spelled in modules
        ]
        for source in {source for _, source in starring} - fresh.keys():
            located = self.layout.locate(source)
            fresh[source] = {*self.bound(located.path, read(located.path))} if located and located.path else set()
        while fresh:
            new: dict[str, set[tuple[str, bytes]]] = {}
            for path, source in starring:
                new.setdefault(path, set()).update(fresh.get(source, ()))
            renamed = {
                module: {pair for pair in pairs if pair[1] not in (b"", pair[0].rpartition(".")[2].encode())}
                for module, pairs in fresh.items()
            }
            words = sorted({name for pairs in renamed.values() for _, name in pairs})
            asked = spelling([word.decode("utf-8", "replace") for word in words]) if words else ()
            paths = [path for path in asked if is_code(path)]
            for path, lines in each_read(from_imports, paths, read, whole_name(words)) if words else ():
                new.setdefault(path, set()).update(self._taken(path, lines, renamed))
            fresh = {}
            for path, pairs in new.items():
                added = pairs - found.get(path, set()) - {*holds.get(path, ())}
                if added:
                    found.setdefault(path, set()).update(added)
                    fresh[self.layout.module_at(path).name] = added
        return found

    def _taken(
        self, path: str, lines: Iterable[ImportLine], holds: Mapping[str, Iterable[tuple[str, bytes]]]
    ) -> Iterator[tuple[str, bytes]]:
        for line in lines:
            held = holds.get(absolute(self.layout, path, (line.module or b"").decode("utf-8", "replace")), ())
            for package, given in held:
                yield from ((package, alias or name) for name, alias in line.names if name == given)


def _also_called(data: bytes, names: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Other names that assignments give to what some names hold, and to what these hold; empty where there are none."""
    # o = other; o.sub
    found, todo = {*names}, [name for name in names if name]
    given: list[bytes] = []
    while todo:
        name = todo.pop()
        for match in re.finditer(re.escape(name) + rb"(?![\w.(\[\x80-\xff])", data):
            start = max(data.rfind(mark, 0, match.start()) for mark in (b"\n", b"\r", b";")) + 1
            assigned = _ASSIGNED.search(data, start, match.start()) if b"=" in data[start : match.start()] else None
            if assigned is not None and assigned[1] not in found:
                found.add(assigned[1])
                todo.append(assigned[1])
                given.append(assigned[1])
    return tuple(given)


def renamed_imports(path: str, data: bytes, _: None) -> list[ImportLine] | None:
    """The import statements of a file that give other names, for `ForeignReads.bound_by`."""
    # import other as o
    if not is_code(path) or _RENAMES.search(data) is None:
        return None
    found = [line for line in import_lines(data) if any(alias and alias != name for name, alias in line.names)]
    return found or None


def reads_below(data: bytes, last: bytes, above: tuple[bytes, ...] = (b"",)) -> bool:
    """Whether an expression may read `last` from something with one of these names."""
    # pkg.sub in an expression; import statements name what they load, and stars are looked at apart
    at = data.find(last, 1)
    while at >= 0:
        end = at + len(last)
        dot = _dot_before(data, at)
        if dot >= 0 and not WORD.match(data, end):
            start = max(data.rfind(mark, 0, dot) for mark in (b"\n", b"\r", b";")) + 1
            # (a.other
            #     .sub.f())        what stands on the lines above is not looked for
            # (other).sub
            holder = data[start:dot].strip().rstrip(b") \t")
            if not holder or (holder.endswith(above) and not _names_a_module(data, start, end)):
                return True
        at = data.find(last, end)
    return False


def named_below(data: bytes, lasts: Iterable[bytes]) -> bool:
    """Whether a string may name one of these as something to be read: "sub", "sub.limit"."""
    return not set(_NAMED.findall(data)).isdisjoint(lasts)


def _is_handed(data: bytes, names: Iterable[bytes]) -> bool:
    """Whether something with one of these names may be an argument, or asked for its `__dict__`."""
    for name in names:
        at = data.find(name, 1)
        while at >= 0:
            if _HANDED.match(data, at + len(name)):
                return True
            at = data.find(name, at + 1)
    return b"" in names


def _names_a_module(data: bytes, start: int, end: int) -> bool:
    """Whether what stands from here up to the end of a word is a comment, or what an import statement loads."""
    # import pkg; pkg.sub.f()        a line that starts with `from pkg.sub.f()`, after `yield` and a backslash, is none
    found = _MODULES.match(data, start)
    return found is not None and found.end() >= end


def _dot_before(data: bytes, at: int) -> int:
    """Where the dot in front of a word is, -1 without one; there may be white space and comments between them."""
    while at:
        end = at
        while end and data[end - 1] in _SPACE:
            end -= 1
        if end and data[end - 1] == _DOT:
            return end - 1
        if end == at or not _BREAK.search(data, end, at):
            return -1
        # the line above may end with a comment, and the dot stand before it
        line = max(data.rfind(b"\n", 0, end), data.rfind(b"\r", 0, end)) + 1
        at = max(data.find(b"#", line, end), 0)
    return -1
