"""What each name of a file is bound to, by Python's own scope rules.

Owns scopes, blocks, bindings and uses, and the lookup of a name.
Invariant: it never guesses by spelling; a name is looked up from the scope in which it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from codemods.engine.model import When
from codemods.engine.source import Source


@dataclass(slots=True, eq=False)
class Scope:
    """A namespace: module, class, function, lambda or comprehension, with all that binds a name in it."""

    kind: str
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)  # names declared `global` or `nonlocal` here

    @property
    def module(self) -> Scope:
        """The scope of the whole file."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable `name` is, read from here; None where nothing in this file binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            declared = scope.outer.get(name)
            if declared == "global":
                return scope.module if name in scope.module.bindings else None
            if declared is None and name in scope.bindings and (first or scope.kind != "class"):
                return scope
            first = False
            scope = scope.parent
        return None

    def home(self, name: str) -> Scope:
        """The scope that a binding of `name` written here lands in."""
        declared = self.outer.get(name)
        if declared == "global":
            return self.module
        if declared == "nonlocal":
            scope = self.parent
            while scope is not None and (scope.kind == "class" or name not in scope.bindings):
                scope = scope.parent
            return scope or self
        return self

    def inside(self) -> Iterator[Scope]:
        """This scope and those around it, from the inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(slots=True, eq=False)
class Block:
    """A suite of statements: the body of the module, of a function, a branch, a handler."""

    statements: list[ast.stmt]
    owner: ast.AST
    parent: Block | None
    scope: Scope
    when: When
    optional: bool = False  # a branch, a loop, a try: may not run, or not to its end


@dataclass(slots=True, eq=False)
class Binding:
    """One thing that binds `name`: an import alias, an assignment, a parameter, a definition, a `del`."""

    name: str
    node: ast.AST
    statement: ast.stmt
    block: Block
    scope: Scope  # where it stands; `Scope.bindings` holds it where it lands
    value: ast.expr | None = None

    @property
    def is_import(self) -> bool:
        """Whether an import statement binds it."""
        return isinstance(self.node, ast.alias)


@dataclass(slots=True, eq=False)
class Use:
    """An expression of interest and where it stands."""

    node: ast.expr
    scope: Scope
    block: Block
    statement: ast.stmt
    fstring: ast.JoinedStr | None  # the outermost f-string around it
    annotation: bool
    pattern: bool  # the value pattern of a `case`
    parent: ast.AST


@dataclass(slots=True, eq=False)
class Syntax:
    """A file's tree with its scopes, and the nodes that references are made of, in source order."""

    source: Source
    tree: ast.Module
    module: Scope
    body: Block
    imports: list[tuple[ast.Import | ast.ImportFrom, Block]] = field(default_factory=list)
    names: list[Use] = field(default_factory=list)
    attributes: list[Use] = field(default_factory=list)
    strings: list[Use] = field(default_factory=list)
    byte_strings: list[Use] = field(default_factory=list)
    calls: list[Use] = field(default_factory=list)
    blocks: dict[ast.stmt, Block] = field(default_factory=dict)
    whole: bool = True  # expressions were walked too


def last_name(node: ast.expr) -> str:
    """The last name of `f` or `a.b.f`, as a callee is spelled; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
