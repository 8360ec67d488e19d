"""`make everything PKG=networkx`: narrow each re-export of a package by itself, then all of them at once; the oracle judges.

Owns the three ways to judge: each re-export alone, with the modules that it can change imported in processes of their own;
all of them together, with every module imported in a process of its own; and the package's own tests.
Invariant: it never changes the fetched tree, one copy is edited and restored, and it exits 1 if anything is wrong.

    python benchmarks/everything.py PACKAGE [-n 300] [--seed 1] [--every 25] [--together] [--tests] [--json FILE]

Each symbol is planned in one process, as `every_reexport.py` does it, and its plan is written to the copy. What can differ
then is what the edited files are once imported, and what the modules that spell the symbol get. So those are imported,
each in a process that has imported nothing but the package before, with the package itself. Every `--every`-th of
them is judged in full: every module of the package, the command again over its own result.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from every_reexport import kind_of, packages_of, reexports_of, released
from real_packages import CACHE, PACKAGES, Judge, Package, Run, fetched, in_random_order, modules_of, name_of

from codemods.engine.config import NarrowOptions
from codemods.engine.errors import CodemodError
from codemods.engine.model import FileChange
from codemods.narrow_reexport.pipeline import run as narrow
from codemods.narrow_reexport.request import Request, Result
from codemods.narrow_reexport.session import Session

# A package's own tests: the release whose source archive has them, if the wheel does not, and what pytest is told.
TESTS = {
    "networkx": ("", ["--pyargs", "networkx"]),
    "sympy": (
        "",
        ["--pyargs", *(f"sympy.{part}" for part in ("core", "sets", "logic", "ntheory", "combinatorics", "parsing"))],
    ),
    "click": ("click-8.3.1", ["tests"]),
}


@dataclass
class Together(Run):
    """Many symbols narrowed at once."""

    symbols: set[tuple[str, str]] = field(default_factory=set)

    @property
    def narrowed(self) -> set[tuple[str, str]]:
        return self.symbols


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=by_either_name, choices=sorted(PACKAGES))
    parser.add_argument("-n", type=int, default=0, help="so many re-exports, chosen at random; 0 takes all of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=25, help="judge each of so many in full")
    parser.add_argument("--each", action=argparse.BooleanOptionalAction, default=True, help="each re-export by itself")
    parser.add_argument("--together", action=argparse.BooleanOptionalAction, default=True, help="all of them at once")
    parser.add_argument("--tests", action="store_true", help="run the package's own tests before and after all at once")
    parser.add_argument(
        "--json", type=Path, help="one line a re-export; those that are there already are not run again"
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="PACKAGE:SYMBOL")
    given = parser.parse_args()
    package = PACKAGES[given.package]
    pristine = fetched(package)
    lines: list[str] = []
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="codemods-everything-") as scratch:
        pristine = with_tests(package, pristine, Path(scratch) / "pristine")
        work = Path(scratch) / "tree"
        shutil.copytree(pristine, work)
        needs = CACHE / "real" / f"{package.top}-needs"
        judge = Judge(package, pristine, work, needs, modules_of(pristine, package))
        if given.each:
            total, runs, seconds = each_alone(judge, given)
            wrong += sum(bool(run.wrong) for run in runs)
            lines += table(package, total, runs, seconds)
            print("\n".join(lines), flush=True)
        if given.together or given.tests:
            start = time.perf_counter()
            run = all_at_once(judge)
            if given.together:
                judge.against(run, judge.modules, edited_in(judge.changed()), set(run.kinds), every=True)
            wrong += bool(run.wrong)
            lines += ["", told(run, time.perf_counter() - start), *(f"- wrong: {each}" for each in run.wrong[:40])]
            print("\n".join(lines[-1 - len(run.wrong[:40]) :]), flush=True)
        if given.tests:
            text, same = own_tests(package, pristine, work, needs)
            wrong += not same
            print(text, flush=True)
    return 1 if wrong else 0


def by_either_name(given: str) -> str:
    """The name in `PACKAGES`: `scikit-learn` is the distribution of `sklearn`."""
    return next((key for key, package in PACKAGES.items() if package.requirement.partition("==")[0] == given), given)


def each_alone(judge: Judge, given: argparse.Namespace) -> tuple[int, list[Run], float]:
    start = time.perf_counter()
    session = Session(judge.pristine, remember=True)
    every = in_random_order(session, judge.package.top, given.seed)
    chosen = [pair for pair in (tuple(each.split(":")) for each in given.only) if len(pair) == 2]
    chosen = chosen or sorted(every[: given.n] if given.n else every)  # package by package: a view is kept for each
    ready = done_before(given.json)
    runs: list[Run] = []
    for number, (where, symbol) in enumerate(chosen, start=1):
        run = ready.get((where, symbol))
        if run is None:
            run = alone(judge, session, where, symbol, in_full=number % given.every == 0)
            if given.json:
                with given.json.open("a", encoding="utf-8") as sink:
                    print(json.dumps(vars(run)), file=sink)
        runs.append(run)
        if run.wrong or number % 100 == 0:
            print(f"  {number} {where}:{symbol} {run.outcome} {run.wrong[:3] or ''}", file=sys.stderr, flush=True)
    return len(every), runs, time.perf_counter() - start


def alone(judge: Judge, session: Session, where: str, symbol: str, *, in_full: bool) -> Run:
    """One re-export, planned on the pristine tree, judged on the copy."""
    run = Run(where, symbol)
    start = time.perf_counter()
    try:
        result = narrow(Request(judge.pristine, where, (symbol,)), session)
    except CodemodError as error:
        run.outcome, run.kinds = "cannot", [kind_of(error.detail)]
        return run
    except Exception as error:  # noqa: BLE001 - a crash is a row of the table
        run.outcome, run.wrong = "crash", [f"{type(error).__name__}: {error}"]
        return run
    run.seconds = round(time.perf_counter() - start, 2)
    if result.failures:
        run.outcome, run.wrong = "crash", [f"{each.path}: {each.check}: {each.detail}" for each in result.failures]
    elif result.refusals:
        run.outcome = "refused"
        run.kinds = list(dict.fromkeys(kind_of(refusal.reason) for refusal in result.refusals))
    else:
        run.outcome, run.files = "rewritten", result.files
        written = [change for _, changes in result.changes for change in changes]
        lay(judge.work, written)
        try:
            paths = [change.path for change in written if change.path != "narrowed.toml"]
            judge.compare(run, paths, dropped_in(result), touched=8, near=2, every=in_full)
            if in_full:
                again = judge.command(where, symbol, [])
                if again.returncode or set(judge.changed()) - {"narrowed.toml"} != set(paths):
                    run.wrong.append(f"the second run: exit {again.returncode}")
        finally:
            for change in written:
                if (judge.pristine / change.path).exists():
                    (judge.work / change.path).write_bytes(change.before)
                else:
                    (judge.work / change.path).unlink()
    return run


def all_at_once(judge: Judge) -> Together:
    """Every re-export of every package that can be narrowed, package by package, on what the one before has left."""
    run = Together(judge.package.top, "*", "rewritten")
    listed = Session(judge.pristine, remember=True)
    for package in packages_of(listed, judge.package.top):
        names = tuple(name for name, _ in reexports_of(listed, judge.package.top, package))
        if not names:
            continue
        start = time.perf_counter()
        session = Session(judge.work, remember=True)
        options = NarrowOptions(keep_going=True)
        try:
            result = narrow(Request(judge.work, package, names, options=options), session)
        except CodemodError as error:
            print(f"  {package}: {error.detail}", file=sys.stderr)
            continue
        run.wrong += [f"{package}: {each.path}: {each.check}: {each.detail}" for each in result.failures]
        if result.failures:
            continue
        out = {refusal.symbol for refusal in result.refusals}
        lay(judge.work, [change for _, changes in result.changes for change in changes])
        run.symbols |= {
            (found.symbol.module, found.symbol.name)
            for found in result.resolutions
            if result.changes and str(found.symbol) not in out and not found.narrowed
        }
        run.kinds += dropped_in(result)
        seconds = time.perf_counter() - start
        print(f"  {package}: {len(names)} re-exports, {len(out)} refused, {seconds:.0f} s", file=sys.stderr, flush=True)
    run.files = len([path for path in judge.changed() if path != "narrowed.toml"])
    return run


def own_tests(package: Package, pristine: Path, work: Path, needs: Path) -> tuple[str, bool]:
    """What each test of the package's own says before and after: the same, or which of them differ."""
    before, after = (outcomes(package, tree, needs) for tree in (pristine, work))
    counts = [
        ", ".join(f"{count:,} {word}" for word, count in Counter(said.values()).most_common())
        for said in (before, after)
    ]
    other = sorted(test for test in {*before, *after} if before.get(test) != after.get(test))
    lines = [f"own tests before: {counts[0]}", f"own tests after:  {counts[1]}", f"that end otherwise: {len(other)}"]
    lines += [f"- {test}: {before.get(test, 'absent')} -> {after.get(test, 'absent')}" for test in other[:40]]
    return "\n".join(lines), bool(before) and not other


def with_tests(package: Package, pristine: Path, folder: Path) -> Path:
    """The tree, with the package's tests from its source archive beside it: they are call sites like others."""
    sdist, _ = TESTS.get(package.top, ("", []))
    if not sdist:
        return pristine
    shutil.copytree(pristine, folder)
    shutil.copytree(released(sdist) / "tests", folder / "tests")
    return folder


def outcomes(package: Package, tree: Path, needs: Path) -> dict[str, str]:
    _, arguments = TESTS[package.top]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), str(needs)]), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PYTHONHASHSEED": "0", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    line = [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore"]
    line += ["-c", os.devnull, "--rootdir", str(tree), "--import-mode=importlib", *arguments]  # no settings from above
    done = subprocess.run(line, cwd=tree, env=env, capture_output=True, text=True, check=False)
    found = re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+)", done.stdout, re.M)
    return {test: word.lower() for word, test in found if word != "SKIPPED"}


def lay(root: Path, changes: Iterable[FileChange]) -> None:
    for change in changes:
        (root / change.path).write_bytes(change.after)


def dropped_in(result: Result) -> set[str]:
    return {name for _, names in result.dropped for name in names}


def edited_in(paths: list[str]) -> frozenset[str]:
    return frozenset(name_of(path) for path in paths if path.endswith(".py"))


def done_before(file: Path | None) -> dict[tuple[str, str], Run]:
    if file is None or not file.exists():
        return {}
    runs = [Run(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    return {(run.package, run.symbol): run for run in runs}


def told(run: Together, seconds: float) -> str:
    return (
        f"All at once: {len(run.symbols):,} re-exports narrowed in {run.files:,} files, {run.modules:,} modules imported "
        f"before and after, {len(run.freed)} of which failed before and come further now, {len(run.wrong)} wrong; {seconds:,.0f} s."
    )


def table(package: Package, total: int, runs: list[Run], seconds: float) -> list[str]:
    outcomes_of = Counter(run.outcome for run in runs)
    kinds = Counter((run.outcome, kind) for run in runs for kind in run.kinds)
    wrong = [run for run in runs if run.wrong]
    share = "each" if len(runs) == total else f"{len(runs):,} of {total:,}, chosen at random,"
    lines = [
        f"## {package.requirement.replace('==', ' ')}",
        "",
        f"{total:,} re-exports; {share} narrowed by itself: {outcomes_of['rewritten']:,} rewritten, {outcomes_of['refused']:,} "
        f"refused, {outcomes_of['cannot']:,} cannot, {len(wrong):,} wrong; {seconds:,.0f} s.",
        "",
        "| outcome | reason | re-exports |",
        "| --- | --- | ---: |",
    ]
    ordered = sorted(kinds.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    lines += [f"| {outcome} | {kind.replace('|', '/')} | {count:,} |" for (outcome, kind), count in ordered]
    lines += [f"- wrong: {run.package}:{run.symbol}: {'; '.join(run.wrong[:4])}" for run in wrong]
    return lines


if __name__ == "__main__":
    sys.exit(main())
