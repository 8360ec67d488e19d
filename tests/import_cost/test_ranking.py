"""The ranking of all re-exports, against the definition of its score."""

from __future__ import annotations

from pathlib import Path

from codemods.import_cost.ranking import rank
from tests.import_cost.checkouts import HEAVY, opened


def test_the_score_is_modules_saved_times_importers_that_do_not_need_them(tmp_path: Path) -> None:
    first = rank(opened(tmp_path, HEAVY))[0]
    assert (first.package, first.origin, first.names) == ("pkg", "pkg.heavy", ("big", "bigger"))
    assert first.saved == 3
    # pkg, light, shared, user, models and models.model; heavy itself needs heavy
    assert first.importers == 6
    assert first.score == 18


def test_an_importer_that_takes_the_name_needs_the_origin(tmp_path: Path) -> None:
    files = {**HEAVY, "pkg/user.py": "from pkg import big\n"}
    assert rank(opened(tmp_path, files))[0].importers == 5


def test_a_reexport_that_is_loaded_all_the_same_is_not_ranked(tmp_path: Path) -> None:
    files = {**HEAVY, "pkg/light.py": "import pkg.heavy\nsmall = 1\n"}
    assert [each.origin for each in rank(opened(tmp_path, files))] == ["pkg.light"]


def test_importers_are_those_that_load_the_origin_now_and_would_not_any_more(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import f\n",
        "pkg/a.py": "import pkg.b\nf = 1\n",
        "pkg/b.py": "",
        "pkg/sub/__init__.py": "from .x import g\n",
        "pkg/sub/x.py": "import pkg.a\ng = 1\n",
    }
    found = {(each.package, each.origin): each for each in rank(opened(tmp_path, files))}
    loads = opened(tmp_path, files).loads
    cut = frozenset({("pkg", "pkg.a")})
    modules = ["pkg", "pkg.a", "pkg.b", "pkg.sub", "pkg.sub.x"]
    lost = [name for name in modules if "pkg.a" in loads.closure(name) - loads.closure(name, cut)]
    assert found["pkg", "pkg.a"].importers == len(lost)


def test_only_what_lies_below_the_module_is_ranked(tmp_path: Path) -> None:
    assert rank(opened(tmp_path, HEAVY), "pkg.models") == ()
