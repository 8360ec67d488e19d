"""What others need for the same files: LibCST's RenameCommand and rope, on a sample that is scaled by bytes.

Owns the sample and the programs; each runs in a process of its own, on a copy.
Invariant: nothing is written to the tree that is asked about.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spent import Spent, spend

ROPE = """
import sys, time
from pathlib import Path
from rope.base.project import Project
from rope.contrib.findit import find_occurrences
root, origin, name, *files = sys.argv[1:]
project = Project(root, ropefolder=None)
start = project.get_resource(origin)
offset = start.read().index(f"class {name}") + len("class ")
began = time.process_time()
found = find_occurrences(project, start, offset, resources=[project.get_resource(file) for file in files])
print(time.process_time() - began, len(found))
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some of a tree's files, and how much of its bytes they are."""

    files: tuple[str, ...]
    share: float


def sampled(tree: Path, count: int, needle: bytes = b"") -> Sample:
    """A few of the Python files (that spell a needle), the same ones each time."""
    sizes = {}
    for path in sorted(tree.rglob("*.py")):
        data = path.read_bytes()
        if needle in data:
            sizes[path.relative_to(tree).as_posix()] = len(data)
    chosen = random.Random(3).sample(sorted(sizes), min(count, len(sizes)))
    return Sample(tuple(chosen), sum(sizes[name] for name in chosen) / sum(sizes.values()))


def rename_command(tree: Path, count: int, old: str, new: str) -> tuple[Spent, Sample]:
    """`python -m libcst.tool codemod rename.RenameCommand` over a sample of all files."""
    sample = sampled(tree, count)
    with tempfile.TemporaryDirectory(prefix="bench-libcst-") as scratch:
        for name in sample.files:
            (Path(scratch) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / name, Path(scratch) / name)
        command = [sys.executable, "-m", "libcst.tool", "codemod", "rename.RenameCommand", "--no-format", "--jobs", "2"]
        return spend([*command, "--old_name", old, "--new_name", new, *sample.files], Path(scratch)), sample


def rope_occurrences(tree: Path, count: int, origin: str, name: str, limit: float) -> tuple[float, Sample] | None:
    """The seconds of processor in which rope finds a class in a sample of the files that spell it; None after the limit."""
    sample = sampled(tree, count, name.encode())
    command = [sys.executable, "-c", ROPE, str(tree), origin, name, *sample.files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None
    return float(done.stdout.split()[0]), sample
