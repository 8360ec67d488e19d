"""`pkg.sym` of a lazy export, read late: the import of the origin stands where the read stands.

Owns the reads in functions and branches that loaded the origin only when they ran.
Invariant: a file that did not load the origin as it was imported does not do so afterwards.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Module, Refusal, When
from codemods.engine.namespace import absolute
from codemods.engine.references import AttributeUse
from codemods.engine.scopes import Block, Scope, Syntax, Use
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.by_name import can_be_name
from codemods.narrow_reexport.forms.from_import import relative
from codemods.narrow_reexport.forms.name_facts import private_names, root_of
from codemods.narrow_reexport.forms.statement import NewImport, render
from codemods.narrow_reexport.resolve import Resolution


@dataclass(slots=True)
class LateReads:
    """What becomes of the late reads of lazy exports, and the reads that are nobody's business here."""

    rest: list[AttributeUse] = field(default_factory=list)
    texts: list[tuple[Use, str]] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A read, and the statement that its import stands before."""

    use: AttributeUse
    block: Block
    statement: ast.stmt


def late_reads(
    syntax: Syntax, module: Module, uses: Sequence[AttributeUse], typed: Sequence[AttributeUse], context: Context
) -> LateReads:
    """Plan the late reads of one file; `typed` are those of type strings."""
    by_name = context.resolutions.by_name
    if not any(found.lazy for found in context.resolutions):
        return LateReads(list(uses))
    planner = _Planner(syntax, module, context)
    planner.run(uses, set(typed), by_name)
    return planner.plan


class _Planner:
    def __init__(self, syntax: Syntax, module: Module, context: Context) -> None:
        self.syntax = syntax
        self.source = syntax.source
        self.module = module
        self.context = context
        self.plan = LateReads()
        self.postponed = any(
            isinstance(statement, ast.ImportFrom)
            and statement.module == "__future__"
            and _names(statement, "annotations")
            for statement, _ in syntax.imports
        )

    def run(self, uses: Sequence[AttributeUse], typed: set[AttributeUse], by_name: dict[str, Resolution]) -> None:
        eager = {found.loads for found in by_name.values() if self._imports_now(found)}
        eager |= {by_name[use.name].loads for use in uses if use not in typed and self._now(use)}
        groups: dict[tuple[int, str], list[_Place]] = {}
        for use in uses:
            found = by_name[use.name]
            if not found.lazy or not use.certain or found.loads in eager or not self._ours(use):
                self.plan.rest.append(use)
            elif use in typed or (self.postponed and use.use.annotation and not _local(use)):
                reason = "a type annotation reads the lazy name: an import of its origin for it would load it at once"
                self._refuse(use, found, reason, "import it from its origin under `if TYPE_CHECKING:` first")
            else:
                place = self._place(use, found)
                if place is not None:
                    groups.setdefault((id(place.block.scope), use.name), []).append(place)
        for (_, name), places in groups.items():
            self._group(places, by_name[name])

    # What loads the origin anyway

    def _imports_now(self, found: Resolution) -> bool:
        for statement, block in self.syntax.imports:
            if block.when is not When.EAGER or block.optional:
                continue
            if isinstance(statement, ast.Import):
                if any(f"{alias.name}.".startswith(f"{found.loads}.") for alias in statement.names):
                    return True
                continue
            source = absolute(self.module, statement)
            if f"{source}.".startswith(f"{found.loads}."):
                return True
            names = {alias.name for alias in statement.names}
            if any(f"{source}.{name}" == found.loads for name in names):
                return True
            by_name = self.context.resolutions.by_name
            if source == found.symbol.module and (
                "*" in names or any(name in by_name and by_name[name].loads == found.loads for name in names)
            ):
                return True
        return False

    def _now(self, use: AttributeUse) -> bool:
        """Whether a read runs whenever the file is imported."""
        block = use.use.block
        if block.when is not When.EAGER or block.optional or (self.postponed and use.use.annotation):
            return False
        return not any(scope.kind == "lambda" for scope in use.use.scope.inside())

    def _ours(self, use: AttributeUse) -> bool:
        # the file imports the package as it is loaded, and reads the symbol later
        root = root_of(use.node)
        owner = use.use.scope.owner(root.id) if root is not None else None
        if root is None or owner is None or owner.kind != "module":
            return False
        blocks = [binding.block for binding in owner.bindings[root.id] if binding.is_import]
        return bool(blocks) and not all(block.when in (When.TYPING, When.LATE) for block in blocks)

    # Where its import stands

    def _place(self, use: AttributeUse, found: Resolution) -> _Place | None:
        block, statement = use.use.block, use.use.statement
        sometimes = self._sometimes(use, statement)
        while block.scope.kind == "class" or self.source.text.startswith("elif", self.source.span(statement)[0]):
            # elif pkg.sym(): ...        the import can only stand before the whole chain
            if not isinstance(block.owner, ast.stmt) or block.parent is None:
                self._refuse(use, found, "no import fits before this read", "import it from its origin there first")
                return None
            sometimes = sometimes or block.scope.kind != "class"
            statement, block = block.owner, block.parent
        if block.when is When.EAGER and not block.optional:
            reason = "it is read later, in an expression at module level: an import of its origin there would load it at once"
            self._refuse(use, found, reason, "put the expression into a function first")
        elif use.use.pattern or "#" in self._code(use) or not can_be_name(use):
            # case pkg.Sym:        hasattr(pkg, "sym")        methodcaller("sym", 2)(pkg)
            self._refuse(use, found, "the read cannot be a plain name here", "import it from its origin there first")
        elif sometimes and self._may_fail():
            reason = "it is read only on some paths of the statement, and an import of its origin before it may fail"
            self._refuse(use, found, reason, "import it from its origin on that path first")
        else:
            return _Place(use, block, statement)
        return None

    def _sometimes(self, use: AttributeUse, statement: ast.stmt) -> bool:
        """Whether the statement may run without this read."""
        around: dict[ast.AST, ast.AST] = {}
        for outer in ast.walk(statement):
            around.update((child, outer) for child in ast.iter_child_nodes(outer))
        node: ast.AST = use.node
        if node not in around:
            return True  # getattr(pkg, "sym"): a read that stands for another expression
        while node in around:
            parent = around[node]
            if (
                (isinstance(parent, ast.IfExp) and node is not parent.test)
                or (isinstance(parent, ast.BoolOp) and node is not parent.values[0])
                or (isinstance(parent, ast.Compare) and node in parent.comparators[1:])
                or (isinstance(parent, ast.Assert) and node is parent.msg)
                or isinstance(parent, (ast.Lambda, ast.ExceptHandler, ast.match_case))
                or (isinstance(parent, ast.comprehension) and node is not parent.iter)
                or isinstance(parent, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
            ):
                return True
            node = parent
        return False

    def _may_fail(self) -> bool:
        known = sys.stdlib_module_names
        return any(
            name.partition(".")[0] not in known and self.context.layout.locate(name) is None
            for name in self.context.risky
        )

    # One function and one symbol

    def _group(self, places: list[_Place], found: Resolution) -> None:
        scope = places[0].block.scope
        name = next((name for name in self._spellings(found, scope) if self._free(name, scope, places, found)), "")
        if not name:
            for place in places:
                reason = f"no import of {found.origin} fits here without clobbering a name"
                self._refuse(place.use, found, reason, "rename the local name, or accept the site")
            return
        first: dict[int, _Place] = {}
        for place in sorted(places, key=lambda place: place.statement.lineno):
            first.setdefault(id(place.block), place)
        for place in first.values():
            if not any(_before(other, place) for other in first.values()):
                self._insert(place, found, name)
        self.plan.texts += [(place.use.use, name) for place in places]

    def _spellings(self, found: Resolution, scope: Scope) -> tuple[str, ...]:
        plain = found.symbol.name
        private = (f"_{plain.lstrip('_')}", f"{private_names(found.loads)[0]}_{plain.lstrip('_')}")
        starred = self.module.is_package or self.module.name in self.context.starred_modules
        stars = any(statement.names[0].name == "*" for statement, _ in self.syntax.imports)
        return private if scope.kind == "module" and (starred or stars) else (plain, *private)

    def _free(self, name: str, scope: Scope, places: list[_Place], found: Resolution) -> bool:
        if name in scope.outer or any(name in other.scope.outer for other in self.syntax.blocks.values()):
            return False
        for binding in scope.bindings.get(name, []):
            # from pkg import sym        here already
            if not isinstance(binding.node, ast.alias) or not isinstance(binding.statement, ast.ImportFrom):
                return False
            source = absolute(self.module, binding.statement)
            if (source, binding.node.name) not in (
                (found.symbol.module, found.symbol.name),
                (found.origin.module, found.origin.name),
            ):
                return False
        for place in places:
            for inner in place.use.use.scope.inside():
                if inner is scope:
                    break
                if name in inner.bindings or name in inner.outer:
                    return False
        for use in self.syntax.names:
            if isinstance(use.node, ast.Name) and use.node.id == name and scope in use.scope.inside():
                owner = use.scope.owner(name)
                if owner is None or owner in list(scope.inside())[1:]:
                    return False  # another variable, which the import would hide
        return True

    def _insert(self, place: _Place, found: Resolution, name: str) -> None:
        # def run():                     def run():
        #     return pkg.sym()       ->      from pkg.sub import sym
        #                                    return sym()
        spelled = found.origin.module
        root = root_of(place.use.node)
        for binding in self.syntax.module.bindings.get(root.id, []) if root is not None else ():
            if isinstance(binding.statement, ast.ImportFrom) and binding.statement.level:
                spelled = relative(self.module, spelled) or spelled
        alias = "" if name == found.origin.name else name
        new = NewImport(spelled, found.origin.module, ((found.origin.name, alias),))
        start = self._start(place.statement)
        indent = self.source.text[self.source.starts[self.source.line_of(start) - 1] : start]
        if indent.strip():
            # def run(): return pkg.sym()
            text = render(new, "", 10**9, self.source.newline) + "; "
        else:
            text = render(new, indent, self.context.width, self.source.newline) + self.source.newline + indent
        self.plan.edits.append(Edit(self.source.path, start, start, text))

    def _start(self, statement: ast.stmt) -> int:
        decorators = getattr(statement, "decorator_list", [])
        if not decorators:
            return self.source.span(statement)[0]
        return self.source.text.rindex("@", 0, self.source.span(decorators[0])[0])

    def _code(self, use: AttributeUse) -> str:
        if use.use.fstring is not None:
            return ""
        start, end = self.source.span(use.node)
        return self.source.text[start:end]

    def _refuse(self, use: AttributeUse, found: Resolution, reason: str, hint: str) -> None:
        self.plan.refusals.append(Refusal(self.source.site_of(use.node), str(found.symbol), reason, hint))


def _before(other: _Place, place: _Place) -> bool:
    """Whether the other's import has always run when this place is reached."""
    block = place.block.parent
    while block is not None and block.scope is place.block.scope:
        if block is other.block and other.statement.lineno <= place.statement.lineno:
            return True
        block = block.parent
    return False


def _local(use: AttributeUse) -> bool:
    # x: pkg.Sym = ...        in a function: never evaluated
    return use.use.block.when is When.LATE and isinstance(use.use.statement, ast.AnnAssign)


def _names(statement: ast.ImportFrom, name: str) -> bool:
    return any(alias.name == name for alias in statement.names)
