"""`pkg.sym` of an optional re-export, read in a function: the import of the origin goes to the place of use.

Owns the question whether a read is evaluated whenever its statement runs, and the import put before that statement.
Invariant: an import that may fail stands only where the read it serves would have failed, and never at module level.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from codemods.engine.model import Edit, When
from codemods.engine.references import AttributeUse
from codemods.engine.scopes import Block, Scope, Syntax, Use
from codemods.narrow_reexport.forms.by_name import can_be_name
from codemods.narrow_reexport.forms.statement import NewImport, render
from codemods.narrow_reexport.resolve import Resolution

_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError"}


@dataclass(slots=True)
class LocalImports:
    """The imports put into the functions of one file, and the reads that use them."""

    syntax: Syntax
    width: int
    edits: list[Edit] = field(default_factory=list)
    texts: list[tuple[Use, str]] = field(default_factory=list)
    _done: list[tuple[Block, int, tuple[str, str]]] = field(default_factory=list)  # block, position, (name, symbol)

    def take(self, use: AttributeUse, found: Resolution) -> bool:
        """Put the import before the statement of a read, if it means the same there; else answer False."""
        inner = use.use
        function = _function_scope(inner)
        if function is None or inner.block.when is not When.LATE or inner.annotation or inner.pattern:
            return False
        if not can_be_name(use):
            return False
        name = next(
            (
                each
                for each in (found.symbol.name, f"_{found.symbol.name}")
                if self._is_free(each, function, inner, found)
            ),
            "",
        )
        if not name:
            return False
        if not self._is_imported(inner, (name, str(found.symbol))):
            if not self._insert(inner, found, name):
                return False
        self.texts.append((inner, name))
        return True

    def _is_imported(self, use: Use, name: tuple[str, str]) -> bool:
        # an import already stands above, in this suite or in one around it
        statement: ast.AST = use.statement
        for block in _around(use.block):
            at = _position(block, statement)
            if any(done is block and position <= at and known == name for done, position, known in self._done):
                return True
            statement = block.owner
            if isinstance(statement, ast.ExceptHandler) or not isinstance(statement, ast.stmt):
                outer = block.parent
                statement = next(
                    (s for s in (outer.statements if outer else ()) if statement in getattr(s, "handlers", ())),
                    statement,
                )
        return False

    def _insert(self, use: Use, found: Resolution, name: str) -> bool:
        source, statement = self.syntax.source, use.statement
        if not _certain(statement, use.node) or _notices(use.block):
            return False
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
        start = source.span(statement)[0]
        row = source.starts[source.line_of(start) - 1]
        before = source.text[row:start]
        if source.text.startswith("elif", start):
            return False
        # def f():                   ->  def f():
        #     return pkg.sym()               from pkg.sub import sym
        #                                    return sym()
        alias = "" if name == found.origin.name else name
        new = NewImport(found.origin.module, found.origin.module, ((found.origin.name, alias),))
        if before.strip():
            if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                return False
            text = render(new, "", 10**9, source.newline) + "; "
        else:
            text = render(new, before, self.width, source.newline) + source.newline + before
        self.edits.append(Edit(source.path, start, start, text))
        self._done.append((use.block, _position(use.block, statement), (name, str(found.symbol))))
        return True

    def _is_free(self, name: str, function: Scope, use: Use, found: Resolution) -> bool:
        for scope in use.scope.inside():
            if name in scope.bindings or name in scope.outer:
                return False
            if scope is function:
                break
        taken = {known for block, _, known in self._done if block.scope is function and known[0] == name}
        if taken:
            return taken == {(name, str(found.symbol))}
        return not any(
            isinstance(each.node, ast.Name) and each.node.id == name and function in list(each.scope.inside())
            for each in self.syntax.names
        ) and not any(
            name in block.scope.outer and function in list(block.scope.inside())
            for block in self.syntax.blocks.values()
        )


def _function_scope(use: Use) -> Scope | None:
    """The function whose body the read stands in; None where a lambda or a class body comes between."""
    for scope in use.scope.inside():
        if scope.kind == "function":
            return scope
        if scope.kind in ("lambda", "class"):
            return None
    return None


def _around(block: Block) -> Iterator[Block]:
    """The suites around a statement, up to the body of its function."""
    at: Block | None = block
    while at is not None:
        yield at
        if isinstance(at.owner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        at = at.parent


def _position(block: Block, statement: ast.AST) -> int:
    return next((at for at, each in enumerate(block.statements) if each is statement), -1)


def _certain(statement: ast.stmt, node: ast.expr) -> bool:
    """Whether a statement that runs evaluates the expression, and nothing may keep it from doing so."""
    path = _path(statement, node)
    for outer, inner in pairwise(path):
        if isinstance(outer, ast.BoolOp) and inner is not outer.values[0]:
            return False  # HAS_SYM and pkg.sym()
        if isinstance(outer, ast.IfExp) and inner is not outer.test:
            return False
        if isinstance(outer, ast.Compare) and inner not in (outer.left, outer.comparators[0]):
            return False
        if isinstance(outer, (ast.Lambda, ast.GeneratorExp)):
            return False
        if isinstance(outer, (ast.ListComp, ast.SetComp, ast.DictComp)):
            return False
        if isinstance(outer, (ast.ExceptHandler, ast.match_case)):
            return False
        if isinstance(outer, ast.Assert) and inner is outer.msg:
            return False
    return bool(path)


def _path(root: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes from a statement down to an expression in it."""
    if root is node:
        return [root]
    for child in ast.iter_child_nodes(root):
        below = _path(child, node)
        if below:
            return [root, *below]
    return []


def _notices(block: Block) -> bool:
    """Whether code around the read tells an AttributeError from an ImportError: a handler, `pytest.raises`."""
    for at in _around(block):
        owner = at.owner
        if isinstance(owner, (ast.With, ast.AsyncWith)):
            if "AttributeError" in "".join(ast.unparse(item) for item in owner.items):
                return True
        if isinstance(owner, ast.Try) and at.statements is owner.body:
            for handler in owner.handlers:
                kinds = _kinds(handler.type)
                broad = kinds & {"Exception", "BaseException", ""}
                if not broad and ("AttributeError" in kinds) != bool(kinds & _IMPORT_ERRORS):
                    return True
                if broad:
                    break
    return False


def _kinds(node: ast.expr | None) -> set[str]:
    parts: Sequence[ast.expr] = node.elts if isinstance(node, ast.Tuple) else [node] if node is not None else []
    return {ast.unparse(part).rpartition(".")[2] for part in parts} or {""}
