"""What else the `__init__` does with the symbol: its own uses, at import time or later.

Owns the verdicts on the names that an `__init__` reads itself, and the import moved into its functions.
Invariant: a use at import time is never moved, and none is passed over.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Module, Refusal, Symbol, Warned, When
from codemods.engine.namespace import Namespaces, all_values
from codemods.engine.scopes import Binding, Block, Syntax, Use
from codemods.narrow_reexport.forms.from_import import relative
from codemods.narrow_reexport.forms.lazy_cut import cut_lazy
from codemods.narrow_reexport.forms.lazy_export import lazy_origin, lazy_refusal
from codemods.narrow_reexport.forms.lazy_values import Unclear
from codemods.narrow_reexport.forms.module_name import set_by_init
from codemods.narrow_reexport.forms.statement import NewImport, render
from codemods.narrow_reexport.resolve import Resolution

ASKED = "the package's __getattr__ will be asked for the name once the import is gone"


@dataclass(slots=True)
class InitPlan:
    """What becomes of the `__init__`."""

    edits: list[Edit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)  # symbols whose import stays (--callers-only)
    dropped: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # star module -> names that nobody reads and that go


class InitUses:
    """One `__init__` with what is taken out of it so far."""

    def __init__(
        self,
        package: Module,
        syntax: Syntax,
        namespaces: Namespaces,
        resolutions: Sequence[Resolution],
        lost: frozenset[str],
        read_names: frozenset[str],
        width: int,
        stub: bool,
    ) -> None:
        self.package = package
        self.syntax = syntax
        self.source = syntax.source
        self.namespaces = namespaces
        self.resolutions = {found.symbol.name: found for found in resolutions if not found.narrowed}
        self.lost = lost
        self.read_names = read_names
        self.width = width
        self.stub = stub
        self.plan = InitPlan()
        self.removed: dict[ast.stmt, set[int]] = {}  # import statement -> positions of the aliases that go
        self.targets: dict[ast.Assign | ast.AnnAssign, set[str]] = {}
        self.emptied: list[ast.stmt] = []
        self.gone: set[int] = set()

    # Names that the package gives out on demand

    def _lazy_names(self) -> frozenset[str]:
        """The symbols that the package's `__getattr__` gives; those of which it cannot be told are warned of."""
        found: set[str] = set()
        for name, resolution in self.resolutions.items():
            try:
                if lazy_origin(self.package, self.syntax, self.namespaces, name) is not None:
                    found.add(name)
            except Unclear as error:
                self.plan.warnings.append(Warned(self.source.site(error.line), str(resolution.symbol), ASKED))
        return frozenset(found)

    def _cut_lazy(self, names: frozenset[str], listed: Sequence[Edit]) -> None:
        if not names:
            return
        try:
            cut = cut_lazy(self.package, self.syntax, self.namespaces, sorted(names), listed)
        except Unclear as error:
            self.plan.refusals += [lazy_refusal(self.package, self.syntax, name, error) for name in sorted(names)]
            return
        self.plan.edits += cut.edits
        self.emptied += cut.emptied
        self.gone |= cut.gone

    def _removed_statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return len(self.removed.get(statement, ())) == len(statement.names)
        if isinstance(statement, ast.Assign):
            return len(self.targets.get(statement, ())) == len(statement.targets)
        return statement in self.targets

    # Who else reads it here

    def _lost_leaf(self, name: str) -> bool:
        return f"{self.package.name}.{name}" in self.lost and not any(
            self._survives(b)
            for b in self.syntax.module.bindings.get(name, [])
            if not isinstance(b.statement, ast.Delete)
        )

    def _survives(self, binding: Binding) -> bool:
        statement = binding.statement
        if isinstance(binding.node, ast.alias):
            return statement.names.index(binding.node) not in self.removed.get(statement, ())  # type: ignore[attr-defined]
        return not (
            isinstance(statement, (ast.Assign, ast.AnnAssign)) and binding.name in self.targets.get(statement, ())
        )

    def _text(self, node: ast.expr | ast.alias) -> str:
        start, end = self.source.span(node)
        return self.source.text[start:end]

    def _refuse(self, node: ast.expr, found: Resolution, reason: str, hint: str) -> None:
        self.plan.refusals.append(Refusal(self.source.site_of(node), str(found.symbol), reason, hint))

    def _uses(self, name: str, found: Resolution) -> None:
        late: dict[ast.AST, list[Use]] = {}
        for use in self.syntax.names:
            if not isinstance(use.node, ast.Name) or use.node.id != name or id(use.node) in self.gone:
                continue
            owner = use.scope.owner(name)
            starred = owner is None and bool(found.stars)
            if (owner is not self.syntax.module and not starred) or self._removed_statement(use.statement):
                continue
            function = _function(use)
            if function is not None and self._called_now(function):
                self._refuse(
                    use.node,
                    found,
                    f"the __init__ itself uses {name} at import time, in a function that it calls (module level)",
                    "--callers-only moves the call sites and leaves the __init__'s own import",
                )
                continue
            if function is None or isinstance(function, ast.Lambda):
                where = (
                    "in a lambda"
                    if function is not None
                    else "for type checkers"
                    if use.block.when is When.TYPING
                    else "at import time (module level)"
                )
                self._refuse(
                    use.node,
                    found,
                    f"the __init__ itself uses {name} {where}",
                    "--callers-only moves the call sites and leaves the __init__'s own import",
                )
                continue
            late.setdefault(function, []).append(use)
        for text in self.syntax.strings:
            if text.annotation and isinstance(text.node, ast.Constant) and _names_in(str(text.node.value), name):
                self._refuse(
                    text.node,
                    found,
                    f"an annotation of the __init__ uses {name}",
                    "--callers-only moves the call sites and leaves the __init__'s own import",
                )
        functions = list(late)
        for function in functions:
            if any(other is not function and _contains(other, function) for other in functions):
                continue
            self._move_into(function, found, late[function])

    def _by_name(self, name: str, found: Resolution) -> None:
        """The symbol reached by its name as text: `globals()["sym"]`, a table of names, `eval("sym(1)")`."""
        for use in self.syntax.strings:
            text = str(use.node.value) if isinstance(use.node, ast.Constant) else ""
            if id(use.node) in self.gone or name not in text or isinstance(use.parent, (ast.Expr, ast.JoinedStr)):
                continue
            if all_values(use.statement) or use.annotation:
                continue
            call = use.parent if isinstance(use.parent, ast.Call) else None
            callee = call.func.id if call is not None and isinstance(call.func, ast.Name) else ""
            if callee in ("eval", "exec") and re.search(rf"\b{re.escape(name)}\b", text):
                self._refuse(use.node, found, f"code in a string of the __init__ uses {name}", "import it there first")
            elif text != name:
                continue
            elif found.lazy and any(
                isinstance(b.node, ast.FunctionDef) for b in self.syntax.module.bindings.get(callee, [])
            ):
                # __getattr__("sym")        _load("sym")
                hint = "import it from its origin there"
                self._refuse(use.node, found, f"the __init__ itself asks {callee}() for {name} by its name", hint)
            elif isinstance(use.parent, ast.Subscript) and isinstance(use.parent.value, ast.Call):
                self._refuse(
                    use.node, found, f"the __init__ itself reads {name} by its name", "import it from its origin there"
                )
            elif use.block.scope.kind != "class":
                reason = "the __init__ spells the name as a string: code that looks it up will no longer find it"
                self.plan.warnings.append(Warned(self.source.site_of(use.node), str(found.symbol), reason))
        for use in self.syntax.calls:
            call_node = use.node
            if (
                isinstance(use.parent, ast.Subscript)
                and isinstance(call_node, ast.Call)
                and use.parent.value is call_node
            ):
                looks_up = isinstance(call_node.func, ast.Name) and call_node.func.id in ("globals", "vars", "locals")
                if looks_up and not isinstance(use.parent.slice, ast.Constant) and isinstance(use.parent.ctx, ast.Load):
                    reason = "the __init__ looks names up in its own namespace, perhaps this one"
                    self.plan.warnings.append(Warned(self.source.site_of(call_node), str(found.symbol), reason))

    def _module_names(self) -> None:
        """A loop over the exported names, or a helper that gets them, which sets `__module__` to the package."""
        statement = (
            set_by_init(self.package, self.syntax, self.namespaces) if self.resolutions and not self.stub else None
        )
        if statement is not None:
            reason = (
                "the __init__ sets __module__ on the names that it exports: pickle and documentation look them up here"
            )
            hint = "--callers-only moves the call sites and leaves the __init__'s own import"
            site, symbol = self.source.site_of(statement), str(next(iter(self.resolutions.values())).symbol)
            self.plan.refusals.append(Refusal(site, symbol, reason, hint))

    def _called_now(self, function: ast.AST) -> bool:
        """Whether module-level code of the `__init__` calls a function, or makes an object of its class."""
        names = {getattr(function, "name", "")}
        for statement, block in self.syntax.blocks.items():
            if statement is function and isinstance(block.owner, ast.ClassDef):
                names = {block.owner.name} if getattr(function, "name", "") in ("__init__", "__new__") else set()
        for use in self.syntax.names:
            if isinstance(use.node, ast.Name) and use.node.id in names and use.block.when is not When.LATE:
                called = isinstance(use.parent, ast.Call) and use.parent.func is use.node
                decorates = isinstance(use.parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
                if (called or decorates) and use.scope.kind in ("module", "class", "comprehension"):
                    return True
        return False

    def _clobbered(self, found: Resolution) -> None:
        # from .cuda import sym; from .light import cuda        a later import of pkg.cuda would bind the name over
        leaf = found.origin.module[len(self.package.name) + 1 :].partition(".")[0]
        if not leaf or leaf in self.resolutions or not found.origin.module.startswith(f"{self.package.name}."):
            return
        if f"{self.package.name}.{leaf}" not in self.lost:
            return
        for binding in self.namespaces.bindings(self.package.name, leaf):
            if isinstance(binding.statement, ast.Delete):
                continue
            if self.namespaces.origin(self.package, binding) != Symbol(self.package.name, leaf) and self._survives(
                binding
            ):
                self.plan.refusals.append(
                    Refusal(
                        self.source.site(binding.statement.lineno),
                        str(found.symbol),
                        f"the package also binds {leaf}, and the first late import of {found.origin.module} would bind the module over it",
                        "give one of the two another name first",
                    )
                )

    def _move_into(self, function: ast.AST, found: Resolution, uses: list[Use]) -> None:
        # def run():             ->  def run():
        #     return sym()               from .sub import sym
        #                                return sym()
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        if any(isinstance(node, ast.Global) and found.symbol.name in node.names for node in ast.walk(function)):
            self._refuse(
                uses[0].node,
                found,
                f"{function.name} declares {found.symbol.name} global",
                "--callers-only leaves the __init__'s own import",
            )
            return
        body = function.body
        first = body[0]
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
            and len(body) > 1
        ):
            first = body[1]
        alias = "" if found.origin.name == found.symbol.name else found.symbol.name
        spelled = self._spelled(found)
        new = NewImport(spelled, found.origin.module, ((found.origin.name, alias),))
        start = self.source.span(first)[0]
        if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and first.decorator_list:
            start = self.source.span(first.decorator_list[0])[0] - 1
            while self.source.text[start] != "@":
                start -= 1
        row = self.source.starts[self.source.line_of(start) - 1]
        indent = self.source.text[row:start]
        if indent.strip():
            # def run(): return sym()
            self.plan.edits.append(
                Edit(self.source.path, start, start, render(new, "", 10**9, self.source.newline) + "; ")
            )
            return
        text = render(new, indent, self.width, self.source.newline) + self.source.newline + indent
        self.plan.edits.append(Edit(self.source.path, start, start, text))

    def _spelled(self, found: Resolution) -> str:
        for binding in self.syntax.module.bindings.get(found.symbol.name, []):
            if isinstance(binding.statement, ast.ImportFrom) and not binding.statement.level:
                return found.origin.module
        return relative(self.package, found.origin.module) or found.origin.module

    def _submodules_by_name(self) -> None:
        """A lost submodule reached by its name as text: `del globals()["sub"]`, a table of names to delete."""
        if not any(word in self.source.text for word in ("globals(", "vars(", "locals(", "delattr(", "getattr(")):
            return
        for use in self.syntax.strings:
            text = use.node.value if isinstance(use.node, ast.Constant) else ""
            if not isinstance(text, str) or not text.isidentifier() or isinstance(use.parent, ast.Expr):
                continue
            if not self._lost_leaf(text) or all_values(use.statement) or use.annotation:
                continue
            for found in self.resolutions.values():
                if f"{found.origin.module}.".startswith(f"{self.package.name}.{text}."):
                    reason = f"the __init__ spells {text} as a string, the submodule that this import loads, and looks names up"
                    self._refuse(use.node, found, reason, "import the submodule explicitly in the __init__ first")
                    break

    def _submodule_uses(self) -> None:
        self._submodules_by_name()
        for use in self.syntax.names:
            if (
                isinstance(use.node, ast.Name)
                and id(use.node) not in self.gone
                and use.node.id not in self.resolutions
                and self._lost_leaf(use.node.id)
                and use.scope.owner(use.node.id) in (None, self.syntax.module)
            ):
                if self._removed_statement(use.statement):
                    continue
                for found in self.resolutions.values():
                    if f"{found.origin.module}.".startswith(f"{self.package.name}.{use.node.id}."):
                        self._refuse(
                            use.node,
                            found,
                            f"the __init__ itself uses the submodule {use.node.id}, which this import loads",
                            "import the submodule explicitly in the __init__ first",
                        )
                        break


def _function(use: Use) -> ast.AST | None:
    """The function whose body evaluates the use; None at import time; a lambda where no statement can stand."""
    if use.block.when is not When.LATE:
        for scope in use.scope.inside():
            if scope.kind == "lambda":
                return scope.node
        return None
    block: Block | None = use.block
    while block is not None:
        if isinstance(block.owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return block.owner
        block = block.parent
    return None


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))


def _names_in(text: str, name: str) -> bool:
    try:
        tree = ast.parse(f"({text})", mode="eval")
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
