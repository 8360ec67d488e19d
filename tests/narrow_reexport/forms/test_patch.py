"""What a patch replaces: a name, or what lies behind it."""

from __future__ import annotations

from tests.narrow_reexport.patching import LOCAL, moves, sees
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten


def test_what_lies_behind_the_name_moves_whoever_reads_it() -> None:
    sub = (
        "class Sym:\n"
        "    limit = 3\n\n\n"
        "def own():\n"
        "    return Sym.limit\n\n\n"
        "table = {'a': 1}\n\n\n"
        "def read():\n"
        "    return table['a']\n"
    )
    test = """
from unittest import mock

import pkg
from pkg.sub import own, read

with mock.patch("pkg.Sym.limit", "mocked"), mock.patch.dict("pkg.table", {"a": 2}):
    print(own(), read())
with mock.patch.object(pkg.Sym, "limit", 5), mock.patch.dict(pkg.table, a=3):
    print(own(), read())
"""
    tree = {"pkg/__init__.py": "from .sub import Sym, table\n", "pkg/sub.py": sub, "main.py": test}
    sees(tree, "mocked")
    after = test.replace("pkg.Sym", "pkg.sub.Sym").replace("pkg.table", "pkg.sub.table")
    check_rewritten(
        tree, "pkg", "Sym table", {"pkg/__init__.py": "", "main.py": after}, run=["main"], unloaded=["pkg.sub"]
    )


def test_a_name_that_is_another_at_its_origin_is_patched_under_that() -> None:
    init: Tree = {
        "pkg/__init__.py": "from .light import light\nfrom .sub import impl as sym\n",
        "pkg/sub.py": "def impl(x):\n    return x * 10\n",
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import pkg\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1))\n"
        'with mock.patch.object(pkg, "sym", return_value="2"):\n'
        "    print(engine.run(1))\n"
    )
    after = (
        test.replace("import pkg\n", "import pkg\nimport pkg.sub\n")
        .replace("pkg.sym", "pkg.sub.impl")
        .replace('(pkg, "sym"', '(pkg.sub, "impl"')
    )
    engine = {"engine.py": "import pkg.sub\n\n\ndef run(x):\n    return pkg.sub.impl(x)\n"}
    moves(test, after, more=init, more_after={**NARROWED, **engine})


def test_multiple_names_of_one_module_move_at_once() -> None:
    more: Tree = {
        "pkg/__init__.py": "from .sub import other, sym\n",
        "pkg/sub.py": "def sym(x):\n    return x\n\n\ndef other(x):\n    return x\n",
        "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x), pkg.other(x)\n",
    }
    test = (
        "from unittest import mock\n\n"
        "import engine\n\n"
        'with mock.patch.multiple("pkg", sym=lambda x: "mocked", other=lambda x: 2):\n'
        "    print(engine.run(1))\n"
    )
    after = {
        "pkg/__init__.py": "",
        "engine.py": "import pkg.sub\n\n\ndef run(x):\n    return pkg.sub.sym(x), pkg.sub.other(x)\n",
    }
    moves(test, test.replace('"pkg"', '"pkg.sub"'), more=more, more_after=after, symbols="sym other")
    check_refused({**PKG, **more, "main.py": test}, "pkg", "sym", "different places", at="main.py:5")


def test_a_patch_that_works_without_an_optional_symbol_is_refused() -> None:
    init = "try:\n    from .sub import sym\nexcept ImportError:\n    pass\n"
    text = 'from unittest import mock\n\nimport engine\n\nmock.patch("pkg.sym", create=True).start()\nengine.run(1)\n'
    tree = {**PKG, **LOCAL, "pkg/__init__.py": init, "main.py": text}
    check_refused(tree, "pkg", "sym", "this patch works without it", at="main.py:5")
