"""`make mutate`: change one thing in the code, run the tests that should notice, and list the changes that none noticed.

Owns the changes (a comparison turned, `and` for `or`, a condition negated or dropped, a number off by one, a statement gone)
and the tests that judge each module.
Invariant: it works on a copy, and one mutant is one process: nothing of it reaches the next.

    python benchmarks/mutate.py [-n 60] [--seed 1] [--only plan.py] [--show NUMBER]

Before the first mutant the tests say which lines each of them runs; a mutant is judged by those that run its line.
The processes branch off after pytest and LibCST are imported. The interpreter oracle of the tests is left out: what the mutant
writes or says must differ from what a test expects, which is a harder question and takes a tenth of the time.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
FORMS = "tests/narrow_reexport/forms"
# What could notice, the likeliest first: a mutant is done with at the first failure.
JUDGES = {
    "codemods/engine/edits.py": [
        "tests/engine/test_edits.py",
        f"{FORMS}/test_from_import.py",
    ],
    "codemods/narrow_reexport/plan.py": [
        f"{FORMS}/test_from_import.py",
        f"{FORMS}/test_same_name.py",
        f"{FORMS}/test_star.py",
        f"{FORMS}/test_onward_all.py",
        f"{FORMS}/test_patched_reads.py",
        "tests/narrow_reexport/test_forms.py::test_a_form_becomes_what_its_fixture_says",
        f"{FORMS}/test_package_init.py",
        f"{FORMS}/test_reraised.py",
        f"{FORMS}/test_docstring.py",
        "tests/narrow_reexport/test_plan.py",
        "tests/narrow_reexport/test_lost.py",
        "tests/narrow_reexport/test_coverage.py",
        "tests/check_narrowed/test_verdicts.py",
        "tests/check_narrowed/test_check.py",
    ],
}
TIMEOUT = 900
SAID = "said.log"  # what pytest printed last

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


_BLOCKS = (ast.FunctionDef, ast.For, ast.If, ast.While, ast.Try, ast.With)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=0, help="so many of each module, chosen at random; 0 takes all of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the modules whose path ends so")
    parser.add_argument("--number", type=int, nargs="*", default=[], help="these mutants")
    given = parser.parse_args()
    survived = 0
    with tempfile.TemporaryDirectory(prefix="codemods-mutate-") as scratch:
        root = Path(scratch) / "project"
        root.mkdir()
        for name in ("codemods", "tests", "fixtures", "docs", "pyproject.toml", "README.md", "Makefile"):
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, root / name)
        preload()
        for path, judges in JUDGES.items():
            if path.endswith(given.only):
                survived += judged(root, path, judges, given)
    return 1 if survived else 0


def judged(root: Path, path: str, judges: list[str], given: argparse.Namespace) -> int:
    original = (root / path).read_text(encoding="utf-8")
    plain = ast.unparse(ast.parse(original)) + "\n"
    mutants = changes_in(plain)
    chosen = given.number or sorted(
        random.Random(given.seed).sample(range(len(mutants)), min(given.n or len(mutants), len(mutants)))
    )
    (root / path).write_text(plain, encoding="utf-8")
    seen = root / "lines.json"
    verdict(root, judges, Lines(root / path, seen))
    if not seen.exists():
        said = (root / SAID).read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"the tests of {path} do not run:\n{said[-3000:]}")
    tests_of: dict[str, list[str]] = json.loads(seen.read_text(encoding="utf-8"))
    counts: Counter[str] = Counter()
    for number in chosen:
        line, text = mutated(plain, *mutants[number])
        (root / path).write_text(text, encoding="utf-8")
        start = time.perf_counter()
        running = tests_of.get(str(line), [])
        said = verdict(root, running) if running else "never run"
        counts[said] += 1
        if said != "killed":
            rows = difflib.unified_diff(plain.splitlines(), text.splitlines(), lineterm="", n=1)
            print(f"{path} mutant {number}: {said} ({len(running)} tests, {time.perf_counter() - start:.0f} s)")
            print("\n".join(row for row in rows if not row.startswith(("---", "+++"))), flush=True)
    (root / path).write_text(original, encoding="utf-8")
    told = ", ".join(f"{count} {said}" for said, count in counts.most_common())
    print(f"{path}: {len(mutants)} mutants, {len(chosen)} tried: {told}", flush=True)
    return counts["survived"] + counts["never run"]


def preload() -> None:
    import click.testing  # noqa: F401
    import libcst.metadata  # noqa: F401
    import pytest  # noqa: F401


class Lines:
    """A plugin of pytest that notes which lines of one file each test runs; a test that needs the oracle fails, and is left out."""

    def __init__(self, file: Path, into: Path) -> None:
        self.file = str(file.resolve())
        self.into = into
        self.tests: dict[int, dict[str, None]] = {}
        self.now = ""
        self.failed: set[str] = set()

    def _calls(self, frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        return self._lines if frame.f_code.co_filename == self.file else None

    def _lines(self, frame: FrameType, event: str, _: object) -> Callable[..., object]:
        self.tests.setdefault(frame.f_lineno, {})[self.now] = None
        return self._lines

    def pytest_runtest_setup(self, item: Any) -> None:
        self.now = item.nodeid
        sys.settrace(self._calls)

    def pytest_runtest_teardown(self, item: Any) -> None:
        sys.settrace(None)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        told = {line: [test for test in tests if test not in self.failed] for line, tests in self.tests.items()}
        self.into.write_text(json.dumps(told), encoding="utf-8")


def verdict(root: Path, judges: list[str], *plugins: object) -> str:
    """killed, survived, or timeout."""
    child = os.fork()
    if not child:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        said = os.open(root / SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1), os.dup2(said, 2)
        code = 3
        try:
            code = tested(root, judges, plugins)
        finally:
            sys.stdout.flush()
            os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(TIMEOUT)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    if os.WIFSIGNALED(status):
        return "timeout"
    return "survived" if os.WEXITSTATUS(status) == 0 else "killed"


def tested(root: Path, judges: list[str], plugins: Sequence[object] = ()) -> int:
    import pytest

    os.chdir(root)
    sys.path[:] = [str(root), *(each for each in sys.path if Path(each or ".").resolve() != PROJECT)]
    sys.dont_write_bytecode = True
    from tests import oracle

    oracle.run_programs = lambda *_: ()  # type: ignore[assignment]
    oracle.probe = lambda *_: _Blind()  # type: ignore[assignment]
    line = ["-q", "--no-header", "-p", "no:cacheprovider", *judges, *([] if plugins else ["-x"])]
    return int(pytest.main(line, plugins=list(plugins)))


class _Blind:
    """What a probe says that saw nothing wrong."""

    bound = listed = ()

    @property
    def loaded(self) -> frozenset[str]:
        return frozenset()


def changes_in(plain: str) -> list[tuple[int, int]]:
    """Every change that can be made: which node, in the order of `ast.walk`, and which change of it."""
    found = []
    for number, node in enumerate(ast.walk(ast.parse(plain))):
        for change in range(changes_of(node)):
            if can_apply(node, change):
                found.append((number, change))
    return found


def mutated(plain: str, number: int, change: int) -> tuple[int, str]:
    """The line that the change stands in, and the text with it."""
    tree = ast.parse(plain)
    node = next(each for at, each in enumerate(ast.walk(tree)) if at == number)
    place: Any = node.body[change - 1] if change and isinstance(node, _BLOCKS) else node  # type: ignore[attr-defined]
    line = place.target.lineno if isinstance(place, ast.comprehension) else place.lineno
    apply(node, change)
    return line, ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def changes_of(node: ast.AST) -> int:
    if isinstance(node, ast.comprehension):
        return len(node.ifs)
    if isinstance(node, _BLOCKS):
        return len(node.body) + 1
    return 1


def can_apply(node: ast.AST, change: int) -> bool:
    if isinstance(node, _BLOCKS) and change:
        gone = node.body[change - 1]
        call = isinstance(gone, ast.Expr) and isinstance(gone.value, ast.Call)
        return call or isinstance(gone, (ast.AugAssign, ast.Continue))
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in _TURNED
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Add, ast.Sub))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)  # a bool is one
    if isinstance(node, ast.Name):
        return node.id in ("any", "all")
    return isinstance(node, (ast.BoolOp, ast.If, ast.IfExp, ast.While, ast.comprehension))


def apply(node: ast.AST, change: int) -> None:
    if isinstance(node, _BLOCKS) and change:
        node.body[change - 1] = ast.Pass()
    elif isinstance(node, ast.Compare):
        node.ops[0] = _TURNED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.comprehension):
        del node.ifs[change]
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]
    elif isinstance(node, ast.BinOp):
        node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    elif isinstance(node, ast.Name):
        node.id = "all" if node.id == "any" else "any"


if __name__ == "__main__":
    sys.exit(main())
