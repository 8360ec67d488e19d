"""What a command and its children took: seconds on the wall, seconds of processor, the peak of memory.

Owns the measurement of one process.
Invariant: a command that exits otherwise than expected stops the benchmark.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# A process counts as its own the memory of the one that it was forked from, so a small one stands in between.
LAUNCH = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
wall = time.perf_counter() - start
with open(sys.argv[1], "w") as told:
    print(os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=told)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """One run. `peak` is that of the largest process, in bytes."""

    wall: float
    cpu: float
    peak: int
    output: str = ""
    errors: str = ""


def spend(command: Sequence[str], tree: Path, *codes: int, cache: str = "") -> Spent:
    """Run a command in a tree; it must exit with one of the codes (0 if none are given)."""
    # compiled modules are kept, as they are for whoever has installed the command
    left_out = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"NO_COLOR": "1", "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    environment |= {"CODEMODS_CACHE_DIR": cache} if cache else {}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile("r") as told:
        words = [sys.executable, "-I", "-S", "-c", LAUNCH, told.name, *command]
        subprocess.run(words, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=True)
        code, wall, cpu, peak = (float(each) for each in told.read().split())
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    if int(code) not in (codes or (0,)):
        raise SystemExit(f"{' '.join(command[:8])}: exit {int(code)}\n{texts[0][-800:]}{texts[1][-1500:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(wall, cpu, int(peak) * unit, *texts)
