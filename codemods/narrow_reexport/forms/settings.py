"""Settings and entry points: `run = "pkg:sym"`, `handler: pkg.sym`.

Owns the question whether a place in a settings file is a whole value, and the entry points of `setup.py`.
Invariant: it edits nothing that may be a label.
"""

from __future__ import annotations

import re

from codemods.narrow_reexport.forms.page import REFUSAL, Page, Verdict, names_of


def judge_entry_points(page: Page) -> None:
    # "run = pkg:sym [extra]"      in a list of setup(), or on a line of a longer string
    pattern = rf"(?:^|[\"'])[ \t]*[\w.\- ]+=[ \t]*{re.escape(page.package)}:(?P<name>{names_of(page)})\b(?:\.\w+)*"
    for match in re.finditer(rf"{pattern}[ \t]*(?:\[[\w, \t]*\])?[ \t]*(?:[\"']|$)", page.text, re.M):
        reason = f"an entry point names {page.package}:{match['name']}, which is resolved when it is used"
        hint = "change it by hand to the origin, or accept the site"
        page.put(page.line_of(match.start("name")), match["name"], Verdict(REFUSAL, reason, hint))


def is_value(before: str, after: str) -> bool:
    """Whether what stands between is a whole value of a setting, not part of a sentence or a longer path."""
    if before.lstrip().startswith(("#", ";")):
        return False
    if re.search(r"[\w.:/-]\Z", before.rstrip("\"' ")) and re.search(r"[=:,\[({-]\s*[\"']?\Z", before) is None:
        return False
    return re.match(r"[\"']?\s*(?:[,\]})#]|\[|\Z)", after) is not None
