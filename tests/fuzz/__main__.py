"""`make fuzz N=20000 SEED=1`: random trees, one after the other; failures are shrunk and saved as folders that can be run.

Owns the loop over seeds, the counts, the table of forms, and the folder of a failure.
Invariant: tree number k of a seed is the same in every run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz import planted
from tests.fuzz.generator import grow
from tests.fuzz.judge import Judge
from tests.fuzz.properties import Verdict, judged
from tests.fuzz.shrink import save, shrunk
from tests.fuzz.trees import Chooser, RandomTree, Seeded

_FULL = 3000  # so many trees have had each form as a host
_STRIDE = 1_000_003  # seed 2 does not begin where seed 1 has its second tree


def tree_of(seed: int, number: int) -> RandomTree:
    """Tree `number` of a seed. Each form of docs/forms.md gets its turn as a host, beside those that chance picks."""
    chooser = Chooser(Seeded(seed * _STRIDE + number))
    forms = planted.forms()
    if number % 8 == 5:
        return planted.planted(chooser, forms[number // 8 % len(forms)])
    return grow(chooser)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Random trees, judged by the interpreter."
    )
    parser.add_argument("-n", type=int, default=1000, help="how many trees")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first tree")
    parser.add_argument("--into", type=Path, default=Path(".cache/fuzz"), help="where failures are saved")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long")
    parser.add_argument("--only", type=int, nargs="*", help="these trees of the seed, by number")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--failures", type=int, default=40, help="stop after so many")
    given = parser.parse_args()
    print(f"seed {given.seed}, trees {given.first} to {given.first + given.n - 1}", flush=True)
    tally: Counter[str] = Counter()
    reached: Counter[str] = Counter()
    checked: Counter[str] = Counter()
    why: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    start = time.monotonic()
    judge = Judge()
    shm = Path("/dev/shm")
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-", dir=shm if shm.is_dir() else None))
    number = given.first
    try:
        for number in given.only or range(given.first, given.first + given.n):
            tree = tree_of(given.seed, number)
            verdict = judged(tree, scratch / "tree", judge, depth=number)
            tally[verdict.outcome] += 1
            checked.update(verdict.checked)
            reached.update(tree.forms)
            if verdict.reasons:
                why[f"{verdict.outcome}: {verdict.reasons[0][:110]}"] += 1
            if verdict.kind:
                kinds[verdict.kind] += 1
                _failed(tree, verdict, number, given, scratch, judge)
                if sum(kinds.values()) >= given.failures:
                    break
            if number % 500 == 499:
                rate = (number + 1 - given.first) / (time.monotonic() - start)
                print(
                    f"{number + 1 - given.first} trees, {rate:.1f} a second, {sum(kinds.values())} failures", flush=True
                )
            if given.seconds and time.monotonic() - start > given.seconds:
                break
    finally:
        judge.close()
        shutil.rmtree(scratch, ignore_errors=True)
    seconds = time.monotonic() - start
    ran = number + 1 - given.first
    print(f"\n{ran} trees in {seconds:.0f} s, {ran / seconds:.1f} a second")
    print("outcomes: " + ", ".join(f"{count} {name}" for name, count in tally.most_common()))
    print("also checked: " + ", ".join(f"{name} {count}" for name, count in checked.most_common()))
    for text, count in why.most_common(40):
        print(f"  {count:6} {text}")
    if kinds:
        print("failures: " + ", ".join(f"{count} {name}" for name, count in kinds.most_common()))
    return 1 if _table(reached, ran) or kinds else 0


def _table(reached: Counter[str], ran: int) -> bool:
    """Print how often each row of docs/forms.md was in a tree; True where one was in none, though there were trees enough."""
    forms = planted.forms()
    missing = [form.name for form in forms if not reached[form.name]]
    print(f"rows of docs/forms.md: {len(forms) - len(missing)} of {len(forms)} reached")
    if ran < _FULL:
        return False
    width = max(len(form.name) for form in forms)
    names = [f"{form.name:{width}} {reached[form.name]:5}" for form in forms]
    third = -(-len(names) // 2)
    for pair in zip(names[:third], [*names[third:], ""], strict=False):
        print("  " + "   ".join(pair))
    if missing:
        print("never reached: " + ", ".join(missing))
        return True
    return False


def _failed(
    tree: RandomTree, verdict: Verdict, number: int, given: argparse.Namespace, scratch: Path, judge: Judge
) -> None:
    print(f"\ntree {number}: {verdict.kind}", *verdict.details[:6], sep="\n    ", flush=True)
    if not given.no_shrink:
        tree, verdict = shrunk(tree, verdict, scratch / "shrink", judge, number)
    folder = given.into / f"seed{given.seed}-{number}"
    save(tree, verdict, folder, f"python -m tests.fuzz --seed {given.seed} --first {number} -n 1")
    print(f"    saved in {folder}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
