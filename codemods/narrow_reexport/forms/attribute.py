"""`pkg.sym`: attribute reads, whichever way the file reached the package.

Owns the choice between `pkg.sub.sym` (late, with `import pkg.sub`) and a from-import, and the names that either binds.
Invariant: it never clobbers a name, never gives a package a new public name, and never moves an import to another scope.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.model import Edit, Module, Refusal, Symbol
from codemods.engine.namespace import absolute
from codemods.engine.references import AttributeUse, LostModule, Names
from codemods.engine.scopes import Binding, Block, Scope, Syntax, Use
from codemods.narrow_reexport.forms.from_import import relative
from codemods.narrow_reexport.forms.statement import Change, NewImport, statement_end
from codemods.narrow_reexport.resolve import Resolution


@dataclass(slots=True)
class AttributePlan:
    """What becomes of the attribute reads of one file."""

    texts: list[tuple[Use, str]] = field(default_factory=list)  # new code for each read
    additions: list[tuple[ast.Import | ast.ImportFrom, Block, NewImport]] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    unused: list[tuple[ast.Import | ast.ImportFrom, Block, int, str]] = field(
        default_factory=list
    )  # imports that nothing reads any more


@dataclass(slots=True)
class _Group:
    """Reads of one symbol through one name of one scope."""

    root: str
    owner: Scope
    reads: list[AttributeUse]
    resolution: Resolution


class AttributePlanner:
    """Decides for one file. `typed` counts the references inside type strings, `early` are symbols whose reads may not become late, `private` that a new module-level name
    must not be public, `risky` that a from-import at module level may run into a cycle."""

    def __init__(
        self,
        syntax: Syntax,
        module: Module,
        names: Names,
        *,
        early: frozenset[str],
        private: bool,
        risky: frozenset[str],
        typed: Mapping[int, int],
    ) -> None:
        self.syntax = syntax
        self.module = module
        self.names = names
        self.early = early
        self.private = private
        self.risky = risky
        self.typed = typed
        self.plan = AttributePlan()
        self._new_names: dict[tuple[int, str], Symbol] = {}
        self._edited: list[tuple[ast.alias, str, Block]] = []
        self._bound: list[tuple[_Group, list[Binding]]] = []
        self._gone: set[ast.expr] = set()  # reads that no longer go through their root
        self._rewritten: set[ast.expr] = set()
        self._parent_of: dict[ast.AST, ast.AST] | None = None

    def run(
        self, uses: Sequence[AttributeUse], lost: Sequence[LostModule], resolutions: dict[str, Resolution]
    ) -> AttributePlan:
        """Plan all reads of the file."""
        groups: dict[tuple[int, str, str], _Group] = {}
        for use in uses:
            found = resolutions[use.name]
            root = _root(use.node)
            owner = use.use.scope.owner(root.id) if root is not None else None
            if root is None or owner is None:
                self._refuse(
                    use.use,
                    found,
                    "the package is reached through a call or a container here",
                    "import the package by a statement, or accept the site",
                )
                continue
            if not use.certain:
                self._refuse(
                    use.use,
                    found,
                    f"{ast.unparse(use.node.value)} is the package here only on some paths",
                    "give the other object another name, or accept the site",
                )
                continue
            key = (id(owner), root.id, use.name)
            groups.setdefault(key, _Group(root.id, owner, [], found)).reads.append(use)
        self._rewritten = {read.use.node for group in groups.values() for read in group.reads}
        for group in groups.values():
            self._group(group)
        self._unused()
        self._lost(lost, next(iter(resolutions.values())))
        return self.plan

    def _lost(self, lost: Sequence[LostModule], any_symbol: Resolution) -> None:
        wanted: dict[tuple[int, str, str], LostModule] = {}
        for found in lost:
            root = _root(found.use.node)
            owner = found.use.scope.owner(root.id) if root is not None else None
            if root is None or owner is None:
                reason = f"this reads {found.module}, which only the package's import loaded"
                self._refuse(found.use, any_symbol, reason, "import that module here, or accept the site")
            else:
                wanted.setdefault((id(owner), root.id, found.module), found)
        # the deepest first: its import loads the packages above it
        for (_, name, dotted), found in sorted(wanted.items(), key=lambda entry: -entry[0][2].count(".")):
            owner = found.use.scope.owner(name)
            assert owner is not None
            self._load(owner, name, dotted, found.use)

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

    def _group(self, group: _Group) -> None:
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
            self._load(group.owner, group.root, found.origin.dotted, group.reads[0].use)
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
        if not late and bindable and not any(read.use.pattern or self._has_comment(read) for read in group.reads):
            # import pkg as p; p.sym()       ->  from pkg.sub import sym; sym()
            for name in self._spellings(found):
                if self._free(name, group, found.origin):
                    self._bind(group, anchors, name)
                    return
        top = found.origin.module.partition(".")[0]
        if group.owner.kind != "class":
            homes = [_Group(group.root, anchor.scope, group.reads, found) for anchor in anchors]
            if found.path_is_module and not self.private and all(self._free_module(top, home) for home in homes):
                self._late(group, anchors)
                return
            for alias in (
                ()
                if found.same_name
                else (f"_{found.origin.module.rpartition('.')[2]}", f"_{found.origin.module.replace('.', '_')}")
            ):
                if bindable and self._free(alias, group, None):
                    self._module_alias(group, anchors, alias)
                    return
        for read in group.reads:
            self._refuse(
                read.use,
                found,
                f"no import of {found.origin} fits here without clobbering a name",
                "rename the local name, or accept the site",
            )

    def _late(self, group: _Group, anchors: list[Binding]) -> None:
        found = group.resolution
        package = found.symbol.module
        below = found.origin.dotted[len(package) + 1 :]
        for read in group.reads:
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
            ):
                start = self.syntax.source.span(anchor.node)[0]
                self.plan.edits.append(Edit(self.syntax.source.path, start, start + len(anchor.node.name), module))
                self._edited.append((anchor.node, module, anchor.block))
                continue
            self._add(anchor, NewImport(module, module))

    def _bind(self, group: _Group, anchors: list[Binding], name: str) -> None:
        found = group.resolution
        self._new_names[id(group.owner), name] = found.origin
        alias = "" if name == found.origin.name else name
        self._bound.append((group, anchors))
        for read in group.reads:
            self.plan.texts.append((read.use, name))
            self._gone.add(read.use.node)
        for anchor in anchors:
            assert isinstance(anchor.statement, (ast.Import, ast.ImportFrom)) and isinstance(anchor.node, ast.alias)
            spelled = found.origin.module
            if isinstance(anchor.statement, ast.ImportFrom) and anchor.statement.level:
                spelled = relative(self.module, found.origin.module) or spelled
            if not self._has_name(anchor, name, found):
                self._add(anchor, NewImport(spelled, found.origin.module, ((found.origin.name, alias),)))

    def _module_alias(self, group: _Group, anchors: list[Binding], alias: str) -> None:
        # import pkg as p; p.sym()           ->  import pkg.sub as _sub; _sub.sym()
        found = group.resolution
        self._new_names[id(group.owner), alias] = Symbol(found.origin.module, "")
        self._bound.append((group, anchors))
        for read in group.reads:
            self.plan.texts.append((read.use, f"{alias}.{found.origin.name}"))
            self._gone.add(read.use.node)
        for anchor in anchors:
            self._add(anchor, NewImport(found.origin.module, found.origin.module, alias=alias))

    def _load(self, owner: Scope, root: str, dotted: str, use: Use) -> None:
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
            group = _Group(root, owner, [], None)  # type: ignore[arg-type]
            if (unaliased and root == top) or (
                not self.private and anchor.scope is owner and self._free_module(top, group)
            ):
                self._add(anchor, NewImport(dotted, dotted))
                continue
            last = dotted.rpartition(".")[2]
            alias = next(
                (name for name in (f"_{last}", f"_{dotted.replace('.', '_')}") if self._free(name, group, None)), ""
            )
            if alias:
                self._new_names[id(owner), alias] = Symbol(dotted, "")
                self._add(anchor, NewImport(dotted, dotted, alias=alias, comment="# noqa: F401"))

    # Facts about names

    def _anchors(self, owner: Scope, root: str, depth: int = 0) -> list[Binding]:
        """The import statements that bind the root of the expression; followed through `p = pkg`."""
        anchors: list[Binding] = []
        for binding in owner.bindings.get(root, []):
            if binding.is_import:
                anchors.append(binding)
            elif binding.value is not None and depth < 5:
                inner = binding.value.value if isinstance(binding.value, ast.NamedExpr) else binding.value
                below = _root(inner)
                home = binding.scope.owner(below.id) if below is not None else None
                if below is not None and home is not None and not (home is owner and below.id == root):
                    anchors += self._anchors(home, below.id, depth + 1)
        kept: list[Binding] = []
        for anchor in anchors:
            if not any(_dominates(earlier, anchor) for earlier in kept):
                kept.append(anchor)
        return kept

    def _spellings(self, found: Resolution) -> tuple[str, ...]:
        name, origin = found.symbol.name, found.origin.name
        private = (f"_{name.lstrip('_')}", f"_{found.origin.module.rpartition('.')[2]}_{name.lstrip('_')}")
        if self.private:
            return private
        return tuple(dict.fromkeys((name if name == origin else name, *private)))

    def _free(self, name: str, group: _Group, origin: Symbol | None) -> bool:
        owner = group.owner
        if owner.kind == "module" and not name.startswith("_") and self._stars(group.resolution):
            return False  # a star may bring that name too, for others to read here
        if self._new_names.get((id(owner), name), origin) != origin:
            return False
        for binding in owner.bindings.get(name, []):
            if origin is None or not self._same(binding, group.resolution):
                return False
        for read in group.reads:
            for scope in read.use.scope.inside():
                if scope is owner:
                    break
                if name in scope.bindings or name in scope.outer:
                    return False
        bound = name in owner.bindings
        for use in self.syntax.names:
            if isinstance(use.node, ast.Name) and use.node.id == name and not bound:
                if use.scope.owner(name) is None and any(scope is owner for scope in use.scope.inside()):
                    return False  # a builtin, or a star's name, that the new import would hide
                if (
                    owner.kind != "module"
                    and any(scope is owner for scope in use.scope.inside())
                    and use.scope.owner(name) in list(owner.inside())
                ):
                    return False
        return not any(name in block.scope.outer for block in self.syntax.blocks.values()) if not bound else True

    def _stars(self, found: Resolution) -> bool:
        return any(
            isinstance(statement, ast.ImportFrom)
            and statement.names[0].name == "*"
            and absolute(self.module, statement) != found.symbol.module
            for statement, _ in self.syntax.imports
        )

    def _free_module(self, top: str, group: _Group) -> bool:
        owner = group.owner
        for read in group.reads:
            for scope in read.use.scope.inside():
                if scope is owner:
                    break
                if top in scope.bindings:
                    return False
        if top not in owner.bindings:
            return owner.kind != "class" and not any(
                isinstance(use.node, ast.Name)
                and use.node.id == top
                and any(scope is owner for scope in use.scope.inside())
                and use.scope.owner(top) in (None, *list(owner.inside())[1:])
                for use in self.syntax.names
            )
        return all(self.names.bound(binding) == {top} for binding in owner.bindings[top])

    def _same(self, binding: Binding, found: Resolution) -> bool:
        # the name is bound to the symbol already, through the package or from its origin
        if not isinstance(binding.node, ast.alias) or not isinstance(binding.statement, ast.ImportFrom):
            return False
        source = Symbol(absolute(self.module, binding.statement), binding.node.name)
        return source in (found.symbol, found.origin)

    def _has_name(self, anchor: Binding, name: str, found: Resolution) -> bool:
        """Whether the name is bound to the symbol already wherever the anchor's own import has run."""
        for statement, home, new in self.plan.additions:
            if name in new.bound and new.module == found.origin.module and new.names:
                if self._ahead(statement, home, anchor.statement, anchor.block):
                    return True
        return any(
            self._same(binding, found) and self._ahead(binding.statement, binding.block, anchor.statement, anchor.block)
            for binding in anchor.scope.bindings.get(name, [])
        )

    def _ahead(self, statement: ast.stmt, home: Block, anchor: ast.stmt, block: Block) -> bool:
        """Whether an import has always run when the anchor has: it stands before it, or right behind it."""
        around: list[Block] = []
        at: Block | None = block
        while at is not None:
            around.append(at)
            at = at.parent
        if home not in around:
            return False
        if statement.lineno < anchor.lineno or statement is anchor:
            return home.scope is block.scope or home.scope.kind != "class"
        if home is not block:
            return False
        here = home.statements
        between = here[here.index(anchor) + 1 : here.index(statement)]
        return all(isinstance(other, (ast.Import, ast.ImportFrom)) for other in between)

    def _other_uses(self, owner: Scope, root: str, rewritten: set[ast.expr]) -> bool:
        for use in self.syntax.names:
            if isinstance(use.node, ast.Name) and use.node.id == root and use.scope.owner(root) is owner:
                node: ast.AST = use.node
                parent = use.parent
                while isinstance(parent, ast.Attribute) and parent not in rewritten:
                    node = parent
                    parent = self._parents().get(node)  # type: ignore[assignment]
                if parent not in rewritten:
                    return True
        if any(isinstance(use.node, ast.Constant) and use.node.value == root for use in self.syntax.strings):
            return True  # globals()["p"], __all__ = ["p"]
        if any(isinstance(binding.statement, ast.Delete) for binding in owner.bindings[root]):
            return True  # `del p` needs the name
        if any(root in block.scope.outer for block in self.syntax.blocks.values()):
            return True
        spelled = re.compile(rf"\b{re.escape(root)}\b")
        return any(
            len(spelled.findall(str(use.node.value))) > self.typed.get(id(use.node), 0)
            for use in self.syntax.strings
            if use.annotation and isinstance(use.node, ast.Constant)
        )

    def _parents(self) -> dict[ast.AST, ast.AST]:
        if self._parent_of is None:
            self._parent_of = {use.node: use.parent for use in self.syntax.attributes}
        return self._parent_of

    def _replaced(self, alias: ast.alias) -> bool:
        return any(done is alias for done, _, _ in self._edited)

    def _loads(self, block: Block, anchor: ast.stmt, module: str) -> bool:
        """Whether an import of the module has run when the anchor has (or will have: planned)."""
        for statement, home in self.syntax.imports:
            if isinstance(statement, ast.Import):
                loaded = [alias.name for alias in statement.names]
            else:
                source = absolute(self.module, statement)
                loaded = [source] + [
                    f"{source}.{alias.name}"
                    for alias in statement.names
                    if f"{source}.{alias.name}" == module and alias.name not in self.names.target.hidden
                ]
            if any(name == module or name.startswith(f"{module}.") for name in loaded):
                if self._ahead(statement, home, anchor, block):
                    return True
        planned = [(new.module, home) for _, home, new in self.plan.additions]
        planned += [(name, home) for _, name, home in self._edited]
        at: Block | None = block
        while at is not None:
            if (module, at) in planned:
                return True
            at = at.parent
        return False

    def _add(self, anchor: Binding, new: NewImport) -> None:
        assert isinstance(anchor.statement, (ast.Import, ast.ImportFrom))
        if not any(done is anchor.statement and other == new for done, _, other in self.plan.additions):
            self.plan.additions.append((anchor.statement, anchor.block, new))

    def _base(self, read: AttributeUse) -> str:
        # all that stands before the attribute's own name, comments between them included
        if read.use.fstring is not None:
            return f"{ast.unparse(read.node.value)}."
        start, end = self.syntax.source.span(read.node)
        text = self.syntax.source.text[start:end]
        return text[: re.search(r"\w+\Z", text).start()]  # type: ignore[union-attr]

    def _has_comment(self, read: AttributeUse) -> bool:
        if read.use.fstring is not None:
            return False
        start, end = self.syntax.source.span(read.node)
        return "#" in self.syntax.source.text[start:end]

    def _refuse(self, use: Use, found: Resolution, reason: str, hint: str) -> None:
        self.plan.refusals.append(Refusal(self.syntax.source.site_of(use.node), str(found.symbol), reason, hint))


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


def _root(node: ast.expr) -> ast.Name | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _dominates(earlier: Binding, later: Binding) -> bool:
    # the earlier import has always run when the later one does
    if earlier.scope is not later.scope or earlier.statement.lineno > later.statement.lineno:
        return False
    block: Block | None = later.block
    while block is not None:
        if block is earlier.block:
            return True
        block = block.parent
    return False
