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
_HIT = re.compile(rb"[.\"'][ \t]*(\w+)")
_COLON = re.compile(rb":(\w+)")
_TARGET = re.compile(rb"^[ \t]*(\w+)[ \t]*(?::[^=]*)?\Z")
_KEYWORD = re.compile(rb"(\w+)[ \t]*=(?!=)")
_DOTS = re.compile(rb"[\"']\.+[\"']")
_LOADS = (b"import_module", b"__import__", b"sys.modules", b"resolve_name", b"methodcaller")
_REFLECTS = (b"attr", b"import", b"modules", b"resolve_name", b"__dict__", b"vars(", b"methodcaller", b"patch", b"spy")
_GAP = rb"[ \t\r\n\\]*"
_CHAIN = re.compile(rb"(?<![\w.)\]])\w+(?:" + _GAP + rb"\." + _GAP + rb"\w+)*" + _GAP + rb"\Z")
_WORD = re.compile(rb"\w+")
_REACH = 200  # bytes; so long is no dotted path that people write
_DEPTH = 5  # from module to module, as far as people hand a package on


class Sieve:
    """The suspicion for one set of rows. `layout` is that of one of the packages, `read` gives the bytes of a module."""

    def __init__(
        self, rows: Mapping[str, Iterable[str]], layout: Callable[[], Layout | None], read: Callable[[str], bytes]
    ) -> None:
        self._rows = {package: frozenset(names) for package, names in rows.items()}
        self._names = frozenset(name.encode() for names in self._rows.values() for name in names)
        self._ascii = all(name.isascii() for name in self._names)
        self._few = tuple(sorted(self._names)) if len(self._names) <= _FEW else ()
        self._leaves: dict[bytes, list[str]] = {}
        self._above: set[str] = set()
        for package in self._rows:
            self._leaves.setdefault(package.rpartition(".")[2].encode(), []).append(package)
            while package:
                self._above.add(package)
                package = package.rpartition(".")[0]
        self._layout = layout
        self._read = read
        self._bound: dict[str, dict[bytes, set[str]]] = {}
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
            return frozenset(self._by_path(data))
        found: set[str] = set()
        bound: dict[bytes, set[str]] = {}
        for line in import_lines(data):
            found |= self._taken(path, line, data, bound)
        hits = self._names.intersection(_HIT.findall(data))
        if b"resolve_name" in data or b"__getattr__" in data:
            hits |= self._names.intersection(_COLON.findall(data))  # resolve_name("pkg:sym")
        if b".multiple(" in data:
            hits |= self._names.intersection(_KEYWORD.findall(data))  # patch.multiple("pkg", sym=...)
        if hits:
            self._assigned(data, bound)
            found |= set(self._through(hits, data, bound))
            found |= set(self._by_name(hits, data))
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
                for carried, modules in self._carriers(module).items():
                    bound.setdefault(carried, set()).update(modules)
            else:
                bound.setdefault(alias or name, set()).add(f"{module}.{text}" if module else text)
        return found

    def _absolute(self, path: str, spelled: str) -> str:
        level = len(spelled) - len(spelled.lstrip("."))
        if not level:
            return spelled
        layout = self._layout()
        if layout is None:
            return ""
        parts = layout.module_at(path).package.split(".")
        kept = parts[: len(parts) - level + 1]
        return ".".join(part for part in (*kept, spelled[level:]) if part)

    def _assigned(self, data: bytes, bound: dict[bytes, set[str]]) -> None:
        # z = pkg        and then z.sym
        packages = [name for name, modules in bound.items() if not modules.isdisjoint(self._above)]
        if not packages:
            return
        held = rb"=[ \t]*(" + b"|".join(sorted(packages)) + rb")((?:\.\w+)*)[ \t]*(?:[#;\r\n]|\Z)"
        for found in re.finditer(held, data):
            target = _TARGET.match(data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()])
            if target is None:
                continue
            parts = found[2].decode("utf-8", "replace").split(".")[1:]
            for module in tuple(bound[found[1]]):
                ends = self._below(module, parts) & self._above
                if ends:
                    bound.setdefault(target[1], set()).update(ends)

    # Attributes

    def _through(self, hits: frozenset[bytes], data: bytes, bound: Mapping[bytes, set[str]]) -> Iterator[str]:
        """The packages that some `a.b.name` leads to."""
        for found in re.finditer(rb"[.:]" + _GAP + rb"(" + b"|".join(sorted(hits)) + rb")(?!\w)", data):
            chain = _CHAIN.search(data, max(found.start() - _REACH, 0), found.start())
            if chain is None:
                continue
            parts = [part.decode("utf-8", "replace") for part in _WORD.findall(chain[0])]
            name = found[1].decode("utf-8", "replace")
            ends = {".".join(parts)}  # as it is spelled, which is what it is in a string
            for module in bound.get(parts[0].encode(), ()):
                ends |= self._below(module, parts[1:])
            for package in ends:
                if name in self._rows.get(package, ()):
                    yield package

    def _below(self, dotted: str, parts: list[str]) -> set[str]:
        """The modules that `dotted` followed by attributes may be."""
        bases = self._modules(dotted)
        for part in parts:
            bases = set().union(*(self._modules(f"{base}.{part}") for base in bases))
        return bases

    def _modules(self, dotted: str, depth: int = _DEPTH) -> set[str]:
        """The modules that a dotted name may be: itself, or what its parent binds to the last part."""
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

    def _by_name(self, hits: frozenset[bytes], data: bytes) -> Iterator[str]:
        # getattr(pkg, "sym")        patch.object(pkg, "sym")        import_module("pkg").sym
        if not any(word in data for word in _REFLECTS):
            return
        texts = {name.decode() for name in hits}
        loads = any(word in data for word in _LOADS)
        beside = b".multiple(" in data
        here = loads and _DOTS.search(data) is not None  # import_module(".", __package__).sym
        for leaf, packages in self._leaves.items():
            if here:
                yield from (package for package in packages if self._rows[package] & texts)
            if leaf not in data:
                continue
            spelled = None
            for package in packages:
                names = self._rows[package] & texts
                if not names:
                    continue
                if spelled is None:
                    spelled = re.search(rb"(?<!\w)" + re.escape(leaf) + rb"(?!\w)", data) is not None
                # import_module("pkg").sym        patch.multiple("pkg", sym=...)
                by_string = loads or (beside and _quoted(package.encode(), data))
                if spelled and (by_string or any(_quoted(name.encode(), data) for name in names)):
                    yield package

    def _by_path(self, data: bytes) -> Iterator[str]:
        # a stub of a plugin without an import: "pkg.sym" in quotes
        hits = self._names.intersection(_HIT.findall(data))
        return self._through(hits, data, {}) if hits else iter(())


def _quoted(name: bytes, data: bytes) -> bool:
    return re.search(rb"[\"']" + re.escape(name) + rb"[\"'.]", data) is not None
