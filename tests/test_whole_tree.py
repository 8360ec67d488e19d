"""The fixture trees: each is copied, narrowed and compared with `after/` byte for byte, and its programs run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests import oracle
from tests.narrow_reexport.verbs import contents, narrow

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
CASES = sorted(FIXTURES.glob("narrow_reexport/*/case.toml"))
_KEYS = {"title", "package", "symbols", "options", "exit", "run", "repaired", "unloaded", "same"}


def test_there_is_a_fixture_tree() -> None:
    assert CASES


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_a_fixture_tree_becomes_its_after_tree(path: Path, tmp_path: Path) -> None:
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    assert case.keys() <= _KEYS, f"unknown keys {sorted(case.keys() - _KEYS)}"
    before = contents(path.parent / "before")
    root = tmp_path / "tree"
    shutil.copytree(path.parent / "before", root)
    programs, repaired = case.get("run", []), case.get("repaired", [])
    ran = oracle.run_programs(root, programs)
    broken = oracle.run_programs(root, repaired)
    assert all(program.exit_code for program in broken), "it ran before: nothing to repair"

    outcome = narrow(root, case["package"], *case["symbols"], *case.get("options", []))
    assert outcome.code == case.get("exit", 0), outcome.text
    after = path.parent / "after"
    wanted = before | (contents(after) if after.exists() else {})
    assert contents(root) == wanted
    for same in case.get("same", []):
        assert (root / same).read_bytes() == before[same]

    assert not oracle.differences(ran, oracle.run_programs(root, programs))
    assert not [program for program in oracle.run_programs(root, repaired) if program.exit_code]
    found = oracle.probe(root, case["package"], case["symbols"])
    assert not found.loaded & {*case.get("unloaded", [])}
    if outcome.code == 0:
        assert (found.bound, found.listed) == ((), ())
    left = contents(root)
    assert narrow(root, case["package"], *case["symbols"], *case.get("options", [])).code == outcome.code
    assert contents(root) == left


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_the_diff_of_a_fixture_tree_is_what_the_run_writes(path: Path, tmp_path: Path) -> None:
    import subprocess

    case = tomllib.loads(path.read_text(encoding="utf-8"))
    root = tmp_path / "tree"
    shutil.copytree(path.parent / "before", root)
    patch = narrow(root, case["package"], *case["symbols"], *case.get("options", []), "--diff")
    done = subprocess.run(["git", "apply", "-"], cwd=root, input=patch.stdout, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    after = path.parent / "after"
    assert contents(root) == contents(path.parent / "before") | (contents(after) if after.exists() else {})
