"""The rows for ruff: which there are, how they get into somebody's settings, and what the real ruff makes of them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from codemods.check_narrowed.guard import Guard, read_rows
from codemods.check_narrowed.ruff_rows import ruff_file, with_ruff_rows
from codemods.check_narrowed.verdicts import offences
from codemods.engine.errors import BadConfiguration

ROWS = """\
version = 1

[symbols]
"pkg:b" = { origin = "pkg.sub:b" }
"pkg:d" = { origin = "pkg.sub:_d" }
"""
B = '"pkg.b".msg = "it was narrowed to pkg.sub:b: write `from pkg.sub import b`"\n'
D = '"pkg.d".msg = "it was narrowed to pkg.sub:_d: write `from pkg.sub import _d as d`"\n'
HEADER = "[tool.ruff.lint.flake8-tidy-imports.banned-api]\n"
SELECTED = '[tool.ruff.lint]\nextend-select = ["TID251"]\n'
TREE = {
    "pkg/__init__.py": "",
    "pkg/sub.py": "def b(): ...\ndef _d(): ...\n",
    "pkg/fused.py": "def fused(): ...\n",
}


def laid(root: Path, files: Mapping[str, str], rows: str = ROWS) -> Guard:
    for path, text in {**TREE, "narrowed.toml": rows, **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
    return Guard(root, read_rows(root))


def emitted(root: Path, before: str, rows: str = ROWS, path: str = "pyproject.toml") -> tuple[str, tuple[str, ...]]:
    """The new text and the notes; a second pass changes nothing and says the same."""
    guard = laid(root, {path: before}, rows)
    after, notes = with_ruff_rows(before.encode(), guard, path)
    again, said = with_ruff_rows(after, guard, path)
    assert again == after
    assert [note for note in said if "extends another file" not in note] == [
        note for note in notes if "extends another file" not in note
    ]
    return after.decode(), notes


def rows_of(*names: str) -> str:
    return "version = 1\n\n[symbols]\n" + "".join(f'"pkg:{n}" = {{ origin = "pkg.sub:{n}" }}\n' for n in names)


def test_an_empty_file_gets_the_table(tmp_path: Path) -> None:
    assert emitted(tmp_path, "")[0] == HEADER + B + D


def test_a_ruff_toml_has_no_prefix(tmp_path: Path) -> None:
    for path in ("ruff.toml", ".ruff.toml"):
        assert emitted(tmp_path, "", path=path)[0] == HEADER.replace("tool.ruff.", "") + B + D


def test_other_settings_keep_every_byte(tmp_path: Path) -> None:
    before = f'# ours\n[project]\nname   = "x" # why\n\n[tool.ruff]\nline-length=99\n\n{SELECTED}\n[tool.mypy]\nstrict = true\n'
    after, _ = emitted(tmp_path, before)
    assert after.replace(f"{HEADER}{B}{D}\n", "") == before


def test_rows_of_others_stay_and_ours_are_sorted_among_ours(tmp_path: Path) -> None:
    before = f"""{HEADER}# about z
"zzz".msg = "not this"  # said z
{D}# about a
"aaa".msg = 'nor this'

[tool.mypy]
"""
    rows = ROWS + '"pkg:c" = { origin = "pkg.sub:c" }\n"pkg:e" = { origin = "pkg.sub:e" }\n'
    c, e = B.replace("b`", "c`").replace(".b", ".c").replace(":b", ":c"), ""
    e = c.replace("c`", "e`").replace(".c", ".e").replace(":c", ":e")
    assert emitted(tmp_path, before, rows)[0] == before.replace(D, B + c + D + e)


def test_a_row_that_is_no_longer_narrowed_goes_and_a_moved_one_is_updated(tmp_path: Path) -> None:
    gone = B.replace(".b", ".gone").replace(":b", ":gone").replace("b`", "gone`")
    stale = D.replace("pkg.sub", "pkg.older").rstrip("\n") + "  # kept\n"
    before = f'{HEADER}"aaa".msg = "mine"\n{B}{stale}{gone}"zzz".msg = "mine"\n'
    expected = f'{HEADER}"aaa".msg = "mine"\n{B}{D.rstrip()}  # kept\n"zzz".msg = "mine"\n'
    assert emitted(tmp_path, before)[0] == expected


def test_without_rows_ours_are_taken_out(tmp_path: Path) -> None:
    before = f'{HEADER}"aaa".msg = "mine"\n{B}'
    assert emitted(tmp_path, before, "version = 1\n")[0] == f'{HEADER}"aaa".msg = "mine"\n'
    assert emitted(tmp_path, "# nothing\n", "version = 1\n") == ("# nothing\n", ())


def test_a_row_of_somebody_else_for_the_same_name_wins(tmp_path: Path) -> None:
    before = f'{HEADER}"pkg.b" = {{ msg = "ask Ann" }}\n'
    after, notes = emitted(tmp_path, before)
    assert after == before + D
    assert "pkg.b has a row that is not ours already: it stays as it is" in notes


@pytest.mark.parametrize(
    "before",
    [
        '[tool.ruff.lint]\nselect = []\nflake8-tidy-imports.banned-api."a".msg = "x"\n',
        f'{HEADER[:-2]}."a"]\nmsg = "x"\n\n[tool.mypy]\n',
        "[tool.ruff.lint.flake8-tidy-imports]\nban-relative-imports = 'all'\n\n[tool.ruff.lint.isort]\ncase-sensitive = true\n",
        "[tool]\nruff.line-length = 9\n[tool.mypy]\n",
        "[tool.ruff]\nlint.select = []\n[tool.mypy]\n",
        "[tool.ruff.lint.flake8-tidy-imports]\nbanned-api = { a = { msg = 'x' } }\n",
        "tool = { ruff = { line-length = 9 } }\n",
    ],
)
def test_every_layout_is_edited_soundly_or_refused(tmp_path: Path, before: str) -> None:
    try:
        after, _ = emitted(tmp_path, before)
    except BadConfiguration as error:
        assert "laid out" in error.detail
        assert HEADER.strip() in error.hint
        return
    assert B.strip() in after
    assert [line for line in before.splitlines() if line and line not in after.splitlines()] == []


def test_the_common_layouts_are_not_refused(tmp_path: Path) -> None:
    for before in (SELECTED, HEADER, f"{SELECTED}\n{HEADER}", "[tool.ruff]\n", "[project]\nname = 'x'\n"):
        assert B + D in emitted(tmp_path, before)[0]


def test_line_endings_stay(tmp_path: Path) -> None:
    before = f'{SELECTED}\n{HEADER}"aaa".msg = "mine"\n'.replace("\n", "\r\n")
    after, _ = emitted(tmp_path, before)
    assert after == before + (B + D).replace("\n", "\r\n")


def test_the_old_place_is_used_where_the_rows_of_others_are_there(tmp_path: Path) -> None:
    before = '[tool.ruff.flake8-tidy-imports.banned-api]\n"aaa".msg = "mine"\n'
    assert emitted(tmp_path, before)[0] == before + B + D


def test_what_ruff_gets_wrong_is_left_out_and_said(tmp_path: Path) -> None:
    rows = """\
version = 1

[symbols]
"far:f" = { origin = "far.f.impl:f" }
"pkg:b" = { origin = "pkg.sub:b", lazy = true }
"pkg:d" = { origin = "pkg.sub:_d", allow = ["tests/**", "x.py"] }
"pkg:fused" = { origin = "pkg.fused:fused" }
"pkg:sub" = { origin = "pkg:sub" }
"""
    after, notes = emitted(tmp_path, SELECTED, rows)
    assert after == f"{SELECTED}\n{HEADER}{B}"
    assert notes[:4] == (
        "far.f is left out: it is a module too, and TID251 flags the right `from far.f.impl import f`",
        "pkg.d is left out: it is allowed in tests/**, x.py, and ruff knows no exceptions for one name",
        "pkg.fused is left out: it is a module too, and TID251 flags the right `from pkg.fused import fused`",
        "pkg.sub is left out: it is a submodule, which everybody may import",
    )
    assert "`__init__`, star imports, names in strings" in notes[4]
    assert len(notes) == 5


def test_an_origin_that_was_narrowed_too_is_never_recommended(tmp_path: Path) -> None:
    after, _ = emitted(tmp_path, "", f'{ROWS}"outer:b" = {{ origin = "pkg:b" }}\n')
    assert after == HEADER + B.replace('"pkg.b"', '"outer.b"') + B + D


@pytest.mark.parametrize(
    ("settings", "is_selected"),
    [
        ("", False),
        ("[tool.ruff.lint]\nselect = ['ALL']\n", True),
        ("[tool.ruff.lint]\nselect = ['TID']\nignore = ['TID2']\n", False),
        ("[tool.ruff.lint]\nselect = ['TID251']\nignore = ['TID']\n", True),
        ("[tool.ruff.lint]\nextend-select = ['TID25']\n", True),
        ("[tool.ruff]\nselect = ['TID']\n", True),
        ("[tool.ruff.lint]\nselect = ['E']\n", False),
    ],
)
def test_whether_ruff_looks_at_the_rows_is_said_as_ruff_sees_it(
    tmp_path: Path, settings: str, is_selected: bool
) -> None:
    after, notes = emitted(tmp_path, settings)
    assert any("does not select TID251" in note for note in notes) is not is_selected
    (tmp_path / "pyproject.toml").write_text(after, encoding="utf-8")
    (tmp_path / "main.py").write_text("from pkg import b\n", encoding="utf-8")
    assert ("main.py" in flagged(tmp_path)) is is_selected


def test_files_that_ruff_judges_otherwise_are_said(tmp_path: Path) -> None:
    laid(tmp_path, {"docs/ruff.toml": "", "app/pyproject.toml": "[tool.ruff]\n", "lib/pyproject.toml": "[project]\n"})
    before = (
        "[tool.ruff]\nextend = 'base.toml'\n[tool.ruff.lint.per-file-ignores]\n'tests/**' = ['TID']\n'x' = ['E501']\n"
    )
    notes = "\n".join(emitted(tmp_path, before)[1])
    assert "docs/ruff.toml holds settings of its own" in notes
    assert "app/pyproject.toml holds settings of its own" in notes
    assert "lib/pyproject.toml" not in notes
    assert "pyproject.toml ignores TID251 in tests/**" in notes
    assert "ignores TID251 in x" not in notes
    assert "extends another file" in notes


def test_broken_settings_are_named_with_the_line(tmp_path: Path) -> None:
    guard = laid(tmp_path, {})
    for text, line in (("[tool.ruff]\nx =\n", 2), (f"\n[tool.ruff.lint]\n{'flake8-tidy-imports'} = 3\n", 3)):
        with pytest.raises(BadConfiguration) as caught:
            with_ruff_rows(text.encode(), guard, "pyproject.toml")
        assert (caught.value.path, caught.value.line) == ("pyproject.toml", line)


def test_without_tomlkit_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = laid(tmp_path, {})
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(BadConfiguration, match="tomlkit, which is not installed") as caught:
        with_ruff_rows(b"", guard, "pyproject.toml")
    assert caught.value.hint == 'pip install "codemods[ruff]"'
    data = (HEADER + B + D).encode()
    assert with_ruff_rows(data, guard, "pyproject.toml")[0] == data  # nothing to write


def test_the_file_is_the_one_that_ruff_reads(tmp_path: Path) -> None:
    assert ruff_file(tmp_path) == "pyproject.toml"
    for name in ("pyproject.toml", "ruff.toml", ".ruff.toml"):
        (tmp_path / name).write_text("", encoding="utf-8")
        assert ruff_file(tmp_path) == name


# The real ruff


def flagged(root: Path) -> dict[str, set[int]]:
    """The lines that `ruff check` reports as TID251, by file."""
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("ruff is not installed")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "json", str(root)]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode in (0, 1), run.stderr
    found: dict[str, set[int]] = {}
    for each in json.loads(run.stdout):
        if each["code"] == "TID251":
            path = Path(each["filename"]).resolve().relative_to(root.resolve()).as_posix()
            found.setdefault(path, set()).add(each["location"]["row"])
    return found


FILES = {
    "app/__init__.py": "",
    "app/wrong.py": """\
import pkg
import pkg as p
from pkg import b
from pkg import (
    sub,
    d as other,
)
def late():
    from pkg import b
    return pkg.b, p.d
""",
    "app/right.py": """\
import pkg.sub
from pkg import sub, fused
from pkg.sub import b, _d as d
from pkg.fused import fused as f
import pkg.fused as m
print(pkg.sub.b, sub.b, m.fused, f, fused.fused)
""",
    "pkg/near.py": "from . import b\nfrom .sub import b as right\nfrom .fused import fused\n",
}


def test_the_real_ruff_flags_what_the_guard_flags_and_no_right_import(tmp_path: Path) -> None:
    rows = ROWS + '"pkg:fused" = { origin = "pkg.fused:fused" }\n"pkg:sub" = { origin = "pkg:sub" }\n'
    after, _ = emitted(tmp_path, SELECTED, rows)
    guard = laid(tmp_path, {**FILES, "pyproject.toml": after}, rows)
    found = flagged(tmp_path)
    assert found == {"app/wrong.py": {3, 6, 9, 10}, "pkg/near.py": {1}}
    for path in FILES:
        lines = {each.site.line for each in offences(guard, path, guard.read(path))}
        assert lines == found.get(path, set()), path
