"""The rows themselves: whether each still means something, and rows for symbols that are not narrowed yet.

Owns the question whether a row's origin and package are still there. A row that guards nothing would be silence.
Invariant: what lies outside the tree is taken as it is; only a file of the tree that is gone, or binds the name no more, counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codemods.check_narrowed.guard import Guard
from codemods.engine.bans import FILE_NAME, Ban
from codemods.engine.discover import is_code
from codemods.engine.errors import BadConfiguration, NotAReexport, UnknownPackage
from codemods.engine.import_lines import import_lines
from codemods.engine.model import Symbol
from codemods.engine.modules import Layout
from codemods.engine.toml import line_of_key

_CURE = "`check-narrowed --prune` takes such rows out, `check-narrowed --rename OLD NEW` points them at the new place"


@dataclass(frozen=True, slots=True)
class Stale:
    """A row that guards nothing any more, and why."""

    ban: Ban
    reason: str


def stale_rows(guard: Guard) -> tuple[Stale, ...]:
    """The rows whose package or origin is gone. Raises `UnknownPackage` where it cannot be told which package is meant."""
    found = []
    for package, rows in sorted(guard.by_package.items()):
        layout, reason = _layout_for(guard, package)
        for ban in rows.values():
            why = reason or (_origin_gone(guard, layout, ban) if layout is not None else "")
            if why:
                found.append(Stale(ban, why))
    return tuple(found)


def complaints(data: bytes, stale: Iterable[Stale]) -> tuple[BadConfiguration, ...]:
    """An error for each, with the line of the row in `data`, the file's bytes."""
    text = data.decode("utf-8")
    lines = text.split("\n")
    errors = []
    for each in stale:
        line = line_of_key(text, str(each.ban.symbol), "symbols")
        shown = lines[line - 1].rstrip("\r") if line else ""
        errors.append(BadConfiguration(each.reason, path=FILE_NAME, line=line, text=shown, hint=_CURE))
    return tuple(sorted(errors, key=lambda error: error.line))


def fresh_ban(guard: Guard, symbol: Symbol) -> Ban:
    """The row that bans a symbol, which is still re-exported. Raises a `CodemodError` where it is not."""
    from codemods.engine.namespace import Namespaces
    from codemods.narrow_reexport.resolve import resolve

    layout = guard.layout_of(symbol.module)
    package = layout.locate(symbol.module)
    if package is None or not package.path or not package.is_package:
        raise UnknownPackage(f"{symbol.module} is no package with an __init__ in this tree")
    resolved = resolve(package, (symbol.name,), Namespaces(layout.locate, guard.read), {})
    for error in resolved.errors:
        raise error
    for refusal in resolved.refusals:
        raise NotAReexport(refusal.reason, path=refusal.site.path, line=refusal.site.line, hint=refusal.hint)
    return Ban(symbol, resolved.resolutions[0].origin)


# The package


def _layout_for(guard: Guard, package: str) -> tuple[Layout | None, str]:
    """The modules of the tree as a package sees them, or why the package is gone; neither where it is not of this tree."""
    try:
        return guard.layout_of(package), ""
    except UnknownPackage as error:
        if error.path and error.detail.startswith("more than one"):
            hint = "name its root: source-root in [tool.codemods.narrow_reexport] of pyproject.toml"
            raise UnknownPackage(error.detail, path=error.path, line=error.line, hint=hint) from error
    top = package.partition(".")[0]
    if guard.at_root(top):
        return None, f"the package {package} is gone, or has no __init__.py any more"
    return None, ""


# The origin


def _origin_gone(guard: Guard, layout: Layout, ban: Ban) -> str:
    origin = ban.origin
    if ban.origin == ban.symbol:
        gone = layout.locate(origin.dotted) is None and not _is_imported(guard, layout, origin.dotted)
        return f"the submodule {origin.dotted} is gone" if gone else ""
    if not _is_here(layout, origin.module):
        return ""
    module = layout.locate(origin.module)
    if module is None:
        # from ._C import sym        a compiled module has no file in the tree, and others import it too
        gone = not _is_imported(guard, layout, origin.module)
        return f"the origin {origin} of {ban.symbol} is gone: there is no module {origin.module}" if gone else ""
    if layout.locate(origin.dotted) is not None:
        return ""
    if module.path and (_defines(origin.name, guard.read(module.path)) or _binds(guard, ban.symbol.module, origin)):
        return ""
    return f"the origin {origin} of {ban.symbol} is gone: {module.path or origin.module} binds no {origin.name}"


def _is_here(layout: Layout, module: str) -> bool:
    """Whether a module, if it exists, is one of this tree: `numpy` is not, though some test folder may be called so."""
    top = module.partition(".")[0]
    if top == layout.top:
        return True
    located = layout.locate(top)
    path = (located.path.removesuffix("/__init__.py").removesuffix(".py") if located else "") or ""
    return path in (top, f"src/{top}", f"{layout.root}/{top}")


def _defines(name: str, data: bytes) -> bool:
    # def sym(        class Sym:        sym = 1        at the left margin; all else is looked up
    spelled = re.escape(name.encode())
    pattern = rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+%b(?![\w\x80-\xff])|%b[ \t]*(?::|=(?!=)))" % (spelled, spelled)
    return re.search(pattern, data, re.MULTILINE) is not None


def _binds(guard: Guard, package: str, origin: Symbol) -> bool:
    import ast

    from codemods.engine.namespace import absolute

    view = guard.view(package)
    module = view.namespaces.locate(origin.module) if view is not None else None
    syntax = view.namespaces.syntax(module) if view is not None and module is not None else None
    if view is None or module is None or syntax is None:
        return True  # it does not parse, so it cannot be told
    namespaces = view.namespaces
    if namespaces.has_getattr(origin.module):
        return True
    if namespaces.bindings(origin.module, origin.name) or origin.name in syntax.module.bindings:
        return True
    for statement, _ in syntax.imports:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            source = absolute(module, statement)
            star = namespaces.star(source)
            if star is None or origin.name in star:
                return True  # a star of a module outside the tree may bring it
    # globals()["sym"] = ...        what writes the namespace may write any name
    return any(word in syntax.source.text for word in ("globals()", "sys.modules[__name__]", "exec("))


def _is_imported(guard: Guard, layout: Layout, dotted: str) -> bool:
    """Whether a file of the tree imports a module that has no file."""
    leaf = dotted.rpartition(".")[2].encode()
    for path in guard.tree.paths:
        if not is_code(path) or leaf not in (data := guard.read(path)):
            continue
        for line in import_lines(data):
            names = [name.decode("utf-8", "replace") for name, _ in line.names]
            if line.module is None:
                reached: Sequence[str] = names
            else:
                source = layout.module_at(path).absolute(line.module.decode("utf-8", "replace"))
                reached = (source, *(f"{source}.{name}" for name in names))
            if any(f"{each}.".startswith(f"{dotted}.") for each in reached):
                return True
    return False


def complaint_of_rename(old: str, new: str) -> str:
    """What is wrong with the arguments of `--rename`, "" if nothing is."""
    if (":" in old) != (":" in new):
        return f"--rename takes two modules or two symbols, not {old!r} and {new!r}"
    for spelled in (old, new):
        if not all(part.isidentifier() for part in spelled.replace(":", ".", 1).split(".")):
            return f"{spelled!r} is neither pkg.module nor pkg.module:name"
    return ""


def parsed_symbol(spelled: str) -> Symbol | None:
    """`pkg.sub:name` as a symbol, None if it is spelled otherwise."""
    module, colon, name = spelled.partition(":")
    fits = colon and all(part.isidentifier() for part in (*module.split("."), name))
    return Symbol(module, name) if fits else None
