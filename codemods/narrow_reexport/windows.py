"""While which code a patch is on: in one test, in the tests of one file, or anywhere.

Owns the reading of test files: a test runs by itself, so no patch of another test is on while it does; and what a test
file holds is run by its own tests.
Invariant: a place counts as out of reach only if every patch in question is confined to tests, and neither does a file that
patches spell the name of the test (or its file) that the place is in, nor that file the name of the other.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from codemods.engine.model import Module, Site
from codemods.engine.scopes import Scope, Syntax, Use

_TEST_FILE = re.compile(r"(?:\A|/)(?:test_[^/]*|[^/]*_test)\.py\Z")
_LASTING = re.compile(r"""scope\s*=\s*["'](?:session|package)["']""")


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A file of one of the checkouts, analysed."""

    checkout: int
    path: str
    module: Module
    syntax: Syntax

    def site(self, node: ast.expr | ast.stmt) -> Site:
        """Where a node stands."""
        return self.syntax.source.site_of(node)


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch of a name: its file, its place, and the function that it is on in (None: any of the file, or more)."""

    file: Parsed
    call: Use
    function: ast.AST | None

    @property
    def site(self) -> Site:
        """Where it stands."""
        return self.file.site(self.call.node)

    def follows(self, statement: ast.stmt, scope: Scope) -> bool:
        """Whether a statement of the same function has run before it."""
        decorates = isinstance(self.call.parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        same = self.call.scope is scope and self.function is not None
        return same and not decorates and statement.lineno < self.call.node.lineno

    def encloses(self, statement: ast.stmt, scope: Scope) -> bool:
        """Whether a statement of the same file may run while it is on."""
        around = _outermost(scope)
        decorates = isinstance(self.call.parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if around is None:
            return self.function is None and statement.lineno > self.call.node.lineno and not decorates
        if around is self.function:
            return decorates or statement.lineno > self.call.node.lineno
        return self.function is None or not _is_test(self.file, self.function)


@dataclass(frozen=True, slots=True)
class Read:
    """A place that looks a name up."""

    file: Parsed
    scope: Scope
    site: Site


@dataclass(slots=True)
class Windows:
    """The patches of one name."""

    patches: list[Patch] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anybody patches the name."""
        return bool(self.patches)

    def add(self, file: Parsed, call: Use) -> None:
        """Note a patch."""
        self.patches.append(Patch(file, call, _patched_function(call)))

    def reach(self, read: Read) -> bool:
        """Whether any of the patches may be on while a read happens."""
        file = read.file
        if not _TEST_FILE.search(file.path):
            return True
        function = _outermost(read.scope)
        alone = function is not None and _is_test(file, function)
        names = [_stem(file), *_spelled(read.scope)]
        for patch in self.patches:
            if not _TEST_FILE.search(patch.file.path) or _LASTING.search(patch.file.syntax.source.text):
                return True
            if patch.function is None and _is_module_level(patch.call):
                return True  # started as the file is imported, and on until somebody stops it
            if (patch.file.checkout, patch.file.path) == (file.checkout, file.path):
                if not alone or patch.function in (None, function) or not _is_test(file, patch.function):
                    return True
            elif any(_spells(patch.file, name) for name in names) or _spells(file, _stem(patch.file)):
                return True  # it may call that test, or inherit it; or that test uses something of it
        return False


def _patched_function(call: Use) -> ast.AST | None:
    # @patch("pkg.sym")            def test(): with patch("pkg.sym"):
    if isinstance(call.parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and call.node in call.parent.decorator_list:
        return _outermost(call.scope) or call.parent
    return _outermost(call.scope)


def _is_module_level(call: Use) -> bool:
    # @patch("pkg.sym")  class TestIt:        is on in the tests of the class alone
    decorates = isinstance(call.parent, ast.ClassDef) and call.node in call.parent.decorator_list
    return not decorates and _outermost(call.scope) is None


def _outermost(scope: Scope) -> ast.AST | None:
    found = [each.node for each in scope.inside() if each.kind == "function"]
    return found[-1] if found else None


def _is_test(file: Parsed, function: ast.AST | None) -> bool:
    named = isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name.startswith("test")
    return named and _TEST_FILE.search(file.path) is not None


def _spells(file: Parsed, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", file.syntax.source.text) is not None


def _stem(file: Parsed) -> str:
    return file.module.name.rpartition(".")[2]


def _spelled(scope: Scope) -> list[str]:
    """The name that another file would use to run some code of a test file: its outermost class or function."""
    found = [each.node for each in scope.inside() if each.kind in ("class", "function")]
    return [str(getattr(node, "name", "")) for node in found[-1:]]
