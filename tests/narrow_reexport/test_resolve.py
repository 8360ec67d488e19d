"""Request to resolution: several symbols, globs, `--all`, layouts, and what is not there."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, check_unchanged, contents, narrow, tree

MANY: dict[str, str | bytes] = {
    "pkg/__init__.py": (
        "import os\n\nfrom .a import fused_a, plain\nfrom .b import fused_b\n\n"
        '__all__ = ["fused_a", "fused_b", "plain"]\n'
    ),
    "pkg/a.py": "def fused_a():\n    return 'a'\n\n\ndef plain():\n    return 'p'\n",
    "pkg/b.py": "def fused_b():\n    return 'b'\n",
    "main.py": "from pkg import fused_a, fused_b, plain\n\nprint(fused_a(), fused_b(), plain())\n",
}


def test_several_symbols_move_in_one_run() -> None:
    after = {
        "pkg/__init__.py": 'import os\n\nfrom .a import plain\n\n__all__ = ["plain"]\n',
        "main.py": (
            "from pkg import plain\nfrom pkg.a import fused_a\n"
            "from pkg.b import fused_b\n\nprint(fused_a(), fused_b(), plain())\n"
        ),
    }
    check_rewritten(MANY, "pkg", "fused_a fused_b", after, run=["main"], unloaded=["pkg.b"])


def test_a_glob_takes_the_names_that_match() -> None:
    after = {
        "pkg/__init__.py": 'import os\n\nfrom .a import plain\n\n__all__ = ["plain"]\n',
        "main.py": (
            "from pkg import plain\nfrom pkg.a import fused_a\n"
            "from pkg.b import fused_b\n\nprint(fused_a(), fused_b(), plain())\n"
        ),
    }
    with tree(MANY) as root:
        assert narrow(root, "pkg", "fused_*").code == 0
        found = contents(root)
        assert {path: found[path].decode() for path in after} == after


def test_a_glob_that_matches_nothing_is_an_error() -> None:
    outcome = check_refused(MANY, "pkg", "zz*", "nothing in pkg matches", exit_code=3, at="pkg/__init__.py:1")
    assert "fused_a" in outcome.text


def test_a_glob_whose_names_went_without_a_row_says_what_is_known() -> None:
    with tree(MANY) as root:
        assert narrow(root, "pkg", "fused_*", "--no-ban").code == 0
        outcome = narrow(root, "pkg", "fused_*", "--no-ban")
        assert outcome.code == 3
        assert "rows in narrowed.toml" in outcome.text


def test_all_takes_the_names_of_dunder_all() -> None:
    with tree(MANY) as root:
        outcome = narrow(root, "pkg", "--all")
        assert outcome.code == 0, outcome.text
        assert (root / "pkg/__init__.py").read_text() == "import os\n\n__all__ = []\n"
        assert (
            (root / "main.py").read_text().startswith("from pkg.a import fused_a, plain\nfrom pkg.b import fused_b\n")
        )
        before = contents(root)
        assert narrow(root, "pkg", "--all").code == 0
        assert contents(root) == before


def test_all_without_dunder_all_takes_what_the_same_distribution_gives() -> None:
    files: Tree = {
        **MANY,
        "pkg/__init__.py": (
            "import os\nfrom json import dumps\n\nfrom .a import fused_a, plain\n"
            "from .b import fused_b\n\nVERSION = 1\n"
        ),
    }
    with tree(files) as root:
        outcome = narrow(root, "pkg", "--all")
        assert outcome.code == 0, outcome.text
        assert (root / "pkg/__init__.py").read_text() == "import os\nfrom json import dumps\n\nVERSION = 1\n"


def test_what_all_leaves_alone_is_listed_with_its_reason() -> None:
    files: Tree = {
        **MANY,
        "pkg/__init__.py": 'from .a import fused_a\n\n__all__ = ["fused_a", "VERSION"]\nVERSION = 1\n',
        "main.py": "import pkg\n",
    }
    with tree(files) as root:
        outcome = narrow(root, "pkg", "--all")
        assert outcome.code == 0, outcome.text
        assert "left alone: VERSION: VERSION is defined" in outcome.text


@pytest.mark.parametrize("order", [("fused_a", "fused_b"), ("fused_b", "fused_a")])
def test_two_runs_in_either_order_give_what_one_run_gives(order: tuple[str, str]) -> None:
    with tree(MANY) as root:
        assert narrow(root, "pkg", "fused_a", "fused_b").code == 0
        once = contents(root)
    with tree(MANY) as root:
        for symbol in order:
            assert narrow(root, "pkg", symbol).code == 0
        assert contents(root) == once


def test_a_symbol_named_twice_is_narrowed_once() -> None:
    check_rewritten(PKG, "pkg", "sym sym", dict(NARROWED), unloaded=["pkg.sub"])


def test_one_refusal_stops_the_whole_run() -> None:
    files = {**MANY, "user.py": 'import pkg\n\nprint(delattr(pkg, "fused_b"))\n'}
    check_refused(files, "pkg", "fused_a fused_b", "by name", at="user.py:3")


def test_keep_going_leaves_the_refused_symbol_out_and_writes_the_rest() -> None:
    files: Tree = {**MANY, "user.py": 'import pkg\n\nprint(delattr(pkg, "fused_b"))\n'}
    with tree(files) as root:
        outcome = narrow(root, "pkg", "fused_a", "fused_b", "--keep-going")
        assert outcome.code == 4, outcome.text
        assert "user.py:3" in outcome.text
        assert (
            root / "pkg/__init__.py"
        ).read_text() == 'import os\n\nfrom .a import plain\nfrom .b import fused_b\n\n__all__ = ["fused_b", "plain"]\n'
        assert (
            (root / "main.py").read_text()
            == "from pkg import fused_b, plain\nfrom pkg.a import fused_a\n\nprint(fused_a(), fused_b(), plain())\n"
        )
        assert "fused_b" not in (root / "narrowed.toml").read_text()


def test_keep_going_leaves_an_unknown_symbol_out_too() -> None:
    with tree(MANY) as root:
        outcome = narrow(root, "pkg", "fused_a", "nothing_like_it", "--keep-going")
        assert outcome.code == 4, outcome.text
        assert "nothing_like_it" in outcome.text
        assert "fused_a" not in (root / "pkg/__init__.py").read_text()


# --- what is not there ---


@pytest.mark.parametrize(
    ("package", "reason"),
    [
        ("nothing", "no package nothing"),
        ("pkgs", "did you mean pkg"),
        ("pkg.sub", "is a module, not a package"),
        ("other.pkg", "did you mean pkg"),
        ("spaces", "namespace package"),
    ],
)
def test_an_unknown_package_is_named_with_a_way_out(package: str, reason: str) -> None:
    with tree({**PKG, "spaces/inner.py": "A = 1\n"}) as root:
        outcome = narrow(root, package, "sym")
        assert outcome.code == 3, outcome.text
        assert reason in outcome.text
        assert "Traceback" not in outcome.text


def test_an_unknown_symbol_is_an_error() -> None:
    check_refused(PKG, "pkg", "nothing", "has no name nothing", exit_code=3)


def test_a_near_miss_suggests_the_name() -> None:
    check_refused(
        {**PKG, "pkg/__init__.py": "from .sub import symbol\n"}, "pkg", "symbl", "did you mean symbol", exit_code=3
    )


def test_an_unknown_symbol_that_is_a_submodule_is_told_apart() -> None:
    check_refused(PKG, "pkg", "subs", "no name subs", exit_code=3)
    check_refused({**PKG, "pkg/extra.py": ""}, "pkg", "extra", "is a submodule of that name", exit_code=3)


def test_a_star_that_cannot_be_read_is_named() -> None:
    # it may bring the name, whatever a submodule defines
    check_refused({**PKG, "pkg/__init__.py": "from numpy import *\n"}, "pkg", "sym", "numpy", exit_code=3)


# --- layouts ---


@pytest.mark.parametrize("root", ["src", "lib/python", "backend"])
def test_a_source_root_below_the_top_is_found(root: str) -> None:
    files = {f"{root}/{path}": text for path, text in PKG.items()} | {
        "tests/test_it.py": "from pkg import sym\n\nprint(sym(2))\n"
    }
    after = {
        f"{root}/pkg/__init__.py": NARROWED["pkg/__init__.py"],
        "tests/test_it.py": "from pkg.sub import sym\n\nprint(sym(2))\n",
    }
    check_rewritten(
        files,
        "pkg",
        "sym",
        after,
        roots=[root],
        run=["import runpy; runpy.run_path('tests/test_it.py')"],
        unloaded=["pkg.sub"],
    )


def test_a_package_inside_a_namespace_package_is_found() -> None:
    files = {f"space/{path}": text for path, text in PKG.items()} | {
        "other/space/app.py": "from space.pkg import sym\n\nprint(sym(2))\n"
    }
    after = {
        "space/pkg/__init__.py": NARROWED["pkg/__init__.py"],
        "other/space/app.py": "from space.pkg.sub import sym\n\nprint(sym(2))\n",
    }
    check_rewritten(
        files, "space.pkg", "sym", after, roots=[".", "other"], run=["space.app"], unloaded=["space.pkg.sub"]
    )


def test_two_packages_of_one_name_are_ambiguous_until_one_is_named() -> None:
    files = {f"one/{path}": text for path, text in PKG.items()} | {f"two/{path}": text for path, text in PKG.items()}
    check_refused(files, "pkg", "sym", "--source-root", exit_code=3, at="one/pkg/__init__.py")
    after = {"two/pkg/__init__.py": NARROWED["pkg/__init__.py"]}
    check_rewritten(files, "pkg", "sym", after, options=["--source-root", "two"], roots=["two"], unloaded=["pkg.sub"])


def test_a_script_whose_neighbour_shadows_the_package_is_left_alone() -> None:
    files = {
        **PKG,
        "scripts/pkg.py": "def sym():\n    return 'neighbour'\n",
        "scripts/run.py": "from pkg import sym\n\nprint(sym())\n",
    }
    check_rewritten(files, "pkg", "sym", dict(NARROWED), unloaded=["pkg.sub"])


def test_files_that_git_ignores_virtual_environments_and_builds_are_left_alone() -> None:
    user = "from pkg import sym\n"
    files = {
        **PKG,
        ".gitignore": "ignored/\n",
        "ignored/a.py": user,
        "venv/pyvenv.cfg": "home = /usr\n",
        "venv/lib/a.py": user,
        "node_modules/x/a.py": user,
        "build/lib/a.py": user,
        "__pycache__/a.py": user,
        "here.py": user,
    }
    check_rewritten(files, "pkg", "sym", {**NARROWED, "here.py": "from pkg.sub import sym\n"})


# --- done already ---


def test_a_row_in_the_record_says_that_it_is_done() -> None:
    record = 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'
    check_unchanged(
        {**PKG, "pkg/__init__.py": "from .light import light\n", "narrowed.toml": record},
        "pkg",
        "sym",
        says="already narrowed",
    )


def test_a_new_caller_of_a_narrowed_symbol_is_moved() -> None:
    record = 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'
    files = {
        **PKG,
        "pkg/__init__.py": "from .light import light\n",
        "narrowed.toml": record,
        "new.py": "from pkg import sym\n",
    }
    check_rewritten(files, "pkg", "sym", {"new.py": "from pkg.sub import sym\n"})


def test_a_same_name_symbol_narrowed_without_a_record_is_done_too() -> None:
    files = {"pkg/__init__.py": "A = 1\n", "pkg/sym.py": "def sym():\n    pass\n"}
    check_unchanged(files, "pkg", "sym", says="already narrowed|nothing to change", options=["--no-ban"])


def test_a_run_without_a_record_can_be_repeated() -> None:
    check_rewritten(
        {**PKG, "main.py": "from pkg import sym\n"},
        "pkg",
        "sym",
        {**NARROWED, "main.py": "from pkg.sub import sym\n"},
        options=["--no-ban"],
    )


def test_the_record_gets_one_sorted_row_a_symbol() -> None:
    with tree(
        {
            **MANY,
            "narrowed.toml": 'version = 1\n\n[symbols]\n"pkg:zeta" = { origin = "pkg.z:zeta", allow = ["tests/**"] }\n',
        }
    ) as root:
        assert narrow(root, "pkg", "plain", "fused_b").code == 0
        assert (root / "narrowed.toml").read_text() == (
            "version = 1\n\n[symbols]\n"
            '"pkg:fused_b" = { origin = "pkg.b:fused_b" }\n'
            '"pkg:plain" = { origin = "pkg.a:plain" }\n'
            '"pkg:zeta" = { origin = "pkg.z:zeta", allow = ["tests/**"] }\n'
        )


GONE: Tree = {"pkg/__init__.py": "", "pkg/sub.py": "def sym():\n    return 1\n"}
ROW = 'version = 1\n\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'


@pytest.mark.parametrize(
    "text",
    [
        "from pkg import sym\n",
        "try:\n    from pkg import sym\nexcept ImportError:\n    sym = None\n",
        "import contextlib\n\nwith contextlib.suppress(ImportError):\n    from pkg import sym\n",
        "import pkg\n\n\ndef f():\n    return pkg.sym()\n",
        "import pkg\n\nsetattr(pkg, 'sym', 1)\nprint(pkg.sym)\n",
    ],
)
def test_where_a_name_came_from_is_never_guessed_if_somebody_reads_it(text: str) -> None:
    files: Tree = {**GONE, "a.py": text}
    reason = r"pkg has no name sym; pkg\.sub is the one module below it that defines one"
    check_refused(files, "pkg", "sym", reason, exit_code=3, at="pkg/__init__.py:1")


def test_the_row_that_is_asked_for_settles_it() -> None:
    with tree({**GONE, "a.py": "from pkg import sym\n"}) as root:
        assert f"`{ROW.splitlines()[-1]}`" in narrow(root, "pkg", "sym").text
        (root / "narrowed.toml").write_text(ROW)
        assert narrow(root, "pkg", "sym").code == 0
        assert (root / "a.py").read_text() == "from pkg.sub import sym\n"


def test_a_guess_that_changes_nothing_is_no_error_and_leaves_no_row() -> None:
    check_unchanged(GONE, "pkg", "sym")


def test_keep_going_narrows_the_others() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .other import other\n",
        "pkg/sub.py": "def sym(): ...\n",
        "pkg/other.py": "def other(): ...\n",
        "a.py": "try:\n    from pkg import sym\nexcept ImportError:\n    sym = None\nfrom pkg import other\n",
    }
    with tree(files) as root:
        outcome = narrow(root, "pkg", "sym", "other", "--keep-going")
        assert outcome.code == 4 and "pkg.sub is the one module below it" in outcome.text
        text = (root / "a.py").read_text()
        assert "from pkg import sym" in text and "from pkg.other import other" in text
        assert "pkg:sym" not in (root / "narrowed.toml").read_text()
