"""Plan files: what they hold, and that a plan does what the run would have done, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codemods.engine.errors import BadConfiguration
from codemods.narrow_reexport import plan_io
from tests.narrow_reexport.trees import PKG, SAME
from tests.narrow_reexport.verbs import Tree, contents, expect_tree, narrow, tree

USED: dict[str, str | bytes] = {
    **PKG,
    "pkg/__init__.py": "from .light import light\nfrom .sub import sym\n\n__all__ = ['light', 'sym']\n",
    "pkg/__init__.pyi": "from .light import light as light\nfrom .sub import sym as sym\n",
    "main.py": "from pkg import light, sym\n\nprint(sym(2), light(1))\n",
    "win.py": b"# coding: latin-1\r\nfrom pkg import sym\r\nprint('\xe9', sym())",
    "nb.ipynb": '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": ["from pkg import sym"]}],'
    ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
    "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:old" = { origin = "pkg.sub:old", lazy = true }\n',
}


def planned(root: Path, *arguments: str) -> Path:
    outcome = narrow(root, *arguments, "--plan-out", "../plan.json")
    assert outcome.code == 0, outcome.text
    return root / "../plan.json"


def applied(files: Tree, *arguments: str) -> None:
    """The plan makes the tree that the run makes; a second time it changes nothing."""
    with tree(files) as root:
        planned(root, *arguments)
        expect_tree(root, files)
        outcome = narrow(root, "--apply", "../plan.json")
        assert outcome.code == 0, outcome.text
        by_plan = contents(root)
        assert narrow(root, "--apply", "../plan.json").code == 0
        assert contents(root) == by_plan
    with tree(files) as root:
        assert narrow(root, *arguments).code == 0
        assert contents(root) == by_plan != dict.fromkeys(files, b"")


def test_a_plan_makes_what_the_run_makes_in_every_kind_of_file() -> None:
    applied(USED, "pkg", "sym")


@pytest.mark.parametrize("options", [["--shim"], ["--callers-only"], ["--no-ban"], ["light"]])
def test_a_plan_carries_what_the_options_did(options: list[str]) -> None:
    applied(USED, "pkg", "sym", *options)


def test_a_plan_for_a_function_with_the_name_of_its_module() -> None:
    applied({**SAME, "main.py": "import pkg\n\nprint(pkg.fused())\n"}, "pkg", "fused")


def test_a_plan_takes_other_checkouts_along() -> None:
    with tree({**PKG, "main.py": "from pkg import sym\n"}) as root:
        other = root.parent / "other"
        other.mkdir()
        (other / "use.py").write_text("from pkg import sym\n")
        planned(root, "pkg", "sym", "--also", "../other")
        assert narrow(root, "--apply", "../plan.json").code == 0
        assert (other / "use.py").read_text() == "from pkg.sub import sym\n"
        assert (other / "narrowed.toml").exists()
        outcome = narrow(root, "--apply", "../plan.json", "--split", "directory")
        assert outcome.code == 3
        assert "several checkouts" in outcome.text


def test_a_plan_is_sorted_says_where_each_file_lands_and_holds_line_and_text_of_each_edit() -> None:
    with tree(USED) as root:
        data = planned(root, "pkg", "sym", "--strict").read_bytes()
        assert plan_io.encode(plan_io.decode(data, "plan.json")) == data
        told = json.loads(data)
        assert planned(root, "pkg", "sym", "--strict").read_bytes() == data
    assert [file["path"] for file in told["files"]] == sorted(file["path"] for file in told["files"])
    main = next(file for file in told["files"] if file["path"] == "main.py")
    assert (main["lands"], main["symbols"], main["sites"]) == ("alone", ["pkg:sym"], 1)
    assert main["edits"] == [
        {
            "line": 1,
            "old": "from pkg import light, sym\n",
            "new": "from pkg import light\nfrom pkg.sub import sym\n",
        }
    ]
    assert told["symbols"] == [
        {"symbol": "pkg:sym", "origin": "pkg.sub:sym", "site": "pkg/__init__.py:2", "same_name": False}
    ]
    assert told["rows"] == [{"root": ".", "symbol": "pkg:sym", "origin": "pkg.sub:sym"}]
    assert told["inits"] == ["pkg/__init__.py", "pkg/__init__.pyi"]
    assert told["options"] == {"strict": True}
    assert told["schema_version"] == 1


def test_files_that_have_changed_are_named_and_nothing_is_written() -> None:
    with tree(USED) as root:
        planned(root, "pkg", "sym")
        (root / "main.py").write_text("from pkg import sym  # mine\n")
        (root / "win.py").unlink()
        before = contents(root)
        outcome = narrow(root, "--apply", "../plan.json")
        assert outcome.code == 3
        assert "main.py: has changed since the plan was made, and so have win.py" in outcome.text
        assert contents(root) == before


def test_rows_that_others_have_added_since_stay() -> None:
    with tree(USED) as root:
        planned(root, "pkg", "sym")
        row = '"pkg:also" = { origin = "pkg.sub:also" }\n'
        text = (root / "narrowed.toml").read_text()
        (root / "narrowed.toml").write_text(text.replace("[symbols]\n", f"[symbols]\n{row}"))
        assert narrow(root, "--apply", "../plan.json").code == 0
        found = (root / "narrowed.toml").read_text()
        assert row in found
        assert "lazy = true" in found
        assert '"pkg:sym"' in found


def test_a_refusal_makes_no_plan() -> None:
    with tree({**PKG, "main.py": 'import pkg\n\ndelattr(pkg, "sym")\n'}) as root:
        outcome = narrow(root, "pkg", "sym", "--plan-out", "../plan.json")
        assert outcome.code == 4
        assert not (root / "../plan.json").exists()


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"schema_version": 2}', b'{"schema_version": 1}'])
def test_anything_else_is_no_plan(data: bytes) -> None:
    with pytest.raises(BadConfiguration, match=r"plan\.json"):
        plan_io.decode(data, "plan.json")


def test_an_edit_that_does_not_make_the_promised_text_is_not_written() -> None:
    with tree(USED) as root:
        file = planned(root, "pkg", "sym")
        file.write_text(file.read_text().replace("from pkg.sub import sym\\n", "import os\\n"))
        outcome = narrow(root, "--apply", "../plan.json")
        assert outcome.code == 3
        assert "do not make the text" in outcome.text
        expect_tree(root, USED)


def test_a_plan_never_leads_out_of_the_tree() -> None:
    with tree(USED) as root:
        (root / "../out.py").write_text("from pkg import light, sym\n\nprint(sym(2), light(1))\n")
        file = planned(root, "pkg", "sym")
        file.write_text(file.read_text().replace('"main.py"', '"../out.py"'))
        outcome = narrow(root, "--apply", "../plan.json")
        assert outcome.code == 3
        assert "leads out of the tree" in outcome.text
        expect_tree(root, USED)


def test_a_plan_is_shown_without_being_done() -> None:
    with tree(PKG) as root:
        run = narrow(root, "pkg", "sym", "--diff")
        narrow(root, "pkg", "sym", "--plan-out", "../plan.json")
        shown = narrow(root, "--apply", "../plan.json", "--diff")
        assert (shown.code, shown.out) == (0, run.out)
        checked = narrow(root, "--apply", "../plan.json", "--check")
        assert (checked.code, checked.out) == (1, "would change 2 files\n")
        expect_tree(root, PKG)
        assert narrow(root, "--apply", "../plan.json").code == 0
        assert narrow(root, "--apply", "../plan.json", "--check").code == 0


@pytest.mark.parametrize(
    "given", [["--exclude", "app/*"], ["--accept", "app/main.py:1"], ["--shim"], ["--status", "p.json"], ["--no-ban"]]
)
def test_an_option_that_only_the_plan_can_have_is_no_silent_wish(given: list[str]) -> None:
    with tree(PKG) as root:
        narrow(root, "pkg", "sym", "--plan-out", "../plan.json")
        outcome = narrow(root, "--apply", "../plan.json", *given)
        assert (outcome.code, f"{given[0]} does not go with --apply" in outcome.text) == (2, True)
        expect_tree(root, PKG)
