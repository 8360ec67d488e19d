"""`make type-check`: let an independent judge, the type checker pyrefly, read vLLM before and after five large narrowings.

Owns the five narrowings and the comparison: an error that is there afterwards and was not before, and that speaks of an
import, an attribute or a name, is a mistake of ours.
Invariant: it works on a copy of the released tree, and exits 1 if the judge finds such an error.

    python benchmarks/type_check.py [--keep DIR]        needs pyrefly: pip install pyrefly
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from every_reexport import released

RELEASE = "vllm-0.33.0"
FOLDERS = ("vllm", "tests", "examples", "benchmarks")
# what a person would accept after a look: a name that the program computes, and code in a string of a test
ACCEPT = ("--accept", "vllm/engine/arg_utils.py:296", "--accept", "tests/test_config.py:569")
NARROWINGS: tuple[tuple[str, ...], ...] = (
    ("vllm.config", "VllmConfig", *ACCEPT),
    ("vllm", "LLM"),
    ("vllm.inputs", "MultiModalDataDict"),
    ("vllm.distributed", "tensor_model_parallel_all_gather"),
    ("vllm.distributed", "get_ep_group"),
)
SPEAKS_OF = ("import", "attribute", "unknown-name", "unbound", "module")

Errors = Counter[tuple[str, str, str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="leave the narrowed tree there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codemods-types-") as scratch:
        tree = Path(scratch) / RELEASE
        shutil.copytree(released(RELEASE), tree)
        before = judged(tree)
        print(f"{sum(before.values()):,} errors before")
        for narrowing in NARROWINGS:
            start = time.perf_counter()
            line = [sys.executable, "-m", "codemods.narrow_reexport", *narrowing, "--output-format", "json"]
            done = subprocess.run(line, cwd=tree, capture_output=True, text=True, check=False)
            told = json.loads(done.stdout)
            files = len(told["changes"])
            print(
                f"{narrowing[0]}:{narrowing[1]}: exit {done.returncode}, {files} files, {time.perf_counter() - start:.1f} s"
            )
            for refusal in told["refusals"][:5]:
                print(f"    {refusal['path']}:{refusal['line']} {refusal['reason']}")
        after = judged(tree)
        if given.keep:
            shutil.copytree(tree, given.keep)
    print(f"{sum(after.values()):,} errors after")
    new = {error: count for error, count in (after - before).items() if any(word in error[1] for word in SPEAKS_OF)}
    other = sum((after - before).values()) - sum(new.values())
    print(
        f"{sum(new.values())} new ones that speak of an import, an attribute or a name; {other} others that are new or worded anew"
    )
    for (path, kind, text), count in sorted(new.items()):
        print(f"    {path}: {kind}: {text} ({count})")
    return 1 if new else 0


def judged(tree: Path) -> Errors:
    """The judge's errors: file, kind and text; lines move, so they do not count."""
    folders = [folder for folder in FOLDERS if (tree / folder).is_dir()]
    pyrefly = shutil.which("pyrefly", path=str(Path(sys.executable).parent)) or shutil.which("pyrefly")
    if pyrefly is None:
        sys.exit("pyrefly is needed: pip install pyrefly")
    line = [pyrefly, "check", "--output-format", "json", *folders]
    done = subprocess.run(line, cwd=tree, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["errors"]
    return Counter((each["path"], each["name"], each["description"]) for each in found)


if __name__ == "__main__":
    sys.exit(main())
