"""Files that are too large or too deep: refused by name where they may reach the symbol, no matter otherwise."""

from __future__ import annotations

import sys

import pytest

from codemods.engine import source
from codemods.narrow_reexport import oversized
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten, contents, narrow, tree


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oversized, "LARGEST", 3000)
    monkeypatch.setattr(source, "LARGEST", 3000)


FILL = "x = 1\n" * 1000


@pytest.mark.parametrize("path", ["data.py", "data.json", "data.md", "data.ipynb", "setup.py"])
def test_a_large_file_that_names_both_is_refused_with_its_line(path: str) -> None:
    check_refused(
        {**PKG, path: f"{FILL}pkg.sym  # from pkg import sym\n{FILL}"}, "pkg", "sym", "too large", at=f"{path}:1001"
    )


def test_a_large_file_can_be_taken_out() -> None:
    files = {**PKG, "data.json": f'{FILL}"pkg.sym"'}
    check_rewritten(files, "pkg", "sym", NARROWED, options=["--exclude", "data.json"])
    check_rewritten(files, "pkg", "sym", NARROWED, options=["--accept", "data.json:1001"])


@pytest.mark.parametrize("text", ["sym\n", "import pkg.light\n"])
def test_a_large_file_that_does_not_name_both_does_not_matter(text: str) -> None:
    check_rewritten({**PKG, "data.py": FILL + text}, "pkg", "sym", NARROWED)


@pytest.mark.parametrize("branches", [300, 600])
def test_long_chains_of_branches_are_rewritten(branches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oversized, "LARGEST", 10**7)
    monkeypatch.setattr(source, "LARGEST", 10**7)
    # four frames of ours for each `elif`
    chain = "if a:\n    pass\n" + "elif b:\n    pass\n" * branches
    before = f"a = b = 0\nfrom pkg import sym\n{chain}print(sym())\n"
    check_rewritten(
        {**PKG, "main.py": before}, "pkg", "sym", {**NARROWED, "main.py": before.replace("from pkg ", "from pkg.sub ")}
    )


@pytest.mark.parametrize("where", ["main.py", "pkg/__init__.py", "pkg/sub.py"])
def test_what_is_nested_too_deeply_is_refused_or_no_obstacle_and_never_a_crash(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oversized, "LARGEST", 10**7)
    monkeypatch.setattr(source, "LARGEST", 10**7)
    deep = {
        "sum": "x = " + " + ".join(["1"] * 5000),
        "parentheses": "x = " + "(" * 5000 + ")" * 5000,
        "branches": "if a:\n    pass\n" + "elif b:\n    import pkg\n    pkg.sym\n" * 2000,
    }
    if where == "pkg/__init__.py" and sys.version_info >= (3, 12):
        del deep["branches"]  # these versions parse it, and then a run takes minutes: slow, and no crash
    for name, text in deep.items():
        first = PKG.get(where, "from pkg import sym\n")
        with tree({**PKG, where: f"{first!s}a = b = 0\n{text}\n"}) as root:
            before = contents(root)
            outcome = narrow(root, "pkg", "sym")
            assert outcome.code in (0, 3, 4), (name, outcome.text)
            if outcome.code:
                assert where in outcome.text and contents(root) == before, (name, outcome.text)
