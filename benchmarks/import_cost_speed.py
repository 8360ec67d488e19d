"""The import graph of a large tree: cold, warm, and against grimp's own build, in one run.

Owns the comparison of processor time (of all processes) and wall time, median of some rounds, each in fresh interpreters.
Invariant: the tree is not changed, nothing of it is imported, and nothing is asserted: times are for people to read.

    python benchmarks/import_cost_speed.py ROOT PACKAGE MODULE [--rounds 5] [--grimp PYTHON]

`--grimp` is an interpreter that has grimp, if this one has not. Its graph has no edges to parent packages, so it answers another question.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

GRIMP = "import sys, grimp; sys.path.insert(0, '.'); print(len(grimp.build_graph(sys.argv[1], cache_dir=None).modules))"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("root", type=Path)
    parser.add_argument("package")
    parser.add_argument("module")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grimp", default=sys.executable, metavar="PYTHON")
    options = parser.parse_args()
    print(compare(options.root, options.package, options.module, options.rounds, options.grimp))
    return 0


def compare(root: Path, package: str, module: str, rounds: int, grimp: str) -> str:
    """A Markdown table."""
    ours = (sys.executable, "-m", "codemods.import_cost")
    commands = {
        "cold, one module": (*ours, module),
        "warm, one module": (*ours, module),
        "warm, --everywhere": (*ours, package, "--everywhere"),
        "grimp.build_graph": (grimp, "-c", GRIMP, package),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="bench-cost-") as scratch:
        for number in range(rounds + 1):
            shutil.rmtree(Path(scratch) / "import_cost", ignore_errors=True)
            for name, command in commands.items():
                one = timed(root, command, scratch)
                if number and one is not None:  # the first round warms the file cache
                    times[name].append(one)
    rows = ["| | CPU s | wall s | ratio of CPU to grimp |", "| --- | ---: | ---: | ---: |"]
    medians = {name: [statistics.median(one) for one in zip(*each, strict=True)] for name, each in times.items()}
    floor = medians["grimp.build_graph"][0] if medians["grimp.build_graph"] else 0.0
    for name, found in medians.items():
        if found:
            ratio = f"{found[0] / floor:.2f}" if floor else ""
            rows.append(f"| {name} | {found[0]:.2f} | {found[1]:.2f} | {ratio} |")
    return "\n".join(rows)


def timed(root: Path, command: Sequence[str], cache: str) -> tuple[float, float] | None:
    """Processor and wall seconds of a process and its children; None where it fails."""
    own = Path(__file__).resolve().parent.parent
    environment = {**os.environ, "CODEMODS_CACHE_DIR": cache, "PYTHONPATH": str(own)}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        print(done.stderr.decode(errors="replace").strip().splitlines()[-1], file=sys.stderr)
        return None
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, wall


if __name__ == "__main__":
    sys.exit(main())
