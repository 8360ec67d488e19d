"""`@register def sym`, `REGISTRY.add(Sym)`: an origin that hands its objects away as it is imported.

Owns the question which registrations a module makes, and whether the callee keeps what it gets. It follows the object,
with `keeping` into the bodies that are in the tree, without running them.
Invariant: it never edits and never raises, and `stores=True` names a container outside of the module that registers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.engine.model import Module, Site, Symbol, When
from codemods.engine.namespace import Namespaces
from codemods.engine.scopes import Syntax
from codemods.engine.walk import is_type_checking
from codemods.narrow_reexport.forms.frames import OBJECT, Frame
from codemods.narrow_reexport.forms.keeping import Trace


@dataclass(frozen=True, slots=True)
class Registration:
    """A site that hands an object to `callee`; `stores` is None where the body cannot be seen; `into` what keeps it.

    `keys` are by what somebody may look it up: a string that is handed over with it, else its own name.
    """

    site: Site
    callee: str
    stores: bool | None
    into: Symbol | None = None
    keys: frozenset[str] = frozenset()


def registrations(module: Module, namespaces: Namespaces) -> tuple[Registration, ...]:
    """What the module registers as it is imported, in source order. Callees that are seen to keep nothing are left out."""
    syntax = namespaces.syntax(module)
    if syntax is None:
        return ()
    top = Frame(module, None, given=_objects(syntax) | {OBJECT})
    top.given |= _looped_over(syntax.tree, top.given)
    known: dict[str, tuple[bool | None, Symbol | None]] = {}
    found = []
    for node, call, in_class in _handed(syntax.tree.body, top):
        key = ast.dump(call) if isinstance(call, ast.Call) else f"class {call.name}"
        if key not in known:
            known[key] = _verdict(call, top, namespaces)
        stores, into = known[key]
        if stores or (stores is None and not in_class and isinstance(call, ast.Call)):
            keys = _keys(node, call, syntax) if into is not None else frozenset()
            found.append(Registration(syntax.source.site_of(node), _spelled(call), stores, into, keys))
    return tuple(found)


def _verdict(handed: ast.Call | ast.ClassDef, top: Frame, namespaces: Namespaces) -> tuple[bool | None, Symbol | None]:
    trace = Trace(namespaces, top)
    try:
        if isinstance(handed, ast.Call):
            trace.called(handed, top)
        else:
            trace.subclassed(handed)
    except RecursionError:
        trace.unseen = True
    return (True, trace.into) if trace.into else (None if trace.unseen and not trace.own else False, None)


def _handed(
    body: list[ast.stmt], top: Frame, in_class: bool = False
) -> Iterator[tuple[ast.expr | ast.stmt, ast.Call | ast.ClassDef, bool]]:
    """What runs at import and hands something away: the node to name, the call (or the class statement), in a class."""
    for statement in running(body):
        # @register                       @REGISTRY.register("x")
        # def sym(): ...                  class C: ...
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in statement.decorator_list:
                yield decorator, ast.Call(decorator, [ast.Name(OBJECT, ast.Load())], []), in_class
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
            continue
        # [register(each) for each in (sym,)]             assert register(sym)             if register(sym): ...
        for call in () if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) else _calls_in(statement):
            parts = [*call.args, *(keyword.value for keyword in call.keywords)]
            if any(_names(part, top.given) for part in parts):
                yield statement, call, True  # its value is used: it counts only where it is seen to keep the object


def _looped_over(tree: ast.Module, made: set[str]) -> set[str]:
    # [register(each) for each in (sym,)]       at module level
    shown = [node.value for node in running(tree.body) if isinstance(node, ast.Expr)]
    loops = [n for value in shown for n in ast.walk(value) if isinstance(n, ast.comprehension)]
    over = [loop.target for loop in loops if any(_names(n, made) for n in ast.walk(loop.iter))]
    return {n.id for target in over for n in ast.walk(target) if isinstance(n, ast.Name)}


def _calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls in a statement's own expressions, as far as they run with it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    todo: list[ast.AST] = [
        node for node in ast.iter_child_nodes(statement) if isinstance(node, (ast.expr, ast.withitem))
    ]
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, ast.Lambda):
            todo += ast.iter_child_nodes(node)


def running(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that an import runs: no `if TYPE_CHECKING:`, no `if __name__ == "__main__":`, no function body."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        skipped = isinstance(statement, ast.If) and (is_type_checking(statement.test) or _is_main(statement.test))
        for suite in ("orelse", "finalbody") if skipped else ("body", "orelse", "finalbody"):
            yield from running(getattr(statement, suite, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from running(part.body)


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


def _keys(node: ast.AST, handed: ast.Call | ast.ClassDef, syntax: Syntax) -> frozenset[str]:
    # @register("name")                REGISTRY.add("name", sym)              @register
    # def sym(): ...                                                          def sym(): ...
    if isinstance(handed, ast.ClassDef):
        return frozenset({handed.name})
    calls = [n for n in ast.walk(handed) if isinstance(n, ast.Call)]
    named = [k.value for each in calls for k in each.keywords if k.arg in ("name", "key")]
    texts = [
        part.value
        for part in (*(part for each in calls for part in each.args), *named)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    if texts:
        return frozenset(texts[:1])
    found = {n.id for part in handed.args for n in ast.walk(part) if isinstance(n, ast.Name)}
    for statement in running(syntax.tree.body):
        if node in getattr(statement, "decorator_list", ()):
            found.add(statement.name)  # type: ignore[attr-defined]
    return frozenset(found - {OBJECT})


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
