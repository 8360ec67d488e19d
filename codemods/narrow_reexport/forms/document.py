"""Files that are not Python code on disk: settings, notebooks, Cython, documents, scripts, doctests.

Owns the verdict on each place where they name a symbol through its package. What is resolved or run is a refusal (a
setting that is exactly the path, an entry point, a notebook cell, a Cython import), an import shown in a document a
warning, all else a mention.
Invariant: it never gives one place two verdicts, and passes over none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from codemods.engine.bans import BASELINE, FILE_NAME
from codemods.engine.discover import SHOWING
from codemods.engine.source import NotPython, decode
from codemods.narrow_reexport.context import Context, FilePlan, as_shown
from codemods.narrow_reexport.forms.entry_point import judge_entry_points
from codemods.narrow_reexport.forms.notebook import plan_notebook
from codemods.narrow_reexport.forms.page import (
    MENTION,
    REFUSAL,
    WARNING,
    Page,
    Verdict,
    aliased_matches,
    dotted_matches,
    import_matches,
)
from codemods.narrow_reexport.forms.pages import plan_page
from codemods.narrow_reexport.forms.public_names import judge_listing
from codemods.narrow_reexport.forms.script import runs_code, runs_path
from codemods.narrow_reexport.forms.settings import is_value, judge_value
from codemods.narrow_reexport.forms.snippet import Planner
from codemods.narrow_reexport.oversized import oversized

_PAGES = tuple(suffix for suffix in SHOWING if suffix != ".ipynb")
_SETTINGS = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json", ".conf", ".env")
_CYTHON = re.compile(r"\.(?:pyx|pxd|pxi)(?:\.\w+)?\Z")  # x.pyx.tp, x.pyx.in: templates of it
_COMMAND = "a command reads the symbol through the package, which will fail when it runs"


def plan_document(path: str, data: bytes, context: Context, plan: Planner) -> FilePlan:
    """Plan one file that is not Python, and the entry points of a `setup.py`; `plan` plans the Python in it."""
    if (large := oversized(path, data, context)) is not None:
        return large
    accepted = context.accepted
    wanted = {found.symbol.name: found for found in context.resolutions if not found.is_submodule}
    if (
        f"/{path}".endswith(f"/{FILE_NAME}") or f"/{BASELINE}/" in f"/{path}"
    ):  # our own rows are no mention of the symbol
        return FilePlan(path)
    try:
        text, exact = decode(data, path).text, True
    except NotPython:
        text, exact = data.decode("utf-8", "replace"), False
    page = Page(path, text, context.package.name, wanted, exact, accepted=accepted)
    if wanted:
        judge_entry_points(page)
    if path.endswith(".py"):
        return page.settled(accepted)
    if path.endswith(".ipynb"):
        plan_notebook(page, context, plan)
    elif path.endswith(_PAGES):
        plan_page(page, as_shown(context), plan)
    if wanted:
        _imports(page)
        _dotted(page, rewrite=context.rewrite_strings)
        _aliased(page)
        judge_listing(page)
    return page.settled(accepted)


_CYTHON_READ = Verdict(
    REFUSAL, "Cython code reads the symbol through the package", "edit it by hand, or accept the site"
)


def _imports(page: Page) -> None:
    cython = _is_cython(page)
    here = _package_of(page) if cython else ""
    for match, names in import_matches(page.text, page.package, page.wanted, here):
        line, last = page.line_of(match.start()), page.line_of(match.end("names"))
        verdict = Verdict(MENTION, last=last)
        if page.is_edited(match.start()):
            continue
        if cython and match["how"] == "import" and page.row(line).lstrip().startswith("from"):
            # from pkg import sym           in a .pyx; a `cimport` asks the .pxd, which stays
            verdict = replace(_CYTHON_READ, last=last)
        elif page.path.endswith(_PAGES) and not any(start <= match.start() < end for start, end in page.broken):
            reason = "a document shows an import through the package, which will fail for whoever copies it"
            verdict = Verdict(WARNING, reason, last=last)
        elif not cython and _runs(page) and runs_code(page.row(line)[: match.start() - page.starts[line - 1]]):
            # python -c "from pkg import sym"         in a script, a Dockerfile, a workflow
            verdict = Verdict(WARNING, _COMMAND, last=last)
        for name in names:
            page.put(line, name, verdict)


def _runs(page: Page) -> bool:
    return not page.path.endswith(SHOWING) and not _is_cython(page)


def _is_cython(page: Page) -> bool:
    return _CYTHON.search(page.path) is not None


def _dotted(page: Page, *, rewrite: bool) -> None:
    settings, cython = page.path.endswith(_SETTINGS), _is_cython(page)
    imports = cython and re.search(rf"^[ \t]*import[ \t]+{re.escape(page.package)}\b", page.text, re.M) is not None
    for match in dotted_matches(page):
        if match.start("name") in page.decided or page.is_edited(match.start()):
            continue
        line = page.line_of(match.start())
        column = match.start() - page.starts[line - 1]
        before, after = page.row(line)[:column], page.row(line)[column + len(match[0]) :]
        verdict = Verdict(MENTION)
        if settings and is_value(before, after):
            # key = "pkg:sym"      - pkg.sym
            judge_value(page, match, rewrite=rewrite)
            continue
        if imports and "." in match["sep"] and "#" not in before and before.count('"') % 2 == 0:
            # import pkg            pkg.sym(x)
            verdict = _CYTHON_READ
        elif _runs(page) and runs_path(before, match):
            # python -c "import pkg; pkg.sym()"       uvicorn pkg:sym
            verdict = Verdict(WARNING, _COMMAND)
        page.put(line, match["name"], verdict)


def _aliased(page: Page) -> None:
    # import pkg as p            p.sym(x)
    for match in aliased_matches(page):
        if page.is_edited(match.start()):
            continue
        line = page.line_of(match.start())
        sure = _is_cython(page) and "#" not in page.row(line)
        page.put(line, match["name"], _CYTHON_READ if sure else Verdict(MENTION))


def _package_of(page: Page) -> str:
    """The package that a Cython file lies in, told from where the target package lies."""
    folders = next(iter(page.wanted.values())).site.path.split("/")[:-1]
    top = folders[: len(folders) - page.package.count(".") - 1]
    parts = page.path.split("/")[:-1]
    return ".".join(parts[len(top) :]) if parts[: len(top)] == top else ""
