"""Code that binds a symbol anew at its origin, or in the package's `__dict__`."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten

ENGINE = {"engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x)\n"}

AT_ORIGIN = [
    "pkg.sub.sym = fake",
    "del pkg.sub.sym",
    'setattr(pkg.sub, "sym", fake)',
    'pkg.sub.__dict__["sym"] = fake',
    "vars(pkg.sub).update(sym=fake)",
    'mock.patch.dict(pkg.sub.__dict__, {"sym": fake}).start()',
    'mock.patch.dict("pkg.sub.__dict__", sym=fake).start()',
]
IN_PACKAGE = [
    "mock.patch.dict(vars(pkg), sym=fake).start()",
    'mock.patch.dict("pkg.__dict__", {"sym": fake}).start()',
    'monkeypatch.setitem(pkg.__dict__, "sym", fake)',
]


@pytest.mark.parametrize("code", AT_ORIGIN)
def test_a_symbol_that_is_rebound_at_its_origin_from_outside_is_refused(code: str) -> None:
    tree = {**PKG, **ENGINE, "main.py": f"import pkg.sub\n\n{code}\n"}
    check_refused(tree, "pkg", "sym", r"the code rebinds pkg\.sub\.sym", at="main.py:3")


@pytest.mark.parametrize("line", ["import pkg.sub as m", "from pkg import sub as m"])
@pytest.mark.parametrize("code", ["m.sym = fake", 'setattr(m, "sym", fake)', 'vars(m)["sym"] = fake'])
def test_so_it_is_where_an_import_binds_the_origin_alone(line: str, code: str) -> None:
    tree = {**PKG, **ENGINE, "main.py": f"{line}\nfrom engine import run\n\n{code}\nprint(run(1))\n"}
    check_refused(tree, "pkg", "sym", r"the code rebinds pkg\.sub\.sym", at="main.py:4")


@pytest.mark.parametrize("code", IN_PACKAGE)
def test_a_symbol_that_is_replaced_in_the_packages_dict_is_refused(code: str) -> None:
    tree = {**PKG, **ENGINE, "main.py": f"import pkg\n\n{code}\n"}
    check_refused(tree, "pkg", "sym", r"replaced in the package's __dict__", at="main.py:3")


def test_another_name_of_the_origin_or_another_object_with_that_name_may_be_rebound() -> None:
    text = "import pkg.sub\n\npkg.sub.other = 1\npkg.light.sym = 2\n"
    tree = {**PKG, "main.py": text}
    check_rewritten(tree, "pkg", "sym", NARROWED, run=["main"])
