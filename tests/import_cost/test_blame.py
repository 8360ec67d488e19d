"""Costs against brute force: take the statement's edges from a plain dict graph, and count again."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from codemods.import_cost.blame import costs
from tests.import_cost.checkouts import opened


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen, todo = {start}, [start]
    while todo:
        for each in graph.get(todo.pop(), ()):
            if each not in seen:
                seen.add(each)
                todo.append(each)
    return seen


@pytest.mark.parametrize("seed", range(40))
def test_costs_are_what_a_recount_without_the_import_gives(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    names = [f"m{number}" for number in range(12)]
    graph: dict[str, set[str]] = {f"pkg.{name}": {"pkg"} for name in names}
    files = {}
    through: dict[str, set[str]] = {}  # who takes which module's name from the package
    taken = chance.sample(names, chance.randint(1, 5))
    for name in names:
        lines = []
        for other in chance.sample(names, chance.randint(0, 2)):
            if other != name:
                lines.append(f"from pkg.{other} import value_{other}")
                graph[f"pkg.{name}"].add(f"pkg.{other}")
        if chance.random() < 0.3:
            other = chance.choice(taken)
            lines.append(f"from pkg import value_{other}")
            through.setdefault(other, set()).add(f"pkg.{name}")
        if chance.random() < 0.3:
            lines.append(f"import third_{name}")
            graph[f"pkg.{name}"].add(f"third_{name}")
        files[f"pkg/{name}.py"] = "\n".join([*lines, f"value_{name} = 1", ""])
    files["pkg/__init__.py"] = "".join(f"from .{name} import value_{name}\n" for name in taken)
    graph["pkg"] = {f"pkg.{name}" for name in taken}
    found = {cost.taken.origin: cost.saved for cost in costs(opened(tmp_path, files).loads, "pkg")}
    assert found.keys() == {f"pkg.{name}" for name in taken}
    for name in taken:
        cut = {key: set(values) for key, values in graph.items()}
        cut["pkg"].discard(f"pkg.{name}")
        for module in through.get(name, ()):
            cut[module].add(f"pkg.{name}")
        assert found[f"pkg.{name}"] == reached(graph, "pkg") - reached(cut, "pkg"), name


def test_the_package_around_a_module_is_no_import_of_it(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import f\n",
        "pkg/a.py": "f = 1\n",
        "pkg/sub/__init__.py": "from pkg import f\n",
    }
    (cost,) = costs(opened(tmp_path, files).loads, "pkg.sub")
    assert not cost.saved


def test_a_star_in_a_call_site_takes_what_the_package_has(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import f\nfrom .b import g\n",
        "pkg/a.py": "f = 1\n",
        "pkg/b.py": "from pkg import *\ng = 1\n",
    }
    saved = {cost.taken.origin: cost.saved for cost in costs(opened(tmp_path, files).loads, "pkg")}
    assert saved["pkg.a"] == frozenset()


def test_the_names_of_a_star_stay_with_those_who_take_them(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .a import *\nfrom .b import g\n",
        "pkg/a.py": "f = 1\n",
        "pkg/b.py": "from pkg import f\ng = 1\n",
    }
    saved = {cost.taken.origin: cost.saved for cost in costs(opened(tmp_path, files).loads, "pkg")}
    assert saved["pkg.a"] == frozenset()
