"""`lazy_loader.attach` and `attach_stub`: which names the `__getattr__` that they make gives out.

Owns the meaning of the two calls (SPEC 1 of Scientific Python), given the tables in the call or the stub beside the file.
Invariant: it never edits; a call or a stub that says more than such tables raises `Unclear`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codemods.engine.model import Symbol
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms.lazy_values import Unclear

ATTACH = ("package_name", "submodules", "submod_attrs")
ATTACH_STUB = ("package_name", "filename")


@dataclass(slots=True, eq=False)
class Attached:
    """The `__getattr__` that is made: names to modules, and submodules; `stub` says that the `.pyi` drives it."""

    package: str
    submodules: frozenset[str]
    attributes: dict[str, str]
    stub: bool = False


def parameters_of(symbol: Symbol, function: ast.FunctionDef | None) -> tuple[str, ...]:
    """The parameters of `attach` or `attach_stub`, of lazy_loader or of a copy in the tree; empty for anything else."""
    if symbol.module.rpartition(".")[2] == "lazy_loader":
        return {"attach": ATTACH, "attach_stub": ATTACH_STUB}.get(symbol.name, ())
    own = tuple(argument.arg for argument in function.args.args) if function is not None else ()
    known = set(ATTACH[1:]) <= set(own) or (symbol.name == "attach_stub" and "filename" in own)
    return own if known else ()


def attached(node: ast.Call, parameters: tuple[str, ...], value: Callable[[ast.expr], object]) -> Attached:
    """What a call of `attach` makes."""
    # lazy.attach(__name__, submodules=["filters"], submod_attrs={"sub": ["sym", "b"]})
    given = dict(zip(parameters, node.args, strict=False)) | {word.arg or "": word.value for word in node.keywords}
    values = {name: value(part) for name, part in given.items()}
    package = values.pop(parameters[0], None)
    submodules, attributes = values.pop("submodules", None) or (), values.pop("submod_attrs", None) or {}
    if not isinstance(package, str) or values:
        raise Unclear(f"{ast.unparse(node.func)}() is called in a way that is not followed", node.lineno)
    if not isinstance(submodules, (list, tuple, set)) or not isinstance(attributes, dict):
        raise Unclear(f"{ast.unparse(node.func)}() gets no literal tables", node.lineno)
    found = {str(name): str(module) for module, listed in attributes.items() for name in listed}
    return Attached(package, frozenset(str(name) for name in submodules), found)


def stubbed(node: ast.Call, package: str, stub: Syntax | None) -> Attached:
    """What a call of `attach_stub` makes of the stub beside the file."""
    # __getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
    if [ast.unparse(part) for part in node.args] != ["__name__", "__file__"] or node.keywords:
        raise Unclear(f"{ast.unparse(node.func)}() is called in a way that is not followed", node.lineno)
    if stub is None:
        raise Unclear("the stub that decides what is exported cannot be read", node.lineno)
    submodules: set[str] = set()
    attributes: dict[str, str] = {}
    for statement, _ in stub.imports:
        if not isinstance(statement, ast.ImportFrom):
            continue
        names = [alias.name for alias in statement.names]
        if statement.level != 1 or "*" in names:
            raise Unclear(f"the stub has an import that is not followed (its line {statement.lineno})", node.lineno)
        if statement.module:
            attributes.update(dict.fromkeys(names, statement.module))
        else:
            submodules.update(names)
    return Attached(package, frozenset(submodules), attributes, stub=True)
