"""Decides: every reference of a file becomes an edit, a refusal or a warning.

Owns the order of the decisions for one call-site file. It is a pure function of the file's bytes and a `Context`, so
that files can be planned in several processes.
Invariant: it reads no other file, writes nothing, and passes over no reference in silence.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.engine.model import Module, Reached, Refusal, When
from codemods.engine.references import (
    FromName,
    ModuleAlias,
    Names,
    StarImport,
    Target,
    expression_references,
    import_references,
)
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, Source, TooDeep, decode, is_lazy, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.expressions import Draft, ExpressionPlanner
from codemods.narrow_reexport.forms.docstring import plan_docstrings, read_in_examples
from codemods.narrow_reexport.forms.from_import import change_from_import, spell
from codemods.narrow_reexport.forms.lazy_modules import keep_lazy
from codemods.narrow_reexport.forms.onward_all import lists_onward, takes_all
from codemods.narrow_reexport.forms.placement import place
from codemods.narrow_reexport.forms.reraised import told_apart
from codemods.narrow_reexport.forms.same_name import imported_symbol
from codemods.narrow_reexport.forms.star import change_star
from codemods.narrow_reexport.forms.statement import Change, NewImport, stands_alone, statement_end
from codemods.narrow_reexport.left_alone import (
    is_accepted,
    is_left,
    mentions,
    needs_expressions,
    settle,
    shadowed,
    unparsed,
)
from codemods.narrow_reexport.oversized import oversized, too_deep
from codemods.narrow_reexport.resolve import Resolution


def plan_file(path: str, data: bytes, context: Context) -> FilePlan:
    """Plan one file as a call site; the package's own `__init__` may be one too, where it reads itself."""
    try:
        return oversized(path, data, context) or _planned(path, data, context)
    except (TooDeep, RecursionError):
        return too_deep(path, data, context)
    except NotPython as error:
        return unparsed(path, data, context, error)


def _planned(path: str, data: bytes, context: Context) -> FilePlan:
    source = decode(data, path)
    return plan_tree(source, parse(source), context)


def target_of(path: str, context: Context) -> Target:
    """What is looked for in one file."""
    return Target(
        context.package.name,
        context.resolutions.names,
        frozenset(name for name in context.lost if (path, name) not in context.spared)
        if context.spared
        else context.lost,
        context.hidden,
        dict(context.carriers),
        context.layout.locate,
    )


def plan_tree(source: Source, tree: ast.Module, context: Context) -> FilePlan:
    """The same for a file that is parsed already."""
    path = source.path
    shadow = context.layout.shadowed_by(path)
    if shadow:
        return shadowed(source, tree, context, shadow)
    module = context.layout.module_at(path)
    target = target_of(path, context)
    syntax = analyse(source, tree, expressions=False)
    references = import_references(syntax, module, target)
    if needs_expressions(syntax, module, target, references, context):
        syntax = analyse(source, tree)
        references = import_references(syntax, module, target)
        references += expression_references(syntax, module, target)
    draft = _Planner(syntax, module, target, context).run(references)
    exampled = read_in_examples(source, tree, draft.unused)
    shown = plan_docstrings(source, tree, context, plan_file)
    edits, unlisted = keep_lazy(syntax, module, draft.changes, draft.edits, context.resolutions[0].symbol)
    draft.refusals += [*unlisted, *told_apart(syntax, context.package, context.resolutions)]
    edits += draft.edits + place(syntax, module, draft.changes, context.width) + shown.edits
    refusals, accepted = settle(source, [r for r in draft.refusals if r.site.line not in shown.lines], context)
    said = [warning for warning in draft.warnings if warning.site.line not in shown.lines] + shown.warnings
    warnings = [warning for warning in said if not is_accepted(source, warning.site, context)]
    return FilePlan(
        path,
        tuple(sorted(set(edits))),
        draft.sites + len(shown.spans),
        tuple(sorted(refusals)),
        tuple(sorted(set(warnings))),
        mentions(source, context, [*edits, *shown.spans], [*refusals, *accepted]),
        tuple(sorted(accepted)),
        tuple(each for each in (*draft.reached, *shown.reached) if not is_accepted(source, each.site, context)),
        tuple(name for name in draft.unused if name not in exampled),
    )


_TOO_EARLY = "this runs before the __init__ binds the name, and gets the module of that name; it would get the symbol"
_AS_MODULE = "accept the site: it stays as it is, and goes on getting the module"


class _Planner:
    def __init__(self, syntax: Syntax, module: Module, target: Target, context: Context) -> None:
        self.syntax = syntax
        self.module = module
        self.target = target
        self.context = context
        self.by_name = context.resolutions.by_name
        self.draft = Draft()

    def run(self, references: Sequence[object]) -> Draft:
        self._from_names([r for r in references if isinstance(r, FromName) and not self._is_left(r)])
        for reference in references:
            if isinstance(reference, ModuleAlias) and not self._is_left(reference):
                self._module_alias(reference)
            elif isinstance(reference, StarImport):
                self._star(reference)
        if self.syntax.whole:
            ExpressionPlanner(self.syntax, self.module, self.target, self.context, self.draft, plan_file).run(
                references
            )
        return self.draft

    def _from_names(self, found: Sequence[FromName]) -> None:
        listed = self.context.resolutions.to_list
        for statement in takes_all(self.syntax, self.module, self.context.package.name) if listed else ():
            reason = "this module takes the package's __all__ as its own, which no longer lists the symbol"
            self._refuse(statement, listed[0], reason, "write this module's own __all__ first")
        by_statement: dict[ast.ImportFrom, list[FromName]] = {}
        for reference in found:
            resolution = self.by_name[reference.name]
            # once narrowed, `from pkg import f` of a same-named module is a way to get the module
            itself = self.syntax.source.path == self.context.package.path and reference.block.when is not When.LATE
            # in the `__init__` itself `from . import f as m` is the module f, as long as `from .f import f` has not run
            module = resolution.same_name and (resolution.narrowed or itself)
            if self.context.guarding and resolution.same_name:
                module = not imported_symbol(self.syntax, reference)
            if not resolution.is_submodule and not module:
                alias = reference.statement.names[reference.number]
                self._reach(alias, reference.name, self._from(reference.statement, resolution, alias))
                by_statement.setdefault(reference.statement, []).append(reference)
        for statement, names in by_statement.items():
            moves = {reference.number: self.by_name[reference.name].origin for reference in names}
            bound = [alias.asname or alias.name for alias in statement.names]
            twice = {name for name in bound if bound.count(name) > 1}
            if any(
                {alias.name for alias in statement.names if (alias.asname or alias.name) == name} != {name}
                for name in twice
            ):
                self._refuse(
                    statement, names[0].name, "the statement binds one name twice", "split the statement first"
                )
                continue
            if any(self._too_early(reference) for reference in names):
                self._refuse(statement, names[0].name, _TOO_EARLY, _AS_MODULE)
                continue
            patched = [
                reference.name
                for reference in names
                if reference.name in self.context.early
                and reference.block.when.value == "late"
                and (reference.name, self.syntax.source.path, statement.lineno) not in self.context.apart
            ]
            if patched:
                self._refuse(
                    statement,
                    patched[0],
                    "a test patches the name at its origin, and this import inside a function would come to see that",
                    "move the import to module level, or accept the site",
                )
                continue
            if (
                any(self.by_name[reference.name].origin.module == self.module.name for reference in names)
                and names[0].block.scope is self.syntax.module
            ):
                self._refuse(
                    statement,
                    names[0].name,
                    "the origin imports its own symbol through the package",
                    "take that import out first",
                )
                continue
            self.draft.changes.append(
                change_from_import(
                    self.syntax.source, self.module, self.context.package.name, statement, names[0].block, moves, {}
                )
            )
            self.draft.sites += len(names)

    def _module_alias(self, reference: ModuleAlias) -> None:
        # import pkg.f as m         ->  from pkg.f import f as m       (it bound the function)
        found = self.by_name[reference.name]
        if found.is_submodule or not found.same_name:
            return
        if not imported_symbol(self.syntax, reference) if self.context.guarding else found.narrowed:
            return
        if self._too_early(reference):
            self._refuse(reference.statement, reference.name, _TOO_EARLY, _AS_MODULE)
            return
        alias = reference.statement.names[reference.number]
        bound = alias.asname or ""
        self._reach(alias, reference.name, f"from {found.origin.module} import {found.origin.name} as {bound}")
        names = ((found.origin.name, "" if bound == found.origin.name else bound),)
        left: str | None = None
        if len(reference.statement.names) > 1:
            others = [
                ast.unparse(other)
                for number, other in enumerate(reference.statement.names)
                if number != reference.number
            ]
            word = "lazy " if is_lazy(self.syntax.source, reference.statement) else ""
            left = f"{word}import {', '.join(others)}"
        comment = ""
        if stands_alone(self.syntax.source, reference.statement):
            end, line_end = statement_end(self.syntax.source, reference.statement)
            comment = self.syntax.source.text[end:line_end].strip()
        new = NewImport(found.origin.module, found.origin.module, names, comment)
        self.draft.changes.append(Change(reference.statement, reference.block, left, [new]))
        self.draft.sites += 1

    def _star(self, star: StarImport) -> None:
        read = frozenset(name for module, name in self.context.star_reads if module == self.module.name)
        submodules = []
        for dotted in sorted(self.target.lost & self.context.star_takes):
            parent, _, last = dotted.rpartition(".")
            if parent == star.source and (last not in self.by_name or parent != self.context.package.name):
                submodules.append(last)
        onward = lists_onward(self.syntax, self.module, Names(self.syntax, self.module, self.target))
        change = change_star(
            self.syntax, self.module, star, self.context.resolutions, submodules, read, listed_onward=onward
        )
        if change is not None:
            self.draft.changes.append(change)
            self.draft.sites += 1
            taken = {alias or name for new in change.new for name, alias in new.names}
            for name in self.by_name if star.source == self.context.package.name else ():
                if name in taken:
                    self._reach(star.statement, name, self._from(star.statement, self.by_name[name], ast.alias(name)))

    def _reach(self, node: ast.alias | ast.stmt, name: str, instead: str) -> None:
        self.draft.reached.append(Reached(self.syntax.source.site_of(node), str(self.by_name[name].symbol), instead))

    def _from(self, statement: ast.ImportFrom, found: Resolution, alias: ast.alias) -> str:
        bound = alias.asname or alias.name
        renamed = f" as {bound}" if bound != found.origin.name or alias.asname else ""
        spelled = spell(self.module, statement, self.context.package.name, found.origin.module)
        return f"from {spelled} import {found.origin.name}{renamed}"

    def _too_early(self, reference: FromName | ModuleAlias) -> bool:
        """Whether the import runs before the package binds the name, so that it gets the module of that name."""
        # pkg/b.py: from pkg import d        and in the `__init__` from .b import b stands above from .d import d
        late = reference.block.when in (When.LATE, When.TYPING)
        return not late and (self.module.name, reference.name) in self.context.unbound

    def _is_left(self, reference: FromName | ModuleAlias) -> bool:
        alias = reference.statement.names[reference.number]
        return is_left(self.context, self.syntax.source.path, alias.lineno, self.by_name[reference.name])

    def _refuse(self, node: ast.expr | ast.stmt, name: str, reason: str, hint: str) -> None:
        self.draft.refusals.append(
            Refusal(self.syntax.source.site_of(node), str(self.by_name[name].symbol), reason, hint)
        )
