"""Random packages: an `__init__` that re-exports names in one of many ways, and the modules that these come from.

Owns the forms of the `__init__` (imports, `__all__`, own uses) and of the origins.
Invariant: whatever it makes can be imported; what a name is bound to does not depend on chance.
"""

from __future__ import annotations

from tests.fuzz.call_sites import Export, World
from tests.fuzz.trees import Chooser

BODIES = {
    "function": "def {i}(times=1):\n    return '{i}' * times\n",
    "class": "class {i}:\n    legs = 4\n",
    "exception": "class {i}(Exception):\n    pass\n",
    "constant": "{i} = 4\n",
}
NAMES = [
    ("roar", "function"),
    ("Lion", "class"),
    ("fused", "function"),
    ("Escaped", "exception"),
    ("LEGS", "constant"),
    ("purr", "function"),
]
MODULES = ["lion", "bear", "big.tiger", "_cat"]
EXTRA = [
    "",
    "def helper():\n    return 'helper'\n",
    "def twice():\n    return {s}\n",
    "import os\n\n_cache = {{}}\n",
    "from . import light\n\n\ndef lit():\n    return light.light()\n",
    "from .light import light\n",
    "import {p}\n\n\ndef around():\n    return {p}.light()\n",
    "def late():\n    from {p} import light\n\n    return light()\n",
    "import logging\n\nlogger = logging.getLogger(__name__)\n",
    "import xml.dom\n",
    "_all = []\n\n\ndef keep(f):\n    _all.append(f)\n    return f\n\n\n@keep\ndef kept():\n    return 1\n",
]


def package(c: Chooser) -> tuple[dict[str, str], World]:
    """The files of a package, below the folder that imports start from, and what is exported."""
    name = c.pick(["zoo", "lib.zoo", "lib.core.zoo"])
    folder = name.replace(".", "/")
    files: dict[str, str] = {}
    parts = name.split(".")
    spaces = c.chance(20)
    for depth in range(1, len(parts)):
        if not spaces:
            files["/".join(parts[:depth]) + "/__init__.py"] = c.pick(["", '"""Above."""\n', "VERSION = 1\n"])
    exports: list[Export] = []
    modules: dict[str, list[tuple[str, str, str]]] = {}  # module -> (name inside, name outside, kind)
    for symbol, kind in c.some(NAMES, 1, 3):
        same = symbol == "fused" or c.chance(8)
        module = symbol if same else c.pick(MODULES)
        inside = f"{symbol}_impl" if not same and c.chance(12) else symbol
        modules.setdefault(module, []).append((inside, symbol, kind))
        hop = module.partition(".")[0] if "." in module and c.chance(50) else module
        exports.append(Export(symbol, kind, f"{name}.{hop}", same))
    hops = {export.origin[len(name) + 1 :] for export in exports if export.origin[len(name) + 1 :] == "big"}
    for module, inside_names in modules.items():
        files |= _origin(c, folder, name, module, inside_names)
        if module == "big.tiger":
            taken = [n for n, outside, _ in inside_names if f"{name}.big" == _origin_of(exports, outside)]
            hop_text = f"from .tiger import {', '.join(taken)}\n" if taken and hops else ""
            files[f"{folder}/big/__init__.py"] = hop_text + (f"__all__ = {taken!r}\n" if taken and c.chance(30) else "")
    files[f"{folder}/light.py"] = "def light():\n    return 'light'\n"
    files[f"{folder}/__init__.py"] = _init(c, name, exports, modules)
    helpers = [
        (f"{name}.{m}", "helper") for m in modules if "def helper" in files[f"{folder}/{m.replace('.', '/')}.py"]
    ]
    return files, World(name, tuple(exports), ("light",), tuple(helpers))


def _origin_of(exports: list[Export], symbol: str) -> str:
    return next(export.origin for export in exports if export.name == symbol)


def _origin(c: Chooser, folder: str, package: str, module: str, names: list[tuple[str, str, str]]) -> dict[str, str]:
    up = "." * module.count(".")
    first = names[0]
    read = f"{first[0]}(2)" if first[2] == "function" else first[0]
    extra = c.pick(EXTRA).format(s=read, p=package)
    if up and "from ." in extra:
        extra = extra.replace("from .", "from ..")
    bodies = "\n\n".join(BODIES[kind].format(i=inside) for inside, _, kind in names)
    listed = [inside for inside, _, _ in names] + (["helper"] if "def helper" in extra else [])
    dunder = f"__all__ = {listed!r}\n\n" if c.chance(25) else ""
    text = f"{extra}\n\n{bodies}" if extra.startswith(("import", "from")) or c.chance(50) else f"{bodies}\n\n{extra}"
    if "from __future__" not in text:
        text = dunder + text
    return {f"{folder}/{module.replace('.', '/')}.py": text}


def _init(c: Chooser, package: str, exports: list[Export], modules: dict[str, list[tuple[str, str, str]]]) -> str:
    rows: list[str] = [
        c.pick(
            [
                "from .light import light",
                "from .light import light  # stays",
                "from . import light as _l\nlight = _l.light",
            ]
        )
    ]
    if rows[0].startswith("from . import"):
        rows = ["from .light import light"]
    lazy: list[tuple[str, str, str]] = []
    by_source: dict[str, list[tuple[str, str]]] = {}
    for export in exports:
        inside = next(i for names in modules.values() for i, outside, _ in names if outside == export.name)
        by_source.setdefault(export.origin[len(package) + 1 :], []).append((inside, export.name))
    for source, names in by_source.items():
        if c.chance(10):
            lazy += [(source, inside, outside) for inside, outside in names]
        else:
            rows += _statement(c, package, source, names)
    rows = c.shuffled(rows)
    exported = ["light", *(export.name for export in exports)]
    tail: list[str] = []
    if lazy:
        tail.append(_lazily(c, package, lazy))
    one = c.pick(exports)
    if c.chance(14) and one.name not in [outside for _, _, outside in lazy]:
        tail.append(f"def use_it():\n    return {one.name}\n")
    if c.chance(2) and one.name not in [outside for _, _, outside in lazy]:
        tail.append(f"SELF = {one.name}\n")
    if c.chance(5):
        tail.append("VERSION = '1'\n")
    head = ['"""The zoo."""', ""] if c.chance(20) else []
    if c.chance(6):
        head.append("from __future__ import annotations")
    if c.chance(10):
        rows.insert(c.below(len(rows) + 1), "# a comment of its own\n")
    names_in_order = c.shuffled(exported)
    listed = _dunder_all(c, package, names_in_order, by_source)
    return "\n".join([*head, *rows, "", *listed, "", *tail]).rstrip("\n") + "\n"


def _statement(c: Chooser, package: str, source: str, names: list[tuple[str, str]]) -> list[str]:
    dots = f".{source}"
    spelled = ", ".join(i if i == o else f"{i} as {o}" for i, o in names)
    rows = "".join(f"    {i if i == o else f'{i} as {o}'},  # {o}\n" for i, o in names)
    last = source.rpartition(".")[2]
    whole, _, _ = source.rpartition(".")
    options = [
        [f"from {dots} import {spelled}"],
        [f"from {package}{dots} import {spelled}"],
        [f"from {dots} import (\n{rows})"],
        [f"from {dots} import {i} as {o}" for i, o in names],
        [f"from {dots} import \\\n    {spelled}"],
        [f"from {dots} import ({spelled})  # noqa"],
        [f"try:\n    from {dots} import {spelled}\nexcept ImportError:\n    pass"],
        [f"if True:\n    from {dots} import {spelled}"],
        [f"from {dots} import {spelled}; X_{last} = 1"],
        ["\n".join([f"from .{whole} import {last} as _m_{last}", *(f"{o} = _m_{last}.{i}" for i, o in names)])],
    ]
    if all(i == o for i, o in names):
        options += [[f"from {dots} import *"], [f"from {dots} import *  # all"]]
        if len(names) > 1:
            first, *rest = names
            options.append([f"from {dots} import {first[0]}", f"from {dots} import {', '.join(i for i, _ in rest)}"])
    if not any(o == last for _, o in names):
        options.append(
            ["\n".join([f"import {package}{dots} as _n_{last}", *(f"{o} = _n_{last}.{i}" for i, o in names)])]
        )
        options.append(
            [f"from {dots} import {spelled}\ndel {source.partition('.')[0]}"]
            if not whole
            else [f"from {dots} import {spelled}"]
        )
    plain = c.below(3)
    return options[0] if plain == 0 else c.pick(options)


def _lazily(c: Chooser, package: str, rows: list[tuple[str, str, str]]) -> str:
    head = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n" + "".join(
        f"    from .{source} import {i if i == o else f'{i} as {o}'}\n" for source, i, o in rows
    )
    if c.chance(40):
        head = ""
    way = c.below(2)
    if way == 0:
        table = "".join(f"    {o!r}: ({'.' + source!r}, {i!r}),\n" for source, i, o in rows)
        return (
            f"{head}\n_LAZY = {{\n{table}}}\n\n\ndef __getattr__(name):\n    if name in _LAZY:\n        import importlib\n\n"
            "        module, attribute = _LAZY[name]\n        return getattr(importlib.import_module(module, __name__), attribute)\n"
            "    raise AttributeError(name)\n"
        )
    branches = "".join(
        f"    if name == {o!r}:\n        from .{source} import {i}\n\n        return {i}\n" for source, i, o in rows
    )
    return f"{head}\n\ndef __getattr__(name):\n{branches}    raise AttributeError(name)\n"


def _dunder_all(c: Chooser, package: str, names: list[str], by_source: dict[str, list[tuple[str, str]]]) -> list[str]:
    quoted = [f'"{name}"' for name in names]
    half = max(1, len(quoted) // 2)
    one, two = quoted[:half], quoted[half:]
    rows = "".join(f"    {each},\n" for each in quoted)
    options = [
        [],
        [f"__all__ = [{', '.join(quoted)}]"],
        [f"__all__ = ({', '.join(quoted)},)"],
        [f"__all__ = [\n{rows}]"],
        [f"__all__ = (\n{rows})"],
        [f"__all__ = [{', '.join(one)}]\n__all__ += [{', '.join(two)}]"],
        [f"__all__ = [{', '.join(one)}]", *(f"__all__.append({each})" for each in two)],
        [f"__all__ = [{', '.join(one)}]\n__all__.extend([{', '.join(two)}])"],
        [f"__all__ = [{', '.join(one)}] + [{', '.join(two)}]"],
        [f"__all__ = sorted([{', '.join(quoted)}])"],
        [f"__all__ = {', '.join(quoted)},"],
        [f"__all__: list[str] = [{', '.join(quoted)}]"],
        [f"__all__ = [*[{', '.join(one)}], {', '.join(two)}]" if two else f"__all__ = [{quoted[0]}]"],
        [f"__all__ = ['light'] + sorted([{', '.join(each for each in quoted if 'light' not in each)}])"],
        ["__all__ = [" + " ".join(f"{each}," for each in quoted) + "  # in a row\n]"],
    ]
    return c.pick(options)
