"""What a test replaces: `patch("pkg.sym")`, `patch.object(pkg, "sym")`, `monkeypatch.setattr(...)`, `mocker.spy(...)`.

Owns the recognition of calls that patch, through the file's own names for them, and of the text that a target is.
Invariant: it decides nothing; a call counts only if its target is proved to lead through the package that is asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.engine.model import When
from codemods.engine.references import Names
from codemods.engine.scopes import Scope, Syntax, Use

_OWN = {"spec", "create", "spec_set", "autospec", "new_callable"}  # of patch.multiple itself
_DEPTH = 8


@dataclass(frozen=True, slots=True, eq=False)
class PatchTarget:
    """One name of the package that a call replaces.

    `module` is the expression that gives the package, where the call takes an object; `literal` the constant that spells
    the dotted path, or beside an object the attribute's name. `spelled` is the part of the path that ends with the symbol,
    `rest` what follows it: `patch("pkg.Cls.method")`.
    """

    call: Use
    name: str
    kind: str  # patch, object, attr, dict, multiple
    node: ast.expr  # the argument
    module: ast.expr | None = None
    literal: ast.Constant | None = None
    spelled: str = ""
    rest: str = ""
    others: tuple[str, ...] = ()  # the other names that a patch.multiple replaces

    @property
    def replaces(self) -> bool:
        """Whether it replaces the name itself; else it changes the object behind it."""
        return not self.rest and self.kind != "dict"


def patch_calls(syntax: Syntax) -> list[tuple[Use, str]]:
    """The calls of a file that patch something, with their kind, in source order."""
    found = []
    for use in syntax.calls:
        call = use.node
        assert isinstance(call, ast.Call)
        kind = _kind(call.func, use.scope)
        if kind and not any(isinstance(argument, ast.Starred) for argument in call.args[:2]):
            found.append((use, kind))
    return found


class PatchTargets:
    """The patches of one file that go through one package (`names.target`)."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.target = names.target

    def found(self, calls: Iterable[tuple[Use, str]]) -> Iterator[PatchTarget]:
        """Those among some calls, in order."""
        for use, kind in calls:
            assert isinstance(use.node, ast.Call)
            yield from self._of_call(use, use.node, kind)

    def text(self, node: ast.expr, scope: Scope, depth: int = 0) -> tuple[str, ast.Constant | None] | None:
        """The text that an expression is, and the one constant that spells it; None where the text cannot be told."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Constant):
            return (node.value, node) if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            # TARGET = "pkg.sym"; patch(TARGET)
            owner = scope.owner(node.id)
            bindings = owner.bindings[node.id] if owner is not None else []
            value = bindings[0].value if len(bindings) == 1 else None
            if value is None or not isinstance(bindings[0].node, ast.Name):
                return None
            if isinstance(bindings[0].statement, (ast.Assign, ast.AnnAssign)):
                return self.text(value, bindings[0].scope, depth + 1)
            return None
        if isinstance(node, ast.Attribute) and node.attr == "__name__":
            # pkg.__name__ + ".sym"
            found = self.names.modules(node.value, scope)
            return (next(iter(found)), None) if len(found) == 1 and "" not in found else None
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            # f"{PKG}.sym"
            for part in node.values:
                if isinstance(part, ast.FormattedValue) and (part.format_spec is not None or part.conversion != -1):
                    return None
                parts.append(part.value if isinstance(part, ast.FormattedValue) else part)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        else:
            return None
        texts = [self.text(part, scope, depth + 1) for part in parts]
        return ("".join(text[0] for text in texts if text), None) if all(texts) else None

    # One call

    def _of_call(self, use: Use, call: ast.Call, kind: str) -> Iterator[PatchTarget]:
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        first = call.args[0] if call.args else None
        for name in ("target", "obj", "in_dict") if first is None else ():
            first = first if first is not None else keywords.get(name)
        if first is None:
            return
        told = self.text(first, use.scope)
        if kind == "multiple":
            yield from self._multiple(use, call, first, told)
        elif told is not None and kind != "object":
            # patch("pkg.sym")        patch(target="pkg.Cls.method")        monkeypatch.setattr("pkg.sym", value)
            reached = self._reach(told[0])
            if reached is not None:
                name, spelled, rest = reached
                yield PatchTarget(use, name, kind, first, None, told[1], spelled, rest)
        elif kind in ("object", "attr") and self.target.package in self.names.modules(first, use.scope):
            # patch.object(pkg, "sym")        monkeypatch.setattr(pkg, "sym", value)        mocker.spy(pkg, "sym")
            second = call.args[1] if call.args and len(call.args) > 1 else None
            for name in ("attribute", "name") if second is None else ():
                second = second if second is not None else keywords.get(name)
            named = self.text(second, use.scope) if second is not None else None
            if second is not None and named is not None and named[0] in self.target.names:
                yield PatchTarget(use, named[0], kind, second, first, named[1], named[0])

    def _multiple(
        self, use: Use, call: ast.Call, first: ast.expr, told: tuple[str, ast.Constant | None] | None
    ) -> Iterator[PatchTarget]:
        # patch.multiple("pkg", sym=1)        patch.multiple(pkg, sym=1, other=2)
        names = [keyword.arg for keyword in call.keywords if keyword.arg and keyword.arg not in _OWN | {"target"}]
        module = None
        if told is None:
            module = first if self.target.package in self.names.modules(first, use.scope) else None
        elif self._module(told[0]) != self.target.package:
            return
        if told is None and module is None:
            return
        for name in names:
            if name in self.target.names:
                others = tuple(other for other in names if other != name)
                literal = told[1] if told is not None else None
                yield PatchTarget(use, name, "multiple", first, module, literal, told[0] if told else "", "", others)

    def _reach(self, text: str) -> tuple[str, str, str] | None:
        """The symbol that a dotted path leads through, the path up to it, and what follows."""
        base, *parts = text.split(".")
        for number, part in enumerate(parts):
            if base == self.target.package and part in self.target.names:
                return part, ".".join(text.split(".")[: number + 2]), ".".join(parts[number + 1 :])
            base = self.target.carriers.get((base, part)) or f"{base}.{part}"
        return None

    def _module(self, text: str) -> str:
        base, *parts = text.split(".")
        for part in parts:
            base = self.target.carriers.get((base, part)) or f"{base}.{part}"
        return base


def _kind(func: ast.expr, scope: Scope, depth: int = 0) -> str:
    """What a callee does: `patch`, `object`, `dict`, `multiple`, `attr` (setattr, delattr), or nothing of the sort."""
    if depth > _DEPTH:
        return ""
    if isinstance(func, ast.Attribute):
        # mock.patch        patch.object        mocker.patch.dict        monkeypatch.setattr        mocker.spy
        if func.attr in ("object", "dict", "multiple"):
            return func.attr if _kind(func.value, scope, depth + 1) == "patch" else ""
        return {"patch": "patch", "setattr": "attr", "delattr": "attr", "spy": "object"}.get(func.attr, "")
    if not isinstance(func, ast.Name):
        return ""
    owner = scope.owner(func.id)
    if owner is None:
        return "patch" if func.id == "patch" else ""  # a star brought it; `setattr` is the builtin
    for binding in owner.bindings[func.id]:
        # from unittest.mock import patch as p        p = mock.patch        def test(patch):
        if isinstance(binding.node, ast.alias):
            kind = "patch" if isinstance(binding.statement, ast.ImportFrom) and binding.node.name == "patch" else ""
        elif binding.value is not None:
            kind = _kind(binding.value, binding.scope, depth + 1)
        else:
            kind = "patch" if func.id == "patch" and isinstance(binding.node, ast.arg) else ""
        if kind:
            return kind
    return ""


def is_late(use: Use) -> bool:
    """Whether an expression is evaluated later than its module is imported: in a function, or in a lambda."""
    return use.block.when is When.LATE or any(scope.kind in ("function", "lambda") for scope in use.scope.inside())
