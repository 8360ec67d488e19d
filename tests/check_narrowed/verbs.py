"""The guard on small trees: its offences as short rows, and its command line in this process.

Owns how these tests build a guard and run the command.
Invariant: it asserts nothing by itself but that the command ends without a traceback.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from codemods.check_narrowed.guard import Guard, read_rows
from codemods.check_narrowed.verdicts import offences
from codemods.engine.discover import is_code
from tests.narrow_reexport.verbs import Outcome, Tree, tree

_path = sys.path[:]
from codemods.check_narrowed.__main__ import main  # noqa: E402  # it takes the working directory off the path

sys.path[:] = _path


def rows(*symbols: str) -> str:
    """A `narrowed.toml`: `pkg:sym` comes from `pkg.sub:sym`, or `pkg:sym=pkg.x:impl`, then what else the row holds."""
    lines = ["version = 1", "", "[symbols]"]
    for spelled in symbols:
        symbol, _, rest = spelled.partition("=")
        module, _, name = symbol.partition(":")
        origin, _, more = (rest or f"{module}.sub:{name}").partition(" ")
        lines.append(f'"{symbol}" = {{ origin = "{origin}"{", " + more if more else ""} }}')
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def guarded_tree(files: Tree) -> Iterator[Guard]:
    """A guard for these files, which hold a `narrowed.toml`."""
    with tree(files) as root:
        yield Guard(root, read_rows(root))


def found(files: Tree) -> list[str]:
    """The offences of a tree: `path:line kind symbol`."""
    with guarded_tree(files) as guard:
        return [
            f"{each.site} {each.kind} {each.symbol}"
            for path in guard.tree.paths
            if is_code(path)
            for each in offences(guard, path, guard.read(path))
        ]


def run(root: Path, *arguments: str, stdin: bytes = b"") -> Outcome:
    """Run the command with `root` as the working directory."""
    out, err, given = (io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n") for data in (b"", b"", stdin))
    code, kept = 0, Path.cwd()
    os.chdir(root)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch("sys.stdin", given):
            main.main(args=list(arguments), prog_name="check_narrowed")
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    finally:
        os.chdir(kept)
    said = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        said.append(stream.buffer.getvalue())
    assert b"Traceback" not in said[1]
    return Outcome(code, said[0], said[1])
