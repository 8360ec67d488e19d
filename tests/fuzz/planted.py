"""The forms of docs/forms.md, planted in random trees: a form's package as the host, other forms' call sites as guests.

Owns the table of forms as pieces of trees, and the renaming that lets two of them stand in one tree.
Invariant: a form that is planted keeps its own request (package, symbols, options); guests bring files only.
"""

from __future__ import annotations

import functools
import re
import sys

from tests.fuzz import call_sites, spice
from tests.fuzz.call_sites import Export, World
from tests.fuzz.trees import Chooser, RandomTree

_path = sys.path[:]
from fixtures.narrow_reexport import forms_page  # noqa: E402  # the command takes the working directory off the path
from fixtures.narrow_reexport.forms_page import Form  # noqa: E402

sys.path[:] = _path

BASE = frozenset({"zoo/__init__.py", "zoo/bear.py", "zoo/lion.py"})
KINDS = {
    "roar": "function",
    "mane": "function",
    "den": "function",
    "bear": "function",
    "Lion": "class",
    "Escaped": "exception",
}


@functools.cache
def forms() -> tuple[Form, ...]:
    return forms_page.load_forms()


@functools.cache
def zoo() -> dict[str, bytes]:
    return {path: (forms_page.ZOO / path[4:]).read_bytes() for path in BASE}


@functools.cache
def guests() -> tuple[Form, ...]:
    """Forms that leave the package as it is: their other files can stand in any tree with that package."""
    return tuple(form for form in forms() if is_guest(form))


def is_guest(form: Form) -> bool:
    """Whether its files can be planted beside another form's."""
    if form.package != "zoo" or form.symbols != ("roar",) or form.options or form.roots != (".",):
        return False
    if (
        form.expect == "cannot"
        or "setup.py" in form.before
        or {path for path in form.before if path.startswith("zoo/")} != BASE
    ):
        return False
    return all(form.before[path] == data for path, data in zoo().items()) and all(
        path.endswith((".py", ".pyi", ".md", ".ipynb", ".rst", ".txt")) for path in form.before
    )


def planted(c: Chooser, host: Form, *, more: int = 2) -> RandomTree:
    """A host form, perhaps with guests and random call sites."""
    files = dict(host.before)
    programs = [each for each in host.run if re.fullmatch(r"[\w.]+", each)]
    held = [host.name]
    plain = "zoo/__init__.py" in files and host.package == "zoo" and "roar" in host.symbols
    for number in range(c.below(more + 1) if plain else 0):
        guest = c.pick(guests())
        if guest.name in held:
            continue
        own = {path: data for path, data in guest.before.items() if path not in BASE}
        own = {_renamed(path, own, number): _retold(data, own, number) for path, data in own.items()}
        if own.keys() & files.keys():
            continue
        files |= own
        programs += [
            _renamed(f"{each}.py", guest.before, number)[:-3].replace("/", ".") for each in guest.run if each == "main"
        ]
        held.append(guest.name)
    symbols = [symbol for symbol in host.symbols if symbol in KINDS]
    if symbols and host.roots == (".",):
        same = files.keys() >= {f"{host.package.replace('.', '/')}/{symbols[0]}.py"}
        exports = tuple(
            Export(each, KINDS[each], f"{host.package}.{'bear' if each in ('den', 'bear') else 'lion'}", same)
            for each in symbols
        )
        world = World(host.package, exports)
        for number in range(c.below(3)):
            text, _ = call_sites.module(c, world, "", first=number * 10 + 50, sizes=(1, 2))
            files[f"extra{number}.py"] = spice.odd_bytes(c, text)
    if c.chance(30) and not any(name.startswith("file_") for name in held):
        path = c.pick(sorted(path for path in files if path.endswith(".py")))
        text = files[path].decode("utf-8", "replace")
        if "coding" not in text and text.encode() == files[path]:
            files[path] = spice.odd_bytes(c, text)
    return RandomTree(
        files, host.package, host.symbols, host.roots, host.options, tuple(programs), tuple(held), ("planted",)
    )


def _renamed(path: str, own: object, number: int) -> str:
    head, _, last = path.rpartition("/")
    return f"{head}/{last}" if head else f"{last.partition('.')[0]}_g{number}.{last.partition('.')[2]}"


def _retold(data: bytes, own: dict[str, bytes], number: int) -> bytes:
    """The same text with the guest's own modules under their new names."""
    stems = sorted({path.partition(".")[0] for path in own if "/" not in path and path.endswith(".py")})
    for stem in stems:
        data = re.sub(rb"(?<![.\w])%s\b(?!\s*=[^=])" % stem.encode(), b"%s_g%d" % (stem.encode(), number), data)
    return data
