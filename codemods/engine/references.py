"""Each place of a file that reaches a name through a package: the facts, without a decision.

Owns the search for references: from-imports, attribute reads and writes, stars, `import pkg.f as m`, reflection.
Invariant: it never decides what becomes of a reference, and never matches by spelling alone; an expression counts as the
package only if every scope rule says so, and an unclear one is reported as unclear.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from codemods.engine.literal_names import certain
from codemods.engine.loaded import loaded_by, loading, own_name, qualified
from codemods.engine.model import Module
from codemods.engine.namespace import absolute
from codemods.engine.scopes import Binding, Block, Scope, Syntax, Use

UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What is looked for: names of a package, and modules that `import package` no longer loads.

    `hidden` are names that the package binds to something else than the submodule of that name. `carriers` maps
    (module, name) to the module that other code reaches under that name (`consumer.ops` is `ops`).
    """

    package: str
    names: frozenset[str]
    lost: frozenset[str]
    hidden: frozenset[str]
    carriers: Mapping[tuple[str, str], str]
    locate: Callable[[str], Module | None]


@dataclass(slots=True, eq=False)
class FromName:
    """`from pkg import sym [as x]`: one alias of a from-import."""

    statement: ast.ImportFrom
    block: Block
    number: int
    name: str


@dataclass(slots=True, eq=False)
class StarImport:
    """`from pkg import *`, or the star of another package that loses a submodule."""

    statement: ast.ImportFrom
    block: Block
    source: str


@dataclass(slots=True, eq=False)
class ModuleAlias:
    """`import pkg.sym as m`: binds the attribute `sym` of the package."""

    statement: ast.Import
    block: Block
    number: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class NamedRead:
    """How an attribute is read by its name: `getattr(pkg, "sym", default)`.

    `seen` are the nodes that this accounts for; `plain` says that an attribute read does the same; `prefix` and `rest`
    are the parts of an `attrgetter("ops.sym.x")` around the name; `hinders` is the reason why it cannot be rewritten.
    """

    how: str
    receiver: ast.expr
    literal: ast.expr
    default: ast.expr | None
    seen: tuple[ast.AST, ...]
    plain: bool = False
    hinders: str = ""
    prefix: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class AttributeUse:
    """`pkg.sym`, read, written or deleted. `certain` is False where the base may be something else.

    Where the code reads it by its name (`by_name`), `use.node` is the attribute that this amounts to, made up.
    """

    use: Use
    name: str
    certain: bool
    by_name: NamedRead | None = None

    @property
    def node(self) -> ast.Attribute:
        """The attribute node."""
        assert isinstance(self.use.node, ast.Attribute)
        return self.use.node

    @property
    def stored(self) -> bool:
        """Whether it is assigned to or deleted."""
        return not isinstance(self.node.ctx, ast.Load)


@dataclass(slots=True, eq=False)
class LostModule:
    """`pkg.sub` where `sub` is a submodule that only the package's import loaded."""

    use: Use
    module: str


@dataclass(slots=True, eq=False)
class Reflection:
    """`getattr(pkg, ...)`, `vars(pkg)`, `patch.object(pkg, ...)`, or the package handed to someone.

    `name` is the literal name, or "" where it is not literal; `how` the spelling of the callee; `certain` says that the
    argument at `position` (-1: a keyword) is the package on all paths.
    """

    use: Use
    how: str
    name: str
    literal: bool
    certain: bool = True
    position: int = 0


@dataclass(slots=True, eq=False)
class Escape:
    """The package as a value: in a container, returned, kept in an attribute."""

    use: Use


Reference = FromName | StarImport | ModuleAlias | AttributeUse | LostModule | Reflection | Escape


def binds_package(syntax: Syntax, module: Module, target: Target) -> bool:
    """Whether any import of the file may bind the package, a parent of it, or a carrier: only then are attributes of interest."""
    package = target.package
    carriers = {module for module, _ in target.carriers}
    tops = {package.partition(".")[0]} | {lost.partition(".")[0] for lost in target.lost}
    above = {*_prefixes(package)} | {part for lost in target.lost for part in _prefixes(lost.rpartition(".")[0])}
    for statement, _ in syntax.imports:
        if isinstance(statement, ast.Import):
            # import top.other                       binds top, and all below it
            # import top.other as o                  binds that module alone
            if any((a.name in above if a.asname else a.name.partition(".")[0] in tops) for a in statement.names):
                return True
            if any(alias.name in carriers for alias in statement.names):
                return True
            continue
        source = absolute(module, statement)
        for alias in statement.names:
            dotted = f"{source}.{alias.name}" if source else alias.name
            if alias.name == "*" and source in carriers:
                return True
            if package == dotted or package.startswith(f"{dotted}.") or (source, alias.name) in target.carriers:
                return True
            if dotted in carriers:
                return True
            if any(lost.startswith(f"{dotted}.") for lost in target.lost):
                return True
    return False


def import_references(syntax: Syntax, module: Module, target: Target) -> list[Reference]:
    """References made by import statements alone; needs no expressions."""
    found: list[Reference] = []
    losers = {name.rpartition(".")[0] for name in target.lost}
    for statement, block in syntax.imports:
        if isinstance(statement, ast.ImportFrom):
            source = absolute(module, statement)
            if statement.names[0].name == "*" and (source == target.package or source in losers):
                found.append(StarImport(statement, block, source))
            if source != target.package:
                continue
            found += [
                FromName(statement, block, number, alias.name)
                for number, alias in enumerate(statement.names)
                if alias.name in target.names
            ]
        else:
            for number, alias in enumerate(statement.names):
                parent, _, last = alias.name.rpartition(".")
                if parent == target.package and last in target.names and alias.asname:
                    found.append(ModuleAlias(statement, block, number, last))
    return found


def expression_references(syntax: Syntax, module: Module, target: Target) -> list[Reference]:
    """References made by expressions: attributes and reflection."""
    names = Names(syntax, module, target)
    found: list[Reference] = []
    for use in syntax.attributes:
        node = use.node
        assert isinstance(node, ast.Attribute)
        if node.attr in target.names:
            bases = names.modules(node.value, use.scope)
            if target.package in bases:
                found.append(AttributeUse(use, node.attr, bases == {target.package}))
        elif target.lost:
            for base in names.modules(node.value, use.scope) - {UNKNOWN}:
                if f"{base}.{node.attr}" in target.lost and not (base == target.package and node.attr in target.hidden):
                    found.append(LostModule(use, f"{base}.{node.attr}"))
    for use in syntax.calls:
        found += names.reflection(use)
    for use in (*syntax.names, *syntax.attributes):
        if _escapes(use) and target.package in names.modules(use.node, use.scope):
            found.append(Escape(use))
    return found


def _prefixes(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def _escapes(use: Use) -> bool:
    # {"a": pkg}     return pkg     self.ops = pkg     lambda: pkg        but not `p = pkg`, which is followed
    parent = use.parent
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        plain = all(isinstance(target, ast.Name) for target in targets) and use.scope.kind != "class"
        return parent.value is use.node and not plain
    holders = (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Return, ast.Yield, ast.Lambda, ast.Starred)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(parent, functions):
        return use.node in parent.args.defaults or use.node in parent.args.kw_defaults
    return isinstance(parent, holders) and not use.annotation


class Names:
    """Tells which module an expression of one file is."""

    def __init__(self, syntax: Syntax, module: Module, target: Target) -> None:
        self.syntax = syntax
        self.module = module
        self.target = target
        self._known: dict[Binding, frozenset[str]] = {}
        # names that a star brings from a module where they are carriers
        self.starred = {
            name: package
            for statement, _ in syntax.imports
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
            for (source, name), package in target.carriers.items()
            if source == absolute(module, statement)
        }
        # modules outside the tree that lost ones belong to
        self.above_lost = {part for name in target.lost for part in _prefixes(name)}

    def modules(self, node: ast.expr, scope: Scope) -> frozenset[str]:
        """The dotted names of the modules that an expression may be; UNKNOWN among them where it may be something else."""
        if isinstance(node, ast.Name):
            owner = scope.owner(node.id)
            if owner is None:
                return frozenset({self.starred.get(node.id, UNKNOWN)})
            found: set[str] = set()
            for binding in owner.bindings[node.id]:
                found |= self.bound(binding)
            return frozenset(found or {UNKNOWN})
        if isinstance(node, ast.Attribute):
            return frozenset(self.below(base, node.attr) for base in self.modules(node.value, scope))
        if isinstance(node, ast.NamedExpr):
            return self.modules(node.value, scope)
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            # pkg if test else other        test and pkg
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
            return frozenset().union(*(self.modules(part, scope) for part in parts))
        if isinstance(node, ast.Call):
            how = qualified(node.func, scope)
            if how == "builtins.getattr" and len(node.args) > 1:
                # getattr(parent, "pkg")
                name = own_name(node.args[1], self.module)
                bases = self.modules(node.args[0], scope) if name else frozenset({UNKNOWN})
                return frozenset(self.below(base, name) for base in bases)
            if how == "importlib.reload" and len(node.args) == 1:
                return self.modules(node.args[0], scope)
        loaded = loading(node, scope, self.module)
        if loaded is None:
            # name = "pkg"; importlib.import_module(name)
            named = loaded_by(node)
            package = frozenset({self.target.package})
            return frozenset({UNKNOWN}) | (certain(named, scope, package) if named is not None else frozenset())
        return frozenset({loaded.module}) if loaded.certain else frozenset({loaded.module, UNKNOWN})

    def bound(self, binding: Binding) -> frozenset[str]:
        """The modules that one binding gives; empty for `None` and `del`, which are no other module."""
        if binding not in self._known:
            self._known[binding] = frozenset({UNKNOWN})  # a binding that depends on itself
            self._known[binding] = self._bound(binding)
        return self._known[binding]

    def reflection(self, use: Use) -> list[Reflection]:
        """Calls that get the package as an argument."""
        call = use.node
        assert isinstance(call, ast.Call)
        found: list[Reflection] = []
        for number, argument in enumerate((*call.args, *(keyword.value for keyword in call.keywords))):
            if not isinstance(argument, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
                continue
            bases = self.modules(argument, use.scope)
            if self.target.package not in bases:
                continue
            position = number if number < len(call.args) else -1
            how = ast.unparse(call.func)
            literals = [
                part.value for part in call.args[1:2] if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            certain = bases == {self.target.package}
            found.append(Reflection(use, how, literals[0] if literals else "", bool(literals), certain, position))
        return found

    def below(self, base: str, name: str) -> str:
        """The module that the attribute `name` of a module is; UNKNOWN where it is none."""
        if base == UNKNOWN or (base == self.target.package and name in self.target.hidden):
            return UNKNOWN
        carried = self.target.carriers.get((base, name))
        if carried is not None:
            return carried
        dotted = f"{base}.{name}"
        known = dotted in self.above_lost or self.target.locate(dotted) is not None
        return dotted if known else UNKNOWN

    def _bound(self, binding: Binding) -> frozenset[str]:
        node, statement = binding.node, binding.statement
        if isinstance(node, ast.alias):
            if isinstance(statement, ast.Import):
                if not node.asname:
                    return frozenset({node.name.partition(".")[0]})
                parent, _, last = node.name.rpartition(".")
                return frozenset(
                    {UNKNOWN if parent == self.target.package and last in self.target.hidden else node.name}
                )
            assert isinstance(statement, ast.ImportFrom)
            source = absolute(self.module, statement)
            return frozenset({self.below(source, node.name) if source else UNKNOWN})
        if isinstance(statement, ast.Delete):
            return frozenset()
        if isinstance(binding.value, ast.Constant) and binding.value.value is None:
            return frozenset()
        if binding.value is not None and isinstance(
            binding.value, (ast.Name, ast.Attribute, ast.NamedExpr, ast.Call, ast.Subscript, ast.IfExp, ast.BoolOp)
        ):
            return self.modules(binding.value, binding.scope)
        return frozenset({UNKNOWN})
