"""How long the guard takes on a narrowed vLLM 0.33.0, as ratios to ruff's TID251 and to Fixit taken in one run.

Owns the narrowed tree (made once by the codemod, in one run, and kept under `.cache/`) and the table.
Invariant: what is timed changes no file, and nothing is asserted: times are for people to read.

    python benchmarks/guard_speed.py [--tree NARROWED] [--rows 1 100] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from every_reexport import released
from many_rows import rows_of
from real_vllm import CACHE

from codemods.check_narrowed.guard import followed
from codemods.engine.bans import FILE_NAME, Ban, load_bans, with_bans

RELEASE, TOP = "vllm-0.33.0", "vllm"
ONLY = ("vllm", "vllm.distributed")  # more than a hundred between them
RULE = "codemods.rules.narrow_reexport"
SAMPLE = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--tree", type=Path, help="a narrowed tree; without one it is made, which takes its time")
    parser.add_argument("--rows", type=int, nargs="*", default=[1, 100])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    narrowed = given.tree or prepared(max(given.rows))
    bans = followed(load_bans((narrowed / FILE_NAME).read_bytes()))
    with tempfile.TemporaryDirectory(prefix="guard-speed-") as scratch:
        tree = Path(scratch) / "tree"
        shutil.copytree(narrowed, tree, symlinks=True)
        print(table(tree, bans, given.rows, given.rounds))
    return 0


def prepared(rows: int) -> Path:
    """vLLM with at least so many re-exports narrowed, as far as the codemod does not refuse."""
    folder = CACHE / f"guard-{rows}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(exist_ok=True)
    making = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    shutil.copytree(released(RELEASE), making, symlinks=True)
    lines = ["version = 1"]
    for package, names in rows_of(released(RELEASE), TOP, rows, only=ONLY if rows <= 100 else ()):
        lines += ["[[narrow]]", f"package = {json.dumps(package)}", f"symbols = {json.dumps(names)}"]
    with tempfile.TemporaryDirectory() as scratch:
        plan = Path(scratch) / "rows.toml"
        plan.write_text("\n".join(lines))
        command = [sys.executable, "-m", "codemods.narrow_reexport", "--plan", str(plan), "-q"]
        subprocess.run(command, cwd=making, check=True)
    making.replace(folder)
    return folder


def table(tree: Path, bans: tuple[Ban, ...], sizes: list[int], rounds: int) -> str:
    lines = [
        "| rows | `check-narrowed` | `ruff check --select TID251`, whole tree | ratio |",
        "| ---: | ---: | ---: | ---: |",
    ]
    chosen = random.Random(1).sample(bans, len(bans))
    check = [sys.executable, "-m", "codemods.check_narrowed", "-q"]
    ruff = [
        shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff") or "ruff",
        "check",
        "--select",
        "TID251",
        "-q",
        "--no-cache",
        ".",
    ]
    for size in sizes:
        few = tuple(sorted(chosen[:size], key=lambda ban: str(ban.symbol)))
        (tree / FILE_NAME).write_bytes(with_bans(b"", few))
        (tree / "ruff.toml").write_text(
            "[lint.flake8-tidy-imports.banned-api]\n"
            + "".join(f'{json.dumps(ban.symbol.dotted)}.msg = "narrowed"\n' for ban in few)
        )
        times: dict[str, list[float]] = {"check": [], "ruff": []}
        for _ in range(rounds + 1):
            times["check"].append(wall(check, tree, 0))
            times["ruff"].append(wall(ruff, tree, 0, 1))
        ours, theirs = (statistics.median(times[name][1:]) for name in ("check", "ruff"))
        lines.append(f"| {len(few)} | {ours:.2f} s | {theirs:.2f} s | {ours / theirs:.1f} |")
    sample = [str(path.relative_to(tree)) for path in sorted((tree / TOP).rglob("*.py"))]
    sample = random.Random(2).sample(sample, SAMPLE)
    if fixit := os.environ.get("FIXIT_PYTHON"):
        seconds = wall([fixit, "-m", "fixit", "--rules", RULE, "lint", *sample], tree, 0)
        whole = wall(check, tree, 0)
        lines += [
            "",
            f"`fixit lint` on {SAMPLE} of the files: {seconds:.1f} s; `check-narrowed` on all of them: {whole:.1f} s.",
        ]
    files = sum(1 for _ in tree.rglob("*.py"))
    lines += ["", f"vLLM 0.33.0, {files:,} Python files, narrowed; {os.cpu_count()} cores; medians of {rounds} rounds."]
    return "\n".join(lines)


def wall(command: list[str], tree: Path, *codes: int) -> float:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(command[:6])}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
