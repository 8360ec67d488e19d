"""The `__init__` side: the re-export goes, whatever form it has, and the rest of the file works as before.

Owns the cut in the package's `__init__.py` and `__init__.pyi`: from-imports, assignments, stars, guards, `del`, and the
import moved into functions that use the name.
Invariant: the file never reads a name that it no longer binds, at import time or later.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Module, Refusal, Symbol, Warned, When
from codemods.engine.namespace import Namespaces, absolute, all_values
from codemods.engine.scopes import Binding, Block, Syntax, Use
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.dunder_all import AllPlan, plan_all
from codemods.narrow_reexport.forms.from_import import relative
from codemods.narrow_reexport.forms.statement import NewImport, deletion, render, statement_end
from codemods.narrow_reexport.resolve import Resolution


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


def plan_init(
    package: Module,
    syntax: Syntax,
    namespaces: Namespaces,
    resolutions: Sequence[Resolution],
    lost: frozenset[str],
    read_names: frozenset[str],
    width: int,
    *,
    callers_only: bool = False,
    stub: bool = False,
) -> InitPlan:
    """Plan the `__init__` of one package for all its symbols.

    `lost` are modules that the package will no longer load; `read_names` the names that code outside reads through it.
    """
    planner = _InitPlanner(package, syntax, namespaces, resolutions, lost, read_names, width, stub)
    return planner.run(callers_only)


class _InitPlanner:
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

    def run(self, callers_only: bool) -> InitPlan:
        every = frozenset(self.resolutions)
        entries = plan_all(self.package, self.syntax, self.namespaces, every)
        self.plan.refusals += entries.refusals
        self.gone |= entries.gone
        if callers_only:
            self.plan.kept |= every
            self._finish(entries, [])
            return self.plan
        for name, found in self.resolutions.items():
            self._cut(name, found)
        for name, found in self.resolutions.items():
            self._uses(name, found)
            self._clobbered(found)
            self._by_name(name, found)
        self._module_imports(entries)
        dels = self._deletions()
        self._submodule_uses()
        self._stars()
        self._finish(entries, dels)
        return self.plan

    # What binds the symbol

    def _cut(self, name: str, found: Resolution) -> None:
        if found.is_submodule:
            # import pkg.sub
            for statement, _ in self.syntax.imports:
                for number, alias in enumerate(statement.names if isinstance(statement, ast.Import) else ()):
                    if alias.name == found.origin.dotted and not alias.asname:
                        self.removed.setdefault(statement, set()).add(number)
                        self._reads_itself(found)
        for binding in self.syntax.module.bindings.get(name, []):
            statement = binding.statement
            if isinstance(binding.node, ast.alias):
                # from .sub import sym [as x]
                self.removed.setdefault(statement, set()).add(statement.names.index(binding.node))  # type: ignore[attr-defined]
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(binding.node, ast.Name):
                # sym = sub.sym
                self.targets.setdefault(statement, set()).add(name)
            elif self.stub and binding.block.scope is self.syntax.module:
                self.plan.refusals.append(
                    Refusal(
                        self.source.site(statement.lineno),
                        str(found.symbol),
                        "the stub declares the name itself",
                        "move the declaration into the submodule's stub first",
                    )
                )

    def _reads_itself(self, found: Resolution) -> None:
        top = self.package.name.partition(".")[0]
        for use in self.syntax.names:
            if isinstance(use.node, ast.Name) and use.node.id == top and use.scope.owner(top) is self.syntax.module:
                self._refuse(
                    use.node, found, f"the __init__ itself uses {top}, which this import binds", "import it there first"
                )

    def _removed_statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return len(self.removed.get(statement, ())) == len(statement.names)
        if isinstance(statement, ast.Assign):
            return len(self.targets.get(statement, ())) == len(statement.targets)
        return statement in self.targets

    # Who else reads it here

    def _uses(self, name: str, found: Resolution) -> None:
        late: dict[ast.AST, list[Use]] = {}
        for use in self.syntax.names:
            if not isinstance(use.node, ast.Name) or use.node.id != name or id(use.node) in self.gone:
                continue
            if use.scope.owner(name) is not self.syntax.module or self._removed_statement(use.statement):
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

    # Imports that only served the symbol

    def _module_imports(self, entries: AllPlan) -> None:
        # from . import sub; sym = sub.sym         the import goes when nothing else uses it
        for statement in list(self.targets):
            if not self._removed_statement(statement) or statement.value is None:
                continue
            root = statement.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name):
                self._drop_import_of(
                    root.id,
                    {id(node) for gone in self.targets if self._removed_statement(gone) for node in ast.walk(gone)},
                )
        for value in entries.replaced:
            root = value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name):
                self._drop_import_of(root.id, {id(node) for node in ast.walk(value)})

    def _drop_import_of(self, name: str, ignored: set[int]) -> None:
        bindings = self.syntax.module.bindings.get(name, [])
        others = [
            u
            for u in self.syntax.names
            if isinstance(u.node, ast.Name)
            and u.node.id == name
            and id(u.node) not in ignored
            and u.scope.owner(name) is self.syntax.module
        ]
        exports = self.namespaces.exports(self.package.name)
        if others or (exports is not None and name in exports.names) or name in self.read_names:
            return
        for binding in bindings:
            if isinstance(binding.node, ast.alias):
                self.removed.setdefault(binding.statement, set()).add(binding.statement.names.index(binding.node))  # type: ignore[attr-defined]

    # Names that the import of a submodule bound by the way

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

    def _deletions(self) -> list[tuple[ast.Delete, list[int]]]:
        # del sub        there is nothing left to delete
        found: list[tuple[ast.Delete, list[int]]] = []
        for statement in self.syntax.blocks:
            if not isinstance(statement, ast.Delete) or self.syntax.blocks[statement].scope is not self.syntax.module:
                continue
            drop = [number for number, target in enumerate(_flat(statement)) if self._lost_leaf(target)]
            if drop:
                found.append((statement, drop))
        return found

    def _submodule_uses(self) -> None:
        for use in self.syntax.names:
            if (
                isinstance(use.node, ast.Name)
                and id(use.node) not in self.gone
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

    # Stars

    def _stars(self) -> None:
        sources = {source for found in self.resolutions.values() for source in found.stars}
        for statement, _ in self.syntax.imports:
            if not isinstance(statement, ast.ImportFrom) or statement.names[0].name != "*":
                continue
            source = absolute(self.package, statement)
            if source not in sources:
                continue
            names = self.namespaces.star(source)
            assert names is not None
            # from .sub import *     ->  from .sub import a, b
            keep = [
                name
                for name in names.certain
                if name not in self.resolutions and (names.listed or name not in names.imported or self._read(name))
            ]
            dropped = [
                name
                for name in (*names.certain, *sorted(names.maybe))
                if name not in keep and name not in self.resolutions
            ]
            risky = [name for name in sorted(names.maybe) if self._read(name) and name not in self.resolutions]
            for name in risky:
                self.plan.refusals.append(
                    Refusal(
                        self.source.site(statement.lineno),
                        str(next(iter(self.resolutions.values())).symbol),
                        f"the star also brings {name}, which {source} binds only under a condition and which is read through the package",
                        "import that name explicitly where it is read first",
                    )
                )
            if dropped:
                self.plan.dropped[source] = tuple(dropped)
            spelled = "." * statement.level + (statement.module or "")
            code_end, line_end = statement_end(self.source, statement)
            comment = self.source.text[code_end:line_end].strip()
            ordered = sorted(
                keep,
                key=lambda name: (
                    0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2,
                    name.lower(),
                ),
            )
            new = [NewImport(spelled, source, tuple((name, "") for name in ordered), comment)] if keep else []
            start = self.source.span(statement)[0]
            if new:
                indent = self.source.text[self.source.starts[statement.lineno - 1] : start]
                self.plan.edits.append(
                    Edit(
                        self.source.path,
                        start,
                        line_end if not indent.strip() else code_end,
                        render(new[0], indent, self.width, self.source.newline),
                    )
                )
            else:
                self.emptied.append(statement)

    def _read(self, name: str) -> bool:
        exports = self.namespaces.exports(self.package.name)
        if name in self.read_names or (exports is not None and name in exports.names):
            return True
        return any(
            isinstance(use.node, ast.Name) and use.node.id == name and use.scope.owner(name) is None
            for use in self.syntax.names
        )

    # Edits

    def _finish(self, entries: AllPlan, dels: list[tuple[ast.Delete, list[int]]]) -> None:
        gone: set[ast.stmt] = set(self.emptied) | set(entries.emptied)
        self.plan.edits += [edit for edit in entries.edits]
        for statement, positions in self.removed.items():
            assert isinstance(statement, (ast.Import, ast.ImportFrom))
            if len(positions) == len(statement.names):
                gone.add(statement)
            else:
                self.plan.edits.append(self._without(statement, positions))
        for assign, names in self.targets.items():
            if self._removed_statement(assign):
                gone.add(assign)
            elif isinstance(assign, ast.Assign):
                # a = sym = sub.sym
                for number, target in enumerate(assign.targets):
                    if isinstance(target, ast.Name) and target.id in names:
                        start = self.source.span(target)[0]
                        following = assign.targets[number + 1] if number + 1 < len(assign.targets) else assign.value
                        self.plan.edits.append(Edit(self.source.path, start, self.source.span(following)[0], ""))
        for statement, drop in dels:
            flat = _flat(statement)
            if len(drop) == len(flat):
                gone.add(statement)
            else:
                left = [target for number, target in enumerate(flat) if number not in drop]
                start, end = self.source.span(statement)
                self.plan.edits.append(Edit(self.source.path, start, end, f"del {', '.join(left)}"))
        self._delete(gone)

    def _without(self, statement: ast.Import | ast.ImportFrom, positions: set[int]) -> Edit:
        start, end = self.source.span(statement)
        if isinstance(statement, ast.Import):
            left = [self._text(alias) for number, alias in enumerate(statement.names) if number not in positions]
            return Edit(self.source.path, start, end, f"import {', '.join(left)}")
        text = self.source.text[start:end].replace("\r\n", "\n")
        return Edit(
            self.source.path,
            start,
            end,
            sequence.without(sequence.import_names(text), positions).left.text.replace("\n", self.source.newline),
        )

    def _delete(self, gone: set[ast.stmt]) -> None:
        # a block that is left empty takes its statement along where that did nothing else
        grown = True
        while grown:
            grown = False
            for statement in self.syntax.blocks:
                if statement in gone or not isinstance(statement, (ast.If, ast.Try)):
                    continue
                if isinstance(statement, ast.Try):
                    dead = (
                        all(inner in gone for inner in statement.body)
                        and not statement.orelse
                        and not statement.finalbody
                    )
                    dead = dead and all(
                        isinstance(inner, (ast.Pass, ast.Expr))
                        for handler in statement.handlers
                        for inner in handler.body
                    )
                else:
                    dead = (
                        all(inner in gone for inner in statement.body)
                        and not statement.orelse
                        and _is_pure(statement.test)
                    )
                if dead and isinstance(statement, ast.Try):
                    self._warn_of_handler(statement)
                if dead:
                    gone -= set(statement.body)
                    gone.add(statement)
                    grown = True
            by_block: dict[int, list[ast.stmt]] = {}
        for statement in gone:
            by_block.setdefault(id(self.syntax.blocks[statement]), []).append(statement)
        for statements in by_block.values():
            block = self.syntax.blocks[statements[0]]
            statements.sort(key=lambda node: node.lineno)
            self.plan.edits += self._deletions_in(block, statements)

    def _warn_of_handler(self, statement: ast.Try) -> None:
        # except ImportError: warnings.warn("no cuda")          said before, silent afterwards
        for handler in statement.handlers:
            for inner in handler.body:
                if isinstance(inner, ast.Expr) and not isinstance(inner.value, ast.Constant):
                    symbol = str(next(iter(self.resolutions.values())).symbol)
                    reason = "the guard goes with the import, and so does what its handler says when the import fails"
                    self.plan.warnings.append(Warned(self.source.site(inner.lineno), symbol, reason))

    def _deletions_in(self, block: Block, statements: list[ast.stmt]) -> list[Edit]:
        runs: list[list[ast.stmt]] = []
        for statement in statements:
            at = block.statements.index(statement)
            if runs and block.statements.index(runs[-1][-1]) == at - 1 and self._touching(runs[-1][-1], statement):
                runs[-1].append(statement)
            else:
                runs.append([statement])
        if len(statements) == len(block.statements) and not isinstance(block.owner, ast.Module):
            return [deletion(self.source, block, *statements)]
        return [deletion(self.source, block, *run) for run in runs]

    def _touching(self, upper: ast.stmt, lower: ast.stmt) -> bool:
        assert upper.end_lineno is not None
        return (
            not any(self.source.line(line).strip() for line in range(upper.end_lineno + 1, lower.lineno))
            and lower.lineno > upper.end_lineno
        )

    def _text(self, node: ast.expr | ast.alias) -> str:
        start, end = self.source.span(node)
        return self.source.text[start:end]

    def _refuse(self, node: ast.expr, found: Resolution, reason: str, hint: str) -> None:
        self.plan.refusals.append(Refusal(self.source.site_of(node), str(found.symbol), reason, hint))


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


def _flat(statement: ast.Delete) -> list[str]:
    # del a, b        del (a, b)
    names: list[str] = []
    for target in statement.targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        names += [ast.unparse(part) for part in parts]
    return names


def _is_pure(test: ast.expr) -> bool:
    effects = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Subscript)
    return not any(isinstance(node, effects) for node in ast.walk(test))


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))


def _names_in(text: str, name: str) -> bool:
    try:
        tree = ast.parse(f"({text})", mode="eval")
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
