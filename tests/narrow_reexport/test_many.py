"""A request file: many packages, one run, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import oracle
from tests.narrow_reexport.verbs import Tree, contents, expect_tree, narrow, tree

FILES: Tree = {
    "a/__init__.py": "from .one import one\nfrom .two import two\nfrom b import three\n",
    "a/one.py": "def one():\n    return 1\n",
    "a/two.py": "from b import three\n\n\ndef two():\n    return three() - 1\n",
    "b/__init__.py": "from .three import three as three\nfrom .quad import four\n",
    "b/three.py": "def three():\n    return 3\n",
    "b/quad.py": "def four():\n    return 4\n",
    "main.py": "from a import one, two\nfrom b import three, four\n\nprint(one(), two(), three(), four())\n",
    "late.py": "import a\nimport b\n\n\ndef go():\n    return a.two() + b.four()\n\n\nprint(go())\n",
}
ROWS = (
    'version = 1\n\n[[narrow]]\npackage = "a"\nsymbols = ["one", "two"]\n\n'
    '[[narrow]]\npackage = "b"\nsymbols = ["four"]\nshim = true\n'
)


def requested(root: Path, text: str = ROWS, name: str = "rows.toml") -> str:
    (root.parent / name).write_text(text)
    return f"../{name}"


def test_rows_give_what_one_run_for_each_gives_and_a_second_run_nothing() -> None:
    with tree(FILES) as root:
        assert narrow(root, "a", "one", "two").code == 0
        assert narrow(root, "b", "four", "--shim").code == 0
        wanted = contents(root)
    with tree(FILES) as root:
        old = oracle.run_programs(root, ["main", "late"])
        file = requested(root)
        assert narrow(root, "--plan", file, "--check").code == 1
        expect_tree(root, FILES)
        outcome = narrow(root, "--plan", file)
        assert outcome.code == 0, outcome.text
        assert contents(root) == wanted
        assert not oracle.differences(old, oracle.run_programs(root, ["main", "late"]))
        assert narrow(root, "--plan", file).code == 0
        assert contents(root) == wanted


BAD = {**FILES, "bad.py": "import b\n\ndelattr(b, 'four')\n"}


def test_all_rows_that_are_refused_are_named() -> None:
    files = {**BAD, "worse.py": "import a\n\ndelattr(a, 'one')\n"}
    with tree(files) as root:
        outcome = narrow(root, "--plan", requested(root))
        assert outcome.code == 4
        assert "bad.py:3" in outcome.text and "worse.py:3" in outcome.text and "nothing was written" in outcome.text
        expect_tree(root, files, record=False)


def test_keep_going_leaves_the_refused_symbols_out_of_all_rows() -> None:
    rows = ROWS.replace('["one", "two"]', '["one", "nope"]') + '\n[[narrow]]\npackage = "c.d"\nsymbols = ["x"]\n'
    with tree(BAD) as root:
        assert narrow(root, "a", "one").code == 0
        wanted = contents(root)
    with tree(BAD) as root:
        outcome = narrow(root, "--plan", requested(root, rows), "--keep-going")
        assert outcome.code == 4
        assert contents(root) == wanted
        for said in ("bad.py:3: refused", "a has no name nope", "no package c.d", "a:one comes from a.one:one"):
            assert said in outcome.text, outcome.text
        again = narrow(root, "--plan", requested(root, rows), "--keep-going")
        assert again.code == 4
        assert contents(root) == wanted


def test_keep_going_with_nothing_in_the_way_is_a_run_like_any_other() -> None:
    with tree(FILES) as root:
        assert narrow(root, "--plan", requested(root)).code == 0
        wanted = contents(root)
    with tree(FILES) as root:
        assert narrow(root, "--plan", requested(root), "--keep-going").code == 0
        assert contents(root) == wanted


def test_keep_going_with_only_errors_is_an_error() -> None:
    with tree(FILES) as root:
        outcome = narrow(
            root, "--plan", requested(root, ROWS.replace('"a"', '"c"').replace('"b"', '"d"')), "--keep-going"
        )
        assert outcome.code == 3
        expect_tree(root, FILES, record=False)


def test_the_parts_of_what_is_left_land_alone() -> None:
    with tree(BAD) as root:
        file = requested(root)
        assert narrow(root, "--plan", file, "--keep-going", "--plan-out", "../plan.json").code == 4
        told = json.loads((root / "../plan.json").read_text())
        assert {each["path"]: each["lands"] for each in told["files"]} == {
            "a/__init__.py": "last",
            "late.py": "alone",
            "main.py": "alone",
        }


def test_a_row_that_passes_on_what_a_later_row_narrows_is_recorded_with_the_last_origin() -> None:
    rows = (
        'version = 1\n[[narrow]]\npackage = "a"\nsymbols = ["three"]\n[[narrow]]\npackage = "b"\nsymbols = ["three"]\n'
    )
    with tree(FILES) as root:
        assert narrow(root, "--plan", requested(root, rows)).code == 0
        assert '"a:three" = { origin = "b.three:three" }' in (root / "narrowed.toml").read_text()


def test_a_symbol_that_two_rows_ask_for_is_narrowed_once() -> None:
    rows = "version = 1\n" + '[[narrow]]\npackage = "a"\nsymbols = ["one"]\n' * 2
    with tree(FILES) as root:
        outcome = narrow(root, "--plan", requested(root, rows))
        assert outcome.code == 0, outcome.text


def test_a_part_says_the_command_of_each_row() -> None:
    with tree(FILES) as root:
        more = ["--author", "Bob <b@example.org>", "--exclude", "x/**", "--patches", "../p"]
        assert narrow(root, "--plan", requested(root), *more).code == 0
        text = (root / "../p/0002-removal.patch").read_text()
        assert "    narrow-reexport a one two --exclude 'x/**'\n" in text
        assert "    narrow-reexport b four --shim --exclude 'x/**'\n" in text
        assert "Subject: [PATCH 2/2] Stop re-exporting one, two and 1 more from a, b\n" in text


def test_json_says_the_same() -> None:
    told = {"version": 1, "narrow": [{"package": "a", "symbols": ["one"], "accept": ["x.py:1"]}]}
    with tree(FILES) as root:
        assert narrow(root, "--plan", requested(root, json.dumps(told), "rows.json")).code == 0
        assert "one" not in (root / "a/__init__.py").read_text()


def test_a_refusal_in_the_last_row_leaves_everything_as_it_is() -> None:
    files = {**FILES, "bad.py": "import b\n\ndelattr(b, 'four')\n"}
    with tree(files) as root:
        outcome = narrow(root, "--plan", requested(root))
        assert outcome.code == 4
        assert "bad.py:3" in outcome.text
        expect_tree(root, files, record=False)


def test_an_accepted_line_is_the_line_of_the_file_as_it_is_also_if_an_earlier_row_moves_it() -> None:
    files = {
        **FILES,
        "odd.py": "from a import one, two, three\nimport b\n\n\ndef go(name):\n    return getattr(b, name)\n",
    }
    rows = ROWS.replace("shim = true", 'accept = ["odd.py:6"]')
    with tree(files) as root:
        assert narrow(root, "--plan", requested(root, ROWS)).code == 4
        outcome = narrow(root, "--plan", requested(root, rows))
        assert outcome.code == 0, outcome.text
        assert (root / "odd.py").read_text().count("\n") > 6


def test_rows_ship_in_parts_and_a_plan_of_them_gives_the_same_tree() -> None:
    with tree(FILES) as root:
        file = requested(root)
        assert narrow(root, "--plan", file, "--plan-out", "../plan.json").code == 0
        told = json.loads((root / "../plan.json").read_text())
        lands = {each["path"]: each["lands"] for each in told["files"]}
        assert lands == {"a/__init__.py": "last", "b/__init__.py": "last", "late.py": "alone", "main.py": "alone"}
        assert narrow(root, "--apply", "../plan.json").code == 0
        by_plan = contents(root)
    with tree(FILES) as root:
        assert narrow(root, "--plan", requested(root)).code == 0
        assert contents(root) == by_plan


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a request holds"),
        ("version = 2\nnarrow = []\n", "a request holds"),
        ("version = 1\nnarrow = {}\n", "list of tables"),
        ('version = 1\n[[narrow]]\npackage = "a"\n', "`symbols` in row 1"),
        ('version = 1\n[[narrow]]\nsymbols = ["a"]\n', "`package` in row 1"),
        ('version = 1\n[[narrow]]\npackage = "a"\nsymbols = ["one"]\nmood = true\n', "`mood`"),
        ('version = 1\n[[narrow]]\npackage = "a"\nsymbols = ["one"]\naccept = ["x"]\n', "FILE:LINE"),
        ("version = \n", "not valid TOML"),
    ],
)
def test_what_a_request_must_hold_is_said(text: str, says: str) -> None:
    with tree(FILES) as root:
        outcome = narrow(root, "--plan", requested(root, text))
        assert outcome.code == 3
        assert says in outcome.text
        expect_tree(root, FILES)


def test_a_request_goes_with_no_package_on_the_command_line() -> None:
    with tree(FILES) as root:
        assert narrow(root, "a", "one", "--plan", requested(root)).code == 2
