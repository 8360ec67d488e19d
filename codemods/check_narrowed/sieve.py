"""Which packages a file may offend against: a test on its bytes, before anything is parsed.

Owns the words that are looked for. Banned names are common words (`get`, `Config`), so a file counts only where a name
stands in an import from its package, behind a dot that leads to the package, or in quotes beside the package's name.
Invariant: it may suspect a file too many, never one too few; it parses nothing.
"""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping

from codemods.engine.import_lines import ImportLine, import_lines
from codemods.engine.modules import Layout

_FEW = 8  # so many names are looked for one by one, which is quicker than listing the words of a file
_W = rb"[\w\x80-\xff]"  # a byte of an identifier, in whatever script
_GAP = rb"[ \t\r\n\\]*(?:#[^\r\n]*[\r\n][ \t\r\n\\]*)*"
# each begins with one character, which the engine of `re` looks for quickly
_DOT = re.compile(rb"\." + _GAP + rb"(" + _W + rb"+)")
_COLON = re.compile(rb":(" + _W + rb"+)")
_QUOTES = tuple(re.compile(quote + rb"(" + _W + rb"+)(?=[\"'.])") for quote in (rb"\"", rb"'"))
_TARGET = re.compile(rb"(" + _W + rb"+)[ \t]*(?::[^=]*)?\Z")
_COMMENT = re.compile(rb"#[^\r\n]*(?=[\r\n])")
_KEYWORD = re.compile(rb"(" + _W + rb"+)[ \t]*=(?!=)")
_DOTS = re.compile(rb"[\"']\.+[\"']")
_LOADS = (b"import_module", b"__import__", b"sys.modules", b"resolve_name", b"methodcaller", b"attrgetter")
_REFLECTS = (b"attr", b"import", b"modules", b"resolve_name", b"__dict__", b"vars(", b"methodcaller", b"patch", b"spy")
# the dotted path that ends at a place, read backwards: so the match is anchored, and costs its own length
_CHAIN = re.compile(_GAP + rb"(" + _W + rb"+(?:" + _GAP + rb"\." + _GAP + _W + rb"+)*)(?![\w\x80-\xff.)\]])")
_BEHIND = re.compile(rb"[)}]" + _GAP + rb"\." + _GAP + rb"(" + _W + rb"+)")
_APART = re.compile(rb"(?::|[.:](?=[ \t\r\n\\#])" + _GAP + rb")(" + _W + rb"+)")
_WORD = re.compile(_W + rb"+")
_PATH = re.compile(_W + rb"+(?:[ \t]*\.[ \t]*" + _W + rb"+)*")
_REACH = 200  # bytes; so long is no dotted path that people write
_DEPTH = 5  # from module to module, as far as people hand a package on


class Sieve:
    """The suspicion for one set of rows. `layout` is that of one of the packages, `read` gives the bytes of a module."""

    def __init__(
        self, rows: Mapping[str, Iterable[str]], layout: Callable[[], Layout | None], read: Callable[[str], bytes]
    ) -> None:
        self._rows = {package: frozenset(names) for package, names in rows.items()}
        self._names = frozenset(name.encode() for names in self._rows.values() for name in names)
        self._few = tuple(sorted(self._names)) if len(self._names) <= _FEW else ()
        self._above: set[str] = set()
        for package in self._rows:
            while package:
                self._above.add(package)
                package = package.rpartition(".")[0]
        self._layout = layout
        self._read = read
        self._bound: dict[str, dict[bytes, set[str]]] = {}
        self._modules_of: dict[str, set[str]] = {}
        self._packages: dict[str, set[str]] = {}
        for package, banned in self._rows.items():
            for name in banned:
                self._packages.setdefault(name, set()).add(package)
        self.carried: dict[tuple[str, str], str] = {}  # (module, name) -> the package that other code reaches there

    def suspects(self, path: str, data: bytes) -> frozenset[str]:
        """The packages that the file may reach a banned name through."""
        data = data.removeprefix(BOM_UTF8)
        if not data.isascii():
            text = data.decode("utf-8", "replace")
            if not unicodedata.is_normalized("NFKC", text):
                data = unicodedata.normalize("NFKC", text).encode()  # identifiers are compared after that
        if self._few and not any(name in data for name in self._few):
            return frozenset()
        if b"import" not in data:
            # a stub of a plugin without an import: "pkg.sym" in quotes
            return frozenset(self._through(data, {}))
        found: set[str] = set()
        bound: dict[bytes, set[str]] = {}
        for line in import_lines(data):
            found |= self._taken(path, line, data, bound)
        found |= self._through(data, bound)
        found |= set(self._by_name(data, bound))
        return frozenset(found)

    # From-imports

    def _taken(self, path: str, line: ImportLine, data: bytes, bound: dict[bytes, set[str]]) -> set[str]:
        found: set[str] = set()
        if line.module is None:
            for name, alias in line.names:
                dotted = name.decode("utf-8", "replace")
                if alias:
                    bound.setdefault(alias, set()).add(dotted)
                    parent, _, last = dotted.rpartition(".")
                    if last in self._rows.get(parent, ()):
                        found.add(parent)  # import pkg.f as m
                else:
                    top = dotted.partition(".")[0]
                    bound.setdefault(top.encode(), set()).add(top)
            return found
        module = self._absolute(path, line.module.decode("utf-8", "replace"))
        names = self._rows.get(module, frozenset())
        for name, alias in line.names:
            text = name.decode("utf-8", "replace")
            if text in names:
                found.add(module)
            elif text == "*":
                if any(banned.encode() in data for banned in names):
                    found.add(module)
                for carried in self._carriers(module):
                    bound.setdefault(carried, set()).add(f"{module}.{carried.decode('utf-8', 'replace')}")
            else:
                bound.setdefault(alias or name, set()).add(f"{module}.{text}" if module else text)
        return found

    def _absolute(self, path: str, spelled: str) -> str:
        if not spelled.startswith("."):
            return spelled  # most are; the layout is asked for when it is needed
        layout = self._layout()
        return layout.module_at(path).absolute(spelled) if layout is not None else ""

    def _assigned(self, data: bytes, bound: dict[bytes, set[str]]) -> None:
        # z = pkg        and then z.sym
        packages = [name for name, modules in bound.items() if not modules.isdisjoint(self._above)]
        if not packages:
            return
        held = rb"=[ \t(]*(" + b"|".join(sorted(packages)) + rb")((?:\.\w+)*)(?![\w\x80-\xff.(\[])"
        for found in re.finditer(held, data):
            # a = b = pkg
            before = data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()].split(b"=")
            targets = [named[1] for part in before if (named := _TARGET.search(part)) is not None]
            parts = found[2].decode("utf-8", "replace").split(".")[1:]
            for module in tuple(bound[found[1]]):
                ends = self._below(module, parts) & self._above
                for target in targets if ends else ():
                    bound.setdefault(target, set()).update(ends)

    # Attributes

    def _through(self, data: bytes, bound: dict[bytes, set[str]]) -> set[str]:
        """The packages that some `a.b.name` or `"a.b:name"` leads to."""
        found: set[str] = set()
        hits = self._names.intersection(_DOT.findall(data))
        coloned = self._names.intersection(_COLON.findall(data))
        if hits:
            self._assigned(data, bound)
        apart = coloned | hits.intersection(_APART.findall(data)) if hits else coloned
        for hit in hits | coloned:
            name = hit.decode("utf-8", "replace")
            packages = self._packages[name]
            seen: set[bytes] = set()
            for chain in _chains(hit, data, hit in apart):
                if chain in seen:
                    continue
                seen.add(chain)
                parts = [part[::-1].decode("utf-8", "replace") for part in reversed(_WORD.findall(chain))]
                ends = {".".join(parts)}  # as it is spelled, which is what it is in a string
                for module in bound.get(parts[0].encode(), ()):
                    ends |= self._below(module, parts[1:])
                found |= ends & packages
        if hits:
            found |= self._behind_brackets(hits, data, bound)
        return found

    def _behind_brackets(self, names: frozenset[bytes], data: bytes, bound: dict[bytes, set[str]]) -> set[str]:
        """The packages that stand in the brackets before a `.name`."""
        found: set[str] = set()
        for last in _BEHIND.finditer(data):
            if last[1] not in names:
                continue
            packages = self._packages[last[1].decode()]
            if data[last.start() : last.start() + 1] == b"}":
                # f"{PACKAGE}.sym"
                found |= {package for package in packages if package.encode() in data}
                continue
            # (pkg).sym        (pkg if pkg else None).sym        (p := pkg).sym
            inside = data[max(last.start() - _REACH, 0) : last.start()]
            found |= self._spelled(inside[_opening(inside) :], bound) & packages
        return found

    def _spelled(self, data: bytes, bound: dict[bytes, set[str]]) -> set[str]:
        """The modules that dotted paths in this text lead to, or their first parts."""
        found: set[str] = set()
        for chain in set(_PATH.findall(data)):
            first, *rest = chain.split(b".")
            parts = [part.strip().decode("utf-8", "replace") for part in rest]
            for module in bound.get(first.strip(), ()):
                for number in range(len(parts) + 1):
                    found |= self._below(module, parts[:number])
        return found

    def _below(self, dotted: str, parts: list[str]) -> set[str]:
        """The modules that `dotted` followed by attributes may be."""
        bases = self._modules(dotted)
        for part in parts:
            bases = set().union(*(self._modules(f"{base}.{part}") for base in bases))
        return bases

    def _modules(self, dotted: str, depth: int = _DEPTH) -> set[str]:
        """The modules that a dotted name may be: itself, or what its parent binds to the last part; looked up once."""
        if depth < _DEPTH:
            return self._looked_up(dotted, depth)
        known = self._modules_of.get(dotted)
        if known is None:
            known = self._modules_of[dotted] = self._looked_up(dotted, depth)
        return known

    def _looked_up(self, dotted: str, depth: int) -> set[str]:
        layout = self._layout()
        if dotted in self._above or layout is None or layout.locate(dotted) is not None:
            return {dotted}
        # from consumer import ops         where the consumer imported the package under that name
        parent, _, last = dotted.rpartition(".")
        carried = self._carriers(parent).get(last.encode(), ()) if parent and depth else ()
        found: set[str] = set().union(*(self._modules(each, depth - 1) for each in carried))
        for module in found & self._rows.keys():
            self.carried[parent, last] = module
        return found

    def _carriers(self, module: str) -> dict[bytes, set[str]]:
        """The names under which a module of the tree has other modules; looked up once."""
        known = self._bound.get(module)
        if known is None:
            known = self._bound[module] = {}
            layout = self._layout()
            located = layout.locate(module) if layout is not None else None
            if located is not None and located.path:
                for line in import_lines(self._read(located.path)):
                    if line.module is None:
                        for name, alias in line.names:
                            dotted = name.decode("utf-8", "replace")
                            top = dotted.partition(".")[0]
                            known.setdefault(alias or top.encode(), set()).add(dotted if alias else top)
                        continue
                    source = self._absolute(located.path, line.module.decode("utf-8", "replace"))
                    for name, alias in line.names:
                        if name == b"*":
                            for carried, modules in self._carriers(source).items():
                                known.setdefault(carried, set()).update(modules)
                        elif source != module:
                            text = name.decode("utf-8", "replace")
                            known.setdefault(alias or name, set()).add(f"{source}.{text}" if source else text)
        return known

    # Names in quotes

    def _by_name(self, data: bytes, bound: dict[bytes, set[str]]) -> Iterator[str]:
        # getattr(pkg, "sym")        patch.object(pkg, "sym")        import_module("pkg").sym
        if not any(word in data for word in _REFLECTS):
            return
        quoted = {name for quotes in _QUOTES for name in self._names.intersection(quotes.findall(data))}
        loads = any(word in data for word in _LOADS)
        if loads:
            # import_module("pkg").sym        import_module(".", __package__).sym        resolve_name("pkg:sym")
            quoted |= self._names.intersection(_DOT.findall(data)) | self._names.intersection(_COLON.findall(data))
        here = loads and _DOTS.search(data) is not None
        imported = {module for modules in bound.values() for module in modules}
        wanted = self._packages_of(quoted)
        held = {p for p in wanted if here or p in imported or self._holds(p, data, bound)}
        yield from held
        rest = wanted - held
        for name in quoted if rest else ():
            # from consumer import ops as o; getattr(o, "sym")
            if not self._packages[name.decode()].isdisjoint(rest):
                for place in re.finditer(rb"[\"']" + name + rb"[\"']", data):
                    yield from rest & self._spelled(data[max(place.start() - _REACH, 0) : place.start()], bound)
        if b".multiple(" in data:
            # patch.multiple("pkg", sym=...)
            keywords = self._names.intersection(_KEYWORD.findall(data))
            yield from (package for package in self._packages_of(keywords) if package.encode() in data)

    def _holds(self, package: str, data: bytes, bound: Mapping[bytes, set[str]]) -> bool:
        """Whether the file may have the package as a value: by a name of its own, as an attribute, or by a string."""
        leaf = package.rpartition(".")[2].encode()
        if leaf in bound:
            return True  # from consumer import ops
        last = re.escape(leaf)
        if re.search(rb"[\"'.]" + last + rb"[\"':]|[\"']" + last + rb"\.", data) is not None:
            return True  # import_module("a.b.ops")        resolve_name("a.b.ops:sym")        attrgetter("ops.sym")
        for chain in set(_chains(leaf, data, False)):
            # a.b.ops
            parts = [part[::-1].decode("utf-8", "replace") for part in reversed(_WORD.findall(chain))]
            for module in bound.get(parts[0].encode(), ()):
                if package in self._below(module, [*parts[1:], leaf.decode()]):
                    return True
        return False

    def _packages_of(self, names: Iterable[bytes]) -> set[str]:
        return {package for name in names for package in self._packages[name.decode()]}


def _chains(name: bytes, data: bytes, apart: bool) -> Iterator[bytes]:
    """The dotted paths in front of `.name`, each written backwards; `apart`: there may be blanks, or a colon."""
    if apart:
        places = [found.start() for found in re.finditer(rb"[.:]" + _GAP + name + rb"(?!" + _W + rb")", data)]
    else:
        places = []
        at = data.find(b"." + name)
        while at >= 0:
            end = at + len(name) + 1
            if not _WORD.match(data, end):
                places.append(at)
            at = data.find(b"." + name, end)
    for at in places:
        before = data[max(at - _REACH, 0) : at]
        if b"#" in before:
            before = _COMMENT.sub(b"", before)
        chain = _CHAIN.match(before[::-1])
        if chain is not None:
            yield chain[1]


def _opening(text: bytes) -> int:
    """Where the bracket opens that closes right behind a text; 0 where it opens earlier."""
    level = 1
    for at in range(len(text) - 1, -1, -1):
        level += (text[at] == 41) - (text[at] == 40)
        if not level:
            return at
    return 0
