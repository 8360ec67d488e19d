"""What a plan gives, as numbers: in the plan file and in the bodies of the parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codemods.narrow_reexport.effects import load_lines
from codemods.narrow_reexport.plan_io import Loaded
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Tree, narrow, tree

FILES: Tree = {**PKG, "pkg/sub.py": f"import torch\n\n\n{PKG['pkg/sub.py']!s}", "use.py": "from pkg import sym\n"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEMODS_CACHE_DIR", str(tmp_path / "cache"))


def test_the_plan_holds_both_numbers_and_each_body_shows_them(tmp_path: Path) -> None:
    with tree(FILES) as root:
        more = ["--plan-out", "../plan.json", "--patches", str(tmp_path / "p"), "--author", "Bob <b@example.org>"]
        assert narrow(root, "pkg", "sym", *more).code == 0
        plan = json.loads((root / "../plan.json").read_bytes())
    assert plan["loads"] == [{"package": "pkg", "before": 3, "after": 2, "gone": ["pkg.sub", "torch"]}]
    row = "| `import pkg` | 3 | 2 | `pkg.sub`, `torch` |"
    first, last = ((tmp_path / "p" / name).read_text() for name in ("0001-1-of-1.patch", "0002-removal.patch"))
    assert row in first
    assert "The number falls when the last part lands" in first
    assert row in last
    assert "when the last part lands" not in last


def test_a_plan_of_several_packages_has_a_row_for_each() -> None:
    rows = 'version = 1\nnarrow = [{package = "pkg", symbols = ["sym"]}, {package = "two", symbols = ["one"]}]\n'
    with tree({**FILES, "two/__init__.py": "from .a import one\n", "two/a.py": "one = 1\n"}) as root:
        (root / "../rows.toml").write_text(rows)
        assert narrow(root, "--plan", "../rows.toml", "--plan-out", "../plan.json").code == 0
        loads = json.loads((root / "../plan.json").read_bytes())["loads"]
    assert [(each["package"], each["before"], each["after"]) for each in loads] == [("pkg", 3, 2), ("two", 2, 1)]


def test_a_number_that_cannot_be_had_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from codemods.engine.errors import UnknownPackage
    from codemods.import_cost import difference

    def fails(*_: object, **__: object) -> None:
        raise UnknownPackage("more than one module is called pkg")

    monkeypatch.setattr(difference, "open_tree", fails)
    with tree(FILES) as root:
        outcome = narrow(root, "pkg", "sym", "--plan-out", "../plan.json", "--split", "count:1")
        assert outcome.code == 0, outcome.text
        assert json.loads((root / "../plan.json").read_bytes())["loads"] == []
    assert load_lines([], last=True) == []


def test_that_nothing_is_won_is_said_as_well() -> None:
    assert "so the number stays" in load_lines([Loaded("pkg", 123, 123)], last=False)[2]


def test_large_numbers_are_easy_to_read() -> None:
    assert "| `import pkg` | 1,356 | 47 |  |" in load_lines([Loaded("pkg", 1356, 47)], last=False)
