"""What is remembered of a file comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.model import Module
from codemods.engine.outline import outline
from codemods.import_cost.records import (
    Record,
    Use,
    UseIndex,
    decode,
    decode_outline,
    decode_uses,
    encode,
    encode_outline,
    encode_uses,
)

SOURCE = (
    b"import a.b as c\nimport d.e\nfrom . import x as y\ntry:\n    from .m import (f,\n        g as h)\n"
    b"except ImportError:\n    h = None\nclass C:\n    from .n import *\ndef late():\n    from .late import z\n"
)
MODULE = Module("pkg.sub", "pkg/sub/__init__.py", True)


def record(data: bytes, module: Module = MODULE) -> Record:
    return Record(1, len(data), module, encode_outline(outline(data, module)), encode_uses(data, module))


def test_an_outline_comes_back_equal() -> None:
    found = outline(SOURCE, MODULE)
    assert decode_outline(encode_outline(found)) == found


def test_outlines_of_this_project_come_back_equal() -> None:
    root = Path(__file__).resolve().parents[2]
    for path in sorted((root / "codemods").rglob("*.py")):
        module = Module(".".join(path.relative_to(root).with_suffix("").parts), path.name, False)
        found = outline(path.read_bytes(), module)
        assert decode_outline(encode_outline(found)) == found


def test_from_imports_of_all_depths_are_absolute() -> None:
    assert list(decode_uses(encode_uses(SOURCE, MODULE))) == [
        Use("a.b", "", "c"),
        Use("d.e", "", ""),
        Use("pkg.sub", "x", "y"),
        Use("pkg.sub.m", "f", "f"),
        Use("pkg.sub.m", "g", "h"),
        Use("pkg.sub.n", "*", "*"),
        Use("pkg.sub.late", "z", "z"),
    ]


def test_an_index_finds_a_module_and_no_other_that_begins_alike() -> None:
    first, second = b"from pkg.a import f\n", b"from pkg.ab import g\nfrom pkg.a import h\nimport pkg.a\n"
    top = Module("m", "m.py", False)
    index = UseIndex({"one.py": record(first, top), "none.py": record(b"", top), "two.py": record(second, top)})
    assert list(index.of("pkg.a")) == [
        ("one.py", Use("pkg.a", "f", "f")),
        ("two.py", Use("pkg.a", "h", "h")),
        ("two.py", Use("pkg.a", "", "")),
    ]
    assert [path for path, _ in index.all()] == ["one.py", "two.py", "two.py", "two.py"]
    assert list(index.of("pkg")) == []


def test_all_records_come_back() -> None:
    records = {
        "pkg/sub/__init__.py": record(SOURCE),
        "ünï/b.py": Record(2, 3, Module("b", "ünï/b.py", False), b"", b""),
    }
    assert decode(encode(records, "v"), "v") == records


@pytest.mark.parametrize("cut", [0, 1, 20, 60, 200, -1])
def test_a_part_of_a_cache_is_no_cache(cut: int) -> None:
    whole = encode({"pkg/sub/__init__.py": record(SOURCE)}, "v")
    assert decode(whole[:cut], "v") == {}
    assert decode(whole, "w") == {}
