"""What the `__getattr__` of a module gives for one name: its code followed by reading, statement by statement.

Owns the statements and calls that a lazy `__init__` is made of: branches, loops over tables, `import_module`, helpers in the
tree, and the factories of `lazy_loader` and the like.
Invariant: it follows a path only where every step is known; anything else raises `Unclear`, and nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codemods.engine.model import Module, Symbol, When
from codemods.engine.scopes import Binding, Syntax, last_name
from codemods.engine.walk import is_type_checking
from codemods.narrow_reexport.forms.lazy_attach import Attached, attached, parameters_of, stubbed
from codemods.narrow_reexport.forms.lazy_calls import Calls
from codemods.narrow_reexport.forms.lazy_structure import build, is_given, is_table, lazy_module
from codemods.narrow_reexport.forms.lazy_values import Lacking, Loaded, Namespace, Taken, Unclear

_DEPTH = 8
_STRUCTURES = (ast.Name, ast.Dict, ast.Call)
_IMPORT_FAILURES = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", ""}


class _Returned(Exception):
    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class _Raised(Exception):
    def __init__(self, name: str, line: int) -> None:
        super().__init__()
        self.name = name
        self.line = line


@dataclass(slots=True, eq=False)
class Function:
    """A function with the names around it."""

    node: ast.FunctionDef
    home: Execution
    around: dict[str, object]


class Execution(Calls):
    """Follows the code of one file; `syntax_of` reads the other modules of the tree."""

    def __init__(
        self,
        package: Module,
        syntax: Syntax,
        locate: Callable[[str], Module | None],
        syntax_of: Callable[[Module], Syntax | None],
        depth: int = 0,
    ) -> None:
        super().__init__(package, syntax, locate)
        self.syntax_of = syntax_of
        self.depth = depth
        self.by_stub = False  # the stub beside the file decides
        self.optional: set[str] = set()  # names in tables that a missing dependency leaves out
        self.followed: list[ast.AST] = []  # functions and calls of this file that decide

    def ask(self, name: str) -> Loaded | Taken | None:
        """What `package.name` is by the module's `__getattr__`; None where it raises AttributeError. Raises Unclear."""
        found = getattr_bindings(self.syntax)
        if not found:
            self.steps = 0
            return self._of_lazy_module(name)
        binding = found[0]
        line = binding.statement.lineno
        self.asked, self.own, self.shared = name, {}, set()
        if binding.block.optional and not _only_typing(binding):
            raise Unclear("__getattr__ is defined only under a condition", line)
        if len(found) > 1:
            raise Unclear("there is more than one __getattr__", found[1].statement.lineno)
        self.steps = 0
        try:
            maker = self._maker(binding)
            if isinstance(maker, Attached):
                value = self._attached(maker, name)
            elif isinstance(maker, Function):
                value = self._enter(maker, [name], {}, line)
            else:
                raise Unclear("__getattr__ is made in a way that cannot be read", line)
        except _Raised as error:
            if error.name == "AttributeError":
                return None
            raise Unclear(f"it raises {error.name}", error.line) from None
        except Lacking:
            return None  # return _LAZY[name]        KeyError: it does not give the name, either
        if isinstance(value, (Loaded, Taken)):
            return value
        raise Unclear("__getattr__ gives something that it makes itself", line)

    def _of_lazy_module(self, name: str) -> Loaded | Taken | None:
        # sys.modules[__name__] = _LazyModule(__name__, globals()["__file__"], _import_structure, module_spec=__spec__)
        call = lazy_module(self.syntax)
        if call is None:
            return None
        self.followed.append(call)
        structures: list[ast.expr] = [
            part for part in call.args if isinstance(part, _STRUCTURES) and not is_given(part)
        ]
        words = {word.arg: word.value for word in call.keywords}
        structures += [words[name] for name in ("import_structure",) if name in words]
        extra = words.keys() - {"module_spec", "import_structure"}
        for part in structures:
            if isinstance(part, ast.Call):
                raise Unclear(f"its structure is computed by {ast.unparse(part.func)}()", part.lineno)
        tables = [self.value(part, {}) for part in structures]
        if extra or len(tables) != 1 or not isinstance(tables[0], dict):
            raise Unclear("its lazy module is made in a way that is not followed", call.lineno)
        for module, listed in tables[0].items():
            if isinstance(listed, (list, tuple, set)) and name in listed:
                return Taken(Symbol(f"{self.package.name}.{module}", name))
        return Loaded(f"{self.package.name}.{name}") if name in tables[0] else None

    def _maker(self, binding: Binding) -> object:
        statement = binding.statement
        if isinstance(binding.node, ast.FunctionDef):
            # def __getattr__(name): ...
            if binding.node.decorator_list:
                raise Unclear("__getattr__ is decorated", statement.lineno)
            self.followed.append(binding.node)
            return Function(binding.node, self, {})
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            # __getattr__, __dir__, __all__ = lazy.attach(__name__, ...)
            self.followed.append(statement.value)
            value = self.value(statement.value, {})
            names = [target.id if isinstance(target, ast.Name) else "" for target in statement.targets[0].elts]
            if isinstance(value, Attached):
                return value
            if isinstance(value, tuple) and len(value) == len(names):
                return value[names.index("__getattr__")]
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(binding.node, ast.Name):
            # __getattr__ = make(...)
            assert statement.value is not None
            self.followed.append(statement.value)
            return self.value(statement.value, {})
        raise Unclear("__getattr__ is made in a way that cannot be read", statement.lineno)

    def _attached(self, found: Attached, name: str) -> object:
        if name in found.submodules:
            return Loaded(f"{found.package}.{name}")
        if name in found.attributes:
            return self.read_from(Loaded(f"{found.package}.{found.attributes[name]}"), name, ast.Name(name))
        raise _Raised("AttributeError", 0)

    # Functions

    def _enter(self, function: Function, given: list[object], words: dict[str, object], line: int) -> object:
        if self.depth >= _DEPTH:
            raise Unclear("it calls too deep to be followed", line)
        arguments = function.node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            raise Unclear(f"{function.node.name}() takes its arguments in a way that is not followed", line)
        names = [argument.arg for argument in arguments.args]
        bound = dict(zip(names, given, strict=False)) | words
        defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        defaults |= {argument.arg: default for argument, default in pairs if default is not None}
        every = [*names, *(argument.arg for argument in arguments.kwonlyargs)]
        for name in every:
            if name not in bound and name in defaults:
                bound[name] = function.home.value(defaults[name], dict(function.around))
        if set(bound) != set(every) or len(given) > len(names):
            raise Unclear(f"{function.node.name}() is called in a way that is not followed", line)
        self.depth += 1
        try:
            function.home.suite(function.node.body, function.around | bound)
        except _Returned as done:
            return done.value
        finally:
            self.depth -= 1
        return None

    def call(self, node: ast.Call, target: object, names: dict[str, object]) -> object:
        """A call of a function of the tree, or of a known factory."""
        if isinstance(target, Function):
            given = [self.value(argument, names) for argument in node.args]
            words = {word.arg: self.value(word.value, names) for word in node.keywords if word.arg}
            if len(words) == len(node.keywords):
                return self._enter(target, given, words, node.lineno)
        if isinstance(target, Taken):
            module = self.locate(target.symbol.module)
            syntax = self.syntax_of(module) if module is not None else None
            function = _defined(syntax, target.symbol.name) if syntax is not None else None
            parameters = parameters_of(target.symbol, function)
            if "filename" in parameters:
                self.by_stub = True
                stub = Module(self.package.name, f"{self.package.path}i", True)
                return stubbed(node, self.package.name, self.syntax_of(stub))
            if parameters:
                return attached(node, parameters, lambda part: self.value(part, names))
            if function is not None and module is not None and syntax is not None:
                home = Execution(module, syntax, self.locate, self.syntax_of, self.depth + 1)
                given = [self.value(argument, names) for argument in node.args]
                words = {word.arg: self.value(word.value, names) for word in node.keywords if word.arg}
                if len(words) == len(node.keywords):
                    return home._enter(Function(function, home, {}), given, words, node.lineno)
        raise Unclear(f"it calls {ast.unparse(node.func)}()", node.lineno)

    def of_name(self, name: str, node: ast.expr) -> object:
        """The value of a module-level name, functions included."""
        function = _defined(self.syntax, name)
        if function is not None:
            if function not in self.followed:
                self.followed.append(function)
            return Function(function, self, {})
        try:
            return super().of_name(name, node)
        except Unclear:
            if not is_table(self.syntax, name):
                raise
        # _import_structure = {...}; _import_structure["sub"] = ["sym"]
        built = build(self.syntax, name, lambda part: self.value(part, {}))
        self.read[name] = built.statements
        self.optional |= built.optional
        self._known[name] = built.table
        return built.table

    # Statements

    def suite(self, body: Iterable[ast.stmt], names: dict[str, object]) -> None:
        """Follow a suite; a `return` leaves it as an exception."""
        for statement in body:
            self._statement(statement, names)

    def _statement(self, node: ast.stmt, names: dict[str, object]) -> None:
        if isinstance(node, ast.Pass):
            return
        if isinstance(node, ast.Global):
            self.shared.update(node.names)
            return
        if isinstance(node, ast.Return):
            raise _Returned(None if node.value is None else self.value(node.value, names))
        if isinstance(node, ast.Raise):
            raise _Raised(last_name(_raised(node.exc)), node.lineno)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports += 1
            for alias in node.names:
                bound = alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0]
                names[alias.asname or bound] = self.imported(node, alias)
        elif isinstance(node, ast.If):
            self.suite(node.body if self.truth(node.test, names) else node.orelse, names)
        elif isinstance(node, ast.For):
            self._loop(node, names)
        elif isinstance(node, ast.Try):
            self._try(node, names)
        elif isinstance(node, ast.Match):
            self._match(node, names)
        elif isinstance(node, ast.FunctionDef) and not node.decorator_list:
            names[node.name] = Function(node, self, names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            if node.value is None:
                return
            value = self.value(node.value, names)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if not self._keeps(target, value, names):
                    self.bind(target, value, names)
        elif isinstance(node, ast.Expr):
            self._expression(node.value, names)
        else:
            raise Unclear(
                f"it has a statement that is not followed: {ast.unparse(node).splitlines()[0][:60]}", node.lineno
            )

    def _keeps(self, target: ast.expr, value: object, names: dict[str, object]) -> bool:
        # globals()[name] = value        sys.modules[__name__].__dict__[name] = value        a cache: the value is the same
        if not isinstance(target, ast.Subscript):
            return False
        if isinstance(target.value, ast.Call):
            own = isinstance(self.value(target.value, names), Namespace)
        else:
            own = ast.unparse(target.value) == "sys.modules[__name__].__dict__"
        if own:
            self.own[self.value(target.slice, names)] = value
        return own

    def _expression(self, node: ast.expr, names: dict[str, object]) -> None:
        if isinstance(node, ast.Constant):
            return
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and called == "globals().update" and len(node.args) == 1:
            # globals().update({name: value})
            values = self.value(node.args[0], names)
            if isinstance(values, dict):
                self.own |= values
                return
        elif isinstance(node, ast.Call) and called == "setattr" and len(node.args) == 3:
            # setattr(sys.modules[__name__], name, value)
            if ast.unparse(node.args[0]) == "sys.modules[__name__]":
                self.own[self.value(node.args[1], names)] = self.value(node.args[2], names)
                return
        self.value(node, names)

    def _loop(self, node: ast.For, names: dict[str, object]) -> None:
        for item in self.items(node.iter, names):
            self.bind(node.target, item, names)
            for inner in ast.walk(node):
                if isinstance(inner, (ast.Break, ast.Continue)):
                    raise Unclear("it leaves a loop early", inner.lineno)
            self.suite(node.body, names)
        self.suite(node.orelse, names)

    def _try(self, node: ast.Try, names: dict[str, object]) -> None:
        before = self.imports
        try:
            self.suite(node.body, names)
        except (Lacking, _Raised) as error:
            raised = "KeyError" if isinstance(error, Lacking) else error.name
            for handler in node.handlers:
                if _kinds(handler) & (
                    {raised, "Exception", "BaseException", ""} | ({"LookupError"} if raised == "KeyError" else set())
                ):
                    self.suite(handler.body, names)
                    break
            else:
                raise
        except _Returned:
            self._sure(node, before)
            raise
        else:
            self._sure(node, before)
            self.suite(node.orelse, names)
        self.suite(node.finalbody, names)

    def _sure(self, node: ast.Try, before: int) -> None:
        for handler in node.handlers:
            if self.imports > before and _kinds(handler) & _IMPORT_FAILURES:
                raise Unclear("it has another way out where the import fails", handler.lineno)

    def _match(self, node: ast.Match, names: dict[str, object]) -> None:
        subject = self.value(node.subject, names)
        for case in node.cases:
            if self._matches(case.pattern, subject, names) and (case.guard is None or self.truth(case.guard, names)):
                self.suite(case.body, names)
                return

    def _matches(self, pattern: ast.pattern, subject: object, names: dict[str, object]) -> bool:
        if isinstance(pattern, ast.MatchValue):
            return self.value(pattern.value, names) == subject
        if isinstance(pattern, ast.MatchOr):
            return any(self._matches(part, subject, names) for part in pattern.patterns)
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None and not self._matches(pattern.pattern, subject, names):
                return False
            if pattern.name:
                names[pattern.name] = subject
            return True
        raise Unclear("it has a pattern that is not followed", pattern.lineno)


def getattr_bindings(syntax: Syntax) -> list[Binding]:
    """What binds the module's `__getattr__` at run time."""
    found = syntax.module.bindings.get("__getattr__", [])
    return [binding for binding in found if binding.block.when is not When.TYPING]


def _defined(syntax: Syntax, name: str) -> ast.FunctionDef | None:
    found = syntax.module.bindings.get(name, [])
    if len(found) != 1 or not isinstance(found[0].node, ast.FunctionDef) or found[0].node.decorator_list:
        return None
    return found[0].node if not found[0].block.optional or _only_typing(found[0]) else None


def _only_typing(binding: Binding) -> bool:
    # if TYPE_CHECKING: ... else: def __getattr__(name): ...
    owner, parent = binding.block.owner, binding.block.parent
    if not isinstance(owner, ast.If) or parent is None or parent.optional:
        return False
    negated = isinstance(owner.test, ast.UnaryOp) and isinstance(owner.test.op, ast.Not)
    test = owner.test.operand if isinstance(owner.test, ast.UnaryOp) and negated else owner.test
    return is_type_checking(test) and (binding.block.statements is owner.body) is negated


def _raised(node: ast.expr | None) -> ast.expr:
    if isinstance(node, ast.Call):
        return node.func
    return node if node is not None else ast.Name("the exception at hand")


def _kinds(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {""}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {last_name(kind) for kind in kinds}
