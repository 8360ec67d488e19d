"""What the rule adds to `fixit lint`: the ratio to a rule that does nothing, on files of a real tree without an offence.

    python benchmarks/fixit_cost.py TREE [FILES] [ROUNDS]

TREE holds a `narrowed.toml`. Both are run on the same files in one process, in turn, so that a busy machine slows both.

Owns the measurement. Invariant: it writes nothing into the tree.
"""

from __future__ import annotations

import gc
import random
import statistics
import sys
import time
from pathlib import Path

import libcst as cst
from fixit import LintRule
from fixit.engine import LintRunner
from fixit.ftypes import Config

from codemods.check_narrowed.guard import Guard, read_rows
from codemods.check_narrowed.verdicts import offences
from codemods.rules.narrow_reexport import NarrowReexport

BOUND = 1.10


class Nothing(LintRule):
    """A rule that looks at nothing."""

    def visit_Module(self, node: cst.Module) -> None:
        return


def seconds(rule: type[LintRule], root: Path, path: Path, data: bytes) -> float:
    """The CPU time of linting one file with one rule, parsing included, as `fixit lint` does it."""
    gc.collect()
    start = time.process_time()
    found = list(LintRunner(path, data).collect_violations([rule()], Config(path=path, root=root)))
    took = time.process_time() - start
    assert not found, path
    return took


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    guard = Guard(root, read_rows(root))
    paths = [path for path in guard.tree.paths if path.endswith(".py")]
    random.Random(7).shuffle(paths)
    files: list[tuple[Path, bytes]] = []
    for path in paths:
        data = guard.read(path)
        if data.strip() and not offences(guard, path, data):
            files.append((root / path, data))
        if len(files) == wanted:
            break
    seconds(NarrowReexport, root, *files[0])  # what is found out once in a process
    ours, theirs = [], []
    for number in range(rounds):
        for path, data in files:
            pair = ((NarrowReexport, ours), (Nothing, theirs))
            for rule, times in pair if number % 2 else reversed(pair):
                times.append(seconds(rule, root, path, data))
    ratio = sum(ours) / sum(theirs)
    each = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    print(
        f"{len(files)} files, {len(guard.rows)} rows: {sum(theirs) / len(theirs) * 1000:.0f} ms a file without, "
        f"{sum(ours) / len(ours) * 1000:.0f} ms with the rule: ratio {ratio:.3f} (median {each:.3f}), bound {BOUND}"
    )
    return int(ratio > BOUND)


if __name__ == "__main__":
    sys.exit(main())
