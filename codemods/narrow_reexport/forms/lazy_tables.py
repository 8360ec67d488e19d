"""Tables that lazy exports may be given out by, where what becomes of them cannot be followed.

Owns the question whether a table that a module's `__getattr__` or lazy module can reach names a package and a symbol.
Invariant: it evaluates nothing; a table that the lazy export cannot reach, or from which nothing could be loaded, never counts.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Set

from codemods.engine.model import Module, Symbol
from codemods.engine.namespace import module_statements
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms.lazy_getattr import getattr_bindings

_LOADING = ("importlib", "pkgutil", "runpy")  # what of the standard library may load a module that is named to it


def entry_for(syntax: Syntax, module: Module, symbol: Symbol) -> ast.expr | None:
    """The entry that names the package of the symbol, and the symbol under it or as its key; None without one."""
    reached = _reached(syntax)
    entries = entries_in(reached, module, symbol.module, frozenset({symbol.name})) if _may_load(reached, syntax) else ()
    return next((entry for _, entry, _ in entries), None)


def entries_in(
    statements: Iterable[ast.stmt], module: Module, package: str, names: frozenset[str]
) -> Iterator[tuple[ast.stmt, ast.expr, str]]:
    """Such entries for some names of a package among some statements, whoever may reach them: each with its statement and name."""
    for statement in statements:
        for key, value in _entries(statement):
            texts = [part for part in ast.walk(value) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            if package in _modules(key, module):
                # {"pkg": ["light", "sym"]}        {"pkg": "light sym".split()}
                for part in texts:
                    listed = names.intersection(str(part.value).replace(",", " ").split())
                    yield from ((statement, part, name) for name in sorted(listed))
            elif key.value in names and any(package in _modules(part, module, str(key.value)) for part in texts):
                yield statement, key, str(key.value)


def gives_out(syntax: Syntax, names: Set[str]) -> bool:
    """Whether a lazy export of a module can reach one of these names, and something may be loaded by it."""
    reached = _reached(syntax)
    used = {node.id for statement in reached for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return not used.isdisjoint(names) and _may_load(reached, syntax)


def _reached(syntax: Syntax) -> list[ast.stmt]:
    """The statements that what answers for a missing name depends on, in source order."""
    every = module_statements(syntax.tree.body)
    reached = {binding.statement for binding in getattr_bindings(syntax)}
    # sys.modules[__name__] = LazyModule(...)
    reached |= {each for each in every if isinstance(each, ast.Assign) and _takes_place(each)}
    names: set[str] = set()
    size = -1
    while size != len(reached):
        size = len(reached)
        names |= {node.id for each in reached for node in ast.walk(each) if isinstance(node, ast.Name)}
        reached |= {each for each in every if not names.isdisjoint(changed_names(each))}
    return [each for each in every if each in reached]


def _takes_place(statement: ast.Assign) -> bool:
    return any(ast.unparse(target) == "sys.modules[__name__]" for target in statement.targets)


def changed_names(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, or whose objects it may change."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    parts: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        parts += statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For)):
        parts.append(statement.target)
    elif isinstance(statement, ast.Expr):
        # found.update(_structure)        fill(found)
        parts.append(statement.value)
    return {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}


def _may_load(reached: list[ast.stmt], syntax: Syntax) -> bool:
    for node in (node for statement in reached for node in ast.walk(statement)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return True
        if isinstance(node, ast.Call):
            root = node.func
            while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
                root = root.func if isinstance(root, ast.Call) else root.value
            if isinstance(root, ast.Name) and (root.id == "__import__" or _is_foreign(root.id, syntax)):
                return True
    return False


def _is_foreign(name: str, syntax: Syntax) -> bool:
    """Whether a name is imported from where something may load modules: not from the rest of the standard library."""
    for binding in syntax.module.bindings.get(name, ()):
        if not binding.is_import:
            continue
        statement = binding.statement
        if isinstance(statement, ast.ImportFrom):
            source = "." if statement.level else statement.module or ""
        else:
            assert isinstance(binding.node, ast.alias)
            source = binding.node.name
        top = source.partition(".")[0]
        if top in _LOADING or top not in sys.stdlib_module_names:
            return True
    return False


def _entries(statement: ast.stmt) -> Iterator[tuple[ast.Constant, ast.expr]]:
    for node in ast.walk(statement):
        pairs: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(node, ast.Dict):
            # {"pkg": ["sym"]}        {"sym": ".pkg"}
            pairs += zip(node.keys, node.values, strict=True)
        elif isinstance(node, ast.Tuple) and 2 <= len(node.elts) <= 3:
            # [("sym", "pkg")]        (("pkg", ["sym"]),)
            pairs.append((node.elts[0], ast.Tuple(node.elts[1:], ast.Load())))
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            # table["pkg"] = ["sym"]        table["pkg"] += ["sym"]
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            pairs += [(target.slice, node.value) for target in targets if isinstance(target, ast.Subscript)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # table["pkg"].extend(["sym"])        table.setdefault("pkg", []).append("sym")
            base = node.func.value
            keys = [base.slice] if isinstance(base, ast.Subscript) else []
            keys += base.args[:1] if isinstance(base, ast.Call) else []
            pairs += [(key, argument) for key in keys for argument in node.args]
        for key, value in pairs:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key, value


def _modules(text: ast.Constant, module: Module, name: str = "") -> tuple[str, str]:
    """The modules that a text may mean to another one, by itself and below that one; with a name at its end taken off."""
    # "outer.pkg"        ".pkg"        "pkg"        "pkg:sym"        "pkg.sym"
    spelled = str(text.value).removesuffix(f":{name}").removesuffix(f".{name}") if name else str(text.value)
    return spelled, module.absolute(spelled if spelled.startswith(".") else f".{spelled}")
