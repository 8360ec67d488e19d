"""Killed before any call of a program and any write, a run leaves a sound repository, and running again completes.

Owns the count of those moments: an audit hook of Python sees all of them, so none has to be listed here by hand. Between two of them
nothing outside of the process changes but by the program that runs at the time.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.engine.forges import StandIns, published, stand_ins
from tests.engine.repositories import git, state
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Tree, contents, lay, main, narrow

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked and killed")

FILES: Tree = {**PKG, "app/main.py": "from pkg import sym\n\nprint(sym(2))\n"}
_WRITES = frozenset({"subprocess.Popen", "os.rename", "os.remove", "os.mkdir", "os.rmdir"})
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def killed(root: Path, arguments: Sequence[str], number: int) -> int | None:
    """Run in a child that kills itself before its n-th call or write; its exit code, None if it was killed."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    try:
        seen = 0

        def count(event: str, details: tuple[object, ...]) -> None:
            nonlocal seen
            opened = event == "open" and isinstance(details[2], int) and details[2] & _FOR_WRITING
            if event in _WRITES or (opened and details[0] != os.devnull):
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        os.chdir(root)
        sys.addaudithook(count)
        main.main(args=list(arguments), prog_name="narrow_reexport")
    except SystemExit as leaving:
        os._exit(leaving.code if isinstance(leaving.code, int) else 1)
    except BaseException:  # noqa: BLE001  # the child must never come back into the tests
        os._exit(99)
    os._exit(98)


def fingerprint(top: Path) -> str:
    """What all files below a folder hold, but for random names and times: two kills that leave the same are one case."""
    found = hashlib.sha256()
    for path in sorted(top.rglob("*")):
        if "objects" in path.parts:  # named by what they hold, so that a second run cannot tell if they are there
            continue
        name = re.sub(
            r"codemods-run-[^/]{8}|\.codemods-[0-9a-f]+|\.codemods-journal", "R", path.relative_to(top).as_posix()
        )
        data = b""
        if path.is_file() and not (path.name == "index" and "worktrees" in path.parts):  # that one holds times
            data = re.sub(rb"codemods-run-[^/\n]{8}", b"R", path.read_bytes())
            data = re.sub(rb"\d{10} [+-]\d{4}", b"T", data) if "logs" in path.parts else data
        found.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\0".encode("utf-8", "surrogateescape"))
    return found.hexdigest()


class Place:
    """A folder with everything that a run touches, which can be put back to what it was."""

    def __init__(self, top: Path, kept: Path) -> None:
        self.top, self.kept, self.root = top, kept, top / "tree"
        (top / "tmp").mkdir(parents=True)
        self.root.mkdir()
        lay(self.root, FILES)
        self.forge: StandIns = stand_ins(top / "forge")
        published(self.root, self.forge)
        for folder in (self.root / ".git", self.forge.bare):
            shutil.rmtree(folder / "hooks")

    def keep(self) -> None:
        """This is what `put_back` goes back to."""
        shutil.copytree(self.top, self.kept, symlinks=True)

    def put_back(self) -> None:
        """Everything as it was kept."""
        shutil.rmtree(self.top)
        shutil.copytree(self.kept, self.top, symlinks=True)

    def persons(self) -> tuple[object, ...]:
        """What no run may touch: HEAD, the index, the status, the files."""
        return state(self.root), contents(self.root)

    def every_kill(
        self,
        arguments: Sequence[str],
        check: Callable[[], None],
        check_complete: Callable[[], None],
        *,
        writes: bool = False,
    ) -> tuple[int, int]:
        """Kill a run at each moment there is and check what is left; how many moments there are, and how many second runs."""
        self.keep()
        before, states = self.persons(), set[str]()
        for number in range(1, 1000):
            code = killed(self.root, arguments, number)
            if code is not None:
                assert code == 0
                return number - 1, len(states)
            left = fingerprint(self.top)
            if left not in states:
                states.add(left)
                assert writes or self.persons() == before
                check()
                git(self.root, "commit", "-q", "--allow-empty", "-m", "work goes on")
                git(self.root, "reset", "-q", "--soft", "HEAD^")
                now = self.persons()
                assert killed(self.root, arguments, 0) == 0, f"after a kill at {number} the second run fails"
                assert writes or self.persons() == now
                check_complete()
            self.put_back()
        pytest.fail("the run never came to its end")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    made = Place(tmp_path / "all", tmp_path / "kept")
    monkeypatch.setenv("PATH", made.forge.path)
    monkeypatch.setattr(tempfile, "tempdir", str(made.top / "tmp"))
    # all modules are imported here, and not in each child again
    assert narrow(made.root, "pkg", "sym", "--patches", str(tmp_path / "warm")).code == 0
    yield made


def test_parts_that_are_tried_pushed_and_opened(place: Place, tmp_path: Path) -> None:
    root, forge = place.root, place.forge
    assert narrow(root, "pkg", "sym", "--plan-out", str(tmp_path / "plan.json")).code == 0
    arguments = ["--apply", str(tmp_path / "plan.json"), "--split", "package", "--branches", "n/", "--open"]
    arguments += ["--verify-command", "test -f pkg/sub.py"]
    place.keep()
    assert killed(root, arguments, 0) == 0
    wanted = git(root, "for-each-ref", "refs/heads/n")
    names = ["n/01-app", "n/02-removal"]
    assert wanted.count("\n") == 2
    place.put_back()
    shutil.rmtree(place.kept)

    def check() -> None:
        assert git(root, "for-each-ref", "refs/heads/n") in ("", wanted)
        assert not list(root.glob(".git/**/*.lock"))
        git(root, "fsck", "--connectivity-only")

    def complete() -> None:
        assert git(root, "for-each-ref", "refs/heads/n") == wanted
        assert sorted(forge.branches()) == ["main", *names]
        assert [row["branch"] for row in forge.requests()] == names
        assert git(root, "worktree", "list").count("\n") == 1
        assert not list((place.top / "tmp").iterdir())

    moments, runs = place.every_kill(arguments, check, complete)
    assert moments > 60
    assert 10 < runs < moments


def test_a_plan_and_patches(place: Place) -> None:
    out = place.top / "out"
    arguments = ["pkg", "sym", "--split", "count:1", "--patches", str(out / "p"), "--plan-out", str(out / "plan.json")]
    wanted = ["p/0001-1-of-1.patch", "p/0002-removal.patch", "p/series", "plan.json"]

    def complete() -> None:
        assert sorted(contents(out)) == wanted

    moments, runs = place.every_kill(arguments, lambda: None, complete)
    assert moments > 10
    assert runs > 5


@pytest.mark.parametrize("from_plan", [False, True])
def test_a_write_of_the_tree(place: Place, tmp_path: Path, from_plan: bool) -> None:
    root, plan = place.root, str(tmp_path / "plan.json")
    assert narrow(root, "pkg", "sym", "--plan-out", plan).code == 0
    arguments = ["--apply", plan] if from_plan else ["pkg", "sym"]
    old = contents(root)
    place.keep()
    assert killed(root, arguments, 0) == 0
    new = contents(root)
    assert new["pkg/__init__.py"] == b"from .light import light\n"
    place.put_back()
    shutil.rmtree(place.kept)

    def check() -> None:
        found = {path: data for path, data in contents(root).items() if path in new}
        assert all(data in (old.get(path), new[path]) for path, data in found.items())
        # the re-export goes last: at no moment does a call site need what is not there
        assert found["app/main.py"] == new["app/main.py"] or found["pkg/__init__.py"] == old["pkg/__init__.py"]

    def complete() -> None:
        assert contents(root) == new

    moments, runs = place.every_kill(arguments, check, complete, writes=True)
    assert moments > 10
    assert runs > 5
