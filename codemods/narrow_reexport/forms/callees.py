"""What a callee is: the function, the class or the object that an expression of a module leads to.

Owns the reading of bodies that are in the tree: parameters, closures, methods, what a call gives back, a few calls deep.
Invariant: it runs nothing and keeps no verdict; what it cannot follow is an `Outside`, a `Shared`, or nothing.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codemods.engine.model import Module, Symbol
from codemods.engine.namespace import Namespaces, module_statements
from codemods.engine.once import Once
from codemods.engine.scopes import Binding
from codemods.narrow_reexport.forms.frames import (
    OBJECT,
    Class,
    Frame,
    Function,
    Instance,
    Outside,
    Shared,
    Space,
    Super,
    Value,
    Values,
    place,
)

DEPTH, STEPS = 10, 200
_OUTSIDE = 20
STANDARD = sys.stdlib_module_names | {"builtins"}


class Callees:
    """Finds out what expressions may be: by names, attributes, calls and what they give back."""

    def __init__(self, namespaces: Namespaces, top: Frame) -> None:
        self.namespaces = namespaces
        self.top = top
        self.entered: dict[tuple[ast.AST, Frame, ast.AST], Frame] = {}
        self.bodies: dict[Frame, list[ast.stmt]] = {}
        self.once = Once[Value]()
        self.empty: dict[object, Frame] = {}

    def enter(self, function: Function, call: ast.Call, frame: Frame, hold_first: bool = False) -> Frame:
        """The body of a function as one call runs it."""
        key = (call, frame, function.node)
        if key in self.entered:
            return self.entered[key]
        made = Frame(function.module, function.frame, owner=function.owner, bound=function.bound, depth=frame.depth + 1)
        self.entered[key] = made
        node, around = function.node, function.frame or self.outside(function.module)
        params = [*node.args.posonlyargs, *node.args.args]
        defaults: dict[str, ast.expr] = {
            p.arg: d for p, d in zip(reversed(params), reversed(node.args.defaults), strict=False)
        }
        defaults |= {p.arg: d for p, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d}
        first = params.pop(0).arg if function.bound is not None and params else ""
        free = [*(p.arg for p in params)]
        names = {*free, *(p.arg for p in node.args.kwonlyargs)}
        for at, argument in enumerate(call.args):
            rest = free[at:] if isinstance(argument, ast.Starred) else free[at : at + 1]
            rest = rest or ([node.args.vararg.arg] if node.args.vararg else [])
            self.pass_on(made, rest, argument, frame)
        for keyword in call.keywords:
            rest = [keyword.arg] if keyword.arg in names else [node.args.kwarg.arg] if node.args.kwarg else []
            self.pass_on(made, rest if keyword.arg else [*names, *rest], keyword.value, frame)
        for name, default in defaults.items():
            made.names.setdefault(name, [(default, around)])
        if first and function.bound is not None:
            made.names[first] = [function.bound]
            made.given |= {first} if hold_first else set()
        for name in (*names, *(p.arg for p in (node.args.vararg, node.args.kwarg) if p)):
            made.names.setdefault(name, [])
        if isinstance(node, ast.Lambda):
            self.bodies[made] = [ast.Return(node.body)]
        elif made.depth <= DEPTH and len(self.entered) <= STEPS:
            self.bodies[made] = module_statements(node.body)
            self.settle_locals(
                made, node, "" if isinstance(function.bound, Instance) and not function.bound.at else first
            )
        return made

    def pass_on(self, made: Frame, names: list[str], argument: ast.expr, frame: Frame) -> None:
        """Bind parameters to an argument."""
        for name in names:
            made.names.setdefault(name, []).append((argument, frame))
            if frame.mentions(argument) or (frame is self.top and isinstance(argument, ast.Lambda)):
                made.given.add(name)

    def settle_locals(self, made: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef, shared: str) -> None:
        """The names that a body binds, and which of them hold something made from the object."""
        syntax = self.namespaces.syntax(made.module)
        block = syntax.blocks.get(node.body[0]) if syntax else None
        sources: list[tuple[str, list[ast.AST], set[str]]] = []
        for name, bindings in block.scope.bindings.items() if block else ():
            made.names.setdefault(name, [])
            for binding in bindings:
                inner, value = binding.node, binding.value or getattr(binding.statement, "iter", None)
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    made.names[name].append(Function(made.module, inner, made))
                    sources.append(
                        (name, [*inner.body], {n.arg for n in ast.walk(inner.args) if isinstance(n, ast.arg)})
                    )
                elif isinstance(inner, ast.ClassDef):
                    made.names[name].append(Class(made.module, inner))
                    sources.append((name, [inner], set()))
                elif binding.is_import:
                    made.names[name] += self.imported(made.module, binding)
                elif value is not None and not isinstance(inner, ast.arg):
                    made.names[name].append((value, made))
                    sources.append((name, [value], set()))
        for statement in self.bodies[made]:
            # self.func = f        where `self` is new: it holds the object from here on
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    root = target.value if isinstance(target, ast.Attribute) else None
                    if isinstance(root, ast.Name) and root.id in made.names and root.id != shared:
                        sources.append((root.id, [statement.value], set()))
        for _ in range(3):
            for name, nodes, hidden in sources:
                if any(
                    isinstance(n, ast.Name) and n.id not in hidden and made.holds(n.id)
                    for inside in nodes
                    for n in ast.walk(inside)
                ):
                    made.given.add(name)

    def values(self, node: ast.expr, frame: Frame) -> Values:
        """What an expression may be; nothing where it is a plain value, or unknown."""
        if frame.depth > DEPTH or len(self.entered) > STEPS:
            return ()
        return self.once((node, frame), lambda: _few(self.found(node, frame)))

    def found(self, node: ast.expr, frame: Frame) -> Iterable[Value]:
        if isinstance(node, ast.Name):
            return self.named(node.id, frame)
        if isinstance(node, ast.Attribute):
            return [v for base in self.values(node.value, frame) for v in self.attribute(base, node.attr)]
        if isinstance(node, ast.Call):
            return self.results(node, frame)
        if isinstance(node, ast.Lambda):
            return (Function(frame.module, node, frame),)
        if isinstance(node, ast.Subscript):
            inside = self.values(node.value, frame)
            shared = [Shared(at) for v in inside if (at := place(v)) is not None]
            return (*(v for v in inside if isinstance(v, Class)), *shared)
        parts = (
            [node.body, node.orelse]
            if isinstance(node, ast.IfExp)
            else node.values
            if isinstance(node, ast.BoolOp)
            else [node.value]
            if isinstance(node, (ast.NamedExpr, ast.Starred))
            else []
        )
        return [v for part in parts for v in self.values(part, frame)]

    def outside(self, module: Module) -> Frame:
        """The frame around all bodies of a module."""
        return self.empty.setdefault(module, Frame(module, None))

    def named(self, name: str, frame: Frame) -> Values:
        around: Frame | None = frame
        while around is not None and name not in around.names:
            around = around.parent
        if around is None:
            return () if name == OBJECT else self.module_level(Symbol(frame.module.name, name))
        found: list[Value] = []
        for source in around.names[name]:
            found += self.values(*source) if isinstance(source, tuple) else (source,)
        return tuple(found)

    def results(self, call: ast.Call, frame: Frame) -> Values:
        """What a call gives back."""
        spelled = call.func.id if isinstance(call.func, ast.Name) else ""
        if spelled == "super" and (method := frame.method()):
            return (Super(method.owner, method.bound),) if method.owner else ()
        if spelled == "type" and len(call.args) == 1:
            return tuple(v.cls for v in self.values(call.args[0], frame) if isinstance(v, Instance))
        found: list[Value] = []
        for value in self.values(call.func, frame):
            functions = [value] if isinstance(value, Function) else []
            if isinstance(value, Class):
                inits = [replace(f, bound=Instance(value)) for f in self.methods(value, "__init__")]
                found.append(Instance(value, init=self.enter(inits[0], call, frame) if inits else None))
                functions = [replace(f, bound=value) for f in self.methods(value, "__new__")]
            elif isinstance(value, Instance):
                functions = [replace(f, bound=value) for f in self.methods(value.cls, "__call__")]
            elif isinstance(value, Shared):
                found.append(value)  # X.setdefault(k, [])
            elif isinstance(value, Outside) and value.name == "functools.partial" and call.args:
                found += self.values(call.args[0], frame)
            elif isinstance(value, Outside) and value.name.endswith(".__new__") and call.args:
                found += [Instance(v) for v in self.values(call.args[0], frame) if isinstance(v, Class)]
            elif isinstance(value, Outside):
                found.append(Outside(f"{value.name}()"))
            for function in functions:
                inner = self.enter(function, call, frame)
                for statement in self.bodies.get(inner, []):
                    if isinstance(statement, ast.Return) and statement.value is not None:
                        found += self.values(statement.value, inner)
        return tuple(found)

    def attribute(self, base: Value, name: str) -> Values:
        """What `base.name` may be."""
        if isinstance(base, Space):
            return self.module_level(Symbol(base.name, name))
        if isinstance(base, Outside):
            return (Outside(f"{base.name}.{name}"),)
        if isinstance(base, Function):
            own = base.module.name == self.top.module.name or base.frame is not None or name.startswith("__")
            made = () if own else self.decorated(base)
            if made:
                return tuple(v for each in made for v in self.attribute(each, name))
            return () if own else (Outside(f"{base.module.name}.{getattr(base.node, 'name', '')}.{name}"),)
        if isinstance(base, Shared):
            return (base,)
        if isinstance(base, Instance) and name == "__class__":
            return (base.cls,)
        cls = base if isinstance(base, Class) else base.cls
        bound = base.bound if isinstance(base, Super) else base
        methods = self.methods(cls, name, inherited=isinstance(base, Super))
        at = place(base)
        if methods:
            kinds = {ast.unparse(d) for f in methods for d in f.node.decorator_list}  # type: ignore[union-attr]
            if kinds & {"property", "cached_property", "functools.cached_property"} and not isinstance(base, Class):
                return (Shared(at),) if at else ()
            if "classmethod" in kinds:
                return tuple(replace(f, bound=bound.cls if isinstance(bound, Instance) else bound) for f in methods)
            plain = "staticmethod" in kinds or isinstance(base, Class)
            return tuple(methods) if plain else tuple(replace(f, bound=bound) for f in methods)
        if name == "__new__":
            return (Outside("builtins.object.__new__"),)
        if isinstance(base, Instance) and (found := self.given_by_init(base, name)):
            return found
        for each in self.lineage(cls):
            for statement in each.node.body:
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                )
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    owned = Symbol(each.module.name, f"{each.node.name}.{name}")
                    return self.settled(getattr(statement, "value", None), self.outside(each.module), owned)
        if isinstance(base, Class):
            at = Symbol(base.module.name, f"{base.node.name}.{name}")
        return (Shared(at),) if at else ()

    def decorated(self, function: Function) -> Values:
        """The objects that the decorators of a function give back."""
        return self.once(("decorated", function.node), lambda: self.made_of(function))

    def made_of(self, function: Function) -> list[Value]:
        # @register_op                       where register_op gives back an object: op.register_impl(...)
        # def op(): ...
        around, found = self.outside(function.module), list[Value]()
        for decorator in function.node.decorator_list if not isinstance(function.node, ast.Lambda) else ():
            call = ast.Call(decorator, [ast.Name(OBJECT, ast.Load())], [])
            at = Symbol(function.module.name, getattr(function.node, "name", ""))
            found += [replace(v, at=v.at or at) for v in self.values(call, around) if isinstance(v, Instance)]
        return found

    def given_by_init(self, base: Instance, name: str) -> Values:
        # def __init__(self, registry): self.registry = registry
        for init in self.methods(base.cls, "__init__"):
            params = [n.arg for n in ast.walk(init.node.args) if isinstance(n, ast.arg)]
            unknown = self.empty.setdefault(init.node, Frame(init.module, None, {param: [] for param in params}))
            frame = base.init or unknown
            for statement in module_statements(init.node.body):  # type: ignore[arg-type]
                targets = (
                    statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
                )
                for target in targets:
                    if isinstance(target, ast.Attribute) and target.attr == name and _is_self(target.value, params):
                        value = getattr(statement, "value", None)
                        if base.at:
                            return self.settled(value, frame, base.at)
                        return self.values(value, frame) if value else ()
        return ()

    def settled(self, value: ast.expr | None, frame: Frame, at: Symbol) -> Values:
        """What lives at a module-level name, or at one in a class, by the expression that it is bound to."""
        # X = {}           X = Registry()          X = defaultdict(list)          register = REGISTRY.register
        found: list[Value] = []
        for each in self.values(value, frame) if value is not None else ():
            if isinstance(each, Instance) and each.at is None:
                each = replace(each, at=at)
            elif isinstance(each, Outside) and each.name.endswith(")") and top_of(each.name) in STANDARD:
                each = Shared(at)
            found.append(each)
        return tuple(found) or (Shared(at),)

    def module_level(self, symbol: Symbol) -> Values:
        """What a name of a module may be, through its re-exports."""
        return self.once(symbol, lambda: self.bound_to(symbol))

    def bound_to(self, symbol: Symbol) -> list[Value]:
        home = self.namespaces.definition(symbol)
        module = self.namespaces.locate(home.module)
        bindings = self.namespaces.bindings(home.module, home.name) if module else []
        found: list[Value] = []
        for binding in bindings:
            assert module is not None
            if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append(Function(module, binding.node))
            elif isinstance(binding.node, ast.ClassDef):
                found.append(Class(module, binding.node))
            elif binding.is_import:
                found += self.imported(module, binding)
            else:
                found += self.settled(binding.value, self.outside(module), home)
        if not bindings and self.namespaces.is_submodule(home.module, home.name):
            found.append(Space(home.dotted))
        elif not bindings:
            found.append(Outside(f"builtins.{home.name}" if hasattr(builtins, home.name) and module else home.dotted))
        return found

    def imported(self, module: Module, binding: Binding) -> Values:
        origin = self.namespaces.origin(module, binding)
        if origin is not None and binding.name == origin.name and origin.module == module.name:
            return (Space(origin.dotted),) if self.namespaces.locate(origin.dotted) else ()  # from . import sub
        if origin is not None:
            return self.module_level(origin)
        if isinstance(binding.statement, ast.Import) and isinstance(binding.node, ast.alias):
            name = binding.node.name if binding.node.asname else binding.node.name.partition(".")[0]
            return (Space(name),) if self.namespaces.locate(name) else (Outside(name),)
        return (Outside(f"?.{binding.name}"),)

    def methods(self, cls: Class, name: str, inherited: bool = False) -> list[Function]:
        """The definitions of a method in the first class of the lineage that has one."""
        for each in self.lineage(cls)[1 if inherited else 0 :]:
            found = [
                Function(each.module, statement, owner=each)
                for statement in module_statements(each.node.body)
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name
            ]
            if found:
                return found
        return []

    def lineage(self, cls: Class, depth: int = 0) -> list[Class]:
        """A class and its bases that are in the tree."""
        found = [cls]
        for base in cls.node.bases if depth < 8 else ():
            for value in self.values(base, self.outside(cls.module)):
                if isinstance(value, Class):
                    found += [
                        each for each in self.lineage(value, depth + 1) if all(each.node is not f.node for f in found)
                    ]
        return found

    def is_foreign(self, cls: Class) -> bool:
        """Whether a base is of another project, whose methods cannot be seen."""
        return any(
            isinstance(value, Outside) and top_of(value.name) not in STANDARD
            for each in self.lineage(cls)
            for base in each.node.bases
            for value in self.values(base, self.outside(each.module))
        )


def _few(values: Iterable[Value]) -> Iterator[Value]:
    """The same with some of what is outside the tree: one such thing tells as much as a thousand (`df = df.head()` ...)."""
    number = 0
    for value in values:
        number += isinstance(value, Outside)
        if number <= _OUTSIDE or not isinstance(value, Outside):
            yield value


def _is_self(node: ast.expr, params: list[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in params[:1]


def top_of(name: str) -> str:
    return name.partition(".")[0].removesuffix("()")
