"""A few hundred random trees in a fixed time, judged by the interpreter; `make fuzz` runs thousands.

Hypothesis draws the trees and makes a failing one small. The run is derandomized: the same code draws the same trees, so that a
failure in CI is a failure here, and a change that has nothing to do with it stays green. It stops after half a minute of judging,
on a slow machine with fewer trees; a change of Hypothesis or of the generator changes the trees.

Owns the run within the suite, and the tests of generator, judge and shrinker themselves.
Invariant: a tree that fails is printed in full, with the command that narrows it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz import planted
from tests.fuzz.__main__ import tree_of
from tests.fuzz.generator import grow
from tests.fuzz.judge import Judge, programs_of
from tests.fuzz.properties import judged
from tests.fuzz.shrink import save, shrunk
from tests.fuzz.trees import Chooser, RandomTree

pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="the judge forks")

_TREES = 300
_SECONDS = 30


class Drawn:
    """Choices that Hypothesis makes, and can make smaller."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, number: int) -> int:
        return self._draw(st.integers(0, number - 1))


@st.composite
def trees(draw: st.DrawFn) -> RandomTree:
    return grow(Chooser(Drawn(draw)))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge()
    yield found
    found.close()


def test_random_trees_behave_as_before(judge: Judge, tmp_path: Path) -> None:
    spent = [0.0, 0]

    @settings(
        max_examples=_TREES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(trees())
    def check(tree: RandomTree) -> None:
        if spent[0] > _SECONDS:
            return
        start = time.monotonic()
        verdict = judged(tree, tmp_path / "tree", judge, depth=int(spent[1]))
        if verdict.kind:
            command = " ".join(["narrow-reexport", tree.package, *tree.symbols, *tree.options])
            shown = "\n".join(f"--- {path}\n{data.decode('utf-8', 'replace')}" for path, data in tree.files.items())
            pytest.fail("\n".join([verdict.kind, *verdict.details, command, shown]))
        spent[0] += time.monotonic() - start
        spent[1] += 1

    check()
    assert spent[1] >= 10, f"only {spent[1]} trees in {spent[0]:.0f} seconds"


@pytest.mark.parametrize("name", [form.name for form in planted.forms()][::25])
def test_a_form_is_planted_whole(name: str) -> None:
    form = next(form for form in planted.forms() if form.name == name)
    number = next(at for at in range(5, 8 * len(planted.forms()), 8) if planted.forms()[at // 8] is form)
    tree = tree_of(1, number)
    assert name in tree.forms
    assert (tree.package, tree.symbols, tree.options) == (form.package, form.symbols, form.options)
    assert tree.files.keys() >= form.before.keys()


def test_every_form_gets_its_turn() -> None:
    forms = planted.forms()
    hosts = {forms[number // 8 % len(forms)].name for number in range(5, 8 * len(forms), 8)}
    assert hosts == {form.name for form in forms}


def test_a_number_is_always_the_same_tree() -> None:
    assert [tree_of(3, number) for number in range(40)] == [tree_of(3, number) for number in range(40)]
    assert tree_of(3, 7) != tree_of(4, 7)


TREE = RandomTree(
    {
        "pkg/__init__.py": b"from .sub import sym, other\n",
        "pkg/sub.py": b"def sym():\n    return 1\n\n\ndef other():\n    return 2\n",
        "app.py": b"from pkg import other, sym\n\nprint(sym())\n\n\ndef run_it():\n    return other()\n",
        "idle.py": b"import os\n\nX = 1\n",
    },
    "pkg",
    ("sym",),
)


def test_a_sound_tree_is_rewritten_and_found_sound(judge: Judge, tmp_path: Path) -> None:
    for depth in range(8):
        verdict = judged(TREE, tmp_path / "tree", judge, depth=depth)
        assert (verdict.outcome, verdict.kind) == ("rewritten", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"from pkg import other\nfrom pkg import sub as sym\n", "app: imported -> app: TypeError"),
        (b"from pkg import other\nfrom pkg.sub import other as sym\n", "prints '1' -> '2'"),
    ],
)
def test_the_judge_sees_a_wrong_rewrite(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, says: str
) -> None:
    from codemods.narrow_reexport import pipeline

    real = pipeline.run

    def wrong(request: object) -> object:
        result = real(request)  # type: ignore[arg-type]
        changes = tuple(
            (
                root,
                tuple(replace(c, after=text + c.after.partition(b"\n\n")[2]) if c.path == "app.py" else c for c in own),
            )
            for root, own in result.changes
        )
        return replace(result, changes=changes)

    monkeypatch.setattr(pipeline, "run", wrong)
    verdict = judged(TREE, tmp_path / "tree", judge)
    assert verdict.kind.startswith("behaviour: ")
    assert any(says in detail for detail in verdict.details), verdict.details


def test_a_failing_tree_is_made_small_and_saved(judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codemods.narrow_reexport import pipeline

    def fails(request: object) -> object:
        raise ZeroDivisionError("made up")

    monkeypatch.setattr(pipeline, "run", fails)
    verdict = judged(TREE, tmp_path / "tree", judge)
    small, again = shrunk(TREE, verdict, tmp_path / "small", judge, 0)
    assert again.kind == verdict.kind == "traceback: ZeroDivisionError: made up"
    assert sum(map(len, small.files.values())) < 40
    save(small, again, tmp_path / "saved", "python -m tests.fuzz --seed 1 --first 0 -n 1")
    told = (tmp_path / "saved/FAILURE.md").read_text()
    assert "python -m codemods.narrow_reexport pkg sym" in told
    assert re.search(r"ZeroDivisionError", told)


def test_programs_start_with_the_package_alone() -> None:
    assert programs_of(TREE)[0] == ("import", ["pkg"])
    assert ("use", ["app"]) in programs_of(TREE)
