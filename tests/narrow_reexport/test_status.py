"""How far a plan has landed: while others land parts, edit files, add call sites, and move things about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.narrow_reexport import plan_io
from codemods.narrow_reexport.bulk import pull_requests
from codemods.narrow_reexport.numbered import CALL_SITES
from tests.engine.repositories import committed, git
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Outcome, Tree, contents, expect_tree, narrow, narrow_outside, tree

FILES: Tree = {
    **PKG,
    "app/main.py": "from pkg import sym\n\nprint(sym(2))\n",
    "app/more.py": "from pkg import sym\n\nprint(sym(5))\n",
    "tools/run.py": "import pkg\n\nprint(pkg.sym(3))\n",
    "web/view.py": "from pkg import sym, light\n\nprint(sym(4))\n",
}
PLAN = "../plan.json"
NEW = "../new.json"


def planned(root: Path, *more: str) -> None:
    outcome = narrow(root, "pkg", "sym", "--split", "directory", "--plan-out", PLAN, *more)
    assert outcome.code == 0, outcome.text


def land(root: Path, *paths: str) -> None:
    """What the plan says for these files, by hand."""
    for path in paths:
        file = root / path
        file.write_text(file.read_text().replace("from pkg import sym\n", "from pkg.sub import sym\n"))


def status(root: Path, *more: str, plan: str = PLAN) -> Outcome:
    before = contents(root)
    outcome = narrow(root, "--status", plan, *more)
    assert contents(root) == before
    return outcome


def told(root: Path, *more: str, plan: str = PLAN) -> dict[str, dict[object, str]]:
    """The states of parts and files."""
    found = json.loads(status(root, "--output-format", "json", *more, plan=plan).out)
    return {
        "parts": {part["name"]: part["state"] for part in found["parts"]},
        "files": {file["path"]: file["state"] for file in found["files"]},
        "new": {(site["path"], site["line"]): site["part"] for site in found["new"]},
    }


def parts_of(root: Path, plan: str = NEW) -> dict[int, tuple[str, list[str], bool]]:
    found = json.loads((root / plan).read_bytes())
    return {part["number"]: (part["name"], part["files"], part["landed"]) for part in found["parts"]}


def test_nothing_has_landed_yet_and_nothing_is_new() -> None:
    with tree(FILES) as root:
        planned(root)
        outcome = status(root)
        assert outcome.code == 0
        assert outcome.out == (
            "1 app: open, 2 files\n2 tools: open, 1 file\n3 web: open, 1 file\n4 removal: open\n"
            "0 of 4 parts have landed, 0 of 5 files; 0 new sites, 5 files left\n"
        )
        assert status(root, "--check").code == 1


def test_a_part_that_has_landed_is_named_and_one_that_has_in_part() -> None:
    with tree(FILES) as root:
        planned(root)
        land(root, "app/main.py", "app/more.py")
        assert status(root).out.startswith("1 app: landed\n2 tools: open, 1 file\n")
        (root / "app/more.py").write_text(str(FILES["app/more.py"]))
        assert status(root).out.startswith("1 app: 1 of 2 files landed\n")


def test_a_file_that_reaches_the_symbol_no_more_has_landed_whatever_else_it_says() -> None:
    with tree(FILES) as root:
        planned(root)
        land(root, "app/main.py")
        with (root / "app/main.py").open("a") as file:
            file.write("\nprint('somebody has added this')\n")
        (root / "tools/run.py").write_text("print('it does without')\n")
        found = told(root)
        assert found["files"]["app/main.py"] == found["files"]["tools/run.py"] == "landed"
        assert found["parts"]["tools"] == "landed"
        assert found["new"] == {}


def test_a_file_with_another_text_has_changed_and_the_new_plan_is_made_for_it() -> None:
    with tree(FILES) as root:
        planned(root)
        text = "import os\nfrom pkg import sym\n\nprint(sym(2), os.sep)\n"
        (root / "app/main.py").write_text(text)
        outcome = status(root, "--plan-out", NEW)
        assert "app/main.py has changed since the plan was made (part 1)" in outcome.out
        assert "0 new sites" in outcome.out
        assert narrow(root, "--apply", PLAN).code == 3
        assert narrow(root, "--apply", NEW).code == 0
        assert (root / "app/main.py").read_text() == text.replace("pkg", "pkg.sub")


def test_a_new_site_in_a_file_of_the_plan_is_told_from_those_that_the_plan_knows() -> None:
    with tree(FILES) as root:
        planned(root)
        (root / "app/main.py").write_text(
            str(FILES["app/main.py"]) + "\n\ndef f():\n    from pkg import sym as s\n    s()\n"
        )
        land(root, "app/more.py")
        (root / "app/more.py").write_text((root / "app/more.py").read_text() + "import pkg\nprint(pkg.sym())\n")
        found = told(root)
        assert found["files"]["app/main.py"] == "changed"
        assert found["files"]["app/more.py"] == "landed"
        assert {path for path, _ in found["new"]} == {"app/main.py", "app/more.py"}
        assert ("app/main.py", 7) in found["new"]


def test_new_files_join_their_owners_part_and_no_number_shifts() -> None:
    with tree(FILES) as root:
        planned(root)
        land(root, "app/main.py", "app/more.py")
        (root / "tools/late.py").write_text("from pkg import sym\n")
        (root / "app/late.py").write_text("from pkg import sym\n")
        (root / "bin").mkdir()
        (root / "bin/late.py").write_text("from pkg import sym\n")
        outcome = status(root, "--plan-out", NEW)
        assert "new: tools/late.py:1: from pkg import sym (part 2)" in outcome.out
        assert (
            "4 removal: open\n4 app: new, 1 file\n5 bin: new, 1 file\n6 removal: is the last one still\n" in outcome.out
        )
        assert "3 new sites" in outcome.out
        assert parts_of(root) == {
            1: ("app", [], True),
            2: ("tools", ["tools/late.py", "tools/run.py"], False),
            3: ("web", ["web/view.py"], False),
            4: ("app", ["app/late.py"], False),  # that part has landed: this is another one
            5: ("bin", ["bin/late.py"], False),
            6: ("removal", ["pkg/__init__.py"], False),
        }
        again = told(root, plan=NEW)
        assert again["new"] == {}
        assert set(again["files"].values()) == {"open"}


def test_a_file_that_is_gone_is_no_changed_file_and_one_with_another_path_stays_in_its_part() -> None:
    with tree(FILES) as root:
        planned(root)
        (root / "web/view.py").unlink()
        (root / "tools/run.py").rename(root / "app/run.py")
        outcome = status(root, "--plan-out", NEW)
        assert "web/view.py is gone (part 3)" in outcome.out
        assert "tools/run.py has another path now" in outcome.out
        assert "3 web: landed" in outcome.out
        assert "0 new sites" in outcome.out
        assert parts_of(root)[2] == ("tools", ["app/run.py"], False)


def test_when_everything_has_landed_nothing_is_left_to_do() -> None:
    with tree(FILES) as root:
        planned(root)
        assert narrow(root, "--apply", PLAN).code == 0
        outcome = status(root, "--check")
        assert (outcome.code, outcome.out.splitlines()[-1]) == (
            0,
            "4 of 4 parts have landed, 5 of 5 files; nothing is left to do",
        )
        (root / "late.py").write_text("from pkg import sym\n")
        outcome = status(root, "--check", "--plan-out", NEW)
        assert outcome.code == 1
        assert "new: late.py:1" in outcome.out
        assert parts_of(root)[5] == (".", ["late.py"], False)


def test_where_no_row_says_where_the_symbol_went_that_all_has_landed_is_told_by_the_texts() -> None:
    with tree({**FILES, "pkg/__init__.py": "from .light import light\nfrom json import loads as sym\n"}) as root:
        planned(root, "--no-ban")
        (root / "late.py").write_text("from pkg import sym\n")
        assert narrow(root, "--apply", PLAN).code == 0
        outcome = status(root, "--check")
        assert "4 of 4 parts have landed, 5 of 5 files; new sites cannot be looked for: " in outcome.out
        assert outcome.code == 0
        (root / "web/view.py").write_text(str(FILES["web/view.py"]))
        outcome = status(root)
        assert outcome.code == 3
        assert "sym" in outcome.text


def test_a_plan_that_left_refused_symbols_out_is_followed_for_the_others() -> None:
    files = {**FILES, "pkg/__init__.py": "from .light import light\nfrom .sub import sym, Sym\n"}
    bad = "from pkg import Sym\n\nimport pkg\n\ndelattr(pkg, 'Sym')\n"
    with tree({**files, "bad.py": bad}) as root:
        planned = narrow(root, "pkg", "sym", "Sym", "--keep-going", "--plan-out", PLAN)
        assert planned.code == 4
        land(root, "app/main.py")
        found = told(root)
        assert found["files"]["app/main.py"] == "landed"
        assert "bad.py" not in found["files"]
        assert found["new"] == {}


def test_a_new_site_that_cannot_move_is_refused_and_the_rest_is_told_all_the_same() -> None:
    with tree(FILES) as root:
        planned(root)
        land(root, "app/main.py", "app/more.py")
        (root / "bad.py").write_text("import pkg\n\ndelattr(pkg, 'sym')\n")
        outcome = status(root, "--plan-out", NEW)
        assert outcome.code == 4
        assert "bad.py:3" in outcome.text
        assert "1 app: landed" in outcome.out
        assert not (root / NEW).exists()


def test_a_new_plan_makes_what_a_run_in_one_go_makes_of_the_tree_as_it_is() -> None:
    with tree(FILES) as root:
        planned(root)
        land(root, "app/main.py")
        (root / "tools/late.py").write_text("from pkg import sym\n\nprint(sym(1))\n")
        assert status(root, "--plan-out", NEW).code == 0
        files: Tree = contents(root)
        assert narrow(root, "--apply", NEW).code == 0
        by_plan = contents(root)
    with tree(files) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert contents(root) == by_plan


def test_numbered_parts_do_not_shift_if_a_file_joins_its_neighbours() -> None:
    with tree(FILES) as root:
        outcome = narrow(root, "pkg", "sym", "--split", "count:2", "--plan-out", PLAN)
        assert outcome.code == 0
        (root / "tools/late.py").write_text("from pkg import sym\n")
        assert status(root, "--plan-out", NEW).code == 0
        assert parts_of(root) == {
            1: ("1-of-2", ["app/main.py", "app/more.py", "tools/late.py"], False),
            2: ("2-of-2", ["tools/run.py", "web/view.py"], False),
            3: ("removal", ["pkg/__init__.py"], False),
        }


def test_open_branches_of_the_parts_that_are_left_stay() -> None:
    with tree(FILES) as root:
        committed(root)
        planned(root, "--branches", "narrow/")
        commits = git(root, "for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads/narrow")
        git(root, "merge", "-q", "--squash", "narrow/01-app")
        git(root, "commit", "-q", "-m", "part 1")
        # somebody edits another line of a file whose branch is open
        text = "from pkg import sym, light\n\nprint(sym(4))\n\n\ndef more():\n    return light\n"
        (root / "web/view.py").write_text(text)
        git(root, "commit", "-q", "-a", "-m", "more")
        outcome = status(root, "--plan-out", NEW, "--branches", "narrow/")
        assert outcome.code == 0, outcome.text
        for name in ("narrow/02-tools", "narrow/03-web", "narrow/04-removal"):
            assert f"kept {name}" in outcome.text
        assert git(root, "for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads/narrow") == commits
        for name in ("narrow/03-web", "narrow/04-removal"):
            git(root, "merge", "-q", "-m", name, name)
        found = told(root)
        assert set(found["files"].values()) == {"landed"}


def test_a_branch_that_does_not_say_what_the_new_plan_says_is_named() -> None:
    with tree(FILES) as root:
        committed(root)
        planned(root, "--branches", "narrow/")
        (root / "tools/late.py").write_text("from pkg import sym\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "more")
        outcome = status(root, "--plan-out", NEW, "--branches", "narrow/")
        assert outcome.code == 3
        assert "a branch narrow/02-tools with other commits, and so have narrow/04-removal" in outcome.text
        git(root, "branch", "-q", "-D", "narrow/02-tools", "narrow/04-removal")
        outcome = narrow(root, "--apply", NEW, "--branches", "narrow/")
        assert "kept narrow/01-app" in outcome.text
        assert "made narrow/02-tools" in outcome.text


def test_a_plan_of_many_packages_is_refreshed_row_by_row() -> None:
    rows = (
        'version = 1\n\n[[narrow]]\npackage = "pkg"\nsymbols = ["s*"]\n\n'
        '[[narrow]]\npackage = "other"\nsymbols = ["one"]\nshim = true\n'
    )
    files = {**FILES, "other/__init__.py": "from .a import one\n", "other/a.py": "def one():\n    return 1\n"}
    with tree(files) as root:
        (root / "../rows.toml").write_text(rows)
        assert narrow(root, "--plan", "../rows.toml", "--split", "directory", "--plan-out", PLAN).code == 0
        (root / "../rows.toml").unlink()  # the plan knows its rows itself
        (root / "app/one.py").write_text("from other import one\n")
        land(root, "app/main.py")
        found = told(root, "--plan-out", NEW)
        assert found["new"] == {("app/one.py", 1): 1}
        assert found["files"]["app/main.py"] == "landed"
        assert narrow(root, "--apply", NEW).code == 0
        assert (root / "app/one.py").read_text() == "from other.a import one\n"
        assert "__getattr__" in (root / "other/__init__.py").read_text()


def test_options_are_those_of_the_plan_and_an_accepted_line_is_found_again() -> None:
    odd = "import pkg\n\n\ndef go(name):\n    return getattr(pkg, name)\n"
    with tree({**FILES, "odd.py": odd}) as root:
        planned(root, "--accept", "odd.py:5", "--no-ban")
        (root / "odd.py").write_text(f"import os\n\n{odd}")
        outcome = status(root, "--plan-out", NEW)
        assert outcome.code == 0, outcome.text
        new = json.loads((root / NEW).read_bytes())
        assert new["options"] == {"accept": ["odd.py:7"], "ban": False}
        assert new["rows"] == []


def test_an_accepted_line_that_stands_there_twice_is_asked_about_again() -> None:
    odd = "import pkg\n\n\ndef go(name):\n    return getattr(pkg, name)\n"
    with tree({**FILES, "odd.py": odd}) as root:
        planned(root, "--accept", "odd.py:5")
        (root / "odd.py").write_text(f"import os\n\n{odd}\n\ndef so(name):\n    return getattr(pkg, name)\n")
        assert status(root).code == 4


def test_other_checkouts_are_looked_at_as_well() -> None:
    with tree(FILES) as root:
        other = root / "../other"
        other.mkdir()
        (other / "use.py").write_text("from pkg import sym\n")
        assert narrow(root, "pkg", "sym", "--also", "../other", "--plan-out", PLAN).code == 0
        land(other, "use.py")
        (other / "late.py").write_text("from pkg import sym\n")
        found = told(root)
        assert found["files"]["../other/use.py"] == "landed"
        assert ("../other/late.py", 1) in found["new"]


def test_a_plan_that_was_not_split_is_told_by_its_files_and_split_when_that_is_asked_for() -> None:
    with tree(FILES) as root:
        assert narrow(root, "pkg", "sym", "--plan-out", PLAN).code == 0
        land(root, "app/main.py")
        assert "1 1-of-1: 1 of 4 files landed" in status(root).out
        assert "1 app: 1 of 2 files landed" in status(root, "--split", "directory", "--plan-out", NEW).out
        assert parts_of(root)[1] == ("app", ["app/more.py"], False)


def test_uncommitted_changes_count_and_are_named() -> None:
    with tree(FILES) as root:
        committed(root)
        planned(root)
        assert "uncommitted" not in status(root).text
        land(root, "app/main.py")
        outcome = status(root)
        assert "1 app: 1 of 2 files landed" in outcome.out
        assert "1 file of the plan as yet uncommitted, told as on disk: app/main.py" in outcome.text


STEP = st.one_of(
    st.tuples(st.just("land"), st.integers(0, 5)),
    st.tuples(st.just("add"), st.sampled_from(["app", "tools", "docs", "web/deep"])),
    st.tuples(st.just("edit"), st.sampled_from(sorted(path for path in FILES if "pkg" not in path))),
    st.tuples(st.just("again"), st.sampled_from(sorted(path for path in FILES if "pkg" not in path))),
)


@given(st.lists(STEP, min_size=1, max_size=6), st.sampled_from(["directory", "count:3", "package"]))
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_others_do_the_plan_for_the_rest_is_the_run_in_one_go_and_parts_keep_their_numbers(
    steps: list[tuple[str, int | str]], way: str
) -> None:
    with tree(FILES) as root:
        assert narrow(root, "pkg", "sym", "--split", way, "--plan-out", PLAN).code == 0
        for number, (step, which) in enumerate(steps):
            plan = plan_io.decode((root / PLAN).read_bytes(), "plan.json")
            if step == "land":
                free = [part for part in pull_requests(plan, root) if not part.last]
                for change in free[int(which) % len(free)].changes if free else ():
                    (root / change.path).write_bytes(change.after)
            elif step == "add":
                (root / str(which)).mkdir(exist_ok=True, parents=True)
                (root / str(which) / f"new{number}.py").write_text("import pkg\n\nprint(pkg.sym(1))\n")
            else:
                text = f"\n\ndef f{number}():\n    from pkg import sym as s\n" if step == "again" else "\n# a note\n"
                with (root / str(which)).open("a") as file:
                    file.write(text)
            outcome = status(root, "--plan-out", PLAN)
            assert outcome.code == 0, outcome.text
            fresh = plan_io.decode((root / PLAN).read_bytes(), "plan.json")
            now = {part.number: part.name for part in fresh.parts if part.kind == CALL_SITES}
            assert now.items() >= {part.number: part.name for part in plan.parts if part.kind == CALL_SITES}.items()
            assert [part.kind == "removal" for part in fresh.parts] == [False] * len(now) + [True]
            assert max(now) < fresh.parts[-1].number
        files: Tree = contents(root)
        for part in pull_requests(fresh, root):
            for change in part.changes:
                (root / change.path).write_bytes(change.after)
        by_parts = contents(root)
    with tree(files) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert contents(root) == by_parts


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["pkg", "--status", PLAN], 2, "everything from the plan"),
        (["--status", "no.json"], 3, "no.json"),
        (["--status", PLAN, "--split", "by-mood"], 3, "--split takes"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], code: int, says: str) -> None:
    with tree(FILES) as root:
        planned(root)
        outcome = narrow(root, *arguments)
        assert (outcome.code, says in outcome.text) == (code, True), outcome.text
        expect_tree(root, FILES)


def test_it_works_outside_of_this_process_and_annotates_new_sites() -> None:
    with tree(FILES) as root:
        planned(root)
        (root / "late.py").write_text("from pkg import sym\n")
        outcome = narrow_outside(root, "--status", PLAN, "--output-format", "github")
        assert outcome.code == 0, outcome.text
        assert outcome.out.startswith("::notice file=late.py,line=1,")


def test_what_others_have_added_can_be_accepted_or_left_out() -> None:
    with tree(FILES) as root:
        planned(root)
        (root / "web/odd.py").write_text("import pkg\n\nname = input()\nprint(getattr(pkg, name))\n")
        refused = status(root, "--plan-out", NEW)
        assert refused.code == 4
        assert "no plan was made" in refused.text
        assert not (root / NEW).exists()
        assert status(root, "--accept", "web/odd.py:4", "--plan-out", NEW).code == 0
        (root / "web/odd.py").write_text("import pkg\n\n\nname = input()\nprint(getattr(pkg, name))\n")
        assert status(root, plan=NEW).code == 0
        assert status(root, "--exclude", "web/odd.py").code == 0
        assert status(root, "--strict").code == 2


def test_another_folder_than_that_of_the_plan_is_an_error() -> None:
    with tree({f"work/{path}": text for path, text in FILES.items()}) as root:
        planned(root / "work", "--source-root", ".")
        outcome = status(root, plan="plan.json")
        assert (outcome.code, "the folder in which the plan was made" in outcome.text) == (3, True)


def test_a_part_that_comes_after_the_removal_does_not_say_that_it_removes_anything() -> None:
    with tree(FILES) as root:
        planned(root)
        assert narrow(root, "--apply", PLAN).code == 0
        (root / "web/late.py").write_text("from pkg import sym\n\nprint(sym(1))\n")
        shipped = ["--patches", "../p", "--author", "Bob <b@example.org>"]
        assert status(root, *shipped).code == 0
        text = (root / "../p/0005-web.patch").read_text()
        assert "the re-export is gone already" in text
        assert "removes it" not in text


def test_a_command_is_run_on_what_is_left_also_if_nothing_else_is_made() -> None:
    with tree(FILES) as root:
        committed(root)
        planned(root)
        outcome = narrow(root, "--status", PLAN, "--split", "count:2", "--verify-command", 'test -z "$CODEMODS_PART"')
        assert outcome.code == 4
        assert "tried 1 1-of-2: red" in outcome.text
