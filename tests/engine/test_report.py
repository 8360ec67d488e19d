"""Diffs that git takes byte for byte, annotations, columns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codemods.engine.errors import BadConfiguration
from codemods.engine.model import FileChange, Site
from codemods.engine.report import annotation, columns, counted, diff, error_lines, paint

CHANGES = (
    FileChange("plain.py", b"a\nb\nc\n", b"a\nB\nc\n"),
    FileChange("crlf.py", b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nB2\r\nc\r\n"),
    FileChange("mixed.py", b"a\r\nb\nc\r\n", b"a\r\nb2\nc\r\n"),
    FileChange("cr.py", b"a\rb\rc\r", b"a\rB\rc\r"),
    FileChange("latin.py", b"# caf\xe9\nx\n", b"# caf\xe9\ny\n"),
    FileChange("bom.py", b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nB\n"),
    FileChange("noeol.py", b"a\nb", b"a\nB"),
    FileChange("gains.py", b"a\nb", b"a\nB\n"),
    FileChange("loses.py", b"a\nb\n", b"a\nB"),
    FileChange("empties.py", b"a\n", b""),
    FileChange("with space.py", b"a\n", b"b\n"),
    FileChange("größe/日本.py", b"a\n", b"b\n"),
    FileChange('quo"te\\.py', b"a\n", b"b\n"),
    FileChange("tab\there.py", b"a\n", b"b\n"),
    FileChange("nul.bin", b"a\x00\nb\n", b"a\x00\nc\n"),
    FileChange("form\x0cfeed.py", b"a\x0c\nb\x0bc\x85\xe2\x80\xa8d\n", b"a\x0c\nb\x0bc\x85\xe2\x80\xa8e\n"),
    FileChange("dashes.py", b"-- a\n++ b\n", b"-- a\n++ c\n"),
    FileChange("new file.toml", b"", b"version = 1\n"),
    FileChange(
        "far.py",
        b"".join(b"%d\n" % n for n in range(100)),
        b"".join(b"%d\n" % (n if n not in (3, 90) else -n) for n in range(100)),
    ),
)


def lay(root: Path, changes: tuple[FileChange, ...]) -> None:
    for change in changes:
        if change.before:
            (root / change.path).parent.mkdir(parents=True, exist_ok=True)
            (root / change.path).write_bytes(change.before)


def apply(root: Path, patch: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=root, input=patch, capture_output=True)


def test_one_patch_of_all_changes_applies_with_git(tmp_path: Path) -> None:
    lay(tmp_path, CHANGES)
    done = apply(tmp_path, b"".join(diff(change) for change in CHANGES))
    assert done.returncode == 0, done.stderr.decode()
    assert {change.path: (tmp_path / change.path).read_bytes() for change in CHANGES} == {
        change.path: change.after for change in CHANGES
    }


def test_each_change_applies_alone(tmp_path: Path) -> None:
    # one patch may not lean on another
    for number in (1, 4, 6, 9, 11, 12, 17):
        root = tmp_path / str(number)
        root.mkdir()
        change = CHANGES[number]
        lay(root, (change,))
        done = apply(root, diff(change))
        assert done.returncode == 0, (change.path, done.stderr.decode())
        assert (root / change.path).read_bytes() == change.after


def test_a_diff_that_empties_a_file_keeps_the_file(tmp_path: Path) -> None:
    change = FileChange("pkg/__init__.py", b"from .sub import sym\n", b"")
    lay(tmp_path, (change,))
    assert apply(tmp_path, diff(change)).returncode == 0
    assert (tmp_path / "pkg/__init__.py").read_bytes() == b""


def test_a_diff_that_fills_an_empty_file_does_not_create_it(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_bytes(b"")
    done = apply(tmp_path, diff(FileChange("narrowed.toml", b"", b"version = 1\n")))
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "narrowed.toml").read_bytes() == b"version = 1\n"


def test_a_diff_looks_like_gits() -> None:
    assert diff(FileChange("a b.py", b"x\ny", b"x\nz")) == (
        b"diff --git a/a b.py b/a b.py\n--- a/a b.py\t\n+++ b/a b.py\t\n"
        b"@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n"
        b"\\ No newline at end of file\n"
    )


def test_an_annotation_escapes_what_github_reads() -> None:
    line = annotation("error", Site("a,b:c.py", 3, 4, ""), "a: b", "50 % of\nlines")
    assert line == "::error file=a%2Cb%3Ac.py,line=3,col=5,title=a%3A b::50 %25 of%0Alines"


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (5601, "5,601 files")])
def test_numbers_agree_with_their_nouns(number: int, text: str) -> None:
    assert counted(number, "file") == text


def test_columns_line_up() -> None:
    assert columns([("a", "1"), ("long.py", "2"), ("b", "")]) == ["  a        1", "  long.py  2", "  b"]


def test_an_error_shows_place_reason_source_line_and_way_out() -> None:
    error = BadConfiguration("unknown key `x`", path="a.toml", line=3, text="x = 1", hint="known: y")
    assert error_lines(error, lambda text, style: text) == [
        "error: a.toml:3: unknown key `x`",
        "    x = 1",
        "    known: y",
    ]
    shown = error_lines(
        BadConfiguration("bad", path="a.toml"), paint, shown=lambda path: f"../{path}", lead="way out: "
    )
    assert shown == ["\x1b[31m\x1b[1merror\x1b[0m: ../a.toml: bad"]
    assert error_lines(BadConfiguration("bad", hint="h"), lambda t, s: t, lead="way out: ")[1] == "    way out: h"
