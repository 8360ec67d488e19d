"""Files that may hold the package as a value without spelling a symbol: `getattr(pkg, name)`, `{"ops": pkg}`, `f(pkg)`.

Owns the byte tests for that. The last part of a package's name is often a common word (`config`), so a match counts only
where what stands before it can be a module: a name that the file's imports bind, or what a loader returns.
Invariant: it may find a file too many, never one too few; it parses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set

from codemods.engine.import_lines import import_lines

# p = a.b        p: object = (a.b)        p = q = a.b
_ASSIGNED = re.compile(
    rb"(?:^|;)(?:\xef\xbb\xbf)?[ \t]*((?:[\w\x80-\xff]+[ \t]*(?::[^=:\n]*)?=(?!=)[ \t]*)+)"
    rb"\(*[ \t]*([\w\x80-\xff]+)(?:\.[\w\x80-\xff]+)*[ \t)]*(?=[;#\r\n]|\Z)",
    re.M,
)
_GIVEN = re.compile(rb"([\w\x80-\xff]+)[ \t]*(?::[^=]*)?:?=(?!=)")
_GAP = rb"[ \t\f\r\n\\]*"  # between two parts of an expression, where comments are taken out
_AWAY = rb"(?:[ \t\f\r\n\\]|#[^\r\n]*[\r\n])*"  # the same with comments
_CHAIN = re.compile(rb"(?P<first>[\w\x80-\xff]+)(?:" + _GAP + rb"\." + _GAP + rb"\w+)*" + _GAP + rb"\." + _GAP + rb"\Z")
_BEFORE = re.compile(
    rb"\b(?:getattr|hasattr|setattr|delattr|vars|dir|object|getmembers|attrgetter|getattr_static|__getattribute__)"
    + _GAP
    # white space after the bracket, and on either side of a dot
    + rb"\([ \t\f\r\n\\(]*(?:[\w.\[\]()\"']|(?<=\.)[ \t\f\r\n\\]+|(?<!\.)[ \t\f\r\n\\]+(?=\.))*\Z"
)
# hasattr(pkg, "other")        one name, spelled out, that is no special one
_SPELLED_OUT = re.compile(_AWAY + rb"[\"'](?!__)(\w+)[\"']" + _AWAY + rb"[,)]")
_ASKS = re.compile(
    rb"\b(?:[gs]etattr|hasattr|delattr|getattr_static|vars|attrgetter|methodcaller|__dict__|__getattribute__)\b"
)
_CLOSED = re.compile(rb"(?:[ \t\f\r\n\\)]|#[^\r\n]*[\r\n])*[,)]")
# before the name of the package, and after it
_QUOTED, _QUOTE = re.compile(rb"[\"'][\w.]*\Z"), re.compile(rb"[\"']")
_ASSIGNS, _ENDS = re.compile(rb"=[ \t\f\r\n\\(]*(?:[\w. \t]+\.)?\Z"), re.compile(rb"[ \t)]*(?=[;#\r\n]|\Z)")
_HANDS = re.compile(rb"[(,=\[{:]" + _GAP + rb"(?:[\w.]+\.)?\Z")
_ON = re.compile(_AWAY + rb"[,)\]}]")
_OPENED = re.compile(rb"\w[ \t]*\(|[^\s\w.(\\#]")
_NEAR = 120  # bytes in front of a name in which what it is part of begins
_WORD = re.compile(rb"\w")
_LOADERS = (b"import_module", b"__import__", b"modules")


def asks_by_name(data: bytes) -> bool:
    """Whether a file may read an attribute by its name."""
    return _ASKS.search(data) is not None


def reflection_test(leaf: bytes, wanted: Set[bytes]) -> Callable[[Bindings, Iterable[bytes]], bool]:
    """A test for files that may reach a wanted attribute of the package by name; it is given what they may call the package."""

    def reflects(bound: Bindings, called: Iterable[bytes]) -> bool:
        data = bound.data
        for word in called:
            # getattr(a.b.pkg, ...)        looked for from the name on, which is rarer than the calls
            for start in bound.places(word):
                closed = _CLOSED.match(data, start + len(word))
                if closed is None or not any(map(_BEFORE.search, _in_front(data, start))):
                    continue
                other = _SPELLED_OUT.match(data, closed.end()) if closed[0].endswith(b",") else None
                if (other is None or other[1] in wanted) and bound.at(start, word):
                    return True
        # import_module("a.b.pkg")     p = a.b.pkg     p = import_module(".pkg", "a.b")
        held = any(True for _ in bound.between(_QUOTED, leaf, _QUOTE)) and any(each in data for each in _LOADERS)
        held = held or any(bound.at(start, leaf) for start in bound.between(_ASSIGNS, leaf, _ENDS))
        return held and asks_by_name(data)

    return reflects


def handing_test(leaf: bytes) -> Callable[[Bindings], bool]:
    """A test for files that may put the package into a container, or hand it to somebody."""

    def hands_over(bound: Bindings) -> bool:
        if b"__dict__" in bound.data:
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
        """Where it stands between two patterns, the first of which ends at it."""
        data = self.data
        for start in self.places(word):
            if after.match(data, start + len(word)) and any(map(before.search, _in_front(data, start))):
                yield start

    def at(self, start: int, word: bytes) -> bool:
        """Whether `word` at this place, with the names and dots before it, can be a module."""
        before = _in_front(self.data, start)[-1]
        if before.rstrip(b" \t\f\r\n\\").endswith(b"."):
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


def _in_front(data: bytes, start: int) -> tuple[bytes, ...]:
    """What stands in front of a place, as it is and without the comments and the white space between it and the place."""
    near = data[max(start - _NEAR, 0) : start]
    if _OPENED.search(near, max(near.rfind(b"\n"), near.rfind(b"\r")) + 1):
        return (near,)  # the line itself shows what the name is part of
    # a `#` of the line itself is in a string; one further up may be, so both are looked at
    end, kept = start, b""
    while end and len(kept) < _NEAR:
        line = max(data.rfind(b"\n", 0, end), data.rfind(b"\r", 0, end)) + 1
        code = data.find(b"#", line, end) if end < start else -1
        last = code if code >= 0 else end
        while last > line and data[last - 1] in b" \t\f\\":
            last -= 1
        text = data[max(line, last - _NEAR) : last].lstrip()
        kept = text + (b" " if kept or last < end else b"") + kept if text else kept
        at = last - len(text)
        end = at if at > line else max(line - 1, 0)  # white space within the line, or the line above
    return near, kept[-_NEAR:]


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
    assigned = [(name, match[2]) for match in _ASSIGNED.finditer(data) for name in _GIVEN.findall(match[1])]
    while more := {name for name, value in assigned if value in names} - names:
        # p = a.b
        names |= more
    return frozenset(names)
