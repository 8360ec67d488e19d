"""The ban goes first: the guard is green while the parts land in any order, and red for a call site that is new."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given

from codemods.check_narrowed.baseline import FOLDER
from codemods.narrow_reexport import plan_io
from codemods.narrow_reexport.bulk import pull_requests
from tests.check_narrowed.verbs import run as check
from tests.engine.repositories import committed, git
from tests.narrow_reexport.test_parts import FEW, LATE, ORDER, PATCH, WAY, sites
from tests.narrow_reexport.trees import PKG, SAME
from tests.narrow_reexport.verbs import Tree, contents, narrow, tree

NEW_SITE = "\n\ndef added_later():\n    from pkg import NAME\n\n    return NAME\n"
LIGHT = {"pkg/light.py": PKG["pkg/light.py"]}


def check_guarded(files: Tree, name: str, order: Sequence[int], way: str) -> None:
    """After the first part and each one that follows in this order, the guard is green; one more site makes it red."""
    with tree(files) as root, tempfile.TemporaryDirectory(prefix="parts-") as folder:
        plan_file = Path(folder) / "plan.json"
        more = ["--split", way, "--guard-first", "--plan-out", str(plan_file), "-q"]
        outcome = narrow(root, "pkg", name, *more)
        assert outcome.code == 0, outcome.text
        plan = plan_io.decode(plan_file.read_bytes(), "plan.json")
        first, *free, last = pull_requests(plan, root)
        assert (first.first, last.last, first.number) == (True, True, 1)
        ordered = [first, *(free.pop(at % len(free)) for at in order if free), *free, last]
        one_shot = Path(folder) / "one"
        shutil.copytree(root, one_shot)
        assert narrow(one_shot, "pkg", name, "-q").code == 0
        for part in ordered:
            for change in part.changes:
                file = root / change.path
                assert (file.read_bytes() if file.exists() else b"") == change.before
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(change.after)
                if change.gone:
                    file.unlink()
                    if not any(file.parent.iterdir()):
                        file.parent.rmdir()
            green = check(root)
            assert green.code == 0, f"after {part.name} of {[each.name for each in ordered]}:\n{green.text}"
            (root / "added.py").write_text(NEW_SITE.replace("NAME", name) + f"\n\nprint(added_later()(1), '{name}')\n")
            assert check(root).code == 1, f"after {part.name} a new file is not seen"
            (root / "added.py").unlink()
            for path in (path for path in files if path.startswith("d")):
                kept = (root / path).read_bytes()
                (root / path).write_bytes(kept + NEW_SITE.replace("NAME", name).encode())
                assert check(root).code == 1, f"after {part.name} a new site in {path} is not seen"
                (root / path).write_bytes(kept)
        assert contents(root) == contents(one_shot)
        assert not (root / FOLDER).exists()


@given(sites("sym"), ORDER, WAY)
@FEW
def test_the_guard_is_green_after_every_prefix_and_red_for_a_new_site(
    more: dict[str, str], order: list[int], way: str
) -> None:
    check_guarded({**PKG, **more}, "sym", order, way)


@given(sites("fused"), ORDER, WAY)
@FEW
def test_the_same_for_a_function_with_the_name_of_its_module(more: dict[str, str], order: list[int], way: str) -> None:
    init = f"from .light import light\n{SAME['pkg/__init__.py']!s}\n__all__ = ['light', 'fused']\n"
    files = {**SAME, **LIGHT, "pkg/__init__.py": init, **more}
    # in that case a site counts where the function is called
    check_guarded(files, "fused", order, way)


def test_groups_stubs_and_pages_are_guarded_as_well() -> None:
    files = {
        **PKG,
        "pkg/__init__.pyi": "from .light import light as light\nfrom .sub import sym as sym\n",
        "late.py": LATE.replace("NAME", "sym"),
        "tests/test_it.py": PATCH.replace("NAME", "sym"),
        "typed.pyi": "from pkg import sym as sym\n",
        "page.md": "```python\nfrom pkg import sym\n```\n",
    }
    check_guarded(files, "sym", [1, 0], "count:9")


def test_a_place_that_a_person_has_taken_on_stays_accepted_until_the_last_part() -> None:
    text = "import pkg\nfrom pkg import sym\n\n\ndef go(name):\n    return getattr(pkg, name), sym()\n"
    with tree({**PKG, "odd.py": text}) as root:
        committed(root)
        more = ["--accept", "odd.py:6", "--split", "count:1", "--guard-first", "--branches", "n/"]
        assert narrow(root, "pkg", "sym", *more).code == 0
        for name in ("n/01-guard", "n/02-1-of-1"):
            git(root, "checkout", "-q", name)
            assert check(root).code == 0


def test_each_branch_stands_on_the_guard_and_the_last_one_is_the_run_in_one_go() -> None:
    files = {**PKG, "a/x.py": "from pkg import sym\n", "b/y.py": "from pkg import sym\n"}
    with tree(files) as root:
        committed(root)
        more = ["--split", "directory", "--guard-first", "--branches", "n/", "--plan-out", "../plan.json"]
        assert narrow(root, "pkg", "sym", *more).code == 0
        names = git(root, "branch", "--list", "n/*", "--format=%(refname:short)").split()
        assert names == ["n/01-guard", "n/02-a", "n/03-b", "n/04-removal"]
        assert [git(root, "rev-list", "--count", f"main..{name}").strip() for name in names] == ["1", "2", "2", "4"]
        git(root, "checkout", "-q", "n/04-removal")
        by_parts = contents(root)
        # two parts, one on the other's side: neither touches a line of the other
        git(root, "checkout", "-q", "n/03-b")
        git(root, "merge", "-q", "-m", "both", "n/02-a")
        assert check(root).code == 0
        # the plan is refreshed on top of that: the removal takes what is left of the baseline
        outcome = narrow(root, "--status", "../plan.json", "--plan-out", "../new.json")
        assert outcome.out.startswith("1 guard: landed\n2 a: landed\n3 b: landed\n4 removal: open\n")
        assert narrow(root, "--apply", "../new.json", "--branches", "n/").code == 0
        git(root, "checkout", "-q", "n/04-removal")
        assert contents(root) == by_parts
    with tree(files) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert contents(root) == by_parts


def test_rows_of_several_packages_are_banned_at_once_and_the_files_of_the_baseline_are_no_mentions() -> None:
    rows = 'version = 1\nnarrow = [{package = "pkg", symbols = ["sym"]}, {package = "two", symbols = ["one"]}]\n'
    both = "from pkg import sym\nfrom two import one\n"
    files = {**PKG, "two/__init__.py": "from .a import one\n", "two/a.py": "one = 1\n", "a/x.py": both, "b/y.py": both}
    with tree(files) as root:
        (root / "../rows.toml").write_text(rows)
        committed(root)
        more = ["--plan-out", "../plan.json", "--split", "directory", "--guard-first", "--branches", "n/"]
        assert narrow(root, "--plan", "../rows.toml", *more).code == 0
        for name in ("n/01-guard", "n/02-a", "n/03-b", "n/04-removal"):
            git(root, "checkout", "-q", name)
            assert check(root).code == 0
        git(root, "checkout", "-q", "n/02-a")
        outcome = narrow(root, "--status", "../plan.json", "--plan-out", "../new.json")
        assert outcome.out.startswith("1 guard: landed\n2 a: landed\n3 b: open, 1 file\n4 removal: open\n")
        assert json.loads((root / "../new.json").read_bytes())["remarks"] == []


def test_patches_make_and_delete_the_files_of_the_baseline(tmp_path: Path) -> None:
    with tree({**PKG, "a/x.py": "from pkg import sym\n"}) as root:
        committed(root)
        assert narrow(root, "pkg", "sym", "--guard-first", "--patches", str(tmp_path / "p")).code == 0
        for name in (tmp_path / "p/series").read_text().split():
            git(root, "am", "-q", "--keep-cr", str(tmp_path / "p" / name))
            assert check(root).code == 0
        assert not (root / FOLDER).exists()


def test_what_was_accepted_before_goes_on_being_accepted() -> None:
    files = {
        **PKG,
        "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:Sym" = { origin = "pkg.sub:Sym" }\n',
        "b.json": json.dumps({"version": 1, "accepted": {"pkg:Sym": {"old.py": 1}}}),
        "pyproject.toml": '[tool.codemods.check_narrowed]\nbaseline = "b.json"\n',
        "old.py": "from pkg import Sym\n",
        "use.py": "from pkg import sym\n",
    }
    with tree(files) as root:
        committed(root)
        assert check(root).code == 0
        assert narrow(root, "pkg", "sym", "--guard-first", "--branches", "n/").code == 0
        for name in ("n/01-guard", "n/02-1-of-1", "n/03-removal"):
            git(root, "checkout", "-q", name)
            assert check(root).code == 0
            assert (root / "b.json").read_text() == files["b.json"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--guard-first"], 2, "--guard-first goes with"),
        (["--guard-first", "--split", "directory", "--no-ban"], 3, "--guard-first needs rows"),
        (["--guard-first", "--split", "directory", "--callers-only"], 3, "--guard-first needs rows"),
    ],
)
def test_where_there_is_nothing_to_ban_that_is_said(arguments: list[str], code: int, says: str) -> None:
    with tree({**PKG, "use.py": "from pkg import sym\n"}) as root:
        outcome = narrow(root, "pkg", "sym", *arguments)
        assert (outcome.code, says in outcome.text) == (code, True), outcome.text


def test_a_red_guard_holds_everything_back_and_a_red_part_the_last_one_alone() -> None:
    files = {**PKG, "a/x.py": "from pkg import sym\n", "b/y.py": "from pkg import sym\n"}
    with tree(files) as root:
        committed(root)
        more = ["--split", "directory", "--guard-first", "--branches", "n/"]
        red = narrow(root, "pkg", "sym", *more, "--verify-command", "test ! -e narrowed.toml")
        assert red.code == 4
        assert red.text.count("not tried, since it needs part") == 3
        assert git(root, "branch", "--list", "n/*") == ""
        red = narrow(root, "pkg", "sym", *more, "--verify-command", '[ "$CODEMODS_PART" != a ]')
        assert red.code == 4
        assert "not tried, since it needs part 2" in red.text
        names = git(root, "branch", "--list", "n/*", "--format=%(refname:short)").split()
        assert names == ["n/01-guard", "n/03-b"]
