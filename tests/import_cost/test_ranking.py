"""The ranking of all re-exports, against the definition of its score."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("seed", range(25))
def test_the_score_is_its_definition_on_random_trees(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    leaves = [f"pkg.{part}.m{n}" for part in ("a", "b") for n in range(5)]
    files = {"pkg/__init__.py": ""}
    takes: dict[str, set[tuple[str, str]]] = {}  # module -> (package, name) taken through the package
    for part in ("a", "b"):
        own = [name for name in leaves if name.startswith(f"pkg.{part}.")]
        files[f"pkg/{part}/__init__.py"] = "".join(
            f"from {name} import value_{name[-2:]}\n" for name in chance.sample(own, 3)
        )
    for name in leaves:
        lines = [f"import {other}" for other in chance.sample(leaves, chance.randint(0, 1)) if other != name]
        if chance.random() < 0.4:
            package, value = f"pkg.{chance.choice('ab')}", f"value_m{chance.randint(0, 4)}"
            lines.append(f"from {package} import {value}")
            takes.setdefault(name, set()).add((package, value))
        files[name.replace(".", "/") + ".py"] = "\n".join([*lines, f"value_{name[-2:]} = 1", ""])
    found = opened(tmp_path, files)
    loads = found.loads
    ranked = {(each.package, each.origin): each for each in rank(found)}
    for package in ("pkg.a", "pkg.b"):
        for taken in loads.taken(package):
            cut = loads.edges_of(package, taken)
            moved = [name for name, pairs in takes.items() if any((package, each) in pairs for each in taken.names)]
            extra = {name: frozenset({taken.origin}) for name in moved}
            lost = [
                name for name in found.modules if taken.origin in loads.closure(name) - loads.closure(name, cut, extra)
            ]
            saved = loads.closure(package) - loads.closure(package, cut, extra)
            each = ranked.get((package, taken.origin))
            expected = (len(saved), len(lost)) if package in lost else None
            assert (each and (each.saved, each.importers)) == expected
