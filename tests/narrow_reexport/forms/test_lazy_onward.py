"""Packages that export the symbol onward lazily: their tables go to the origin, or the run is refused."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

PKG: dict[str, str | bytes] = {
    "outer/pkg/__init__.py": "from .basic import light\nfrom .sub import sym\n",
    "outer/pkg/sub.py": "def sym(x=1):\n    return x * 10\n",
    "outer/pkg/basic.py": "def light(x):\n    return x\n",
    "main.py": "import outer\n\nprint(outer.sym(2), outer.light(3))\n",
}
NARROWED = {"outer/pkg/__init__.py": "from .basic import light\n"}


def table(entries: str, body: str) -> str:
    text = f"import importlib\n\n_LAZY = {entries}\n\n\ndef __getattr__(name):\n    if name in _LAZY:\n"
    return text + "".join(f"        {line}\n" for line in body.split("; ")) + "    raise AttributeError(name)\n"


SIMPLE = "return getattr(importlib.import_module(_LAZY[name], __name__), name)"
SPLIT = "m, a = _LAZY[name].split(':'); return getattr(importlib.import_module(m, __name__), a)"
DOTTED = "m, a = _LAZY[name].rsplit('.', 1); return getattr(importlib.import_module(m, __name__), a)"
PAIR = "m, a = _LAZY[name]; return getattr(importlib.import_module(m), a)"


@pytest.mark.parametrize(
    ("before", "after", "body"),
    [
        ('{"sym": ".pkg", "light": ".pkg"}', '{"sym": ".pkg.sub", "light": ".pkg"}', SIMPLE),
        ('{"sym": "outer.pkg", "light": ".pkg"}', '{"sym": "outer.pkg.sub", "light": ".pkg"}', SIMPLE),
        ("{'light': '.pkg:light', 'sym': '.pkg:sym'}", "{'light': '.pkg:light', 'sym': '.pkg.sub:sym'}", SPLIT),
        (
            '{"light": "outer.pkg:light", "sym": "outer.pkg:sym"}',
            '{"light": "outer.pkg:light", "sym": "outer.pkg.sub:sym"}',
            SPLIT,
        ),
        (
            '{"sym": "outer.pkg.sym", "light": ".pkg.light"}',
            '{"sym": "outer.pkg.sub.sym", "light": ".pkg.light"}',
            DOTTED,
        ),
        (
            '{"light": ("outer.pkg", "light"), "sym": ("outer.pkg", "sym")}',
            '{"light": ("outer.pkg", "light"), "sym": ("outer.pkg.sub", "sym")}',
            PAIR,
        ),
    ],
)
def test_the_entry_of_another_package_goes_to_the_origin(before: str, after: str, body: str) -> None:
    check_rewritten(
        {**PKG, "outer/__init__.py": table(before, body)},
        "outer.pkg",
        "sym",
        {**NARROWED, "outer/__init__.py": table(after, body)},
        run=["main"],
        unloaded=["outer.pkg.sub"],
    )


def test_a_branch_of_another_package_goes_to_the_origin() -> None:
    text = 'def __getattr__(name):\n    if name == "sym":\n        from .pkg import sym\n\n        return sym\n'
    text += '    if name == "light":\n        from . import pkg\n\n        return pkg.light\n    raise AttributeError(name)\n'
    check_rewritten(
        {**PKG, "outer/__init__.py": text},
        "outer.pkg",
        "sym",
        {**NARROWED, "outer/__init__.py": text.replace("from .pkg import sym", "from .pkg.sub import sym")},
        run=["main"],
    )


@pytest.mark.parametrize(
    "text",
    [
        'import importlib\n\n_LAZY = {".pkg": ["sym", "light"]}\n\n\ndef __getattr__(name):\n    for m, names in _LAZY.items():\n'
        "        if name in names:\n            return getattr(importlib.import_module(m, __name__), name)\n"
        "    raise AttributeError(name)\n",
        'import lazy_loader as lazy\n\n__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs={"pkg": ["light", "sym"]})\n',
        'import importlib\n\n\ndef __getattr__(name):\n    if name in ("light", "sym"):\n'
        '        return getattr(importlib.import_module(".pkg", __name__), name)\n    raise AttributeError(name)\n',
    ],
)
def test_a_lazy_export_onward_of_another_shape_is_refused(text: str) -> None:
    tree: Tree = {**PKG, "outer/__init__.py": text}
    check_refused(tree, "outer.pkg", "sym", "onward lazily", at="outer/__init__.py:")


def test_a_getattr_that_cannot_be_followed_is_warned_of() -> None:
    text = 'from tools import find\n\nNAMES = ["sym", "light"]\n\n\ndef __getattr__(name):\n    return find("outer.pkg", name)\n'
    more: Tree = {"outer/__init__.py": text, "tools.py": "def find(module, name):\n    raise AttributeError(name)\n"}
    check_rewritten(
        {**PKG, **more, "main.py": "import outer.pkg\n"},
        "outer.pkg",
        "sym",
        NARROWED,
        says="outer/__init__.py:7.*may take",
    )
