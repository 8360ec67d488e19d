"""The runtime oracle: what the programs of a tree print, and what importing its modules loads, in fresh interpreters.

Owns the comparison of behaviour before and after a run. It sees a tree as a user does, by running it.
Invariant: it imports nothing of `codemods` and knows no libcst, so that it cannot share a mistake with them.
"""

from __future__ import annotations

import json
import marshal
import os
import re
import subprocess
import sys
import tempfile
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

# Runs many programs in children of one bare interpreter. It loads nothing that `python -m` would not load.
_MANY = """
import marshal, os, runpy, sys
codes = []
for folder, roots, arguments, out, err in marshal.loads(sys.stdin.buffer.read()):
    child = os.fork()
    if not child:
        for path, stream in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
        os.chdir(folder)
        sys.path[:0] = [folder, *roots]
        code = 0
        try:
            if arguments[0] == "-m":
                sys.argv = arguments[1:]
                runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            else:
                sys.argv = ["-c", *arguments[2:]]
                exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else bool(leaving.code)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
sys.stdout.buffer.write(marshal.dumps(codes))
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
    ran = [_one(Job(root, program, tuple(import_roots))) for program in programs]
    return tuple(each for each in ran if isinstance(each, Ran))


@dataclass(frozen=True, slots=True)
class Job:
    """One program of one tree, for `run_many`; a probe of a package with `names` where `names` is not None."""

    root: Path
    program: str
    import_roots: tuple[str, ...] = (".",)
    names: tuple[str, ...] | None = None


def run_many(jobs: Sequence[Job]) -> tuple[Ran | Probe, ...]:
    """`run_programs` and `probe` for many trees: one interpreter, and a fork for each job.

    Where there is no fork, each job gets an interpreter of its own.
    """
    if not hasattr(os, "fork"):
        return tuple(_one(job) for job in jobs)
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        outputs = [(f"{folder}/{number}.out", f"{folder}/{number}.err") for number in range(len(jobs))]
        rows = [
            (str(job.root), [str(job.root / each) for each in job.import_roots], _arguments(job), *output)
            for job, output in zip(jobs, outputs, strict=True)
        ]
        done = _python(Path(folder), ["-c", _MANY], (), marshal.dumps(rows))
        assert not done.returncode, done.stderr.decode("utf-8", "replace")
        codes = marshal.loads(done.stdout)
        texts = [[Path(path).read_text(encoding="utf-8", errors="replace") for path in output] for output in outputs]
    return tuple(_answer(job, code, *text) for job, code, text in zip(jobs, codes, texts, strict=True))


def _one(job: Job) -> Ran | Probe:
    done = _python(job.root, _arguments(job), job.import_roots)
    return _answer(job, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def _arguments(job: Job) -> list[str]:
    if job.names is not None:
        return ["-c", _PROBE, json.dumps([job.program, list(job.names)])]
    return ["-m" if re.fullmatch(r"[\w.]+", job.program) else "-c", job.program]


def _answer(job: Job, code: int, output: str, errors: str) -> Ran | Probe:
    if job.names is None:
        return Ran(job.program, code, output, (errors.strip().splitlines() or [""])[-1])
    last = output.rpartition("\n@@")[2]
    if code or not last.strip():
        raise AssertionError(f"import {job.program} fails in {job.root}: {errors}")
    found = json.loads(last)
    return Probe(frozenset(found["loaded"]), tuple(found["bound"]), tuple(found["listed"]))


def differences(before: Sequence[Ran], after: Sequence[Ran]) -> list[str]:
    """Where the same programs behave differently, in words."""
    return [
        f"{old.program!r}: exit {old.exit_code} -> {new.exit_code}, output {old.output!r} -> {new.output!r} {new.error}"
        for old, new in zip(before, after, strict=True)
        if old.behaviour != new.behaviour
    ]


def probe(root: Path, package: str, names: Sequence[str] = (), import_roots: Sequence[str] = (".",)) -> Probe:
    """Import a package in a fresh interpreter and look at it. Raises AssertionError where it cannot be imported."""
    found = _one(Job(root, package, tuple(import_roots), tuple(names)))
    assert isinstance(found, Probe)
    return found


def _python(
    root: Path, arguments: Sequence[str], import_roots: Sequence[str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
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
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
    )
