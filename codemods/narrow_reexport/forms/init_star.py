"""`from .sub import *` in the `__init__`: the star becomes the names that it brings, minus the symbol.

Owns the list of those names, submodules that the star took along among them.
Invariant: after it no name of the package is bound to something else than before; a name that may or may not be there is never listed.
"""

from __future__ import annotations

import ast

from codemods.engine.model import Edit, Refusal, When
from codemods.engine.namespace import StarNames, absolute
from codemods.narrow_reexport.forms.init_uses import InitUses
from codemods.narrow_reexport.forms.star import starred_by_stub
from codemods.narrow_reexport.forms.statement import NewImport, render, statement_end
from codemods.narrow_reexport.star_modules import StarModules


def dissolve_stars(init: InitUses, modules: StarModules | None) -> None:
    """Replace the stars that bring a symbol; without `modules` (a stub) they take no submodules along."""
    sources = {source for found in init.resolutions.values() for source in found.stars}
    if init.stub:
        sources |= starred_by_stub(init.package, init.syntax, init.namespaces, init.resolutions)
    stars = [
        statement
        for statement, block in init.syntax.imports
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*" and block.when is not When.LATE
    ]
    taken = {star: modules.possible(star) if modules is not None else frozenset() for star in stars}
    for star in stars:
        source = absolute(init.package, star)
        names = init.namespaces.star(source)
        supplied = _supplied(init, star, taken)
        if source not in sources:
            _still_taken(init, star, taken[star], supplied, modules)
        elif names is not None:
            _dissolve(init, star, names, taken[star], supplied, modules)


def _dissolve(
    init: InitUses,
    star: ast.ImportFrom,
    names: StarNames,
    taken: frozenset[str],
    supplied: frozenset[str],
    modules: StarModules | None,
) -> None:
    source = absolute(init.package, star)
    symbol = str(next(iter(init.resolutions.values())).symbol)
    # from .sub import *     ->  from .sub import a, b
    keep = [
        name
        for name in names.certain
        if name not in init.resolutions
        and (names.listed or name not in names.imported or name in supplied or is_read(init, name))
    ]
    needed = sorted(
        name for name in taken if name not in init.resolutions and (name in supplied or is_read(init, name))
    )
    certain = modules.certain(star) if needed and modules is not None else frozenset()
    keep += [name for name in needed if name in certain]
    gone = (*names.certain, *sorted(names.maybe), *sorted(taken))
    dropped = [name for name in dict.fromkeys(gone) if name not in keep and name not in init.resolutions]
    risky = [
        name
        for name in sorted(names.maybe)
        if name not in init.resolutions and (name in supplied or is_read(init, name))
    ]
    for name in dict.fromkeys((*risky, *(name for name in needed if name not in certain))):
        how = "which is read through the package" if is_read(init, name) else "which something else would stand for"
        init.plan.refusals.append(
            Refusal(
                init.source.site(star.lineno),
                symbol,
                f"the star also brings {name}, which {source} binds only under a condition and {how}",
                "import that name explicitly where it is read first",
            )
        )
    if dropped:
        init.plan.dropped[source] = tuple(dropped)
    spelled = "." * star.level + (star.module or "")
    code_end, line_end = statement_end(init.source, star)
    comment = init.source.text[code_end:line_end].strip()
    ordered = sorted(
        keep,
        key=lambda name: (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2, name.lower()),
    )
    if not ordered:
        init.emptied.append(star)
        return
    # in a stub a plain import is no re-export, unless __all__ lists the name
    as_itself = init.stub and "__all__" not in init.syntax.module.bindings
    listed = tuple((name, name if as_itself else "") for name in ordered)
    new = NewImport(spelled, source, listed, comment, listing=True)
    start = init.source.span(star)[0]
    indent = init.source.text[init.source.starts[star.lineno - 1] : start]
    end = line_end if not indent.strip() else code_end
    init.plan.edits.append(Edit(init.source.path, start, end, render(new, indent, init.width, init.source.newline)))


def _still_taken(
    init: InitUses, star: ast.ImportFrom, taken: frozenset[str], supplied: frozenset[str], modules: StarModules | None
) -> None:
    """Another star of the `__init__`, which no longer finds a submodule loaded that it took along."""
    if modules is None or not taken or not init.lost:
        return
    for name in sorted(taken - modules.possible(star, init.lost)):
        if name in supplied or is_read(init, name):
            symbol = str(next(iter(init.resolutions.values())).symbol)
            reason = f"this star also takes the submodule {name}, which nothing will have loaded any more"
            hint = "import it by name beside the star first"
            init.plan.refusals.append(Refusal(init.source.site(star.lineno), symbol, reason, hint))


def _supplied(init: InitUses, star: ast.ImportFrom, taken: dict[ast.ImportFrom, frozenset[str]]) -> frozenset[str]:
    """Names that the package would get from elsewhere, were this star not there: bindings, other stars, submodules."""
    found = {
        name
        for name, bindings in init.syntax.module.bindings.items()
        if any(binding.block.when is not When.TYPING for binding in bindings)
    }
    for other, modules in taken.items():
        if other is not star:
            names = init.namespaces.star(absolute(init.package, other))
            found |= modules | (set(names.certain) | names.maybe if names is not None else set())
    names = init.namespaces.star(absolute(init.package, star))
    own = taken[star] | (set(names.certain) | names.maybe if names is not None else set())
    found |= {name for name in own if init.namespaces.is_submodule(init.package.name, name)}
    return frozenset(found)


def is_read(init: InitUses, name: str) -> bool:
    """Whether somebody may read the name through the package: code outside, its `__all__`, the `__init__` itself."""
    exports = init.namespaces.exports(init.package.name)
    if name in init.read_names or (exports is not None and name in exports.names):
        return True
    return any(
        isinstance(use.node, ast.Name) and use.node.id == name and use.scope.owner(name) is None
        for use in init.syntax.names
    )
