"""Re-exports that nobody reads: never one that somebody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.import_cost.unused import unused
from tests.import_cost.checkouts import opened

PKG = {
    "top/__init__.py": "",
    "top/pkg/__init__.py": "from .a import f, g\n",
    "top/pkg/a.py": "f = g = 1\n",
    "hop.py": "import top.pkg as handed\n",
}


def names(root: Path, files: dict[str, str]) -> list[str]:
    return [each.name for each in unused(opened(root, files, "top"))[0]]


@pytest.mark.parametrize(
    "text",
    [
        "from top.pkg import f\n",
        "import top.pkg\nprint(top.pkg.f)\n",
        "from top import pkg as p\nprint(p.f)\n",
        "from top import pkg as p\nq = p\nprint(q.f)\n",
        "from top.pkg import *\nprint(f)\n",
        "import importlib\nprint(importlib.import_module('top.pkg').f)\n",
        "from top import pkg\nprint(getattr(pkg, 'f'))\n",
        "TARGET = 'top.pkg.f'\n",
        "TARGET = 'top.pkg:f'\n",
        "from hop import handed\nprint(handed.f)\n",
        "import hop\nprint(hop.handed.f)\n",
        "from unittest import mock\nmock.patch.multiple('top.pkg', f=1)\n",
    ],
)
def test_what_is_read_is_not_unused(tmp_path: Path, text: str) -> None:
    assert names(tmp_path, {**PKG, "app.py": text}) == ["g"]


@pytest.mark.parametrize("text", ["from outer import f\n", "import outer as o\nprint(o.f)\n", "X = 'outer.f'\n"])
def test_who_reads_it_where_a_star_passes_it_on_is_a_reader(tmp_path: Path, text: str) -> None:
    files = {**PKG, "top/mid.py": "from .pkg import *\n", "outer.py": "from top.mid import *\n", "app.py": text}
    assert names(tmp_path, files) == ["g"]


def test_a_star_of_the_top_level_package_makes_names_public(tmp_path: Path) -> None:
    files = {**PKG, "top/__init__.py": "from .pkg import *\n"}
    assert {each.public for each in unused(opened(tmp_path, files, "top"))[0]} == {"in the top-level package"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.pyi", "from top.pkg import f as f\n"),
        ("fast.pyx", "from top.pkg cimport x\nfrom top.pkg import f\n"),
        ("nb.ipynb", '{"cells": [{"source": ["import os\\n", "from top.pkg import f\\n"]}]}'),
        ("run.sh", 'python -c "from top.pkg import f; f()"\n'),
        ("top/pkg/more.pyi", "from . import f\n"),
    ],
)
def test_code_that_is_no_module_counts_too(tmp_path: Path, path: str, text: str) -> None:
    assert names(tmp_path, {**PKG, path: text}) == ["g"]


def test_settings_count_as_readers(tmp_path: Path) -> None:
    assert names(tmp_path, {**PKG, "setup.cfg": "[options]\nf = top.pkg:f\n"}) == ["g"]


def test_what_nobody_reads_is_listed_with_its_place(tmp_path: Path) -> None:
    found, looked_at = unused(opened(tmp_path, {**PKG, "app.py": "from top.pkg.a import f\n"}, "top"))
    assert looked_at == 2
    assert [(each.name, each.origin, each.path, each.line, each.public) for each in found] == [
        ("f", "top.pkg.a", "top/pkg/__init__.py", 1, ""),
        ("g", "top.pkg.a", "top/pkg/__init__.py", 1, ""),
    ]


def test_what_the_init_reads_itself_is_no_reexport_alone(tmp_path: Path) -> None:
    assert names(tmp_path, {**PKG, "top/pkg/__init__.py": "from .a import f, g\nx = f + 1\n"}) == ["g"]


@pytest.mark.parametrize(
    ("files", "public"),
    [
        ({"top/pkg/__init__.py": "from .a import f\n__all__ = ['f']\n"}, "in __all__"),
        ({"top/pkg/__init__.py": "from .a import f\nif True:\n    __all__ = []\n    __all__ += ['f']\n"}, "in __all__"),
        ({"top/pkg/__init__.py": "from . import a\nfrom .a import f\n__all__ = [*a.__all__]\n"}, "in __all__"),
        ({"docs/use.md": "Call `top.pkg.f`.\n", "top/pkg/__init__.py": "from .a import f\n"}, "in the documentation"),
        (
            {"docs/use.md": ">>> from top.pkg import f\n", "top/pkg/__init__.py": "from .a import f\n"},
            "in the documentation",
        ),
        ({"top/pkg/__init__.py": "", "top/__init__.py": "from .pkg.a import f\n"}, "in the top-level package"),
    ],
)
def test_public_names_are_marked(tmp_path: Path, files: dict[str, str], public: str) -> None:
    found = [each.public for each in unused(opened(tmp_path, {**PKG, **files}, "top"))[0] if each.name == "f"]
    assert found == [public]
