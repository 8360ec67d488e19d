"""The journal: both texts can be had from either, exactly, and it stays small."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.journal import Entry, decode_journal, encode_journal
from codemods.engine.project import digest

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"a", b"\r\n", b"\xff", b"import x\n"]), max_size=12).map(b"".join)


@given(TEXTS, TEXTS)
def test_a_journal_turns_either_text_into_the_other(before: bytes, after: bytes) -> None:
    (entry,) = decode_journal(encode_journal([Entry.of("a.py", before, after, digest)]))
    assert entry.turned(before, forward=True) == after
    assert entry.turned(after, forward=False) == before
    assert (entry.before, entry.after, entry.created) == (digest(before), digest(after), False)


def test_a_journal_holds_the_differences_only() -> None:
    lines = [b"line %d of a long file\n" % number for number in range(5000)]
    edited = [b"import pkg.sub\n", *lines[1:-1], b"pkg.sub.sym\n"]
    assert len(encode_journal([Entry.of("a.py", b"".join(lines), b"".join(edited), digest)])) < 500
    longer = [*lines[:10], b"import pkg.sub\n", *lines[10:-9], b"changed\n", b"more\n", *lines[-8:]]
    assert len(encode_journal([Entry.of("a.py", b"".join(lines), b"".join(longer), digest)])) < 500


def test_a_created_file_has_no_text_before() -> None:
    (entry,) = decode_journal(encode_journal([Entry.of("narrowed.toml", None, b"version = 1\n", digest)]))
    assert (entry.created, entry.before) == (True, "")
    assert entry.turned(b"", forward=True) == b"version = 1\n"


def test_a_name_that_is_not_utf8_survives() -> None:
    name = os.fsdecode(b"caf\xe9.py") if os.name == "posix" else "caf\udce9.py"
    data = encode_journal([Entry.of(name, b"a", b"b", digest)])
    assert data.isascii()
    assert decode_journal(data)[0].path == name


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"version": 2}', b'{"version": 1, "files": [{"path": 1}]}']
)
def test_what_is_no_journal_is_an_error(data: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        decode_journal(data)
