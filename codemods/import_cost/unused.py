"""Re-exports that nobody in the tree reads through the package.

Owns `--unused`: what counts as a reader, and which names are public. A name is read where a file imports it from the
package, takes a star from the package and spells it, holds the package as a module and spells the name behind a dot
or in quotes, or spells package and name side by side (`ops.f`, `"pkg.ops:f"`), in code, documents and settings alike.
Invariant: it may see a reader too many, never one that stands in a file too few, but for a module object that
is handed from file to file under another name.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codemods.import_cost.loads import exported
from codemods.import_cost.records import decode_uses, encode_uses
from codemods.import_cost.tree import Opened

_PAIR = re.compile(rb"(?=\b(\w+)\s*[.:]\s*(\w+))")
_AFTER = re.compile(rb"[.:]\s*(?=(\w+))")
_ATTRIBUTE = re.compile(rb"\.\s*(\w+)")
_QUOTED = re.compile(rb"[\"'](\w+)[\"']")
_WORD = re.compile(rb"\w+")
_DOCUMENTS = (".md", ".rst", ".txt", ".markdown", ".mdx", ".qmd", ".Rmd", ".rmd")
_DEPTH = 4  # so often is a module handed on by imports


@dataclass(frozen=True, slots=True)
class Unused:
    """A re-export without a reader. `public` says why others may read it: empty for what is the tree's own."""

    package: str
    path: str
    line: int
    name: str
    origin: str
    public: str


@dataclass(frozen=True, slots=True)
class _Init:
    path: str
    names: Mapping[str, tuple[str, int]]  # name -> (origin, line)


def unused(opened: Opened, below: str = "") -> tuple[tuple[Unused, ...], int]:
    """The re-exports that nobody reads, by package, and the number of all re-exports that were looked at."""
    inits = dict(_inits(opened, below))
    through = _passed_on(opened, inits)
    read, shown = _readers(opened, {**inits, **dict(_with_stars(inits, through))})
    top = set()
    for module, packages in through.items():
        # from pkg.ops import *        in another module: who reads a name there reads it here
        read |= {(package, name) for package in packages for name in inits[package].names if (module, name) in read}
        top |= packages if "." not in module else set()
    found = []
    for package, init in inits.items():
        listed, loaded = _own_uses(opened.tree.read(init.path))
        for name, (origin, line) in init.names.items():
            if (package, name) in read or name in loaded:
                continue
            public = ""
            if "." not in package or package in top:
                public = "in the top-level package"
            elif listed is None or name in listed:
                public = "in __all__"
            elif (package, name) in shown:
                public = "in the documentation"
            found.append(Unused(package, init.path, line, name, origin, public))
    return tuple(found), sum(len(init.names) for init in inits.values())


def _inits(opened: Opened, below: str) -> Iterator[tuple[str, _Init]]:
    loads = opened.loads
    for name in sorted(opened.modules):
        located = loads.graph.module(name)
        if located is None or not located.is_package or not f"{name}.".startswith(f"{below}." if below else ""):
            continue
        names = {
            each: (taken.origin, taken.lines[0])
            for taken in loads.taken(name)
            if loads.in_tree(taken.origin)
            for each in exported(loads, taken)
            if each != "*" and not (each.startswith("__") and each.endswith("__"))
        }
        if names:
            yield name, _Init(located.path, names)


def _passed_on(opened: Opened, inits: Mapping[str, _Init]) -> dict[str, set[str]]:
    """Which modules pass all names of a package on by a star, be it a star of a star: module -> packages."""
    stars: dict[str, dict[str, str]] = {}
    for path, use in opened.uses.all():
        module = opened.records[path].module.name
        if use.name == "*" and module != use.module:
            stars.setdefault(use.module, {})[module] = path
    found: dict[str, set[str]] = {}
    for package in inits:
        seen, todo = {package}, [package]
        while todo:
            for module in stars.get(todo.pop(), {}).keys() - seen:
                seen.add(module)
                todo.append(module)
                found.setdefault(module, set()).add(package)
    return found


def _with_stars(inits: Mapping[str, _Init], through: Mapping[str, set[str]]) -> Iterator[tuple[str, _Init]]:
    """The modules that pass names on, as if they took those names themselves."""
    for module, packages in through.items():
        own = inits.get(module, _Init("", {}))
        names = {name: place for package in sorted(packages) for name, place in inits[package].names.items()}
        yield module, _Init(own.path, {**names, **own.names})


def _readers(opened: Opened, inits: Mapping[str, _Init]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Which names are read, and which are shown in documents."""
    read: set[tuple[str, str]] = set()
    stars: dict[str, set[str]] = {}
    for path, use in opened.uses.all():
        init = inits.get(use.module)
        if init is not None and path != init.path:
            if use.name in init.names:
                read.add((use.module, use.name))
            elif use.name == "*":
                stars.setdefault(path, set()).add(use.module)
    held, called = _held(opened, inits)
    pairs: dict[bytes, dict[bytes, set[str]]] = {}
    for package, init in inits.items():
        for leaf in {package.rpartition(".")[2], *called.get(package, ())}:
            for name in init.names:
                pairs.setdefault(leaf.encode(), {}).setdefault(name.encode(), set()).add(package)
    spelled_names = {name for names in pairs.values() for name in names}
    shown: set[tuple[str, str]] = set()
    for path in opened.tree.paths:
        data = opened.tree.read(path)
        after = _AFTER.findall(data)
        # the full pattern is four times as slow
        found = set(_PAIR.findall(data)) if not spelled_names.isdisjoint(after) else set()
        hits = {
            (package, name.decode())
            for leaf, name in found
            if leaf in pairs
            for package in pairs[leaf].get(name, ())
            if path != inits[package].path
        }
        if path not in opened.records:  # stubs, Cython, notebooks, documents, settings
            uses = decode_uses(encode_uses(data.replace(b'"', b"\n"), opened.layout.module_at(path)))
            for use in uses:
                init = inits.get(use.module)
                if init is not None:
                    hits |= {(use.module, name) for name in init.names if use.name in (name, "*")}
        if path.endswith(_DOCUMENTS):
            shown |= hits
            continue
        read |= hits
        holds = held.get(path, set())
        if holds or path in stars:
            spelled = {word.decode("utf-8", "replace") for word in _ATTRIBUTE.findall(data) + _QUOTED.findall(data)}
            words = {word.decode("utf-8", "replace") for word in _WORD.findall(data)} if path in stars else set()
            for package in holds | stars.get(path, set()):
                if path != inits[package].path:
                    here = words if package in stars.get(path, ()) else spelled
                    read |= {(package, name) for name in here & inits[package].names.keys()}
        read |= set(_by_path(data, path, inits))
    return read, shown


def _by_path(data: bytes, path: str, inits: Mapping[str, _Init]) -> Iterator[tuple[str, str]]:
    # getattr(import_module("pkg.ops"), "f")        patch.multiple("pkg.ops", f=...)
    for dotted in set(re.findall(rb"[\"']([A-Za-z_][\w.]*)[\"']", data)):
        package = dotted.decode("utf-8", "replace")
        init = inits.get(package)
        if init is not None and path != init.path:
            words = {word.decode("utf-8", "replace") for word in _WORD.findall(data)}
            yield from ((package, name) for name in words & init.names.keys())


def _held(opened: Opened, inits: Mapping[str, _Init]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Which files hold a package as a module, and what packages are called: path -> packages, package -> names."""
    held: dict[str, set[str]] = {}
    called: dict[str, set[str]] = {}
    carried: dict[tuple[str, str], str] = {}  # (module, name) -> package
    for depth in range(_DEPTH):
        before = len(carried)
        for path, use in opened.uses.all():
            dotted = f"{use.module}.{use.name}" if use.name else use.module
            package = dotted if dotted in inits else carried.get((use.module, use.name), "")
            if not package:
                continue
            held.setdefault(path, set()).add(package)
            if use.bound and use.name != "*":
                called.setdefault(package, set()).add(use.bound)
                carried.setdefault((opened.records[path].module.name, use.bound), package)
        if depth and len(carried) == before:
            break
    return held, called


def _own_uses(data: bytes) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The names in `__all__` (None where it is not all literal), and those that the module reads itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError):
            return None, frozenset()
    listed: set[str] = set()
    literal = True
    for node in ast.walk(tree):  # also under an `if`
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                continue
        elif not (isinstance(node, ast.Expr) and "__all__" in ast.dump(node)):
            continue
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                listed.add(each.value)
            elif isinstance(each, (ast.ListComp, ast.GeneratorExp, ast.Starred)) or (
                isinstance(each, ast.Attribute) and each.attr == "__all__"
            ):
                literal = False
    loaded = frozenset(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != "__all__"
    )
    return frozenset(listed) if literal else None, loaded
