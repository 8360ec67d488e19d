"""`importlib.import_module("pkg").sym`: the package reached by a string, and the string that leads to the origin.

Owns the new string in `import_module`, `__import__`, `sys.modules` and `pkgutil.resolve_name`, for reads at the place and
through a name that was given the module.
Invariant: it edits a string only where all that is read from what it names comes from the same origin.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.loaded import Loading, argument, loading, qualified
from codemods.engine.model import Edit, Module, When
from codemods.engine.namespace import absolute
from codemods.engine.references import AttributeUse, Names
from codemods.engine.scopes import Binding, Block, Scope, Syntax, Use
from codemods.narrow_reexport.forms import by_name
from codemods.narrow_reexport.forms.statement import NewImport
from codemods.narrow_reexport.resolve import Resolution

_FRAME_READERS = {"locals", "vars", "dir", "eval", "exec"}


@dataclass(slots=True)
class LoadedPlan:
    """What becomes of the reads through strings; `rest` are all other reads."""

    edits: list[Edit] = field(default_factory=list)
    additions: list[tuple[ast.Import | ast.ImportFrom, Block, NewImport]] = field(default_factory=list)
    strings: list[Use] = field(default_factory=list)  # that need no other verdict
    rest: list[AttributeUse] = field(default_factory=list)
    resolved: list[tuple[ast.expr, str]] = field(default_factory=list)  # strings that are resolved, and whose they are
    sites: int = 0


def plan_loaded(
    syntax: Syntax,
    module: Module,
    names: Names,
    uses: Sequence[AttributeUse],
    by_symbol: Mapping[str, Resolution],
    early: frozenset[str],
    accepts: Callable[[int], bool],
) -> LoadedPlan:
    """Plan the reads whose package comes from a string. `early` are symbols whose reads may not become late.

    `accepts` says of a line whether a person has taken it on.
    """
    planner = _Planner(syntax, module, names, by_symbol)
    held: dict[Binding, list[AttributeUse]] = {}
    for use in uses:
        found = by_symbol[use.name]
        receiver = _receiver(use)
        if found.is_submodule or use.use.fstring is not None or not use.certain or use.name in early:
            planner.plan.rest.append(use)
            continue
        binding = planner.holder(receiver, use.use.scope)
        load = loading(receiver, use.use.scope, module)
        if binding is not None:
            held.setdefault(binding, []).append(use)
        elif load is None or not planner.here(use, load, found):
            planner.plan.rest.append(use)
    for binding, reads in held.items():
        planner.through_name(binding, reads)
    planner.resolve_names(early, accepts)
    planner.module_names()
    return planner.plan


def _receiver(use: AttributeUse) -> ast.expr:
    if use.by_name is not None and not use.by_name.prefix:
        return use.by_name.receiver
    return use.node.value


class _Planner:
    def __init__(self, syntax: Syntax, module: Module, names: Names, by_symbol: Mapping[str, Resolution]) -> None:
        self.syntax = syntax
        self.module = module
        self.names = names
        self.by_symbol = by_symbol
        self.package = names.target.package
        self.plan = LoadedPlan()

    # At the place

    def here(self, use: AttributeUse, load: Loading, found: Resolution) -> bool:
        """Plan one read of a module that is loaded in the same expression; whether that can be done."""
        if not load.certain or load.named != self.package:
            return False  # __import__("parent.pkg").pkg.sym
        if self.module.name == self.package and use.use.block.when is not When.LATE:
            return False  # the `__init__` would load the origin again
        if load.how == "sys.modules" and not self._is_loaded(use, found):
            return False
        pieces = self._retargeted(load, found)
        if pieces is None or (use.by_name is not None and use.by_name.plain):
            return False
        # importlib.import_module("pkg").sym          ->  importlib.import_module("pkg.sub").sym
        self._edit(*pieces)
        self._name(use, found)
        self.plan.sites += 1
        return True

    def _edit(self, *pieces: tuple[ast.expr, str]) -> None:
        for node, text in pieces:
            start, end = self.syntax.source.span(node)
            self.plan.edits.append(Edit(self.syntax.source.path, start, end, text))

    def _name(self, use: AttributeUse, found: Resolution) -> None:
        # the symbol may have another name at its origin
        source = self.syntax.source
        if use.by_name is not None:
            self._edit(*((new.node, text) for new, text in by_name.renamed(use, source, found.origin.name)))
        elif found.origin.name != use.name:
            _, end = source.span(use.node)
            self.plan.edits.append(Edit(source.path, end - len(use.name), end, found.origin.name))

    def _retargeted(self, load: Loading, found: Resolution) -> list[tuple[ast.expr, str]] | None:
        """The new code of parts of a loading expression, so that it is the origin's module; None where it cannot be."""
        literal, origin = load.literal, found.origin
        if literal is None:
            return None
        old = str(literal.value)
        text = origin.module
        if old.startswith("."):
            # import_module(".pkg", "parent")         ->  import_module(".pkg.sub", "parent")
            if not origin.module.startswith(f"{self.package}."):
                return None
            below = origin.module[len(self.package) + 1 :]
            text = f"{old}{below}" if old.endswith(".") else f"{old}.{below}"
        pieces: list[tuple[ast.expr, str]] = [(literal, by_name.quoted(self.syntax.source, literal, text))]
        if load.how != "__import__":
            return pieces
        assert isinstance(load.node, ast.Call)
        fromlist = argument(load.node, 3, "fromlist")
        if fromlist is None and len(load.node.args) == 1 and not load.node.keywords:
            # __import__("pkg").sym                   ->  __import__("pkg.sub", fromlist=["sym"]).sym
            name = by_name.quoted(self.syntax.source, literal, origin.name)
            return [(literal, f"{pieces[0][1]}, fromlist=[{name}]")]
        if load.module != self.package or not isinstance(fromlist, (ast.List, ast.Tuple)):
            return None
        for element in fromlist.elts:
            # __import__("a.pkg", fromlist=["sym"])   ->  __import__("a.pkg.sub", fromlist=["sym"])
            if not isinstance(element, ast.Constant) or not isinstance(element.value, str) or element.value == "*":
                return None
            if element.value == found.symbol.name:
                if element.value != origin.name:
                    pieces.append((element, by_name.quoted(self.syntax.source, element, origin.name)))
            elif self.names.target.locate(f"{self.package}.{element.value}") is not None:
                return None  # it loads a submodule by the way
        return pieces

    def _is_loaded(self, use: AttributeUse, found: Resolution) -> bool:
        """Whether the origin is in `sys.modules` at that place, or can be brought there by an import beside the package's."""
        own: tuple[ast.Import, Block] | None = None
        for statement, block in self.syntax.imports:
            if block.when is not When.EAGER or block.optional or block.scope is not self.syntax.module:
                continue
            if statement.lineno > use.node.lineno and use.use.block.when is not When.LATE:
                continue  # a class body runs at once, too
            if isinstance(statement, ast.Import):
                loaded = [alias.name for alias in statement.names]
                if any(name == self.package or name.startswith(f"{self.package}.") for name in loaded):
                    own = own or (statement, block)
            else:
                loaded = [absolute(self.module, statement)]
            if any(f"{name}.".startswith(f"{found.origin.module}.") for name in loaded):
                return True
        if own is None or not all(not alias.asname for alias in own[0].names) or self.module.is_package:
            return False
        # import pkg; sys.modules["pkg"].sym          ->  import pkg.sub; sys.modules["pkg.sub"].sym
        if found.origin.module.partition(".")[0] != self.package.partition(".")[0]:
            return False
        self.plan.additions.append((*own, NewImport(found.origin.module, found.origin.module)))
        return True

    # Through a name

    def holder(self, receiver: ast.expr, scope: Scope) -> Binding | None:
        """The one assignment that gives a name the package by a string: `m = importlib.import_module("pkg")`."""
        if not isinstance(receiver, ast.Name):
            return None
        owner = scope.owner(receiver.id)
        bindings = owner.bindings[receiver.id] if owner is not None else []
        if len(bindings) != 1 or bindings[0].value is None:
            return None
        load = loading(bindings[0].value, bindings[0].scope, self.module)
        usable = load is not None and load.certain and load.how in ("import_module", "__import__")
        return bindings[0] if usable and isinstance(bindings[0].statement, (ast.Assign, ast.AnnAssign)) else None

    def through_name(self, binding: Binding, reads: list[AttributeUse]) -> None:
        """Plan all reads through one such name."""
        assert binding.value is not None
        load = loading(binding.value, binding.scope, self.module)
        assert load is not None
        modules = {self.by_symbol[read.name].origin.module for read in reads}
        first = self.by_symbol[reads[0].name]
        pieces = self._retargeted(load, first)
        if pieces is None or self.module.name == self.package or any(_plain(read) for read in reads):
            self.plan.rest += reads
            return
        inline = {
            id(use.node)
            for use in self.syntax.attributes
            if not use.pattern and not use.annotation and not isinstance(use.parent, ast.MatchClass)
        }
        if len(modules) == 1 and self._is_all(binding, reads):
            # m = importlib.import_module("pkg"); m.sym         ->  m = importlib.import_module("pkg.sub"); m.sym
            self._edit(*pieces)
            for read in reads:
                self._name(read, self.by_symbol[read.name])
            self.plan.sites += len(reads)
            return
        for read in reads:
            found = self.by_symbol[read.name]
            pieces = self._retargeted(load, found)
            text = self._text(binding.value, pieces) if pieces is not None else ""
            # def f(x: "m.Sym")        v: m.Sym        case m.Sym():        no call can stand there
            called = read.by_name is not None or id(read.use.node) in inline
            if not text or "\n" in text or not called or not self._means_the_same(binding, read):
                self.plan.rest.append(read)
                continue
            # m.sym(); m.light()                      ->  importlib.import_module("pkg.sub").sym(); m.light()
            self._edit((_receiver(read), text))
            self._name(read, found)
            self.plan.sites += 1

    def _is_all(self, binding: Binding, reads: Sequence[AttributeUse]) -> bool:
        """Whether the name is a function's own and serves for nothing else than these reads."""
        owner = binding.scope.home(binding.name)
        if owner.kind != "function" or any(binding.name in block.scope.outer for block in self.syntax.blocks.values()):
            return False
        if not isinstance(binding.statement, ast.Assign) or len(binding.statement.targets) != 1:
            return False
        if any(isinstance(use.node, ast.Name) and use.node.id in _FRAME_READERS for use in self.syntax.names):
            return False
        receivers = {id(_receiver(read)) for read in reads}
        return all(
            id(use.node) in receivers
            for use in self.syntax.names
            if isinstance(use.node, ast.Name) and use.node.id == binding.name and use.scope.owner(use.node.id) is owner
        )

    def _means_the_same(self, binding: Binding, read: AttributeUse) -> bool:
        # the call's own names are bound alike where the read stands
        assert binding.value is not None
        return all(
            read.use.scope.owner(node.id) is binding.scope.owner(node.id)
            for node in ast.walk(binding.value)
            if isinstance(node, ast.Name)
        )

    def _text(self, value: ast.expr, pieces: Sequence[tuple[ast.expr, str]]) -> str:
        source = self.syntax.source
        start, end = source.span(value)
        text = source.text[start:end]
        for node, new in sorted(pieces, key=lambda piece: source.span(piece[0]), reverse=True):
            first, last = source.span(node)
            text = text[: first - start] + new + text[last - start :]
        return text

    # pkgutil

    def resolve_names(self, early: frozenset[str], accepts: Callable[[int], bool]) -> None:
        """`pkgutil.resolve_name("pkg:sym")`: the string is resolved, so it follows."""
        for use in self.syntax.calls:
            call = use.node
            if not isinstance(call, ast.Call) or qualified(call.func, use.scope) != "pkgutil.resolve_name":
                continue
            literal = argument(call, 0, "name")
            if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str) or use.fstring is not None:
                continue
            for found in self.by_symbol.values():
                text = _resolved(literal.value, found)
                if not text or found.is_submodule or found.optional or found.symbol.name in early:
                    continue
                if accepts(literal.lineno):
                    continue
                there = Use(literal, use.scope, use.block, use.statement, None, False, False, call)
                self._edit((literal, by_name.quoted(self.syntax.source, literal, text)))
                self.plan.strings.append(there)
                self.plan.resolved.append((literal, found.symbol.name))
                self.plan.sites += 1

    def module_names(self) -> None:
        """`import_module("pkg.f")` is the module f, before and after, whatever the package binds to that name."""
        modules = {found.symbol.dotted for found in self.by_symbol.values() if found.same_name}
        for use in self.syntax.calls if modules else ():
            load = loading(use.node, use.scope, self.module)
            literal: ast.expr | None = load.literal if load is not None and load.certain else None
            if isinstance(use.node, ast.Call) and qualified(use.node.func, use.scope) == "pkgutil.resolve_name":
                literal = argument(use.node, 0, "name")  # "pkg.f" tries the module first
            if isinstance(literal, ast.Constant) and literal.value in modules:
                self.plan.strings.append(replace(use, node=literal))


def _resolved(text: str, found: Resolution) -> str:
    # "pkg:sym.attr"      ->  "pkg.sub:sym.attr"            "pkg.sym"      ->  "pkg.sub.sym"
    for old, new in (
        (str(found.symbol), str(found.origin)),
        (found.symbol.dotted, "" if found.same_name else found.origin.dotted),
    ):
        if new and (text == old or text.startswith(f"{old}.")):
            return new + text[len(old) :]
    return ""


def _plain(read: AttributeUse) -> bool:
    return read.by_name is not None and read.by_name.plain
