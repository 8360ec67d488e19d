"""What a module's namespace holds after it was imported: names, where each comes from, what a star takes.

Owns the reading of `__all__` and of star exports, shared by every command that asks "what is pkg.name?".
Invariant: it never edits, and where it cannot know it says so (`None`) instead of guessing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codemods.engine.model import Module, Symbol, When
from codemods.engine.scopes import Binding, Syntax
from codemods.engine.source import NotPython, decode, parse
from codemods.engine.walk import analyse


@dataclass(frozen=True, slots=True)
class StarNames:
    """What `from m import *` takes: `certain` names that are bound whatever happens, in order of binding; `maybe` those
    bound only under a condition; `imported` the certain or maybe names that m merely imported."""

    certain: tuple[str, ...]
    maybe: frozenset[str]
    imported: frozenset[str]
    listed: bool  # by an `__all__`

    def __contains__(self, name: object) -> bool:
        return name in self.certain or name in self.maybe


@dataclass(frozen=True, slots=True)
class Exports:
    """What is known of an `__all__`: the literal names in it, and whether parts of it cannot be read."""

    names: tuple[str, ...]
    complete: bool


class Namespaces:
    """Reads namespaces on demand; each module is parsed once."""

    def __init__(self, locate: Callable[[str], Module | None], read: Callable[[str], bytes]) -> None:
        self.locate = locate
        self._read = read
        self.floor: tuple[int, ...] = (3,)  # the oldest Python that the project supports
        self._syntax: dict[str, Syntax | None] = {}
        self._stars: dict[str, StarNames | None] = {}  # asked for once a symbol

    def syntax(self, module: Module) -> Syntax | None:
        """The analysed file of a module; None for a namespace package and for what does not parse."""
        if module.path not in self._syntax:
            self._syntax[module.path] = self._analyse(module)
        return self._syntax[module.path]

    def bytes_of(self, module: Module) -> bytes:
        """The bytes of a module's file."""
        return self._read(module.path)

    def bindings(self, name: str, attribute: str) -> list[Binding]:
        """What binds `attribute` in the module called `name`, at run time."""
        module = self.locate(name)
        syntax = self.syntax(module) if module else None
        found = syntax.module.bindings.get(attribute, []) if syntax else []
        return [
            binding
            for binding in found
            if binding.block.when is not When.TYPING
            and not (isinstance(binding.statement, ast.AnnAssign) and binding.statement.value is None)
        ]

    def has_getattr(self, name: str) -> bool:
        """Whether the module has a module-level `__getattr__` (PEP 562)."""
        return bool(self.bindings(name, "__getattr__"))

    def is_submodule(self, package: str, name: str) -> bool:
        """Whether `package.name` is a module of the tree."""
        return self.locate(f"{package}.{name}") is not None

    def source_of(self, module: Module, statement: ast.ImportFrom) -> str:
        """The absolute name of the module that a from-import reads; empty beyond the top."""
        return absolute(module, statement)

    def definition(self, symbol: Symbol, limit: int = 20) -> Symbol:
        """Follow re-exports to the module that defines the name, or to the last one that can be read."""
        seen = {symbol}
        while len(seen) <= limit:
            step = self.step(symbol)
            if step is None or step in seen:
                return symbol
            symbol = step
            seen.add(symbol)
        return symbol

    def step(self, symbol: Symbol) -> Symbol | None:
        """One hop: the symbol that a module imported under this name; None where it is defined or unknown."""
        module = self.locate(symbol.module)
        syntax = self.syntax(module) if module else None
        if module is None or syntax is None:
            return None
        found = self.bindings(symbol.module, symbol.name)
        origins = {self.origin(module, binding) for binding in found}
        if len(origins) == 1:
            return origins.pop()
        if found:
            return None
        for statement, block in syntax.imports:
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" and block.when is not When.LATE:
                source = absolute(module, statement)
                names = self.star(source)
                if names is not None and symbol.name in names:
                    return Symbol(source, symbol.name)
        return None

    def origin(self, module: Module, binding: Binding) -> Symbol | None:
        """The symbol that an import alias, or an assignment from one, binds; None for a definition.

        `import a.b as c` and `from a import b` of a submodule both give `a:b`.
        """
        node = binding.node
        if isinstance(node, ast.alias):
            if isinstance(binding.statement, ast.ImportFrom):
                source = absolute(module, binding.statement)
                return Symbol(source, node.name) if source else None
            if node.asname and "." in node.name:
                return Symbol(*node.name.rpartition(".")[::2])
            return None
        return self._assigned(module, binding)

    def _assigned(self, module: Module, binding: Binding) -> Symbol | None:
        # fast = heavy          where `heavy` was imported
        # heavy = sub.heavy     where `sub` is a module that was imported
        value = binding.value
        syntax = self.syntax(module)
        if syntax is None or not isinstance(binding.statement, (ast.Assign, ast.AnnAssign)):
            return None
        if isinstance(value, ast.Name):
            found = [other for other in syntax.module.bindings.get(value.id, []) if other.block.when is not When.TYPING]
            return self.origin(module, found[0]) if len(found) == 1 and found[0].is_import else None
        if isinstance(value, ast.Attribute):
            base = self.module_of(module, syntax, value.value)
            return Symbol(base, value.attr) if base else None
        return None

    def module_of(self, module: Module, syntax: Syntax, node: ast.expr) -> str:
        """The dotted name of the module that a module-level expression is; empty where it is none."""
        if isinstance(node, ast.Attribute):
            base = self.module_of(module, syntax, node.value)
            return f"{base}.{node.attr}" if base and self.locate(f"{base}.{node.attr}") else ""
        if not isinstance(node, ast.Name):
            return ""
        found = [other for other in syntax.module.bindings.get(node.id, []) if other.block.when is not When.TYPING]
        if len(found) != 1 or not isinstance(found[0].node, ast.alias):
            return ""
        alias = found[0].node
        if isinstance(found[0].statement, ast.Import):
            return alias.name if alias.asname else alias.name.partition(".")[0]
        source = absolute(module, found[0].statement)  # type: ignore[arg-type]
        return f"{source}.{alias.name}" if self.locate(f"{source}.{alias.name}") else ""

    def exports(self, name: str) -> Exports | None:
        """The names in a module's `__all__`; None where it has none (or is not in the tree)."""
        module = self.locate(name)
        syntax = self.syntax(module) if module else None
        if module is None or syntax is None or "__all__" not in syntax.module.bindings:
            return None
        names: list[str] = []
        seen = {id(s) for s in module_statements(syntax.tree.body) if all_values(s)}
        complete = all(id(binding.statement) in seen for binding in syntax.module.bindings["__all__"])
        for statement in module_statements(syntax.tree.body):
            for value, remove in all_values(statement):
                found, whole = self._literal(module, syntax, value)
                complete = complete and whole
                if remove:
                    names = [entry for entry in names if entry not in found]
                elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and not _mentions_all(value):
                    names = list(found)
                else:
                    names += found
        return Exports(tuple(dict.fromkeys(names)), complete)

    def star(self, name: str) -> StarNames | None:
        """What `from name import *` binds; None where the module is not in the tree or cannot be read."""
        if name not in self._stars:
            self._stars[name] = self._star(name, frozenset())
        return self._stars[name]

    def _star(self, name: str, seen: frozenset[str]) -> StarNames | None:
        module = self.locate(name)
        syntax = self.syntax(module) if module else None
        if module is None or syntax is None or name in seen:
            return None
        certain = list(dict.fromkeys(_certain(syntax.tree.body)))
        maybe = {
            key for key, found in syntax.module.bindings.items() if any(b.block.when is not When.TYPING for b in found)
        }
        maybe -= set(certain)
        imported = {key for key, found in syntax.module.bindings.items() if all(b.is_import for b in found)}
        for statement, block in syntax.imports:
            if (
                isinstance(statement, ast.ImportFrom)
                and statement.names[0].name == "*"
                and block.when is not When.TYPING
            ):
                inner = self._star(absolute(module, statement), seen | {name})
                if inner is not None:
                    certain += [entry for entry in inner.certain if entry not in certain]
                    maybe |= inner.maybe - set(certain)
                    imported |= inner.imported - set(syntax.module.bindings) if not inner.listed else set()
        deleted = {
            target.id
            for statement in syntax.tree.body
            if isinstance(statement, ast.Delete)
            for target in statement.targets
            if isinstance(target, ast.Name)
        }
        certain = [entry for entry in certain if entry not in deleted]
        exports = self.exports(name)
        if exports is not None and exports.complete:
            listed = set(exports.names)
            known = set(certain) | maybe
            return StarNames(
                tuple(entry for entry in exports.names if entry in certain or entry not in known),
                frozenset(maybe & listed),
                frozenset(),  # a name in `__all__` is public, wherever it comes from
                True,
            )
        if exports is not None:
            return None
        return StarNames(
            tuple(entry for entry in certain if not entry.startswith("_")),
            frozenset(entry for entry in maybe if not entry.startswith("_")),
            frozenset(imported),
            False,
        )

    def _literal(self, module: Module, syntax: Syntax, value: ast.expr) -> tuple[list[str], bool]:
        if isinstance(value, ast.Constant):
            return ([value.value], True) if isinstance(value.value, str) else ([], False)
        if isinstance(value, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            names, complete = [], True
            for element in value.keys if isinstance(value, ast.Dict) else value.elts:
                inner = element.value if isinstance(element, ast.Starred) else element
                found, whole = self._literal(module, syntax, inner) if inner is not None else ([], False)
                names += found
                complete = complete and whole
            return names, complete
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            left, first = self._literal(module, syntax, value.left)
            right, second = self._literal(module, syntax, value.right)
            if isinstance(value.left, ast.Constant) and isinstance(value.right, ast.Constant):
                return ["".join(left + right)], first and second  # "hea" + "vy"
            return left + right, first and second
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in ("list", "tuple", "sorted", "set")
            and value.args
        ):
            return self._literal(module, syntax, value.args[0])
        if isinstance(value, ast.IfExp):
            names, complete = self._literal(module, syntax, value.body)
            other, whole = self._literal(module, syntax, value.orelse)
            return names + other, complete and whole
        if isinstance(value, ast.JoinedStr) and all(isinstance(part, ast.Constant) for part in value.values):
            return ["".join(str(part.value) for part in value.values if isinstance(part, ast.Constant))], True
        if (
            isinstance(value, ast.Attribute)
            and value.attr in ("__name__", "__qualname__")
            and isinstance(value.value, ast.Name)
        ):
            return [value.value.id], True  # sym.__name__, most likely sym
        if isinstance(value, ast.Name) and value.id == "__all__":
            return [], True
        if isinstance(value, ast.Name):
            bound = syntax.module.bindings.get(value.id, [])
            if len(bound) == 1 and isinstance(bound[0].value, (ast.List, ast.Tuple, ast.BinOp, ast.Dict)):
                return self._literal(module, syntax, bound[0].value)
        source = self.dunder_all_of(module, syntax, value)
        if source:
            exports = self.exports(source) if source != module.name else None
            return (list(exports.names), exports.complete) if exports else ([], False)
        return [], False

    def dunder_all_of(self, module: Module, syntax: Syntax, value: ast.expr) -> str:
        """The module whose `__all__` an expression is: `sub.__all__`, or a name imported as `__all__`; else empty."""
        if isinstance(value, ast.Attribute) and value.attr == "__all__":
            found = self.module_of(module, syntax, value.value)
            if found:
                return found
            if isinstance(value.value, ast.Name) and self.locate(f"{module.name}.{value.value.id}"):
                return f"{module.name}.{value.value.id}"  # bound because a submodule of this package was imported
            return ""
        if isinstance(value, ast.Name):
            for binding in syntax.module.bindings.get(value.id, []):
                if (
                    isinstance(binding.node, ast.alias)
                    and binding.node.name == "__all__"
                    and isinstance(binding.statement, ast.ImportFrom)
                ):
                    return absolute(module, binding.statement)
        return ""

    def _analyse(self, module: Module) -> Syntax | None:
        if not module.path:
            return None
        try:
            source = decode(self._read(module.path), module.path)
            return analyse(source, parse(source))
        except NotPython:
            return None


def absolute(module: Module, statement: ast.ImportFrom) -> str:
    """The absolute name of the module that a from-import reads; empty where the level goes beyond the top."""
    return module.absolute("." * statement.level + (statement.module or ""))


def module_statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that run as a module is imported, those inside `if`, `try`, `with` and loops too."""
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for suite in ("body", "orelse", "finalbody"):
            found += module_statements(getattr(statement, suite, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            found += module_statements(part.body)
    return found


def all_values(statement: ast.stmt) -> list[tuple[ast.expr, bool]]:
    """The expressions that a statement puts into `__all__`, each with whether it takes them out instead (`.remove`)."""
    # __all__ = value        __all__: list[str] = value        __all__ += value
    if isinstance(statement, ast.Assign) and any(_is_all(target) for target in statement.targets):
        return [(statement.value, False)]
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and _is_all(statement.target):
        return [(statement.value, False)] if statement.value is not None else []
    # __all__.append("sym")  __all__.extend(value)             __all__.remove("sym")
    if (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
    ):
        call, method = statement.value, statement.value.func
        if _is_all(method.value) and method.attr in ("append", "extend", "insert", "remove"):
            return [(argument, method.attr == "remove") for argument in call.args[-1:]]
    return []


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def _mentions_all(value: ast.expr) -> bool:
    return any(_is_all(node) for node in ast.walk(value) if isinstance(node, ast.expr))


def _certain(body: list[ast.stmt]) -> list[str]:
    """Names that a suite binds whatever branch is taken, in order."""
    names: list[str] = []
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names += [
                alias.asname or (alias.name if isinstance(statement, ast.ImportFrom) else alias.name.partition(".")[0])
                for alias in statement.names
                if alias.name != "*"
            ]
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = (
                statement.targets
                if isinstance(statement, ast.Assign)
                else [statement.target]
                if statement.value
                else []
            )
            names += [
                node.id
                for target in targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            ]
        elif isinstance(statement, ast.If):
            other = set(_certain(statement.orelse))
            names += [name for name in _certain(statement.body) if name in other]
        elif isinstance(statement, ast.Try):
            sure = _certain([*statement.body, *statement.orelse])
            for handler in statement.handlers:
                if not (handler.body and isinstance(handler.body[-1], ast.Raise)):
                    caught = set(_certain(handler.body))
                    sure = [name for name in sure if name in caught]
            names += sure + _certain(statement.finalbody)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            names += _certain(statement.body)
    return names
