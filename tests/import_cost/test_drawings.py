"""What is drawn and timed of one import."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from codemods.engine.errors import UnknownSymbol
from codemods.engine.model import Symbol
from codemods.import_cost.drawings import Timing, before_picture, html, timed
from codemods.import_cost.measure import ImportFailed
from codemods.import_cost.what_if import what_if
from tests.import_cost.checkouts import HEAVY, opened

PURE = {
    "pkg/__init__.py": "from .light import small\nfrom .heavy import big\n",
    "pkg/light.py": "small = 1\n",
    "pkg/heavy.py": "import pkg.models\nbig = 1\n",
    "pkg/models.py": "",
}


def shown(text: str) -> dict[str, Any]:
    block = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert block
    found = json.loads(block[1])
    assert isinstance(found, dict)
    return found


def test_without_a_name_the_most_costly_import_of_the_package_is_narrowed(tmp_path: Path) -> None:
    found = shown(html(opened(tmp_path, HEAVY), "pkg", ()))
    assert found["narrowing"] == "pkg:big, pkg:bigger"
    assert (found["before"]["modules"], found["after"]["modules"]) == (6, 3)
    assert found["times"] is None


def test_the_named_reexports_are_narrowed_and_the_numbers_are_those_of_what_if(tmp_path: Path) -> None:
    at = opened(tmp_path, HEAVY)
    for names in (["small"], ["big"], ["big", "bigger"]):
        symbols = [Symbol("pkg", name) for name in names]
        for module in ("pkg", "pkg.user"):
            found, expected = shown(html(at, module, symbols)), what_if(at.loads, module, symbols)
            assert found["narrowing"] == ", ".join(f"pkg:{name}" for name in names)
            assert found["before"]["modules"] == len(expected.before)
            assert found["after"]["modules"] == len(expected.after)


def test_a_call_site_that_lets_the_package_go_is_drawn_without_it(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "from pkg.a import f\n",
        "pkg/a.py": "f = 1\n",
        "pkg/user.py": "from pkg.sub import f\n",
    }
    found = shown(html(opened(tmp_path, files), "pkg.user", [Symbol("pkg.sub", "f")]))
    assert "pkg.sub" in {node["name"] for node in found["before"]["nodes"]}
    assert {node["name"] for node in found["after"]["nodes"]} == {"pkg", "pkg.a", "pkg.user"}


@pytest.mark.parametrize("module", ["pkg.user", "pkg.models", "app"])
def test_where_nothing_is_to_be_narrowed_there_is_no_after(tmp_path: Path, module: str) -> None:
    found = shown(html(opened(tmp_path, HEAVY, module), module, ()))
    assert (found["after"], found["narrowing"]) == (None, "")


def test_a_name_that_is_no_reexport_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownSymbol):
        html(opened(tmp_path, HEAVY), "pkg", [Symbol("pkg", "bif")])


@pytest.mark.parametrize("below", ["", "src/"])
def test_measured_times_stand_on_the_page(tmp_path: Path, below: str) -> None:
    at = opened(tmp_path, {below + path: text for path, text in PURE.items()})
    measured = timed(at, "pkg", Timing(sys.executable, 1))
    found = shown(html(at, "pkg", (), measured))
    assert set(found["times"]) == {"pkg", "pkg.light", "pkg.heavy", "pkg.models"}
    assert before_picture(at, "pkg").modules == 4


def test_a_run_of_calls_alone_has_no_times(tmp_path: Path) -> None:
    at = opened(tmp_path, PURE)
    measured = timed(at, "pkg", Timing(sys.executable, 0, ("pkg.light.f",)))
    assert shown(html(at, "pkg", (), measured))["times"] is None


def test_an_import_that_fails_says_how(tmp_path: Path) -> None:
    at = opened(tmp_path, {"pkg/__init__.py": "raise OSError('no such luck')\n"})
    with pytest.raises(ImportFailed, match="no such luck"):
        timed(at, "pkg", Timing(sys.executable, 1))


def test_a_script_is_run_where_it_finds_the_packages_of_the_tree(tmp_path: Path) -> None:
    files = {**PURE, "tools/gen.py": "import pkg.light, other\n", "lib/src/other/__init__.py": ""}
    measured = timed(opened(tmp_path, files, "gen"), "gen", Timing(sys.executable, 1))
    assert {"gen", "pkg.light", "other"} <= {each.name for each in measured.modules}
