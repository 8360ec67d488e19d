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
_LOADERS = (b"import_module", b"__import__", b"modules")


def reflection_test(leaf: bytes, wanted: Set[bytes]) -> Callable[[Bindings, Iterable[bytes]], bool]:
    """A test for files that may reach a wanted attribute of the package by name; it is given what they may call the package."""
    # getattr(a.b.pkg, ...)        looked for from the name on, which is rarer than the calls
    # import_module("a.b.pkg")     p = a.b.pkg     p = import_module(".pkg", "a.b")
    string = _between(rb"[\"'][\w.]*", leaf, rb"[\"']")
    given = _between(rb"=[ \t]*(?:[\w.]+\.)?", leaf, rb"[ \t]*(?=[;#\r\n]|\Z)")

    def reflects(bound: Bindings, called: Iterable[bytes]) -> bool:
        data = bound.data
        for word in called:
            # the name stands first in the pattern: the engine then looks for its bytes alone
            name = re.compile(re.escape(word) + rb"(?<!\w" + re.escape(word) + rb")[ \t\r\n)]*[,)]")
            for found in name.finditer(data):
                if not _BEFORE.search(data[max(found.start() - 120, 0) : found.start()]):
                    continue
                other = _SPELLED_OUT.match(data, found.end()) if found[0].endswith(b",") else None
                if (other is None or other[1] in wanted) and bound.at(found.start(), word):
                    return True
        held = any(loader in data for loader in _LOADERS) and any(True for _ in string(data))
        held = held or any(bound.at(start, leaf) for start in given(data))
        return held and _ASKS.search(data) is not None

    return reflects


def handing_test(leaf: bytes) -> Callable[[Bindings], bool]:
    """A test for files that may put the package into a container, or hand it to somebody."""
    handed = _between(rb"[(,=\[{:][ \t]*(?:[\w.]+\.)?", leaf, rb"[ \t]*[,)\]}]")

    def hands_over(bound: Bindings) -> bool:
        if b".__dict__" in bound.data:
            return True
        return any(bound.at(start, leaf) for start in handed(bound.data))

    return hands_over


def _between(before: bytes, word: bytes, after: bytes) -> Callable[[bytes], Iterator[int]]:
    """Where a whole word stands between two patterns, the first of which ends at it and stays on its line.

    The word is looked for first: the engine finds its bytes, where it would try a class of characters at every byte.
    """
    found_by = re.compile(re.escape(word) + rb"(?<!\w" + re.escape(word) + rb")" + after)
    led_by = re.compile(before + rb"\Z")

    def places(data: bytes) -> Iterator[int]:
        for found in found_by.finditer(data):
            start = found.start()
            if led_by.search(data, data.rfind(b"\n", 0, start) + 1, start):
                yield start

    return places


class Bindings:
    """Which expressions of a file can be a module: its imports are looked at when first asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._names: frozenset[bytes] | None = None

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
