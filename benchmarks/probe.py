"""What the modules of a tree are once imported: run by `real_packages.py` with the interpreter that has the dependencies.

Owns the description of a module: how its import ended, what each of its names is bound to, and what the imports and the
attribute paths inside its functions lead to.
Invariant: it knows nothing of codemods and never compares; each `fresh` module is imported first, in a process of its own.
To import `pkg.a.b` is to import `pkg` first, so that one (`top`, if given) is imported once and the processes branch off after it.

    python probe.py  <  {"setup": code, "top": module, "together": [module, ...], "fresh": [module, ...]}
                     >  {"together": ..., "fresh": ...}
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
import types
import warnings
from pathlib import Path

UNTOLD = {
    "__builtins__",
    "__spec__",
    "__loader__",
    "__cached__",
    "__warningregistry__",
    "__file__",
    "__path__",
    "__doc__",
}


def describe(value: object) -> str:
    """The same text for the same object in two processes: its kind, where it is defined, or its plain value."""
    kind = type(value)  # never `isinstance`: a lazy object would load what it stands for
    if issubclass(kind, types.ModuleType):
        return f"module {value.__name__}"  # type: ignore[attr-defined]
    told = f"{kind.__module__}.{kind.__qualname__}"
    try:
        where, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    except Exception:  # noqa: BLE001 - whatever a foreign object raises
        return told
    if isinstance(where, str) and isinstance(name, str):
        return f"{told} {where}.{name}"
    if kind is int and abs(value) >= 1 << 40:  # type: ignore[arg-type]
        return told  # an id(), another one in each process
    if kind in (int, str, float, bytes, bool, type(None)):
        return f"{told} {value!r}"[:300]
    return told


def late(module: types.ModuleType) -> tuple[list[str], list[str]]:
    """What function-level imports and attribute paths through modules lead to, and which of them fail."""
    path = getattr(module, "__file__", None) or ""
    if not path.endswith(".py"):
        return [], []
    tree = ast.parse(Path(path).read_bytes())
    leads: set[str] = set()
    fails: set[str] = set()
    package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]

    def follow(statement: ast.Import | ast.ImportFrom, bound: dict[str, object]) -> None:
        for alias in statement.names:
            try:
                if isinstance(statement, ast.Import):
                    value: object = importlib.import_module(alias.name)
                    top = alias.name.partition(".")[0]
                    bound[alias.asname or top] = value if alias.asname else sys.modules[top]
                elif alias.name != "*":
                    source = importlib.import_module("." * statement.level + (statement.module or ""), package)
                    if not hasattr(source, alias.name):
                        importlib.import_module(f"{source.__name__}.{alias.name}")
                    bound[alias.asname or alias.name] = getattr(source, alias.name)
                    leads.add(f"{alias.name} as {alias.asname or alias.name} = {describe(getattr(source, alias.name))}")
            except BaseException as error:  # noqa: BLE001 - an outcome like any other
                fails.add(f"{alias.name}: {type(error).__name__}")

    def visit(node: ast.AST, bound: dict[str, object], hidden: frozenset[str]) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            bound = dict(bound)
            body = node.body if isinstance(node.body, list) else [node.body]
            inner = [each for statement in body for each in ast.walk(statement)]
            own = {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
            own |= {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            for each in inner:
                if isinstance(each, (ast.Import, ast.ImportFrom)):
                    follow(each, bound)
            for statement in body:
                visit(statement, bound, hidden | own)
        elif isinstance(node, ast.Attribute):
            parts = []
            root: ast.expr = node
            while isinstance(root, ast.Attribute):
                parts.append(root.attr)
                root = root.value
            value = bound.get(root.id) if isinstance(root, ast.Name) and root.id not in hidden else None
            for part in reversed(parts) if isinstance(value, types.ModuleType) else ():
                if not isinstance(value, types.ModuleType):
                    break
                if not hasattr(value, part):
                    fails.add(f"{ast.unparse(node)}: no {part}")
                    break
                value = getattr(value, part)
                if not isinstance(value, types.ModuleType):
                    leads.add(f"{part} = {describe(value)}")
            if not isinstance(root, ast.Name) or not isinstance(value, types.ModuleType):
                visit(root, bound, hidden)
        elif isinstance(node, ast.Name):
            value = bound.get(node.id) if node.id not in hidden else None
            if node.id in bound and not issubclass(type(value), types.ModuleType):
                leads.add(f"{node.id} = {describe(value)}")
        elif not isinstance(node, (ast.Import, ast.ImportFrom)):
            for child in ast.iter_child_nodes(node):
                visit(child, bound, hidden)

    visit(tree, dict(vars(module)), frozenset())
    return sorted(leads), sorted(fails)


def tell(name: str, *, inside: bool) -> dict[str, object]:
    """Import one module and describe it."""
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - an outcome like any other
        return {"outcome": f"{type(error).__name__}: {error}"[:300]}
    names = {key: describe(value) for key, value in list(vars(module).items()) if key not in UNTOLD}
    leads, fails = late(module) if inside else ([], [])
    return {"outcome": "imported", "names": names, "leads": leads, "fails": fails}


def alone(name: str) -> dict[str, object]:
    """The same in a child process, where this module is the first of the tree that is imported."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            json.dump(tell(name, inside=True), pipe)
            pipe.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"outcome": "the process died"}


def main() -> None:
    asked = json.load(sys.stdin)
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0), os.dup2(nowhere, 1), os.dup2(nowhere, 2)  # modules that print, or read, do it there
    warnings.simplefilter("ignore")
    told: dict[str, object] = {}
    if asked["setup"] and not asked.get("late_setup"):
        exec(asked["setup"], {})
    if asked.get("top"):
        tell(asked["top"], inside=False)
    told["fresh"] = {name: alone(name) for name in asked["fresh"]}
    told["together"] = {name: tell(name, inside=False) for name in asked["together"]}
    json.dump(told, answer)
    answer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
