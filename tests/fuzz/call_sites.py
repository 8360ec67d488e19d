"""Random call sites: a module that gets at exported names in many ways, and uses them in many scopes.

Owns the ways to get at a name (each gives an expression), the uses of an expression by kind of object, and the places
(function, class, `try`, one-line suite ...) that either may stand in.
Invariant: a call site prints what it gets; it says nothing that differs from process to process.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from tests.fuzz.trees import Chooser


@dataclass(frozen=True, slots=True)
class Export:
    """One name that the package gives out."""

    name: str
    kind: str  # function, class, exception, constant
    origin: str  # the module that the package takes it from
    same_name: bool = False  # the package has a module of that name


@dataclass(frozen=True, slots=True)
class World:
    """What a call site can know of the package."""

    package: str
    exports: tuple[Export, ...]
    others: tuple[str, ...] = ()  # functions without arguments that the package gives out and goes on giving out
    helpers: tuple[tuple[str, str], ...] = ()  # (module, function) of modules that the package has loaded by then

    @property
    def parent(self) -> str:
        return self.package.rpartition(".")[0]

    @property
    def tail(self) -> str:
        return self.package.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Access:
    """Lines that import something, and the expression that is the object from then on."""

    lines: str
    expression: str
    late: str = ""  # more lines right before the use

    @property
    def root(self) -> str:
        return self.expression.partition(".")[0].partition("(")[0]


def relative(package: str, place: str) -> str:
    """`package` as a module in the package `place` writes it relatively; empty where it cannot."""
    if not place:
        return ""
    ours, theirs = place.split("."), package.split(".")
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    if not common:
        return ""
    return "." * (len(ours) - common + 1) + ".".join(theirs[common:])


def access(c: Chooser, world: World, export: Export, place: str, number: int) -> Access:
    """One way to get at a name."""
    package, name = world.package, export.name
    other = c.pick(world.others) if world.others else ""
    second = c.pick(world.exports).name
    new = f"x{number}"
    near = relative(package, place)
    source = c.pick([package, near]) if near else package
    said: list[Access] = [
        Access(f"from {source} import {name}", name),
        Access(f"from {source} import {name} as {new}", new),
        Access(f"from {source} import ({name})", name),
        Access(f"import {package}", f"{package}.{name}"),
        Access(f"import {package} as {new}", f"{new}.{name}"),
        Access(f"import os, {package}", f"{package}.{name}"),
        Access(f"import {package}, {package} as {new}", f"{new}.{name}"),
        Access(f"from {source} import *", name),
        Access(f"from {source} import (\n    {name},  # what it is for\n)", name),
        Access(f"from {source} import {name}  # noqa: F401", name),
        Access(f"from {source} import \\\n    {name}", name),
        Access(f"import {package}", f'getattr({package}, "{name}")'),
        Access(f"import {package}", f'getattr({package}, "{name}", None)'),
        Access(f"import importlib\n{new} = importlib.import_module('{package}')", f"{new}.{name}"),
        Access("import importlib", f'importlib.import_module("{package}").{name}'),
        Access(f"import sys\nimport {package}", f'sys.modules["{package}"].{name}'),
        Access(f"import {package}", f'vars({package})["{name}"]'),
        Access(f"import operator\nimport {package}", f'operator.attrgetter("{name}")({package})'),
        Access(f"{new} = __import__('{package}', fromlist=['{name}'])", f"{new}.{name}"),
        Access(f"import {export.origin}", f"{package}.{name}"),
        Access(f"import {package}\n{new} = {package}", f"{new}.{name}"),
        Access(f"import {package}\n{new} = {package}.{name}", new),
        Access(f"from {source} import {name} as {name}", name),
        Access(f"from {source} import {name}, {second} as y{number}", name),
        Access(f"from {source} import ({name},\n          {second} as y{number})", name),
        Access(f"import {package}\nfrom {source} import {name}", f"{package}.{name}"),
    ]
    if other:
        said += [
            Access(f"from {source} import {other}, {name}", name),
            Access(f"from {source} import (\n    {other},  # stays\n    {name},  # goes\n)", name),
            Access(f"from {source} import {name}, {other} as o{number}", name),
            Access(f"from {source} import {other}; from {source} import {name} as {new}", new),
            Access(f"import {package}; {package}.{other}()", f"{package}.{name}"),
            Access(f"from {source} import {other}, {name}, {other} as o{number}  # type: ignore", name),
        ]
    if world.parent:
        above = relative(world.parent, place)
        parents = [world.parent, above] if above else [world.parent]
        said += [
            Access(f"from {c.pick(parents)} import {world.tail}", f"{world.tail}.{name}"),
            Access(f"from {c.pick(parents)} import {world.tail} as {new}", f"{new}.{name}"),
            Access(f"from {world.parent} import {world.tail}\nimport {world.parent}", f"{package}.{name}"),
        ]
    if export.same_name:
        said += [
            Access(f"import {package}.{name} as {new}", new),
            Access(f"import {package}.{name}", f"{package}.{name}"),
        ]
    for module, helper in world.helpers:
        said.append(Access(f"import {package}\n{package}{module[len(package) :]}.{helper}()", f"{package}.{name}"))
    return c.pick(said)


FUNCTION = [
    "print({e}(2))",
    "v{n} = {e}(1)\nprint(v{n})",
    "def run_{n}():\n    return {e}(3)",
    "def run_{n}(f={e}):\n    return f(4)",
    "print([{e}(k) for k in range(2)], [*map({e}, (1, 2))])",
    "g{n} = lambda k=1: {e}(k)\nprint(g{n}(2))",
    "def run_{n}():\n    return (lambda: {e}(1))()",
    'print(f"{{{e}(2)}} and {{{e}.__name__!r}}")',
    "def run_{n}():\n    def inner():\n        return {e}(5)\n    return inner()",
    "class C{n}:\n    method = staticmethod({e})\n\n    def go(self):\n        return {e}(1)\n\nprint(C{n}.method(2), C{n}().go())",
    "if (w{n} := {e}(2)):\n    print(w{n})",
    "def deco{n}(f):\n    return lambda *a: (f(*a), {e}(1))\n\n@deco{n}\ndef run_{n}(k=1):\n    return k\nprint(run_{n}(1))",
    "t{n} = {{'k': {e}}}\nprint(t{n}['k'](1))",
    "async def co{n}():\n    return {e}(1)\ntry:\n    co{n}().send(None)\nexcept StopIteration as stop:\n    print(stop.value)",
    "def run_{n}():\n    global late{n}\n    late{n} = {e}(6)\n    return late{n}",
    "for h{n} in ({e},):\n    print(h{n}(1))",
    "def run_{n}(k=1):\n    try:\n        return {e}(k)\n    finally:\n        print('finally')",
    "print(({e})(2), {e} (1), {e}(\n    2,  # two\n))",
    "import functools\np{n} = functools.partial({e}, 2)\nprint(p{n}())",
    "def gen{n}():\n    yield {e}(1)\n    yield from ({e}(k) for k in range(2))\nprint([*gen{n}()])",
    "def run_{n}() -> '{t}':\n    return {e}.__name__",
    "assert {e}, 'there'\nprint({e}.__module__)",
]
CLASS = [
    "class D{n}({e}):\n    pass\nprint(D{n}().legs, D{n}.__mro__[1].__name__)",
    "def run_{n}(a: '{e}' = None) -> '{e}':\n    return type(a).__name__",
    "def run_{n}(a: {e} = None):\n    return isinstance({e}(), {e})",
    "v{n}: {e} = {e}()\nprint(v{n}.legs)",
    "match {e}():\n    case {e}():\n        print('matched')",
    "def run_{n}(a=None):\n    return isinstance(a or {e}(), ({e}, int))",
    "from typing import Optional\nv{n}: Optional['{e}'] = None",
    "from typing import cast\nv{n} = cast('{e}', {e}())\nprint(v{n}.legs)",
    "from typing import List\ndef run_{n}(a: 'List[{e}]' = ()):\n    return len(a)",
    "class H{n}:\n    kind = {e}\n    made: 'dict[str, {e}]' = {{}}\n    def make(self) -> {e}:\n"
    "        return self.kind()\nprint(H{n}().make().legs)",
    "print({e}.legs, {e}.__module__, {e}.__name__)",
    "x_{n} = [{e}() for _ in range(2)]  # type: list[{e}]\nprint(len(x_{n}))",
]
EXCEPTION = [
    "try:\n    raise {e}('out')\nexcept {e} as error:\n    print('caught', error)",
    "def run_{n}():\n    try:\n        raise {e}('late')\n    except (KeyError, {e}):\n        return 'caught'",
    "class E{n}({e}):\n    pass\nprint(issubclass(E{n}, {e}))",
    "import contextlib\nwith contextlib.suppress({e}):\n    raise {e}",
]
CONSTANT = [
    "print({e})",
    "def run_{n}():\n    return {e}",
    "def run_{n}(k={e}):\n    return k",
    "print(f'{{{e}!r}} {{{e}}}')",
    "print([{e} for _ in (1,)], ({e}, 1)[0])",
    "class C{n}:\n    value = {e}\nprint(C{n}.value)",
    "match 4:\n    case k if k == {e}:\n        print('four')\n    case _:\n        print('other')",
]
USES = {"function": FUNCTION, "class": CLASS, "exception": EXCEPTION, "constant": CONSTANT}
CALLED = {"function": "{e}(2)", "class": "{e}().legs", "exception": "{e}('x').args", "constant": "{e}"}

# names that only look alike: {s} the symbol, {p} the last part of the package
SHADOWS = [
    "def shade{n}({s}):\n    return {s}\nprint(shade{n}(1))",
    "def shade{n}({p}):\n    return {p}.{s}\nprint(shade{n}(type('F', (), {{'{s}': 5}})))",
    "def shade{n}():\n    {s} = 7\n    return {s}\nprint(shade{n}())",
    "print([{s} for {s} in (1, 2)])",
    "class Shade{n}:\n    {s} = 3\n    def {p}(self):\n        return self.{s}\nprint(Shade{n}().{p}())",
    "print((lambda {s}: {s} + 1)(1))",
    "def shade{n}():\n    {s} = 1\n    def inner():\n        nonlocal {s}\n        {s} += 1\n"
    "        return {s}\n    return inner()\nprint(shade{n}())",
    "# {p}.{s} is spoken of here\nprint('{s}')",
    '"""A text about {p} and {s}."""',
    "d{n} = dict({s}=1)\nprint(d{n}['{s}'])",
    "def shade{n}(*, {s}=2):\n    return {s}\nprint(shade{n}({s}=3))",
]
LIGHT = ["import os", "X{n} = {n}", "print('between', {n})", "# a comment", "", "def plain{n}():\n    return {n}"]


def module(
    c: Chooser, world: World, place: str, *, first: int = 0, sizes: tuple[int, int] = (1, 4)
) -> tuple[str, bool]:
    """The text of one call site in the package `place`; and whether it has functions `run_*` that read late."""
    blocks: list[str] = []
    head: list[str] = []
    if c.chance(15):
        head.append('"""What this module is for."""')
    if c.chance(8):
        head.append("from __future__ import annotations")
    for number in range(first, first + sizes[0] + c.below(sizes[1] - sizes[0] + 1)):
        export = c.pick(world.exports)
        found = access(c, world, export, place, number)
        uses = [_use(c, export, found, number * 10 + at) for at in range(1 + c.below(2))]
        blocks += _placed(c, found, uses, number)
        if c.chance(12):
            shade = c.pick(SHADOWS)
            blocks.append(shade.format(n=number, s=export.name, p=world.tail))
        if c.chance(12):
            blocks.append(c.pick(LIGHT).format(n=number))
    if c.chance(5):
        blocks.append("if __name__ == '__main__':\n    print('main')")
    text = "\n".join([*head, *blocks]) + "\n"
    return text, "def run_" in text


def _use(c: Chooser, export: Export, found: Access, number: int) -> str:
    template = c.pick(USES[export.kind])
    plain = found.expression if "(" not in found.expression and "[" not in found.expression else ""
    needs_path = "case {e}" in template or "'{e}'" in template or "{e}]'" in template or "list[{e}]" in template
    if (
        (needs_path and not plain)
        or ("f'" in template and "'" in found.expression)
        or ('f"' in template and '"' in found.expression)
    ):
        template = f"print({CALLED[export.kind]})"
    if ": {e}" in template and not plain:
        template = f"print({CALLED[export.kind]})"
    return template.format(e=found.expression, n=number, t="str")


def _placed(c: Chooser, found: Access, uses: list[str], number: int) -> list[str]:
    """The import and its uses, at module level or in something."""
    starred = "import *" in found.lines
    body = "\n".join([found.lines, *uses])
    bare = "\n".join(uses)
    way = c.below(24) if not starred else c.below(8)
    in_function = [use for use in uses if "global" not in use and "{" not in use] or ["pass"]
    if way < 8:
        return [found.lines, *uses]
    if way < 11:
        inner = "\n".join([found.lines, *in_function])
        return [f"def run_f{number}():\n{_in(inner)}\n    return 'done'"]
    if way == 11:
        return [f"try:\n{_in(found.lines)}\nexcept ImportError:\n    {found.root} = None", bare]
    if way == 12:
        return [f"if True:\n{_in(body)}"]
    if way == 13:
        return [f"try:\n{_in(found.lines)}\nexcept Exception:\n    raise\nelse:\n{_in(bare)}"]
    if way == 14 and "\n" not in found.lines:
        return [f"if True: {found.lines}", *uses]
    if way == 15 and "\n" not in found.lines:
        return [f"a{number} = 1; {found.lines}; b{number} = 2", *uses]
    if way == 16:
        inner = f"{found.lines}\nvalue{number} = {found.expression}"
        return [f"class K{number}:\n{_in(inner)}\nprint(K{number}.value{number} is not None)"]
    if way == 17:
        return [
            f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n{_in(found.lines)}"
            f"\ndef t{number}(a: '{_plain(found)}' = None):\n    return a"
        ]
    if way == 18:
        return [f"import sys\nif sys.platform != 'other':\n{_in(found.lines)}\nelse:\n    {found.root} = None", *uses]
    if way == 19:
        return [f"for _ in (1,):\n{_in(body)}"]
    if way == 20:
        return [f"with open(__file__):\n{_in(found.lines)}", *uses]
    if way == 21 and "\n" not in found.lines:
        return [f"def run_f{number}(): {found.lines}; return {found.expression} is not None"]
    if way == 22:
        inner = "\n".join([found.lines, *in_function])
        return [
            f"class M{number}:\n    def go(self):\n{_in(inner, 8)}\n        return 1\ndef run_m{number}():\n    return M{number}().go()"
        ]
    if way == 23 and "." not in found.root and found.root == found.expression:
        return [found.lines, *uses, f"del {found.root}"]
    return [found.lines, *uses]


def _plain(found: Access) -> str:
    return found.expression if all(part.isidentifier() for part in found.expression.split(".")) else "int"


def _in(text: str, by: int = 4) -> str:
    return textwrap.indent(text, " " * by)
