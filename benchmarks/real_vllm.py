"""`make real-vllm`: run on the released vLLM 0.27.0, and hold the result against what its maintainers merged.

Owns the released tree (fetched once, kept under `.cache/`), the copies that runs work on, and the Markdown table.
Invariant: it never changes the released tree itself, and it exits 1 if any run does not do what is expected of it.

    python benchmarks/real_vllm.py [--archive vllm-0.27.0.tar.gz] [--keep DIR]
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

RELEASE = "vllm-0.27.0"
CACHE = Path(__file__).resolve().parent.parent / ".cache"

OPS = "vllm.models.common.ops"
FUSED = "fused_allreduce_rms_norm"
OPS_INIT = "vllm/models/common/ops/__init__.py"
DIRECT = f"from {OPS}.{FUSED} import {FUSED}\n"
THROUGH_PACKAGE = f"from {OPS} import {FUSED}\n"
CALL_SITES = (
    "vllm/models/deepseek_v32/amd/model.py",
    "vllm/models/deepseek_v32/nvidia/model.py",
    "vllm/models/kimi_k3/nvidia/dspark_mla.py",
)

# Two tests hold code in strings that imports the name; the strings keep working only as long as the package exports it.
RANK = "get_tensor_model_parallel_rank"
RANK_STRING = f'"from vllm.distributed import {RANK}",'
RANK_TESTS = ("tests/v1/shutdown/test_startup_error.py", "tests/v1/shutdown/test_forward_error.py")

# One function asks the package for a name that it computes (for a link in the documentation, with None as default). What
# it gets for VllmConfig changes, so the command refuses until a person accepts that line; this script does.
DYNAMIC = "getattr(vllm.config, name, None)"
DYNAMIC_FILE = "vllm/engine/arg_utils.py"

# Started as a process of its own, so that the peak is that of the command and not of whoever called.
MEASURE = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
json.dump({"code": code, "seconds": seconds, "peak": peak}, open(sys.argv[1], "w"))
"""

Tree = dict[str, tuple[str, str]]


@dataclass
class Row:
    """One line of the table, and what was wrong with it."""

    title: str
    code: int = -1
    changed: int = 0
    seconds: float = 0.0
    peak: int = 0
    again: str = ""
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    code: int
    output: str
    seconds: float
    peak: int


def main() -> int:
    options = arguments()
    archive = options.archive or fetch()
    with tempfile.TemporaryDirectory(prefix="real-vllm-") as scratch:
        released = unpack(archive, Path(scratch) / "released")
        before = snapshot(released)
        rows = []
        for run in runs(released):
            tree = Path(scratch) / "tree"
            shutil.copytree(released, tree, symlinks=True)
            rows.append(run(tree, before))
            if options.keep:
                shutil.copytree(tree, options.keep / str(len(rows)), symlinks=True)
            shutil.rmtree(tree)
            print(f"done: {rows[-1].title}", file=sys.stderr)
    print(table(rows))
    for row in rows:
        for problem in row.problems:
            print(f"\nFAILED: {row.title}: {problem}")
    return 1 if any(row.problems for row in rows) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--archive", type=Path, help="use this source archive instead of fetching one")
    parser.add_argument("--keep", type=Path, help="copy the tree after each run to a numbered folder in here")
    return parser.parse_args()


# --- the released tree ---


def fetch(release: str = RELEASE) -> Path:
    """The source archive, downloaded once: `unearth` takes it from the package index without building anything."""
    archive = CACHE / f"{release}.tar.gz"
    if not archive.is_file():
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            unearth = Path(sys.executable).parent / "unearth"
            command = [str(unearth), "--no-binary", "-d", folder, release.replace("-", "==")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            (found,) = Path(folder).glob("*.tar.gz")
            found.replace(archive)
    return archive


def unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:  # an early 3.10 or 3.11
            tar.extractall(folder)
    (tree,) = folder.iterdir()
    return tree


def snapshot(tree: Path) -> Tree:
    """Every file with its kind and mode, and a hash of its bytes; folders count by the files in them."""
    found: Tree = {}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = Path(folder, name)
            if path.is_symlink():
                kind, content = "link", str(path.readlink()).encode()
            else:
                kind, content = oct(path.stat().st_mode), path.read_bytes()
            found[path.relative_to(tree).as_posix()] = (kind, hashlib.sha256(content).hexdigest())
    return found


def differing(left: Tree, right: Tree) -> list[str]:
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))


# --- the runs ---


def runs(released: Path) -> Iterator[Callable[[Path, Tree], Row]]:
    """Each a function from (a fresh copy, the snapshot of the released tree) to a Row."""
    yield merged_fix
    yield lambda tree, before: narrowing(tree, before, "vllm.models.deepseek_v4.common.ops", ["--all"])
    yield lambda tree, before: narrowing(tree, before, "vllm.config", ["VllmConfig"], (DYNAMIC_FILE,), DYNAMIC)
    yield lambda tree, before: narrowing(tree, before, "vllm.distributed", [RANK], strings=RANK_TESTS)
    package, symbol, line = used_by_its_init(released)
    yield lambda tree, before: refusal(tree, before, package, symbol, line)


def merged_fix(tree: Path, before: Tree) -> Row:
    """Put back what the fix of August 2026 removed; the command must make the released tree of it again."""
    row = Row(f"`{OPS}` `{FUSED}`, against the released tree")
    put_back(tree)
    broken = snapshot(tree)
    if differing(broken, before) != sorted([OPS_INIT, *CALL_SITES]):
        row.problems.append(f"the re-export was not put back as meant: {differing(broken, before)}")
    measured(row, tree, broken, [OPS, FUSED], expected=0)
    if left := [name for name in differing(snapshot(tree), before) if name != "narrowed.toml"]:
        row.problems.append(f"not byte-identical with the released tree: {', '.join(left[:10])}")
    if not (tree / "narrowed.toml").is_file():
        row.problems.append("no narrowed.toml was written")
    again(row, tree, [OPS, FUSED])
    return row


def put_back(tree: Path) -> None:
    first = "from .fused_qk_rmsnorm import fused_q_kv_rmsnorm\n"
    replace_once(tree / OPS_INIT, first, f"from .{FUSED} import {FUSED}\n{first}")
    replace_once(tree / OPS_INIT, "__all__ = [\n", f'__all__ = [\n    "{FUSED}",\n')
    for path in CALL_SITES:
        replace_once(tree / path, DIRECT, THROUGH_PACKAGE)


def replace_once(path: Path, old: str, new: str) -> None:
    content = path.read_bytes()
    assert content.count(old.encode()) == 1, f"{path}: expected once: {old!r}"
    path.write_bytes(content.replace(old.encode(), new.encode()))


def narrowing(
    tree: Path,
    before: Tree,
    package: str,
    symbols: list[str],
    strings: tuple[str, ...] = (),
    spelled: str = RANK_STRING,
) -> Row:
    """Must succeed, and leave no import of the symbols through the package, whichever way it is written."""
    row = Row(f"`{package}` `{' '.join(symbols)}`")
    names = exported(tree, package) if symbols == ["--all"] else symbols
    command = [package, *symbols]
    if strings and run_command(tree, command).code == 4:
        accepted = [f"{path}:{line}" for path in strings for line in lines_with(tree / path, spelled)]
        command += [word for place in accepted for word in ("--accept", place)]
        row.title += f", accepting {len(accepted)} {'site' if len(accepted) == 1 else 'sites'}"
        if differing(snapshot(tree), before):
            row.problems.append("a refused run changed the tree")
    measured(row, tree, before, command, expected=0)
    if left := list(imports_through(tree, package, set(names))):
        row.problems.append(f"still imported through the package: {', '.join(left[:5])}")
    row.problems += [f"does not parse any more: {name}" for name in unparsable(tree, differing(snapshot(tree), before))]
    again(row, tree, command)
    return row


def refusal(tree: Path, before: Tree, package: str, symbol: str, line: int) -> Row:
    """A symbol that its own `__init__` uses at import time: exit 4, the line named, nothing written."""
    row = Row(f"`{package}` `{symbol}`, which the `__init__` itself uses")
    outcome = measured(row, tree, before, [package, symbol], expected=4)
    place = f"{package.replace('.', '/')}/__init__.py:{line}"
    if place not in outcome.output:
        row.problems.append(f"the refusal does not name {place}")
    if row.changed:
        row.problems.append("a refused run changed the tree")
    again(row, tree, [package, symbol], expected=4)
    return row


def measured(row: Row, tree: Path, before: Tree, command: list[str], expected: int) -> Outcome:
    outcome = run_command(tree, command)
    row.code, row.seconds, row.peak = outcome.code, outcome.seconds, outcome.peak
    row.changed = len([name for name in differing(snapshot(tree), before) if name != "narrowed.toml"])
    if outcome.code != expected:
        row.problems.append(f"exit {outcome.code}, expected {expected}:\n{tail(outcome.output)}")
    if "Traceback (most recent call last)" in outcome.output:
        row.problems.append(f"a traceback:\n{tail(outcome.output)}")
    return outcome


def again(row: Row, tree: Path, command: list[str], expected: int = 0) -> None:
    before = snapshot(tree)
    outcome = run_command(tree, command)
    changed = differing(snapshot(tree), before)
    row.again = f"exit {outcome.code}, {'changes nothing' if not changed else f'changes {len(changed)} files'}"
    if changed:
        row.problems.append(f"a second run changes {', '.join(changed[:10])}")
    if outcome.code != expected:
        row.problems.append(f"the second run exits {outcome.code}:\n{tail(outcome.output)}")


def run_command(tree: Path, command: list[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        program = [sys.executable, "-m", "codemods.narrow_reexport", *command]
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"NO_COLOR": "1"}
        done = subprocess.run(
            [sys.executable, "-c", MEASURE, str(report), *program],
            cwd=tree,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
        )
        numbers = json.loads(report.read_text())
    output = done.stdout.decode("utf-8", "replace")
    return Outcome(numbers["code"], output, numbers["seconds"], numbers["peak"])


# --- what is read off the trees, with nothing but `ast` ---


def exported(tree: Path, package: str) -> list[str]:
    module = ast.parse((tree / package.replace(".", "/") / "__init__.py").read_bytes())
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return list(ast.literal_eval(node.value))
    raise SystemExit(f"{package} has no __all__")


def imports_through(tree: Path, package: str, names: set[str]) -> Iterator[str]:
    """`file:line` of every from-import of one of the names through the package, absolute or relative."""
    needles = [name.encode() for name in names]
    for path in sorted(tree.rglob("*.py")):
        content = path.read_bytes()
        if not any(needle in content for needle in needles):
            continue
        where = path.relative_to(tree)
        parents = where.parent.parts
        for node in ast.walk(parsed(content)):
            if isinstance(node, ast.ImportFrom):
                base = parents[: len(parents) - node.level + 1] if node.level else ()
                source = ".".join([*base, *([node.module] if node.module else [])])
                if source == package and names & {alias.name for alias in node.names}:
                    yield f"{where.as_posix()}:{node.lineno}"


def parsed(content: bytes) -> ast.Module:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def unparsable(tree: Path, names: list[str]) -> Iterator[str]:
    for name in names:
        if name.endswith(".py"):
            try:
                ast.parse((tree / name).read_bytes())
            except (SyntaxError, ValueError):
                yield name


def lines_with(path: Path, text: str) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, start=1) if text in line]
    assert found, f"{path}: no line with {text}"
    return found


def used_by_its_init(tree: Path) -> tuple[str, str, int]:
    """The first package (by path) whose `__init__` takes a name from a submodule and uses it at module level.

    Returns the package, the name, and the first line of such a use. `__all__` does not count as a use.
    """
    for path in sorted((tree / "vllm").rglob("__init__.py")):
        module = ast.parse(path.read_bytes())
        imported = {
            alias.asname or alias.name
            for node in module.body
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
            for alias in node.names
        }
        uses = sorted((line, name) for name, line in eager_reads(module) if name in imported)
        if uses:
            line, name = uses[0]
            return ".".join(path.relative_to(tree).parent.parts), name, line
    raise SystemExit("no package uses a re-export of its own at import time")


def eager_reads(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Names read while the module is imported: everything but the bodies of functions, and `__all__`."""
    if isinstance(node, ast.Lambda):
        return
    children: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        children = [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id, node.lineno
    for child in children:
        yield from eager_reads(child)


# --- the table ---


def table(rows: list[Row]) -> str:
    lines = [
        "| run | exit | files changed | wall time | peak memory | second run | as expected |",
        "| --- | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row.title} | {row.code} | {row.changed} | {row.seconds:.2f} s | {row.peak / 2**20:.0f} MiB "
            f"| {row.again} | {'no' if row.problems else 'yes'} |"
        )
    day, python = time.strftime("%Y-%m-%d"), ".".join(map(str, sys.version_info[:3]))
    lines += ["", f"vLLM 0.27.0, Python {python}, {os.cpu_count()} cores, {day}. Files changed are counted without"]
    lines += ["`narrowed.toml`; wall time includes Python's start; peak memory is that of the largest process."]
    return "\n".join(lines)


def tail(output: str, lines: int = 25) -> str:
    return "\n".join(f"    {line}" for line in output.rstrip().splitlines()[-lines:])


if __name__ == "__main__":
    sys.exit(main())
