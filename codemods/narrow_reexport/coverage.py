"""Whom a patch reaches: the readers of a patched name, through the package before the run and at its origin after it.

Owns the verdict on each symbol that somebody patches: its patches move to the origin, stay, or stand in the way.
Invariant: a symbol's patches move only if no reader comes under them that was not under them, as far as the tree is known.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from codemods.engine.model import Site, Symbol, When
from codemods.engine.namespace import Namespaces, absolute
from codemods.narrow_reexport.context import Context, Faked, Patched
from codemods.narrow_reexport.late_readers import Readers, Survey, Surveyed
from codemods.narrow_reexport.resolve import Resolution
from codemods.narrow_reexport.windows import Patch


def with_coverage(context: Context, tree: Surveyed, *, callers_only: bool) -> Context:
    """The context with the verdict on each patched symbol."""
    survey = Survey(context, tree)
    survey.patches()
    readers = survey.readers
    touched = [found for found in context.resolutions if readers[found.symbol.name].touched]
    if not touched and not survey.fakes:
        return context
    wanted = [found for found in touched if readers[found.symbol.name].through]
    origins = {found.origin for found in touched}
    modules = {context.package.name, *(found.origin.module for found in context.resolutions)} & set(survey.fakes)
    faked = [
        found
        for found in context.resolutions
        if not found.is_submodule and not found.narrowed and ({context.package.name, found.origin.module} & modules)
    ]
    survey.through_package([found for found in context.resolutions if found.origin in origins or found in faked])
    survey.at_origins(wanted)
    direct = {found.symbol.name for found in touched if readers[found.symbol.name].direct}
    apart = {
        (name, r.site.path, r.site.line)
        for name in direct
        for r in readers[name].covered
        if not readers[name].direct.reach(r)
    }
    verdicts = []
    for found in wanted:
        twins = [readers[o.symbol.name] for o in context.resolutions if o.origin == found.origin and o is not found]
        verdict = _verdict(found, readers[found.symbol.name], twins, context, tree, callers_only=callers_only)
        path = found.path_is_module or is_path(found, context, tree.namespaces, callers_only=callers_only)
        verdicts.append(replace(verdict, path=path))
    fakes = tuple(each for found in faked for each in _faked(found, survey, context.package.name))
    context = replace(context, faked=fakes)
    return replace(context, early=context.early | direct, apart=frozenset(apart), patched=tuple(verdicts))


def _verdict(
    found: Resolution, readers: Readers, twins: list[Readers], context: Context, tree: Surveyed, *, callers_only: bool
) -> Patched:
    name, origin = found.symbol.name, found.origin.dotted
    covered = [read.site for read in readers.covered if readers.through.reach(read)]
    if callers_only and (readers.own or not covered):
        if readers.own and covered:
            # the __init__ goes on reading pkg.sym, and the call sites no longer do
            reason = (
                f"the __init__ keeps reading {name} ({readers.own[0]}), other readers move ({covered[0]}): "
                "no one target covers both"
            )
            return Patched(name, reason, "narrow without --callers-only, or accept the site")
        return Patched(name, stays=True)
    hint = f"patch the name where the tested code looks it up, not {found.symbol.dotted}; or accept the site"
    if readers.direct:
        # patch("pkg.sym") in one test, patch("pkg.sub.sym") in another
        reached = [read.site for read in readers.covered if readers.direct.reach(read)] + readers.own
        if reached:
            other = readers.direct.patches[0].site
            reason = f"{other} patches {origin} too, and readers of the package ({reached[0]}) would come under that"
            return Patched(name, reason, hint)
    if readers.kept:
        reason = (
            f"the __init__ reads {name} in a function inside another ({readers.kept[0]}), "
            "which would no longer look it up when it runs"
        )
        return Patched(name, reason, hint)
    also = [read for twin in twins for read in twin.covered]
    for read in (*readers.others, *also):
        # def batch(xs): return [sym(x) for x in xs]        in pkg/sub.py itself
        if readers.through.reach(read):
            reason = f"a patch of {origin} would also reach {read.site}, which one of {found.symbol.dotted} does not"
            return Patched(name, reason, hint)
    for patch in readers.through.patches if readers.takers else ():
        taken = _taken(patch, readers, found, context, tree)
        if taken is not None:
            # with patch("pkg.sym"): import consumer        which takes the name from pkg.sub
            reason = f"what is imported while it is on would take the patch from {origin} for good ({taken})"
            return Patched(name, reason, "import that before the patch, or accept the site")
    return Patched(name)


def _faked(found: Resolution, survey: Survey, package: str) -> list[Faked]:
    """What a replaced package, or a replaced origin, does to one symbol."""
    readers = survey.readers[found.symbol.name]
    verdicts = []
    for module, windows in survey.fakes.items():
        if module not in (package, found.origin.module):
            continue
        reached = [str(read.site) for read in readers.covered if windows.reach(read)]
        if module != package:
            # sys.modules["pkg.sub"] = fake        the package held what the origin defined before
            reached += [str(site) for site in readers.own]
            reason = f"{module} is replaced here, and readers of {found.symbol.dotted} would take the symbol from that"
        else:
            reason = f"{module} is replaced here, and what reads the symbol from that would read {found.origin} instead"
        verdicts.append(Faked(module, found.symbol.name, reached[0] if reached else "", reason))
    return verdicts


def _taken(patch: Patch, readers: Readers, found: Resolution, context: Context, tree: Surveyed) -> Site | None:
    """A module that takes the origin's name as it is imported, and is first imported while a patch is on."""
    names, earlier = _imports(patch)
    layout = tree.checkouts[patch.file.checkout].layout
    names = {name for name in names if layout.locate(name) is not None}
    if not names:
        return None
    if patch.file.checkout:
        # another checkout, whose import graph is not known: its own imports may lead to any module
        return None if names <= earlier else next(iter(readers.takers.values()))
    closure = tree.graph.closure
    ready = (closure(patch.file.module.name) | closure(context.package.name)) - tree.lost
    ready |= closure(found.origin.module)
    ready = ready.union(*(closure(each) for each in earlier if layout.locate(each) is not None))
    folder = patch.file.path
    while folder:
        folder = folder.rpartition("/")[0]
        conftest = layout.module_at(f"{folder}/conftest.py".lstrip("/")).name
        ready |= closure(conftest) if layout.locate(conftest) is not None else frozenset()
    loaded = frozenset().union(*(closure(each) for each in names))
    return next((site for module, site in sorted(readers.takers.items()) if module in loaded - ready), None)


def _imports(patch: Patch) -> tuple[set[str], set[str]]:
    """What may be imported while a patch is on, and what its function has imported before."""
    during: set[str] = set()
    earlier: set[str] = set()
    for statement, block in patch.file.syntax.imports:
        before = patch.follows(statement, block.scope) and not block.optional
        if block.when is When.TYPING or not (before or patch.encloses(statement, block.scope)):
            continue
        here = earlier if before else during
        if isinstance(statement, ast.Import):
            here |= {alias.name for alias in statement.names}
        else:
            source = absolute(patch.file.module, statement)
            here |= {source, *(f"{source}.{alias.name}" for alias in statement.names)}
    return during, earlier


def is_path(found: Resolution, context: Context, namespaces: Namespaces, *, callers_only: bool) -> bool:
    """Whether the origin's dotted path, as code spells it, is the module once the run is done."""
    gone = {(each.symbol.module, each.symbol.name) for each in context.resolutions} if not callers_only else set()
    parent, *parts = found.origin.module.split(".")
    if namespaces.locate(parent) is None:
        return False
    for part in parts:
        module = namespaces.locate(parent)
        if module is None or namespaces.locate(f"{parent}.{part}") is None:
            return False
        if (parent, part) not in gone:
            for binding in namespaces.bindings(parent, part):
                if namespaces.origin(module, binding) != Symbol(parent, part):
                    return False
            star = namespaces.star(parent) if module.path else None
            if module.path and (star is None or part in star) and not namespaces.bindings(parent, part):
                return False
        parent = f"{parent}.{part}"
    return True
