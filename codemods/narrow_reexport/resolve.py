"""Request to resolution: where each symbol comes from.

Owns the questions "what is pkg.sym bound to, by which statements?" and the reasons why a name cannot be narrowed.
Invariant: it reads the package's `__init__` and the modules that it imports, never a call site, and edits nothing.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from codemods.engine.errors import CodemodError, NotAReexport, UnknownSymbol
from codemods.engine.model import Module, Refusal, Site, Symbol, When
from codemods.engine.namespace import Namespaces, absolute
from codemods.engine.scopes import Binding, Syntax
from codemods.narrow_reexport.conditions import may_be_missing, no_reexport, only_raises, rebound_later, unreadable
from codemods.narrow_reexport.forms.lazy_export import is_lazily_bound, lazy_export, lazy_names, order_decides


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a re-exported symbol comes from, and what follows for its references."""

    symbol: Symbol
    origin: Symbol
    site: Site  # the statement in the `__init__` that binds it
    is_submodule: bool  # the symbol is `pkg.sym`, a module
    same_name: bool  # `pkg.sym` is a module too, but the symbol is not that module
    starred: bool  # `from pkg import *` takes it
    optional: bool  # bound in a `try` that a missing dependency may empty
    path_is_module: bool  # `pkg.sub` in code is the module that `import pkg.sub` loads
    stars: tuple[str, ...]  # the modules whose star in the `__init__` brings it
    narrowed: bool = False  # the `__init__` no longer binds it
    lazy: bool = False  # the package loads the origin when the name is first asked for
    reraised: bool = False  # bound in a `try` whose handlers raise another error
    guessed: bool = False  # narrowed, and no row says so: the origin is where one module below defines the name

    @property
    def loads(self) -> str:
        """The module that an import of the origin loads: the symbol itself where it is a submodule."""
        return self.origin.dotted if self.origin.module == self.symbol.module else self.origin.module


@dataclass(frozen=True, slots=True)
class Resolved:
    """The answer for a whole request."""

    resolutions: tuple[Resolution, ...]
    refusals: tuple[Refusal, ...]
    errors: tuple[CodemodError, ...]  # symbols that cannot be narrowed
    skipped: tuple[
        tuple[str, str], ...
    ]  # names that a glob or --all took in and that are no re-exports, with the reason


def resolve(
    package: Module,
    wanted: Sequence[str],
    namespaces: Namespaces,
    known: dict[str, Symbol],
    *,
    every: bool = False,
    to_definition: bool = False,
) -> Resolved:
    """Resolve symbols, globs, or with `every` the names in `__all__` (else those imported from the same distribution).

    `known` maps symbols narrowed earlier to their origin (`narrowed.toml`). Raises Unreadable where the `__init__` does not parse.
    """
    syntax = namespaces.syntax(package)
    if syntax is None:
        raise unreadable(package, namespaces)
    resolver = _Resolver(package, syntax, namespaces, known, to_definition)
    names = resolver.candidates() if every else []
    broad = set(names)
    for want in wanted:
        if any(char in want for char in "*?["):
            found = [name for name in (*resolver.bound(), *known) if fnmatchcase(name, want)]
            if not found:
                raise UnknownSymbol(
                    f"nothing in {package.name} matches {want!r}",
                    path=package.path,
                    line=1,
                    hint=_names_there(resolver.bound()),
                )
            names += found
            broad |= set(found)
        else:
            names.append(want)
            broad.discard(want)
    resolutions: list[Resolution] = []
    refusals: list[Refusal] = []
    errors: list[CodemodError] = []
    skipped: list[tuple[str, str]] = []
    for name in dict.fromkeys(names):
        try:
            found_one = resolver.resolve(name)
        except CodemodError as error:
            if name in broad:
                skipped.append((name, error.detail))
            else:
                errors.append(error)
            continue
        if isinstance(found_one, Refusal):
            refusals.append(found_one)
        else:
            resolutions.append(found_one)
    return Resolved(tuple(map(resolver.with_path, resolutions)), tuple(refusals), tuple(errors), tuple(skipped))


def _names_there(bound: Sequence[str]) -> str:
    public = [name for name in bound if not name.startswith("_")]
    shown = ", ".join(public[:5]) + (", ..." if len(public) > 5 else "")
    there = f"it binds {shown}" if public else "it binds no names"
    return f"{there}; names that were narrowed before are known by their rows in narrowed.toml alone"


class _Resolver:
    def __init__(
        self, package: Module, syntax: Syntax, namespaces: Namespaces, known: dict[str, Symbol], to_definition: bool
    ) -> None:
        self.package = package
        self.syntax = syntax
        self.namespaces = namespaces
        self.known = known
        self.to_definition = to_definition
        self.stars = [
            (absolute(package, statement), statement, block)
            for statement, block in syntax.imports
            if isinstance(statement, ast.ImportFrom)
            and statement.names[0].name == "*"
            and block.when is not When.TYPING
        ]

    def bound(self) -> list[str]:
        """All names that the `__init__` binds at run time, stars included, in order."""
        names = [
            name
            for name, found in self.syntax.module.bindings.items()
            if any(b.block.when is not When.TYPING for b in found)
        ]
        for source, _, _ in self.stars:
            star = self.namespaces.star(source)
            names += star.certain if star else ()
        names += lazy_names(self.package, self.syntax, self.namespaces)
        return list(dict.fromkeys(names))

    def candidates(self) -> list[str]:
        """The names of `--all`."""
        exports = self.namespaces.exports(self.package.name)
        if exports is not None and exports.names:
            return list(exports.names)
        top = self.package.name.partition(".")[0]
        names = []
        for name in self.bound():
            found = self.runtime(name)
            origins = [self.namespaces.origin(self.package, b) for b in found]
            if not found or any(origin and origin.module.partition(".")[0] == top for origin in origins):
                names.append(name)
        return [name for name in names if not name.startswith("__")]

    def runtime(self, name: str) -> list[Binding]:
        return self.namespaces.bindings(self.package.name, name)

    def resolve(self, name: str) -> Resolution | Refusal:
        found = self.runtime(name)
        stars = [
            (source, statement, names)
            for source, statement, _ in self.stars
            if (names := self.namespaces.star(source)) is not None and name in names
        ]
        if not found and not stars:
            return self._unbound(name)
        origins: dict[Symbol, int] = {}
        for binding in found:
            try:
                origin = self._bound_origin(name, binding)
            except NotAReexport:
                if len({id(other.statement) for other in found}) < 2:
                    raise
                lines = " and ".join(f"line {line}" for line in sorted({other.statement.lineno for other in found}))
                raise no_reexport(
                    self.package, self.namespaces, f"{name} has more than one origin: {lines}", binding.statement.lineno
                ) from None
            origins.setdefault(origin, binding.statement.lineno)
        for source, statement, names in stars:
            if name in names.maybe and name not in names.certain:
                raise no_reexport(
                    self.package,
                    self.namespaces,
                    f"{name} is bound in {source} only under a condition",
                    statement.lineno,
                )
            origins.setdefault(Symbol(source, name), statement.lineno)
        origin = self._single(name, origins)
        if self.to_definition:
            origin = self.namespaces.definition(origin)
        optional = may_be_missing(self.package, self.namespaces, name, found)
        is_submodule = origin == Symbol(self.package.name, name)
        line = found[0].statement.lineno if found else stars[0][1].lineno
        refusal = rebound_later(self.package, self.namespaces, name, origin)
        site = self.syntax.source.site(line)
        same_name = not is_submodule and self.namespaces.is_submodule(self.package.name, name)
        lazy = any(is_lazily_bound(self.package, self.syntax, binding) for binding in found)
        if refusal is None and lazy and same_name:
            refusal = order_decides(Symbol(self.package.name, name), site)
        if refusal is not None:
            return refusal
        return Resolution(
            Symbol(self.package.name, name),
            origin,
            site,
            is_submodule,
            same_name,
            self._starred(name),
            optional,
            False,
            tuple(source for source, _, _ in stars),
            lazy=lazy,
            reraised=any(only_raises(binding) for binding in found),
        )

    def with_path(self, found: Resolution) -> Resolution:
        """Fill in whether `pkg.sub` in code is the module: no part of the path may be bound to something else."""
        origin, package = found.origin, self.package.name
        inside = origin.module.startswith(f"{package}.") or (origin.module == package and not found.is_submodule)
        path = origin.module if origin.module != package else origin.dotted
        clean = inside
        parent = package
        above = package
        while inside and "." in above:
            # pkg's own name may be something else in its parent: a star brought it first
            outer, _, leaf = above.rpartition(".")
            clean = clean and self._binds_module(outer, leaf)
            above = outer
        for part in path[len(package) + 1 :].split(".") if inside else ():
            if self.namespaces.locate(f"{parent}.{part}") is None:
                clean = False
                break
            clean = clean and self._binds_module(parent, part)
            parent = f"{parent}.{part}"
        return replace(found, path_is_module=clean and not found.same_name)

    def _binds_module(self, parent: str, part: str) -> bool:
        # nothing binds the name, or what binds it is the submodule itself
        for binding in self.namespaces.bindings(parent, part):
            module = self.namespaces.locate(parent)
            if module is None or self.namespaces.origin(module, binding) != Symbol(parent, part):
                return False
        module = self.namespaces.locate(parent)
        syntax = self.namespaces.syntax(module) if module else None
        for statement, block in syntax.imports if syntax is not None else ():
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" and block.when is not When.LATE:
                source = absolute(module or self.package, statement)
                star = self.namespaces.star(source)
                named = star is not None and part in star
                if named and self.namespaces.definition(Symbol(source, part)) != Symbol(parent, part):
                    return False
                if star is not None and not named and not star.listed and self.namespaces.is_submodule(source, part):
                    return False  # a star without `__all__` takes the submodules that are loaded, too
        return True

    def _bound_origin(self, name: str, binding: Binding) -> Symbol:
        line = binding.statement.lineno
        if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            raise no_reexport(
                self.package,
                self.namespaces,
                f"{name} is defined in {self.package.name} itself, not re-exported",
                line,
                "move the definition into a submodule first",
            )
        if binding.block.when is When.LATE or binding.scope.kind != "module":
            raise no_reexport(
                self.package,
                self.namespaces,
                f"{name} is rebound in a function of the __init__, so it has more than one origin",
                line,
            )
        if isinstance(binding.statement, ast.Delete):
            raise no_reexport(
                self.package, self.namespaces, f"{name} is deleted again in the __init__: it is not exported", line
            )
        if isinstance(binding.statement, ast.Assign) and not all(
            isinstance(target, ast.Name) for target in binding.statement.targets
        ):
            raise no_reexport(
                self.package,
                self.namespaces,
                f"{name} is bound by a tuple assignment",
                line,
                "give it an assignment of its own first",
            )
        origin = self.namespaces.origin(self.package, binding)
        if origin is None:
            node = binding.node
            if isinstance(node, ast.alias):
                raise no_reexport(
                    self.package,
                    self.namespaces,
                    f"{name} is the module {node.name} imported into the __init__, not a re-exported symbol",
                    line,
                )
            what = "assigned" if isinstance(binding.statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) else "bound"
            raise no_reexport(
                self.package,
                self.namespaces,
                f"{name} is defined ({what}) in {self.package.name} itself, not re-exported",
                line,
                "move the definition into a submodule first",
            )
        return origin

    def _single(self, name: str, origins: dict[Symbol, int]) -> Symbol:
        if len(origins) == 1:
            return next(iter(origins))
        defined = {self.namespaces.definition(origin) for origin in origins}
        if len(defined) == 1:
            definition = defined.pop()
            return definition if definition in origins else list(origins)[-1]
        places = ", ".join(f"line {line} ({origin})" for origin, line in origins.items())
        raise no_reexport(
            self.package,
            self.namespaces,
            f"{name} has more than one origin, so it is ambiguous which one a caller means: {places}",
            next(iter(origins.values())),
            "leave one of them in the __init__ first",
        )

    def _starred(self, name: str) -> bool:
        exports = self.namespaces.exports(self.package.name)
        if exports is None:
            return not name.startswith("_")
        return name in exports.names or not exports.complete

    def _unbound(self, name: str) -> Resolution | Refusal:
        dotted = f"{self.package.name}.{name}"
        for statement, block in self.syntax.imports:
            if isinstance(statement, ast.Import) and block.when is not When.LATE and not block.optional:
                # import pkg.sub         in the `__init__` of pkg
                if any(alias.name == dotted and not alias.asname for alias in statement.names):
                    symbol = Symbol(self.package.name, name)
                    site = self.syntax.source.site(statement.lineno)
                    return Resolution(symbol, symbol, site, True, False, self._starred(name), False, False, ())
        typing = self.syntax.module.bindings.get(name, [])
        lazily = self._lazily(name)
        if isinstance(lazily, Resolution):
            return lazily
        if name in self.known:
            origin = self.known[name]
            return Resolution(
                Symbol(self.package.name, name),
                origin,
                self.syntax.source.site(1),
                origin == Symbol(self.package.name, name),
                origin != Symbol(self.package.name, name) and self.namespaces.is_submodule(self.package.name, name),
                False,
                False,
                False,
                (),
                narrowed=True,
            )
        if lazily is not None:
            return lazily
        if typing:
            raise no_reexport(
                self.package,
                self.namespaces,
                f"{name} is imported only for type checkers (TYPE_CHECKING): it does not exist at run time",
                typing[0].statement.lineno,
            )
        raise self._unknown(name)

    def _lazily(self, name: str) -> Resolution | Refusal | None:
        # def __getattr__(name): ...        __getattr__, __dir__, __all__ = lazy.attach(__name__, ...)
        found = lazy_export(self.package, self.syntax, self.namespaces, name)
        if found is None or isinstance(found, Refusal):
            return found
        symbol, origin = Symbol(self.package.name, name), found.origin
        flags = (found.starred, found.optional, False, found.stars)
        resolution = Resolution(symbol, origin, found.site, origin == symbol, False, *flags, lazy=True)
        return rebound_later(self.package, self.namespaces, name, origin) or resolution

    def _unknown(self, name: str) -> UnknownSymbol:
        unread = [source for source, _, _ in self.stars if self.namespaces.star(source) is None]
        bound = self.bound()
        near = difflib.get_close_matches(name, bound, 1, 0.6)
        submodule = self.namespaces.locate(f"{self.package.name}.{name}")
        detail = f"{self.package.name} has no name {name}"
        hint = f"did you mean {near[0]}?" if near else ""
        if submodule is not None:
            detail += (
                f"; {submodule.path or submodule.name} is a submodule of that name, which the __init__ does not import"
            )
            hint = hint or "from-imports of a submodule need no re-export: there is nothing to narrow"
        elif unread:
            detail += f"; it may come from {unread[0]}, whose star import cannot be read here"
        return UnknownSymbol(detail, path=self.package.path, line=1, hint=hint)
