"""What a file may read of another package's submodules that are no longer loaded."""

from __future__ import annotations

import pytest

from codemods.engine.modules import Layout
from codemods.narrow_reexport.foreign_reads import ForeignReads, named_below, reads_below, renamed_imports

PATHS = ("pkg/__init__.py", "oth/__init__.py", "oth/mid/__init__.py", "oth/mid/low.py", "oth/sub.py", "compat.py")
READS = ForeignReads(Layout(PATHS, "pkg", ()), ["oth.sub", "oth.mid.low"])


def read(text: str, path: str = "main.py") -> set[str]:
    data = text.encode()
    return set(READS.read(data, READS.bound(path, data)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import oth\noth.sub\n", {"oth.sub"}),
        ("import oth as o\no.sub, o.mid.low\n", {"oth.sub", "oth.mid.low"}),
        ("from oth import mid as m\nm.low, m.sub\n", {"oth.mid.low"}),
        ("import oth\no = p = oth\np.sub\n", {"oth.sub"}),
        ("from oth import (  # why :)\n    mid,\n)\nmid.low\n", {"oth.mid.low"}),
        ("from oth import \\\n    mid\nmid.low\n", {"oth.mid.low"}),
        ("import oth\nvars(oth)['sub']\n", {"oth.sub"}),
        ("import oth\no = oth\no.__dict__['sub']\n", {"oth.sub"}),
        ("from compat import oth\noth.sub\n", {"oth.sub"}),
        ("import compat\ncompat.oth.sub\n", {"oth.sub"}),
        ("from importlib import import_module\nimport_module('oth').sub\n", {"oth.sub"}),
        ("import oth\nself.sub\n", set()),
        ("import oth\nvars(other)['sub']\n", set()),
        ("oth.sub\n", set()),
        ("import oth.sub\n", set()),
        ("import oth\n# oth.sub\n", set()),
        ("from oth.mid import low\nlow.sub\n", set()),
    ],
)
def test_a_read_goes_by_the_names_that_the_file_has(text: str, found: set[str]) -> None:
    assert read(text) == found


def test_a_package_reads_below_itself_by_a_relative_import() -> None:
    assert read("from . import mid\nmid.low\n", "oth/near.py") == {"oth.mid.low"}


def test_another_name_is_handed_on_from_file_to_file() -> None:
    texts = {
        "compat.py": b"import oth as o\n",
        "more.py": b"from compat import o as p\n",
        "starred.py": b"from more import *\n",
        "innocent.py": b"from compat import q\n",
    }
    layout = Layout((*PATHS, *texts), "pkg", ())
    reads = ForeignReads(layout, ["oth.sub"])
    holds = {path: pairs for path, data in texts.items() if (pairs := reads.bound(path, data))}
    found = reads.handed_on(holds, {"starred.py": {"more"}}, lambda words: [*texts], texts.__getitem__)
    assert found == {"more.py": {("oth", b"p")}, "starred.py": {("oth", b"p")}}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"a.sub", True),
        (b"a . sub", True),
        (b"a.  # why\n  sub", True),
        (b"a; b.sub", True),
        (b"yield \\\nfrom a.sub.items", True),
        (b"a.subs", False),
        (b"asub", False),
        (b"import a.sub", False),
        (b"from a.sub import b", False),
        (b"lazy import a.sub", False),
        (b"x = 1  # a.sub", True),  # a line is not looked through for where its comment starts
        (b"# a.sub", False),
    ],
)
def test_import_statements_read_nothing(text: bytes, found: bool) -> None:
    assert reads_below(text, b"sub") is found


def test_a_string_names_what_is_read_by_its_first_part() -> None:
    assert named_below(b"f('sub')", [b"sub"])
    assert named_below(b'f("sub.limit")', [b"sub"])
    assert not named_below(b"f('a sub', sub)", [b"sub"])


def test_imports_that_give_other_names_are_told_apart() -> None:
    data = b"import a as b\nfrom c import (  # why :)\n    d as e,\n)\nimport f, g as g\n"
    lines = renamed_imports("x.py", data, None)
    assert lines is not None and [line.names for line in lines] == [((b"a", b"b"),), ((b"d", b"e"),)]
    assert renamed_imports("x.md", data, None) is None
