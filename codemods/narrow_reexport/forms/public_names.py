"""`assert set(pkg.__all__) == {...}`, an `api.txt`: places that compare or list the public names of a package.

Owns the warnings for them: whether the list is still wanted as it is, nobody can tell from here.
Invariant: it never edits and never refuses; going through `pkg.__all__` to read each name is no comparison.
"""

from __future__ import annotations

import ast
import re

from codemods.engine.model import Warned
from codemods.engine.namespace import all_values
from codemods.engine.references import Names
from codemods.engine.scopes import Syntax, Use
from codemods.narrow_reexport.context import Context
from codemods.narrow_reexport.forms.page import WARNING, Page, Verdict

LISTS = (".txt", ".json", ".yaml", ".yml", ".rst", ".toml", ".lst", ".csv")


def compared_exports(syntax: Syntax, names: Names, context: Context) -> list[Warned]:
    """Reads of `pkg.__all__` whose value changes with the symbols that it lists."""
    listed = {found.symbol.name: str(found.symbol) for found in context.resolutions if not found.narrowed}
    found: list[Warned] = []
    for use in syntax.attributes if listed else ():
        if not isinstance(use.node, ast.Attribute) or use.node.attr != "__all__" or _goes_through(use, listed):
            continue
        if context.package.name in names.modules(use.node.value, use.scope) and not all_values(use.statement):
            reason = f"{ast.unparse(use.node)} no longer lists the symbol: what is compared with it may have to follow"
            found.append(Warned(syntax.source.site_of(use.node), _asked(use, listed), reason))
    return found


def _goes_through(use: Use, listed: dict[str, str]) -> bool:
    parent = use.parent
    # for name in pkg.__all__: getattr(pkg, name)
    if isinstance(parent, (ast.For, ast.AsyncFor)) and parent.iter is use.node:
        return True
    # [getattr(pkg, name) for name in pkg.__all__]
    through = [n for n in ast.walk(use.statement) if isinstance(n, ast.comprehension) and n.iter is use.node]
    if through:
        # [name for name in pkg.__all__ if name not in ("sym", "old")]
        left_out = {
            node.value
            for test in through[0].ifs
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn)
            for node in ast.walk(test.comparators[0])
            if isinstance(node, ast.Constant)
        }
        if left_out >= listed.keys():
            return True
        calls = (node for node in ast.walk(use.statement) if isinstance(node, ast.Call))
        return any(isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr") for call in calls)
    # "other" in pkg.__all__
    return (
        isinstance(parent, ast.Compare)
        and isinstance(parent.ops[0], (ast.In, ast.NotIn))
        and isinstance(parent.left, ast.Constant)
        and parent.left.value not in listed
    )


def _asked(use: Use, listed: dict[str, str]) -> str:
    spelled = [node.value for node in ast.walk(use.statement) if isinstance(node, ast.Constant)]
    return next((symbol for name, symbol in listed.items() if name in spelled), next(iter(listed.values())))


def may_list(path: str, data: bytes, package: str) -> bool:
    """Whether a file that spells a symbol may list the package's names: a byte test."""
    return path.endswith(LISTS) and (package.encode() in data or f"/{package}." in f"/{path}")


def judge_listing(page: Page) -> None:
    """Lines that hold a symbol's bare name, in a file that names the package for itself."""
    if not page.path.endswith(LISTS):
        return
    # pkg:                {"pkg": ["sym", "other"]}             .. currentmodule:: pkg
    #   - sym                                                      sym
    edge = '"' if page.path.endswith(".json") else ""
    start = re.search(rf"(?<![\w.]){edge}{re.escape(page.package)}{edge}(?![\w.]*\w)", page.text)
    listed = "|".join(re.escape(name) for name, found in page.wanted.items() if not found.narrowed)
    own_file = f"/{page.path}".rpartition("/")[2].startswith(f"{page.package}.")
    if not listed or (start is None and not own_file):
        return
    quoted = rf"^[ \t]*(?:[-*~][ \t]*)?[\"'`]?(?P<name>{listed})[\"'`]?[ \t]*(?:\([^)\n]*\))?[,:]?[ \t]*\r?$"
    entry = re.compile(rf"{quoted}|(?<=[\[,])[ \t]*[\"'](?P<inner>{listed})[\"'][ \t]*(?=[,\]])", re.M)
    for match in entry.finditer(page.text, start.end() if start is not None else 0):
        kind = "name" if match["name"] else "inner"
        reason = f"the file seems to list the names of {page.package}: the entry may have to follow"
        page.put(page.line_of(match.start(kind)), match[kind], Verdict(WARNING, reason))
