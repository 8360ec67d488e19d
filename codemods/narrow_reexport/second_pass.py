"""A file planned, and looked at once more as it will be: would a second run still change it?

Owns the short way to that answer, taken while the tree of the file is at hand. Most files hold the package in import
statements alone: there the edited statements are parsed anew, and the rest is known.
Invariant: a plan is `settled` only if a second run over its result is sure to find nothing; otherwise it is planned again.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from codemods.engine.edits import edited
from codemods.engine.model import Failure
from codemods.engine.references import import_references
from codemods.engine.shortened import shortened_tree
from codemods.engine.source import NotPython, Source, TooDeep, decode, parse
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.forms.docstring import showing_symbols
from codemods.narrow_reexport.left_alone import needs_expressions, unparsed
from codemods.narrow_reexport.oversized import oversized, too_deep
from codemods.narrow_reexport.plan import plan_tree, target_of


def plan_twice(path: str, data: bytes, context: Context) -> FilePlan:
    """The plan of `plan_file`, and whether it is settled."""
    big = oversized(path, data, context)
    if big is not None:
        return big
    try:
        source = decode(data, path)
        tree = parse(source)
        plan = plan_tree(source, tree, context)
    except (TooDeep, RecursionError):
        return too_deep(path, data, context)
    except NotPython as error:
        return unparsed(path, data, context, error)
    try:
        settled = bool(plan.edits) and not plan.refusals and _is_settled(source, tree, plan, verifying(context))
    except (NotPython, RecursionError):  # the whole way says so
        settled = False
    return replace(plan, settled=True) if settled else plan


def verifying(context: Context) -> Context:
    """The context of a second run, as far as it is asked whether that would edit anything."""
    return replace(context, lost=frozenset(), verifying=True)


def _is_settled(source: Source, tree: ast.Module, plan: FilePlan, context: Context) -> bool:
    after = edited(source, plan.edits)
    short = None if isinstance(after, Failure) else shortened_tree(source, tree, plan.edits)
    if isinstance(after, Failure) or short is None or any(showing_symbols(source, tree, context)):
        return False
    finished = decode(after, source.path)
    module = context.layout.module_at(source.path)
    target = target_of(source.path, context)
    syntax = analyse(finished, short, expressions=False)
    references = import_references(syntax, module, target)
    return not references and not needs_expressions(syntax, module, target, references, context)
