"""Which files can matter: a byte test for every file, before anything is parsed.

Owns the needles. A file survives if it spells a symbol and can reach the package, or if it can lose something without
spelling the symbol: a star, a submodule that only the package loaded, a name computed at run time.
Invariant: it may keep a file too many, never one too few; it parses nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from codemods.engine.discover import SHOWING, TEMPLATES, is_code
from codemods.engine.import_lines import START
from codemods.engine.modules import Layout
from codemods.engine.words import byte_words
from codemods.narrow_reexport.byways import absolute, carry_further, carry_on, reads_of, star_importers, whole_name
from codemods.narrow_reexport.forms.public_names import may_list
from codemods.narrow_reexport.holders import Bindings, handing_test, reflection_test
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.stubs import mirrored

_STAR = re.compile(START + rb"from[ \t\\\r\n]+([.\w \t]+?)[ \t\\\r\n]+import[ \t\\\r\n]*\(?[ \t\\\r\n]*\*")
# a pattern for each word, which stands first: an alternative there would be tried at every byte
_PATCHES = [
    re.compile(word + rb"[\w.]*\([ \t\r\n]*[\"']([\w.]+)[\"']") for word in (rb"patch", rb"setattr", rb"delattr")
]
_OBJECTS = [re.compile(word + rb"\([^\"'\n]*[\"'](\w+)[\"']") for word in (rb"object", rb"setattr", rb"delattr")]
_STAR_NEAR = re.compile(rb"import[ \t\\\r\n]*\(?[ \t\\\r\n]*\*")
_WORD = re.compile(rb"\w+")
_READ = re.compile(rb"(?<!\bself)(?<!\bcls)[.\"'][ \t]*(\w+)")
_PATH = re.compile(rb"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+import\b|import[ \t]+[.\w]+)", re.M)
_DOTTED = re.compile(rb"\.([\w\x80-\xff]+)")
OWN_PLAN = b'{\n "command": "narrow_reexport",\n'  # a plan that was written into the tree is no part of it
# and so are the rows for `--plan`, which name symbols for this command and for no program
_REQUEST = re.compile(
    rb"(?:\s|#.*\n)*version[ \t]*=[ \t]*1[ \t]*(?:#.*)?\r?\n(?:\s|#.*\n)*\[\[narrow\]\]"
    rb"|\s*\{\s*\"version\"\s*:\s*1\s*,\s*\"narrow\"\s*:"
)
_CYTHON = (".pyx", ".pxd", ".pxi")
# files that reach the package without its name: by relative imports, by a name that a module of the tree hands on
_RELATIVE = (*_CYTHON, *(f"{suffix}{end}" for suffix in _CYTHON for end in TEMPLATES), ".ipynb")


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
    searched: int


def scan(
    paths: Sequence[str],
    read: Callable[[str], bytes],
    layout: Layout,
    resolutions: Sequence[Resolution],
    lost: Iterable[str],
    *,
    star_takes: Iterable[str] = (),
    wants_names: bool,
    spelling: Callable[[Iterable[str]], Sequence[str]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Scan:
    """Read every file once and keep what can matter. With `wants_names` the names read through the package are gathered.

    `spelling` gives the files that may spell some words, where that is known; `paths` then are the files to look at.
    """
    package = resolutions[0].symbol.module
    leaf = package.rpartition(".")[2].encode()
    init = layout.locate(package)
    folder = init.path.rpartition("/")[0] + "/" if init else ""
    names = [found.symbol.name for found in resolutions]
    spelled = _needle(names)
    own, foreign = _tails(package, lost)
    lost_by: dict[str, list[str]] = {}
    for dotted_name in star_takes:
        lost_by.setdefault(dotted_name.rpartition(".")[0], []).append(dotted_name.rpartition(".")[2])
    touches = _touch_test(package, folder)
    dotted = [found.symbol.dotted.encode() for found in resolutions] + [
        str(found.symbol).encode() for found in resolutions
    ]
    origins: dict[bytes, list[str]] = {}
    packaged: dict[bytes, list[str]] = {}
    for found in resolutions:
        origins.setdefault(found.origin.dotted.encode(), []).append(found.symbol.name)
        for spelled_as in (found.symbol.dotted.encode(), leaf + b"." + found.symbol.name.encode()):
            packaged.setdefault(spelled_as, []).append(found.symbol.name)
    alias_of, may_bind, imported = _alias_pattern(package), _alias_test(package), whole_name([package.encode(), leaf])
    loaded: dict[str, bytes] = {}
    kept: dict[str, bytes] = {}
    others: list[Survivor] = []
    aliases: set[bytes] = set()
    carriers: dict[tuple[str, str], str] = {}
    stars: dict[str, set[str]] = {}
    early: set[str] = set()
    patched: set[str] = set()
    losing: set[str] = set()
    loses_own = re.compile(rb"\.(?:" + b"|".join(re.escape(last) for last in own) + rb")(?!\w)" if own else rb"(?!)")
    reflects = reflection_test(leaf)
    hands_over = handing_test(leaf)
    # what imports the package as a module spells its parent, or lies beside it
    above = package.rpartition(".")[0].rpartition(".")[2].encode()
    near = folder.rstrip("/").rpartition("/")[0] + "/"
    modules = {package, *(found.origin.module for found in resolutions)}
    fakes = re.compile(rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(modules)) + rb")\b")
    reads: set[str] = set()
    unsure: dict[str, bytes] = {}
    for number, path in enumerate(paths):
        if progress is not None and number % 500 == 0:
            progress(number, len(paths))
        data = read(path)
        if data.startswith(OWN_PLAN) or _REQUEST.match(data):
            continue
        if not is_code(path) or path.rpartition("/")[2] == "setup.py":
            # pkg.sym      from pkg import sym      and in Cython: from . import sym
            spells = leaf in data or path.endswith(_RELATIVE)
            imports = b"import" in data
            if any(needle in data for needle in dotted) or (spells and imports and spelled(data)):
                others.append(Survivor(path, data))
            elif may_list(path, data, package) and spelled(data):
                others.append(Survivor(path, data))
            elif path.endswith(SHOWING) and imports and leaf in data and loses_own.search(data):
                others.append(Survivor(path, data))  # import pkg; pkg.sub.other()        in a cell or an example
            if wants_names and imports and leaf in data and not is_code(path):
                reads |= _names_read(data, leaf, False)
        if not is_code(path):
            continue
        inside = path.startswith(folder) or (
            path.endswith(".pyi") and f"{layout.module_at(path).name}.".startswith(f"{package}.")
        )
        has_leaf = leaf in data
        called = {leaf}  # what the file may call the package
        if has_star(data):
            for match in _STAR.finditer(b"\n" + data):
                stars.setdefault(path, set()).add(b"".join(match[1].split()).decode("utf-8", "replace"))
        has_name = spelled(data) or ((has_leaf or inside) and not data.isascii() and _spelled_otherwise(data, names))
        if has_leaf and b"import" in data:
            binds = (above in data or path.startswith(near)) and may_bind(data) and imported(data)
            for match in alias_of.finditer(b"\n" + data) if binds else ():
                if match["module"] and absolute(layout, path, match["module"].decode()) != package.rpartition(".")[0]:
                    continue
                name = match["alias"] or match["from_alias"] or leaf
                module = layout.module_at(path).name
                carriers[module, name.decode()] = package
                if name != leaf:
                    aliases.add(name)
                    called.add(name)
            if wants_names and path != (init.path if init else ""):
                reads |= _names_read(data, leaf, inside)
        elif wants_names and inside:
            reads |= _names_read(data, leaf, inside)
        loses = bool(own or foreign) and (
            ((has_leaf or inside) and any(_loses(data, last) for last in own))
            or ((inside or (has_leaf and touches(path, data))) and _loses_any(data, foreign))
        )
        if loses:
            losing.add(path)
        if b"sys.modules" in data and fakes.search(data):
            kept[path] = data
        if has_name:
            if b"patch" in data or b"attr(" in data:
                for dotted_path in {word for pattern in _PATCHES for word in pattern.findall(data)}:
                    early.update(origins.get(dotted_path, ()))
                    patched.update(packaged.get(dotted_path, ()))
                for word in {word for pattern in _OBJECTS for word in pattern.findall(data)}:
                    patched.update(packaged.get(leaf + b"." + word, ()))
            if has_leaf or inside:
                kept[path] = data
                continue
            unsure[path] = data
        compares = has_leaf and b".__all__" in data and touches(path, data)  # what the package exports, as a whole
        bound = Bindings(data)
        holds = has_leaf and (reflects(bound, called) or (touches(path, data) and hands_over(bound)))
        if loses or compares or holds:
            kept[path] = data
        elif path in stars:
            loaded[path] = data
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
                if loses_own.search(data):
                    kept[path] = data
                    losing.add(path)
    starring = star_importers(stars, layout, package)
    for path in starring:
        kept.setdefault(path, loaded.get(path) or read(path))
    for path in starring if wants_names else ():
        reads |= {word.decode("utf-8", "replace") for word in _WORD.findall(kept[path])}
    everywhere = {layout.module_at(path).name: path for path in starring}
    leaves = [last.decode() for last in own]
    star_reads = reads_of(everywhere, [*names, *leaves], kept, unsure, stars, layout)
    star_reads |= _lost_through_stars(lost_by, paths, read, stars, layout, kept, losing)
    starred_modules = frozenset(
        absolute(layout, path, spelled_module) for path, found in stars.items() for spelled_module in found
    )
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
        len(paths),
    )


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


def has_star(data: bytes) -> bool:
    """Whether a file may hold a star import."""
    return _STAR_NEAR.search(data) is not None


def _needle(names: Sequence[str]) -> Callable[[bytes], bool]:
    encoded = [name.encode() for name in names]
    odd = [name for name in encoded if not name.isascii()]
    if odd:
        return lambda data: (
            any(name in data for name in encoded) or not data.isascii()
        )  # identifiers are compared after NFKC
    if len(encoded) <= 8:
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


def _tails(package: str, lost: Iterable[str]) -> tuple[tuple[bytes, ...], dict[bytes, tuple[bytes, ...]]]:
    """The lost modules below the package itself by their names; the others by theirs, each with those of its parents."""
    own: set[bytes] = set()
    foreign: dict[bytes, set[bytes]] = {}
    for dotted in lost:
        parent, _, last = dotted.rpartition(".")
        if parent == package:
            own.add(last.encode())  # an alias may stand for the package, but its submodules keep their names
        elif parent:
            foreign.setdefault(last.encode(), set()).add(parent.rpartition(".")[2].encode())
    return tuple(sorted(own)), {last: tuple(sorted(foreign[last])) for last in sorted(foreign)}


def _loses(data: bytes, last: bytes, above: tuple[bytes, ...] = (b"",)) -> bool:
    # pkg.sub in an expression; import statements name what they load, and stars are looked at apart
    at = data.find(b"." + last)
    while at >= 0:
        end = at + len(last) + 1
        if not _WORD.match(data, end):
            row = data[data.rfind(b"\n", 0, at) + 1 : at].lstrip()
            if row.rstrip().endswith(above) and not row.startswith((b"from ", b"import ", b"#")):
                return True
        at = data.find(b"." + last, end)
    return False


def _loses_any(data: bytes, foreign: dict[bytes, tuple[bytes, ...]]) -> bool:
    # other.sub        the words behind a dot are found once for all modules
    read = foreign.keys() & set(_DOTTED.findall(data))
    return any(_loses(data, last, foreign[last]) for last in read)


def _names_read(data: bytes, leaf: bytes, inside: bool) -> set[str]:
    module = rb"(?:[.\w]*\b" + re.escape(leaf) + (rb"|\.+" if inside else b"") + rb")"
    found: set[str] = set()
    for match in re.finditer(
        rb"\bfrom[ \t]+" + module + rb"[ \t\\\r\n]+import\b[ \t]*(\([^)]*\)|(?:[^\n;\\]|\\\r?\n)*)", data
    ):
        found |= {word.decode("utf-8", "replace") for word in _WORD.findall(match[1])}
    # p.sym    "sym"        the character in front is looked for, which is quicker than the name before it
    # (what an import statement loads, it does not read through the package)
    found |= {word.decode("utf-8", "replace") for word in set(_READ.findall(_PATH.sub(b"", data)))}
    return found
