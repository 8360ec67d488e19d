"""Files that are not Python: settings, notebooks, documents, scripts.

Owns the verdict on a dotted path in them: exactly the value of a setting is a refusal, code in a notebook too; prose is a mention.
Invariant: it edits none of them (that comes later), and lists each place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codemods.engine.model import Mention, Refusal, Site, Warned
from codemods.narrow_reexport.forms.reflection import TextPlan, accepts
from codemods.narrow_reexport.resolve import Resolution

_SETTINGS = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
_CODE = (".md", ".rst", ".txt")


def judge_document(
    path: str, data: bytes, resolutions: Sequence[Resolution], accepted: frozenset[tuple[str, int]]
) -> TextPlan:
    """Verdicts on one file that is not Python."""
    plan = TextPlan()
    text = data.decode("utf-8", "replace")
    lines = text.splitlines()
    for found in resolutions:
        if found.is_submodule:
            continue
        for number, row in enumerate(lines, 1):
            if found.symbol.name not in row:
                continue
            site = Site(path, number, 0, row.strip()[:160])
            if (path, number) in accepted or accepts(row):
                continue
            _judge_row(path, row, site, found, plan)
    return plan


def _judge_row(path: str, row: str, site: Site, found: Resolution, plan: TextPlan) -> None:
    package, name = re.escape(found.symbol.module), re.escape(found.symbol.name)
    symbol = str(found.symbol)
    dotted = re.search(rf"(?<![\w.]){package}[.:]{name}\b", row)
    imported = re.search(rf"\bfrom\s+{package}\s+import\b.*\b{name}\b", row)
    if path.endswith(_SETTINGS) and dotted is not None:
        # key = "pkg:sym"      - pkg.sym
        around = row.partition(dotted[0])
        alone = (
            not re.search(r"[\w.:/-]\Z", around[0].rstrip("\"' "))
            or re.search(r"[=:,\[({-]\s*[\"']?\Z", around[0]) is not None
        )
        if alone and re.match(r"[\"']?\s*(?:[,\]})#]|\[|\Z)", around[2]):
            kind = "an entry point or setting" if path.endswith((".toml", ".cfg")) else "a setting"
            plan.refusals.append(
                Refusal(
                    site,
                    symbol,
                    f"{kind} names {dotted[0]}, which is resolved when it is used",
                    "change it by hand to the origin, or accept the site",
                )
            )
            return
    if path.endswith(".ipynb") and (imported is not None or dotted is not None):
        plan.refusals.append(
            Refusal(
                site,
                symbol,
                "a notebook reads the symbol through the package",
                "change the cell by hand, or accept the site",
            )
        )
        return
    if path.endswith(_CODE) and imported is not None:
        plan.warnings.append(
            Warned(
                site, symbol, "a document shows an import through the package, which will fail for whoever copies it"
            )
        )
        return
    if dotted is not None or imported is not None:
        plan.mentions.append(Mention(site, symbol))
