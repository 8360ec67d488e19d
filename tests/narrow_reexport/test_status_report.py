"""What `--status` says, from a status that is made up."""

from __future__ import annotations

import json
from pathlib import Path

from codemods.narrow_reexport.request import Request, Result
from codemods.narrow_reexport.status import FileStatus, NewSite, PartStatus, Status
from codemods.narrow_reexport.status_report import as_github, as_json, as_text

PARTS = (
    PartStatus(1, "guard", "guard", "landed", 0, 0),
    PartStatus(2, "@org/app", "call-sites", "partly", 1, 2),
    PartStatus(3, "removal", "removal", "open", 0, 1),
)
FILES = (FileStatus("a.py", "landed", 2), FileStatus("b.py", "changed", 2), FileStatus("c.py", "open", 3))
NEW = tuple(NewSite(f"n{number}.py", 3, "from pkg import sym", 2) for number in range(45))


def made(new: tuple[NewSite, ...] = NEW, parts: tuple[PartStatus, ...] = PARTS) -> Status:
    return Status(parts, FILES, new, None, Request(Path(), "pkg", ("sym",)), Result("pkg"))


def test_parts_come_first_then_what_has_changed_then_what_is_new() -> None:
    lines = as_text(made(NEW[:1]), verbose=False)
    assert lines == [
        "1 guard: landed",
        "2 @org/app: 1 of 2 files landed",
        "3 removal: open",
        "b.py has changed since the plan was made (part 2)",
        "new: n0.py:3: from pkg import sym (part 2)",
        "1 of 3 parts has landed, 1 of 3 files; a new run is refused",
    ]


def test_a_long_list_is_cut_unless_everything_is_asked_for() -> None:
    assert "and 5 more (-v lists them)" in as_text(made(), verbose=False)
    assert sum(line.startswith("new: ") for line in as_text(made(), verbose=True)) == 45


def test_the_json_holds_it_all() -> None:
    told = json.loads(as_json(made(NEW[:1]), 4))
    assert (told["schema_version"], told["exit_code"], told["remains"]) == (1, 4, True)
    assert told["parts"][1] == {
        "number": 2,
        "name": "@org/app",
        "kind": "call-sites",
        "state": "partly",
        "landed": 1,
        "files": 2,
    }
    assert told["new"] == [{"path": "n0.py", "line": 3, "text": "from pkg import sym", "part": 2, "was": ""}]
    assert told["files"][1] == {"path": "b.py", "state": "changed", "part": 2}


def test_each_new_site_is_annotated() -> None:
    assert as_github(made(NEW[:1])) == [
        "::notice file=n0.py,line=3,col=1,title=narrow-reexport::"
        "a call site that came after the plan was made; part 2 moves it"
    ]
