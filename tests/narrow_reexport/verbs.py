"""The three verbs of the suite: `check_rewritten`, `check_unchanged`, `check_refused`, on small trees given as dicts.

Owns trees in temporary folders and the in-process call of the command line. A tree maps a path to a text (its common
indentation and the newline after the opening quotes are taken off) or to bytes (written as they are).
Invariant: each verb runs the command twice; the second run changes nothing, whatever the first one did.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import oracle

_path = sys.path[:]
from codemods.narrow_reexport.__main__ import main  # noqa: E402  # it takes the working directory off the path

sys.path[:] = _path

Tree = Mapping[str, "str | bytes"]
RECORD = "narrowed.toml"
_SITE = re.compile(r"[\w./\\-]+\.\w+:\d+")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one invocation said, and its exit code."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """Both streams."""
        return self.out + self.stderr.decode("utf-8", "replace")


# --- the verbs ---


def check_rewritten(
    before: Tree,
    package: str,
    symbols: str,
    after: Tree,
    *,
    options: Sequence[str] = (),
    run: Sequence[str] = (),
    unloaded: Sequence[str] = (),
    roots: Sequence[str] = (".",),
    says: str = "",
) -> Outcome:
    """The run exits 0, files named in `after` have that text, and all others are byte-identical.

    With `run` (see `oracle.run_programs`) those programs do the same before and after, and the package no longer binds
    the symbols; `unloaded` are modules that `import package` leaves out afterwards. `says` is a regex for the output.
    """
    with tree(before) as root:
        old = oracle.run_programs(root, run, roots)
        outcome = narrow(root, package, *symbols.split(), *options)
        assert outcome.code == 0, f"exit {outcome.code}:\n{outcome.text}"
        expect_tree(root, {**before, **after})
        if says:
            assert re.search(says, outcome.text), f"/{says}/ is not in the output:\n{outcome.text}"
        if run or unloaded:
            changed = oracle.differences(old, oracle.run_programs(root, run, roots))
            assert not changed, "\n".join(changed)
            names = [symbol for symbol in symbols.split() if symbol.isidentifier()]
            found = oracle.probe(root, package, names, roots)
            if "--callers-only" not in options:
                assert not found.bound, f"the package still binds {found.bound}"
            assert not found.listed, f"__all__ still lists {found.listed}"
            assert not found.loaded & {*unloaded}, f"import {package} still loads {sorted(found.loaded & {*unloaded})}"
        _second_pass(root, 0, package, *symbols.split(), *options)
    return outcome


def check_unchanged(
    before: Tree, package: str, symbols: str, *, options: Sequence[str] = (), says: str = ""
) -> Outcome:
    """The run exits 0 and no file changes."""
    with tree(before) as root:
        outcome = narrow(root, package, *symbols.split(), *options)
        assert outcome.code == 0, f"exit {outcome.code}:\n{outcome.text}"
        expect_tree(root, before)
        if says:
            assert re.search(says, outcome.text), f"/{says}/ is not in the output:\n{outcome.text}"
        _second_pass(root, 0, package, *symbols.split(), *options)
    return outcome


def check_refused(
    before: Tree,
    package: str,
    symbols: str,
    reason: str,
    *,
    options: Sequence[str] = (),
    exit_code: int = 4,
    at: str = "",
) -> Outcome:
    """The run exits 4 (or 3: cannot), changes nothing, and gives the reason (a regex) and a file:line (`at`)."""
    with tree(before) as root:
        outcome = narrow(root, package, *symbols.split(), *options)
        assert outcome.code == exit_code, (
            f"exit {outcome.code}, not {exit_code}:\n{outcome.text}\n{_changes(root, before)}"
        )
        expect_tree(root, before, record=False)
        assert re.search(reason, outcome.text), f"/{reason}/ is not in the output:\n{outcome.text}"
        assert (at in outcome.text) if at else _SITE.search(outcome.text), (
            f"no {at or 'file:line'} in the output:\n{outcome.text}"
        )
        assert "Traceback" not in outcome.text
        _second_pass(root, exit_code, package, *symbols.split(), *options)
    return outcome


# --- trees ---


@contextlib.contextmanager
def tree(files: Tree) -> Iterator[Path]:
    """A temporary folder that holds these files."""
    with tempfile.TemporaryDirectory(prefix="narrow-") as folder:
        root = Path(folder).resolve() / "tree"
        root.mkdir()
        lay(root, files)
        yield root


def lay(root: Path, files: Tree) -> None:
    """Write these files."""
    for path, text in files.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(as_bytes(text))


def as_bytes(text: str | bytes) -> bytes:
    """The bytes that a tree's entry stands for."""
    if isinstance(text, bytes):
        return text
    plain = textwrap.dedent(text)
    return plain.removeprefix("\n").encode("utf-8")


def contents(root: Path) -> dict[str, bytes]:
    """All regular files below the root, without git's own."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def expect_tree(root: Path, expected: Tree, *, record: bool = True) -> None:
    """The folder holds exactly these files; with `record` a `narrowed.toml` may stand beside them."""
    found = contents(root)
    wanted = {path: as_bytes(text) for path, text in expected.items()}
    if record and RECORD not in wanted:
        found.pop(RECORD, None)
    assert found.keys() == wanted.keys(), f"files: {sorted(found.keys() ^ wanted.keys())} appeared or vanished"
    wrong = [path for path in found if found[path] != wanted[path]]
    assert not wrong, "\n".join(_difference(path, wanted[path], found[path]) for path in wrong)


def _changes(root: Path, before: Tree) -> str:
    found = contents(root)
    return "\n".join(
        _difference(path, as_bytes(text), found.get(path, b""))
        for path, text in before.items()
        if found.get(path) != as_bytes(text)
    )


def _difference(path: str, wanted: bytes, found: bytes) -> str:
    rows = difflib.diff_bytes(
        difflib.unified_diff, wanted.splitlines(True), found.splitlines(True), b"expected", b"found"
    )
    return f"--- {path} ---\n" + b"".join(
        row if row.endswith(b"\n") else row + b"<no newline>\n" for row in rows
    ).decode("utf-8", "replace")


# --- the command ---


def narrow(root: Path, *arguments: str) -> Outcome:
    """Run the command in this process, with `root` as the working directory."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    code = 0
    with _working_directory(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.main(args=list(arguments), prog_name="narrow_reexport")
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return Outcome(code, _bytes(out), _bytes(err))


def narrow_outside(root: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> Outcome:
    """Run `python -m codemods.narrow_reexport` as a person does, in a process of its own."""
    command = [sys.executable, "-m", "codemods.narrow_reexport", *arguments]
    return outside(root, command, environment)


def outside(root: Path, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Outcome:
    """Run any command in `root`, with the project importable."""
    project = str(Path(__file__).resolve().parents[2])
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))}
    full = plain | {"PYTHONPATH": project, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"} | dict(environment or {})
    done = subprocess.run(
        list(command), cwd=root, env=full, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def _second_pass(root: Path, exit_code: int, *arguments: str) -> None:
    first = contents(root)
    again = narrow(root, *arguments)
    assert contents(root) == first, f"a second run changed files:\n{again.text}"
    assert again.code == exit_code, f"a second run exits {again.code}, not {exit_code}:\n{again.text}"


@contextlib.contextmanager
def _working_directory(root: Path) -> Iterator[None]:
    kept = Path.cwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(kept)


def _bytes(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()
