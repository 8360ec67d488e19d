"""With --keep-going a plan is made again only where a symbol that was left out could matter."""

from __future__ import annotations

import pytest

from codemods.narrow_reexport import pipeline
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Tree, check_refused, narrow, tree

TWO: Tree = {
    **PKG,
    "one.py": "from pkg import sym\n\nprint(sym(1))\n",
    "both.py": "from pkg import light, sym\n\nprint(sym(1), light(2))\n",
    "plain.py": "import pkg\n\n\ndef f():\n    return pkg.sym(3)\n",
    "blocks.py": "import pkg\n\npkg.light = None\n",
}


def test_only_files_that_spell_the_refused_symbol_are_planned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[list[str]] = []
    original = pipeline.plan_files

    def counting(sources: dict[str, bytes], *rest: object) -> object:
        planned.append(sorted(sources))
        return original(sources, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "plan_files", counting)
    with tree(TWO) as root:
        outcome = narrow(root, "pkg", "sym", "light", "--keep-going")
        assert outcome.code == 4
        assert (
            root / "both.py"
        ).read_text() == "from pkg import light\nfrom pkg.sub import sym\n\nprint(sym(1), light(2))\n"
        assert "from pkg.sub import sym" in (root / "one.py").read_text()
        assert (root / "pkg/__init__.py").read_text() == "from .light import light\n"
    assert "one.py" in planned[0]
    assert planned[1] == ["both.py"]  # blocks.py spells no symbol that is left


def test_the_result_is_that_of_a_run_for_the_other_symbol_alone() -> None:
    with tree(TWO) as root:
        narrow(root, "pkg", "sym", "light", "--keep-going")
        together = {path.name: path.read_bytes() for path in root.glob("*.py")}
    with tree(TWO) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert together == {path.name: path.read_bytes() for path in root.glob("*.py")}


def test_without_keep_going_the_refusal_stands() -> None:
    check_refused(TWO, "pkg", "light sym", "assigns to", at="blocks.py:3")
