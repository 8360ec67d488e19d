"""What the package looks up as it is imported must be registered by then."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

KEEPER = (
    "class Keeper:\n    def add(self, cls):\n        setattr(self, cls.__name__, cls)\n\n\nS = Keeper()\nT = Keeper()\n"
)
KNOWN = "KNOWN = {}\n\n\ndef keep(cls):\n    KNOWN[cls.__name__] = cls\n"
LOOKED_UP: Tree = {
    "pkg/sub.py": "from reg import Meta\n\n\nclass Sym:\n    pass\n\n\nclass One(metaclass=Meta):\n    pass\n",
    "user.py": "from pkg import Sym\n\nprint(Sym)\n",
}
AS_ATTRIBUTE: Tree = {
    **LOOKED_UP,
    "reg.py": f"{KEEPER}\n\nclass Meta(type):\n    def __init__(cls, *rest):\n        S.add(cls)\n",
}
AS_ITEM: Tree = {
    **LOOKED_UP,
    "reg.py": f"{KNOWN}\n\nclass Meta(type):\n    def __init__(cls, *rest):\n        keep(cls)\n",
}
IMPORTS = "import reg\nfrom reg import *\nfrom .sub import Sym\n"


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (AS_ATTRIBUTE, "One = S.One\n"),
        (AS_ATTRIBUTE, "One = [reg.S.One]\n"),
        (AS_ATTRIBUTE, "class Two(S.One): pass\n"),
        (AS_ATTRIBUTE, "def f(one=S.One): pass\n"),
        (AS_ITEM, "One = KNOWN['One']\n"),
        (AS_ITEM, "print(reg.KNOWN['One'].__name__)\n"),
        (AS_ITEM, "One = KNOWN.get('One')\n"),
        (AS_ITEM, "del KNOWN['One']\n"),
        (AS_ITEM, "def f(one: KNOWN['One']): pass\n"),
    ],
)
def test_what_the_init_looks_up_as_it_is_imported_must_be_registered_by_then(tree: Tree, line: str) -> None:
    tree = {**tree, "pkg/__init__.py": IMPORTS + line}
    check_refused(tree, "pkg", "Sym", "pkg.sub registers it .*not imported before that", at="pkg/__init__.py:4")


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        (AS_ATTRIBUTE, "def f():\n    return S.One\n"),
        (AS_ATTRIBUTE, "f = lambda: S.One\n"),
        (AS_ATTRIBUTE, "T.One = 1\nOne = T.One\n"),
        (AS_ATTRIBUTE, "import pkg.sub\nOne = S.One\n"),
        (AS_ITEM, "One = KNOWN.get('Two')\nKNOWN['Two'] = 2\nprint(KNOWN['Two'])\n"),
        (AS_ITEM, "KNOWN['One'] = 1\nOne = KNOWN['One']\n"),
        (AS_ITEM, "KNOWN['in'] = {'One': 1}\nOne = KNOWN['in']['One']\n"),
        (AS_ITEM, "One = {'One': 1}['One']\n"),
    ],
)
def test_other_lookups_need_not_wait_for_it(tree: Tree, line: str) -> None:
    tree = {**tree, "pkg/__init__.py": IMPORTS + line}
    after = {"user.py": "from pkg.sub import Sym\n\nprint(Sym)\n"}
    after["pkg/__init__.py"] = IMPORTS.replace("from .sub import Sym\n", "") + line
    check_rewritten(tree, "pkg", "Sym", after, run=["user"])


# `import top` runs `top.pkg` in the middle, and only then what the call site in it now imports itself
AROUND: Tree = {
    **{f"top/{path}": text for path, text in AS_ATTRIBUTE.items()},
    "top/__init__.py": "from .pkg import One, Sym\n",
    "top/pkg/__init__.py": "from top.reg import S\nfrom .sub import Sym\nOne = S.One\n",
    "top/pkg/sub.py": "from top.reg import Meta\n\n\nclass Sym:\n    pass\n\n\nclass One(metaclass=Meta):\n    pass\n",
    "top/user.py": "from top.pkg import Sym\n\nprint(Sym)\n",
}


def test_a_later_import_in_the_package_above_comes_too_late() -> None:
    check_refused(AROUND, "top.pkg", "Sym", "S.One is looked up as top.pkg is imported", at="top/pkg/__init__.py:3")


def test_a_package_above_that_has_run_by_then_is_counted_on() -> None:
    tree = {**AROUND, "top/__init__.py": "import top.pkg.sub\n"}
    check_refused(
        tree, "top.pkg", "Sym", "S.One is looked up", at="top/pkg/__init__.py:3"
    )  # it runs in the middle of that
    apart = {
        **AROUND,
        "top/__init__.py": "import other\n",
        "other.py": "from reg import Meta\n\n\nclass One(metaclass=Meta):\n    pass\n",
        "reg.py": AS_ATTRIBUTE["reg.py"],
        "top/pkg/__init__.py": "from reg import S\nimport other\nfrom .sub import Sym\nOne = S.One\n",
        "top/pkg/sub.py": "import other\n\n\nclass Sym:\n    pass\n",
    }
    after = {"top/user.py": "from top.pkg.sub import Sym\n\nprint(Sym)\n"}
    after["top/pkg/__init__.py"] = "from reg import S\nimport other\nOne = S.One\n"
    check_rewritten(apart, "top.pkg", "Sym", after, run=["top.user"])


# @register("name")
BY_NAME: Tree = {
    "reg.py": "KNOWN = {'help': 1}\n\n\ndef register(name, help=''):\n    def inner(f):\n        KNOWN[name] = f\n        return f\n"
    "    return inner\n",
    "pkg/sub.py": "from reg import register\n\n\n@register('one', help='help')\ndef sym():\n    return 1\n",
    "pkg/other.py": "from reg import register\n\n\n@register('sym')\ndef other():\n    return 2\n",
    "user.py": "from pkg import sym\n\nprint(sym)\n",
}
BEGIN = "from reg import KNOWN\nfrom .other import other\nfrom .sub import sym\n"


def both(line: str, init: str = BEGIN) -> tuple[Tree, dict[str, str | bytes]]:
    after: dict[str, str | bytes] = {"user.py": "from pkg.sub import sym\n\nprint(sym)\n"}
    after["pkg/__init__.py"] = init.replace("from .sub import sym\n", "") + line
    return {**BY_NAME, "pkg/__init__.py": init + line}, after


def test_the_name_that_is_handed_over_is_the_one_that_is_looked_up() -> None:
    check_refused(both("x = KNOWN['one']\n")[0], "pkg", "sym", "is looked up", at="pkg/__init__.py:4")
    for line in ("x = KNOWN['sym']()\n", "x = KNOWN['help']\n", "x = KNOWN.get\n"):
        tree, after = both(line)
        check_rewritten(tree, "pkg", "sym", after, run=["pkg.other"])


def test_an_annotation_that_does_not_run_looks_nothing_up() -> None:
    tree, after = both("x: KNOWN['one'] = 1\n", f"from __future__ import annotations\n{BEGIN}")
    check_rewritten(tree, "pkg", "sym", after, run=["pkg.other"])
    tree, after = both("x: KNOWN['one'] = 1\n")
    check_refused(tree, "pkg", "sym", "is looked up", at="pkg/__init__.py:4")


def test_another_registration_under_the_same_name_will_do() -> None:
    other = {"pkg/sub.py": "from reg import register\n\n\n@register('sym')\ndef sym():\n    return 1\n"}
    init = "from reg import KNOWN\nfrom .sub import sym\nfrom .other import other\n"
    tree, after = both("x = KNOWN['sym']()\n", init)
    check_rewritten({**tree, **other}, "pkg", "sym", after, run=["pkg.other"])


def test_an_import_further_down_comes_too_late() -> None:
    init = "from reg import KNOWN\nfrom .sub import sym\nx = KNOWN['one']\nfrom .other import other\n"
    tree = {**BY_NAME, "pkg/__init__.py": init, "pkg/other.py": "from . import sub\n\n\ndef other():\n    return 2\n"}
    check_refused(tree, "pkg", "sym", "is looked up", at="pkg/__init__.py:3")


@pytest.mark.parametrize("store", ["reg.KNOWN['one'] = sym", "import reg as r\nr.THING = sym"])
def test_what_is_put_there_by_a_plain_assignment_counts(store: str) -> None:
    line = "x = KNOWN['one']\n" if "KNOWN" in store else "import reg\nx = reg.THING\n"
    tree, _ = both(line)
    tree = {**tree, "pkg/sub.py": f"import reg\n\n\ndef sym():\n    return 1\n\n\n{store}\n"}
    check_refused(tree, "pkg", "sym", "is looked up", at=f"pkg/__init__.py:{4 if 'KNOWN' in line else 5}")


def test_a_call_site_that_looks_it_up_above_its_import_is_refused() -> None:
    tree, after = both("")
    user = "import pkg\nfrom reg import KNOWN\nx = KNOWN['one']\nfrom pkg import sym\nprint(sym(), x())\n"
    check_refused({**tree, "user.py": user}, "pkg", "sym", "looked up as user is imported", at="user.py:3")
    user = "import pkg\nfrom reg import KNOWN\nfrom pkg import sym\nx = KNOWN['one']\nprint(sym(), x())\n"
    after["user.py"] = user.replace("from pkg import", "from pkg.sub import")
    check_rewritten({**tree, "user.py": user}, "pkg", "sym", after, run=["user"])


def test_a_module_that_the_package_goes_on_loading_may_look_it_up() -> None:
    # it imports nothing that registers the name; the package did, before it
    tree = {
        **BY_NAME,
        "pkg/__init__.py": "from reg import KNOWN\nfrom .sub import sym\nfrom .late import late\nx = KNOWN['one']\n",
        "pkg/sub.py": f"{BY_NAME['pkg/sub.py']!s}\n\n@register('two')\ndef two():\n    return 2\n",
        "pkg/late.py": "from reg import KNOWN\n\nlate = KNOWN['two']\n",
    }
    check_refused(tree, "pkg", "sym", "looked up as pkg is imported", at="pkg/__init__.py:4")
    check_refused(tree, "pkg", "sym", "looked up as pkg.late is imported", at="pkg/late.py:3")


REGISTERED = (
    "R = {}\n\n\ndef register(name):\n    def keep(f):\n        R[name] = f\n        return f\n\n    return keep\n"
)


@pytest.mark.parametrize(
    "sub",
    [
        "from reg import register\n\n\n@register('k')\ndef sym(): ...\n",
        "import reg\n\n\ndef sym(): ...\n\n\nreg.R['k'] = sym\n",
    ],
)
@pytest.mark.parametrize("use", ["from reg import R\n\nX = R['k']\n", "from reg import R; X = R['k']\n"])
def test_what_is_still_loaded_may_come_too_late_for_a_module_in_between(sub: str, use: str) -> None:
    tree: Tree = {
        "reg.py": REGISTERED,
        "pkg/__init__.py": "from .sub import sym\nfrom .use import X\nfrom . import late\n",
        "pkg/sub.py": sub,
        "pkg/late.py": "from .sub import sym\n",
        "pkg/use.py": use,
    }
    check_refused(tree, "pkg", "sym", "pkg.sub registers it .*not imported before that", at="pkg/use.py")


def test_an_import_on_the_line_itself_counts_as_before_it() -> None:
    tree: Tree = {
        "reg.py": REGISTERED,
        "pkg/__init__.py": "from .use import X\nfrom .sub import sym\n",
        "pkg/sub.py": "from reg import register\n\n\n@register('k')\ndef sym(): ...\n",
        "pkg/use.py": "from reg import R\nfrom . import sub; X = R['k']\n",
        "main.py": "import pkg\n\nprint(pkg.X is not None)\n",
    }
    check_rewritten(tree, "pkg", "sym", {"pkg/__init__.py": "from .use import X\n"}, run=["main"])
