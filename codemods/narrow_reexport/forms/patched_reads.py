"""Reads of a name that some test patches, and the packages that `patch.object` gets: they look the name up late.

Owns the forms that keep the time at which a name is looked up: the attribute path of its origin, or an import right before
the statement that reads it.
Invariant: a read of a patched name is never bound earlier than it was looked up before.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from codemods.engine.model import Edit, Symbol
from codemods.engine.references import AttributeUse
from codemods.engine.scopes import Binding, Scope, Use
from codemods.narrow_reexport.context import Patched
from codemods.narrow_reexport.forms.attribute import AttributePlanner
from codemods.narrow_reexport.forms.name_facts import Group, private_names, root_of
from codemods.narrow_reexport.forms.patch_target import PatchTarget
from codemods.narrow_reexport.forms.statement import NewImport, render
from codemods.narrow_reexport.resolve import Resolution

_HINT = "rename the local name, or accept the site"


class PatchedPlanner(AttributePlanner):
    """Plans attribute reads as its base does, but those of `patched` symbols so that they stay late."""

    patched: Mapping[str, Patched] = {}

    # patch.object(pkg, "sym"): the package as an object

    def objects(self, targets: Sequence[PatchTarget], resolutions: Mapping[str, Resolution]) -> None:
        """Give each target its origin's module in the place of the package."""
        uses = {id(use.node): use for use in (*self.syntax.names, *self.syntax.attributes)}
        for target in targets:
            assert target.module is not None
            found = resolutions[target.name]
            use = uses.get(id(target.module))
            root = root_of(target.module)
            owner = use.scope.owner(root.id) if use is not None and root is not None else None
            if use is None or root is None or owner is None:
                self._refuse(
                    target.call, found, "the patched package is reached through a call here", "import it by a statement"
                )
            elif self.names.modules(target.module, use.scope) != {found.symbol.module}:
                reason = f"{ast.unparse(target.module)} is the package here only on some paths"
                self._refuse(target.call, found, reason, "give the other object another name, or accept the site")
            else:
                self._object(target, use, Group(root.id, owner, [], found))

    def _object(self, target: PatchTarget, use: Use, group: Group) -> None:
        found, module = group.resolution, group.resolution.origin.module
        anchors = self._anchors(group.owner, group.root)
        below = module.removeprefix(found.symbol.module)
        path = found.path_is_module or self.patched[target.name].path
        if anchors and path and below.startswith("."):
            # patch.object(pkg, "sym")          ->  import pkg.sub beside the old import; patch.object(pkg.sub, "sym")
            start, end = self.syntax.source.span(use.node)
            self.plan.texts.append((use, f"{self.syntax.source.text[start:end]}{below}"))
            self._load(group.owner, group.root, module, use, found)
            return
        for alias in private_names(module) if anchors and (path or "." not in module) else ():
            # patch.object(pkg, "sym")          ->  import other.x as _x; patch.object(_x, "sym")
            if self._bindable(group, anchors) and self._free_alias(alias, group, module):
                self.plan.texts.append((use, alias))
                self._claim(alias, group.owner, Symbol(module, ""), [use.scope])
                for anchor in anchors:
                    self._add(anchor, NewImport(module, module, alias=alias))
                return
        reason = f"no import of {module} fits here for patch.object()"
        self._refuse(target.call, found, reason, f'patch "{found.origin.dotted}" by its path, or accept the site')

    def _bindable(self, group: Group, anchors: list[Binding]) -> bool:
        inside = all(a.scope is group.owner or a.scope.home(group.root) is a.scope for a in anchors)
        return inside and group.owner.kind != "class"

    # pkg.sym where pkg.sym is patched

    def _group(self, group: Group) -> None:
        found = group.resolution
        info = self.patched.get(found.symbol.name)
        anchors = self._anchors(group.owner, group.root)
        if info is None or info.stays or info.obstacle or found.is_submodule or not anchors:
            super()._group(group)
            return
        if found.path_is_module and self._reachable(group, anchors):
            # import pkg as p; p.sym()          ->  import pkg.sub; p.sub.sym()
            self._late(group, anchors)
            return
        module = found.origin.module
        for alias in private_names(module):
            # p.sym()                           ->  import pkg.sub as _sub; _sub.sym()
            if (found.path_is_module or (info.path and not found.same_name)) and self._bindable(group, anchors):
                if self._free_alias(alias, group, module):
                    self._module_alias(group, anchors, alias)
                    return
        typed = [read for read in group.reads if read.use.annotation]
        late = [read for read in group.reads if not read.use.annotation]
        edits = self._local(group, late)
        if (
            edits is None
            and info.path
            and module.startswith(f"{found.symbol.module}.")
            and self._reachable(group, anchors)
        ):
            self._late(group, anchors)
        elif edits is None:
            for read in late:
                reason = "a test patches the name, and no import of it fits here that looks it up as late as this read"
                self._refuse(read.use, found, reason, _HINT)
        else:
            self.plan.edits += edits
            if typed:
                super()._group(Group(group.root, group.owner, typed, found))

    def _reachable(self, group: Group, anchors: list[Binding]) -> bool:
        dotted = all(
            isinstance(a.statement, ast.Import) and isinstance(a.node, ast.alias) and not a.node.asname for a in anchors
        )
        if dotted:
            return True
        top = group.resolution.origin.module.partition(".")[0]
        homes = [Group(group.root, anchor.scope, group.reads, group.resolution) for anchor in anchors]
        return group.owner.kind != "class" and not self.private and all(self._free_module(top, home) for home in homes)

    def _local(self, group: Group, reads: Sequence[AttributeUse]) -> list[Edit] | None:
        """Imports right before the statements that read; None where one of the reads allows none."""
        # def run(): return pkg.f(x)            ->  def run():
        #                                               from pkg.f import f
        #                                               return f(x)
        found = group.resolution
        scopes: dict[int, list[AttributeUse]] = {}
        owners: dict[int, Scope] = {}
        for read in reads:
            scope = _home(read.use)
            if scope is None or read.use.fstring is not None or read.by_name is not None or self._has_comment(read):
                return None
            scopes.setdefault(id(scope), []).append(read)
            owners[id(scope)] = scope
        edits: list[Edit] = []
        texts: list[tuple[Use, str]] = []
        for key, own in scopes.items():
            home = Group(group.root, owners[key], own, found)
            private = self.private and owners[key].kind == "module"
            names = self._spellings(found) if private or not self.private else (found.symbol.name,)
            name = next((each for each in names if self._free(each, home, found.origin)), "")
            for statement in dict.fromkeys(read.use.statement for read in own) if name else ():
                edit = self._before(statement, [read for read in own if read.use.statement is statement], found, name)
                if edit is None:
                    return None
                edits.append(edit)
            if not name:
                return None
            texts += [(read.use, name) for read in own]
            self._claim(name, owners[key], found.origin, [read.use.scope for read in own])
        self.plan.texts += texts
        self._gone.update(read.use.node for read in reads)
        return edits

    def _before(self, statement: ast.stmt, reads: list[AttributeUse], found: Resolution, name: str) -> Edit | None:
        if isinstance(statement, (ast.While, ast.ClassDef, ast.Try)) or any(read.use.pattern for read in reads):
            return None
        if isinstance(statement, (ast.With, ast.AsyncWith)) and len(statement.items) > 1:
            first = list(ast.walk(statement.items[0].context_expr))
            if not all(read.node in first for read in reads):
                return None  # the first manager is entered before
        source = self.syntax.source
        start = source.span(statement)[0]
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.decorator_list:
            start = source.text.rindex("@", 0, source.span(statement.decorator_list[0])[0])
        alias = "" if name == found.origin.name else name
        new = NewImport(found.origin.module, found.origin.module, ((found.origin.name, alias),))
        row = source.starts[source.line_of(start) - 1]
        indent = source.text[row:start]
        if not indent.strip():
            if source.text.startswith("elif", start):
                return None
            text = render(new, indent, 10**9, source.newline) + source.newline + indent
        elif not hasattr(statement, "body"):
            text = render(new, "", 10**9, source.newline) + "; "
        else:
            return None
        return Edit(source.path, start, start, text)


def _home(use: Use) -> Scope | None:
    """The scope that an import right before a read's statement binds in; None where the read is later than its statement."""
    for scope in use.scope.inside():
        if scope.kind != "comprehension":
            return scope if scope.kind in ("function", "module") else None
        if isinstance(scope.node, ast.GeneratorExp):
            return None
    return None
