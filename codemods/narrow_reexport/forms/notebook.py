"""Notebooks: the code cells of an `.ipynb`, magics masked.

Owns the way from a cell's code to its lines in the JSON.
Invariant: it never re-serialises the file.
"""

from __future__ import annotations

import json

from codemods.narrow_reexport.forms.page import (
    REFUSAL,
    WARNING,
    Page,
    Verdict,
    aliased_matches,
    dotted_matches,
    import_matches,
)
from codemods.narrow_reexport.forms.snippet import Snippet, reads_of


def judge_notebook(page: Page) -> None:
    # "from pkg import (\n", "    sym)"        "import pkg as p\n", "p.sym(2)"
    cells = _cells_of(page.text)
    reads, broken = reads_of(cells or [], page.package, page.wanted)
    hint, maybe = "change the cell by hand, or accept the site", "a notebook may read the symbol through the package"
    for read in reads:
        sure = Verdict(REFUSAL, "a notebook reads the symbol through the package", hint, read.last)
        page.put(read.line, read.name, sure if read.sure else Verdict(WARNING, maybe, last=read.last))
    # magics, cells that do not parse, a file that is no notebook: as text
    rows = {line for cell in broken for line in cell.lines} if cells is not None else None
    spelled = [(match.start(), match["name"]) for match in (*dotted_matches(page), *aliased_matches(page))]
    taken = import_matches(page.text, page.package, page.wanted)
    for at, name in (*spelled, *((match.start(), name) for match, names in taken for name in names)):
        if rows is None or page.line_of(at) in rows:
            page.put(page.line_of(at), name, Verdict(WARNING, maybe))


def _cells_of(text: str) -> list[Snippet] | None:
    """The code cells of a notebook, with the lines of their pieces in the JSON; None if it is no notebook."""
    try:
        cells = json.loads(text)["cells"]
        sources = [(cell["cell_type"] == "code", cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    found: list[Snippet] = []
    at, line, counted = 0, 1, 0
    for is_code, source in sources:
        at = max(at, text.find('"source"', at))
        pieces = source if isinstance(source, list) else [source]
        rows: list[int] = []
        for piece in map(str, pieces):
            spelled = (json.dumps(piece, ensure_ascii=False), json.dumps(piece))
            at = next((place for each in spelled if (place := text.find(each, at)) >= 0), at)
            line, counted = line + text.count("\n", counted, at), at
            rows += [line] * (piece.count("\n") + (not piece.endswith("\n")))
        if is_code:
            found.append(Snippet("".join(map(str, pieces)), (*rows, line)))
    return found
