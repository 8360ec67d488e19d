"""`narrowed.toml`: read strictly, written with the least change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.engine.bans import Ban, load_bans, with_bans, with_renamed, without_bans
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import Symbol


def ban(name: str, origin: str = "pkg.sub", *allow: str, lazy: bool = False) -> Ban:
    return Ban(Symbol("pkg", name), Symbol(origin, name), allow, lazy)


FILE = b"""\
# ours
version = 1

[symbols]
# about b
"pkg:b" = { origin = "pkg.sub:b" }  # why b

"pkg:d" = {origin="pkg.sub:d", allow = [
    "tests/**",  # said }
]}
# the end
"""


def test_a_fresh_file_says_what_it_is_and_has_sorted_rows() -> None:
    data = with_bans(
        b"",
        [
            ban("b"),
            ban("a", "pkg.x", "tests/**", "docs/*.py", lazy=True),
            Ban(Symbol("pkg", "sub"), Symbol("pkg.y", "sub")),
        ],
    )
    head, *rest = data.decode().split("\n")
    assert head.startswith("# ")
    assert rest == [
        "version = 1",
        "",
        "[symbols]",
        '"pkg:a" = { origin = "pkg.x:a", allow = ["tests/**", "docs/*.py"], lazy = true }',
        '"pkg:b" = { origin = "pkg.sub:b" }',
        '"pkg:sub" = { origin = "pkg.y:sub" }',
        "",
    ]


def test_bans_are_read_sorted_with_all_fields() -> None:
    assert load_bans(FILE) == (ban("b"), ban("d", "pkg.sub", "tests/**"))
    assert load_bans(b"") == load_bans(b"version = 1\n") == load_bans(b"version = 1\n[symbols]\n") == ()


@pytest.mark.parametrize(
    ("new", "before"),
    [
        ("a", b"# about b"),
        ("c", b'\n"pkg:d"'),
        ("e", b"# the end"),
    ],
)
def test_a_row_goes_to_its_sorted_place_and_the_rest_stays(new: str, before: bytes) -> None:
    row = f'"pkg:{new}" = {{ origin = "pkg.sub:{new}" }}\n'.encode()
    assert with_bans(FILE, [ban(new)]) == FILE.replace(before, row + before)


def test_several_rows_go_to_one_place_in_order() -> None:
    data = with_bans(FILE, [ban("f"), ban("c"), ban("e"), ban("ca")])
    names = [line.split(":")[1].split('"')[0] for line in data.decode().split("\n") if line.startswith('"pkg')]
    assert names == ["b", "c", "ca", "d", "e", "f"]


def test_a_row_is_replaced_and_keeps_its_comment() -> None:
    data = with_bans(FILE, [ban("b", "pkg.other")])
    assert data == FILE.replace(b'"pkg.sub:b" }  # why', b'"pkg.other:b" }  # why')


def test_a_row_of_several_lines_is_replaced() -> None:
    data = with_bans(FILE, [ban("d", lazy=True)])
    assert data == FILE[: FILE.index(b'"pkg:d"')] + b'"pkg:d" = { origin = "pkg.sub:d", lazy = true }\n# the end\n'


def test_a_row_that_is_there_changes_no_byte() -> None:
    assert with_bans(FILE, [ban("d", "pkg.sub", "tests/**"), ban("b")]) is FILE
    assert with_bans(FILE, []) is FILE
    assert with_bans(b"", []) == b""


def test_windows_newlines_stay() -> None:
    crlf = FILE.replace(b"\n", b"\r\n")
    data = with_bans(crlf, [ban("a"), ban("b", "pkg.other"), ban("e")])
    assert data == with_bans(FILE, [ban("a"), ban("b", "pkg.other"), ban("e")]).replace(b"\n", b"\r\n")


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"version = 1\n[symbols]", b"version = 1\n[symbols]\nROW\n"),
        (b"version = 1\r\n[symbols]", b"version = 1\r\n[symbols]\r\nROW\r\n"),
        (b"version = 1\n[symbols]\n", b"version = 1\n[symbols]\nROW\n"),
        (b"version = 1\n\n[ symbols ] # x\n\n", b"version = 1\n\n[ symbols ] # x\nROW\n\n"),
        (b"version = 1", b"version = 1\n\n[symbols]\nROW\n"),
        (b"version = 1\n\n\n", b"version = 1\n\n[symbols]\nROW\n"),
        (b"version = 1\r\n", b"version = 1\r\n\r\n[symbols]\r\nROW\r\n"),
        (b"\n\n", None),
    ],
)
def test_odd_files_get_their_row(data: bytes, wanted: bytes | None) -> None:
    new = with_bans(data, [ban("a")])
    assert load_bans(new) == (ban("a"),)
    if wanted is not None:
        assert new == wanted.replace(b"ROW", b'"pkg:a" = { origin = "pkg.sub:a" }')


def test_a_layout_without_rows_is_refused_with_a_way_out() -> None:
    data = b'version = 1\nsymbols = { "pkg:b" = { origin = "pkg.sub:b" } }\n'
    assert load_bans(data) == (ban("b"),)
    assert with_bans(data, [ban("b")]) is data
    with pytest.raises(BadConfiguration, match="no row can be added") as caught:
        with_bans(data, [ban("a")])
    assert "[symbols]" in caught.value.hint


def test_tables_in_place_of_rows_are_understood_but_not_replaced() -> None:
    data = b'version = 1\n[symbols."pkg:b"]\norigin = "pkg.sub:b"\n'
    assert load_bans(with_bans(data, [ban("a")])) == (ban("a"), ban("b"))
    with pytest.raises(BadConfiguration, match="no row can be added"):
        with_bans(data, [ban("b", "pkg.other")])


def test_dotted_rows_are_understood_but_not_replaced() -> None:
    data = b'version = 1\n[symbols]\n"pkg:b".origin = "pkg.sub:b"\n'
    assert load_bans(with_bans(data, [ban("a"), ban("c")])) == (ban("a"), ban("b"), ban("c"))
    assert load_bans(with_bans(data, [ban("b", "pkg.other")])) == (ban("b", "pkg.other"),)


@pytest.mark.parametrize(
    ("text", "line", "detail"),
    [
        ('[symbols]\n"a:b" = { origin = "a.c:b" }\n', 0, "there is no `version`"),
        ("\nversion = 2\n", 2, "version 2 is unknown"),
        ("version = true\n", 1, "version True is unknown"),
        ('version = "1"\n', 1, "version '1' is unknown"),
        ("version = 1\nsymbol = 1\n", 2, "unknown key `symbol`"),
        ("version = 1\n[symbol]\n", 2, "unknown key `symbol`"),
        ("version = 1\nsymbols = 1\n", 2, "must be a table"),
        ('version = 1\n[symbols]\n\n"a.b" = { origin = "a.c:b" }\n', 4, '"a.b" is not a symbol'),
        ('version = 1\n[symbols]\n"a..x:b" = { origin = "a.c:b" }\n', 3, "is not a symbol"),
        ('version = 1\n[symbols]\n"a:b c" = { origin = "a.c:b" }\n', 3, "is not a symbol"),
        ('version = 1\n[symbols]\n"a:b" = "a.c:b"\n', 3, "must be a table"),
        ('version = 1\n[symbols]\n"a:b" = { }\n', 3, "has no `origin`"),
        ('version = 1\n[symbols]\n"a:b" = { origin = "a.c.b" }\n', 3, "has a bad `origin`"),
        ('version = 1\n[symbols]\n"a:b" = { origin = 1 }\n', 3, "has a bad `origin`"),
        ('version = 1\n[symbols]\n"a:b" = { origin = "a.c:b", alow = [] }\n', 3, "unknown key `alow`"),
        ('version = 1\n[symbols]\n"a:b" = { origin = "a.c:b", allow = "x" }\n', 3, "must be a list of globs"),
        ('version = 1\n[symbols]\n"a:b" = { origin = "a.c:b", lazy = 1 }\n', 3, "must be true or false"),
        ('version = 1\n[symbols]\n"a:b" = { origin = "a.c:b" }\n"a:b" = { origin = "a.c:b" }\n', 4, "not valid TOML"),
    ],
)
def test_what_is_not_understood_is_named_with_its_line(text: str, line: int, detail: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        load_bans(text.encode(), "x/narrowed.toml")
    assert detail in caught.value.detail
    assert (caught.value.path, caught.value.line) == ("x/narrowed.toml", line)
    with pytest.raises(BadConfiguration):
        with_bans(text.encode(), [ban("z")])


NAMES = st.sampled_from(["a", "b", "c", "ab", "ä", "_x"])
BANS = st.builds(
    Ban,
    st.builds(Symbol, st.sampled_from(["pkg", "pkg.sub", "pkg_a"]), NAMES),
    st.builds(Symbol, st.sampled_from(["pkg.x", "pkg.x.y"]), NAMES),
    st.lists(st.sampled_from(["tests/**", 'a"b', "back\\slash", "\x7f\t", "}"]), max_size=2).map(tuple),
    st.booleans(),
)


@given(st.lists(BANS, max_size=6), st.lists(BANS, max_size=6))
def test_whatever_is_added_is_read_back_and_a_second_time_changes_nothing(first: list[Ban], second: list[Ban]) -> None:
    data = with_bans(with_bans(b"", first), second)
    wanted = {entry.symbol: entry for entry in (*first, *second)}
    assert load_bans(data) == tuple(sorted(wanted.values(), key=lambda entry: str(entry.symbol)))
    assert with_bans(data, second[-1:]) == data
    rows = [line for line in data.decode().split("\n") if line.startswith('"')]
    assert rows == sorted(rows, key=lambda row: row.split('"')[1])


LAID_OUT = b"""\
# ours
version = 1

[symbols]
# about b
"pkg:b" = { origin = "pkg.sub:b" }  # why b
'pkg:c' = {origin='pkg.subs:c', allow = [
    "tests/**",  # said }
]}\r
"pkg:mod" = { origin = "pkg:mod" }
"zoo:a" = { origin = "pkg.sub.deep:a" }
"""


def test_a_row_is_taken_out_and_every_other_byte_stays() -> None:
    gone = without_bans(LAID_OUT, [Symbol("pkg", "c"), Symbol("zoo", "a")])
    assert gone == LAID_OUT.replace(LAID_OUT[LAID_OUT.index(b"'pkg:c'") : LAID_OUT.index(b'"pkg:mod"')], b"").replace(
        b'"zoo:a" = { origin = "pkg.sub.deep:a" }\n', b""
    )
    assert without_bans(LAID_OUT, []) == LAID_OUT


def test_the_last_row_may_end_without_a_newline() -> None:
    assert without_bans(LAID_OUT.rstrip(), [Symbol("zoo", "a")]).endswith(b'origin = "pkg:mod" }\n')


def test_a_renamed_module_is_renamed_in_origins_with_all_that_is_below_it() -> None:
    data, changed = with_renamed(LAID_OUT, "pkg.sub", "pkg.new.place")
    assert data == LAID_OUT.replace(b"pkg.sub:b", b"pkg.new.place:b").replace(b"pkg.sub.deep", b"pkg.new.place.deep")
    assert [str(ban.symbol) for ban in changed] == ["pkg:b", "zoo:a"]


def test_a_renamed_package_keeps_its_rows_where_the_order_allows_it() -> None:
    data, changed = with_renamed(LAID_OUT, "pkg", "pkh")
    assert data == LAID_OUT.replace(b'"pkg', b'"pkh').replace(b"'pkg:c'", b'"pkh:c"').replace(
        b"'pkg.subs:c'", b'"pkh.subs:c"'
    )
    assert len(changed) == 4


def test_a_row_whose_key_sorts_elsewhere_moves_there() -> None:
    data, _ = with_renamed(LAID_OUT, "pkg:b", "pkg:n")
    assert data.decode().splitlines()[3:] == [
        "[symbols]",
        "# about b",
        "'pkg:c' = {origin='pkg.subs:c', allow = [",
        '    "tests/**",  # said }',
        "]}",
        '"pkg:mod" = { origin = "pkg:mod" }',
        '"pkg:n" = { origin = "pkg.sub:b" }  # why b',
        '"zoo:a" = { origin = "pkg.sub.deep:a" }',
    ]


def test_a_submodule_is_renamed_as_the_module_that_it_is() -> None:
    data, changed = with_renamed(LAID_OUT, "pkg.mod", "pkg.model")
    assert data == LAID_OUT.replace(b"pkg:mod", b"pkg:model")
    assert changed == (Ban(Symbol("pkg", "model"), Symbol("pkg", "model")),)


def test_two_rows_do_not_become_one() -> None:
    with pytest.raises(BadConfiguration, match='two rows would become "pkg:c"'):
        with_renamed(LAID_OUT, "pkg:b", "pkg:c")


@pytest.mark.parametrize("change", [lambda d: without_bans(d, [Symbol("a", "b")]), lambda d: with_renamed(d, "a", "c")])
def test_rows_in_another_layout_are_not_rewritten(change: Callable[[bytes], object]) -> None:
    with pytest.raises(BadConfiguration, match="laid out so that its rows cannot be rewritten"):
        change(b'version = 1\nsymbols = {"a:b" = {origin = "a.b:b"}}\n')


def test_what_no_row_names_changes_nothing() -> None:
    assert with_renamed(LAID_OUT, "pk", "other") == (LAID_OUT, ())
