"""`__all__`: exactly the symbol's entry goes, whatever way the list is built."""

from __future__ import annotations

import pytest

from tests import oracle
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import check_refused, check_rewritten, narrow, tree

IMPORTS = "from .light import light\nfrom .sub import sym\n\n"
LEFT = "from .light import light\n\n"
MAIN = "import pkg\n\nprint([name for name in pkg.__all__ if name != 'sym'])\n"


def exports(before: str, after: str) -> None:
    files = {**PKG, "pkg/__init__.py": IMPORTS + before, "main.py": MAIN}
    check_rewritten(files, "pkg", "sym", {"pkg/__init__.py": LEFT + after}, run=["main"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('__all__ = ["light", "sym"]', '__all__ = ["light"]'),
        ("__all__ = ['sym', 'light']", "__all__ = ['light']"),
        ('__all__ = ("light", "sym")', '__all__ = ("light",)'),
        ('__all__ = ("sym", "light")', '__all__ = ("light",)'),
        ('__all__ = ("sym",)', "__all__ = ()"),
        ('__all__ = ["sym"]', "__all__ = []"),
        ('__all__ = "light", "sym"', '__all__ = "light",'),
        ('__all__ = "sym", "light"', '__all__ = "light",'),
        ('__all__: list[str] = ["light", "sym"]', '__all__: list[str] = ["light"]'),
        ('__all__ = [\n    "light",\n    "sym",\n]', '__all__ = [\n    "light",\n]'),
        ('__all__ = [\n    "light",\n    "sym"\n]', '__all__ = [\n    "light"\n]'),
        ('__all__ = ["light", "sym", "sym"]', '__all__ = ["light"]'),
        ('__all__ = ["light"] + ["sym"]', '__all__ = ["light"]'),
        ('__all__ = ["light", *["sym"]]', '__all__ = ["light"]'),
        ('__all__ = ["light", "s" "ym"]', '__all__ = ["light"]'),
        ('__all__ = list(["light", "sym"])', '__all__ = list(["light"])'),
    ],
)
def test_a_literal_loses_exactly_the_entry(before: str, after: str) -> None:
    exports(f"{before}\n", f"{after}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('__all__ = ["light"]\n__all__ += ["sym"]\n', '__all__ = ["light"]\n'),
        ('__all__ = []\n__all__ += ["sym", "light"]\n', '__all__ = []\n__all__ += ["light"]\n'),
        ('__all__ = ["light"]\n__all__.append("sym")\n', '__all__ = ["light"]\n'),
        ('__all__ = ["light"]\n__all__.extend(["sym"])\n', '__all__ = ["light"]\n'),
        ('__all__ = []\n__all__.extend(("sym", "light"))\n', '__all__ = []\n__all__.extend(("light",))\n'),
        ('__all__ = ["light", "sym"]\n__all__.remove("sym")\n', '__all__ = ["light"]\n'),
        ('__all__ = ["light"]\n__all__.append(sym.__name__)\n', '__all__ = ["light"]\n'),
        ('__all__ = ["light", sym.__name__]\n', '__all__ = ["light"]\n'),
    ],
)
def test_a_list_that_is_built_in_steps_loses_exactly_the_step(before: str, after: str) -> None:
    exports(before, after)


def test_comments_per_row_stay_with_their_rows() -> None:
    exports(
        '__all__ = [\n    # cheap\n    "light",  # one\n    # heavy\n    "sym",  # two\n    # end\n]\n',
        '__all__ = [\n    # cheap\n    "light",  # one\n    # heavy\n    # end\n]\n',
    )


def test_several_entries_on_one_row_keep_the_row() -> None:
    exports(
        '__all__ = [\n    "light", "sym",\n    "VERSION",\n]\nVERSION = 1\n',
        '__all__ = [\n    "light",\n    "VERSION",\n]\nVERSION = 1\n',
    )


def test_a_branch_that_only_listed_the_symbol_goes() -> None:
    exports(
        'import sys\n\n__all__ = ["light"]\nif sys.platform != "never":\n    __all__ += ["sym"]\n',
        'import sys\n\n__all__ = ["light"]\n',
    )


def test_a_branch_that_lists_more_keeps_the_rest() -> None:
    exports(
        (
            'import sys\n\n__all__ = []\nif sys.platform != "never":\n'
            '    __all__ += ["light", "sym"]\nelse:\n    __all__ += ["sym"]\n'
        ),
        'import sys\n\n__all__ = []\nif sys.platform != "never":\n    __all__ += ["light"]\nelse:\n    pass\n',
    )


def test_a_list_without_the_symbol_stays() -> None:
    exports('__all__ = ["light"]\n', '__all__ = ["light"]\n')


def test_a_longer_name_that_contains_the_symbol_stays() -> None:
    exports(
        'symbol = sym_max = 1\n__all__ = ["symbol", "sym", "sym_max"]\n',
        'symbol = sym_max = 1\n__all__ = ["symbol", "sym_max"]\n',
    )


def test_a_list_of_a_submodule_is_kept_out_where_it_names_the_symbol() -> None:
    before = {
        **PKG,
        "pkg/__init__.py": (
            "from . import sub\nfrom .light import light\nfrom .sub import other, sym\n\n"
            "__all__ = ['light'] + sub.__all__\n"
        ),
        "pkg/sub.py": "__all__ = ['sym', 'other']\n\n\ndef sym(x=1):\n    return x\n\n\ndef other():\n    return 3\n",
        "main.py": "from pkg import *\n\nprint(other(), light(1))\n",
    }
    after = {
        "pkg/__init__.py": (
            "from . import sub\nfrom .light import light\nfrom .sub import other\n\n"
            "__all__ = ['light'] + [name for name in sub.__all__ if name != \"sym\"]\n"
        ),
    }
    check_rewritten(before, "pkg", "sym", after, run=["main"])


def test_a_list_that_follows_the_namespace_stays() -> None:
    before = {**PKG, "pkg/__init__.py": IMPORTS + "__all__ = [name for name in dir() if not name.startswith('_')]\n"}
    check_rewritten(
        before,
        "pkg",
        "sym",
        {"pkg/__init__.py": LEFT + "__all__ = [name for name in dir() if not name.startswith('_')]\n"},
        unloaded=["pkg.sub"],
    )


@pytest.mark.parametrize(
    "line",
    [
        '__all__ = [name for name in ["light", "sym"]]',
        '__all__ = "light sym".split()',
        '__all__ = sorted({"light": 1, "sym": 2})',
    ],
)
def test_a_computed_list_that_would_still_name_it_is_refused(line: str) -> None:
    check_refused({**PKG, "pkg/__init__.py": IMPORTS + line + "\n"}, "pkg", "sym", "__all__", at="pkg/__init__.py:4")


def test_a_computed_list_that_cannot_be_read_is_at_least_warned_of() -> None:
    with tree({**PKG, "pkg/__init__.py": IMPORTS + '__all__ = [f"s{x}" for x in ["ym"]]\n'}) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4)
        assert "pkg/__init__.py:4" in outcome.text, outcome.text


def test_a_list_bound_to_another_name_first_is_edited_there() -> None:
    exports('_names = ["light", "sym"]\n__all__ = _names\n', '_names = ["light"]\n__all__ = _names\n')


def test_a_list_shared_with_other_code_is_never_left_naming_the_symbol() -> None:
    before = {
        **PKG,
        "pkg/__init__.py": IMPORTS + '_names = ["light", "sym"]\nDOCS = _names\n__all__ = list(_names)\n',
        "main.py": "from pkg import *\n",
    }
    with tree(before) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4)
        if outcome.code == 4:
            assert "pkg/__init__.py:" in outcome.text
        else:
            assert oracle.run_programs(root, ["main"])[0].exit_code == 0


def test_crlf_and_quotes_of_the_other_entries_stay() -> None:
    before = {
        **PKG,
        "pkg/__init__.py": (
            b'from .sub import sym\r\n__all__ = [\r\n    \'a\',\r\n    "sym",\r\n    "b",\r\n]\r\na = b = 1\r\n'
        ),
    }
    check_rewritten(
        before,
        "pkg",
        "sym",
        {"pkg/__init__.py": b"__all__ = [\r\n    'a',\r\n    \"b\",\r\n]\r\na = b = 1\r\n"},
        unloaded=["pkg.sub"],
    )


LISTED = 'from .light import light\nfrom .sub import sym\n\n__all__ = ["sym", "light"]\n'


@pytest.mark.parametrize("line", ["__all__.pop(1)", '__all__[1] = "sub"', "del __all__[1]"])
def test_a_list_that_is_edited_by_position_is_refused(line: str) -> None:
    check_refused(
        {**PKG, "pkg/__init__.py": f"{LISTED}{line}\n"},
        "pkg",
        "sym",
        "by position|cannot be read",
        at="pkg/__init__.py",
    )


@pytest.mark.parametrize("line", ["__all__.sort()", "print(len(__all__), __all__.index('light'))"])
def test_a_list_that_is_only_read_or_sorted_loses_its_entry(line: str) -> None:
    left = LISTED.replace("from .sub import sym\n", "").replace('"sym", ', "")
    before = {**PKG, "pkg/__init__.py": f"{LISTED}{line}\n"}
    check_rewritten(before, "pkg", "sym", {"pkg/__init__.py": f"{left}{line}\n"})
