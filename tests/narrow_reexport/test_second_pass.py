"""A plan is settled only if a second run over its result finds nothing: the short way never says more than the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import codemods.narrow_reexport.outcome as outcome
from codemods.engine.edits import edited
from codemods.engine.source import decode
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.pipeline import run
from codemods.narrow_reexport.plan import plan_file
from codemods.narrow_reexport.request import Request
from codemods.narrow_reexport.second_pass import plan_twice, verifying
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import lay

IMPORTS = "import os\nfrom pkg import light, sym\n\n\ndef f():\n    return sym(1)\n"
OBJECT = "import pkg\n\n\ndef f():\n    return pkg.sym(1)\n"
SHOWN = '"""An example.\n\n>>> from pkg import sym\n"""\nfrom pkg import sym\n'


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    lay(tmp_path, {**PKG, "a.py": IMPORTS})
    seen: list[Context] = []
    whole = outcome.plan_twice

    def looked_at(path: str, data: bytes, given: Context) -> FilePlan:
        seen.append(given)
        return whole(path, data, given)

    monkeypatch.setattr(outcome, "plan_twice", looked_at)
    run(Request(tmp_path, "pkg", ("sym",)))
    return seen[0]


@pytest.mark.parametrize(("text", "settled"), [(IMPORTS, True), (OBJECT, False), (SHOWN, False)])
def test_a_file_is_settled_where_imports_are_all_that_reach_the_package(
    context: Context, text: str, settled: bool
) -> None:
    plan = plan_twice("a.py", text.encode(), context)
    assert plan.edits
    assert plan.settled is settled
    assert plan_file("a.py", text.encode(), context) == FilePlan(
        **{name: getattr(plan, name) for name in FilePlan.__slots__ if name != "settled"}
    )


def test_a_settled_file_stands_a_whole_second_pass(context: Context) -> None:
    plan = plan_twice("a.py", IMPORTS.encode(), context)
    after = edited(decode(IMPORTS.encode(), "a.py"), plan.edits)
    assert isinstance(after, bytes)
    assert not plan_file("a.py", after, verifying(context)).edits


def test_a_plan_that_leaves_a_reference_is_not_settled(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    import codemods.narrow_reexport.second_pass as second_pass

    whole = second_pass.plan_tree

    def half(source: object, tree: object, given: Context) -> FilePlan:
        plan = whole(source, tree, given)  # type: ignore[arg-type]
        wrong = [edit.__class__(edit.path, edit.start, edit.end, "from pkg import sym\n") for edit in plan.edits[:1]]
        return FilePlan(plan.path, tuple(wrong), plan.sites)

    monkeypatch.setattr(second_pass, "plan_tree", half)
    assert not plan_twice("a.py", IMPORTS.encode(), context).settled


def test_an_unsettled_file_is_planned_again_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, {**PKG, "a.py": OBJECT, "b.py": IMPORTS})
    again: list[str] = []
    whole = outcome.plan_file

    def looked_at(path: str, data: bytes, given: Context) -> FilePlan:
        again.append(path) if given.verifying else None
        return whole(path, data, given)

    monkeypatch.setattr(outcome, "plan_file", looked_at)
    result = run(Request(tmp_path, "pkg", ("sym",)))
    assert not result.failures
    assert again == ["a.py"]
