"""A request file: many packages, one run, all or nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests import oracle
from tests.narrow_reexport.test_parts import (
    INSIDE,
    LATE,
    LATE_IMPORT,
    ORDER,
    PATCH,
    PATCH_OBJECT,
    WAY,
    check_every_prefix,
    packages,
    programs,
)
from tests.narrow_reexport.trees import SAME
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
        assert "note: left out, since they were refused: b:four\n" in outcome.text
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
        assert "    narrow-reexport b four --exclude 'x/**' --shim\n" in text
        assert "Subject: [PATCH 2/2] Stop re-exporting one, two and 1 more from a, b\n" in text


def test_the_summary_says_of_each_package_what_it_no_longer_loads() -> None:
    with tree(FILES) as root:
        said = narrow(root, "--plan", requested(root, ROWS.replace("shim = true", ""))).text
        assert "import a no longer loads a.one, a.two\n" in said
        assert "import b no longer loads b.quad\n" in said
        assert "a/__init__.py  2 re-exports removed\n  b/__init__.py  re-export removed\n" in said


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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.toml", "# from a ranking\n" + ROWS),
        ("rows.json", json.dumps({"version": 1, "narrow": [{"package": "a", "symbols": ["one", "two"]}]}, indent=2)),
    ],
)
def test_the_rows_may_lie_in_the_tree_and_are_no_list_of_the_packages_names(name: str, text: str) -> None:
    with tree({**FILES, name: text, "names.toml": 'package = "a"\nnames = ["one"]\n'}) as root:
        outcome = narrow(root, "--plan", name, "--diff")
        assert outcome.code == 0
        assert f"{name}:" not in outcome.text
        assert "names.toml:2" in outcome.text


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


def test_a_read_through_a_module_that_an_earlier_row_uncovers_lands_last() -> None:
    # `pkg.fused` is the function until the last part, whichever row removes it
    files = {
        **SAME,
        "pkg/__init__.py": "from .fused import fused, other\n",
        "a.py": "import pkg\n\n\ndef go():\n    return pkg.other()\n\n\nprint(go())\n",
        "b.py": "from pkg import fused, other\n\nprint(fused(), other())\n",
    }
    rows = "version = 1\n" + "".join(
        f'[[narrow]]\npackage = "pkg"\nsymbols = ["{name}"]\n' for name in ("fused", "other")
    )
    with tree({}) as root:
        file = str(root.parent / requested(root, rows).removeprefix("../"))
        found = {each.path: each.lands for each in check_every_prefix(files, ["--plan", file], [1, 0], "count:9")}
    assert (found["a.py"], found["b.py"]) == ("last", "alone")


# --- any rows of any trees ---

Rows = tuple[tuple[str, str], ...]  # package and symbol


@st.composite
def requests(draw: st.DrawFn) -> tuple[dict[str, str], Rows]:
    """The package of `packages`, another that takes names from it and has modules of its own, and rows for both."""
    files = draw(packages())
    pair = draw(st.sampled_from(["", *"abcd"]))
    if pair:  # a second name of one module, read through the package
        module = next(path for path in files if path.endswith((f"/{pair}.py", f"_{pair}.py")))
        init = files["pkg/__init__.py"].replace(f"import {pair}\n", f"import {pair}, {pair}2\n")
        files |= {"pkg/__init__.py": init, module: f"{files[module]}\n\ndef {pair}2():\n    return '{pair}2'\n"}
        files["pair.py"] = LATE.replace("NAME", f"{pair}2").replace("(2)", "()") + "\n\nprint(go())\n"
    passed = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=2))
    prefix = draw(st.sampled_from(["", "n_"]))
    lines = [f"from pkg import {name}\n" for name in passed] + [
        f"from .{prefix}{name} import {name}\n" for name in "ef"
    ]
    files["out/__init__.py"] = "".join(draw(st.permutations(lines)))
    for name, sibling in ("ef", "fe"):
        package, other = draw(st.sampled_from([("pkg", "a"), ("pkg", "b"), ("out", sibling)]))
        text = draw(st.sampled_from(INSIDE)).replace("NAME", name).replace("F", other)
        text = text.replace("from .", "from pkg").replace("pkg", package)
        as_value = f"{package}.{other}\n"
        files[f"out/{prefix}{name}.py"] = (
            text.replace(as_value, f"{as_value[:-1]}.__name__\n") if "def" in text else text
        )
    taken = ["e", "f", *passed]
    shown = f"print([x() if callable(x) else x for x in ({', '.join(taken)})])\n"
    files["third.py"] = f"from out import {', '.join(taken)}\n\n{shown}"
    files["fourth.py"] = f"import out\n\n{', '.join(taken)} = {', '.join(f'out.{x}' for x in taken)}\n{shown}"
    patched = draw(st.sampled_from(["", *"abcd"]))
    if patched:
        files["late.py"] = draw(st.sampled_from([LATE, LATE_IMPORT])).replace("(2)", "()").replace("NAME", patched)
        files["tests/test_it.py"] = draw(st.sampled_from([PATCH, PATCH_OBJECT])).replace("NAME", patched)
    names = [*(("pkg", name) for name in "abcd"), *(("out", name) for name in taken)]
    names += [("pkg", f"{pair}2")] if pair else []
    return files, tuple(draw(st.lists(st.sampled_from(names), min_size=2, max_size=5, unique=True)))


@given(requests(), ORDER, WAY, st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_rows_are_single_runs_one_after_the_other_in_one_go_by_a_plan_or_in_parts_of_any_order(
    asked: tuple[dict[str, str], Rows], order: list[int], way: str, chance: random.Random
) -> None:
    files, rows = asked

    def written(folder: Path, some: Sequence[tuple[str, str]]) -> str:
        tables = (f'[[narrow]]\npackage = "{package}"\nsymbols = ["{name}"]\n' for package, name in some)
        (folder / "rows.toml").write_text("".join(["version = 1\n", *tables]))
        return str(folder / "rows.toml")

    with tree(files) as root:
        ran = programs(files)
        old = oracle.run_programs(root, ran)
        assume(all(each.exit_code == 0 for each in old))
        codes = [narrow(root, package, name, "-q").code for package, name in rows]
        one_by_one = contents(root)
        # a tree where the order of imports decides whether a name is the function or its module is no test of rows
        assume(not oracle.differences(old, oracle.run_programs(root, ran)))
    with tree(files) as root:
        file = written(root.parent, rows)
        outcome = narrow(root, "--plan", file, "-q")
        assert outcome.code == max(codes), outcome.text
        if outcome.code:
            assert contents(root) == {path: text.encode() for path, text in files.items()}
            return
        assert contents(root) == one_by_one
    with tree(files) as root:
        file = written(root.parent, rows)
        assert narrow(root, "--plan", file, "-q", "--plan-out", "../plan.json").code == 0
        assert narrow(root, "--apply", "../plan.json").code == 0
        assert contents(root) == one_by_one
        check_every_prefix(files, ["--plan", file], order, way)
    with tree(files) as root:
        shuffled = chance.sample(rows, len(rows))
        if narrow(root, "--plan", written(root.parent, shuffled), "-q").code == 0:
            assert not oracle.differences(old, oracle.run_programs(root, ran))
