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


MADE = "sys.modules[__name__] = LazyModule(__name__, globals()['__file__'], found)\n"
LAZY = (
    "import importlib\nimport types\n\n\nclass LazyModule(types.ModuleType):\n    def __init__(self, name, file, table):\n"
    "        super().__init__(name)\n        self.__file__, self.__path__ = file, [file.rpartition('/')[0]]\n"
    "        self._where = {each: key for key, listed in table.items() for each in listed}\n\n"
    "    def __getattr__(self, name):\n        if name not in self._where:\n            raise AttributeError(name)\n"
    "        return getattr(importlib.import_module(f'.{self._where[name]}', self.__name__), name)\n\n\n"
    "def filled():\n    return {}\n"
)


@pytest.mark.parametrize(
    "entries",
    [
        '_structure = {"pkg": ["light", "sym"]}\n',
        '_structure = {"pkg": ["light"]}\n_structure["pkg"].append("sym")\n',
        '_structure = {"pkg": ["light"]}\n_structure["pkg"] += ["sym"]\n',
        '_structure = {}\n_structure["pkg"] = ("light", "sym")\n',
        '_structure = {}\n_structure.setdefault("pkg", []).extend(["light", "sym"])\n',
    ],
)
def test_a_table_that_names_the_package_is_refused_though_it_cannot_be_followed(entries: str) -> None:
    # the table is copied and filled into another one, as transformers does it
    text = f"import sys\n\nfrom lazies import LazyModule, filled\n\n{entries}_structure = {{k: set(v) for k, v in _structure.items()}}\n"
    text += f"found = filled()\nfound.update(_structure)\n{MADE}"
    tree: Tree = {**PKG, "lazies.py": LAZY, "outer/__init__.py": text}
    check_refused(tree, "outer.pkg", "sym", "onward lazily", at="outer/__init__.py:")


TABLE = "from tools import find\n\nWHERE = {}\n\n\ndef __getattr__(name):\n    return find(WHERE, name)\n"


def test_nor_is_a_table_by_name_followed() -> None:
    text = TABLE.replace("{}", '{"sym": "outer.pkg", "light": ".pkg"}')
    find = "import importlib\n\n\ndef find(where, name):\n    return getattr(importlib.import_module(where[name], 'outer'), name)\n"
    tree: Tree = {**PKG, "outer/__init__.py": text, "tools.py": find}
    check_refused(tree, "outer.pkg", "sym", "onward lazily", at="outer/__init__.py:3")


def test_a_table_that_names_another_package_is_warned_of() -> None:
    text = TABLE.replace("{}", '{"sym": "elsewhere", "light": "outer.pkg"}')
    more: Tree = {"outer/__init__.py": text, "tools.py": "def find(where, name):\n    raise AttributeError(name)\n"}
    check_rewritten({**PKG, **more, "main.py": "import outer.pkg\n"}, "outer.pkg", "sym", NARROWED, says="may take")


@pytest.mark.parametrize(
    "text",
    [
        # a table of messages, from which nothing is loaded
        'import warnings\n\nMSG = {"sym": "pkg"}\n\n\ndef __getattr__(name):\n    if name in MSG:\n        warnings.warn(MSG[name])\n'
        "        return 3\n    raise AttributeError(name)\n",
        # tables that `__getattr__` cannot reach
        'from tools import find\n\n\ndef labels():\n    return {"sym": "pkg"}\n\n\ndef __getattr__(name):\n    return find(name)\n',
        'from tools import find\n\nWORDS = {"pkg": "sym"}\n\n\ndef __getattr__(name):\n    return find(name)\n',
    ],
)
def test_a_table_that_nothing_is_given_out_by_is_no_reason_to_refuse(text: str) -> None:
    more: Tree = {"outer/__init__.py": text, "tools.py": "def find(name):\n    raise AttributeError(name)\n"}
    check_rewritten({**PKG, **more, "main.py": "import outer.pkg\n"}, "outer.pkg", "sym", NARROWED, run=["main"])
