"""Files that are too large or too deep to be taken apart, and may spell the package and a symbol: refused by name.

Owns the refusal of such a file, whatever kind of text it holds.
Invariant: it passes over no file whose code was understood in part only, and makes no second copy of a large one.
"""

from __future__ import annotations

import re

from codemods.engine.model import Refusal, Site
from codemods.engine.source import LARGEST, NotPython
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.forms.verdicts import accepts
from codemods.narrow_reexport.left_alone import unparsed

_SHOWN = 100  # bytes of the line


def oversized(path: str, data: bytes, context: Context) -> FilePlan | None:
    """The plan of a file that is too large; None for all others."""
    if len(data) <= LARGEST:
        return None
    leaf = context.package.name.rpartition(".")[2].encode()
    inside = path.startswith(context.package.path.rpartition("/")[0] + "/")
    for found in context.resolutions:
        spelled = re.search(rb"\b" + re.escape(found.symbol.name.encode()) + rb"\b", data)
        if spelled is None or not (inside or re.search(rb"\b" + re.escape(leaf) + rb"\b", data)):
            continue
        start = data.rfind(b"\n", 0, spelled.start()) + 1
        line = data.count(b"\n", 0, start) + 1
        text = data[start : min(start + _SHOWN, len(data))].partition(b"\n")[0].decode("utf-8", "replace").strip()
        if (path, line) in context.accepted or accepts(text):
            continue
        reason = f"the file names the package and the symbol, and is too large to be taken apart ({len(data) >> 20} MB)"
        hint = f"take it out with --exclude {path}"
        return FilePlan(
            path, refusals=(Refusal(Site(path, line, 0, text), str(found.symbol), reason, hint),), unparsed=True
        )
    return FilePlan(path)


def too_deep(path: str, data: bytes, context: Context) -> FilePlan:
    """The plan of a file that Python reads, and that is nested too deeply to be followed here."""
    reason = "it is nested too deeply to be followed"
    plan = unparsed(path, data, context, NotPython(reason))
    if plan.unparsed or (path, 1) in context.accepted:
        return plan
    # the symbol need not be spelled: a submodule that gets lost, a star
    found = context.resolutions[0]
    hint = f"split the expression up, or take the file out with --exclude {path}"
    return FilePlan(path, refusals=(Refusal(Site(path, 1, 0, ""), str(found.symbol), reason, hint),), unparsed=True)
