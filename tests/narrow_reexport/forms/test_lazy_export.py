"""Lazy exports: narrowed where their shape is known, refused by name elsewhere, never left half removed."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import Outcome, Tree, check_refused, check_rewritten, check_unchanged, narrow
from tests.narrow_reexport.verbs import tree as laid

USER = "from pkg import light, sym\n\nprint(light(1), sym(2))\n"
DIRECT = "from pkg import light\nfrom pkg.sub import sym\n\nprint(light(1), sym(2))\n"
# What a light user sees: nothing of `pkg.sub` is loaded, the other name works, an unknown one does not.
SHOW = """
    import sys

    import pkg

    print("pkg.sub" in sys.modules, pkg.light(3), hasattr(pkg, "nothing"), "light" in getattr(pkg, "__all__", ["light"]))
"""
MODULES: dict[str, str | bytes] = {
    "pkg/sub.py": "def sym(x=1):\n    return x * 10\n\n\ndef b():\n    return 'b'\n",
    "pkg/light.py": "",
    "pkg/basic.py": "def light(x):\n    return x\n",
    "show.py": SHOW,
    "main.py": USER,
}
del MODULES["pkg/light.py"]
LAZY_LOADER = """
    import importlib
    import os
    import sys


    def attach(package_name, submodules=None, submod_attrs=None):
        if submod_attrs is None:
            submod_attrs = {}
        submodules = set() if submodules is None else set(submodules)
        where = {attr: mod for mod, attrs in submod_attrs.items() for attr in attrs}
        __all__ = sorted(submodules | where.keys())

        def __getattr__(name):
            if name in submodules:
                return importlib.import_module(f"{package_name}.{name}")
            elif name in where:
                return getattr(importlib.import_module(f"{package_name}.{where[name]}"), name)
            raise AttributeError(f"No {package_name} attribute {name}")

        def __dir__():
            return __all__.copy()

        if os.environ.get("EAGER_IMPORT", ""):
            for attr in set(where) | submodules:
                __getattr__(attr)
        return __getattr__, __dir__, __all__.copy()


    def attach_stub(package_name, filename):
        import ast

        stub = filename if filename.endswith("i") else f"{os.path.splitext(filename)[0]}.pyi"
        submodules, attrs = set(), {}
        for node in ast.parse(open(stub).read()).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if node.module:
                        attrs.setdefault(node.module, []).append(alias.name)
                    else:
                        submodules.add(alias.name)
        return attach(package_name, submodules, attrs)
"""


def lazy(before: str, after: str, *, more: Tree | None = None, says: str = "", show: bool = True) -> Outcome:
    """The `__init__` becomes `after`; the call site goes to the origin; nothing becomes heavy."""
    tree = {**MODULES, "pkg/__init__.py": before, **(more or {})}
    return check_rewritten(
        tree,
        "pkg",
        "sym",
        {"pkg/__init__.py": after, "main.py": DIRECT},
        run=["main", "show"] if show else ["main"],
        unloaded=["pkg.sub"],
        says=says,
    )


def refused(text: str, reason: str, *, more: Tree | None = None, at: str = "pkg/__init__.py:") -> Outcome:
    tree = {**MODULES, "pkg/__init__.py": text, **(more or {})}
    return check_refused(tree, "pkg", "sym", reason, at=at)


# --- `__getattr__` with branches ---

LIGHT = """
        if name == "light":
            from .basic import light

            return light
"""


def test_a_branch_of_its_own_goes() -> None:
    lazy(
        """
        def __getattr__(name):
            # one by one
            if name == "sym":
                from .sub import sym

                return sym

            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)
        """,
        """
        def __getattr__(name):
            # one by one
            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)
        """,
    )


def test_the_first_branch_of_a_chain_goes_and_elif_becomes_if() -> None:
    lazy(
        """
        import importlib


        def __getattr__(name: str):
            if name == "sym":
                return importlib.import_module(".sub", __name__).sym
            elif name == "light":  # the light one
                return importlib.import_module(".basic", __name__).light
            else:
                raise AttributeError(f"no {name}")
        """,
        """
        import importlib


        def __getattr__(name: str):
            if name == "light":  # the light one
                return importlib.import_module(".basic", __name__).light
            else:
                raise AttributeError(f"no {name}")
        """,
    )


def test_a_branch_in_the_middle_of_a_chain_goes() -> None:
    lazy(
        """
        def __getattr__(name):
            if name == "light":
                from .basic import light as found
            elif "sym" == name:
                from .sub import sym as found
            elif name == "b":
                from .sub import b as found
            else:
                raise AttributeError(name)
            globals()[name] = found
            return found
        """,
        """
        def __getattr__(name):
            if name == "light":
                from .basic import light as found
            elif name == "b":
                from .sub import b as found
            else:
                raise AttributeError(name)
            globals()[name] = found
            return found
        """,
    )


def test_the_last_branch_of_a_chain_goes() -> None:
    lazy(
        """
        def __getattr__(name):
            if name == "light":
                from .basic import light

                return light
            elif name == "sym":
                from .sub import sym

                return sym
            raise AttributeError(name)
        """,
        """
        def __getattr__(name):
            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)
        """,
    )


def test_one_name_of_several_goes_out_of_the_test() -> None:
    lazy(
        """
        def __getattr__(name):
            if name in ("sym", "b"):
                from . import sub

                return getattr(sub, name)
            if name == "light" or name == "bright":
                from . import basic

                return basic.light
            raise AttributeError(name)
        """,
        """
        def __getattr__(name):
            if name in ("b",):
                from . import sub

                return getattr(sub, name)
            if name == "light" or name == "bright":
                from . import basic

                return basic.light
            raise AttributeError(name)
        """,
    )


def test_an_operand_of_or_goes() -> None:
    lazy(
        """
        def __getattr__(name):
            if name == "b" or name == "sym":
                from . import sub

                return getattr(sub, name)
            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)
        """,
        """
        def __getattr__(name):
            if name == "b":
                from . import sub

                return getattr(sub, name)
            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)
        """,
    )


def test_a_case_goes() -> None:
    lazy(
        """
        def __getattr__(name):
            match name:
                case "sym":
                    from .sub import sym

                    return sym
                case "light" | "bright":
                    from .basic import light

                    return light
                case _:
                    raise AttributeError(name)
        """,
        """
        def __getattr__(name):
            match name:
                case "light" | "bright":
                    from .basic import light

                    return light
                case _:
                    raise AttributeError(name)
        """,
    )


def test_an_alternative_of_a_case_goes() -> None:
    lazy(
        """
        def __getattr__(name):
            match name:
                case "sym" | "b":
                    from . import sub

                    return getattr(sub, name)
                case "light":
                    from .basic import light

                    return light
            raise AttributeError(name)
        """,
        """
        def __getattr__(name):
            match name:
                case "b":
                    from . import sub

                    return getattr(sub, name)
                case "light":
                    from .basic import light

                    return light
            raise AttributeError(name)
        """,
    )


def test_a_function_that_is_left_with_nothing_goes_with_its_dir() -> None:
    lazy(
        """
        from .basic import light

        __all__ = ["light", "sym"]


        def __getattr__(name):
            if name == "sym":
                from .sub import sym

                return sym
            raise AttributeError(name)


        def __dir__():
            return ["sym"]
        """,
        """
        from .basic import light

        __all__ = ["light"]
        """,
    )


def test_a_dir_loses_the_name() -> None:
    lazy(
        """
        def __getattr__(name):
            if name == "sym":
                from .sub import sym

                return sym
            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)


        def __dir__():
            return sorted([*globals(), "light", "sym"])
        """,
        """
        def __getattr__(name):
            if name == "light":
                from .basic import light

                return light
            raise AttributeError(name)


        def __dir__():
            return sorted([*globals(), "light"])
        """,
    )


def test_an_else_branch_takes_the_place_of_the_whole() -> None:
    lazy(
        """
        from .basic import light


        def __getattr__(name):
            if name == "sym":
                from .sub import sym

                return sym
            else:
                if name == "b":
                    from .sub import b

                    return b
                raise AttributeError(name)
        """,
        """
        from .basic import light


        def __getattr__(name):
            if name == "b":
                from .sub import b

                return b
            raise AttributeError(name)
        """,
    )


def test_names_that_become_global_are_followed() -> None:
    text = """
        def __getattr__(name):
            if name in ("light", "bright"):
                global light
                from .basic import light

                return globals()[name]
            if name == "sym":
                from .sub import sym

                globals().update({"sym": sym})
                return globals()["sym"]
            raise AttributeError(name)
        """
    i, j = text.index("            if name == "), text.index("            raise")
    lazy(text, text[:i] + text[j:])


# --- tables ---

READ = {
    "in, then item": """
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name], __name__), name)
        raise AttributeError(name)""",
    "get": """
        where = _LAZY.get(name)
        if where is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(where, __package__), name)
        globals()[name] = value
        return value""",
    "walrus": """
        if (where := _LAZY.get(name)) is not None:
            return getattr(importlib.import_module(where, package=__name__), name)
        raise AttributeError(name)""",
    "try": """
        try:
            where = _LAZY[name]
        except KeyError:
            raise AttributeError(name) from None
        return getattr(importlib.import_module(where, __name__), name)""",
    "helper": """
        if name not in _LAZY:
            raise AttributeError(name)
        return _load(name)


    def _load(name):
        return getattr(importlib.import_module(_LAZY[name], __name__), name)""",
}


TABLE = """
    import importlib

    _LAZY = {
        "light": ".basic",  # cheap
        # dear
SYM        "b": ".sub",
    }
    __all__ = list(_LAZY)

"""


@pytest.mark.parametrize("how", READ)
def test_an_entry_of_a_table_goes(how: str) -> None:
    body = "\n    def __getattr__(name):" + READ[how] + "\n"
    lazy(
        TABLE.replace("SYM", '        "sym": ".sub",  # loads much\n') + body,
        TABLE.replace("SYM", "") + body,
    )


@pytest.mark.parametrize("listing", ["[*_LAZY]", "sorted(_LAZY)", "list(_LAZY.keys())", '["__doc__", *_LAZY]'])
@pytest.mark.parametrize(
    ("table", "cut", "body"),
    [
        (
            '{"sym": ("pkg.sub", "sym"), "light": ("pkg.basic", "light")}',
            '{"light": ("pkg.basic", "light")}',
            "module, attribute = _LAZY[name]\n    return getattr(importlib.import_module(module), attribute)",
        ),
        (
            '{"light": "pkg.basic:light", "sym": "pkg.sub:sym"}',
            '{"light": "pkg.basic:light"}',
            'module, _, attribute = _LAZY[name].partition(":")\n'
            "    return getattr(importlib.import_module(module), attribute)",
        ),
        (
            '{"light": "basic.light", "sym": "sub.sym"}',
            '{"light": "basic.light"}',
            'module, attribute = _LAZY[name].rsplit(".", 1)\n'
            '    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)',
        ),
    ],
)
def test_other_shapes_of_entries(listing: str, table: str, cut: str, body: str) -> None:
    head, rest = "import importlib\n\n_LAZY = ", f"\n__all__ = {listing}\n\n\ndef __getattr__(name):\n"
    rest += f"    if name not in _LAZY:\n        raise AttributeError(name)\n    {body}\n"
    lazy(head + table + rest, head + cut + rest)


def test_a_table_from_modules_to_names() -> None:
    rest = """
        __all__ = [name for names in _LAZY.values() for name in names]


        def __getattr__(name):
            for module, names in _LAZY.items():
                if name in names:
                    return getattr(importlib.import_module(module, __name__), name)
            raise AttributeError(name)
        """
    before = '\n        import importlib\n\n        _LAZY = {".sub": ["sym", "b"], ".basic": ["light"]}'
    lazy(before + rest, before.replace('"sym", ', "") + rest)
    alone = before.replace(', "b"', "")
    lazy(alone + rest, alone.replace('".sub": ["sym"], ', "") + rest)


def test_a_table_that_another_one_is_made_of() -> None:
    rest = """
        _WHERE = {name: module for module, names in _LAZY.items() for name in names}
        __all__ = sorted(_WHERE)


        def __getattr__(name):
            if name in _WHERE:
                return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
            raise AttributeError(name)
        """
    before = '\n        import importlib\n\n        _LAZY = {"sub": {"b", "sym"}, "basic": ("light",)}'
    lazy(before + rest, before.replace(', "sym"', "") + rest)


def test_the_twin_for_type_checkers_goes_in_the_same_edit() -> None:
    lazy(
        """
        import typing

        TABLE = {
            "sym": ".sub:sym",
            "light": ".basic:light",
        }

        if typing.TYPE_CHECKING:
            from pkg.basic import light
            from pkg.sub import b, sym
        else:

            def __getattr__(name: str) -> typing.Any:
                from importlib import import_module

                if name in TABLE:
                    module_name, attr_name = TABLE[name].split(":")
                    module = import_module(module_name, __package__)
                    return getattr(module, attr_name)
                else:
                    raise AttributeError(f"module {__package__} has no attribute {name}")


        __all__ = [
            "light",
            "sym",
        ]
        """,
        """
        import typing

        TABLE = {
            "light": ".basic:light",
        }

        if typing.TYPE_CHECKING:
            from pkg.basic import light
            from pkg.sub import b
        else:

            def __getattr__(name: str) -> typing.Any:
                from importlib import import_module

                if name in TABLE:
                    module_name, attr_name = TABLE[name].split(":")
                    module = import_module(module_name, __package__)
                    return getattr(module, attr_name)
                else:
                    raise AttributeError(f"module {__package__} has no attribute {name}")


        __all__ = [
            "light",
        ]
        """,
    )


def test_a_star_for_type_checkers_is_spelled_out() -> None:
    rest = """
        def __getattr__(name):
            if name == "light":
                from .basic import light

                return light
"""
    lazy(
        """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from .sub import *

        """
        + rest
        + """
            if name == "sym":
                from .sub import sym

                return sym
            raise AttributeError(name)
        """,
        """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from .sub import b

        """
        + rest
        + """
            raise AttributeError(name)
        """,
    )


def test_an_alias_in_a_table_leads_to_the_name_at_the_origin() -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ("sub", "impl"), "light": ("basic", "light")}\n\n\ndef __getattr__(name):\n'
    text += "    if name in _LAZY:\n        module, attr = _LAZY[name]\n"
    text += '        return getattr(importlib.import_module("." + module, __name__), attr)\n    raise AttributeError(name)\n'
    tree: Tree = {**MODULES, "pkg/__init__.py": text, "pkg/sub.py": "def impl(x=1):\n    return x * 10\n"}
    after = DIRECT.replace("import sym", "import impl as sym")
    cut = text.replace('"sym": ("sub", "impl"), ', "")
    check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": cut, "main.py": after}, run=["main", "show"])


def test_an_eager_import_and_a_lazy_entry_of_the_same_symbol_go_together() -> None:
    text = 'import importlib\n\nfrom .sub import sym\n\n_LAZY = {"sym": ".sub", "light": ".basic"}\n\n\ndef __getattr__(name):\n'
    text += "    if name in _LAZY:\n        return getattr(importlib.import_module(_LAZY[name], __name__), name)\n"
    text += "    raise AttributeError(name)\n"
    cut = text.replace('"sym": ".sub", ', "").replace("\nfrom .sub import sym\n", "")
    lazy(text, cut, show=False)


# --- factories ---


@pytest.mark.parametrize(
    "head",
    ["import lazy_loader as lazy\n", "import lazy_loader as _lazy\n", "from lazy_loader import attach as go\n"],
)
def test_an_entry_of_attach_goes(head: str) -> None:
    call = {"import lazy_loader as lazy\n": "lazy.attach", "import lazy_loader as _lazy\n": "_lazy.attach"}.get(
        head, "go"
    )
    before = (
        head
        + f'\n__getattr__, __dir__, __all__ = {call}(\n    __name__,\n    submodules=["other"],\n    submod_attrs={{\n'
    )
    before += '        "sub": ["sym", "b"],\n        "basic": ["light"],\n    },\n)\n'
    lazy(before, before.replace('"sym", ', ""), more={"lazy_loader.py": LAZY_LOADER, "pkg/other.py": ""})


def test_a_key_of_attach_goes_with_its_last_name_and_the_call_stays_valid() -> None:
    head = "import lazy_loader as lazy\n\nfrom .basic import light\n\n__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs="
    lazy(head + '{"sub": ["sym"]})\n', head + "{})\n", more={"lazy_loader.py": LAZY_LOADER}, show=False)


STUB = """
    from . import other
    from .basic import light
    from .sub import b, sym  # the dear ones

    __all__ = ["b", "light", "other", "sym"]
"""
BY_STUB = "import lazy_loader as lazy\n\n__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)\n"


def test_the_stub_of_attach_stub_loses_the_name() -> None:
    more: Tree = {
        "lazy_loader.py": LAZY_LOADER,
        "pkg/other.py": "",
        "pkg/__init__.pyi": STUB,
        "pkg/__init__.py": BY_STUB,
    }
    check_rewritten(
        {**MODULES, **more},
        "pkg",
        "sym",
        {"pkg/__init__.pyi": STUB.replace("import b, sym", "import b").replace(', "sym"', ""), "main.py": DIRECT},
        run=["main", "show"],
        unloaded=["pkg.sub"],
    )


def test_a_stub_of_attach_stub_that_uses_the_name_is_refused() -> None:
    stub = STUB + "\n    def more(x: sym) -> None: ...\n"
    refused(BY_STUB, "the stub that decides uses sym", more={"pkg/other.py": "", "pkg/__init__.pyi": stub})


def test_a_factory_of_the_tree_is_read() -> None:
    factory = """
        import importlib


        def lazily(package, table):
            where = {name: module for module, names in table.items() for name in names}

            def __getattr__(name):
                if name in where:
                    return getattr(importlib.import_module(f"{package}.{where[name]}"), name)
                raise AttributeError(name)

            return __getattr__, sorted(where)
    """
    before = 'from tools import lazily\n\n__getattr__, __all__ = lazily(__name__, {"sub": ["b", "sym"], "basic": ["light"]})\n'
    lazy(before, before.replace(', "sym"', ""), more={"tools.py": factory})


LAZY_MODULE = """
    import importlib
    from types import ModuleType


    class _LazyModule(ModuleType):
        def __init__(self, name, file, structure, module_spec=None):
            super().__init__(name)
            self._modules = set(structure)
            self._where = {entry: module for module, names in structure.items() for entry in names}
            self.__all__ = list(structure) + [entry for names in structure.values() for entry in names]
            self.__file__ = file
            self.__spec__ = module_spec
            self.__path__ = module_spec.submodule_search_locations

        def __getattr__(self, name):
            if name in self._modules:
                return importlib.import_module(f".{name}", self.__name__)
            if name in self._where:
                return getattr(importlib.import_module(f".{self._where[name]}", self.__name__), name)
            raise AttributeError(name)
"""
FOOT = """
        else:
            import sys

            sys.modules[__name__] = _LazyModule(__name__, globals()["__file__"], _import_structure, module_spec=__spec__)
        """


def test_a_literal_import_structure() -> None:
    lazy(
        """
        from typing import TYPE_CHECKING

        from tools import _LazyModule

        _import_structure = {
            "basic": ["light"],
            "sub": ["b", "sym"],
        }

        if TYPE_CHECKING:
            from .basic import light
            from .sub import b, sym
"""
        + FOOT.removeprefix("\n"),
        """
        from typing import TYPE_CHECKING

        from tools import _LazyModule

        _import_structure = {
            "basic": ["light"],
            "sub": ["b"],
        }

        if TYPE_CHECKING:
            from .basic import light
            from .sub import b
"""
        + FOOT.removeprefix("\n"),
        more={"tools.py": LAZY_MODULE},
    )


@pytest.mark.parametrize(
    ("built", "cut"),
    [
        ('_import_structure["sub"] = ["b", "sym"]', '_import_structure["sub"] = ["b"]'),
        ('_import_structure["sub"] = ["sym"]', '_import_structure["sub"] = []'),
        ('_import_structure["sub"].append("sym")', "pass"),
        ('_import_structure["sub"].extend(["b", "sym"])', '_import_structure["sub"].extend(["b"])'),
        ('_import_structure["sub"] += ["sym", "b"]', '_import_structure["sub"] += ["b"]'),
    ],
)
def test_an_import_structure_over_several_statements(built: str, cut: str) -> None:
    text = """
        from typing import TYPE_CHECKING

        from tools import Missing, _LazyModule, there

        _import_structure = {"basic": ["light"], "sub": []}

        try:
            if not there():
                raise Missing()
        except Missing:
            pass
        else:
            BUILT

        if TYPE_CHECKING:
            from .basic import light
"""
    text += FOOT.removeprefix("\n")
    tools = LAZY_MODULE + "\n\n    class Missing(Exception):\n        pass\n\n\n    def there():\n        return True\n"
    lazy(text.replace("BUILT", built), text.replace("BUILT", cut), more={"tools.py": tools})


# --- refused by name ---

ASK = "\n\ndef __getattr__(name):\n    if name in _LAZY:\n"
ASK += "        return getattr(importlib.import_module(_LAZY[name], __name__), name)\n    raise AttributeError(name)\n"


@pytest.mark.parametrize(
    ("text", "reason", "more"),
    [
        ('import importlib\n\n_LAZY = {"light": ".basic"}\n_LAZY.update(more())' + ASK, "more", {}),
        (
            "import importlib\n\nfrom .table import _LAZY" + ASK,
            "another module",
            {"pkg/table.py": '_LAZY = {"sym": ".sub"}\n'},
        ),
        ('import importlib\nimport os\n\n_LAZY = {"sym": os.environ["WHERE"]}' + ASK, "os.environ", {}),
        ("from . import sub\n\n\ndef __getattr__(name):\n    return getattr(sub, name)\n", "lazily", {}),
        (
            'def __getattr__(name):\n    if name.startswith("s"):\n        from . import sub\n\n'
            "        return getattr(sub, name)\n    raise AttributeError(name)\n",
            "lazily",
            {},
        ),
        (
            'import warnings\n\n\ndef __getattr__(name):\n    if name == "sym":\n        warnings.warn("old")\n'
            "        from .sub import sym\n\n        return sym\n    raise AttributeError(name)\n",
            "warnings.warn",
            {},
        ),
        (
            'import sys\n\n\ndef __getattr__(name):\n    if name == "sym":\n        if sys.platform == "win32":\n'
            "            from .basic import light as sym\n        else:\n            from .sub import sym\n"
            "        return sym\n    raise AttributeError(name)\n",
            "sys.platform",
            {},
        ),
        (
            'def __getattr__(name):\n    if name == "sym":\n        try:\n            from .sub import sym\n'
            "        except ImportError:\n            sym = None\n        return sym\n    raise AttributeError(name)\n",
            "another way out",
            {},
        ),
        (
            "def __getattr__(name):\n    from .sub import load\n\n    globals().update(load())\n    return globals()[name]\n",
            r"it calls load\(\)",
            {},
        ),
        (
            'def __getattr__(name):\n    if name == "sym":\n        return globals()["_" + name]()\n    raise AttributeError(name)\n',
            "globals",
            {},
        ),
        ("from .lazy import __getattr__\n", "cannot be read", {"pkg/lazy.py": "def __getattr__(name):\n    pass\n"}),
        (
            "import sys\n\nfrom tools import _LazyModule, define\n\n"
            "sys.modules[__name__] = _LazyModule(__name__, __file__, define(__file__), module_spec=__spec__)\n",
            r"computed by define\(\)",
            {},
        ),
    ],
)
def test_a_lazy_export_that_is_not_understood_is_refused(text: str, reason: str, more: Tree) -> None:
    refused(text, reason, more=more)


def test_a_lazy_name_that_is_a_submodule_too_is_refused() -> None:
    text = 'def __getattr__(name):\n    if name == "sym":\n        from .sym import sym\n\n        return sym\n'
    text += "    raise AttributeError(name)\n"
    refused(text, "imported before", more={"pkg/sym.py": "def sym(x=1):\n    return x\n"}, at="pkg/__init__.py:2")


def test_a_function_of_the_init_that_asks_for_the_name_is_refused() -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ".sub", "light": ".basic"}' + ASK
    refused(text + '\n\ndef run():\n    return __getattr__("sym")(3)\n', "itself asks", at="pkg/__init__.py:12")


def test_an_unknown_name_of_a_closed_getattr_is_an_error_not_a_refusal() -> None:
    text = 'import importlib\n\n_LAZY = {"light": ".basic"}' + ASK
    tree = {**MODULES, "pkg/__init__.py": text, "main.py": "import pkg\n"}
    check_refused(tree, "pkg", "nothing", "has no name nothing", exit_code=3)


def test_a_closed_getattr_does_not_worry_about_an_eager_neighbour() -> None:
    text = "from .sub import sym\n\n" + 'import importlib\n\n_LAZY = {"light": ".basic"}' + ASK
    outcome = lazy(text, text.removeprefix("from .sub import sym\n\n"), show=False)
    assert "__getattr__" not in outcome.text


def test_an_open_getattr_is_warned_of() -> None:
    text = "from tools import guess\n\nfrom .basic import light\nfrom .sub import sym\n\n\ndef __getattr__(name):\n    return guess(name)\n"
    more = {"tools.py": "import os\n\n\ndef guess(name):\n    if os.sep:\n        raise AttributeError(name)\n"}
    lazy(text, text.replace("from .sub import sym\n", ""), more=more, says="__getattr__ will be asked", show=False)


def test_a_narrowed_lazy_export_is_known_without_a_row() -> None:
    text = 'import importlib\n\n_LAZY = {"light": ".basic"}' + ASK
    check_unchanged({**MODULES, "pkg/__init__.py": text, "main.py": DIRECT}, "pkg", "sym", options=["--no-ban"])


def test_the_summary_does_not_claim_that_the_import_became_lighter() -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ".sub", "light": ".basic"}' + ASK
    outcome = lazy(text, text.replace('"sym": ".sub", ', ""), says="pkg gave out sym lazily")
    assert "no longer loads" not in outcome.text


@pytest.mark.parametrize("asked", [["--all"], ["b", "sym"], ["sy*", "b"]])
def test_lazy_names_are_found_by_all_and_by_globs(asked: list[str]) -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ".sub", "b": ".sub"}\n__all__ = ["b", "sym"]' + ASK
    with laid({**MODULES, "pkg/__init__.py": text, "main.py": "from pkg import b, sym\n"}) as root:
        outcome = narrow(root, "pkg", *asked)
        assert outcome.code == 0, outcome.text
        cut = text.replace('"sym": ".sub", "b": ".sub"', "").replace('"b", "sym"', "")
        assert (root / "pkg/__init__.py").read_text() == cut
        assert (root / "main.py").read_text() == "from pkg.sub import b, sym\n"


def test_a_star_over_a_lazy_all_gets_an_import_of_its_own() -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ".sub", "light": ".basic"}\n__all__ = sorted(_LAZY)' + ASK
    main = "from pkg import *\n\nprint(light(1), sym(2))\n"
    check_rewritten(
        {**MODULES, "pkg/__init__.py": text, "main.py": main},
        "pkg",
        "sym",
        {
            "pkg/__init__.py": text.replace('"sym": ".sub", ', ""),
            "main.py": main.replace("*\n", "*\nfrom pkg.sub import sym\n"),
        },
        run=["main"],
    )


def test_a_shim_goes_before_the_rest_of_a_lazy_getattr() -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ".sub", "light": ".basic"}' + ASK
    with laid({**MODULES, "pkg/__init__.py": text}) as root:
        assert narrow(root, "pkg", "sym", "--shim").code == 0
        after = (root / "pkg/__init__.py").read_text()
        assert '_LAZY = {"light": ".basic"}' in after and '"sym": ("pkg.sub", "sym",' in after
        again = narrow(root, "pkg", "sym", "--shim")
        assert again.code == 0 and (root / "pkg/__init__.py").read_text() == after


def test_line_ends_and_tabs_of_a_table_stay() -> None:
    text = 'import importlib\n\n_LAZY = {\n\t"sym": ".sub",\n\t"light": ".basic",\n}' + ASK
    crlf = text.replace("\n", "\r\n").encode()
    tree: Tree = {**MODULES, "pkg/__init__.py": crlf}
    after = {"pkg/__init__.py": crlf.replace(b'\t"sym": ".sub",\r\n', b""), "main.py": DIRECT}
    check_rewritten(tree, "pkg", "sym", after, run=["main", "show"])


def test_several_lazy_exports_in_one_run() -> None:
    text = 'import importlib\n\n_LAZY = {"sym": ".sub", "b": ".sub", "light": ".basic"}\n__all__ = sorted(_LAZY)' + ASK
    main = "from pkg import b, light, sym\n\nprint(b(), light(1), sym())\n"
    check_rewritten(
        {**MODULES, "pkg/__init__.py": text, "main.py": main},
        "pkg",
        "sym b",
        {
            "pkg/__init__.py": text.replace('"sym": ".sub", "b": ".sub", ', ""),
            "main.py": "from pkg import light\nfrom pkg.sub import b, sym\n\nprint(b(), light(1), sym())\n",
        },
        run=["main", "show"],
    )


@pytest.mark.parametrize(
    "table",
    [
        '{"sym": "sub"} | {"light": "light"}',
        '{"sym": "%s" % "sub", "light": "light"}',
        '{"sym": ["light", *["sub"]][1], "light": "li" + "ght"}',
        '{"sym": (("sub",) + ("light",))[0], "light": "light"}',
    ],
)
def test_a_table_that_is_put_together_from_literals_is_followed(table: str) -> None:
    init = (
        f"import importlib\n\n_TABLE = {table}\n\n\ndef __getattr__(name):\n    if name in _TABLE:\n"
        '        return getattr(importlib.import_module("pkg." + _TABLE[name]), name)\n    raise AttributeError(name)\n'
    )
    main = "from pkg import light, sym\n\nprint(light(1), sym(2))\n"
    after = "from pkg import light\nfrom pkg.sub import sym\n\nprint(light(1), sym(2))\n"
    with laid({**PKG, "pkg/__init__.py": init, "main.py": main}) as root:
        old = oracle.run_programs(root, ["main"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 0, outcome.text
        assert (root / "main.py").read_text() == after
        assert not oracle.differences(old, oracle.run_programs(root, ["main"]))
        assert oracle.probe(root, "pkg", ["sym"]).bound == ()
