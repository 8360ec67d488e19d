"""What would be loaded once re-exports are narrowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.errors import UnknownSymbol
from codemods.engine.model import Symbol
from codemods.import_cost.blame import costs
from codemods.import_cost.tree import open_tree
from codemods.import_cost.what_if import what_if
from tests.import_cost.checkouts import HEAVY, opened


def test_an_origin_goes_when_all_its_names_go(tmp_path: Path) -> None:
    loads = opened(tmp_path, HEAVY).loads
    found = what_if(loads, "pkg.user", [Symbol("pkg", "big"), Symbol("pkg", "bigger")])
    assert (len(found.before), len(found.after)) == (7, 4)
    assert found.gone == ("pkg.heavy", "pkg.models", "pkg.models.model")
    assert found.third_party == ("torch", "transformers")
    assert found.stays == ()


def test_an_origin_stays_for_its_other_names(tmp_path: Path) -> None:
    found = what_if(opened(tmp_path, HEAVY).loads, "pkg", [Symbol("pkg", "big")])
    assert found.gone == ()
    (stays,) = found.stays
    assert (stays.origin, stays.others) == ("pkg.heavy", ("bigger",))


def test_an_origin_stays_for_a_call_site_that_is_loaded(tmp_path: Path) -> None:
    files = {**HEAVY, "pkg/light.py": "from pkg import big, bigger\nsmall = 1\n"}
    found = what_if(opened(tmp_path, files).loads, "pkg", [Symbol("pkg", "big"), Symbol("pkg", "bigger")])
    assert found.gone == ()
    (stays,) = found.stays
    assert [(edge.path, edge.line, edge.imported) for edge in stays.chain] == [
        ("pkg/__init__.py", 1, "pkg.light"),
        ("pkg/light.py", 1, "pkg.heavy"),
    ]


@pytest.mark.parametrize(
    ("taker", "after"),
    [
        ("from pkg.sub import f\n", {"pkg", "pkg.user", "pkg.far", "pkg.far.a"}),
        ("from pkg.sub import f, g\n", {"pkg", "pkg.user", "pkg.far", "pkg.far.a", "pkg.sub", "pkg.sub.b"}),
        (
            "from pkg.sub import f; import pkg.sub\n",
            {"pkg", "pkg.user", "pkg.far", "pkg.far.a", "pkg.sub", "pkg.sub.b"},
        ),
        ("import pkg.sub\n", {"pkg", "pkg.user", "pkg.sub", "pkg.sub.b"}),
    ],
)
def test_a_call_site_that_takes_nothing_else_lets_the_package_go(tmp_path: Path, taker: str, after: set[str]) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/sub/__init__.py": "from pkg.far.a import f\nfrom pkg.sub.b import g\n",
        "pkg/sub/b.py": "g = 1\n",
        "pkg/far/__init__.py": "",
        "pkg/far/a.py": "f = 1\n",
        "pkg/user.py": taker,
    }
    assert set(what_if(opened(tmp_path, files).loads, "pkg.user", [Symbol("pkg.sub", "f")]).after) == after


def test_two_packages_are_narrowed_at_once(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import f\nfrom .sub import g\n",
        "pkg/a.py": "f = 1\n",
        "pkg/sub/__init__.py": "from pkg.a import f\ng = 1\n",
    }
    loads = opened(tmp_path, files).loads
    assert what_if(loads, "pkg", [Symbol("pkg", "f")]).gone == ()
    assert what_if(loads, "pkg", [Symbol("pkg", "f"), Symbol("pkg.sub", "f")]).gone == ("pkg.a",)


def test_a_name_that_the_package_does_not_import_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownSymbol, match="imports no bif"):
        what_if(opened(tmp_path, HEAVY).loads, "pkg", [Symbol("pkg", "bif")])


@pytest.mark.parametrize("name", ["codemods.engine.graph", "codemods.narrow_reexport.plan", "codemods.import_cost.cli"])
def test_one_origin_narrowed_saves_what_it_is_to_blame_for(name: str) -> None:
    loads = open_tree(Path(__file__).resolve().parents[2], name, cached=False).loads
    for cost in costs(loads, name):
        if len(cost.taken.names) and loads.in_tree(cost.taken.origin):
            found = what_if(loads, name, [Symbol(name, each) for each in cost.taken.names])
            assert set(found.gone) == {each for each in cost.saved if loads.in_tree(each)}
