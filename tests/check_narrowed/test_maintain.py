"""Rows that come, go and are renamed; a baseline that is written once and falls from then on; ruff's rows."""

from __future__ import annotations

import json

import pytest

from tests.check_narrowed.verbs import rows, run
from tests.narrow_reexport.verbs import as_bytes, contents, expect_tree, tree

FILES = {
    "pkg/__init__.py": "from .sub import sym, other\nfrom . import mod\n",
    "pkg/sub.py": "def sym(): ...\ndef other(): ...\n",
    "pkg/mod.py": "",
    "a.py": "from pkg import sym, other\n",
    "b.py": "import pkg\npkg.sym()\npkg.sym()\n",
}
ROWS = """\
# ours
version = 1

[symbols]
"pkg:gone" = { origin = "pkg.old:gone" }  # why
# about sym
"pkg:sym" = {origin="pkg.sub:sym"}
"""


def accepted(data: bytes) -> dict[str, dict[str, int]]:
    return json.loads(data)["accepted"]


def test_a_symbol_is_banned_before_anybody_moves() -> None:
    with tree(FILES) as root:
        told = run(root, "--add", "pkg:sym", "pkg:mod")
        assert told.code == 0, told.text
        assert "pkg:sym is banned now: it is to be imported from pkg.sub:sym" in told.out
        assert "5 offences in 3 files today" in told.out
        expect_tree(root, {**FILES, "narrowed.toml": contents(root)["narrowed.toml"]})
        assert (
            contents(root)["narrowed.toml"]
            .decode()
            .endswith('"pkg:mod" = { origin = "pkg:mod" }\n"pkg:sym" = { origin = "pkg.sub:sym" }\n')
        )
        assert run(root).code == 1
        again = run(root, "--add", "pkg:sym")
        assert (again.code, "has a row already" in again.out) == (0, True)


@pytest.mark.parametrize(
    ("symbol", "code", "reason"),
    [("pkg:nothing", 3, "nothing"), ("nopkg:x", 3, "no package nopkg"), ("pkg.sym", 2, "--add takes PKG:SYMBOL")],
)
def test_what_cannot_be_banned_writes_nothing(symbol: str, code: int, reason: str) -> None:
    with tree(FILES) as root:
        told = run(root, "--add", "pkg:sym", "--add", symbol)
        assert (told.code, reason in told.text) == (code, True), told.text
        expect_tree(root, FILES, record=False)


def test_todays_offences_are_accepted_and_only_fall() -> None:
    with tree(FILES) as root:
        assert run(root, "--add", "pkg:sym", "--baseline", "base.json").code == 0
        data = contents(root)["base.json"]
        assert accepted(data) == {"pkg:sym": {"a.py": 1, "b.py": 2, "pkg/__init__.py": 1}}
        option = ("--baseline", "base.json")
        clean = run(root, *option)
        assert (clean.code, "4 offences accepted by base.json" in clean.out) == (0, True)
        assert run(root).code == 1  # without the baseline

        (root / "b.py").write_text("import pkg\npkg.sym()\npkg.sym()\npkg.sym()\n")
        more = run(root, *option)
        assert more.code == 1
        assert [line.partition(": ")[0] for line in more.out.splitlines()[:4]] == [
            "b.py:2:1",
            "b.py:3:1",
            "b.py:4:1",
            "",
        ]
        assert run(root, *option, "--update-baseline").code == 1
        assert contents(root)["base.json"] == data  # no number rises

        (root / "b.py").write_text("import pkg\npkg.sym()\n")
        less = run(root, *option)
        assert (less.code, "base.json can shrink by 1" in less.out) == (0, True)
        assert "can shrink" not in run(root, *option, "a.py").out
        assert run(root, *option, "--update-baseline").code == 0
        assert accepted(contents(root)["base.json"])["pkg:sym"]["b.py"] == 1
        assert run(root, *option, "--add", "pkg:other").code == 0
        assert accepted(contents(root)["base.json"])["pkg:other"] == {"a.py": 1, "pkg/__init__.py": 1}


def test_the_baseline_may_stand_in_the_configuration() -> None:
    config = '[tool.codemods.check_narrowed]\nbaseline = "ci/base.json"\n'
    with tree({**FILES, "pyproject.toml": config, "ci/readme.txt": ""}) as root:
        assert run(root, "--add", "pkg:sym").code == 0
        assert run(root).code == 0
        assert run(root / "ci", "..").code == 0
        (root / "ci" / "base.json").unlink()
        missing = run(root)
        assert (missing.code, "baseline cannot be read" in missing.text) == (3, True)
        (root / "ci" / "base.json").write_text("{}")
        assert run(root).code == 3


def test_an_accepted_reexport_is_not_taken_out_by_a_fix() -> None:
    with tree(FILES) as root:
        run(root, "--add", "pkg:sym", "--baseline", "base.json")
        (root / "c.py").write_text("from pkg import sym\n")
        assert run(root, "--baseline", "base.json", "--fix").code == 0
        assert contents(root)["pkg/__init__.py"] == as_bytes(FILES["pkg/__init__.py"])
        assert contents(root)["c.py"] == b"from pkg.sub import sym\n"
        assert contents(root)["a.py"] == as_bytes(FILES["a.py"])


def test_rows_that_guard_nothing_are_taken_out() -> None:
    with tree({**FILES, "narrowed.toml": ROWS}) as root:
        stale = run(root)
        assert (stale.code, "narrowed.toml:5: the origin pkg.old:gone of pkg:gone is gone" in stale.text) == (3, True)
        shown = run(root, "--prune", "--diff")
        assert (shown.code, b'-"pkg:gone"' in shown.stdout) == (0, True)
        assert run(root).code == 3
        assert run(root, "--prune").code == 0
        assert contents(root)["narrowed.toml"].decode() == ROWS.replace(
            '"pkg:gone" = { origin = "pkg.old:gone" }  # why\n', ""
        )
        assert "every row still guards something" in run(root, "--prune").out


def test_rows_follow_a_module_that_was_renamed() -> None:
    files = {**FILES, "pkg/new.py": "def gone(): ...\n", "narrowed.toml": ROWS}
    with tree(files) as root:
        wrong = run(root, "--rename", "pkg.old", "pkg.nowhere")
        assert (wrong.code, "there is no module pkg.nowhere" in wrong.text) == (3, True)
        assert run(root, "--rename", "pkg.other", "pkg.new").code == 3
        expect_tree(root, files)
        assert run(root, "--rename", "pkg.old", "pkg.new").code == 0
        assert contents(root)["narrowed.toml"].decode() == ROWS.replace("pkg.old", "pkg.new")
        assert run(root, "--rename", "pkg.new:gone", "pkg.sub:other").code == 0
        assert contents(root)["narrowed.toml"].decode() == ROWS.replace("pkg.old:gone", "pkg.sub:other")


def test_ruff_gets_rows() -> None:
    pytest.importorskip("tomlkit")
    config = "[tool.ruff]\nline-length = 100  # wide\n"
    with tree({**FILES, "narrowed.toml": rows("pkg:sym"), "pyproject.toml": config}) as root:
        shown = run(root, "--emit", "ruff", "--diff")
        assert (shown.code, contents(root)["pyproject.toml"].decode()) == (0, config)
        assert b"+" in shown.stdout
        assert run(root, "--emit", "ruff").code == 0
        written = contents(root)["pyproject.toml"].decode()
        assert written.startswith(config) and "pkg.sym" in written
