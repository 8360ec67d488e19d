"""The oldest releases that the tests run with are those that pyproject.toml allows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[1]
TOLD = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEW_PYTHON = 'python_version >= "3.11"'  # not there where the oldest Python runs


def bounds() -> dict[str, str]:
    found: dict[str, str] = {}
    for requirement in [
        *TOLD["dependencies"],
        *(each for extra in TOLD["optional-dependencies"].values() for each in extra),
    ]:
        if NEW_PYTHON not in requirement:
            matched = re.match(r"([\w-]+)>=([\d.]+)", requirement)
            assert matched, f"{requirement} has no lower bound"
            assert found.setdefault(matched[1], matched[2]) == matched[2], f"{matched[1]} has two lower bounds"
    return found


def test_each_lower_bound_is_tested() -> None:
    lines = (PROJECT / "tests" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))

    def padded(version: str) -> str:
        return version + ".0" * (2 - version.count("."))

    assert pinned == {name: padded(version) for name, version in bounds().items()}


def test_the_oldest_python_is_the_one_that_is_declared() -> None:
    oldest = TOLD["requires-python"].removeprefix(">=")
    classifiers = [each.rpartition(" ")[2] for each in TOLD["classifiers"] if "Python :: 3." in each]
    assert classifiers[0] == oldest
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert f"$(foreach each,python{oldest} " in makefile
