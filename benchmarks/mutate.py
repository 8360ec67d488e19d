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
import copy
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
from collections.abc import Callable, Iterator, Sequence
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
        "tests/check_narrowed/test_check.py",
    ],
}
TIMEOUT = 900

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
    tree = ast.parse(plain)
    mutants = list(mutants_of(tree))
    chosen = given.number or sorted(
        random.Random(given.seed).sample(range(len(mutants)), min(given.n or len(mutants), len(mutants)))
    )
    (root / path).write_text(plain, encoding="utf-8")
    seen = root / "lines.json"
    if verdict(root, judges, Lines(root / path, seen)) != "survived":
        raise SystemExit(f"the tests of {path} fail without a mutant")
    tests_of: dict[str, list[str]] = json.loads(seen.read_text(encoding="utf-8"))
    counts: Counter[str] = Counter()
    for number in chosen:
        line, mutant = mutants[number]
        text = ast.unparse(mutant) + "\n"
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
    """A plugin of pytest that notes which lines of one file each test runs."""

    def __init__(self, file: Path, into: Path) -> None:
        self.file = str(file.resolve())
        self.into = into
        self.tests: dict[int, dict[str, None]] = {}
        self.now = ""

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

    def pytest_sessionfinish(self) -> None:
        told = {line: list(tests) for line, tests in self.tests.items()}
        self.into.write_text(json.dumps(told), encoding="utf-8")


def verdict(root: Path, judges: list[str], *plugins: object) -> str:
    """killed, survived, or timeout."""
    child = os.fork()
    if not child:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        code = 3
        try:
            code = tested(root, judges, plugins)
        finally:
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
    line = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", *judges]
    return int(pytest.main(line, plugins=list(plugins)))


class _Blind:
    """What a probe says that saw nothing wrong."""

    bound = listed = ()

    @property
    def loaded(self) -> frozenset[str]:
        return frozenset()


def mutants_of(tree: ast.Module) -> Iterator[tuple[int, ast.Module]]:
    """Each with one change, and the line that it stands in, in the order of the nodes."""
    nodes = list(ast.walk(tree))
    for number, node in enumerate(nodes):
        for change in range(changes_of(node)):
            mutant = copy.deepcopy(tree)
            twin = next(each for at, each in enumerate(ast.walk(mutant)) if at == number)
            if apply(twin, change):
                place = node.body[change - 1] if change and not isinstance(node, ast.comprehension) else node  # type: ignore[attr-defined]
                line = place.target.lineno if isinstance(place, ast.comprehension) else place.lineno
                yield line, ast.fix_missing_locations(mutant)


def changes_of(node: ast.AST) -> int:
    if isinstance(node, ast.comprehension):
        return len(node.ifs)
    if isinstance(node, (ast.FunctionDef, ast.For, ast.If, ast.While, ast.Try, ast.With)):
        return len(node.body) + 1
    return 1


def apply(node: ast.AST, change: int) -> bool:
    """Change the node; False where there is nothing of that kind to change."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and change:
        gone = body[change - 1]
        if isinstance(gone, ast.AugAssign) or (isinstance(gone, ast.Expr) and isinstance(gone.value, ast.Call)):
            body[change - 1] = ast.Pass()
            return True
        if isinstance(gone, ast.Continue):
            body[change - 1] = ast.Pass()
            return True
        return False
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _TURNED:
        node.ops[0] = _TURNED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.comprehension):
        del node.ifs[change]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        node.value += 1
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    elif isinstance(node, ast.Name) and node.id in ("any", "all"):
        node.id = "all" if node.id == "any" else "any"
    else:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
