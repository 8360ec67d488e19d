"""Who uses a package's names through the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.import_cost.usage import users
from tests.import_cost.checkouts import opened

PKG = {"top/__init__.py": "", "top/pkg/__init__.py": "from .a import f, g\n", "top/pkg/a.py": "f = g = 1\n"}


@pytest.mark.parametrize(
    "text",
    [
        "from top.pkg import f\n",
        "def late():\n    from top.pkg import (\n        f as h,\n    )\n",
        "import top.pkg\nprint(top.pkg.f)\n",
        "import top.pkg as p\nprint(p.f)\n",
        "from top import pkg as p\nprint(p . f)\n",
        "import top\nprint(top.pkg.f)\n",
        "from top.pkg import *\nprint(f)\n",
    ],
)
def test_a_file_that_reaches_the_name_counts(tmp_path: Path, text: str) -> None:
    found = users(opened(tmp_path, {**PKG, "app.py": text}, "top.pkg"), "top.pkg", {"f", "g"})
    assert found == {"f": {"app.py"}, "g": frozenset()}


@pytest.mark.parametrize("text", ["from top.pkg.a import f\n", "import top.pkg\nf = 1\n", "import top.pkg\nx.f\n", ""])
def test_a_file_that_does_not_reach_it_does_not(tmp_path: Path, text: str) -> None:
    assert users(opened(tmp_path, {**PKG, "app.py": text}, "top.pkg"), "top.pkg", {"f"}) == {"f": frozenset()}


def test_the_package_itself_and_relative_imports(tmp_path: Path) -> None:
    files = {**PKG, "top/pkg/b.py": "from . import f\n", "top/other.py": "from .pkg import f\n"}
    assert users(opened(tmp_path, files, "top.pkg"), "top.pkg", {"f"})["f"] == {"top/pkg/b.py", "top/other.py"}
