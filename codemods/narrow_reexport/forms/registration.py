"""`@register def sym`, `REGISTRY.add(Sym)`: an origin that hands its objects away as it is imported.

Owns the question which registrations a module makes, and whether the callee keeps what it gets. It follows the object
through the bodies that are in the tree, without running them: parameters, closures, methods, a few calls deep.
Invariant: it never edits and never raises, and `stores=True` names a container outside of the module that registers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from codemods.engine.model import Module, Site, Symbol, When
from codemods.engine.namespace import Namespaces
from codemods.engine.scopes import Syntax
from codemods.engine.walk import is_type_checking

_MUTATORS = frozenset(
    "append appendleft add setdefault update insert extend push __setitem__ __setattr__ __ior__ __iadd__".split()
)
_REGISTERS = re.compile(
    r"regist|connect|subscribe|hook|listen|[hH]andler|^signal$|^finalize$|^addFilter$|^set(trace|prof)"
)
_HARMLESS = re.compile(
    r"(typing|typing_extensions|functools|dataclasses|abc|contextlib|enum|warnings|unittest|pytest|triton|builtins"
    r"|attr|attrs|click|six|overrides)\.(?!.*\bregister\b)"
    r"|torch\.(jit|compile|compiler|no_grad|inference_mode|enable_grad|_dynamo)\b|(numba|jax)\.(.*\.)?\w*jit\b"
    r"|numba\.(\w+\.)*(vectorize|guvectorize|njit|stencil)\b|jax\.(vmap|grad|custom_vjp|custom_jvp|tree_util\.Partial)\b"
    r"|(numpy|np)\.(vectorize|errstate)\b|(sys\.path|os\.environ)\.|.*\bdeprecat\w*(\(\))?$"
)
_DEPTH, _STEPS = 12, 400
_OBJECT = "<object>"  # stands for the decorated definition in the call that its decorator makes


@dataclass(frozen=True, slots=True)
class Registration:
    """A site that hands an object to `callee`; `stores` is None where the body cannot be seen; `into` what keeps it."""

    site: Site
    callee: str
    stores: bool | None
    into: Symbol | None = None


def registrations(module: Module, namespaces: Namespaces) -> tuple[Registration, ...]:
    """What the module registers as it is imported, in source order. Callees that are seen to keep nothing are left out."""
    syntax = namespaces.syntax(module)
    if syntax is None:
        return ()
    top = _Frame(module, None, given=_objects(syntax) | {_OBJECT})
    known: dict[str, tuple[bool | None, Symbol | None]] = {}
    found = []
    for node, call, in_class in _handed(syntax.tree.body, top):
        key = ast.dump(call) if isinstance(call, ast.Call) else ast.dump(ast.Tuple([*call.bases, *call.keywords]))  # type: ignore[list-item]
        if key not in known:
            known[key] = _verdict(call, top, namespaces)
        stores, into = known[key]
        if stores or (stores is None and not in_class and isinstance(call, ast.Call)):
            found.append(Registration(syntax.source.site_of(node), _spelled(call), stores, into))
    return tuple(found)


def _verdict(handed: ast.Call | ast.ClassDef, top: _Frame, namespaces: Namespaces) -> tuple[bool | None, Symbol | None]:
    trace = _Trace(namespaces, top)
    try:
        if isinstance(handed, ast.Call):
            trace.called(handed, top)
        else:
            trace.subclassed(handed)
    except RecursionError:
        trace.unseen = True
    return (True, trace.into) if trace.into else (None if trace.unseen else False, None)


def _handed(
    body: list[ast.stmt], top: _Frame, in_class: bool = False
) -> Iterator[tuple[ast.expr | ast.stmt, ast.Call | ast.ClassDef, bool]]:
    """What runs at import and hands something away: the node to name, the call (or the class statement), in a class."""
    for statement in _running(body):
        # @register                       @REGISTRY.register("x")
        # def sym(): ...                  class C: ...
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in statement.decorator_list:
                yield decorator, ast.Call(decorator, [ast.Name(_OBJECT, ast.Load())], []), in_class
        # class C(Base): ...              where Base has an `__init_subclass__`, or a metaclass
        if isinstance(statement, ast.ClassDef):
            if statement.bases or statement.keywords:
                yield statement, statement, in_class
            yield from _handed(statement.body, top, True)
        # register(sym)                   REG.add(C)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            parts = [*call.args, *(keyword.value for keyword in call.keywords)]
            if any(isinstance(n, ast.Lambda) or _names(n, top.given) for part in parts for n in ast.walk(part)):
                yield statement, call, in_class


def _running(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that an import runs: no `if TYPE_CHECKING:`, no `if __name__ == "__main__":`, no function body."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        skipped = isinstance(statement, ast.If) and (is_type_checking(statement.test) or _is_main(statement.test))
        for suite in ("orelse", "finalbody") if skipped else ("body", "orelse", "finalbody"):
            yield from _running(getattr(statement, suite, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _running(part.body)


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _objects(syntax: Syntax) -> set[str]:
    """Module-level names of objects made here: definitions, and what an assignment or a loop makes from a call or them."""
    made: set[str] = set()
    for _ in range(3):
        for name, bindings in syntax.module.bindings.items():
            for binding in bindings:
                value = binding.value or getattr(binding.statement, "iter", None)
                if binding.is_import or binding.block.when is When.TYPING:
                    continue
                if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or (
                    value is not None
                    and any(isinstance(n, (ast.Call, ast.Lambda)) or _names(n, made) for n in ast.walk(value))
                ):
                    made.add(name)
    return made - {"__all__"}


def _names(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _spelled(handed: ast.Call | ast.ClassDef) -> str:
    if isinstance(handed, ast.ClassDef):
        parts = [*handed.bases, *(keyword.value for keyword in handed.keywords if keyword.arg == "metaclass")]
        return ", ".join(ast.unparse(part) for part in parts)
    node: ast.expr = handed.func
    while isinstance(node, ast.Call):
        node = node.func
    return ast.unparse(node)


@dataclass(slots=True, eq=False)
class _Frame:
    """A body that runs: what its names may be (an expression and where to read it, or a value), which hold the object."""

    module: Module
    parent: _Frame | None
    names: dict[str, list[tuple[ast.expr, _Frame] | _Value]] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    owner: _Class | None = None  # for `super()`
    bound: _Value | None = None
    depth: int = 0

    def holds(self, name: str) -> bool:
        """Whether the name, read here, holds the object or something made from it."""
        if name in self.names or self.parent is None:
            return name in self.given
        return self.parent.holds(name)

    def mentions(self, *nodes: ast.AST | None) -> bool:
        return any(isinstance(n, ast.Name) and self.holds(n.id) for node in nodes if node for n in ast.walk(node))


@dataclass(frozen=True, slots=True, eq=False)
class _Function:
    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: _Frame | None = None  # what it closes over
    owner: _Class | None = None
    bound: _Value | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Class:
    module: Module
    node: ast.ClassDef


@dataclass(frozen=True, slots=True, eq=False)
class _Instance:
    cls: _Class
    at: Symbol | None = None  # the module-level name that it is reached by


@dataclass(frozen=True, slots=True)
class _Shared:
    """A container, or something unknown, that lives at a module-level name or in a class."""

    at: Symbol


@dataclass(frozen=True, slots=True)
class _Outside:
    """Something that is not in the tree, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class _Space:
    """A module of the tree."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class _Super:
    cls: _Class
    bound: _Value | None


_Value: TypeAlias = "_Function | _Class | _Instance | _Shared | _Outside | _Space | _Super"
_Values: TypeAlias = "tuple[_Value, ...]"


class _Trace:
    """Follows one object from the call that hands it away to the container that keeps it."""

    def __init__(self, namespaces: Namespaces, top: _Frame) -> None:
        self.namespaces = namespaces
        self.top = top
        self.into: Symbol | None = None
        self.unseen = False
        self.entered: dict[tuple[ast.AST, _Frame, ast.AST], _Frame] = {}
        self.active: set[object] = set()

    def store(self, at: Symbol | None) -> None:
        """Note a container; one that the registering module owns goes with it, so that nothing is lost."""
        if at is not None and at.module != self.top.module.name:
            self.into = self.into or at

    def subclassed(self, node: ast.ClassDef) -> None:
        """`class C(Base)`: what `Base.__init_subclass__` and the metaclass do with C."""
        cls = _Class(self.top.module, node)
        call = ast.Call(ast.Name(_OBJECT, ast.Load()), [ast.Name(_OBJECT, ast.Load())] * 3, [])
        for hook in self.methods(cls, "__init_subclass__", inherited=True):
            frame = self.enter(replace(hook, bound=cls), ast.Call(call.func, [], []), self.top, hold_first=True)
            self.effects(frame)
        for base in self.lineage(cls):
            for keyword in base.node.keywords:
                if keyword.arg == "metaclass":
                    for meta in self.values(keyword.value, _Frame(base.module, None)):
                        for name in ("__new__", "__init__") if isinstance(meta, _Class) else ():
                            for hook in self.methods(meta, name):  # type: ignore[arg-type]
                                bound = meta if name == "__new__" else cls
                                frame = self.enter(
                                    replace(hook, bound=bound), call, self.top, hold_first=name == "__init__"
                                )
                                self.effects(frame)

    def called(self, call: ast.Call, frame: _Frame) -> None:
        """What a call does with the object, where it gets it or closes over it."""
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
        got = frame.mentions(*parts) or (frame is self.top and any(isinstance(part, ast.Lambda) for part in parts))
        for inner in _calls(call.func, *parts) if frame is self.top else ():
            self.called(inner, frame)  # in a body, `effects` comes by them
        for value in self.values(call.func, frame):
            if self.into is None and (got or (isinstance(value, _Function) and value.frame and value.frame.given)):
                self.apply(value, call, frame)

    def apply(self, value: _Value, call: ast.Call, frame: _Frame) -> None:
        """Hand the arguments of a call to one thing that it may call."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if isinstance(value, _Function):
            self.effects(self.enter(value, call, frame))
        elif isinstance(value, _Class):
            makers = [*self.methods(value, "__new__"), *self.methods(value, "__init__")]
            self.unseen |= not makers and self.is_foreign(value)
            for maker in makers:
                bound = value if _named(maker.node) == "__new__" else _Instance(value)
                self.effects(self.enter(replace(maker, bound=bound), call, frame))
        elif isinstance(value, _Instance):
            # @REGISTRY("x")  or  REGISTRY(sym)
            hooks = self.methods(value.cls, "__call__")
            self.unseen |= not hooks
            for hook in hooks:
                self.effects(self.enter(replace(hook, bound=value), call, frame))
        elif isinstance(value, _Shared):
            # X.append(f)                 X.setdefault(k, []).append(f)
            if name in _MUTATORS:
                self.store(value.at)
            elif _REGISTERS.search(name) and value.at.module != self.top.module.name:
                self.unseen = True
        elif isinstance(value, _Outside):
            # setattr(module, name, f)
            if value.name == "builtins.setattr" and len(call.args) == 3:
                self.assigned(ast.Attribute(call.args[0], "", ast.Store()), call.args[2], frame)
            direct = frame is self.top or any(
                isinstance(part, ast.Name) and frame.holds(part.id)
                for part in (*call.args, *(keyword.value for keyword in call.keywords))
            )
            self.unseen |= direct and not _is_harmless(value.name)

    def effects(self, frame: _Frame) -> None:
        """Walk a body that holds the object, statement by statement."""
        if ("effects", frame) in self.active or self.into is not None:
            return
        if frame.depth > _DEPTH or len(self.entered) > _STEPS:
            self.unseen = True
            return
        self.active.add(("effects", frame))  # for good: once is enough
        for statement in self.bodies.get(frame, []):
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                    self.assigned(target, statement.value, frame)
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for decorator in statement.decorator_list if frame.holds(statement.name) else ():
                    self.called(ast.Call(decorator, [ast.Name(statement.name, ast.Load())], []), frame)
                continue
            for call in _calls(*(node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt))):
                self.called(call, frame)
