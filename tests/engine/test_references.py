"""The places of a file that reach a name through a package: found by scope, never by spelling."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from codemods.engine.model import Module
from codemods.engine.references import (
    AttributeUse,
    FromName,
    LostModule,
    ModuleAlias,
    Reference,
    Reflection,
    StarImport,
    Target,
    binds_package,
    expression_references,
    import_references,
)
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse

MODULES = {
    name: Module(name, f"{name.replace('.', '/')}.py", False)
    for name in ("top", "top.pkg", "top.pkg.sub", "consumer", "other", "other.pkg")
}


def references(
    text: str, module: Module = MODULES["consumer"], carriers: Mapping[tuple[str, str], str] | None = None
) -> list[Reference]:
    source = decode(text.encode(), module.path)
    syntax = analyse(source, parse(source))
    target = Target(
        "top.pkg", frozenset({"sym"}), frozenset({"top.pkg.sub"}), frozenset({"hidden"}), carriers or {}, MODULES.get
    )
    found = [*import_references(syntax, module, target), *expression_references(syntax, module, target)]
    if any(isinstance(one, (AttributeUse, LostModule)) for one in found) and "'" not in text:
        assert binds_package(syntax, module, target)
    return found


def kinds(text: str, **options: object) -> list[str]:
    return [type(one).__name__ for one in references(text, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from top.pkg import sym\n", FromName),
        ("from top.pkg import a, sym as b\n", FromName),
        ("def f():\n    from top.pkg import sym\n", FromName),
        ("from top.pkg import *\n", StarImport),
        ("import top.pkg.sym as s\n", ModuleAlias),
        ("import top.pkg\ntop.pkg.sym\n", AttributeUse),
        ("import top\ntop.pkg.sym\n", AttributeUse),
        ("import top.pkg as p\np.sym\n", AttributeUse),
        ("from top import pkg\npkg.sym\n", AttributeUse),
        ("from top import pkg as q\nq.sym\n", AttributeUse),
        ("import top.pkg as p\nq = p\nq.sym\n", AttributeUse),
        ("import importlib\nimportlib.import_module('top.pkg').sym\n", AttributeUse),
        ("import sys\nsys.modules['top.pkg'].sym\n", AttributeUse),
        ("import top.pkg as p\np.sym = 1\n", AttributeUse),
        ("import top.pkg\ntop.pkg.sub.x\n", LostModule),
        ("import top.pkg as p\ngetattr(p, 'sym')\n", Reflection),
        ("import top.pkg as p\ng(p)\n", Reflection),
    ],
)
def test_each_form_is_found_once(text: str, kind: type) -> None:
    assert kinds(text) == [kind.__name__]


@pytest.mark.parametrize(
    "text",
    [
        "from other.pkg import sym\n",
        "from top.pkg import symbol\n",
        "from top.pkg.sub import sym\n",
        "import other.pkg\nother.pkg.sym\n",
        "import top.pkg as p\np.symbol\n",
        "def f(p):\n    return p.sym\n",
        "import top.pkg as p\ndef f(p):\n    return p.sym\n",
        "import top.pkg as p\nclass A:\n    p = None\n    x = p.y\n",
        "import top.pkg\nself.pkg.sym\n",
        "pkg.sym\n",
        "from top.pkg import hidden\nhidden.sym\n",
        "import top.pkg as p\n'p.sym'\n# p.sym\n",
        "top = object()\ntop.pkg.sym\n",
    ],
)
def test_what_only_looks_like_it_is_not_found(text: str) -> None:
    assert kinds(text) == []


def test_a_relative_import_is_made_absolute_first() -> None:
    inside = Module("top.pkg.user", "top/pkg/user.py", False)
    assert kinds("from . import sym\n", module=inside) == ["FromName"]
    assert kinds("from .. import pkg\npkg.sym\n", module=inside) == ["AttributeUse"]
    assert kinds("from .. import sym\n", module=inside) == []


def test_a_name_that_may_be_something_else_is_found_as_uncertain() -> None:
    found = references("import top.pkg as p\nif x:\n    p = y\np.sym\n")
    assert [use.certain for use in found if isinstance(use, AttributeUse)] == [False]


def test_none_and_del_are_no_other_module() -> None:
    found = references("try:\n    import top.pkg as p\nexcept ImportError:\n    p = None\np.sym\n")
    assert [use.certain for use in found if isinstance(use, AttributeUse)] == [True]


def test_a_carrier_of_the_package_is_followed() -> None:
    assert kinds("import other\nother.ops.sym\n", carriers={("other", "ops"): "top.pkg"}) == ["AttributeUse"]
    assert kinds("from other import ops\nops.sym\n", carriers={("other", "ops"): "top.pkg"}) == ["AttributeUse"]


def test_a_store_is_told_from_a_read() -> None:
    found = references("import top.pkg as p\np.sym\np.sym = 1\ndel p.sym\n")
    assert [use.stored for use in found if isinstance(use, AttributeUse)] == [False, True, True]


def test_reflection_says_how_and_by_which_name() -> None:
    found = references("import top.pkg as p\ngetattr(p, 'sym')\ngetattr(p, name)\nmock.patch.object(p, 'sym')\n")
    assert [(one.how, one.name, one.literal) for one in found if isinstance(one, Reflection)] == [
        ("getattr", "sym", True),
        ("getattr", "", False),
        ("mock.patch.object", "sym", True),
    ]
