"""An object that is made from the package's name, and that the symbol is read through."""

from __future__ import annotations

from tests.narrow_reexport.trees import blocks, moves, stays
from tests.narrow_reexport.verbs import Tree

LAZY = (
    "import importlib\nfrom types import ModuleType\n\n\nclass LazyLoader(ModuleType):\n"
    "    def __init__(self, local, parent, name):\n        super().__init__(name)\n\n"
    "    def __getattr__(self, item):\n        return getattr(importlib.import_module(self.__name__), item)\n"
)
MORE: Tree = {"lazy.py": LAZY}
TYPED = (
    "from typing import TYPE_CHECKING\n\nfrom lazy import LazyLoader\n\nif TYPE_CHECKING:\n    import pkg as p\nelse:\n"
    '    p = LazyLoader("p", globals(), "pkg")\n\n\ndef run():\n    return p.sym(2)\n\n\nprint(run())\n'
)


def test_a_read_through_a_lazy_loader_is_refused_with_the_import_to_write() -> None:
    main = 'from lazy import LazyLoader\n\npkg = LazyLoader("pkg", globals(), "pkg")\nprint(pkg.sym(2))\n'
    outcome = blocks(main, r"what LazyLoader\(\) makes of the package's name", more=MORE, at="main.py:4")
    assert "from pkg.sub import sym" in outcome.text


def test_an_object_that_is_the_package_for_type_checkers_alone_is_refused() -> None:
    outcome = blocks(TYPED, "for type checkers alone", more=MORE, at="main.py:12")
    assert "from pkg.sub import sym" in outcome.text


def test_the_way_out_is_one() -> None:
    text = TYPED.replace("    return p.sym(2)", "    from pkg.sub import sym\n\n    return sym(2)")
    stays(text, more=MORE)


def test_another_maker_that_gets_the_name_is_a_warning() -> None:
    more: Tree = {"tools.py": "class Named:\n    def __init__(self, name):\n        self.sym = name\n"}
    text = 'from tools import Named\n\nthing = Named("pkg")\nprint(thing.sym)\n'
    stays(text, more=more, says=r"main\.py:4: Named\(\) gets the package's name")


def test_another_name_says_nothing() -> None:
    more: Tree = {"tools.py": "class LazyNamed:\n    def __init__(self, name):\n        self.sym = name\n"}
    outcome = stays('from tools import LazyNamed\n\nthing = LazyNamed("pkg.light")\nprint(thing.sym)\n', more=more)
    assert "LazyNamed" not in outcome.text


def test_a_module_that_is_imported_by_its_name_moves_as_before() -> None:
    moves(
        'import importlib\n\npkg = importlib.import_module("pkg")\nprint(pkg.sym(2))\n',
        'import importlib\n\npkg = importlib.import_module("pkg")\nprint(importlib.import_module("pkg.sub").sym(2))\n',
    )
