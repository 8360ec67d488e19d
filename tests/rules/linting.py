"""Fixit over small trees: through its runner, and through its command line in a process of its own.

Owns how a test lays a narrowed tree out and asks Fixit about it.
Invariant: a file is judged by the bytes that are given, as Fixit does it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fixit.engine import LintRunner
from fixit.ftypes import Config, LintViolation

from codemods.rules.narrow_reexport import NarrowReexport

PROJECT = Path(__file__).parents[2]
ROWS = """version = 1

[symbols]
"pkg.ops:fly" = { origin = "pkg.ops.fly:fly" }
"pkg.ops:lazily" = { origin = "pkg.ops.sub:lazily", lazy = true }
"pkg.ops:other" = { origin = "pkg.ops.sub:other", allow = ["tests/**"] }
"pkg.ops:sym" = { origin = "pkg.ops.sub:sym" }
"""
CONFIG = """[tool.fixit]
root = true
enable = ["codemods.rules.narrow_reexport"]
disable = ["fixit.rules"]
"""
TREE = {
    "pyproject.toml": CONFIG,
    "narrowed.toml": ROWS,
    "pkg/__init__.py": "",
    "pkg/ops/__init__.py": "",
    "pkg/ops/sub.py": "def sym(): return 1\ndef other(): return 2\ndef lazily(): return 3\n",
    "pkg/ops/fly.py": "def fly(): return 4\n",
}


def lay(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, content in {**TREE, **files}.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())


@dataclass(frozen=True, slots=True)
class Linted:
    violations: list[LintViolation]
    fixed: bytes

    @property
    def lines(self) -> list[int]:
        return [violation.range.start.line for violation in self.violations]


def lint(root: Path, path: str, data: bytes | None = None) -> Linted:
    """What the rule says of one file, and the file with every fix applied."""
    full = root / path
    runner = LintRunner(full, full.read_bytes() if data is None else data)
    found = list(runner.collect_violations([NarrowReexport()], Config(path=full, root=root)))
    return Linted(found, runner.apply_replacements(found).bytes)


def fixit(root: Path, *arguments: str, stdin: str = "", blocked: bool = False) -> subprocess.CompletedProcess[str]:
    """Fixit's own command; `blocked` makes `codemods` a package that cannot be imported."""
    environment = dict(os.environ, PYTHONPATH=str(PROJECT), NO_COLOR="1")
    if blocked:
        environment["PYTHONPATH"] = str(block(root))
    return subprocess.run(
        [sys.executable, "-m", "fixit", *arguments],
        cwd=root,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
    )


def block(root: Path) -> Path:
    """A folder for PYTHONPATH in whose presence nobody can import `codemods`, installed or not."""
    folder = root.parent / f"{root.name}-blocked"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['codemods'] = None\n")
    return folder
