"""One walk over a syntax tree: blocks, scopes, bindings, and the nodes that references are made of.

Owns the order of evaluation: which scope a node stands in, and when it runs. `symtable` is the oracle in the tests, not
the engine here: its tables carry no positions and change shape between Python versions (see docs/design.md).
Invariant: it visits each node once, in source order, and decides nothing.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TypeGuard

from codemods.engine.model import When
from codemods.engine.scopes import Binding, Block, Scope, Syntax, Use, last_name
from codemods.engine.source import Source, TooDeep

_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


def analyse(source: Source, tree: ast.Module, *, expressions: bool = True) -> Syntax:
    """Walk a tree once. Without `expressions` only statements are looked at: imports and blocks, no names. Raises TooDeep."""
    scope = Scope("module", tree, None)
    body = Block(tree.body, tree, None, scope, When.EAGER)
    syntax = Syntax(source, tree, scope, body, whole=expressions)
    try:
        if expressions:
            _Walker(syntax).run(body)
        else:
            _imports_only(syntax, body, _import_lines(source))
    except RecursionError:
        raise TooDeep from None
    return syntax


def _import_lines(source: Source) -> list[int]:
    lines, starts = [], source.starts
    at = source.text.find("import")
    while at >= 0:
        lines.append(bisect_right(starts, at))
        at = source.text.find("import", at + 6)
    return lines


def _imports_only(syntax: Syntax, block: Block, lines: list[int]) -> None:
    """Imports and their blocks; statements without the word `import` in their lines are passed over whole."""
    for statement in block.statements:
        last = statement.end_lineno or statement.lineno
        first = bisect_left(lines, statement.lineno)
        if first == len(lines) or lines[first] > last:
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            syntax.blocks[statement] = block
            syntax.imports.append((statement, block))
            continue
        for body, owner, scope, when, optional in _suites(statement, block):
            _imports_only(syntax, Block(body, owner, block, scope, when, optional), lines)


def _suites(node: ast.stmt, block: Block) -> Iterator[tuple[list[ast.stmt], ast.AST, Scope, When, bool]]:
    """The suites of a statement: body, owner, scope, when it runs, whether it may not run."""
    scope, when, optional = block.scope, block.when, block.optional
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node.body, node, Scope("function", node, scope), When.TYPING if when is When.TYPING else When.LATE, False
    elif isinstance(node, ast.ClassDef):
        yield node.body, node, Scope("class", node, scope), when, optional
    elif isinstance(node, ast.If):
        negated = (
            isinstance(node.test, ast.UnaryOp)
            and isinstance(node.test.op, ast.Not)
            and is_type_checking(node.test.operand)
        )
        yield node.body, node, scope, When.TYPING if is_type_checking(node.test) else when, True
        yield node.orelse, node, scope, When.TYPING if negated else when, True
    elif _is_try(node):
        guarded = catches_import_error(node) and when is When.EAGER
        yield node.body, node, scope, When.GUARDED if guarded else when, True
        for handler in node.handlers:
            yield handler.body, handler, scope, when, True
        yield node.orelse, node, scope, when, True
        yield node.finalbody, node, scope, when, True
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        guards = suppresses_import_error(node)
        yield node.body, node, scope, When.GUARDED if guards and when is When.EAGER else when, optional or guards
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        yield node.body, node, scope, when, True
        yield node.orelse, node, scope, when, True
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield case.body, case, scope, when, True


def is_type_checking(test: ast.expr) -> bool:
    """`TYPE_CHECKING`, `typing.TYPE_CHECKING`, `t.TYPE_CHECKING`."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _is_try(node: ast.stmt) -> TypeGuard[ast.Try]:
    return isinstance(node, ast.Try) or type(node).__name__ == "TryStar"  # `except*`, from Python 3.11 on


def suppresses_import_error(statement: ast.AST) -> bool:
    """`with contextlib.suppress(ImportError):`"""
    for item in getattr(statement, "items", ()):
        call = item.context_expr
        if isinstance(call, ast.Call) and last_name(call.func) == "suppress":
            return any(last_name(part) in _IMPORT_ERRORS for part in call.args)
    return False


def catches_import_error(statement: ast.AST) -> bool:
    """Whether a `try` has a handler that an ImportError reaches."""
    for handler in getattr(statement, "handlers", ()):
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(kind is None or last_name(kind) in _IMPORT_ERRORS for kind in kinds):
            return True
    return False


class _Walker:
    """Visits statements and expressions in source order, keeping the current scope and block."""

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self.scope = syntax.module
        self.block = syntax.body
        self.statement: ast.stmt = ast.Pass()
        self.fstring: ast.JoinedStr | None = None
        self.annotation = False
        self.pattern = False

    def run(self, body: Block) -> None:
        self._suite(body)
        self._settle(self.syntax.module)

    # Statements

    def _suite(self, block: Block) -> None:
        kept = self.scope, self.block, self.statement
        self.scope, self.block = block.scope, block
        for statement in block.statements:
            self.statement = statement
            self.syntax.blocks[statement] = block
            self._statement(statement)
        self.scope, self.block, self.statement = kept

    def _inner(self, node: ast.stmt, owner: ast.AST | None = None) -> None:
        for body, at, scope, when, optional in _suites(node, self.block):
            if body and (owner is None or at is owner):
                self._suite(Block(body, at, self.block, scope, when, optional))

    def _statement(self, node: ast.stmt) -> None:
        # most statements are one of these
        if isinstance(node, (ast.Expr, ast.Return)):
            if node.value is not None:
                self._expression(node.value, node)
        elif isinstance(node, ast.Assign):
            self._expression(node.value, node)
            for target in node.targets:
                self._target(target, node, node.value)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.syntax.imports.append((node, self.block))
            for alias in node.names:
                if alias.name != "*":
                    self._bind(
                        alias.asname
                        or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]),
                        alias,
                    )
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._bind(node.name, node)
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._bind(node.name, node)
            for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
                self._expression(part, node)
            self._inner(node)
        elif isinstance(node, (ast.If, ast.While)):
            self._expression(node.test, node)
            self._inner(node)
        elif _is_try(node):
            self._inner(node, node)
            for handler in node.handlers:
                if handler.type is not None:
                    self._expression(handler.type, handler)
                if handler.name:
                    self._bind(handler.name, handler)
                self._inner(node, handler)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._expression(item.context_expr, node)
                if item.optional_vars is not None:
                    self._target(item.optional_vars, node)
            self._inner(node)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._expression(node.iter, node)
            self._target(node.target, node)
            self._inner(node)
        elif isinstance(node, ast.Match):
            self._expression(node.subject, node)
            for case in node.cases:
                self._pattern(case.pattern)
                if case.guard is not None:
                    self._expression(case.guard, case)
                self._inner(node, case)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                self.scope.outer[name] = "global" if isinstance(node, ast.Global) else "nonlocal"
        elif isinstance(node, ast.AnnAssign):
            self._annotation(node.annotation, node)
            if node.value is not None:
                self._expression(node.value, node)
            self._target(node.target, node, node.value)
        elif isinstance(node, ast.AugAssign):
            self._expression(node.value, node)
            self._expression(node.target, node)
            if isinstance(node.target, ast.Name):
                self._bind(node.target.id, node.target)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._target(target, node)
        elif type(node).__name__ == "TypeAlias":
            self._target(node.name, node)  # type: ignore[attr-defined]
            self._expression(node.value, node)  # type: ignore[attr-defined]
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (
            *node.decorator_list,
            *node.args.defaults,
            *(value for value in node.args.kw_defaults if value is not None),
        ):
            self._expression(part, node)
        ((body, _, scope, when, _),) = _suites(node, self.block)
        self._arguments(node.args, scope)
        if node.returns is not None:
            self._annotation(node.returns, node)
        self._suite(Block(body, node, self.block, scope, when))

    def _arguments(self, arguments: ast.arguments, scope: Scope) -> None:
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ):
            if argument is None:
                continue
            scope.bindings.setdefault(argument.arg, []).append(
                Binding(argument.arg, argument, self.statement, self.block, scope)
            )
            if argument.annotation is not None:
                self._annotation(argument.annotation, argument)

    def _bind(self, name: str, node: ast.AST, value: ast.expr | None = None) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and isinstance(node, ast.NamedExpr) and scope.parent is not None:
            scope = scope.parent  # a walrus in a comprehension binds outside of it
        scope.bindings.setdefault(name, []).append(Binding(name, node, self.statement, self.block, self.scope, value))

    # Expressions

    def _annotation(self, node: ast.expr, parent: ast.AST) -> None:
        kept, self.annotation = self.annotation, True
        self._expression(node, parent)
        self.annotation = kept

    def _target(self, node: ast.expr, parent: ast.AST, value: ast.expr | None = None) -> None:
        if isinstance(node, ast.Name):
            self._bind(node.id, node, value)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                self._target(element, node)
        elif isinstance(node, ast.Starred):
            self._target(node.value, node)
        else:
            self._expression(node, parent)

    def _pattern(self, node: ast.AST) -> None:
        if isinstance(node, ast.MatchValue):
            kept, self.pattern = self.pattern, True
            self._expression(node.value, node)
            self.pattern = kept
            return
        if isinstance(node, ast.MatchClass):
            self._expression(node.cls, node)
        if isinstance(node, ast.MatchMapping):
            for key in node.keys:
                kept, self.pattern = self.pattern, True
                self._expression(key, node)
                self.pattern = kept
            if node.rest:
                self._bind(node.rest, node)
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            self._bind(node.name, node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.pattern):
                self._pattern(child)

    def _use(self, node: ast.expr, parent: ast.AST) -> Use:
        return Use(node, self.scope, self.block, self.statement, self.fstring, self.annotation, self.pattern, parent)

    def _expression(self, node: ast.expr, parent: ast.AST) -> None:
        kind = type(node)
        if kind is ast.Name:
            self.syntax.names.append(self._use(node, parent))
            return
        if kind is ast.Constant:
            if isinstance(node.value, str):  # type: ignore[attr-defined]
                self.syntax.strings.append(self._use(node, parent))
            elif isinstance(node.value, bytes):  # type: ignore[attr-defined]
                self.syntax.byte_strings.append(self._use(node, parent))
            return
        if kind is ast.Attribute:
            self.syntax.attributes.append(self._use(node, parent))
            self._expression(node.value, node)  # type: ignore[attr-defined]
            return
        if kind is ast.Lambda:
            self._lambda(node)  # type: ignore[arg-type]
            return
        if kind in (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp):
            self._comprehension(node)
            return
        if kind is ast.NamedExpr:
            self._expression(node.value, node)  # type: ignore[attr-defined]
            self._bind(node.target.id, node, node.value)  # type: ignore[attr-defined]
            return
        if kind is ast.Call:
            self.syntax.calls.append(self._use(node, parent))
            self._expression(node.func, node)  # type: ignore[attr-defined]
            for argument in node.args:  # type: ignore[attr-defined]
                self._expression(argument, node)
            for keyword in node.keywords:  # type: ignore[attr-defined]
                self._expression(keyword.value, keyword)
            return
        if kind is ast.Subscript and self.annotation and isinstance(node.value, (ast.Name, ast.Attribute)):  # type: ignore[attr-defined]
            self._expression(node.value, node)  # type: ignore[attr-defined]
            name = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id  # type: ignore[attr-defined]
            self.annotation = name != "Literal"  # the strings of a Literal are values, not types
            self._expression(node.slice, node)  # type: ignore[attr-defined]
            self.annotation = True
            return
        kept = self.fstring
        if kind is ast.JoinedStr and kept is None:
            self.fstring = node  # type: ignore[assignment]
        for name in node._fields:  # `ast.iter_child_nodes` takes twice as long
            value = getattr(node, name, None)
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.expr):
                    self._expression(child, node)
        self.fstring = kept

    def _lambda(self, node: ast.Lambda) -> None:
        for part in (*node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)):
            self._expression(part, node)
        scope = Scope("lambda", node, self.scope)
        self._arguments(node.args, scope)
        kept, self.scope = self.scope, scope
        self._expression(node.body, node)
        self.scope = kept

    def _comprehension(self, node: ast.expr) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self._expression(generators[0].iter, node)  # the first iterable runs outside
        scope = Scope("comprehension", node, self.scope)
        kept, self.scope = self.scope, scope
        for number, generator in enumerate(generators):
            if number:
                self._expression(generator.iter, generator)
            self._target(generator.target, generator)
            for condition in generator.ifs:
                self._expression(condition, generator)
        for name in ("key", "value", "elt"):
            part = getattr(node, name, None)
            if part is not None:
                self._expression(part, node)
        self.scope = kept

    def _settle(self, module: Scope) -> None:
        """Move bindings of names declared `global` or `nonlocal` to the scope that they land in."""
        # a set would give them in another order each time
        scopes = dict.fromkeys(block.scope for block in self.syntax.blocks.values())
        scopes |= dict.fromkeys(use.scope for uses in (self.syntax.names, self.syntax.attributes) for use in uses)
        for scope in dict.fromkeys(around for inner in scopes for around in inner.inside()):
            for name in list(scope.outer):
                moved = scope.bindings.pop(name, [])
                if moved:
                    scope.home(name).bindings.setdefault(name, []).extend(moved)
