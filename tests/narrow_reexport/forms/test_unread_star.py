"""A star in the `__init__` whose names are not known may bring the symbol as well."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, narrow, tree

REASON = r"this star may bring {} as well, and then the package goes on binding it, to another object"


def files(*lines: str, name: str = "sym") -> Tree:
    text = "".join(f"{line}\n" for line in (*lines, f"from .sub import {name}"))
    return {"pkg/__init__.py": text, "pkg/sub.py": f"def {name}(): ...\n", "a.py": f"from pkg import {name}\n"}


@pytest.mark.parametrize(
    ("star", "name"),
    [
        ("from some_library import *", "sym"),
        ("from some_library.deep import *", "sym"),
        ("from some_library import *", "__version__"),  # numpy's `__all__` has it
        ("from dataclasses import *", "replace"),
        ("from os import *", "sym"),  # its `__all__` is computed
        ("from _thread import *", "sym"),  # it has no source
        ("if x:\n    from some_library import *", "sym"),
    ],
)
def test_a_star_from_outside_that_may_bring_the_name_is_refused(star: str, name: str) -> None:
    line = 2 if star.startswith("if") else 1
    check_refused(files(star, name=name), "pkg", name, REASON.format(name), at=f"pkg/__init__.py:{line}")


def test_a_star_below_it_counts_as_well() -> None:
    tree_ = files()
    tree_["pkg/__init__.py"] = "from .sub import sym\nfrom some_library import *\n"
    check_refused(tree_, "pkg", "sym", REASON.format("sym"), at="pkg/__init__.py:2")


@pytest.mark.parametrize(
    ("star", "name"),
    [
        ("from dataclasses import *", "sym"),
        ("from json import *", "sym"),
        ("from some_library import *", "_sym"),
        ("from some_library import sym", "other"),
        ("def f():\n    import some_library", "sym"),
        ("if TYPE_CHECKING:\n    from some_library import *", "sym"),
        ("from .rest import *", "sym"),
    ],
)
def test_a_star_that_cannot_bring_it_is_none_of_these(star: str, name: str) -> None:
    rest = "__all__ = [each for each in ('a', 'b')]\na = b = 1\n"
    head = "from typing import TYPE_CHECKING\n" if "TYPE" in star else ""
    with tree({**files(*filter(None, (head.strip(), star)), name=name), "pkg/rest.py": rest}) as root:
        outcome = narrow(root, "pkg", name)
        assert outcome.code == 0, outcome.text
        assert f"import {name}" not in (root / "pkg/__init__.py").read_text().splitlines()[-1]


@pytest.mark.parametrize("rest", ["__all__ = make()\nsym = 1\n", "from some_library import *\n__all__ = make()\n"])
def test_a_module_of_the_tree_with_a_computed_list_counts_if_it_may_have_the_name(rest: str) -> None:
    check_refused({**files("from .rest import *"), "pkg/rest.py": rest}, "pkg", "sym", REASON.format("sym"))


def test_the_star_can_be_taken_on() -> None:
    with tree(files("from some_library import *  # codemods: accept narrow_reexport")) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert (root / "a.py").read_text() == "from pkg.sub import sym\n"
