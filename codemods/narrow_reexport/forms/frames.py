"""What a name may stand for when a call is followed without running it: functions, classes, objects, containers.

Owns these nouns, and the frame of a body with the names in it that hold the object that is followed.
Invariant: it never reads a file and decides nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeAlias

from codemods.engine.model import Module, Symbol

OBJECT = "<object>"  # stands for the decorated definition in the call that its decorator makes


@dataclass(slots=True, eq=False)
class Frame:
    """A body that runs: what its names may be (an expression and where to read it, or a value), which hold the object."""

    module: Module
    parent: Frame | None
    names: dict[str, list[tuple[ast.expr, Frame] | Value]] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    owner: Class | None = None  # for `super()`
    bound: Value | None = None
    depth: int = 0

    def holds(self, name: str) -> bool:
        """Whether the name, read here, holds the object or something made from it."""
        if name in self.names or self.parent is None:
            return name in self.given
        return self.parent.holds(name)

    def is_local(self, name: str) -> bool:
        """Whether a body binds the name, this one or one around it."""
        return name in self.names or (self.parent is not None and self.parent.is_local(name))

    def method(self) -> Frame | None:
        """The method that this body is in."""
        return self if self.owner else self.parent.method() if self.parent else None

    def mentions(self, *nodes: ast.AST | None) -> bool:
        return any(isinstance(n, ast.Name) and self.holds(n.id) for node in nodes if node for n in ast.walk(node))


@dataclass(frozen=True, slots=True)
class Function:
    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Frame | None = None  # what it closes over
    owner: Class | None = None
    bound: Value | None = None


@dataclass(frozen=True, slots=True)
class Class:
    module: Module
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Instance:
    cls: Class
    at: Symbol | None = None  # the module-level name that it is reached by
    init: Frame | None = None  # the body of its `__init__`


@dataclass(frozen=True, slots=True)
class Shared:
    """A container, or something unknown, that lives at a module-level name or in a class."""

    at: Symbol


@dataclass(frozen=True, slots=True)
class Outside:
    """Something that is not in the tree, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Space:
    """A module of the tree."""

    name: str


@dataclass(frozen=True, slots=True)
class Super:
    cls: Class
    bound: Value | None


Value: TypeAlias = "Function | Class | Instance | Shared | Outside | Space | Super"
Values: TypeAlias = "tuple[Value, ...]"


def place(value: Value) -> Symbol | None:
    """The module-level name, or name in a class, that reaches a thing."""
    if isinstance(value, Super):
        return place(value.bound) if value.bound is not None else None
    return value.at if isinstance(value, (Shared, Instance)) else None
