"""Rows of a package that is installed beside the tree: `narrow-reexport --from-shims` writes them where it is used."""

from __future__ import annotations

import pytest

from tests.check_narrowed.verbs import rows, run
from tests.narrow_reexport.verbs import Tree, expect_tree, tree

ROWS = rows("lib:Thing=lib.core.thing:Thing", "lib.ops:fuse=lib.ops.fuse:fuse")
WRITE = "lib:Thing was narrowed to lib.core.thing:Thing: write"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("from lib import Thing\n", [f"app/a.py:1:17: {WRITE} `from lib.core.thing import Thing`"]),
        ("import lib\n\nprint(lib.Thing)\n", [f"app/a.py:3:7: {WRITE} `lib.core.thing.Thing`"]),
        ("from app import lib as there\n\nthere.Thing()\n", [f"app/a.py:3:1: {WRITE} `lib.core.thing.Thing`"]),
        (
            "from unittest.mock import patch\n\npatch('lib.Thing')\n",
            [f'app/a.py:3:7: {WRITE} `"lib.core.thing.Thing"`'],
        ),
        (
            "import lib.ops\n\nlib.ops.fuse(1)\n",
            ["app/a.py:3:1: lib.ops:fuse was narrowed to lib.ops.fuse:fuse: write `lib.ops.fuse.fuse`"],
        ),
        ("from lib.core.thing import Thing\nfrom lib import other\nfrom lib.ops.fuse import fuse\n", []),
        ("from other.lib import Thing\n", []),
    ],
)
def test_call_sites_are_told_as_in_the_packages_own_tree(text: str, told: list[str]) -> None:
    with tree({"narrowed.toml": ROWS, "app/__init__.py": "import lib\n", "app/a.py": text}) as root:
        found = run(root)
        assert [line for line in found.out.splitlines() if line.startswith("app/")] == told
        assert found.code == bool(told)


def test_a_fix_is_left_to_the_command_that_knows_the_package() -> None:
    files: Tree = {"narrowed.toml": ROWS, "a.py": "from lib import Thing\nfrom lib.ops import fuse\n\nfuse(1)\n"}
    with tree(files) as root:
        found = run(root, "--fix")
        assert found.code == 1
        assert "not fixed: lib is not in this tree" in found.out
        assert "run narrow-reexport --from-shims lib\n" in found.out
        expect_tree(root, files, record=False)


def test_its_rows_are_never_stale_and_a_package_of_the_tree_is_none_of_them() -> None:
    files: Tree = {"narrowed.toml": ROWS, "a.py": "from lib import Thing\n"}
    with tree(files) as root:
        assert "every row still guards something" in run(root, "--prune").out
    with tree({**files, "src/lib/core/thing.py": "class Thing: ...\n"}) as root:
        assert "the package lib is gone" in run(root).text


def test_rows_of_the_tree_and_of_outside_stand_side_by_side() -> None:
    files: Tree = {
        "narrowed.toml": rows("lib:Thing=lib.core.thing:Thing", "pkg:sym=pkg.sub:sym"),
        "pkg/__init__.py": "",
        "pkg/sub.py": "def sym(): ...\n",
        "a.py": "from lib import Thing\nfrom pkg import sym\n",
    }
    with tree(files) as root:
        assert [line[:9] for line in run(root).out.splitlines() if line.startswith("a.py")] == [
            "a.py:1:17",
            "a.py:2:17",
        ]


@pytest.mark.parametrize(
    "text",
    [
        "from lib import helpers\n\nhelpers.Thing()\n",
        "import lib.helpers as h\n\nh.Thing()\n",
        "from lib.core import thing\n\nthing.Thing()\n",
        "from lib.core.thing import make\n\nmake.Thing()\n",
        "from lib.core.thing import *\n\nThing()\n",
    ],
)
def test_other_modules_of_the_package_are_not_looked_for_here(text: str) -> None:
    with tree({"narrowed.toml": ROWS, "a.py": text}) as root:
        found = run(root)
        assert (found.code, found.stderr) == (0, b""), found.text


@pytest.mark.parametrize("path", ["python/lib/ops.py", "tests/lib.py", "lib.pyx"])
def test_code_of_the_tree_that_may_be_the_package_makes_its_rows_no_bans(path: str) -> None:
    files: Tree = {
        "narrowed.toml": ROWS,
        path: "def fuse(): ...\n",
        "tests/a.py": "from lib.ops import fuse\n\nfuse()\n",
    }
    with tree(files) as root:
        told = run(root)
        assert told.code == 0, told.text
        assert f"the rows of lib.ops guard nothing here: {path} may be of it" in told.out


def test_stubs_of_the_installed_package_are_no_package_of_the_tree() -> None:
    stubs = dict.fromkeys(
        ("lib-stubs/__init__.pyi", "typings/lib/__init__.pyi"), "from .core.thing import Thing as Thing\n"
    )
    with tree({"narrowed.toml": ROWS, "a.py": "from lib import Thing\n", **stubs}) as root:
        found = run(root)
        assert [line.partition(":")[0] for line in found.out.splitlines()[:1]] == ["a.py"]
        assert "1 offence in 1 file" in found.out


@pytest.mark.parametrize("first", ["lib", "lib.core.thing"])
def test_a_try_that_tells_releases_apart_is_none(first: str) -> None:
    second = {"lib": "lib.core.thing", "lib.core.thing": "lib"}[first]
    text = f"try:\n    from {first} import Thing\nexcept ImportError:\n    from {second} import Thing\n"
    with tree({"narrowed.toml": ROWS, "a.py": text}) as root:
        assert run(root).code == 0, run(root).text


def test_the_last_line_names_a_way_that_there_is() -> None:
    with tree({"narrowed.toml": ROWS, "a.py": "from lib import Thing\n"}) as root:
        assert "or run narrow-reexport --from-shims lib" in run(root).out.splitlines()[-1]
        assert "--fix" not in run(root).out
