"""`make bench`: the command against its floors, as ratios taken in one run.

Owns three comparisons on the released vLLM 0.27.0: the seed run against Python's start and against a scan of all bytes,
the largest run against what one process needs to parse the same files, and the import graph against grimp's.
Invariant: nothing is written to the tree (`--check`), and nothing is asserted: times are for people to read.

    python benchmarks/ratios.py [--archive vllm-0.27.0.tar.gz] [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from import_cost_speed import compare
from real_vllm import FUSED, OPS, differing, fetch, put_back, snapshot, unpack

START = ("-c", "import click, libcst")
SEED = ("-m", "codemods.narrow_reexport", OPS, FUSED, "--check")
# One line asks the package for a computed name; real_vllm.py says more about it.
ACCEPTED = ("--accept", "vllm/engine/arg_utils.py:264")
LARGE = ("-m", "codemods.narrow_reexport", "vllm.config", "VllmConfig", "--check", *ACCEPTED)

# Both run in a fresh interpreter, which says how long the work itself took, without its start.
SCAN = """
import sys, time, pathlib
start = time.perf_counter()
files = [p for p in pathlib.Path(".").rglob("*.py") if sys.argv[1].encode() in p.read_bytes()]
print(time.perf_counter() - start, len(files))
"""
PARSE = """
import ast, sys, pathlib, warnings
warnings.simplefilter("ignore")
import time
sources = [s for s in (p.read_bytes() for p in pathlib.Path(".").rglob("*.py")) if sys.argv[1].encode() in s]
start = time.perf_counter()
for source in sources:
    ast.parse(source)
print(time.perf_counter() - start, len(sources))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--archive", type=Path, help="use this source archive instead of fetching one")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-vllm-") as scratch:
        tree = unpack(options.archive or fetch(), Path(scratch))
        put_back(tree)
        before = snapshot(tree)
        times: dict[str, list[float]] = {name: [] for name in ("start", "scan", "seed", "parse", "large")}
        count = 0
        for number in range(options.rounds + 1):
            one = {
                "start": wall(tree, START, expected=0),
                "scan": reported(tree, SCAN, FUSED)[0],
                "seed": wall(tree, SEED, expected=1),
                "parse": reported(tree, PARSE, "VllmConfig")[0],
                "large": wall(tree, LARGE, expected=1),
            }
            count = reported(tree, SCAN, "VllmConfig")[1]
            if number:  # the first round warms the file cache
                for name, seconds in one.items():
                    times[name].append(seconds)
            print(f"round {number} of {options.rounds}", file=sys.stderr)
        if changed := differing(snapshot(tree), before):
            raise SystemExit(f"--check changed the tree: {', '.join(changed[:10])}")
        costs = compare(tree, "vllm", OPS, options.rounds, sys.executable)
    print(table({name: statistics.median(seconds) for name, seconds in times.items()}, count, options.rounds))
    print(f"\nThe import graph of vllm, beside grimp's (which lacks the edges to parent packages):\n\n{costs}")
    return 0


def wall(tree: Path, arguments: tuple[str, ...], expected: int) -> float:
    """Seconds from start to end of a fresh interpreter, its own start included."""
    start = time.perf_counter()
    done = python(tree, *arguments)
    seconds = time.perf_counter() - start
    if done.returncode != expected:
        raise SystemExit(f"exit {done.returncode}, expected {expected}: {' '.join(arguments)}\n{done.stderr[-2000:]}")
    return seconds


def reported(tree: Path, program: str, needle: str) -> tuple[float, int]:
    done = python(tree, "-c", program, needle)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, count = done.stdout.split()
    return float(seconds), int(count)


def python(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def table(median: dict[str, float], count: int, rounds: int) -> str:
    def row(what: str, floor: str, key: str, base: str, target: str) -> str:
        ratio = median[key] / median[base]
        return f"| {what} | {median[key]:.2f} s | {floor} | {median[base]:.2f} s | {ratio:.1f} | {target} |"

    seed = f"`{OPS} {FUSED}`"
    large = "`vllm.config VllmConfig`"
    version = ".".join(map(str, sys.version_info[:3]))
    return "\n".join(
        [
            "| run (`--check`) | wall time | against | its time | ratio | meant to be |",
            "| --- | ---: | --- | ---: | ---: | --- |",
            row(seed, '`python -c "import click, libcst"`', "seed", "start", "at most 1.5 s in all"),
            row(seed, "reading every `.py` file and searching its bytes", "seed", "scan", ""),
            row(large, f"`ast.parse` of the {count} files that mention it, one process", "large", "parse", "at most 3"),
            "",
            f"vLLM 0.27.0, Python {version}, {os.cpu_count()} cores; medians of {rounds} interleaved rounds.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
