"""Files that may hold the package as a value without spelling a symbol: `getattr(pkg, name)`, `{"ops": pkg}`, `f(pkg)`.

Owns the byte tests for that. The last part of a package's name is often a common word (`config`), so a match counts only
where what stands before it can be a module: a name that the file's imports bind, or what a loader returns.
Invariant: it may find a file too many, never one too few; it parses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set

from codemods.engine.import_lines import import_lines

_ASSIGNED = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(\w+)(?:\.\w+)*[ \t]*(?=[;#\r\n]|\Z)", re.M
)
_GIVEN = re.compile(rb"(\w+)[ \t]*(?::[^=]*)?:?=(?!=)")
_CHAIN = re.compile(rb"(?P<first>\w+)(?:\.\w+)*\.\Z")
_BEFORE = re.compile(
    rb"\b(?:getattr|hasattr|setattr|delattr|vars|dir|object|getmembers|attrgetter|getattr_static|__getattribute__)"
    rb"[ \t\r\n]*\([ \t\r\n(]*[\w.\[\]()\"']*\Z"
)
# hasattr(pkg, "other")        one name, spelled out, that is no special one
_SPELLED_OUT = re.compile(rb"[ \t\r\n]*[\"'](?!__)(\w+)[\"'][ \t\r\n]*[,)]")
_ASKS = re.compile(rb"\b(?:[gs]etattr|hasattr|delattr|vars|attrgetter|methodcaller|__dict__|__getattribute__)\b")
_CLOSED = re.compile(rb"[ \t\r\n)]*[,)]")
# before the name of the package, and after it
_QUOTED, _QUOTE = re.compile(rb"[\"'][\w.]*\Z"), re.compile(rb"[\"']")
_ASSIGNS, _ENDS = re.compile(rb"=[ \t]*(?:[\w.]+\.)?\Z"), re.compile(rb"[ \t]*(?=[;#\r\n]|\Z)")
_HANDS, _ON = re.compile(rb"[(,=\[{:][ \t]*(?:[\w.]+\.)?\Z"), re.compile(rb"[ \t]*[,)\]}]")
_WORD = re.compile(rb"\w")
_LOADERS = (b"import_module", b"__import__", b"modules")


def reflection_test(leaf: bytes, wanted: Set[bytes]) -> Callable[[Bindings, Iterable[bytes]], bool]:
    """A test for files that may reach a wanted attribute of the package by name; it is given what they may call the package."""

    def reflects(bound: Bindings, called: Iterable[bytes]) -> bool:
        data = bound.data
        for word in called:
            # getattr(a.b.pkg, ...)        looked for from the name on, which is rarer than the calls
            for start in bound.places(word):
                closed = _CLOSED.match(data, start + len(word))
                if closed is None or not _BEFORE.search(data[max(start - 120, 0) : start]):
                    continue
                other = _SPELLED_OUT.match(data, closed.end()) if closed[0].endswith(b",") else None
                if (other is None or other[1] in wanted) and bound.at(start, word):
                    return True
        # import_module("a.b.pkg")     p = a.b.pkg     p = import_module(".pkg", "a.b")
        held = any(True for _ in bound.between(_QUOTED, leaf, _QUOTE)) and any(each in data for each in _LOADERS)
        held = held or any(bound.at(start, leaf) for start in bound.between(_ASSIGNS, leaf, _ENDS))
        return held and _ASKS.search(data) is not None

    return reflects


def handing_test(leaf: bytes) -> Callable[[Bindings], bool]:
    """A test for files that may put the package into a container, or hand it to somebody."""

    def hands_over(bound: Bindings) -> bool:
        if b".__dict__" in bound.data:
            return True
        return any(bound.at(start, leaf) for start in bound.between(_HANDS, leaf, _ON))

    return hands_over


class Bindings:
    """Which expressions of a file can be a module: its imports are looked at when first asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._names: frozenset[bytes] | None = None
        self._places: dict[bytes, list[int]] = {}

    def places(self, word: bytes) -> list[int]:
        """Where a whole word stands: found by its bytes, which is quicker than any pattern."""
        if word not in self._places:
            found: list[int] = []
            at = self.data.find(word)
            while at >= 0:
                end = at + len(word)
                if not (at and _WORD.match(self.data, at - 1)) and not _WORD.match(self.data, end):
                    found.append(at)
                at = self.data.find(word, end)
            self._places[word] = found
        return self._places[word]

    def between(self, before: re.Pattern[bytes], word: bytes, after: re.Pattern[bytes]) -> Iterator[int]:
        """Where it stands between two patterns, the first of which ends at it and stays on its line."""
        data = self.data
        for start in self.places(word):
            if after.match(data, start + len(word)):
                if before.search(data, data.rfind(b"\n", 0, start) + 1, start):
                    yield start

    def at(self, start: int, word: bytes) -> bool:
        """Whether `word` at this place, with the names and dots before it, can be a module."""
        before = self.data[max(start - 120, 0) : start]
        if before.endswith(b"."):
            chain = _CHAIN.search(before)
            # import_module("a").pkg        modules["a"].pkg        f().pkg is nobody's module
            if chain is None or before[: chain.start()].endswith(b"."):
                return any(loader in self.data for loader in _LOADERS)
            word = chain["first"]
            if word in (b"self", b"cls"):
                return False
        if self._names is None:
            self._names = bound_names(self.data)
        return word in self._names or b"*" in self._names


def bound_names(data: bytes) -> frozenset[bytes]:
    """The names that import statements of a file may bind, `*` among them, and names assigned from those."""
    names: set[bytes] = set()
    for line in import_lines(data):
        names |= {alias or (name if line.module is not None else name.partition(b".")[0]) for name, alias in line.names}
    for loader in _LOADERS:
        # p = import_module("a"); p.pkg
        at = data.find(loader)
        while at >= 0:
            row = data[data.rfind(b"\n", 0, at) + 1 : at]
            names |= {match[1] for match in _GIVEN.finditer(row)}
            at = data.find(loader, at + 1)
    assigned = {match[1]: match[2] for match in _ASSIGNED.finditer(data)}
    while more := {name for name, value in assigned.items() if value in names} - names:
        # p = a.b
        names |= more
    return frozenset(names)
