"""The `__init__` side: the re-export goes, whatever form it has, and the rest of the file works as before.

Owns the cut in the package's `__init__.py` and `__init__.pyi`: from-imports, assignments, stars, guards, `del`, and the
import moved into functions that use the name.
Invariant: the file never reads a name that it no longer binds, at import time or later.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.engine.model import Edit, Module, Refusal, Warned, When
from codemods.engine.namespace import Namespaces, absolute
from codemods.engine.scopes import Block, Syntax
from codemods.engine.source import is_lazy
from codemods.engine.walk import suppresses_import_error
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.dunder_all import AllPlan, plan_all
from codemods.narrow_reexport.forms.guarded_together import untied
from codemods.narrow_reexport.forms.init_star import dissolve_stars
from codemods.narrow_reexport.forms.init_uses import InitPlan, InitUses
from codemods.narrow_reexport.forms.lazy_cut import lazy_tables
from codemods.narrow_reexport.forms.lazy_modules import unneeded
from codemods.narrow_reexport.forms.reraised import reworded
from codemods.narrow_reexport.forms.statement import deletion
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.star_modules import StarModules


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
    star_modules: StarModules | None = None,
) -> InitPlan:
    """Plan the `__init__` of one package for all its symbols.

    `lost` are modules that the package will no longer load; `read_names` the names that code outside reads through it;
    `star_modules` tells which submodules its stars take along.
    """
    planner = _InitPlanner(package, syntax, namespaces, resolutions, lost, read_names, width, stub)
    planner.star_modules = star_modules
    return planner.run(callers_only)


class _InitPlanner(InitUses):
    star_modules: StarModules | None = None

    def run(self, callers_only: bool) -> InitPlan:
        every = frozenset(self.resolutions)
        lazy = frozenset[str]() if self.stub or callers_only else self._lazy_names()
        tables = lazy_tables(self.package, self.syntax, self.namespaces, lazy)
        entries = plan_all(self.package, self.syntax, self.namespaces, every, tables)
        self.plan.refusals += entries.refusals
        if entries.unread and not entries.refusals and self.resolutions:
            line = getattr(entries.unread[0], "lineno", 1)
            reason = "__all__ is computed in a way that cannot be read: it may still name the symbol"
            symbol = str(next(iter(self.resolutions.values())).symbol)
            self.plan.warnings.append(Warned(self.source.site(line), symbol, reason))
        self.gone |= entries.gone
        self._cut_lazy(lazy, entries.edits)
        if callers_only:
            self.plan.kept |= every
            self._finish(entries, [])
            return self.plan
        for name, found in self.resolutions.items():
            self._cut(name, found)
        if self.stub:
            self._keep_for_types()
        for name, found in self.resolutions.items():
            if self.stub:
                break
            self._uses(name, found)
            self._clobbered(found)
            self._by_name(name, found)
        self._module_names()
        self.plan.warnings += untied(self.package, self.syntax, self.removed, self.resolutions)
        self.plan.warnings += reworded(self.syntax, self.resolutions.values())
        self._module_imports(entries)
        dels = self._deletions()
        self._submodule_uses()
        dissolve_stars(self, self.star_modules)
        self._finish(entries, dels)
        return self.plan

    # What binds the symbol

    def _cut(self, name: str, found: Resolution) -> None:
        if found.is_submodule:
            # import pkg.sub
            for importing, _ in self.syntax.imports:
                for number, alias in enumerate(importing.names if isinstance(importing, ast.Import) else ()):
                    if alias.name == found.origin.dotted and not alias.asname:
                        self.removed.setdefault(importing, set()).add(number)
                        self._reads_itself(found)
        for binding in self.syntax.module.bindings.get(name, []):
            statement = binding.statement
            if isinstance(binding.node, ast.alias):
                # from .sub import sym [as x]
                assert isinstance(statement, (ast.Import, ast.ImportFrom))
                self.removed.setdefault(statement, set()).add(statement.names.index(binding.node))
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

    def _keep_for_types(self) -> None:
        # from .sub import Sym as Sym; def f(x: Sym) -> None      ->  from .sub import Sym: in a stub no re-export
        for statement, positions in list(self.removed.items()):
            assert isinstance(statement, (ast.Import, ast.ImportFrom))
            for number in list(positions):
                alias = statement.names[number]
                bound = alias.asname or alias.name
                if any(isinstance(use.node, ast.Name) and use.node.id == bound for use in self.syntax.names):
                    positions.discard(number)
                    if alias.asname == alias.name:
                        start, end = self.source.span(alias)
                        self.plan.edits.append(Edit(self.source.path, start, end, alias.name))
            if not positions:
                del self.removed[statement]

    def _reads_itself(self, found: Resolution) -> None:
        top = self.package.name.partition(".")[0]
        for use in self.syntax.names:
            if isinstance(use.node, ast.Name) and use.node.id == top and use.scope.owner(top) is self.syntax.module:
                self._refuse(
                    use.node, found, f"the __init__ itself uses {top}, which this import binds", "import it there first"
                )

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
        submodule = self.namespaces.is_submodule(self.package.name, name)  # importable with or without this import
        read = name in self.read_names and not submodule
        if others or (exports is not None and name in exports.names) or read:
            return
        for binding in bindings:
            if isinstance(binding.node, ast.alias):
                self.removed.setdefault(binding.statement, set()).add(binding.statement.names.index(binding.node))  # type: ignore[attr-defined]

    # Names that the import of a submodule bound by the way

    def _deletions(self) -> list[tuple[ast.Delete, list[int]]]:
        # del sub        there is nothing left to delete
        found: list[tuple[ast.Delete, list[int]]] = []
        for statement in self.syntax.blocks:
            if not isinstance(statement, ast.Delete) or self.syntax.blocks[statement].scope is not self.syntax.module:
                continue
            drop = [number for number, target in enumerate(_flat(statement)) if self._lost_leaf(target)]
            for number, target in enumerate(_flat(statement)):
                if number not in drop:
                    self._deleted(statement, target)
            if drop:
                found.append((statement, drop))
        return found

    def _deleted(self, statement: ast.Delete, name: str) -> None:
        # from .sub import sym; del sub; from .sub import other        without the first there is no `sub` to delete yet
        bound = [b for b in self.syntax.module.bindings.get(name, []) if not isinstance(b.statement, ast.Delete)]
        dotted = f"{self.package.name}.{name}"
        above = [
            each
            for each, block in self.syntax.imports
            if each.lineno < statement.lineno and block.when is not When.LATE and _starts(each, self.package, dotted)
        ]
        if any(map(self._survives, bound)) or not above or not all(map(self._removed_statement, above)):
            return
        for found in self.resolutions.values():
            if f"{found.loads}.".startswith(f"{dotted}."):
                reason = f"the __init__ deletes the submodule {name} here, which the re-export loads before"
                hint = "import the submodule explicitly in the __init__ first"
                self.plan.refusals.append(Refusal(self.source.site(statement.lineno), str(found.symbol), reason, hint))

    # Edits

    def _finish(self, entries: AllPlan, dels: list[tuple[ast.Delete, list[int]]]) -> None:
        gone: set[ast.stmt] = set(self.emptied) | set(entries.emptied)
        self.plan.edits += entries.edits
        whole = [statement for statement in self.removed if self._removed_statement(statement)]
        origins = {found.loads for found in self.resolutions.values()}
        self.plan.edits += unneeded(self.syntax, self.package, origins, whole)
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
            word = "lazy " if is_lazy(self.source, statement) else ""
            left = [self._text(alias) for number, alias in enumerate(statement.names) if number not in positions]
            return Edit(self.source.path, start, end, f"{word}import {', '.join(left)}")
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
                if statement in gone or not isinstance(statement, (ast.If, ast.Try, ast.With)):
                    continue
                if isinstance(statement, ast.With) and not suppresses_import_error(statement):
                    continue
                if isinstance(statement, ast.Try):
                    dead = (
                        all(inner in gone for inner in statement.body)
                        and not statement.orelse
                        and not statement.finalbody
                    )
                    dead = dead and all(
                        isinstance(inner, (ast.Pass, ast.Expr, ast.Raise))
                        for handler in statement.handlers
                        for inner in handler.body
                    )
                elif isinstance(statement, ast.With):
                    dead = all(inner in gone for inner in statement.body)
                else:
                    dead = all(i in gone for i in (*statement.body, *statement.orelse)) and _is_pure(statement.test)
                if dead and isinstance(statement, ast.Try):
                    self._warn_of_handler(statement)
                if dead:
                    gone -= {*statement.body, *getattr(statement, "orelse", ())}
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


def _starts(statement: ast.Import | ast.ImportFrom, package: Module, module: str) -> bool:
    """Whether an import names the module, or one below it."""
    source = absolute(package, statement) if isinstance(statement, ast.ImportFrom) else ""
    named = [f"{source}.{alias.name}" if source else alias.name for alias in statement.names]
    return any(f"{each}.".startswith(f"{module}.") for each in (source, *named))


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
