"""`from pkg import *`: consumers that get the symbol by a star.

Owns the question whether a star's name is used or passed on, and the explicit import beside the star.
Invariant: a file that does not use the name is untouched and stays light.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from codemods.engine.model import Module, When
from codemods.engine.namespace import Namespaces, absolute, all_values
from codemods.engine.references import StarImport
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms.from_import import spell
from codemods.narrow_reexport.forms.statement import Change, NewImport, statement_end
from codemods.narrow_reexport.resolve import Resolution


def change_star(
    syntax: Syntax,
    module: Module,
    star: StarImport,
    resolutions: Sequence[Resolution],
    submodules: Sequence[str],
    read_elsewhere: frozenset[str],
    *,
    listed_onward: bool = False,
) -> Change | None:
    """The explicit imports that this star needs beside it; None where it needs none.

    `submodules` are names that a star without `__all__` took because the package had loaded them; `read_elsewhere` names
    that other files read through this module; `listed_onward` says that its `__all__` is built from the package's.
    """
    package = resolutions[0].symbol.module
    code_end, line_end = statement_end(syntax.source, star.statement)
    # what silences the star's unused names must silence the explicit one's too, in an `__init__`
    comment = syntax.source.text[code_end:line_end].strip()
    noqa = comment if module.is_package and re.fullmatch(r"#\s*noqa(:[\sA-Z0-9,]*)?", comment, re.I) else ""
    new: dict[tuple[str, str], NewImport] = {}
    for found in resolutions if star.source == package else ():
        name = found.symbol.name
        if found.origin.module == module.name:
            continue  # the origin stars its own package
        if found.narrowed and _imported_above(syntax, star, name):
            continue  # the star brings it no more, and did not have to
        onward = listed_onward or _passed_on(syntax, module, name)
        if found.starred and (_used(syntax, star, name) or name in read_elsewhere or onward):
            # from pkg import *          ->  from pkg import *
            # sym()                          from pkg.sub import sym
            origin = found.origin
            # in a stub a plain import is no re-export
            alias = "" if origin.name == name and not syntax.source.path.endswith(".pyi") else name
            if not _beside(star, module, origin.module, origin.name, name):
                spelled = spell(module, star.statement, package, origin.module)
                new[origin.module, name] = NewImport(spelled, origin.module, ((origin.name, alias),), noqa)
    for name in submodules:
        used = _used(syntax, star, name) or name in read_elsewhere
        if used and not _beside(star, module, star.source, name, name):
            spelled = spell(module, star.statement, star.source, star.source)
            new[star.source, name] = NewImport(spelled, star.source, ((name, ""),))
    if not new:
        return None
    joined: dict[str, NewImport] = {}
    for each in new.values():
        old = joined.get(each.module)
        joined[each.module] = each if old is None else replace(old, names=old.names + each.names)
    start = syntax.source.span(star.statement)[0]
    _, end = statement_end(syntax.source, star.statement)
    return Change(star.statement, star.block, syntax.source.text[start:end], list(joined.values()))


def starred_by_stub(package: Module, syntax: Syntax, namespaces: Namespaces, symbols: Collection[str]) -> set[str]:
    """The modules from which the stub of an `__init__` stars a symbol that the `__init__` itself may name."""
    found: set[str] = set()
    for statement, _ in syntax.imports:
        # from .sub import *        in the stub;        from .sub import sym        in the __init__
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            source = absolute(package, statement)
            names = namespaces.star(source)
            if names is not None and any(symbol in names.certain for symbol in symbols):
                found.add(source)
    return found


def _beside(star: StarImport, module: Module, source: str, name: str, bound: str) -> bool:
    """Whether the explicit import stands there already, with import statements alone between it and the star."""
    statements = star.block.statements
    at = statements.index(star.statement)
    for run in (reversed(statements[:at]), iter(statements[at + 1 :])):
        for statement in run:
            if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                break
            if isinstance(statement, ast.ImportFrom) and absolute(module, statement) == source:
                if any(alias.name == name and (alias.asname or alias.name) == bound for alias in statement.names):
                    return True
    return False


def _used(syntax: Syntax, star: StarImport, name: str) -> bool:
    bindings = syntax.module.bindings.get(name, [])
    uses = [use for use in syntax.names if isinstance(use.node, ast.Name) and use.node.id == name]
    reads = [use for use in uses if use.scope.owner(name) in (None, syntax.module)]
    typed = [use for use in syntax.strings if use.annotation and re.search(rf"\b{re.escape(name)}\b", _value(use.node))]
    if not reads:
        return bool(typed) and not _stands(syntax, star, name)
    if not bindings:
        return True
    line = star.statement.lineno
    own = [
        binding
        for binding in bindings
        if binding.statement.lineno > line and not binding.block.optional and binding.scope is syntax.module
    ]
    if not own:
        return True
    first = min(binding.statement.lineno for binding in own)
    # a class body reads at once, too; a function that stands above may be called before the name is bound again
    return any(
        use.statement.lineno <= first and (use.block.when is When.LATE or line < use.statement.lineno) for use in reads
    )


def _stands(syntax: Syntax, star: StarImport, name: str) -> bool:
    """Whether the file binds the name itself, so that it is there without the star."""
    # sym = 1; del sym; from pkg import *        if TYPE_CHECKING: from pkg import sym
    bindings = [each for each in syntax.module.bindings.get(name, []) if each.block.when is not When.TYPING]
    above = [binding for binding in bindings if binding.statement.lineno < star.statement.lineno]
    return bool(bindings) and not (above == bindings and isinstance(above[-1].statement, ast.Delete))


def _imported_above(syntax: Syntax, star: StarImport, name: str) -> bool:
    above = [each for each in syntax.module.bindings.get(name, []) if each.statement.lineno < star.statement.lineno]
    last = above[-1] if above else None
    return last is not None and last.is_import and last.block.when is When.EAGER and not last.block.optional


def _passed_on(syntax: Syntax, module: Module, name: str) -> bool:
    # outer/__init__.py: `from inner import *` still exports the name; a listed `__all__` decides
    listed = "__all__" in syntax.module.bindings
    if listed:
        return any(
            isinstance(use.node, ast.Constant) and use.node.value == name and _in_all(use.statement)
            for use in syntax.strings
        )
    return module.is_package and name not in syntax.module.bindings and not name.startswith("_")


def _value(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _in_all(statement: ast.stmt) -> bool:
    return bool(all_values(statement))
