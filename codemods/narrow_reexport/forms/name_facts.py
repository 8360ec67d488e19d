"""Which names are free, bound or loaded where a new import would stand.

Owns the questions that the attribute forms ask of a file's scopes before they bind a name.
Invariant: a name counts as free only if no scope between its binding and its reads binds it, no star may bring it, and
no builtin of that name is used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Module, Refusal, Symbol
from codemods.engine.namespace import absolute
from codemods.engine.references import AttributeUse, FromName, Names
from codemods.engine.scopes import Binding, Block, Scope, Syntax, Use
from codemods.narrow_reexport.forms.same_name import imported_symbol
from codemods.narrow_reexport.forms.statement import NewImport
from codemods.narrow_reexport.resolve import Resolution


def private_names(module: str) -> tuple[str, str]:
    """Names for a module that is imported as a private one: by its last name, by all of it; none that a class would mangle."""
    return f"_{module.rpartition('.')[2].lstrip('_')}", f"_{module.lstrip('_').replace('.', '_')}"


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
class Group:
    """Reads of one symbol through one name of one scope."""

    root: str
    owner: Scope
    reads: list[AttributeUse]
    resolution: Resolution


class NameFacts:
    """The scopes of one file, and what the plan has added to them so far."""

    def __init__(
        self,
        syntax: Syntax,
        module: Module,
        names: Names,
        *,
        early: frozenset[str],
        private: bool,
        risky: frozenset[str],
        apart: frozenset[tuple[str, int]],
        typed: Mapping[int, int],
    ) -> None:
        self.syntax = syntax
        self.module = module
        self.names = names
        self.early = early
        self.private = private
        self.risky = risky
        self.apart = apart
        self.typed = typed
        self.plan = AttributePlan()
        self._new_names: dict[tuple[int, str], Symbol] = {}
        self._claims: dict[str, list[tuple[Scope, list[Scope]]]] = {}  # where a new name is bound, and where it is read
        self._edited: list[tuple[ast.alias, str, ast.stmt, Block]] = []
        self._bound: list[tuple[Group, list[Binding]]] = []
        self._gone: set[ast.expr] = set()  # reads that no longer go through their root
        self._rewritten: set[ast.expr] = set()
        self._parent_of: dict[ast.AST, ast.AST] | None = None

    def _anchors(self, owner: Scope, root: str, depth: int = 0) -> list[Binding]:
        """The import statements that bind the root of the expression; followed through `p = pkg`."""
        anchors: list[Binding] = []
        for binding in owner.bindings.get(root, []):
            if binding.is_import:
                anchors.append(binding)
            elif binding.value is not None and depth < 5:
                inner = binding.value.value if isinstance(binding.value, ast.NamedExpr) else binding.value
                below = root_of(inner)
                home = binding.scope.owner(below.id) if below is not None else None
                if below is not None and home is not None and not (home is owner and below.id == root):
                    anchors += self._anchors(home, below.id, depth + 1)
        kept: list[Binding] = []
        for anchor in anchors:
            if not any(dominates(earlier, anchor) for earlier in kept):
                kept.append(anchor)
        return kept

    def _free(self, name: str, group: Group, origin: Symbol | None) -> bool:
        owner = group.owner
        if owner.kind == "module" and not name.startswith("_") and self._stars(group.resolution):
            return False  # a star may bring that name too, for others to read here
        if self._new_names.get((id(owner), name), origin) != origin:
            return False
        if self._hidden(name, owner, [read.use.scope for read in group.reads]):
            return False
        for binding in owner.bindings.get(name, []):
            if origin is None or not origin.name or not self._same(binding, group.resolution):
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

    def _hidden(self, name: str, owner: Scope, readers: Sequence[Scope]) -> bool:
        """Whether a binding of the name in `owner` and one that is planned in another scope would hide each other from a reader."""
        # import pkg as p                                  -> import pkg.sub as _sub
        # def f(): import pkg as q; return q.a(), p.b()    -> _sub, bound in f, is not that of the module
        for other, others in self._claims.get(name, ()):
            if other is owner:
                continue
            if other in owner.inside() and any(owner in reader.inside() for reader in others):
                return True
            if owner in other.inside() and any(other in reader.inside() for reader in readers):
                return True
        return False

    def _claim(self, name: str, owner: Scope, symbol: Symbol, readers: Sequence[Scope]) -> None:
        self._new_names[id(owner), name] = symbol
        self._claims.setdefault(name, []).append((owner, list(readers)))

    def _free_alias(self, alias: str, group: Group, module: str) -> bool:
        # free for the module: it may be the name that this run has given it already
        return self._free(alias, group, Symbol(module, ""))

    def _stars(self, found: Resolution) -> bool:
        return any(
            isinstance(statement, ast.ImportFrom)
            and statement.names[0].name == "*"
            and absolute(self.module, statement) != found.symbol.module
            for statement, _ in self.syntax.imports
        )

    def _free_module(self, top: str, group: Group) -> bool:
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
        if source == found.symbol and found.same_name and found.narrowed:
            # from pkg import f        gets the module f by now, unless it is mended, too
            number = binding.statement.names.index(binding.node)
            return imported_symbol(self.syntax, FromName(binding.statement, binding.block, number, found.symbol.name))
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
                while isinstance(parent, ast.Attribute) and parent not in rewritten and node not in rewritten:
                    node = parent
                    parent = self._parents().get(node)  # type: ignore[assignment]
                if parent not in rewritten and node not in rewritten:
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
        return any(done is alias for done, _, _, _ in self._edited)

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
        planned: list[tuple[str, ast.stmt, Block]] = [
            (new.module, statement, home) for statement, home, new in self.plan.additions
        ]
        planned += [(name, statement, home) for _, name, statement, home in self._edited]
        return any(
            (name == module or name.startswith(f"{module}.")) and self._ahead(statement, home, anchor, block)
            for name, statement, home in planned
        )


def root_of(node: ast.expr) -> ast.Name | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def dominates(earlier: Binding, later: Binding) -> bool:
    # the earlier import has always run when the later one does
    if earlier.scope is not later.scope or earlier.statement.lineno > later.statement.lineno:
        return False
    block: Block | None = later.block
    while block is not None:
        if block is earlier.block:
            return True
        block = block.parent
    return False
