"""Where an object goes that is handed to a function: the container that keeps it, followed without running anything.

Owns the trace of one call through the bodies that are in the tree, and the list of functions known to keep nothing.
Invariant: it never edits, and `into` names a container outside of the module that hands the object over.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from codemods.engine.model import Symbol
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.callees import DEPTH, STANDARD, STEPS, Callees, top_of
from codemods.narrow_reexport.forms.frames import (
    OBJECT,
    Class,
    Frame,
    Function,
    Instance,
    Outside,
    Shared,
    Space,
    Value,
    place,
)

MUTATORS = frozenset(
    {"append", "appendleft", "add", "setdefault", "update", "insert", "extend", "push"}
    | {"__setitem__", "__setattr__", "__ior__", "__iadd__"}
)
_REGISTERS = re.compile(
    r"regist|connect|subscribe|hook|listen|[hH]andler|^signal$|^finalize$|^addFilter$|^set(trace|prof)|^set\w*Class$|^pickle$"
)
_HARMLESS = re.compile(
    r"(typing|typing_extensions|functools|dataclasses|abc|contextlib|enum|warnings|unittest|pytest|triton|builtins"
    r"|attr|attrs|click|six|overrides)\.(?!.*\bregister\b)"
    r"|(\w+\.)*(jit|njit|cached_property)(\(\))?$|torch\.(jit|compile|compiler|no_grad|inference_mode|enable_grad|_dynamo)\b|(numba|jax)\.(.*\.)?\w*jit\b"
    r"|numba\.(\w+\.)*(vectorize|guvectorize|njit|stencil)\b|jax\.(vmap|grad|custom_vjp|custom_jvp|tree_util\.Partial)\b"
    r"|(numpy|np)\.(vectorize|errstate)\b|(sys\.path|os\.environ)\.|.*\bdeprecat\w*(\(\))?$"
)
_LOOKS = re.compile(r"is_?[a-z]|has_?[a-z]|get_?[a-z]|mark|unwrap|signature|wraps|update_wrapper|getfullargspec")


class Trace(Callees):
    """Follows one object from the call that hands it away to the container that keeps it."""

    def __init__(self, namespaces: Namespaces, top: Frame) -> None:
        super().__init__(namespaces, top)
        self.into: Symbol | None = None
        self.walked: set[Frame | ast.Call] = set()
        self.unseen = False
        self.own = False  # kept by the registering module itself

    def store(self, at: Symbol | None) -> None:
        """Note a container; one that the registering module owns goes with it, so that nothing is lost."""
        if at is not None and at.module == self.top.module.name:
            self.own = True
        elif at is not None:
            self.into = self.into or at

    def subclassed(self, node: ast.ClassDef) -> None:
        """`class C(Base)`: what `Base.__init_subclass__` and the metaclass do with C."""
        cls = Class(self.top.module, node)
        call = ast.Call(ast.Name(OBJECT, ast.Load()), [ast.Name(OBJECT, ast.Load())] * 3, [])
        for hook in self.methods(cls, "__init_subclass__", inherited=True):
            frame = self.enter(replace(hook, bound=cls), ast.Call(call.func, [], []), self.top, hold_first=True)
            self.effects(frame)
        for base in self.lineage(cls):
            for keyword in base.node.keywords:
                if keyword.arg == "metaclass":
                    for meta in self.values(keyword.value, self.outside(base.module)):
                        for name in ("__new__", "__init__") if isinstance(meta, Class) else ():
                            for hook in self.methods(meta, name):  # type: ignore[arg-type]
                                bound = meta if name == "__new__" else cls
                                frame = self.enter(
                                    replace(hook, bound=bound), call, self.top, hold_first=name == "__init__"
                                )
                                self.effects(frame)

    def called(self, call: ast.Call, frame: Frame) -> None:
        """What a call does with the object, where it gets it or closes over it."""
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
        got = frame.mentions(*parts) or (frame is self.top and any(isinstance(part, ast.Lambda) for part in parts))
        for inner in _calls(call.func, *parts) if frame is self.top else ():
            if inner not in self.walked:  # X.add(f).add(g): the inner calls come by theirs, too
                self.walked.add(inner)
                self.called(inner, frame)  # in a body, `effects` comes by them
        got = got or _on_itself(call, frame)
        for value in self.values(call.func, frame):
            if self.into is None and (got or (isinstance(value, Function) and value.frame and value.frame.given)):
                self.apply(value, call, frame)

    def apply(self, value: Value, call: ast.Call, frame: Frame) -> None:
        """Hand the arguments of a call to one thing that it may call."""
        func = call.func
        while isinstance(func, ast.Call):
            func = func.func  # X.register("x")(f)
        name = func.attr if isinstance(func, ast.Attribute) else ""
        if isinstance(value, Function):
            self.effects(self.enter(value, call, frame, hold_first=_on_itself(call, frame)))
        elif isinstance(value, Class):
            makers = [*self.methods(value, "__new__"), *self.methods(value, "__init__")]
            self.unseen |= not makers and self.is_foreign(value)
            for maker in makers:
                bound = value if getattr(maker.node, "name", "") == "__new__" else Instance(value)
                self.effects(self.enter(replace(maker, bound=bound), call, frame))
        elif isinstance(value, Instance):
            # @REGISTRY("x")  or  REGISTRY(sym)
            hooks = self.methods(value.cls, "__call__")
            self.unseen |= not hooks
            for hook in hooks:
                self.effects(self.enter(replace(hook, bound=value), call, frame))
        elif isinstance(value, Shared):
            # X.append(f)                 X.setdefault(k, []).append(f)
            if name in MUTATORS and func is call.func:
                self.store(value.at)
            elif _REGISTERS.search(name) and value.at.module != self.top.module.name:
                self.unseen = True
        elif isinstance(value, Outside):
            # setattr(module, name, f)
            if value.name == "builtins.setattr" and len(call.args) == 3:
                self.assigned(ast.Attribute(call.args[0], "", ast.Store()), call.args[2], frame)
            direct = frame is self.top or any(
                isinstance(part, ast.Name) and frame.holds(part.id)
                for part in (*call.args, *(keyword.value for keyword in call.keywords))
            )
            looks = frame is not self.top and _LOOKS.match(value.name.rpartition(".")[2]) is not None
            self.unseen |= direct and not looks and not is_harmless(value.name)

    def effects(self, frame: Frame) -> None:
        """Walk a body that holds the object, statement by statement."""
        if frame in self.walked or self.into is not None:
            return
        if frame.depth > DEPTH or len(self.entered) > STEPS:
            self.unseen = True
            return
        self.walked.add(frame)  # for good: once is enough
        for statement in self.bodies.get(frame, []):
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                    self.assigned(target, statement.value, frame)
        for statement in self.bodies.get(frame, []):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for decorator in statement.decorator_list if frame.holds(statement.name) else ():
                    self.called(ast.Call(decorator, [ast.Name(statement.name, ast.Load())], []), frame)
                continue
            for call in _calls(*(node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt))):
                self.called(call, frame)

    def assigned(self, target: ast.expr, value: ast.expr | None, frame: Frame) -> None:
        """What an assignment in a body keeps."""
        # X[k] = f                    cls.registry[name] = f
        if isinstance(target, ast.Subscript) and frame.mentions(value, target.slice):
            for each in self.values(target.value, frame):
                self.unseen |= isinstance(each, Outside)
                self.store(place(each))
        # REGISTRY.latest = f         module.latest = f         not: f.name = f.__name__
        elif isinstance(target, ast.Attribute) and frame.mentions(value) and not frame.mentions(target.value):
            for each in self.values(target.value, frame):
                at = Symbol(each.name, target.attr) if isinstance(each, Space) else place(each)
                self.store(Symbol(each.module.name, each.node.name) if isinstance(each, Class) else at)
        # global X; X = f
        elif isinstance(target, ast.Name) and frame.mentions(value) and not frame.is_local(target.id):
            self.store(Symbol(frame.module.name, target.id))


def _on_itself(call: ast.Call, frame: Frame) -> bool:
    """Whether a body calls a method of the object: that one gets it as its first parameter."""
    # def __init_subclass__(cls): cls._register(cls.__name__)
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    return frame.depth > 0 and isinstance(receiver, ast.Name) and frame.holds(receiver.id)


def _calls(*nodes: ast.AST) -> Iterator[ast.Call]:
    """The calls in expressions, without those in a lambda."""
    for node in nodes:
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, ast.Lambda):
            yield from _calls(*ast.iter_child_nodes(node))


def is_harmless(name: str) -> bool:
    """Whether something that is not in the tree is known to keep nothing of what it gets."""
    last = name.rstrip("()").rpartition(".")[2]
    keeps = _REGISTERS.search(last) is not None or last in MUTATORS
    return _HARMLESS.match(name) is not None or (top_of(name) in STANDARD and not keeps)
