"""Which plans of an earlier round still hold, once some of its symbols were left out (`--keep-going`).

Owns the comparison of two contexts as far as one file can tell them apart.
Invariant: a plan is used again only if planning the file anew would give the same; in doubt it is planned anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codemods.narrow_reexport.context import Context, FilePlan, Resolutions
from codemods.narrow_reexport.needles import has_star


@dataclass(slots=True)
class Earlier:
    """The plans of one checkout's last round, and the context that they were made in."""

    context: Context | None = None
    plans: dict[str, FilePlan] = field(default_factory=dict)

    def still_holding(self, sources: dict[str, bytes], context: Context) -> dict[str, FilePlan]:
        """Those of the plans that hold in the new context too."""
        old = self.context
        if old is None or _common(old, context) != _common(context, old):
            return {}
        symbols = {found.symbol.name for found in context.resolutions}
        kept = {found.symbol.name: found for found in old.resolutions if found.symbol.name in symbols}
        if any(kept.get(found.symbol.name) != found for found in context.resolutions):
            return {}  # other symbols, or the same with a path that means something else now
        gone = [found.symbol.name for found in old.resolutions if found.symbol.name not in symbols]
        gone += [name.rpartition(".")[2] for name in old.lost ^ context.lost]
        spelled = [name.encode() for name in gone]
        found: dict[str, FilePlan] = {}
        for path, plan in self.plans.items():
            data = sources.get(path)
            if data is None or plan.refusals or plan.accepted or plan.warnings or has_star(data):
                continue
            if any(name in data for name in spelled) or not data.isascii():
                continue
            module = context.layout.module_at(path).name
            if (module in old.risky) == (module in context.risky):
                found[path] = plan
        return found


def _common(context: Context, other: Context) -> Context:
    """What two contexts have to share, whatever the file."""
    names = {found.symbol.name for found in other.resolutions}
    return replace(
        context,
        resolutions=Resolutions(),
        lost=frozenset(),
        risky=frozenset(),
        early=frozenset(name for name in context.early if name in names),
        patched=tuple(each for each in context.patched if each.name in names),
        faked=tuple(each for each in context.faked if each.name in names),
        apart=frozenset(each for each in context.apart if each[0] in names),
        star_reads=frozenset(pair for pair in context.star_reads if pair[1] in names),
        spared=frozenset(pair for pair in context.spared if pair[1] in other.lost),
        star_takes=frozenset(),
    )
