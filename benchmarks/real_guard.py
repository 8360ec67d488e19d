"""`make real-guard`: narrow two symbols of vLLM 0.27.0, put every kind of offence back by hand, and hold the enforcers together.

Owns the offences, and the comparison: `check_narrowed` and the Fixit rule must report exactly the marked lines, and
`check_narrowed --fix`, `fixit fix` and the codemod itself must give the same bytes.
Invariant: it exits 1 if any of that is not so.

    FIXIT_PYTHON=.venv-fixit/bin/python python benchmarks/real_guard.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_vllm import FUSED, OPS, OPS_INIT, fetch, put_back, unpack

PACKAGE, NAME = "vllm.models.deepseek_v4.common.ops", "mtp_shared_head_rmsnorm"
MARK = "# <- offence"
RULE = "codemods.rules.narrow_reexport"
SITES = f'''\
"""Call sites as people write them; those that are marked go through the package."""

from typing import TYPE_CHECKING

from {PACKAGE} import {NAME}  # keep  {MARK}
from {PACKAGE} import MXFP4_BLOCK_SIZE, {NAME} as renamed  {MARK}
import {PACKAGE} as ops

if TYPE_CHECKING:
    from {PACKAGE} import {NAME} as typed  {MARK}


def late():
    from {PACKAGE} import {NAME} as inner  {MARK}

    return inner, ops.{NAME}, renamed, {NAME}, MXFP4_BLOCK_SIZE  {MARK}


def annotated(x: "ops.{NAME}"): ...  {MARK}
'''
TRAP = f'''\
"""The same-name trap: the package's attribute is the module now."""

from {OPS} import {FUSED}  {MARK}
from {OPS} import ({FUSED} as renamed,)  {MARK}
from {OPS}.{FUSED} import {FUSED} as direct
import {OPS}.{FUSED} as called  {MARK}


def all_of_them():
    return {FUSED}(), renamed(), direct(), called()
'''
MODULES = f'''\
"""Ways to the module, which are right."""

import {OPS}.{FUSED} as asked
from {OPS} import {FUSED}

print(asked.{FUSED}(), {FUSED}.{FUSED}())
'''
SIBLING = f"from ..common.ops import {NAME}  {MARK}\nVALUE = {NAME}\n"
PATCHING = f'''\
from unittest import mock


def test_it():
    with mock.patch("{PACKAGE}.{NAME}"):  {MARK}
        pass
'''
FILES = {
    "vllm/guarded_sites.py": SITES,
    "vllm/guarded_trap.py": TRAP,
    "vllm/guarded_modules.py": MODULES,
    "vllm/models/deepseek_v4/nvidia/guarded_sibling.py": SIBLING,
    "tests/test_guarded_patch.py": PATCHING,
}


def main() -> int:
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="real-guard-") as scratch:
        tree = unpack(fetch(), Path(scratch) / "released")
        put_back(tree)
        narrow(tree, OPS, FUSED)
        narrow(tree, PACKAGE, NAME)
        for path, text in FILES.items():
            (tree / path).write_text(text, encoding="utf-8")
        problems += lines_agree("call sites", tree, FILES)
        left = compared(tree, Path(scratch), FILES, [(OPS, FUSED), (PACKAGE, NAME)])
        problems += left
        for path in FILES:
            (tree / path).unlink()
        init = tree / OPS_INIT
        clean = init.read_bytes()
        back = clean.decode()
        back = re.sub(r"(?m)^(from \.)", f"from .{FUSED} import {FUSED}  {MARK}\n\\1", back, count=1)
        back = back.replace("__all__ = [\n", f'__all__ = [\n    "{FUSED}",  {MARK}\n')
        init.write_text(back, encoding="utf-8")
        problems += lines_agree("the re-export", tree, {OPS_INIT: back})
        problems += compared(tree, Path(scratch), {OPS_INIT: back}, [(OPS, FUSED)])
    for problem in problems:
        print(f"FAILED: {problem}")
    print("the enforcers agree" if not problems else f"{len(problems)} problems")
    return 1 if problems else 0


def narrow(tree: Path, package: str, name: str) -> None:
    run([sys.executable, "-m", "codemods.narrow_reexport", package, name, "-q"], tree, 0)


def run(command: list[str], tree: Path, *codes: int) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    print(f"{time.perf_counter() - start:6.2f} s  {' '.join(command[1:5])}", file=sys.stderr)
    return done.stdout


def marked(files: dict[str, str]) -> set[tuple[str, int]]:
    return {
        (path, number) for path, text in files.items() for number, row in enumerate(text.split("\n"), 1) if MARK in row
    }


def lines_agree(what: str, tree: Path, files: dict[str, str]) -> list[str]:
    wanted = marked(files)
    answer = run([sys.executable, "-m", "codemods.check_narrowed", "--output-format", "json"], tree, 1)
    checked = {(each["path"], each["line"]) for each in json.loads(answer)["offences"]}
    template = "{path}:{start_line}"
    rows = run([*fixit(), "-o", "custom", "--output-template", template, "lint", *files], tree, 1)
    ruled = {(path, int(line)) for path, _, line in (row.rpartition(":") for row in rows.split())}
    print(f"{what}: {len(wanted)} lines marked, check_narrowed {len(checked)}, Fixit {len(ruled)}")
    problems = [f"{what}: check_narrowed differs at {sorted(checked ^ wanted)}"] if checked != wanted else []
    return problems + ([f"{what}: Fixit differs at {sorted(ruled ^ wanted)}"] if ruled != wanted else [])


def compared(tree: Path, scratch: Path, files: dict[str, str], symbols: list[tuple[str, str]]) -> list[str]:
    """Mend three copies, each by another enforcer, and compare the files."""
    results: dict[str, dict[str, bytes]] = {}
    for how in ("check_narrowed --fix", "fixit fix", "narrow-reexport"):
        copy = scratch / "copy"
        shutil.copytree(tree, copy, symlinks=True)
        if how == "narrow-reexport":
            if len(symbols) > 1:
                put_back(copy)  # the codemod tells a call of the function from the module by the re-export
                (copy / "vllm/guarded_modules.py").unlink()
            for package, name in symbols:
                narrow(copy, package, name)
            if len(symbols) > 1:
                (copy / "vllm/guarded_modules.py").write_text(MODULES, encoding="utf-8")
        elif how == "fixit fix":
            run([*fixit(), "fix", "--automatic", *files], copy, 0)
        else:
            run([sys.executable, "-m", "codemods.check_narrowed", "--fix"], copy, 0)
        results[how] = {path: (copy / path).read_bytes() for path in files}
        shutil.rmtree(copy)
    problems = []
    first = results["check_narrowed --fix"]
    for how, found in results.items():
        for path in files:
            if found[path] != first[path]:
                problems.append(f"{path}: {how} differs:\n{found[path].decode()}\n--- from\n{first[path].decode()}")
    return problems


def fixit() -> list[str]:
    python = os.environ.get("FIXIT_PYTHON", sys.executable)
    return [python, "-m", "fixit", "--rules", RULE]


if __name__ == "__main__":
    sys.exit(main())
