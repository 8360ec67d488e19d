"""What the expressions of a file read through the package: attributes, type strings, reflection, strings.

Owns the order of the decisions for everything that is no import statement, and the draft that a file's decisions go into.
Invariant: it decides for one file alone, from its syntax and the `Context`; each read becomes an edit, a refusal or a warning.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from codemods.engine.by_name import named_losses
from codemods.engine.model import Edit, Module, Reached, Refusal, Warned, When
from codemods.engine.references import (
    AttributeUse,
    Escape,
    FromName,
    LostModule,
    Names,
    Target,
)
from codemods.engine.scopes import Syntax, Use
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.annotation import type_strings, typed_strings
from codemods.narrow_reexport.forms.attribute import additions_as_changes
from codemods.narrow_reexport.forms.by_name import asks_after_it, hindrance, taken_over
from codemods.narrow_reexport.forms.code_string import Planner, Rewriter
from codemods.narrow_reexport.forms.dotted_string import judge_strings
from codemods.narrow_reexport.forms.faked_module import judge_fakes
from codemods.narrow_reexport.forms.lazy_object import judge_lazy_objects
from codemods.narrow_reexport.forms.lazy_onward import onward_lazy
from codemods.narrow_reexport.forms.lazy_reads import late_reads
from codemods.narrow_reexport.forms.loaded import plan_loaded
from codemods.narrow_reexport.forms.loaded_modules import judge_loaded
from codemods.narrow_reexport.forms.mirror import judge_mirrors
from codemods.narrow_reexport.forms.onward_all import onward_entries
from codemods.narrow_reexport.forms.optional_use import LocalImports
from codemods.narrow_reexport.forms.patch import PatchPlanner
from codemods.narrow_reexport.forms.patch_target import PatchTargets, patch_calls
from codemods.narrow_reexport.forms.patched_reads import PatchedPlanner
from codemods.narrow_reexport.forms.public_names import compared_exports
from codemods.narrow_reexport.forms.rebinding import judge_rebinding
from codemods.narrow_reexport.forms.reflection import judge_namespaces, judge_patterns, judge_reflection
from codemods.narrow_reexport.forms.same_name import is_symbol
from codemods.narrow_reexport.forms.statement import Change
from codemods.narrow_reexport.forms.verdicts import TextPlan, accepts
from codemods.narrow_reexport.left_alone import (
    covered,
    is_left,
    kept_in_classes,
)


@dataclass(slots=True)
class Draft:
    """The decisions for one file, as they come."""

    changes: list[Change] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    sites: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


class ExpressionPlanner:
    """Decides for the expressions of one file."""

    def __init__(
        self, syntax: Syntax, module: Module, target: Target, context: Context, draft: Draft, plan: Planner
    ) -> None:
        self.plan = plan  # plans the code in strings
        self.syntax = syntax
        self.module = module
        self.target = target
        self.context = context
        self.by_name = context.resolutions.by_name
        self.draft = draft

    def run(self, references: Sequence[object]) -> None:
        """Add the decisions for all references that expressions make."""
        names = Names(self.syntax, self.module, self.target)
        uses = [r for r in references if isinstance(r, AttributeUse)]
        lost = [r for r in references if isinstance(r, LostModule)]
        wanted = self.context.resolutions.names
        typed = type_strings(self.syntax, names, wanted)
        lost += [*typed.lost, *named_losses(self.syntax, names)]
        for string in typed.unclear:
            self._refuse(
                string.node,
                next(name for name in sorted(wanted) if name in ast.unparse(string.node)),
                "a type string that is put together from parts reads the symbol through the package",
                "write it as one literal",
            )
        local = LocalImports(self.syntax, self.context.width)
        named, reflected = taken_over(self.syntax, names, self.by_name, references)
        kept = self._kept([*uses, *typed.found, *named], names, references, local)
        loaded = plan_loaded(self.syntax, self.module, names, kept, self.by_name, self.context.early, self._accepts)
        for literal, name in loaded.resolved:
            self._reach(literal, name, f'"{self.by_name[name].origin.dotted}"')
        late = late_reads(self.syntax, self.module, loaded.rest, typed.found, self.context)
        planner = PatchedPlanner(
            self.syntax,
            self.module,
            names,
            early=self.context.early,
            private=self.module.is_package or self.module.name in self.context.starred_modules or self._stars(),
            risky=self.context.resolutions.names if self.module.name in self.context.risky else frozenset(),
            apart=frozenset((name, line) for name, path, line in self.context.apart if path == self.syntax.source.path),
            typed=typed.counts,
        )
        planner.patched = {patched.name: patched for patched in self.context.patched}
        handled = self._patches(planner, names)
        planner.plan.additions += loaded.additions
        plan = planner.run(late.rest, lost, self.by_name)
        droppable = frozenset(name for path, name in self.context.droppable if path == self.syntax.source.path)
        additions_as_changes(plan, self.syntax, self.draft.changes, droppable)
        self.draft.unused += [root for _, block, _, root in plan.unused if block.scope is self.syntax.module]
        self.draft.refusals += plan.refusals + late.refusals
        self.draft.edits += plan.edits + loaded.edits + late.edits
        self.draft.sites += len(plan.texts) + loaded.sites + len(late.texts)
        self._texts([*plan.texts, *local.texts, *late.texts])
        self.draft.edits += local.edits
        self.draft.sites += len(local.texts)
        for escape in (r for r in references if isinstance(r, Escape)):
            reason = "the package is kept as a value here: whoever gets it may read the symbol from it"
            self.draft.warnings.append(
                Warned(self.syntax.source.site_of(escape.use.node), str(self.context.resolutions[0].symbol), reason)
            )
        self.draft.warnings += kept_in_classes(self.syntax, names, self.context)
        self.draft.warnings += compared_exports(self.syntax, names, self.context)
        listed = self.context.resolutions.to_list
        onward = onward_entries(self.syntax, self.module, names, listed, as_tuple=self.context.all_is_tuple)
        self.draft.edits += onward
        self.draft.sites += len(onward)
        rewriter = Rewriter(self.context, self.plan, self._accepts) if self.context.rewrite_strings else None
        lazily = onward_lazy(self.syntax, self.module, self.context)
        for entry, name in lazily.reached:
            self._reach(entry, name, f'"{self.by_name[name].origin.dotted}"')
        settled = [*typed_strings(self.syntax), *loaded.strings, *lazily.settled]
        reflected = [r for r in reflected if id(r.use.node) not in handled]
        for verdicts in (
            lazily.plan,
            judge_reflection(self.syntax, reflected, self.context.resolutions),
            judge_mirrors(self.syntax, names, reflected, self.context),
            judge_lazy_objects(self.syntax, self.module, self.context.package.name, self.by_name),
            judge_namespaces(self.syntax, names, named, self.context.resolutions),
            judge_patterns(self.syntax, names, self.context.resolutions),
            judge_rebinding(self.syntax, self.module, names, self.context),
            judge_strings(self.syntax, self.context.resolutions, settled, rewriter, handled),
            judge_loaded(self.syntax, self.target.lost, str(self.context.resolutions[0].symbol)),
        ):
            self._verdicts(verdicts)

    def _stars(self) -> bool:
        # from pkg import *        it may bind over a new name, for one the module f over the function f
        imports = [each for each, _ in self.syntax.imports if isinstance(each, ast.ImportFrom)]
        return any(each.names[0].name == "*" for each in imports)

    def _patches(self, planner: PatchedPlanner, names: Names) -> set[int]:
        """Decide for what tests replace; gives the nodes that are settled by that."""
        path = self.syntax.source.path
        unloaded = frozenset(name for name in self.context.lost if (path, name) not in self.context.spared)
        old = self.context.old_mock
        deciding = PatchPlanner(self.syntax, self.by_name, planner.patched, unloaded, self._accepts, old_mock=old)
        targets = tuple(
            target
            for target in PatchTargets(names).found(patch_calls(self.syntax))
            if not is_left(self.context, path, target.call.node.lineno, self.by_name[target.name])
        )
        patches = deciding.run(targets)
        for target in targets:
            found = self.by_name[target.name]
            if not found.is_submodule and (target.replaces or not found.same_name):
                self._reach(target.literal or target.call.node, target.name, f'"{found.origin.dotted}"')
        planner.objects(patches.objects, self.by_name)
        if self.context.guarding:
            # a patch and its readers are mended together, or not at all
            self.draft.refusals += patches.refusals
            patches.refusals.clear()
        self._verdicts(TextPlan(patches.edits, patches.refusals, patches.warnings))
        self._verdicts(judge_fakes(self.syntax, self.by_name, self.context.faked))
        return patches.handled

    def _is_module(self, use: AttributeUse, names: Names) -> bool:
        # pkg.f.f()        patch.object(pkg.f, "f")        attrgetter("f")(pkg.f)
        # written by this run, where pkg.f is the module
        origin = self.by_name[use.name].origin
        parent = use.use.parent
        if isinstance(parent, ast.Attribute):
            return parent.attr == origin.name
        beside = [*parent.args, *(keyword.value for keyword in parent.keywords)] if isinstance(parent, ast.Call) else []
        beside += parent.func.args if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Call) else []
        return any(isinstance(part, ast.Constant) and part.value == origin.name for part in beside)

    def _kept(
        self, uses: Sequence[AttributeUse], names: Names, references: Sequence[object], local: LocalImports
    ) -> list[AttributeUse]:
        """The reads that an import can be found for; the others are refused, warned of, or import at their place."""
        kept: list[AttributeUse] = []
        for use in uses:
            found = self.by_name[use.name]
            if is_left(self.context, self.syntax.source.path, use.node.lineno, found):
                continue
            if self.context.guarding and found.same_name:
                if not is_symbol(use.use):
                    continue
            elif found.same_name and (found.narrowed or (self.context.verifying and self._is_module(use, names))):
                continue
            if not found.is_submodule:
                self._reach(use.by_name.literal if use.by_name is not None else use.node, use.name, found.origin.dotted)
            asks = None if self.context.guarding else asks_after_it(use, found, self.syntax)
            hindered = hindrance(use, found, self.syntax)
            if asks is not None:
                self.draft.warnings.append(asks)
            elif hindered:
                self._refuse(use.node, use.name, hindered, "read it from its origin there, or accept the site")
            elif use.stored:
                verb = "deletes" if isinstance(use.node.ctx, ast.Del) else "assigns to (rebinds)"
                self._refuse(
                    use.node,
                    use.name,
                    f"the code {verb} the package's attribute",
                    "do it on the origin and see to its readers, or accept the site",
                )
            elif found.optional and not covered(use, found) and not self._fails_anyway(use.name, references):
                free = use.name not in self.context.early and not self._accepts(use.node.lineno)
                if free and local.take(use, found):
                    continue
                self._refuse(
                    use.node,
                    use.name,
                    "the re-export is optional (try/except ImportError), and an import of its origin at module level could fail here",
                    "import it at the place of use, under its own try",
                )
            elif self._in_own_init(use):
                hint = "--callers-only moves the call sites and leaves the __init__'s own import"
                self._refuse(use.node, use.name, "the __init__ itself uses the symbol through the package", hint)
            elif self._accepts(use.node.lineno):
                # the refusal is what an accepted site is recorded as
                self._refuse(use.node, use.name, "the symbol is read through the package", "read it from its origin")
            else:
                kept.append(use)
        return kept

    def _fails_anyway(self, name: str, references: Sequence[object]) -> bool:
        # from pkg import sym        unguarded at module level: without the symbol this file cannot be imported at all
        return any(
            isinstance(other, FromName)
            and other.name == name
            and other.block.when is When.EAGER
            and not other.block.optional
            for other in references
        )

    def _in_own_init(self, use: AttributeUse) -> bool:
        # the `__init__` reads itself: import pkg; def f(): return pkg.sym()
        if self.syntax.source.path != self.context.package.path:
            return False
        root: ast.expr = use.node
        while isinstance(root, ast.Attribute):
            root = root.value
        owner = use.use.scope.owner(root.id) if isinstance(root, ast.Name) else None
        blocks = [b.block for b in owner.bindings[root.id]] if owner is not None and isinstance(root, ast.Name) else []
        return any(block.when is not When.LATE for block in blocks)

    def _texts(self, texts: Sequence[tuple[object, str]]) -> None:
        strings: dict[ast.JoinedStr, dict[ast.AST, str]] = {}
        for use, text in texts:
            assert isinstance(use, Use)
            if use.fstring is not None:
                strings.setdefault(use.fstring, {})[use.node] = text
                continue
            start, end = self.syntax.source.span(use.node)
            self.draft.edits.append(Edit(self.syntax.source.path, start, end, text))
        if not strings:
            return
        from codemods.narrow_reexport.forms.fstring import Unclear, rewrite_fstring

        for joined, replaced in strings.items():
            try:
                self.draft.edits += rewrite_fstring(self.syntax.source, joined, replaced)
            except Unclear as error:
                name = next(node.attr for node in replaced if isinstance(node, ast.Attribute))
                self._refuse(
                    joined,
                    name,
                    f"an f-string reads the symbol and cannot be rewritten: {error}",
                    "take the expression out of the f-string",
                )

    def _verdicts(self, plan: TextPlan) -> None:
        if all(found.narrowed for found in self.context.resolutions):
            # the name is gone already: whoever asks for it by name has been broken, or was taken on, before this run
            self.draft.warnings += [Warned(refusal.site, refusal.symbol, refusal.reason) for refusal in plan.refusals]
        else:
            self.draft.refusals += plan.refusals
        self.draft.warnings += plan.warnings
        self.draft.edits += plan.edits
        self.draft.sites += len(plan.edits)

    def _reach(self, node: ast.expr, name: str, instead: str) -> None:
        self.draft.reached.append(Reached(self.syntax.source.site_of(node), str(self.by_name[name].symbol), instead))

    def _accepts(self, line: int) -> bool:
        return accepts(self.syntax.source.line(line)) or (self.syntax.source.path, line) in self.context.accepted

    def _refuse(self, node: ast.expr | ast.stmt, name: str, reason: str, hint: str) -> None:
        self.draft.refusals.append(
            Refusal(self.syntax.source.site_of(node), str(self.by_name[name].symbol), reason, hint)
        )
