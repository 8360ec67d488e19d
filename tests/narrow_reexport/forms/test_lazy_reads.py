"""A call site that is lazy stays lazy: the import of the origin stands where the read stands."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Outcome, Tree, check_refused, check_rewritten

INIT = """
    import importlib

    _LAZY = {"light": ".basic", "sym": ".sub"}


    def __getattr__(name):
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name], __name__), name)
        raise AttributeError(name)
"""
PKG: dict[str, str | bytes] = {
    "pkg/__init__.py": INIT,
    "pkg/sub.py": "class Err(Exception):\n    pass\n\n\ndef sym(x=1):\n    return x * 10\n",
    "pkg/basic.py": "def light(x):\n    return x\n",
}
NARROWED = INIT.replace(', "sym": ".sub"', "")
# Imports the file, and sees whether that loaded the origin; then calls what it offers.
RUN = "import sys, main; print('pkg.sub' in sys.modules, 'pkg' in sys.modules); print(main.run(2)); print('pkg.sub' in sys.modules)"


def late(before: str, after: str, *, more: Tree | None = None, run: str = RUN) -> Outcome:
    tree = {**PKG, **(more or {}), "main.py": before}
    return check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": NARROWED, "main.py": after}, run=[run])


def blocks(text: str, reason: str, *, more: Tree | None = None) -> Outcome:
    return check_refused({**PKG, **(more or {}), "main.py": text}, "pkg", "sym", reason, at="main.py:")


def test_a_read_in_a_function_gets_an_import_in_the_function() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    return pkg.sym(x) + pkg.light(x)\n",
        "import pkg\n\n\ndef run(x):\n    from pkg.sub import sym\n    return sym(x) + pkg.light(x)\n",
    )


def test_a_read_in_a_branch_gets_an_import_in_the_branch() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    if x > 5:\n        return pkg.sym(x)\n    return pkg.light(x)\n",
        "import pkg\n\n\ndef run(x):\n    if x > 5:\n        from pkg.sub import sym\n        return sym(x)\n"
        "    return pkg.light(x)\n",
    )


def test_one_import_serves_the_branches_below_it() -> None:
    late(
        "import pkg as p\n\n\ndef run(x):\n    y = p.sym(x)\n    if y:\n        y += p.sym(y)\n    return [p.sym(z) for z in (x, y)]\n",
        "import pkg as p\n\n\ndef run(x):\n    from pkg.sub import sym\n    y = sym(x)\n    if y:\n        y += sym(y)\n"
        "    return [sym(z) for z in (x, y)]\n",
    )


@pytest.mark.parametrize("head", ["import pkg as p", "from outer import pkg as p"])
def test_an_alias_of_the_package(head: str) -> None:
    more = {"outer/__init__.py": "import pkg\n"} if "outer" in head else {}
    late(
        f"{head}\n\n\ndef run(x):\n    return f'{{p.sym(x)}} of {{x}}'\n",
        f"{head}\n\n\ndef run(x):\n    from pkg.sub import sym\n    return f'{{sym(x)}} of {{x}}'\n",
        more=more,
    )


def test_a_suite_on_one_line() -> None:
    late(
        "import pkg\n\n\ndef run(x): return pkg.sym(x)\n",
        "import pkg\n\n\ndef run(x): from pkg.sub import sym; return sym(x)\n",
    )


def test_a_decorated_function_inside_a_function() -> None:
    before = "import pkg\n\n\ndef run(x):\n    @lambda f: pkg.sym(x)\n    def g():\n        pass\n\n    return g\n"
    late(before, before.replace("    @", "    from pkg.sub import sym\n    @").replace("pkg.sym", "sym"))


def test_an_elif_has_its_import_before_the_chain() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    if x > 5:\n        return 1\n    elif pkg.sym(x):\n        return 2\n    return 3\n",
        "import pkg\n\n\ndef run(x):\n    from pkg.sub import sym\n    if x > 5:\n        return 1\n    elif sym(x):\n        return 2\n"
        "    return 3\n",
    )


def test_a_class_body_in_a_function_does_not_get_a_new_attribute() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    class C:\n        y = pkg.sym(x)\n\n    return C.y, sorted(n for n in vars(C) if n[0] != '_')\n",
        "import pkg\n\n\ndef run(x):\n    from pkg.sub import sym\n    class C:\n        y = sym(x)\n\n"
        "    return C.y, sorted(n for n in vars(C) if n[0] != '_')\n",
    )


def test_a_local_of_the_name_gives_way() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    sym = pkg.sym(x)\n    return sym\n",
        "import pkg\n\n\ndef run(x):\n    from pkg.sub import sym as _sym\n    sym = _sym(x)\n    return sym\n",
    )


def test_a_global_of_the_name_gives_way() -> None:
    late(
        "import pkg\n\nsym = 3\n\n\ndef run(x):\n    return pkg.sym(x) + sym\n",
        "import pkg\n\nsym = 3\n\n\ndef run(x):\n    from pkg.sub import sym as _sym\n    return _sym(x) + sym\n",
    )


def test_each_function_has_its_own() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    def inner():\n        return pkg.sym(x)\n\n    return inner() if x else pkg.light(x)\n\n\n"
        "async def other():\n    await pkg.sym()\n",
        "import pkg\n\n\ndef run(x):\n    def inner():\n        from pkg.sub import sym\n        return sym(x)\n\n"
        "    return inner() if x else pkg.light(x)\n\n\nasync def other():\n    from pkg.sub import sym\n    await sym()\n",
    )


def test_a_branch_at_module_level_stays_a_branch() -> None:
    late(
        "import os\n\nimport pkg\n\nif os.environ.get('DEAR'):\n    value = pkg.sym(1)\n\n\ndef run(x):\n    return x\n",
        "import os\n\nimport pkg\n\nif os.environ.get('DEAR'):\n    from pkg.sub import sym\n    value = sym(1)\n\n\n"
        "def run(x):\n    return x\n",
    )


def test_a_file_that_loads_the_origin_anyway_has_one_import() -> None:
    late(
        "import pkg\n\nfirst = pkg.sym(1)\n\n\ndef run(x):\n    return pkg.sym(x)\n",
        "import pkg.sub\n\nfirst = pkg.sub.sym(1)\n\n\ndef run(x):\n    return pkg.sub.sym(x)\n",
    )


def test_a_from_import_at_module_level_was_eager_and_stays_so() -> None:
    late(
        "from pkg import sym\n\n\ndef run(x):\n    return sym(x)\n",
        "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n",
    )


def test_an_import_in_a_function_stays_there() -> None:
    late(
        "def run(x):\n    import pkg\n\n    return pkg.sym(x)\n",
        "def run(x):\n    import pkg.sub\n\n    return pkg.sub.sym(x)\n",
        run="import sys, main; print('pkg' in sys.modules); print(main.run(2))",
    )


def test_a_relative_import_stays_relative() -> None:
    tree: Tree = {
        "top/__init__.py": "",
        **{f"top/{path}": text for path, text in PKG.items()},
        "top/user.py": "from . import pkg\n\n\ndef run(x):\n    return pkg.sym(x)\n",
    }
    after = "from . import pkg\n\n\ndef run(x):\n    from .pkg.sub import sym\n    return sym(x)\n"
    run = "import sys, top.user; print('top.pkg.sub' in sys.modules, top.user.run(2))"
    check_rewritten(tree, "top.pkg", "sym", {"top/pkg/__init__.py": NARROWED, "top/user.py": after}, run=[run])


def test_a_lazy_submodule_is_imported_where_it_is_read() -> None:
    init = INIT.replace('"sym": ".sub"}', '"sym": ".sub"}\n    _MODULES = ["other", "sub"]').replace(
        "        raise",
        '        if name in _MODULES:\n            return importlib.import_module("." + name, __name__)\n        raise',
    )
    check_rewritten(
        {
            **PKG,
            "pkg/__init__.py": init,
            "pkg/other.py": "",
            "main.py": "import pkg\n\n\ndef run(x):\n    return pkg.sub.sym(x)\n",
        },
        "pkg",
        "sub",
        {
            "pkg/__init__.py": init.replace('["other", "sub"]', '["other"]'),
            "main.py": "import pkg\n\n\ndef run(x):\n    from pkg import sub\n    return sub.sym(x)\n",
        },
        run=[RUN],
    )


def test_a_read_on_some_paths_only_is_safe_where_the_origin_cannot_fail() -> None:
    late(
        "import pkg\n\n\ndef run(x):\n    return pkg.sym(x) if x else None\n",
        "import pkg\n\n\ndef run(x):\n    from pkg.sub import sym\n    return sym(x) if x else None\n",
    )


def test_a_read_on_some_paths_only_is_refused_where_the_origin_may_be_missing_something() -> None:
    more = {"pkg/sub.py": "import torch\n\n\ndef sym(x):\n    return x\n"}
    blocks("import pkg\n\n\ndef run(x):\n    return x and pkg.sym(x)\n", "may fail", more=more)


def test_a_lambda_at_module_level_is_refused() -> None:
    blocks("import pkg\n\nrun = lambda x: pkg.sym(x)\n", "at module level")


@pytest.mark.parametrize(
    "text",
    [
        'import pkg\n\n\ndef run(x: "pkg.sym"):\n    return x\n',
        "from __future__ import annotations\n\nimport pkg\n\n\ndef run(x: pkg.sym):\n    pass\n",
    ],
)
def test_an_annotation_that_is_not_evaluated_is_refused(text: str) -> None:
    blocks(text, "type annotation")


def test_an_import_for_type_checkers_alone_may_name_the_origin() -> None:
    late(
        'from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import pkg\n\n\ndef run(x: "pkg.sym"):\n    return x\n',
        'from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import pkg.sub\n\n\ndef run(x: "pkg.sub.sym"):\n    return x\n',
    )


@pytest.mark.parametrize(
    "read", ["methodcaller('sym', n)(pkg)", "hasattr(pkg, 'sym')", "attrgetter('sym.__name__')(pkg)"]
)
def test_a_read_by_name_that_is_more_than_a_read_is_refused(read: str) -> None:
    text = f"from operator import attrgetter, methodcaller\nimport pkg\n\n\ndef run(n):\n    return {read}\n"
    blocks(text, "cannot be a plain name here")
