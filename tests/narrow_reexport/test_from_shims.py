"""`--from-shims`: a checkout that uses an installed package follows its shims, and the package is never imported."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.narrow_reexport import plan_io
from codemods.narrow_reexport.bulk import pull_requests
from tests import oracle
from tests.engine.repositories import committed, git
from tests.narrow_reexport.verbs import Outcome, Tree, contents, expect_tree, lay, narrow, tree

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
UPSTREAM: Tree = {
    "pkg/__init__.py": "from .light import lamp\nfrom .sub import impl as sym, Sym\n",
    "pkg/light.py": "def lamp(x):\n    return x\n",
    "pkg/sub.py": "def impl(x=1):\n    return x * 10\n\n\nclass Sym:\n    limit = 3\n",
    "pkg/deep/__init__.py": "from .ops import fast\nfrom .ops import slow\n",
    "pkg/deep/ops.py": "def fast():\n    return 'fast'\n\n\ndef slow():\n    return 'slow'\n",
}


@contextlib.contextmanager
def downstream(
    files: Tree, upstream: Tree = UPSTREAM, narrowed: str = "pkg:sym pkg:Sym pkg.deep:fast"
) -> Iterator[Path]:
    """A checkout with these files, beside an environment `../venv` that has the package, narrowed with shims."""
    with tree(files) as root:
        site = root.parent / "venv" / "lib" / VERSION / "site-packages"
        (root.parent / "venv" / "bin").mkdir(parents=True)
        (root.parent / "venv" / "pyvenv.cfg").write_text("home = /usr\n")
        (root.parent / "venv" / "bin" / "python").symlink_to(sys.executable)
        lay(site, upstream)
        for spelled in narrowed.split():
            package, _, symbol = spelled.partition(":")
            outcome = narrow(site, package, symbol, "--shim", "--shim-removal", "2.0", "--no-ban")
            assert outcome.code == 0, outcome.text
        yield root


def follow(root: Path, *options: str, package: str = "pkg") -> Outcome:
    return narrow(root, "--from-shims", package, "--python", "../venv", *options)


def check_follows(before: Tree, after: Tree, run: str = "main", says: str = "") -> Outcome:
    """The call sites move, the programs do the same, the installed files keep every byte, a second run does nothing."""
    with downstream(before) as root:
        site = root.parent / "venv" / "lib" / VERSION / "site-packages"
        installed = contents(site)
        roots = (".", f"../venv/lib/{VERSION}/site-packages")
        old = oracle.run_programs(root, [run], roots)
        assert old[0].exit_code == 0, old
        outcome = follow(root)
        assert outcome.code == 0, outcome.text
        expect_tree(root, {**before, **after})
        assert not oracle.differences(old, oracle.run_programs(root, [run], roots))
        strict = oracle.run_programs(root, [f"import warnings; warnings.simplefilter('error'); import {run}"], roots)
        assert strict[0].exit_code == 0, strict
        first = contents(root)
        again = follow(root)
        assert again.code == 0 and contents(root) == first, again.text
        assert contents(site) == installed
        assert says in outcome.text
    return outcome


def test_a_from_import_follows_and_the_record_keeps_it_so() -> None:
    with downstream({"main.py": "from pkg import lamp, sym\n\nprint(sym(), lamp(1))\n"}) as root:
        outcome = follow(root)
        assert outcome.code == 0, outcome.text
        assert (root / "main.py").read_text() == (
            "from pkg import lamp\nfrom pkg.sub import impl as sym\n\nprint(sym(), lamp(1))\n"
        )
        record = (root / "narrowed.toml").read_text()
        assert '"pkg:sym" = { origin = "pkg.sub:impl" }' in record
        assert '"pkg.deep:fast" = { origin = "pkg.deep.ops:fast" }' in record
        assert "pkg:sym comes from pkg.sub:impl (pkg/__init__.py:" in outcome.text
        assert "no longer loads" not in outcome.text and "still loaded" not in outcome.text


def test_attributes_aliases_and_late_imports_follow() -> None:
    before = """
    import pkg.deep as d
    import pkg


    def f():
        from pkg import Sym as S
        return S.limit


    print(pkg.sym(), d.fast(), d.slow(), f())
    """
    after = """
    import pkg.deep as d
    import pkg.sub
    from pkg.deep.ops import fast


    def f():
        from pkg.sub import Sym as S
        return S.limit


    print(pkg.sub.impl(), fast(), d.slow(), f())
    """
    check_follows({"main.py": before}, {"main.py": after})


def test_all_shimmed_packages_are_followed_in_one_run_also_within_one_file() -> None:
    before = """
    from pkg import sym
    from pkg.deep import fast, slow

    print(sym(), fast(), slow())
    """
    after = """
    from pkg.deep import slow
    from pkg.deep.ops import fast
    from pkg.sub import impl as sym

    print(sym(), fast(), slow())
    """
    outcome = check_follows(
        {"main.py": before, "app/__init__.py": "", "app/one.py": "from pkg.deep import fast\n"},
        {"main.py": after, "app/one.py": "from pkg.deep.ops import fast\n"},
    )
    assert "changed 2 files" in outcome.text and "2 sites" in outcome.text


def test_a_package_of_the_checkout_that_passes_the_name_on_still_does() -> None:
    check_follows(
        {
            "app/__init__.py": "from pkg import sym\n",
            "main.py": "from app import sym\nimport app\n\nprint(sym(), app.sym(2))\n",
        },
        {"app/__init__.py": "from pkg.sub import impl as sym\n"},
    )


def test_relative_imports_of_the_checkouts_own_package_of_that_leaf_are_its_own() -> None:
    files = {
        "app/__init__.py": "",
        "app/pkg/__init__.py": "def sym():\n    return 'own'\n",
        "app/use.py": "from .pkg import sym\nfrom . import pkg\n\nprint(sym(), pkg.sym())\n",
        "main.py": "import app.use\n",
    }
    with downstream(files) as root:
        assert follow(root).code == 0
        expect_tree(root, files)


def test_the_origin_outside_of_the_package_is_followed() -> None:
    upstream = {
        "pkg/__init__.py": "from core.ops import sym\n",
        "core/__init__.py": "",
        "core/ops.py": "def sym(): ...\n",
    }
    with downstream({"main.py": "from pkg import sym\n"}, upstream, "pkg:sym") as root:
        assert follow(root).code == 0
        assert (root / "main.py").read_text() == "from core.ops import sym\n"


def test_diff_and_check_write_nothing() -> None:
    files = {"main.py": "from pkg import sym\n"}
    with downstream(files) as root:
        checked = follow(root, "--check")
        assert checked.code == 1
        shown = follow(root, "--diff")
        assert shown.code == 0 and "+from pkg.sub import impl as sym" in shown.out
        expect_tree(root, files, record=False)


def test_json_names_the_symbols_and_the_changes() -> None:
    with downstream({"main.py": "from pkg import sym\n"}) as root:
        found = json.loads(follow(root, "--output-format", "json").out)
        assert found["package"] == "pkg" and found["applied"] is True
        assert [each["symbol"] for each in found["symbols"]] == ["pkg:Sym", "pkg:sym", "pkg.deep:fast"]
        assert [each["path"] for each in found["changes"]] == ["main.py", "narrowed.toml"]


def test_one_refusal_stops_the_run_and_an_accept_lets_it_go_on() -> None:
    files = {"main.py": "from pkg import sym\n\nimport pkg.deep\nimport pkg\n\npkg.sym = 1\nprint(pkg.deep.fast())\n"}
    with downstream(files) as root:
        outcome = follow(root)
        assert outcome.code == 4 and "main.py:6" in outcome.text and "nothing was written" in outcome.text
        expect_tree(root, files, record=False)
        accepted = follow(root, "--accept", "main.py:6")
        assert accepted.code == 0, accepted.text
        text = (root / "main.py").read_text()
        assert "pkg.sym = 1\n" in text and "from pkg.sub import impl as sym\n" in text and "pkg.deep.ops.fast()" in text


def test_keep_going_moves_what_is_not_refused() -> None:
    with downstream({"main.py": "import pkg\nfrom pkg import Sym\n\npkg.sym = 1\n"}) as root:
        outcome = follow(root, "--keep-going")
        assert outcome.code == 4
        assert (root / "main.py").read_text() == "import pkg\nfrom pkg.sub import Sym\n\npkg.sym = 1\n"
        assert "pkg:sym" not in (root / "narrowed.toml").read_text()


FALLBACK = "try:\n    from pkg.sub import impl as sym\nexcept ImportError:\n    from pkg import sym\nprint(sym())\n"


def test_a_fallback_for_older_versions_is_warned_of() -> None:
    with downstream({"main.py": FALLBACK}) as root:
        outcome = follow(root)
        assert outcome.code == 0 and "warning: main.py:4: a fallback for versions from before the move" in outcome.text
        assert "from pkg import" not in (root / "main.py").read_text()


def test_strict_turns_that_warning_into_a_refusal() -> None:
    with downstream({"main.py": FALLBACK}) as root:
        outcome = follow(root, "--strict")
        assert outcome.code == 4 and "main.py:4" in outcome.text
        expect_tree(root, {"main.py": FALLBACK}, record=False)


def test_no_ban_leaves_the_record_alone() -> None:
    with downstream({"main.py": "from pkg import sym\n"}) as root:
        assert follow(root, "--no-ban").code == 0
        assert not (root / "narrowed.toml").exists()


def test_a_package_without_shims_says_so() -> None:
    files = {"main.py": "from pkg import sym\n"}
    with downstream(files, narrowed="") as root:
        outcome = follow(root)
        assert outcome.code == 0 and "no shim in" in outcome.text and "nothing to change" in outcome.text
        expect_tree(root, files, record=False)


def test_a_checkout_that_uses_nothing_of_it_gets_the_record_alone() -> None:
    files = {"main.py": "from pkg import lamp\n"}
    with downstream(files) as root:
        assert follow(root).code == 0
        expect_tree(root, files)


def test_a_package_that_is_not_installed_is_named_with_the_paths_looked_at() -> None:
    with downstream({"main.py": ""}) as root:
        outcome = follow(root, package="pkgs")
        assert outcome.code == 3 and "site-packages" in outcome.text and "--python" in outcome.text


def test_an_editable_install_by_a_path_line_is_read_in_its_checkout() -> None:
    with downstream({"main.py": "from pkg import sym\n"}) as root:
        site = root.parent / "venv" / "lib" / VERSION / "site-packages"
        (root.parent / "checkout").mkdir()
        (site / "pkg").rename(root.parent / "checkout" / "pkg")
        (site / "editable.pth").write_text(f"{root.parent}/checkout\n")
        assert follow(root).code == 0
        assert (root / "main.py").read_text() == "from pkg.sub import impl as sym\n"


def test_the_installed_package_is_not_run() -> None:
    with downstream({"main.py": "from pkg import sym\n"}) as root:
        site = root.parent / "venv" / "lib" / VERSION / "site-packages"
        for path in site.rglob("*.py"):
            path.write_text(f"{path.read_text()}\nopen({str(root / 'ran')!r}, 'w')\n")
        assert follow(root).code == 0
        assert not (root / "ran").exists()


def test_a_name_that_is_a_module_now_is_left_alone_and_said() -> None:
    files = {"main.py": "from pkg import sym\n"}
    with downstream(files) as root:
        site = root.parent / "venv" / "lib" / VERSION / "site-packages"
        (site / "pkg" / "sym.py").write_text("")
        outcome = follow(root)
        assert (
            outcome.code == 0 and "left alone: pkg:sym: the installed package has a module of that name" in outcome.text
        )
        expect_tree(root, files)


def test_a_shim_whose_table_cannot_be_read_is_an_error_with_its_place() -> None:
    with downstream({"main.py": "from pkg import sym\n"}) as root:
        init = root.parent / "venv" / "lib" / VERSION / "site-packages" / "pkg" / "__init__.py"
        init.write_text(init.read_text().replace("_MOVED = {", "_MOVED = dict(a=1) or {"))
        outcome = follow(root)
        assert outcome.code == 3 and "pkg/__init__.py:5" in outcome.text


def test_the_packages_own_tree_is_no_place_for_it() -> None:
    with downstream({"pkg/__init__.py": "", "main.py": ""}) as root:
        outcome = follow(root)
        assert outcome.code == 3 and "is a package of this tree" in outcome.text


def test_another_checkout_goes_along_with_also() -> None:
    with downstream({"main.py": "from pkg import sym\n"}) as root:
        lay(root.parent / "more", {"use.py": "from pkg.deep import fast\n"})
        outcome = follow(root, "--also", "../more")
        assert outcome.code == 0, outcome.text
        assert (root.parent / "more" / "use.py").read_text() == "from pkg.deep.ops import fast\n"
        assert (root.parent / "more" / "narrowed.toml").is_file()


# --- patches, and parts ---

PATCHED = """
from unittest import mock

import pkg
from app import late

with mock.patch("pkg.sym", return_value=7):
    print(late.go(), {more})
"""
LATE = "import pkg\n\n\ndef go():\n    return pkg.sym()\n"


def test_a_patch_follows_together_with_the_readers_that_it_covers() -> None:
    before = {"main.py": PATCHED.replace("{more}", "1"), "app/__init__.py": "", "app/late.py": LATE}
    after = {
        "main.py": PATCHED.replace("{more}", "1").replace("pkg.sym", "pkg.sub.impl"),
        "app/late.py": LATE.replace("import pkg", "import pkg.sub").replace("pkg.sym", "pkg.sub.impl"),
    }
    check_follows(before, after)


def test_a_patch_that_would_reach_more_at_the_origin_is_refused_since_its_readers_move() -> None:
    upstream = {**UPSTREAM, "pkg/sub.py": f"{UPSTREAM['pkg/sub.py']!s}\n\ndef batch():\n    return impl(1)\n"}
    files = {"main.py": PATCHED.replace("{more}", "1"), "app/__init__.py": "", "app/late.py": LATE}
    with downstream(files, upstream) as root:
        outcome = follow(root)
        assert outcome.code == 4 and "main.py:6: refused" in outcome.text and "pkg/sub.py:10" in outcome.text
        expect_tree(root, files, record=False)


PARTS: Tree = {
    "main.py": PATCHED.replace("{more}", "1"),
    "app/__init__.py": "",
    "app/late.py": LATE,
    "lib/one.py": "from pkg.deep import fast\nfrom pkg import sym\n\nprint(fast(), sym())\n",
    "lib/listed.py": "from pkg import *\nimport pkg\n\n__all__ = ['fast']\nfrom pkg.deep import fast\n",
}


def test_a_plan_of_shims_gives_the_tree_of_the_run() -> None:
    with downstream(PARTS) as root:
        assert follow(root, "--plan-out", "../plan.json").code == 0
        expect_tree(root, PARTS, record=False)
        told = json.loads((root.parent / "plan.json").read_text())
        assert {each["path"]: each["lands"] for each in told["files"]} == {
            "app/late.py": "together",
            "lib/listed.py": "alone",
            "lib/one.py": "alone",
            "main.py": "together",
        }
        assert narrow(root, "--apply", "../plan.json").code == 0
        by_plan = contents(root)
    with downstream(PARTS) as root:
        assert follow(root).code == 0
        assert contents(root) == by_plan


def test_a_plan_of_shims_has_no_guard_and_no_status_and_says_what_to_do_instead() -> None:
    # check-narrowed looks at packages of the tree, and the installed one is none
    with downstream(PARTS) as root:
        guarded = follow(root, "--split", "directory", "--guard-first")
        assert (guarded.code, "a package that is not in the tree" in guarded.text) == (3, True)
        assert follow(root, "--plan-out", "../plan.json").code == 0
        status = narrow(root, "--status", "../plan.json")
        assert (status.code, "run --from-shims again" in status.text) == (3, True)


def test_parts_of_shims_keep_every_program_running_in_any_order_and_the_record_comes_last() -> None:
    with downstream(PARTS) as root:
        site = f"../venv/lib/{VERSION}/site-packages"
        old = oracle.run_programs(root, ["main", "lib.one", "lib.listed"], (".", site))
        assert all(ran.exit_code == 0 for ran in old), old
        assert follow(root, "--plan-out", "../plan.json").code == 0
        plan = plan_io.decode((root.parent / "plan.json").read_bytes(), "plan.json")
        parts = pull_requests(plan, root, "count:9")
        assert [part.name for part in parts][-1] == "record"
        assert [change.path for change in parts[-1].changes] == ["narrowed.toml"]
        for part in [*reversed(parts[:-1]), parts[-1]]:
            for change in part.changes:
                (root / change.path).write_bytes(change.after)
            assert not oracle.differences(
                old, oracle.run_programs(root, ["main", "lib.one", "lib.listed"], (".", site))
            )
        assert follow(root, "--check").code == 0


def test_the_words_of_a_part_speak_of_shims_and_not_of_a_removal() -> None:
    with downstream(PARTS) as root:
        who = ["--author", "Bob <b@example.org>", "--split", "directory"]
        outcome = follow(root, "--patches", "../p", *who)
        assert outcome.code == 0, outcome.text
        texts = [path.read_text() for path in sorted((root.parent / "p").glob("*.patch"))]
        assert len(texts) > 1
        for text in texts:
            body = text.partition("\n---\n")[0]
            assert "re-export is still there" not in body and "removes" not in body and "Stop" not in body
            assert "    narrow-reexport --from-shims pkg --python ../venv\n" in body
        assert "it writes `narrowed.toml`" in texts[-1]


def test_branches_of_shims_stand_on_head_and_the_last_is_the_run() -> None:
    with downstream(PARTS) as root:
        committed(root)
        outcome = follow(root, "--branches", "shims/")
        assert outcome.code == 0, outcome.text
        assert git(root, "branch", "--list", "shims/*", "--format=%(refname:short)").split() == [
            "shims/01-1-of-1",
            "shims/02-record",
        ]
        expect_tree(root, PARTS, record=False)
        assert follow(root).code == 0
        git(root, "add", "-A")
        assert git(root, "diff", "--cached", "--stat", "shims/02-record") == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["pkg", "sym", "--from-shims", "pkg"],
        ["--from-shims", "pkg", "--all"],
        ["--from-shims", "pkg", "--shim"],
        ["--from-shims", "no package"],
        ["--from-shims", ""],
        ["pkg", "sym", "--python", "python3"],
    ],
)
def test_arguments_that_do_not_go_together_are_bad_arguments(arguments: list[str]) -> None:
    with tree({"main.py": ""}) as root:
        assert narrow(root, *arguments).code == 2


def test_reads_do_not_go_through_a_module_that_a_test_replaces() -> None:
    keeper = "import pkg\n\n\ndef go():\n    return pkg.Sym.limit\n"
    main = "from unittest.mock import patch\nimport keeper\nimport pkg.sub\n\n"
    main += "with patch.object(pkg, 'sub', None):\n    print(keeper.go())\n"
    after = "import pkg\nfrom pkg.sub import Sym\n\n\ndef go():\n    return Sym.limit\n"
    check_follows({"keeper.py": keeper, "main.py": main}, {"keeper.py": after})
