"""`getattr(pkg, "sym")`, `vars(pkg)["sym"]`, `attrgetter("sym")(pkg)`: attributes of a package read by a literal name.

Owns the search for such reads. Each is reported as an attribute read, with the expression that it is written as.
Invariant: it reports only calls of the functions themselves, known through the file's imports, never of what is spelled alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codemods.engine.loaded import qualified
from codemods.engine.references import UNKNOWN, AttributeUse, LostModule, NamedRead, Names
from codemods.engine.scopes import Syntax, Use

_READERS = {
    "builtins.getattr": "getattr",
    "builtins.hasattr": "hasattr",
    "inspect.getattr_static": "getattr_static",
    "builtins.object.__getattribute__": "__getattribute__",
}


def named_reads(syntax: Syntax, names: Names, wanted: frozenset[str]) -> list[AttributeUse]:
    """The reads of `wanted` names of the package (or of what leads to it) by a literal name."""
    return [found for use, read in _every(syntax) for found in _use(use, read, names, wanted)]


def named_losses(syntax: Syntax, names: Names) -> list[LostModule]:
    """The reads of modules that are no longer loaded by a literal name, whichever package they belong to."""
    # vars(other)["sub"]        attrgetter("sub.limit")(other)        hasattr(pkg, "sub")
    target = names.target
    found: list[LostModule] = []
    for use, read in _every(syntax) if target.lost else ():
        bases = names.modules(read.receiver, use.scope)
        for name in _path(read):
            for base in bases - {UNKNOWN}:
                hidden = base == target.package and name in target.hidden
                if f"{base}.{name}" in target.lost and not hidden:
                    found.append(LostModule(replace(use, node=read.receiver), f"{base}.{name}"))
            bases = frozenset(names.below(base, name) for base in bases)
    return found


def _every(syntax: Syntax) -> Iterator[tuple[Use, NamedRead]]:
    for use in syntax.calls:
        yield from _calls(use)
    for use in syntax.attributes:
        node = use.node
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            yield from _from_dict(use, node.value, (node,), syntax)
    for use in syntax.calls:
        call = use.node
        if isinstance(call, ast.Call) and len(call.args) == 1 and qualified(call.func, use.scope) == "builtins.vars":
            yield from _from_dict(use, call.args[0], (call,), syntax)


def _path(read: NamedRead) -> list[str]:
    """The names that are read one after the other; none where they are not spelled out."""
    literal = read.literal
    if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str):
        return []
    return literal.value.split(".") if read.how == "attrgetter" else [literal.value]


def _calls(use: Use) -> Iterator[tuple[Use, NamedRead]]:
    call = use.node
    assert isinstance(call, ast.Call)
    if call.keywords or any(isinstance(part, ast.Starred) for part in call.args):
        return
    how = _READERS.get(qualified(call.func, use.scope), "")
    if how and 2 <= len(call.args) <= 3:
        # getattr(pkg, "sym")     getattr(pkg, "sym", None)     hasattr(pkg, "sym")
        default = call.args[2] if len(call.args) > 2 else None
        if how not in ("hasattr", "__getattribute__") or default is None:
            yield use, NamedRead(how, call.args[0], call.args[1], default, (call,))
    elif isinstance(call.func, ast.Call) and len(call.args) == 1:
        # operator.attrgetter("sym")(pkg)     operator.methodcaller("sym", 1)(pkg)
        inner = call.func
        how = qualified(inner.func, use.scope)
        if how in ("operator.attrgetter", "operator.methodcaller") and inner.args:
            only = len(inner.args) == 1 or how == "operator.methodcaller"
            for literal in inner.args if how == "operator.attrgetter" else inner.args[:1]:
                yield (
                    use,
                    NamedRead(
                        how.rpartition(".")[2],
                        call.args[0],
                        literal,
                        None,
                        (call,),
                        hinders="" if only else "attrgetter() reads several attributes of the package at once",
                    ),
                )
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "__getattribute__" and len(call.args) == 1:
        # pkg.__getattribute__("sym")
        yield use, NamedRead("__getattribute__", call.func.value, call.args[0], None, (call,))


def _from_dict(
    use: Use, receiver: ast.expr, seen: tuple[ast.AST, ...], syntax: Syntax
) -> Iterator[tuple[Use, NamedRead]]:
    """`use` is `pkg.__dict__` or `vars(pkg)`."""
    parent = use.parent
    if isinstance(parent, ast.Subscript) and parent.value is use.node:
        # vars(pkg)["sym"]
        stored = "the symbol is replaced in the package's __dict__"
        hinders = "" if isinstance(parent.ctx, ast.Load) else stored
        whole = replace(use, node=parent, parent=parent)
        yield whole, NamedRead("__dict__", receiver, parent.slice, None, (*seen, parent), plain=True, hinders=hinders)
    elif isinstance(parent, ast.Attribute) and parent.attr in ("get", "pop", "setdefault"):
        # pkg.__dict__.get("sym", None)
        for outer in syntax.calls:
            call = outer.node
            if isinstance(call, ast.Call) and call.func is parent and call.args and not call.keywords:
                hinders = "" if parent.attr == "get" else "the symbol is replaced in the package's __dict__"
                default = call.args[1] if len(call.args) > 1 else None
                read = NamedRead(
                    "__dict__", receiver, call.args[0], default, (*seen, call), plain=True, hinders=hinders
                )
                yield outer, read


def _use(use: Use, read: NamedRead, names: Names, wanted: frozenset[str]) -> Iterator[AttributeUse]:
    path = _path(read)
    package = names.target.package
    bases = names.modules(read.receiver, use.scope) if path else frozenset()
    receiver = read.receiver
    for number, name in enumerate(path):
        if package in bases:
            if name in wanted:
                # the read as code would say it: pkg.sym, at the place of the whole expression
                node = ast.Attribute(receiver, name, ast.Load())
                located = ast.copy_location(node, use.node)
                there = replace(read, prefix=tuple(path[:number]), rest=tuple(path[number + 1 :]))
                yield AttributeUse(replace(use, node=located), name, bases == {package}, there)
            return
        bases = frozenset(names.below(base, name) for base in bases)
        receiver = ast.copy_location(ast.Attribute(receiver, name, ast.Load()), receiver)
