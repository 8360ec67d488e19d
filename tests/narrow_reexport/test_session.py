"""Many runs over one tree share what they know of it, and say the same as runs of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.narrow_reexport.pipeline import run
from codemods.narrow_reexport.request import Request
from codemods.narrow_reexport.session import Session
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Tree, lay

TREE: Tree = {
    **PKG,
    "a.py": "from pkg import sym\n",
    "b.py": "import pkg\n\n\ndef f():\n    return pkg.sym(1), pkg.light(2)\n",
    # carriers of carriers: the file in the middle spells neither the package's name nor the symbol's
    "carrier.py": "import pkg as backend\n",
    "middle.py": "from carrier import backend as engine\n",
    "reader.py": "from middle import engine\n\nprint(engine.sym(3))\n",
    "starred.py": "from pkg import *\n\nprint(sym(4))\n",
    "onward.py": "from starred import *\n\nprint(sym(5))\n",
    # an identifier that Python reads in its normal form
    "odd.py": "import pkg\n\nprint(pkg.\N{LATIN SMALL LETTER LONG S}ym(6))\n",
    "other.py": "def nothing():\n    return None\n",
    "conf.toml": 'x = "pkg.other"\n',
    "README.md": "`pkg.sym` is fast\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lay(tmp_path, TREE)
    return tmp_path


@pytest.mark.parametrize("symbol", ["sym", "light"])
def test_a_run_says_the_same_with_a_session_that_remembers(root: Path, symbol: str) -> None:
    session = Session(root, remember=True)
    request = Request(root, "pkg", (symbol,))
    first = run(request, session)
    assert first == run(request)
    assert first == run(request, session)
    assert first.files >= 2


def test_the_index_leaves_out_what_cannot_matter_and_nothing_else(root: Path) -> None:
    session = Session(root, remember=True)
    found = session.candidates("pkg/", {"pkg", "sym"})
    assert set(TREE) - set(found) == {"middle.py", "other.py"}
    assert "middle.py" in session.candidates("pkg/", {"backend"})


def test_a_session_that_does_not_remember_gives_all_files(root: Path) -> None:
    assert set(Session(root).candidates("pkg/", {"sym"})) == set(TREE)


def test_a_session_that_remembers_keeps_the_bytes_that_it_read(root: Path) -> None:
    session = Session(root, remember=True)
    session.tree.read("a.py")
    (root / "a.py").write_text("changed\n")
    assert session.tree.read("a.py") == b"from pkg import sym\n"
    assert Session(root).tree.read("a.py") == b"changed\n"


LOSING: Tree = {
    "pkg/__init__.py": "from .sub import sym\n",
    "pkg/sub.py": "import oth.helper\n\n\ndef sym(): ...\n",
    "oth/__init__.py": "",
    "oth/helper.py": "limit = 3\n",
    # files in the middle that spell neither the package's name nor the lost submodule's
    "compat.py": "import oth as o\n",
    "starred.py": "import oth\n",
    "reader.py": "import pkg\nfrom compat import o\n\nprint(o.helper.limit)\n",
    "other.py": "import pkg\nfrom starred import *\n\nprint(oth.helper.limit)\n",
}


def test_nor_does_it_miss_a_read_of_what_is_no_longer_loaded(tmp_path: Path) -> None:
    lay(tmp_path, LOSING)
    session = Session(tmp_path, remember=True)
    request = Request(tmp_path, "pkg", ("sym",))
    result = run(request, session)
    assert result == run(request)
    assert [refusal.site.path for refusal in result.refusals] == ["other.py"]
    # and of a text that was edited
    lay(
        tmp_path,
        {"other.py": "", "compat.py": "import oth as p\n", "reader.py": "import pkg\nfrom compat import p\np.helper\n"},
    )
    files = {path: (tmp_path / path).read_bytes() for path in ("other.py", "compat.py", "reader.py")}
    result = run(request, session.edited(files))
    assert result == run(request)
    assert "reader.py" in {change.path for _, changes in result.changes for change in changes}
