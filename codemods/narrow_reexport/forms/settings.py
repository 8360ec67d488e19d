"""Settings: `handler: pkg.sym`, `"pkg:sym"` in TOML, YAML, JSON and ini files.

Owns the question whether a place in a settings file is a whole value, and what becomes of it: a refusal, since it may
be resolved, and the origin's path where a person asks for that.
Invariant: it edits nothing that may be a label unless asked to, and never a path that may be the module.
"""

from __future__ import annotations

import re

from codemods.narrow_reexport.forms.page import REFUSAL, Page, Verdict

WAY_OUT = "--rewrite-strings rewrites it, or accept the site"
MAY_BE_MODULE = "it may mean the module of that name; change it by hand if it does not, or accept the site"


def judge_value(page: Page, match: re.Match[str], *, rewrite: bool) -> None:
    # key = "pkg:sym"      - pkg.sym
    found = page.wanted[match["name"]]
    start, end = match.start(), match.end("name")
    line = page.line_of(start)
    module = found.same_name and match["sep"] == "."
    # by now the path is the module, and means it
    gone = found.narrowed and found.same_name
    if rewrite and not module and not gone and page.exact and not page.is_accepted(line):
        page.edit(start, end, f"{found.origin.module}{match['sep']}{found.origin.name}")
        return
    reason = f"a setting names {match[0]}, which is resolved when it is used"
    page.put(line, match["name"], Verdict(REFUSAL, reason, MAY_BE_MODULE if module else WAY_OUT))


def is_value(before: str, after: str) -> bool:
    """Whether what stands between is a whole value of a setting, not part of a sentence or a longer path."""
    if before.lstrip().startswith(("#", ";")):
        return False
    if re.match(r"\s*\[mypy-[\w.,*\-]*\Z", before):
        return False  # [mypy-pkg.f]        a section that is named after a module
    if re.search(r"\w\(\s*\Z", before):
        return False  # python -c "import pkg; print(pkg.sym)"        an argument in code
    if re.search(r"[\w.:/-]\Z", before.rstrip("\"' ")) and re.search(r"[=:,\[({-]\s*[\"']?\Z", before) is None:
        return False
    return re.match(r"[\"']?\s*(?:[,\]})#]|\[|\Z)", after) is not None
