"""One random tree from one source of choices.

Owns what a tree is put together from: a random package with call sites around it, or a form of docs/forms.md with company.
Invariant: the choices alone decide; no clock, no `hash`, no set order.
"""

from __future__ import annotations

from tests.fuzz import call_sites, packages, planted, spice
from tests.fuzz.call_sites import World
from tests.fuzz.trees import Chooser, RandomTree

_PLACES = ["", "", "", "app", "inside", "deep", "beside"]


def grow(c: Chooser) -> RandomTree:
    """A tree, its request and its programs."""
    return planted.planted(c, c.pick(planted.forms())) if c.chance(30) else composed(c)


def composed(c: Chooser) -> RandomTree:
    """A random package and random call sites: in front of it, below it, beside it, in another package."""
    texts, world = packages.package(c)
    marks: list[str] = []
    late: list[tuple[str, str]] = []
    for number in range(1 + c.below(3)):
        place, path = _place(c, world, number, texts)
        text, reads_late = call_sites.module(c, world, place, first=number * 10)
        texts[path] = text
        if reads_late:
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            late += [
                (name, line[4:].partition("(")[0])
                for line in text.split("\n")
                if line.startswith("def run_") and "():" in line
            ]
        marks.append(place or "top")
    if c.chance(20):
        texts["outer/__init__.py"] = spice.onward(c, world, "outer")
        texts.setdefault(
            "uses_outer.py",
            c.pick(
                [
                    "import outer\n\nprint(sorted(n for n in vars(outer) if n[0] != '_')[:0])\n",
                    f"from outer import *\nimport outer\nprint(getattr(outer, '{world.exports[0].name}', None) is not None)\n",
                ]
            ),
        )
        marks.append("onward")
    if c.chance(18):
        for number in range(1 + c.below(2)):
            texts[f"tests/test_{number}.py"] = spice.patching_test(c, world, late, number)
        texts["tests/__init__.py"] = ""
        marks.append("patch")
    for percent, path, make in (
        (6, "uses.pyi", spice.stub),
        (4, "pyproject.toml", spice.entry_points),
        (6, "shown.py", spice.doctested),
        (4, "notes.ipynb", spice.notebook),
    ):
        if c.chance(percent):
            texts[path] = make(c, world)
            marks.append(path)
    if c.chance(8):
        path, text = spice.page(c, world)
        texts[path] = text
        marks.append("page")
    prefix = "src/" if c.chance(8) else ""
    files = {}
    for path, text in texts.items():
        own = path if path.endswith((".toml", ".md", ".rst", ".txt", ".ipynb")) else f"{prefix}{path}"
        files[own] = spice.odd_bytes(c, text) if own.endswith(".py") and text else text.encode()
    wanted = c.some([export.name for export in world.exports], 1, min(2, len(world.exports)))
    return RandomTree(files, world.package, tuple(wanted), (prefix.rstrip("/") or ".",), marks=tuple(marks))


def _place(c: Chooser, world: World, number: int, texts: dict[str, str]) -> tuple[str, str]:
    """The package that a call site stands in, and its path."""
    folder = world.package.replace(".", "/")
    way = c.pick(_PLACES)
    if way == "app":
        texts.setdefault("app/__init__.py", "")
        return "app", f"app/use{number}.py"
    if way == "inside":
        path = f"{folder}/use{number}.py"
        if c.chance(30):
            # the package itself loads the call site
            texts[f"{folder}/__init__.py"] += c.pick(
                [f"from . import use{number}\n", f"import {world.package}.use{number}\n"]
            )
        return world.package, path
    if way == "deep":
        texts.setdefault(f"{folder}/deep/__init__.py", "")
        return f"{world.package}.deep", f"{folder}/deep/use{number}.py"
    if way == "beside" and world.parent:
        return world.parent, f"{world.parent.replace('.', '/')}/use{number}.py"
    return "", f"use{number}.py"
