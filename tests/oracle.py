"""The runtime oracle: what the programs of a tree print, and what importing its modules loads, in fresh interpreters.

Owns the comparison of behaviour before and after a run. It sees a tree as a user does, by running it.
Invariant: it imports nothing of `codemods` and knows no libcst, so that it cannot share a mistake with them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PROBE = """
import importlib, json, sys, types
package, names = json.loads(sys.argv[1])
module = importlib.import_module(package)
found = {"loaded": sorted(sys.modules), "bound": [], "listed": []}
for name in names:
    value = getattr(module, name, None)
    is_own_submodule = isinstance(value, types.ModuleType) and value.__name__ == f"{package}.{name}"
    if hasattr(module, name) and not is_own_submodule:
        found["bound"].append(name)
    if name in list(getattr(module, "__all__", ())):
        found["listed"].append(name)
print("\\n@@" + json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What one program did: exit code and standard output; `error` is the last line of standard error."""

    program: str
    exit_code: int
    output: str
    error: str

    @property
    def behaviour(self) -> tuple[str, int, str]:
        return self.program, self.exit_code, self.output


@dataclass(frozen=True, slots=True)
class Probe:
    """What `import package` gives: every loaded module, and which of the asked names it binds or lists in `__all__`."""

    loaded: frozenset[str]
    bound: tuple[str, ...]
    listed: tuple[str, ...]


def run_programs(root: Path, programs: Sequence[str], import_roots: Sequence[str] = (".",)) -> tuple[Ran, ...]:
    """Run each program in a fresh interpreter. `app.main` is run with `-m`, anything else is code."""
    found = []
    for program in programs:
        is_module = re.fullmatch(r"[\w.]+", program) is not None
        done = _python(root, ["-m", program] if is_module else ["-c", program], import_roots)
        errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
        found.append(
            Ran(program, done.returncode, done.stdout.decode("utf-8", "replace"), errors[-1] if errors else "")
        )
    return tuple(found)


def differences(before: Sequence[Ran], after: Sequence[Ran]) -> list[str]:
    """Where the same programs behave differently, in words."""
    return [
        f"{old.program!r}: exit {old.exit_code} -> {new.exit_code}, output {old.output!r} -> {new.output!r} {new.error}"
        for old, new in zip(before, after, strict=True)
        if old.behaviour != new.behaviour
    ]


def probe(root: Path, package: str, names: Sequence[str] = (), import_roots: Sequence[str] = (".",)) -> Probe:
    """Import a package in a fresh interpreter and look at it. Raises AssertionError where it cannot be imported."""
    done = _python(root, ["-c", _PROBE, json.dumps([package, list(names)])], import_roots)
    last = done.stdout.decode("utf-8").rpartition("\n@@")[2]
    if done.returncode or not last.strip():
        raise AssertionError(f"import {package} fails: {done.stderr.decode('utf-8', 'replace')}")
    found = json.loads(last)
    return Probe(frozenset(found["loaded"]), tuple(found["bound"]), tuple(found["listed"]))


def _python(root: Path, arguments: Sequence[str], import_roots: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "SYSTEMROOT", "TMPDIR", "LD_LIBRARY_PATH")
        if name in os.environ
    }
    environment = kept | {
        "PYTHONPATH": os.pathsep.join(str(root / each) for each in import_roots),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
    }
    # -S: no site-packages, so that the tree stands on its own and an interpreter starts in a hundredth of a second
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
