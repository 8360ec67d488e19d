"""What the bytes of one file say, form by form."""

from __future__ import annotations

import pytest

from codemods.engine.model import Site, Symbol
from codemods.engine.modules import Layout
from codemods.narrow_reexport.needles import NOTHING, Needles, Seen
from codemods.narrow_reexport.resolve import Resolution

PATHS = ("app/pkg/__init__.py", "app/pkg/sub.py", "app/pkg/near.py", "app/__init__.py", "app/other.py", "main.py")
FLAGS = (False, False, False, False, False, ())


def look(path: str, text: str, *, lost: tuple[str, ...] = ("app.pkg.sub",), wants_names: bool = False) -> Seen:
    found = Resolution(
        Symbol("app.pkg", "sym"), Symbol("app.pkg.sub", "sym"), Site("app/pkg/__init__.py", 1, 0, ""), *FLAGS
    )
    return Needles(Layout(PATHS, "app.pkg", ()), [found], lost, wants_names=wants_names).look(path, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "from app.pkg import sym\n",
        "import app.pkg as p\n\nprint(p.sym)\n",
        "import app\n\ngetattr(app.pkg, name)\n",
        "from app import pkg\n\nregister(pkg)\n",
        "from app import pkg\n\nprint(pkg.__all__)\n",
        "import sys\n\nsys.modules['app.pkg.sub'] = None\n",
    ],
)
def test_a_file_that_may_reach_the_symbol_is_kept(text: str) -> None:
    assert look("main.py", text).kept


@pytest.mark.parametrize(
    "text",
    [
        "from app.pkg import other\n",
        "print('pkg')\n",
        "import torch\n\nhasattr(torch.pkg, 'other')\n",
    ],
)
def test_a_file_that_cannot_is_not(text: str) -> None:
    seen = look("main.py", text)
    assert not seen.kept and not seen.unsure and not seen.losing


def test_a_file_that_spells_the_symbol_alone_waits_for_another_name_of_the_package() -> None:
    assert look("main.py", "from c import p\n\nprint(p.sym)\n") == Seen(unsure=True)


def test_a_file_of_the_package_needs_no_name_of_it() -> None:
    assert look("app/pkg/near.py", "from . import sym\n").kept


def test_what_imports_of_the_package_bind_is_told() -> None:
    assert look("main.py", "import app.pkg as p\nfrom app import pkg as q, pkg\n").names == (b"p", b"q")
    assert look("main.py", "from elsewhere import pkg\n").names == ()


def test_stars_are_told_as_they_are_spelled() -> None:
    assert look("main.py", "from app . pkg import *\nfrom .x import (*)\n").stars == {"app.pkg", ".x"}


def test_a_patch_tells_which_side_it_replaces() -> None:
    text = "import app.pkg\npatch('app.pkg.sym')\n"
    assert (look("main.py", text).patched, look("main.py", text).early) == ({"sym"}, frozenset())
    text = "import app.pkg\npatch('app.pkg.sub.sym')\n"
    assert (look("main.py", text).patched, look("main.py", text).early) == (frozenset(), {"sym"})


def test_a_read_of_a_submodule_that_is_no_longer_loaded_is_seen() -> None:
    assert look("main.py", "import app.pkg\n\napp.pkg.sub.other()\n").losing
    assert not look("main.py", "import app.pkg\n\napp.pkg.sub.other()\n", lost=()).losing


def test_names_read_through_the_package_are_gathered_on_request() -> None:
    text = "import app.pkg\nfrom app.pkg import one\n\napp.pkg.two\n"
    assert look("main.py", text, wants_names=True).reads >= {"one", "two"}
    assert look("main.py", text).reads == frozenset()


def test_pages_and_settings_are_others() -> None:
    assert look("README.md", "from app.pkg import sym\n") == Seen(other=True)
    assert look("setup.py", "print('app.pkg.sym')\n").other
    assert look("README.md", "nothing of it\n") is NOTHING


def test_a_plan_of_our_own_is_no_part_of_the_tree() -> None:
    assert look("plan.json", '{\n "command": "narrow_reexport",\n "x": "app.pkg.sym"\n}') is NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "from app import pkg\npatch.object(pkg, 'sub', fake)\n",
        "import app.pkg as p\nmonkeypatch.setattr(p, 'sub', fake)\n",
        "import app.pkg\nsetattr(\n    app.pkg,\n    'sub',\n    fake,\n)\n",
        "import app.pkg\napp.pkg.sub = fake\n",
        "import app.pkg as p\np.sub = fake\n",
        "patch('app.pkg.sub', fake)\n",
        "monkeypatch.delattr('app.pkg.sub')\n",
    ],
)
def test_a_module_on_the_way_to_the_origin_may_be_replaced(text: str) -> None:
    assert look("test_it.py", text).replaced == {"app.pkg.sub"}


@pytest.mark.parametrize(
    "text",
    [
        "import app.pkg\nself.sub = 1\n",
        "import app.pkg\napp.pkg.sub == fake\n",
        "import app.pkg\npatch.object(other, 'sub', fake)\n",
        "import app.pkg\npatch.object(app.pkg, 'near', fake)\n",
        "patch('app.pkg.sub.sym')\n",
        "import app.pkg\nfiles('app.pkg.sub')\nhasattr(x, 'y')\n",
        "import app.pkg\nprint(app.pkg.sub)\n",
    ],
)
def test_what_looks_like_it_is_not(text: str) -> None:
    assert look("test_it.py", text).replaced == frozenset()
