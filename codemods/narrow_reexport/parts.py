"""Which edited files work before the re-exports are gone, which only together, and which only afterwards.

Owns that verdict, from the two texts of each file and from what each run knows. The rows of a request are judged together:
no part may count on a re-export that another row removes, since all of them go last.
Invariant: a file stands alone only if its new text reads each symbol rightly while the package still holds it; whatever is
not known to do so goes with the part that removes the re-export.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemods.engine.discover import is_code, runs
from codemods.engine.model import FileChange, Module
from codemods.engine.modules import Layout
from codemods.engine.namespace import absolute
from codemods.engine.source import NotPython, Source, decode, parse
from codemods.engine.split import joined
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context, FilePlan, Patched
from codemods.narrow_reexport.forms.patch_target import patch_calls
from codemods.narrow_reexport.resolve import Resolution

_PATCHES = re.compile(r"(?<![a-z])(?:monkey)?patch|(?:set|del)attr\b|\bspy\b")
_IMPORTS_LATE = re.compile(r"\b(?:import_module|__import__|reload|subprocess|runpy|exec|run_module|run_path)\b")
_Imported = tuple[str, str, "str | None"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How the edited call-site files stand to each other."""

    last: frozenset[str] = frozenset()  # their new text is only known to work once the re-exports are gone
    groups: tuple[frozenset[str], ...] = ()  # files that only work together
    symbols: tuple[tuple[str, tuple[str, ...]], ...] = ()  # for each file the symbols that it reaches


@dataclass(frozen=True, slots=True)
class Ground:
    """What one run knows of its call sites and of its package, as far as it decides how they stand."""

    package: Module
    resolutions: tuple[Resolution, ...]
    patched: tuple[Patched, ...]
    layout: Layout
    near: frozenset[str]  # the modules that the package or an origin loads
    init: bytes  # the text of the `__init__` while the re-exports are there
    reached: tuple[tuple[str, frozenset[str]], ...]  # for each edited file the symbols that it may reach


@dataclass(frozen=True, slots=True)
class _Look:
    """What the two texts of one file tell."""

    late: bool = False  # a name may be looked up while a function runs, or in text
    reads: bool = False  # the new text may reach a module through an attribute that is masked so far
    patches: bool = False  # it may patch a symbol
    imports_late: bool = False  # it may import other files while a patch is on
    lists: bool = False  # its `__all__` changed
    loads: bool = False  # its imports load modules in another order


def ground(
    changes: Iterable[FileChange], plans: Iterable[FilePlan], context: Context, near: frozenset[str], init: bytes
) -> Ground:
    """What a run with these edited call sites knows."""
    symbols = frozenset(str(found.symbol) for found in context.resolutions)
    reached = {plan.path: symbols.intersection(each.symbol for each in plan.reached) for plan in plans}
    # a file that says nothing of what it reaches may reach any of them
    names = tuple((change.path, reached.get(change.path) or symbols) for change in changes)
    return Ground(context.package, context.resolutions, context.patched, context.layout, near, init, names)


def standing(changes: Sequence[FileChange], grounds: Sequence[Ground], inits: Collection[str]) -> Standing:
    """How the files stand that hold call sites; those that are an `__init__`, too, land last."""
    names: dict[str, frozenset[str]] = {}
    for path, symbols in (pair for each in grounds for pair in each.reached):
        names[path] = names.get(path, frozenset()) | symbols
    changes = [change for change in changes if change.path in names]
    names = {change.path: names[change.path] for change in changes}
    masked = _masked([r for each in grounds for r in each.resolutions], _spelled(grounds, _deleted))
    near = frozenset().union(*(each.near for each in grounds))
    layouts = {each.layout.top: each.layout for each in grounds}.values()
    modules = {change.path: [layout.module_at(change.path) for layout in layouts] for change in changes}
    is_near = {path: any(module.name in near for module in found) for path, found in modules.items()}
    matters = bool(masked or any(each.patched for each in grounds))
    same = _same(grounds)
    looks = {
        change.path: _look(change, modules[change.path][0], same, masked)
        if matters or is_near[change.path] or _spells_all(change)
        else _Look()
        for change in changes
    }
    last = {path for path in looks if path in inits}
    for path, look in looks.items():
        if look is None:
            last.add(path)
        elif look.lists or (masked and look.reads) or (is_near[path] and look.loads):
            last.add(path)
    groups = []
    own = _spelled(grounds, _read_in_functions)
    for package, patched in ((each.package.name, patched) for each in grounds for patched in each.patched):
        if patched.stays:
            continue
        # patch("pkg.sub.sym") and the readers that it covers
        symbol = f"{package}:{patched.name}"
        patching = {path for path, look in looks.items() if look is not None and look.patches}
        group = patching | {path for path, look in looks.items() if symbol in names[path] and look and look.late}
        if any(look is not None and look.imports_late for look in (looks[path] for path in patching)):
            group |= {path for path in looks if symbol in names[path]}
        groups.append(frozenset(group))
        if patched.name in own:
            last |= group
    apart = []
    for whole in joined(groups):
        if whole & last:
            last |= whole
        elif len(whole) > 1:
            apart.append(whole)
    told = tuple((path, tuple(sorted(names[path]))) for path in sorted(names))
    return Standing(frozenset(last), tuple(apart), told)


def _same(grounds: Sequence[Ground]) -> dict[str, str]:
    """Where `from pkg import sym` works, its origin is loaded, too: one name for the modules that are the same so far."""
    together = [{each.package.name, *(r.origin.module for r in each.resolutions)} for each in grounds]
    return {module: min(group) for group in joined(together) for module in group}


def _spelled(grounds: Sequence[Ground], names_in: Callable[[bytes], frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(names_in(init) for init in {each.init for each in grounds}))


def _spells_all(change: FileChange) -> bool:
    return b"__all__" in change.before or b"__all__" in change.after


def _masked(resolutions: Sequence[Resolution], deleted: frozenset[str]) -> frozenset[str]:
    """The names of modules that, while the re-exports are there, no attribute path leads to."""
    # from .fused import fused, helper        `pkg.fused` is the function, and `pkg.fused.helper` fails
    # from .sub import sym; del sub           the `del` goes with the import, and only then is there a `pkg.sub`
    found: set[str] = set()
    for one in resolutions:
        found |= deleted.intersection(one.origin.module.split("."))
        for other in resolutions:
            if not other.is_submodule and f"{one.origin.module}.".startswith(f"{other.symbol.dotted}."):
                found.add(other.symbol.name)
    return frozenset(found)


def _look(change: FileChange, module: Module, same: Mapping[str, str], masked: frozenset[str]) -> _Look | None:
    """What changed in a file; None where code cannot be read."""
    try:
        return _looked_at(change, module, same, masked)
    except (NotPython, RecursionError):
        return None


def _looked_at(change: FileChange, module: Module, same: Mapping[str, str], masked: frozenset[str]) -> _Look:
    text = change.after.decode("utf-8", "replace")
    if not is_code(change.path):
        # notebooks, pages, settings
        patches = _PATCHES.search(text) is not None
        return _Look(late=True, reads=True, patches=patches, imports_late=patches)
    if not runs(change.path):
        return _Look()
    source = decode(change.after, change.path)
    after = parse(source)
    before = parse(decode(change.before, change.path))
    old, new = _expressions(before), _expressions(after)
    fresh = {text for text in new if new[text] > old.get(text, 0)}
    gone = {text for text in old if old[text] > new.get(text, 0)}
    late_before, late_after = _imports(before, late=True), _imports(after, late=True)
    added = (late_after | _imports(after, late=False)) - (late_before | _imports(before, late=False))
    return _Look(
        late=late_before != late_after or bool(fresh | gone),
        # pkg.fused.helper        who goes through a masked name spells it
        reads=any(name in text for text in fresh for name in masked)
        or any(_takes_attribute(each, masked) for each in added)
        or bool(_given(after, masked) - _given(before, masked)),
        patches=_PATCHES.search(text) is not None and _patches(source, before, after, fresh | gone),
        imports_late=bool(late_after) or _IMPORTS_LATE.search(text) is not None,
        lists=_listings(before) != _listings(after),
        loads=_loads(before, module, same) != _loads(after, module, same),
    )


def _patches(source: Source, before: ast.Module, after: ast.Module, changed: set[str]) -> bool:
    """Whether the file patches anything, and more of it changed than from-imports."""
    if not patch_calls(analyse(source, after)):
        return False
    calls = [[ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.Call)] for tree in (before, after)]
    return bool(changed) or calls[0] != calls[1]


def _expressions(tree: ast.Module) -> dict[str, int]:
    """How often each expression that leads further than a name stands there: attribute reads and texts."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Constant, ast.JoinedStr)):
            text = ast.dump(node)
            found[text] = found.get(text, 0) + 1
    return found


def _given(tree: ast.Module, masked: frozenset[str]) -> set[str]:
    """The calls that are given what a masked name leads to."""
    # setattr(pkg, "fused", f)  ->  setattr(pkg.fused, "fused", f)        `pkg.fused` stood elsewhere before, as the function
    found: set[str] = set()
    for node in ast.walk(tree) if masked else ():
        if isinstance(node, ast.Call):
            given = [part for each in (*node.args, *node.keywords) for part in ast.walk(each)]
            if any(isinstance(part, ast.Attribute) and part.attr in masked for part in given):
                found.add(ast.dump(node))
    return found


def _imports(tree: ast.Module, *, late: bool) -> frozenset[_Imported]:
    """What import statements bind, as (module, name, alias): those in functions, or all others."""
    found: set[_Imported] = set()
    for node, inside in _statements(tree):
        if inside is not late:
            continue
        if isinstance(node, ast.Import):
            found |= {(alias.name, "", alias.asname) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {(module, alias.name, alias.asname) for alias in node.names}
    return frozenset(found)


def _statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement, and whether a function holds it."""
    left: list[tuple[ast.AST, bool]] = [(tree, False)]
    while left:
        node, inside = left.pop()
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield child, inside
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                left.append((child, inside))


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))


def _takes_attribute(imported: _Imported, masked: frozenset[str]) -> bool:
    # import pkg.fused as m        from pkg import fused as m        both take what the package holds: the function
    module, name, alias = imported
    parts = module.split(".")
    if not name:
        return alias is not None and bool(masked.intersection(parts))
    return name in masked and parts[-1] != name


def _loads(tree: ast.Module, module: Module, same: Mapping[str, str]) -> list[str]:
    """What the imports outside functions load, in order; where `from pkg import sym` works, its origin is loaded, too."""
    found: list[str] = []
    nodes = [
        node for node, inside in _statements(tree) if not inside and isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.ImportFrom):
            source = absolute(module, node)
            names = [f"from {same.get(source, source)}"]
        else:
            names = [f"import {alias.name}" for alias in node.names]
        found += [name for name in names if found[-1:] != [name]]
    return found


def _listings(tree: ast.Module) -> list[str]:
    """Everything that is done with `__all__` at module level."""
    statements = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
    return [
        ast.dump(node)
        for node in tree.body
        if isinstance(node, statements)
        and any(isinstance(part, ast.Name) and part.id == "__all__" for part in ast.walk(node))
    ]


def _deleted(init: bytes) -> frozenset[str]:
    """Names that the `__init__` deletes."""
    try:
        tree = ast.parse(init)
    except (SyntaxError, ValueError):
        return frozenset()
    gone = [target for node in ast.walk(tree) if isinstance(node, ast.Delete) for target in node.targets]
    parts = [part for target in gone for part in ast.walk(target)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return frozenset(
        names | {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    )


def _read_in_functions(init: bytes) -> frozenset[str]:
    """Names that functions of the `__init__` spell: as a patch moves they must move with it, in the last part."""
    try:
        tree = ast.parse(init)
    except (SyntaxError, ValueError):
        return frozenset()
    parts = [part for function in _functions(tree) for part in ast.walk(function)]
    named = {part.id for part in parts if isinstance(part, ast.Name)}
    return frozenset(
        named | {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    )
