"""An offence knows the symbol's own name, and offences sort by place."""

from __future__ import annotations

from codemods.check_narrowed.offence import Offence
from codemods.engine.model import Site


def test_offences_sort_by_place() -> None:
    late, early = (Offence(Site("a.py", line, 0, ""), "pkg.ops:sym", "call-site", "") for line in (10, 9))
    assert sorted([late, early]) == [early, late]
    assert early.name == "sym"
