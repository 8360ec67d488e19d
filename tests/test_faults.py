"""Whole commands under faults: odd files in the tree, odd names, readers that leave, environments that lack something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Outcome, contents, narrow, outside, tree

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")
linux = pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
ROW = 'version = 1\n[symbols]\n"pkg:sym" = { origin = "pkg.sub:sym" }\n'
USED: dict[str, str | bytes] = {**PKG, "a.py": "from pkg import sym\n"}
BANNED: dict[str, str | bytes] = {**USED, "pkg/__init__.py": "from .light import light\n", "narrowed.toml": ROW}


def command(root: Path, name: str, *arguments: str, **environment: str) -> Outcome:
    return outside(root, [sys.executable, "-m", f"codemods.{name}", *arguments], environment)


@posix
@pytest.mark.parametrize("name", ["pyproject.toml", "narrowed.toml", ".codemods-journal"])
def test_a_fifo_in_the_place_of_a_file_of_ours_stops_and_never_waits(name: str) -> None:
    with tree(USED) as root:
        os.mkfifo(root / name)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 3 and name in outcome.text and "regular file" in outcome.text
        assert (root / "a.py").read_text() == "from pkg import sym\n"


@posix
def test_odd_files_in_the_tree_are_no_obstacle() -> None:
    with tree(USED) as root:
        os.mkfifo(root / "fifo.py")
        os.mkfifo(root / ".gitignore")
        os.mkfifo(root / "setup.py")
        (root / "loop.py").symlink_to("loop.py")
        (root / "around").symlink_to(".")
        (root / "zero.py").symlink_to("/dev/zero")
        (root / "q/__init__.py").mkdir(parents=True)
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert (root / "a.py").read_text() == "from pkg.sub import sym\n"


ODD_NAMES = (
    b"new\nline.py",
    b"caf\xe9.py",
    b"-x.py",
    b"a b\t.py",
    b'q"uote.py',
    b"n" * 252 + b".py",
    b"A.py",
    b"%0A:,.py",
)


@linux
def test_odd_names_are_edited_and_the_diff_says_the_same_as_the_run() -> None:
    with tree(USED) as root, tree(USED) as other:
        for folder in (root, other):
            for name in ODD_NAMES:
                (folder / os.fsdecode(name)).write_text("from pkg import sym\n")
        subprocess.run(["git", "init", "-q"], cwd=other, check=True)
        patch = command(other, "narrow_reexport", "pkg", "sym", "--diff")
        assert patch.code == 0, patch.text
        subprocess.run(["git", "apply"], cwd=other, input=patch.stdout, check=True)
        outcome = command(root, "narrow_reexport", "pkg", "sym")
        assert outcome.code == 0, outcome.text
        for name in ODD_NAMES:
            assert (root / os.fsdecode(name)).read_text() == "from pkg.sub import sym\n"
        assert contents(root) == contents(other)


@linux
@pytest.mark.parametrize("encoding", [{}, {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}])
def test_odd_names_stay_whole_in_what_machines_read(encoding: dict[str, str]) -> None:
    with tree(BANNED) as root:
        for name in ODD_NAMES:
            (root / os.fsdecode(name)).write_text("from pkg import sym\n")
        for form in ("json", "sarif"):
            outcome = command(root, "check_narrowed", "--output-format", form, **encoding)
            assert outcome.code == 1, outcome.text
            json.loads(outcome.stdout)
        said = command(root, "check_narrowed", "--output-format", "github", **encoding)
        lines = said.stdout.decode("utf-8", "replace").splitlines()
        assert all(line.startswith("::") for line in lines), lines
        assert any("new%0Aline.py" in line for line in lines) and any("%250A%3A%2C.py" in line for line in lines)
        said = command(root, "check_narrowed", **encoding)
        assert said.code == 1 and "Traceback" not in said.text


@linux
def test_odd_names_stay_whole_in_a_plan_and_in_patches() -> None:
    with tree(USED) as root, tree(USED) as other:
        for folder in (root, other):
            for name in ODD_NAMES:
                (folder / os.fsdecode(name)).write_text("from pkg import sym\n")
        assert command(root, "narrow_reexport", "pkg", "sym", "--plan-out", "../plan.json").code == 0
        made = command(other, "narrow_reexport", "pkg", "sym", "--patches", "../patches", "--author", "A B <a@b.c>")
        assert made.code == 0, made.text
        assert command(root, "narrow_reexport", "--apply", "../plan.json").code == 0
        for patch in sorted((other.parent / "patches").glob("*.patch")):
            subprocess.run(
                ["git", "apply", str(patch)], cwd=other, check=True, env={**os.environ, "GIT_DIR": "/nowhere"}
            )
        assert contents(root) == contents(other)


@posix
@pytest.mark.parametrize("name", ["narrow_reexport", "check_narrowed", "import_cost"])
def test_a_run_needs_no_home_no_git_and_no_folder_for_temporary_files(name: str) -> None:
    arguments = {"narrow_reexport": ["pkg", "sym"], "check_narrowed": [], "import_cost": ["pkg"]}[name]
    with tree(BANNED if name == "check_narrowed" else USED) as root:
        outcome = command(
            root, name, *arguments, HOME="", TMPDIR="/nowhere", PATH="/nowhere", LC_ALL="C", PYTHONUTF8="0"
        )
        assert outcome.code == (1 if name == "check_narrowed" else 0), outcome.text
        assert "Traceback" not in outcome.text


@posix
def test_a_full_disk_leaves_the_tree_as_it_was() -> None:
    # a limit on the size of files stops a write as a full disk does, and needs no root
    resource = pytest.importorskip("resource")
    with tree({**USED, "large.py": "from pkg import sym\n" + "x = 1\n" * 2000}) as root:
        before = contents(root)
        done = subprocess.run(
            [sys.executable, "-m", "codemods.narrow_reexport", "pkg", "sym"],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 3, done.stderr
        assert "large.py: cannot be written: File too large; nothing was changed" in done.stderr
        assert contents(root) == before


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("size", ["12k", "20k", "28k", "36k", "44k", "60k"])
def test_a_small_disk_holds_the_tree_before_or_after(size: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no mounts here")
    try:
        for path, text in {**USED, "b.py": "from pkg import sym\n" + "# x\n" * 1500}.items():
            (disk / path).parent.mkdir(exist_ok=True)
            (disk / path).write_text(str(text))
        used = sum(4096 * (1 + path.stat().st_size // 4096) for path in disk.rglob("*") if path.is_file())
        room = int(size.removesuffix("k")) * 1024
        subprocess.run(["mount", "-o", f"remount,size={used + room}", str(disk)], check=True)
        before = contents(disk)
        outcome = narrow(disk, "pkg", "sym")
        if outcome.code:
            assert outcome.code == 3 and "No space left" in outcome.text, outcome.text
            assert contents(disk) == before
            subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
            assert narrow(disk, "pkg", "sym").code == 0
        assert (disk / "b.py").read_text().startswith("from pkg.sub import sym")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes files immutable")
def test_an_immutable_file_stops_the_run() -> None:
    with tree(USED) as root:
        if subprocess.run(["chattr", "+i", str(root / "a.py")], capture_output=True).returncode:
            pytest.skip("this file system has no immutable files")
        before = contents(root)
        try:
            outcome = narrow(root, "pkg", "sym")
        finally:
            subprocess.run(["chattr", "-i", str(root / "a.py")], check=True)
        assert outcome.code == 3 and "a.py" in outcome.text, outcome.text
        assert contents(root) == before


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives folders away")
def test_a_checkout_of_somebody_else_is_an_error_with_gits_own_way_out() -> None:
    with tree(USED) as root:
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        add = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-mx"]
        subprocess.run(add, cwd=root, check=True)
        subprocess.run(["chown", "-R", "1234", str(root)], check=True)
        outcome = command(
            root,
            "narrow_reexport",
            "pkg",
            "sym",
            "--branches",
            "x/",
            "--author",
            "A <a@b>",
            GIT_CONFIG_GLOBAL="/dev/null",
        )
        assert outcome.code == 3, outcome.text
        assert "dubious ownership" in outcome.text and "safe.directory" in outcome.text
