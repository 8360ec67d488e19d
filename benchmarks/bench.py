"""`make bench`: the commands beside their floors and their peers, on the same trees, in one run; writes RESULTS.md.

Owns the rows, the order of the runs (interleaved, so that a busy machine slows all of them) and the table.
Invariant: the trees are not changed (`--check`), and nothing is asserted: times are for people to read.

    python benchmarks/bench.py [--rounds 3] [--skip thousand scale peers ...] [--out benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from every_reexport import released
from guard_speed import ONLY
from many_rows import rows_of
from peers import rename_command, rope_occurrences
from real_vllm import CACHE, FUSED, OPS
from spent import Spent, spend
from trees import generated, with_seed

RELEASE, SYMPY = "vllm-0.33.0", "sympy-1.14.0"
PARTS = ("seed", "large", "hundred", "thousand", "start", "guard", "cost", "scale", "peers")
NARROW = (sys.executable, "-m", "codemods.narrow_reexport")
LARGE = ("vllm.config", "VllmConfig", "--accept", "vllm/engine/arg_utils.py:296", "--rewrite-strings")

# Reads every Python file, then says how long `ast.parse` takes for those that spell one of the words, and how many.
PARSE = r"""
import ast, pathlib, re, sys, time, warnings
warnings.simplefilter("ignore")
words = {word.encode() for word in sys.argv[1:]}
every = (path.read_bytes() for path in pathlib.Path(".").rglob("*.py"))
sources = [data for data in every if any(word in data for word in words) and words & set(re.findall(rb"\w+", data))]
cpu, wall = time.process_time(), time.perf_counter()
for source in sources:
    try:
        ast.parse(source)
    except SyntaxError:
        pass
print(time.process_time() - cpu, time.perf_counter() - wall, len(sources))
"""
SCAN = r"""
import pathlib, re, sys
pattern = re.compile(sys.argv[1].encode())
print(sum(1 for path in pathlib.Path(".").rglob("*.py") if pattern.search(path.read_bytes())))
"""
BARE = "import click\nmain = click.command()(click.argument('x', required=False)(lambda x: None))\nmain(['--help'])\n"


@dataclass
class Row:
    """One line: what was run, on what, and each run's figures."""

    name: str
    ours: list[Spent] = field(default_factory=list)
    scan: list[Spent] = field(default_factory=list)
    floor: list[Spent] = field(default_factory=list)  # its seconds are those of the parsing alone
    extra: list[Spent] = field(default_factory=list)  # what else belongs to the floor
    files: int = 0
    target: str = ""
    met: Callable[[Row], tuple[float, float]] | None = None  # ratio, bound


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip", nargs="*", default=[], choices=PARTS)
    parser.add_argument("--sample", type=int, default=40, help="files that the peers are given")
    parser.add_argument("--sympy", type=Path, help="an unpacked sympy, where it is not to be fetched")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("RESULTS.md"))
    given = parser.parse_args()
    parts = [part for part in PARTS if part not in given.skip]
    start = time.perf_counter()
    vllm = CACHE / "bench" / RELEASE
    if not vllm.is_dir():
        with_seed(released(RELEASE), vllm)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        jobs = _jobs(parts, vllm, given.sympy, Path(scratch))
        for number in range(0 if given.rounds > 1 else 1, given.rounds + 1):
            for row, kind, run in jobs:
                spent = run()
                if number:  # the first of several rounds warms the file cache
                    getattr(row, kind).append(spent)
            print(f"round {number} of {given.rounds}, {time.perf_counter() - start:.0f} s", file=sys.stderr)
        rows = list({id(row): row for row, _, _ in jobs}.values())
        text = [*_head(given.rounds), *_table(rows), *_stages(rows)]
        if "scale" in parts:
            text += _scale(max(1, given.rounds - 1))
        if "guard" in parts:
            text += _guard(vllm, Path(scratch), given.rounds)
        if "cost" in parts:
            text += _cost(vllm, given.rounds)
        if "peers" in parts:
            text += _peers(vllm, rows, given.sample)
    text += ["", f"All of it took {(time.perf_counter() - start) / 60:.0f} minutes."]
    given.out.write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))
    return 0


def _jobs(
    parts: Sequence[str], vllm: Path, sympy: Path | None, scratch: Path
) -> list[tuple[Row, str, Callable[[], Spent]]]:
    found: list[tuple[Row, str, Callable[[], Spent]]] = []
    cache = str(scratch / "cache")

    def add(row: Row, tree: Path, ours: Sequence[str], words: Sequence[str], *codes: int) -> None:
        command = [*NARROW, *ours, "--check", "--profile", "-q"]
        found.append((row, "ours", lambda: spend(command, tree, *codes, cache=cache)))
        found.append((row, "scan", lambda: spend(_scan_command(words), tree, 0, 1)))
        found.append((row, "floor", lambda: _parsing(row, tree, words)))

    if "seed" in parts:
        seed = Row(f"seed: `{OPS} {FUSED}`", target="at most 1.5 x (`rg -l` + `import click, libcst`)", met=_seed_ratio)
        add(seed, vllm, (OPS, FUSED), [FUSED], 1)
        start = [sys.executable, "-c", "import click, libcst"]
        found.append((seed, "extra", lambda: spend(start, vllm)))
    if "large" in parts:
        large = Row("`vllm.config VllmConfig`", target="wall at most 1.5 x parsing", met=_parse_ratio)
        add(large, vllm, LARGE, ["VllmConfig"], 1)
    if "hundred" in parts:
        rows = rows_of(vllm, "vllm", 100, only=ONLY)
        plan = scratch / "rows.toml"
        lines = ["version = 1"]
        for package, names in rows:
            lines += ["[[narrow]]", f"package = {json.dumps(package)}", f"symbols = {json.dumps(names)}"]
        plan.write_text("\n".join(lines))
        names = [name for _, own in rows for name in own]
        hundred = Row(f"{len(names)} symbols of {len(rows)} packages at once", target="wall at most 1.5 x parsing")
        hundred.met = _parse_ratio
        add(hundred, vllm, ("--plan", str(plan)), names, 1)
    if "thousand" in parts:
        tree = sympy or released(SYMPY)
        names = re.findall(r"'(\w+)'", (tree / "sympy/__init__.py").read_text(encoding="utf-8").partition("__all__")[2])
        thousand = Row(f"{len(set(names)):,} symbols at once: `sympy --all --keep-going`")
        add(thousand, tree, ("sympy", "--all", "--keep-going"), names, 1, 4)
    if "start" in parts:
        begin = Row("start: `--help`, beside a bare click command", target="at most 1.3 x", met=_start_ratio)
        found.append((begin, "ours", lambda: _often([*NARROW, "--help"], vllm)))
        found.append((begin, "extra", lambda: _often([sys.executable, "-c", BARE], vllm)))
    return found


def _often(command: Sequence[str], tree: Path) -> Spent:
    """The middle one of many runs: of a few hundredths of a second, one or two tell nothing."""
    return sorted((spend(command, tree) for _ in range(15)), key=lambda each: each.cpu)[7]


def _scan_command(words: Sequence[str]) -> list[str]:
    if shutil.which("rg"):
        pattern = "|".join(words)
        return ["rg", "-l", "-w", "-t", "py", "--no-ignore", pattern, "."]
    return [sys.executable, "-c", SCAN, r"\b(?:" + "|".join(words) + r")\b"]


def _parsing(row: Row, tree: Path, words: Sequence[str]) -> Spent:
    whole = spend([sys.executable, "-c", PARSE, *words], tree)
    cpu, wall, count = whole.output.split()
    row.files = int(count)
    return Spent(float(wall), float(cpu), whole.peak)


# --- the table ---


def _median(runs: Sequence[Spent], what: str = "cpu") -> float:
    return statistics.median(getattr(run, what) for run in runs) if runs else 0.0


def _seed_ratio(row: Row) -> tuple[float, float]:
    return _median(row.ours) / (_median(row.scan) + _median(row.extra)), 1.5


def _parse_ratio(row: Row) -> tuple[float, float]:
    # the shares of both cores: what the run takes on the wall of an idle machine cannot be less
    return _median(row.ours, "wall") / _median(row.floor, "wall"), 1.5


def _start_ratio(row: Row) -> tuple[float, float]:
    return _median(row.ours) / _median(row.extra), 1.3


def _head(rounds: int) -> list[str]:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        model = next((x.partition(":")[2].strip() for x in info.read_text().splitlines() if "model name" in x), model)
    rg = (
        subprocess.run(["rg", "--version"], capture_output=True, text=True, check=False).stdout
        if shutil.which("rg")
        else ""
    )
    versions = {"Python": platform.python_version(), "ripgrep": (rg.split() or ["", "none: a scan in Python"])[1]}
    for name in ("libcst", "click", "rope", "ruff"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "-"
    many = "one round" if rounds == 1 else f"medians of {rounds} rounds after one that warms the file cache"
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return [
        "# What the commands cost",
        "",
        "Made by `make bench` (`python benchmarks/bench.py`). Ratios come first: they were taken in one run, interleaved, "
        "and mean something on another machine too. Why some targets are missed: `What is left` in docs/design.md.",
        "",
        f"{os.cpu_count()} cores, {model}{load}; {', '.join(f'{k} {v}' for k, v in versions.items())}; "
        f"{time.strftime('%Y-%m-%d')}; {many}.",
        "",
        "Trees: vLLM 0.33.0 (7,547 files are searched, 5,601 of them Python), sympy 1.14.0, generated ones. CPU seconds are those of "
        "all processes of a run. Wall seconds tell little where the load is above the number of cores.",
        "",
    ]


def _table(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| run (`--check`) | ours ÷ parsing, CPU | wall | ours: CPU s | wall s | `rg -l`: CPU s "
        "| `ast.parse` of the files that spell it: CPU s | peak memory | target | met |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        ratio = f"{_median(row.ours) / _median(row.floor):.1f}" if row.floor else ""
        wall = f"{_median(row.ours, 'wall') / _median(row.floor, 'wall'):.1f}" if row.floor else ""
        found, bound = row.met(row) if row.met else (0.0, 0.0)
        met = f"{'yes' if found <= bound else 'no'}: {found:.2f}" if row.met else ""
        floor = (
            f"{_median(row.floor):.2f} ({row.files:,} files)" if row.floor else f"{_median(row.extra):.3f} (bare click)"
        )
        scan = f"{_median(row.scan):.2f}" if row.scan else ""
        lines.append(
            f"| {row.name} | {ratio} | {wall} | {_median(row.ours):.2f} | {_median(row.ours, 'wall'):.2f} | {scan} | {floor} "
            f"| {_median(row.ours, 'peak') / 2**20:.0f} MiB | {row.target} | {met} |"
        )
    return lines


def _stages(rows: Sequence[Row]) -> list[str]:
    lines = ["", "Shares of CPU time by stage, as `--profile` tells them:", ""]
    for row in rows:
        shares = re.findall(r"^(\S[\w ]*?) +([\d.]+)%", row.ours[-1].errors, re.M)
        told = [f"{stage} {share} %" for stage, share in shares if float(share) >= 1]
        lines += [f"- {row.name}: {', '.join(told)}"] if told else []
    return lines


def _scale(rounds: int) -> list[str]:
    lines = ["", "## Files", "", "| files | CPU s | wall s | peak memory |", "| ---: | ---: | ---: | ---: |"]
    sizes, spent = (1_000, 10_000, 100_000), []
    for size in sizes:
        tree = generated(size)
        runs = [spend([*NARROW, "big.core", "Engine", "--check", "-q"], tree, 1) for _ in range(rounds)]
        spent.append(_median(runs))
        lines.append(
            f"| {size:,} | {spent[-1]:.2f} | {_median(runs, 'wall'):.2f} | {_median(runs, 'peak') / 2**20:.0f} MiB |"
        )
    exponent = math.log(spent[2] / spent[1]) / math.log(sizes[2] / sizes[1])
    return [
        *lines,
        "",
        f"From 10,000 to 100,000 files the cost grows with the power {exponent:.2f} of their number (1 is linear).",
    ]


def _guard(vllm: Path, scratch: Path, rounds: int) -> list[str]:
    from guard_speed import table

    from codemods.check_narrowed.guard import followed
    from codemods.engine.bans import FILE_NAME, load_bans

    tree = scratch / "guarded"
    shutil.copytree(vllm, tree, symlinks=True)
    spend([*NARROW, OPS, FUSED, "-q"], tree)
    if (plan := scratch / "rows.toml").is_file():
        spend([*NARROW, "--plan", str(plan), "-q"], tree)
    bans = followed(load_bans((tree / FILE_NAME).read_bytes()))
    return ["", "## `check_narrowed`", "", table(tree, bans, [1, len(bans)], rounds)]


def _cost(vllm: Path, rounds: int) -> list[str]:
    from import_cost_speed import compare

    told = compare(vllm, "vllm", OPS, rounds, sys.executable)
    return ["", "## `import_cost`", "", "Beside grimp's graph (which lacks the edges to parent packages):", "", told]


def _peers(vllm: Path, rows: Sequence[Row], count: int) -> list[str]:
    large = next((_median(row.ours) for row in rows if "VllmConfig" in row.name), 0.0)
    lines = ["", "## Peers, for `vllm.config VllmConfig`", ""]
    lines += [
        "| tool | sample | its CPU s | the whole, scaled by bytes | ÷ ours |",
        "| --- | --- | ---: | ---: | ---: |",
    ]

    def line(tool: str, sample: str, cpu: float, share: float) -> str:
        ratio = f"{cpu / share / large:.0f}" if large else ""
        return f"| {tool} | {sample} | {cpu:.1f} | {cpu / share:,.0f} s | {ratio} |"

    spent, sample = rename_command(vllm, count, "vllm.config.VllmConfig", "vllm.config.vllm.VllmConfig")
    said = f"{len(sample.files)} of all Python files, {100 * sample.share:.1f} % of their bytes"
    lines.append(line("LibCST `codemod rename.RenameCommand -j 2`", said, spent.cpu, sample.share))
    found = rope_occurrences(vllm, count, "vllm/config/vllm.py", "VllmConfig", 300)
    if found is not None:
        said = f"{len(found[1].files)} of the files that spell it, {100 * found[1].share:.1f} % of their bytes"
        lines.append(line("rope `find_occurrences` (it changes nothing)", said, found[0], found[1].share))
    else:
        lines.append("| rope | | not there, or not done within 300 s | | |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
