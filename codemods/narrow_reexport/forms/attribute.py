"""`pkg.sym`: attribute reads, whichever way the file reached the package.

Owns the choice between `pkg.sub.sym` (late, with `import pkg.sub`) and a from-import, and the names that either binds.
Invariant: it never clobbers a name, never gives a package a new public name, and never moves an import to another scope.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from codemods.engine.edits import apply
from codemods.engine.model import Edit, Refusal, Symbol, When
from codemods.engine.namespace import absolute
from codemods.engine.references import AttributeUse, LostModule
from codemods.engine.scopes import Binding, Scope, Syntax, Use
from codemods.narrow_reexport.forms import by_name
from codemods.narrow_reexport.forms.from_import import relative
from codemods.narrow_reexport.forms.lazy_object import typed_alone, way_out
from codemods.narrow_reexport.forms.name_facts import AttributePlan, Group, NameFacts, private_names, root_of
from codemods.narrow_reexport.forms.statement import Change, NewImport, statement_end
from codemods.narrow_reexport.resolve import Resolution


class AttributePlanner(NameFacts):
    """Decides for one file.

    `typed` counts the references inside type strings; `early` are symbols whose reads may not become late; `private` says
    that a new module-level name must not be public, `risky` that a from-import at module level may run into a cycle, `apart`
    gives (name, line) of reads that no patch of the origin can reach.
    """

    def run(
        self, uses: Sequence[AttributeUse], lost: Sequence[LostModule], resolutions: dict[str, Resolution]
    ) -> AttributePlan:
        """Plan all reads of the file."""
        groups: dict[tuple[int, str, str, bool], Group] = {}
        for use in uses:
            found = resolutions[use.name]
            root = root_of(use.node)
            owner = use.use.scope.owner(root.id) if root is not None else None
            if root is None or owner is None:
                self._refuse(
                    use.use,
                    found,
                    "the package is reached through a call or a container here",
                    "import the package by a statement, or accept the site",
                )
                continue
            if not use.certain and typed_alone(use.use):
                base = ast.unparse(use.node.value)
                reason = f"{base} is the package for type checkers alone; at run time it may read the symbol from there"
                self._refuse(use.use, found, reason, way_out(found))
                continue
            if not use.certain:
                self._refuse(
                    use.use,
                    found,
                    f"{ast.unparse(use.node.value)} is the package here only on some paths",
                    "give the other object another name, or accept the site",
                )
                continue
            apart = use.name in self.early and not by_name.can_be_name(use)
            if apart and use.by_name is not None and use.by_name.how != "hasattr":
                reason = "a test patches the name at its origin, and this read by name would come to see that"
                self._refuse(use.use, found, reason, "import the symbol by a statement, or accept the site")
                continue
            key = (id(owner), root.id, use.name, apart)
            groups.setdefault(key, Group(root.id, owner, [], found)).reads.append(use)
        self._rewritten = {node for group in groups.values() for read in group.reads for node in _nodes(read)}
        # what must be bound at once comes first: its import may stand where a late one would be widened in place
        for _, group in sorted(groups.items(), key=lambda e: e[0][3] or e[0][2] not in self.early):
            self._group(group)
        self._unused()
        self._lost(lost, next(iter(resolutions.values())))
        return self.plan

    def _lost(self, lost: Sequence[LostModule], any_symbol: Resolution) -> None:
        wanted: dict[tuple[int, str, str], LostModule] = {}
        for found in lost:
            root = root_of(found.use.node)
            owner = found.use.scope.owner(root.id) if root is not None else None
            # m = importlib.import_module("pkg"); m.sub.f()        there is no statement to put an import beside
            if root is None or owner is None or not self._anchors(owner, root.id):
                self._refuse_lost(found.use, any_symbol, found.module)
            else:
                wanted.setdefault((id(owner), root.id, found.module), found)
        # the deepest first: its import loads the packages above it
        for (_, name, dotted), found in sorted(wanted.items(), key=lambda entry: -entry[0][2].count(".")):
            owner = found.use.scope.owner(name)
            assert owner is not None
            self._load(owner, name, dotted, found.use, any_symbol)

    def _unused(self) -> None:
        """Imports of the package under names that nothing reads any more."""
        package = self.names.target.package
        for group, anchors in self._bound:
            if self.module.is_package and group.owner.kind == "module":
                continue  # a public name of a package
            if not group.resolution.origin.module.startswith(f"{package}."):
                continue  # the new import does not load the package
            if not all(binding.is_import for binding in group.owner.bindings[group.root]):
                continue
            if self._other_uses(group.owner, group.root, self._gone):
                continue
            for anchor in anchors:
                assert isinstance(anchor.statement, (ast.Import, ast.ImportFrom)) and isinstance(anchor.node, ast.alias)
                source = absolute(self.module, anchor.statement) if isinstance(anchor.statement, ast.ImportFrom) else ""
                if (f"{source}.{anchor.node.name}" if source else anchor.node.name) != package:
                    continue  # reached through another module, which may do more than that
                position = anchor.statement.names.index(anchor.node)
                self.plan.unused.append((anchor.statement, anchor.block, position, group.root))

    # One group

    def _group(self, group: Group) -> None:
        found = group.resolution
        anchors = self._anchors(group.owner, group.root)
        if not anchors:
            for read in group.reads:
                self._refuse(
                    read.use,
                    found,
                    f"{group.root} is bound to the package in a way that no import statement shows",
                    "import the package by a statement, or accept the site",
                )
            return
        if found.is_submodule:
            # import pkg; pkg.sub.f()        ->  import pkg.sub beside it; the reads stay
            self._load(group.owner, group.root, found.origin.dotted, group.reads[0].use, found)
            return
        if found.symbol.name in self.early and any(anchor.block.when is When.LATE for anchor in anchors):
            # def f(): import pkg as p; return p.sym()        it got what the package held, and would get what a test patches
            seen = [read for read in group.reads if (found.symbol.name, read.node.lineno) not in self.apart]
            for read in seen:
                reason = (
                    "a test patches the name at its origin, and this import inside a function would come to see that"
                )
                self._refuse(read.use, found, reason, "move the import to module level, or accept the site")
            if seen:
                return
        dotted_root = all(
            isinstance(a.statement, ast.Import) and isinstance(a.node, ast.alias) and not a.node.asname for a in anchors
        )
        if found.path_is_module and dotted_root and found.symbol.name not in self.early:
            # import pkg; pkg.sym()          ->  import pkg.sub; pkg.sub.sym()
            self._late(group, anchors)
            return
        late = found.symbol.name in self.risky
        bindable = (
            all(a.scope is group.owner or a.scope.home(group.root) is a.scope for a in anchors)
            and group.owner.kind != "class"
        )
        if not late and bindable and not any(self._needs_path(read) for read in group.reads):
            # import pkg as p; p.sym()       ->  from pkg.sub import sym; sym()
            for name in self._spellings(found):
                if self._free(name, group, found.origin):
                    self._bind(group, anchors, name)
                    return
        top = found.origin.module.partition(".")[0]
        if group.owner.kind != "class":
            homes = [Group(group.root, anchor.scope, group.reads, found) for anchor in anchors]
            if found.path_is_module and not self.private and all(self._free_module(top, home) for home in homes):
                self._late(group, anchors)
                return
            for alias in () if not found.path_is_module else private_names(found.origin.module):
                if bindable and self._free_alias(alias, group, found.origin.module):
                    self._module_alias(group, anchors, alias)
                    return
        if bindable and not any(self._needs_path(read) for read in group.reads):
            for name in self._spellings(found):  # it may close a cycle, which is checked for
                if self._free(name, group, found.origin):
                    self._bind(group, anchors, name)
                    return
        for read in group.reads:
            self._refuse(
                read.use,
                found,
                f"no import of {found.origin} fits here without clobbering a name",
                "rename the local name, or accept the site",
            )

    def _late(self, group: Group, anchors: list[Binding]) -> None:
        found = group.resolution
        package = found.symbol.module
        below = found.origin.dotted[len(package) + 1 :]
        for read in group.reads:
            if read.by_name is not None:
                path = f"{by_name.base_of(read, self.syntax.source)}.{below.removesuffix(f'.{found.origin.name}')}"
                self.plan.texts += by_name.from_module(read, self.syntax.source, path, found.origin.name)
                continue
            self.plan.texts.append((read.use, f"{self._base(read)}{below}"))
        module = found.origin.module if found.origin.module != package else found.origin.dotted
        others = self._other_uses(group.owner, group.root, self._rewritten)
        for anchor in anchors:
            assert isinstance(anchor.statement, (ast.Import, ast.ImportFrom)) and isinstance(anchor.node, ast.alias)
            if self._loads(anchor.block, anchor.statement, module):
                continue
            if (
                isinstance(anchor.statement, ast.Import)
                and not anchor.node.asname
                and anchor.node.name == package
                and not others
                and not self._replaced(anchor.node)
                and not any(done is anchor.statement for done, _, _ in self.plan.additions)
            ):
                # import outer . pkg        the span, not the length of the name: there may be white space in it
                self.plan.edits.append(Edit(self.syntax.source.path, *self.syntax.source.span(anchor.node), module))
                self._edited.append((anchor.node, module, anchor.statement, anchor.block))
                continue
            self._add(anchor, NewImport(module, module))

    def _bind(self, group: Group, anchors: list[Binding], name: str) -> None:
        found = group.resolution
        self._claim(name, group.owner, found.origin, [read.use.scope for read in group.reads])
        alias = "" if name == found.origin.name else name
        self._bound.append((group, anchors))
        for read in group.reads:
            self.plan.texts.append((read.use, name))
            self._gone.update(_nodes(read))
        for anchor in anchors:
            assert isinstance(anchor.statement, (ast.Import, ast.ImportFrom)) and isinstance(anchor.node, ast.alias)
            spelled = found.origin.module
            if isinstance(anchor.statement, ast.ImportFrom) and anchor.statement.level:
                spelled = relative(self.module, found.origin.module) or spelled
            if not self._has_name(anchor, name, found):
                self._add(anchor, NewImport(spelled, found.origin.module, ((found.origin.name, alias),)))

    def _module_alias(self, group: Group, anchors: list[Binding], alias: str) -> None:
        # import pkg as p; p.sym()           ->  import pkg.sub as _sub; _sub.sym()
        found = group.resolution
        symbol = Symbol(found.origin.module, "")
        self._claim(alias, group.owner, symbol, [read.use.scope for read in group.reads])
        self._bound.append((group, anchors))
        for read in group.reads:
            self.plan.texts += by_name.from_module(read, self.syntax.source, alias, found.origin.name)
            self._gone.update(_nodes(read))
        for anchor in anchors:
            self._add(anchor, NewImport(found.origin.module, found.origin.module, alias=alias))

    def _load(self, owner: Scope, root: str, dotted: str, use: Use, symbol: Resolution) -> None:
        anchors = self._anchors(owner, root)
        top = dotted.partition(".")[0]
        for anchor in anchors:
            if self._loads(anchor.block, anchor.statement, dotted) or self._loads(use.block, use.statement, dotted):
                continue
            unaliased = (
                isinstance(anchor.statement, ast.Import)
                and isinstance(anchor.node, ast.alias)
                and not anchor.node.asname
            )
            group = Group(root, owner, [], None)  # type: ignore[arg-type]
            if (unaliased and root == top) or (
                not self.private and anchor.scope is owner and self._free_module(top, group)
            ):
                self._add(anchor, NewImport(dotted, dotted))
                continue
            alias = next((name for name in private_names(dotted) if self._free_alias(name, group, dotted)), "")
            if alias:
                self._claim(alias, owner, Symbol(dotted, ""), [])
                self._add(anchor, NewImport(dotted, dotted, alias=alias, comment="# noqa: F401"))
            else:
                self._refuse_lost(use, symbol, dotted)

    # Facts about names

    def _spellings(self, found: Resolution) -> tuple[str, ...]:
        name = found.symbol.name
        private = (f"_{name.lstrip('_')}", f"{private_names(found.origin.module)[0]}_{name.lstrip('_')}")
        if self.private:
            return private
        return tuple(dict.fromkeys((name, *private)))

    def _add(self, anchor: Binding, new: NewImport) -> None:
        assert isinstance(anchor.statement, (ast.Import, ast.ImportFrom))
        for number, (done, block, other) in enumerate(self.plan.additions):
            if done is anchor.statement and replace(other, comment=new.comment) == new:
                # the mark that it is for its effect goes, if something reads it
                self.plan.additions[number] = (done, block, new if other.comment else other)
                return
        self.plan.additions.append((anchor.statement, anchor.block, new))

    def _base(self, read: AttributeUse) -> str:
        # all that stands before the attribute's own name, comments between them included
        if read.use.fstring is not None:
            return f"{ast.unparse(read.node.value)}."
        start, end = self.syntax.source.span(read.node)
        text = self.syntax.source.text[start:end]
        # not by \w: a name may have combining vowels
        return text[: re.search(r"[^\s.#\\()]+\Z", text).start()]  # type: ignore[union-attr]

    def _needs_path(self, read: AttributeUse) -> bool:
        # case pkg.Sym:      hasattr(pkg, "sym")      pkg.  # comment
        return read.use.pattern or self._has_comment(read) or not by_name.can_be_name(read)

    def _has_comment(self, read: AttributeUse) -> bool:
        if read.use.fstring is not None:
            return False
        start, end = self.syntax.source.span(read.node)
        return "#" in self.syntax.source.text[start:end]

    def _refuse_lost(self, use: Use, found: Resolution, module: str) -> None:
        reason = f"this reads {module}, which only the package's import loaded"
        self._refuse(use, found, reason, "import that module here, or accept the site")

    def _refuse(self, use: Use, found: Resolution, reason: str, hint: str) -> None:
        self.plan.refusals.append(Refusal(self.syntax.source.site_of(use.node), str(found.symbol), reason, hint))


def _nodes(read: AttributeUse) -> tuple[ast.expr, ...]:
    """The nodes that no longer mean what they meant: the attribute, or the receiver of a read by name."""
    return (read.use.node,) if read.by_name is None else (read.use.node, read.by_name.receiver)


def additions_as_changes(plan: AttributePlan, syntax: Syntax, changes: list[Change], droppable: frozenset[str]) -> None:
    """Merge planned imports into the changes of the file's import statements; drop imports that nothing reads any more."""
    by_statement = {change.statement: change for change in changes}
    for statement, block, new in plan.additions:
        change = by_statement.get(statement)
        if change is None:
            start = syntax.source.span(statement)[0]
            _, end = statement_end(syntax.source, statement)
            change = by_statement[statement] = Change(statement, block, syntax.source.text[start:end])
            changes.append(change)
        if new not in change.new:
            change.new.append(new)
    _widened(plan, syntax, changes)
    for statement, block, _, root in plan.unused:
        change = by_statement.get(statement)
        if len(statement.names) != 1 or "noqa" in (
            change.left if change is not None and change.left is not None else ""
        ):
            continue
        if block.scope.kind in ("function", "lambda") or root in droppable:
            if change is None:
                change = by_statement[statement] = Change(statement, block, None)
                changes.append(change)
            elif change.left is not None and change.new:
                comment = change.left[syntax.source.span(statement)[1] - syntax.source.span(statement)[0] :].strip()
                if comment and not change.new[0].comment and change.new[0].names:
                    change.new[0] = replace(change.new[0], comment=comment)
            change.left = None


def _widened(plan: AttributePlan, syntax: Syntax, changes: list[Change]) -> None:
    """An import that is widened in place, and gets others beside it, is one edit."""
    # import pkg        ->  import pkg.a; import pkg.b        which stands on two lines
    for change in changes:
        start, code_end = syntax.source.span(change.statement)
        _, end = statement_end(syntax.source, change.statement)
        inside = [edit for edit in plan.edits if start <= edit.start and edit.end <= code_end]
        if inside and change.left == syntax.source.text[start:end]:
            change.left = apply(change.left, [replace(e, start=e.start - start, end=e.end - start) for e in inside])
            plan.edits[:] = [edit for edit in plan.edits if edit not in inside]
