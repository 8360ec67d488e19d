"""What the bytes of one file say: may it name a symbol, hold the package, patch, or read what is no longer loaded?

Owns the needles of a run, and the tests of one file by them. Files can be looked at in several processes.
Invariant: it parses nothing; a file may be found to matter that does not, and never the other way round.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from codemods.engine.discover import SHOWING, TEMPLATES, is_code
from codemods.engine.import_lines import START
from codemods.engine.modules import Layout
from codemods.engine.words import FEW, WORD, byte_words
from codemods.narrow_reexport.byways import absolute, whole_name
from codemods.narrow_reexport.foreign_reads import ForeignReads, named_below, reads_below
from codemods.narrow_reexport.forms.public_names import may_list
from codemods.narrow_reexport.holders import Bindings, asks_by_name, handing_test, reflection_test
from codemods.narrow_reexport.resolve import Resolution

_STAR = re.compile(START + rb"from[ \t\\\r\n]+([.\w \t]+?)[ \t\\\r\n]+import[ \t\\\r\n]*\(?[ \t\\\r\n]*\*")
# a pattern for each word, which stands first: an alternative there would be tried at every byte
_PATCHES = [
    re.compile(word + rb"[\w.]*\([ \t\r\n]*[\"']([\w.]+)[\"']") for word in (rb"patch", rb"setattr", rb"delattr")
]
_OBJECTS = [re.compile(word + rb"\([^\"'\n]*[\"'](\w+)[\"']") for word in (rb"object", rb"setattr", rb"delattr")]
# patch.object(pkg, "sub", fake)            pkg.sub = fake
_OBJECTS_OF = [
    re.compile(word + rb"\([ \t\r\n]*([\w.]+)[ \t\r\n]*,[ \t\r\n]*[\"'](\w+)[\"']")
    for word in (rb"object", rb"setattr", rb"delattr")
]
_STORED = re.compile(rb"\.(\w+)[ \t]*=(?!=)")
_LAST = re.compile(rb"(\w+)\Z")
_STAR_NEAR = re.compile(rb"import[ \t\\\r\n]*\(?[ \t\\\r\n]*\*")
_READ = re.compile(rb"(?<!\bself)(?<!\bcls)[.\"'][ \t]*(\w+)")
_PATH = re.compile(rb"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import\b|import[ \t]+[.\w]+)", re.M)
OWN_PLAN = b'{\n "command": "narrow_reexport",\n'  # a plan that was written into the tree is no part of it
# and so are the rows for `--plan`, which name symbols for this command and for no program
_REQUEST = re.compile(
    rb"(?:\s|#.*\n)*version[ \t]*=[ \t]*1[ \t]*(?:#.*)?\r?\n(?:\s|#.*\n)*\[\[narrow\]\]"
    rb"|\s*\{\s*\"version\"\s*:\s*1\s*,\s*\"narrow\"\s*:"
)
_CYTHON = (".pyx", ".pxd", ".pxi")
# files that reach the package without its name: by relative imports, by a name that a module of the tree hands on
_RELATIVE = (*_CYTHON, *(f"{suffix}{end}" for suffix in _CYTHON for end in TEMPLATES), ".ipynb")


@dataclass(slots=True)
class Seen:
    """What was found in one file."""

    other: bool = False  # not Python (or setup.py), and it may name a symbol through the package
    kept: bool = False  # Python that has to be looked at
    unsure: bool = False  # it spells a symbol: to be looked at if it can reach the package by another name
    losing: bool = False  # it may read a submodule of the package that is no longer loaded
    foreign: frozenset[str] = frozenset()  # such modules of other packages that it may read, if it loads the package
    holds: tuple[
        tuple[str, bytes], ...
    ] = ()  # packages of lost modules that its imports may bind, and their names there
    stars: frozenset[str] = frozenset()  # modules that it star-imports, as they are spelled
    names: tuple[bytes, ...] = ()  # what its imports of the package, as a module, bind
    reads: frozenset[str] = frozenset()
    early: frozenset[str] = frozenset()
    patched: frozenset[str] = frozenset()
    # modules on the way to an origin in whose place it puts something else
    replaced: frozenset[str] = frozenset()


NOTHING = Seen()


class Needles:
    """The tests of one run."""

    def __init__(
        self, layout: Layout, resolutions: Sequence[Resolution], lost: Iterable[str], *, wants_names: bool
    ) -> None:
        package = resolutions[0].symbol.module
        leaf = package.rpartition(".")[2].encode()
        init = layout.locate(package)
        self.package, self.leaf, self.layout, self.wants_names = package, leaf, layout, wants_names
        self.init_path = init.path if init else ""
        self.folder = init.path.rpartition("/")[0] + "/" if init else ""
        self.names = [found.symbol.name for found in resolutions]
        self.spelled = _needle(self.names)
        lost = [*lost]
        self.own = sorted({name.rpartition(".")[2].encode() for name in lost if name.rpartition(".")[0] == package})
        # an alias may stand for the package, but its submodules keep their names
        self.foreign = ForeignReads(layout, [name for name in lost if name.rpartition(".")[0] not in ("", package)])
        self.touches = _touch_test(package, self.folder)
        self.dotted = [found.symbol.dotted.encode() for found in resolutions]
        self.dotted += [str(found.symbol).encode() for found in resolutions]
        self.origins: dict[bytes, list[str]] = {}
        self.packaged: dict[bytes, list[str]] = {}
        for found in resolutions:
            self.origins.setdefault(found.origin.dotted.encode(), []).append(found.symbol.name)
            for spelled_as in (found.symbol.dotted.encode(), leaf + b"." + found.symbol.name.encode()):
                self.packaged.setdefault(spelled_as, []).append(found.symbol.name)
        self.ways = _ways(package, [found.origin.module for found in resolutions if not found.is_submodule])
        self.way_ends = {way.rpartition(b".")[2] for way in self.ways}
        self.alias_of, self.may_bind = _alias_pattern(package), _alias_test(package)
        self.imported = whole_name([package.encode(), leaf])
        last = b"|".join(map(re.escape, self.own))
        self.loses_own = re.compile(rb"\.[ \t\f\r\n\\]*(?:" + last + rb")(?!\w)" if self.own else rb"(?!)")
        # getattr(pkg, "mid").leaf        a package on the way to a lost module counts, too
        ways = {part.encode() for name in lost for part in name.split(".")}
        self.reflects = reflection_test(leaf, frozenset([*(name.encode() for name in self.names), *ways]))
        self.hands_over = handing_test(leaf)
        # what imports the package as a module spells its parent, or lies beside it
        self.above = package.rpartition(".")[0].rpartition(".")[2].encode()
        self.near = self.folder.rstrip("/").rpartition("/")[0] + "/"
        modules = {package, *(found.origin.module for found in resolutions)}
        self.fakes_leaf = all(leaf.decode() in name for name in modules)  # who spells one of them spells the leaf
        self.fakes = re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(modules)) + rb")\b")

    def look(self, path: str, data: bytes) -> Seen:
        """What one file holds."""
        if not is_code(path):
            return NOTHING if data.startswith(OWN_PLAN) or _REQUEST.match(data) else self._document(path, data)
        seen = Seen(other=path.rpartition("/")[2] == "setup.py" and self._names_a_symbol(path, data))
        self._module(path, data, seen)
        return seen if seen != NOTHING else NOTHING

    def _names_a_symbol(self, path: str, data: bytes) -> bool:
        # pkg.sym      from pkg import sym      and in Cython: from . import sym
        if any(needle in data for needle in self.dotted):
            return True
        if (self.leaf in data or path.endswith(_RELATIVE)) and b"import" in data and self.spelled(data):
            return True
        return may_list(path, data, self.package) and self.spelled(data)

    def _document(self, path: str, data: bytes) -> Seen:
        leaf = self.leaf
        imports = b"import" in data
        other = self._names_a_symbol(path, data)
        if not other and path.endswith(SHOWING) and imports and leaf in data:
            # import pkg; pkg.sub.other()        in a cell or an example
            other = self.loses_own.search(data) is not None
        reads = _names_read(data, leaf, False) if self.wants_names and imports and leaf in data else ()
        return Seen(other=other, reads=frozenset(reads)) if other or reads else NOTHING

    def _module(self, path: str, data: bytes, seen: Seen) -> None:
        leaf = self.leaf
        inside = path.startswith(self.folder) or (
            path.endswith(".pyi") and f"{self.layout.module_at(path).name}.".startswith(f"{self.package}.")
        )
        has_leaf = leaf in data
        if has_star(data):
            seen.stars = frozenset(
                b"".join(match[1].split()).decode("utf-8", "replace") for match in _STAR.finditer(b"\n" + data)
            )
        has_name = self.spelled(data) or (
            (has_leaf or inside) and not data.isascii() and _spelled_otherwise(data, self.names)
        )
        if has_leaf and b"import" in data:
            seen.names = self._bound(path, data)
            if self.wants_names and path != self.init_path:
                seen.reads = frozenset(_names_read(data, leaf, inside))
        elif self.wants_names and inside:
            seen.reads = frozenset(_names_read(data, leaf, inside))
        touches = bool(seen.names) or (has_leaf and self.touches(path, data))
        seen.losing = (has_leaf or inside) and any(reads_below(data, last) for last in self.own)
        if not seen.losing and (inside or touches) and self.own and asks_by_name(data):
            seen.losing = named_below(data, self.own)
        seen.holds = self.foreign.bound(path, data)
        seen.foreign = self.foreign.read(data, seen.holds) if seen.holds else frozenset()
        if has_leaf and self._may_replace(data):
            seen.replaced = self._replaced(data, seen)
        if (has_leaf or not self.fakes_leaf) and b"sys.modules" in data and self.fakes.search(data):
            seen.kept = True
        if has_name:
            if b"patch" in data or b"attr(" in data:
                self._patches(data, seen)
            if has_leaf or inside:
                seen.kept = True
                return
            seen.unsure = True
        compares = touches and b".__all__" in data  # what the package exports, as a whole
        seen.kept |= seen.losing or compares or (has_leaf and self._holds(data, seen, touches))

    def _bound(self, path: str, data: bytes) -> tuple[bytes, ...]:
        if not ((self.above in data or path.startswith(self.near)) and self.may_bind(data) and self.imported(data)):
            return ()
        found: dict[bytes, None] = {}
        for match in self.alias_of.finditer(b"\n" + data):
            module = match["module"]
            if not module or absolute(self.layout, path, module.decode()) == self.package.rpartition(".")[0]:
                found[match["alias"] or match["from_alias"] or self.leaf] = None
        return tuple(found)

    def _patches(self, data: bytes, seen: Seen) -> None:
        early: set[str] = set()
        patched: set[str] = set()
        for dotted_path in {word for pattern in _PATCHES for word in pattern.findall(data)}:
            early.update(self.origins.get(dotted_path, ()))
            patched.update(self.packaged.get(dotted_path, ()))
        for word in {word for pattern in _OBJECTS for word in pattern.findall(data)}:
            patched.update(self.packaged.get(self.leaf + b"." + word, ()))
        seen.early, seen.patched = frozenset(early), frozenset(patched)

    def _may_replace(self, data: bytes) -> bool:
        if len(self.ways) > FEW:  # so many would be looked for longer than the patterns take
            return True
        for end in self.way_ends:
            if end in data and any(
                mark in data for mark in (b"." + end + b" =", b"." + end + b"=", end + b"'", end + b'"')
            ):
                return True
        return False

    def _replaced(self, data: bytes, seen: Seen) -> frozenset[str]:
        found: set[bytes] = set()
        asked: list[tuple[bytes, bytes]] = []
        if b"patch" in data or b"attr(" in data:
            if any(b'"' + way + b'"' in data or b"'" + way + b"'" in data for way in self.ways):
                found |= {word for pattern in _PATCHES for word in pattern.findall(data)} & self.ways
            asked += [found for pattern in _OBJECTS_OF for found in pattern.findall(data)]
        for stored in _STORED.finditer(data) if seen.names else ():
            base = _LAST.search(data, max(stored.start() - 80, 0), stored.start())
            asked += [(base[1], stored[1])] if base is not None else []
        for holder, name in asked:
            last = holder.rpartition(b".")[2]
            over = self.leaf if last in seen.names else last
            if name in self.way_ends:
                found |= {way for way in self.ways if way.split(b".")[-2:] == [over, name]}
        return frozenset(way.decode() for way in found)

    def _holds(self, data: bytes, seen: Seen, touches: bool) -> bool:
        bound = Bindings(data)
        called = {self.leaf, *seen.names}  # what the file may call the package
        return self.reflects(bound, called) or (touches and self.hands_over(bound))


def has_star(data: bytes) -> bool:
    """Whether a file may hold a star import."""
    return _STAR_NEAR.search(data) is not None


def _needle(names: Sequence[str]) -> Callable[[bytes], bool]:
    encoded = [name.encode() for name in names]
    odd = [name for name in encoded if not name.isascii()]
    if odd:  # identifiers are compared after NFKC
        return lambda data: any(name in data for name in encoded) or not data.isascii()
    if len(encoded) <= FEW:
        return lambda data: any(name in data for name in encoded)
    wanted = frozenset(encoded)
    return lambda data: not wanted.isdisjoint(byte_words(data))


def _spelled_otherwise(data: bytes, names: Sequence[str]) -> bool:
    # identifiers are compared after NFKC: a ligature may spell an ASCII name
    text = data.decode("utf-8", "replace")
    if unicodedata.is_normalized("NFKC", text):
        return False
    text = unicodedata.normalize("NFKC", text)
    return any(name in text for name in names)


def _alias_pattern(package: str) -> re.Pattern[bytes]:
    # import a.b.pkg [as x]        from a.b import pkg [as x]        from . import pkg
    parent, _, leaf = package.rpartition(".")
    whole = re.escape(package.encode())
    last = re.escape(leaf.encode())
    above = re.escape(parent.rpartition(".")[2].encode())
    from_parent = (rb"(?:[.\w]*\b" + above + rb"|\.+)") if parent else rb"(?!)"
    return re.compile(
        START + rb"(?:(?:lazy[ \t]+)?import\b[^#\n]*?\b" + whole + rb"[ \t]+as[ \t]+(?P<alias>\w+)"
        rb"|(?:lazy[ \t]+)?import\b[^#\n]*?(?<![\w.])" + whole + rb"[ \t]*(?=[,;#\r\n]|\Z)"
        rb"|(?:lazy[ \t]+)?from[ \t]+(?P<module>"
        + from_parent
        + rb")[ \t]+import\b[^;]*?(?<![\w.])"
        + last
        + rb"(?![\w.])(?:[ \t]+as[ \t]+(?P<from_alias>\w+))?)"
    )


def _alias_test(package: str) -> Callable[[bytes], bool]:
    """Whether the alias pattern can match at all: what it must contain, the rarest word of it first."""
    parent = package.rpartition(".")[0]
    whole = re.compile(re.escape(package.encode()) + rb"[ \t]*(?:[,;#\r\n]|[ \t]as\b|\Z)")
    if not parent:
        return lambda data: whole.search(data) is not None
    above = re.escape(parent.rpartition(".")[2].encode())
    below = re.compile(rb"from[ \t]+(?:[.\w]*\b" + above + rb"|\.+)[ \t]+import\b")
    return lambda data: below.search(data) is not None or whole.search(data) is not None


def _touch_test(package: str, folder: str) -> Callable[[str, bytes], bool]:
    # the file imports the package itself: a.b.pkg, from a.b import pkg, from .pkg import x
    parent, _, leaf = package.rpartition(".")
    if not parent:
        pattern = re.compile(
            START + rb"(?:lazy[ \t]+)?(?:from|import)\b[^#\n]*?(?<![\w.])" + re.escape(leaf.encode()) + rb"\b"
        )
        return lambda path, data: pattern.search(b"\n" + data) is not None
    above = parent.rpartition(".")[2].encode()
    near = folder.rstrip("/").rpartition("/")[0] + "/"
    dotted = above + b"." + leaf.encode()
    return lambda path, data: (
        dotted in data or (above + b" import" in data) or (path.startswith(near) and b"." + leaf.encode() in data)
    )


def _ways(package: str, modules: Iterable[str]) -> frozenset[bytes]:
    """The modules below the package that `pkg.sub.sym` goes through."""
    found: set[bytes] = set()
    for name in modules:
        while name.startswith(f"{package}."):
            found.add(name.encode())
            name = name.rpartition(".")[0]
    return frozenset(found)


def _names_read(data: bytes, leaf: bytes, inside: bool) -> set[str]:
    module = rb"(?:[.\w]*\b" + re.escape(leaf) + (rb"|\.+" if inside else b"") + rb")"
    found: set[str] = set()
    for match in re.finditer(
        rb"\bfrom[ \t]+" + module + rb"[ \t\\\r\n]+import\b[ \t]*(\([^)]*\)|(?:[^\n;\\]|\\\r?\n)*)", data
    ):
        found |= {word.decode("utf-8", "replace") for word in WORD.findall(match[1])}
    # p.sym    "sym"        the character in front is looked for, which is quicker than the name before it
    # (what an import statement loads, it does not read through the package)
    found |= {word.decode("utf-8", "replace") for word in set(_READ.findall(_PATH.sub(b"", data)))}
    return found
