"""`import_cost` against brute force and against the interpreter, on real packages.

Owns two comparisons. For each import of each `__init__` of networkx and django, what `costs` says is compared with
a recount on the edited bytes: the import is replaced by a plain binding, each call site gets an import of its own, and the
closure is counted again. For ten modules the static closure is compared with `sys.modules` after a real import in a fresh
interpreter: how much of what is loaded was foreseen (recall), and how much of what was foreseen is loaded (precision).
Invariant: the trees are read and imported, never changed; it exits 1 where brute force disagrees or recall of eager modules is below 0.98.

    python benchmarks/import_cost_truth.py [--cache .cache/real] [--python PATH] [--only brute|truth]

`--cache` holds `PACKAGE/` and `PACKAGE-needs/` as `make real-packages` leaves them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from codemods.engine.graph import ImportGraph
from codemods.engine.outline import FromImports
from codemods.import_cost.blame import costs
from codemods.import_cost.loads import Loads
from codemods.import_cost.tree import open_tree

BRUTE = ("networkx", "django")
TRUTH = {
    "sympy": ("sympy.core.basic", "sympy.polys.polytools", "sympy.physics.units", "sympy.stats"),
    "networkx": ("networkx.utils.misc", "networkx.algorithms.flow", "networkx.drawing.nx_pylab"),
    "django": ("django.db.models", "django.http", "django.core.mail"),
}
ENOUGH = 0.98


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--cache", type=Path, default=Path(__file__).resolve().parent.parent / ".cache" / "real")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that imports the packages")
    parser.add_argument("--only", choices=["brute", "truth"])
    options = parser.parse_args()
    wrong = 0
    if options.only != "truth":
        for package in BRUTE:
            wrong += brute_force(options.cache / package, package)
    if options.only != "brute":
        wrong += truth(options.cache, options.python)
    return 1 if wrong else 0


# --- brute force ---


def brute_force(root: Path, package: str) -> int:
    loads = open_tree(root, package, cached=False).loads
    graph = loads.graph
    names = sorted(each.removesuffix("/__init__.py").replace("/", ".") for each in inits(root, package))
    checked = wrong = 0
    for name in names:
        for cost in costs(loads, name):
            recounted = graph.closure(name) - edited(loads, root, name, cost.taken.origin).closure(name)
            checked += 1
            if recounted != cost.saved:
                wrong += 1
                odd = sorted(recounted ^ cost.saved)[:5]
                print(
                    f"{name} without {cost.taken.origin}: {len(cost.saved)} by costs, {len(recounted)} recounted: {odd}"
                )
    print(f"{package}: {checked} imports of {len(names)} `__init__` files recounted, {wrong} different")
    return wrong


def inits(root: Path, package: str) -> Iterator[str]:
    for path in sorted((root / package).rglob("__init__.py")):
        yield path.relative_to(root).as_posix()


def edited(loads: Loads, root: Path, package: str, origin: str) -> ImportGraph:
    """The graph of the same tree with no import from `origin` in the `__init__`, and one in each call site of its names."""
    located = loads.graph.module(package)
    assert located is not None
    before = (root / located.path).read_bytes()
    after, bound = without(before, package, origin, loads.graph)
    files = {located.path: after}
    for module in loads.closure(package):
        other = loads.graph.module(module)
        if other is None or not other.path or module == package:
            continue
        for event in loads.graph.outline(module).events:
            if not isinstance(event, FromImports) or event.module != package:
                continue
            taken = {name for name, _ in event.names}
            star = "*" in taken and any(not name.startswith("_") for name in bound)  # it takes what has no underscore
            if star or bound & taken:
                text = (root / other.path).read_bytes()
                files[other.path] = text + b"\nfrom %s import _nothing\n" % origin.encode()
    return loads.graph.edited(files)


def without(data: bytes, package: str, origin: str, graph: ImportGraph) -> tuple[bytes, set[str]]:
    """The text with the imports from `origin` made plain bindings, and the names that it took."""
    bound: set[str] = set()
    cuts: list[tuple[int, int, bytes]] = []
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in ast.walk(ast.parse(data)):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        kept, plain = [], []
        for alias in node.names:
            source, name = source_of(node, alias, package, graph)
            if source == origin:
                names = set(graph.ever_bound(origin)) if alias.name == "*" else {name}
                bound |= names
                plain += sorted(names) if alias.name != "*" else []
            else:
                kept.append(ast.unparse(alias))
        if len(kept) == len(node.names):
            continue
        parts = [f"{each} = None" for each in plain] or ["pass"]
        if kept and isinstance(node, ast.Import):
            parts.append(f"import {', '.join(kept)}")
        elif kept and isinstance(node, ast.ImportFrom):
            parts.append(f"from {'.' * node.level}{node.module or ''} import {', '.join(kept)}")
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        cuts.append((start, end, "; ".join(parts).encode()))
    for start, end, text in sorted(cuts, reverse=True):
        data = data[:start] + text + data[end:]
    return data, bound


def source_of(node: ast.Import | ast.ImportFrom, alias: ast.alias, package: str, graph: ImportGraph) -> tuple[str, str]:
    if isinstance(node, ast.Import):
        return alias.name, alias.asname or alias.name.partition(".")[0]
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
    module = ".".join(part for part in (base, node.module or "") if part)
    below = f"{module}.{alias.name}"
    loaded = any(edge.imported == below for edge in graph.edges(package))
    return (below if loaded and graph.module(below) else module), alias.asname or alias.name


# --- the interpreter ---

# Says for each module whether it was first loaded by a statement that runs as a module is imported, or by an import in
# a function that something calls meanwhile, and by which.
PROBE = """
import builtins, importlib, json, sys
plain, late, first = builtins.__import__, [], {}
def note():
    for name in sys.modules.keys() - first.keys():
        first[name] = late[-1] if late else ""
def counted(name, globals=None, locals=None, fromlist=(), level=0):
    frame = sys._getframe(1)
    note()
    inside = frame.f_code.co_flags & 2  # a function has fast locals, a module and a class body have not
    if inside:
        late.append("%s:%s" % (frame.f_globals.get("__name__"), frame.f_code.co_name))
    try:
        return plain(name, globals, locals, fromlist, level)
    finally:
        note()
        if inside:
            late.pop()
note()
builtins.__import__ = counted
importlib.import_module(sys.argv[1])
builtins.__import__ = plain
note()
print(json.dumps(first))
"""


def truth(cache: Path, python: str) -> int:
    print("| module | loaded | of these eager | foreseen | precision | recall | recall, eager | causes |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    low = 0
    for package, modules in TRUTH.items():
        loads = open_tree(cache / package, package, cached=False).loads
        for module in modules:
            foreseen = {name for name in loads.closure(module) if loads.in_tree(name)}
            real = {name: by for name, by in imported(cache, package, module, python).items() if loads.in_tree(name)}
            # what a function loads first is eager all the same if a statement would have loaded it a moment later
            eager = {name for name, by in real.items() if not by or name in foreseen}
            recall = len(foreseen & real.keys()) / len(real)
            of_eager = len(foreseen & eager) / len(eager)
            precision = len(foreseen & real.keys()) / len(foreseen)
            low += of_eager < ENOUGH
            counts = (f"{len(real)}", f"{len(eager)}", f"{len(foreseen)}")
            rates = (f"{precision:.3f}", f"{recall:.3f}", f"{of_eager:.3f}")
            said = "; ".join(causes(real, foreseen))
            print(f"| {' | '.join((f'`{module}`', *counts, *rates, said))} |")
    return low


def causes(real: Mapping[str, str], foreseen: set[str]) -> Iterator[str]:
    """Why the two differ, the most frequent cause first."""
    by: dict[str, list[str]] = {}
    for name in real.keys() - foreseen:
        by.setdefault(real[name], []).append(name)
    for cause, names in sorted(by.items(), key=lambda item: -len(item[1])):
        why = f"an import in `{cause}`, which runs meanwhile" if cause else "a statement that was not seen"
        yield f"not foreseen: {listed(set(names))} ({why})"
    if extra := foreseen - real.keys():
        yield f"not loaded: {listed(extra)}"


def imported(cache: Path, package: str, module: str, python: str) -> dict[str, str]:
    """The modules that are loaded, each with the function whose import loaded it first; empty for an eager statement."""
    path = os.pathsep.join(str(cache / each) for each in (package, f"{package}-needs"))
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, "-c", PROBE, module], env=environment, cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"import {module} failed: {done.stderr.strip().splitlines()[-1]}")
    return {str(name): str(by) for name, by in json.loads(done.stdout.splitlines()[-1]).items()}


def listed(names: set[str]) -> str:
    shown = [f"`{name}`" for name in sorted(names)[:4]]
    return ", ".join(shown) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


if __name__ == "__main__":
    sys.exit(main())
