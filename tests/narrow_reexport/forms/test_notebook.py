"""Notebooks: code cells are rewritten in place, and every other byte of the file stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, tree


def cell(*lines: str, kind: str = "code") -> dict[str, Any]:
    text = "\n".join(lines)
    return {
        "cell_type": kind,
        "metadata": {},
        "source": text.splitlines(keepends=True),
        "outputs": [{"text": ["pkg.sym"]}],
    }


def notebook(
    *cells: dict[str, Any], indent: int | str | None = 1, ensure_ascii: bool = False, end: str = "\n"
) -> bytes:
    value = {"cells": list(cells), "metadata": {"note": "from pkg import sym"}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(value, indent=indent, ensure_ascii=ensure_ascii) + end).encode()


def check(before: bytes, after: bytes, *, says: str = "") -> str:
    found = check_rewritten({**PKG, "demo.ipynb": before}, "pkg", "sym", {**NARROWED, "demo.ipynb": after}, says=says)
    same_output(before, after)
    return found.text


def same_output(before: bytes, after: bytes, base: Tree = PKG, narrowed: Tree = NARROWED) -> None:
    """The code cells, one after the other, print the same on the package before and after."""
    done = []
    for data, package in ((before, base), (after, {**base, **narrowed})):
        with tree({**package, "cells.py": code_of(data)}) as root:
            done.append(oracle.run_programs(root, ["cells"]))
            assert done[-1][0].exit_code == 0, done[-1][0].error
    assert not oracle.differences(*done)


def code_of(data: bytes) -> str:
    cells = [each["source"] for each in json.loads(data)["cells"] if each["cell_type"] == "code"]
    return "\n".join("".join(source) for source in cells) + "\n"


def test_an_import_in_a_cell_is_rewritten() -> None:
    before = notebook(cell("from pkg import sym", "print(sym(2))"))
    check(before, notebook(cell("from pkg.sub import sym", "print(sym(2))")))


def test_a_name_taken_out_of_a_statement_becomes_a_new_item_of_the_list() -> None:
    before = notebook(cell("from pkg import light, sym", "print(sym(light(2)))"))
    check(before, notebook(cell("from pkg import light", "from pkg.sub import sym", "print(sym(light(2)))")))


def test_an_import_on_the_last_line_of_a_cell_grows_by_a_line() -> None:
    before = notebook(cell("import os", "from pkg import light, sym"), cell("print(sym(light(2)))"))
    after = notebook(
        cell("import os", "from pkg import light", "from pkg.sub import sym"), cell("print(sym(light(2)))")
    )
    check(before, after)


def test_a_cell_of_one_line_grows_by_a_line() -> None:
    before = notebook(cell("from pkg import light, sym"), cell("print(sym(light(2)))"))
    check(before, notebook(cell("from pkg import light", "from pkg.sub import sym"), cell("print(sym(light(2)))")))


def test_a_line_of_a_longer_statement_goes_with_its_item() -> None:
    before = notebook(cell("from pkg import (", "    light,", "    sym,", ")", "print(sym(light(2)))"))
    after = notebook(cell("from pkg import (", "    light,", ")", "from pkg.sub import sym", "print(sym(light(2)))"))
    check(before, after)


def test_the_cells_share_one_namespace() -> None:
    before = notebook(cell("import pkg"), cell("# Text", kind="markdown"), cell("print(pkg.sym(2))"))
    after = notebook(cell("import pkg.sub"), cell("# Text", kind="markdown"), cell("print(pkg.sub.sym(2))"))
    check(before, after)


def test_cells_of_imports_are_not_joined_with_each_other() -> None:
    before = notebook(cell("from pkg.sub import Sym"), cell("from pkg import sym"), cell("print(sym(Sym.limit))"))
    after = notebook(cell("from pkg.sub import Sym"), cell("from pkg.sub import sym"), cell("print(sym(Sym.limit))"))
    check(before, after)


def test_a_star_import_gets_the_name_beside_it() -> None:
    before = notebook(cell("from pkg import *"), cell("print(sym(2))"))
    after = notebook(cell("from pkg import *", "from pkg.sub import sym"), cell("print(sym(2))"))
    check(before, after)


def test_a_submodule_that_only_the_package_loaded_is_imported() -> None:
    before = notebook(cell("import pkg", "print(pkg.sub.Sym.limit)"))
    check(before, notebook(cell("import pkg", "import pkg.sub", "print(pkg.sub.Sym.limit)")))


@pytest.mark.parametrize("indent", [None, 0, 1, 4, "\t"])
def test_the_layout_of_the_file_is_kept(indent: int | str | None) -> None:
    before = notebook(cell("from pkg import light, sym", "print(sym(light(2)))"), indent=indent)
    after = notebook(cell("from pkg import light", "from pkg.sub import sym", "print(sym(light(2)))"), indent=indent)
    check(before, after)


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_characters_beyond_ascii_keep_their_spelling(ensure_ascii: bool) -> None:
    before = notebook(
        cell('x = "caf\u00e9 \U0001f600"; from pkg import sym  # \u00e9', "print(sym(2))"), ensure_ascii=ensure_ascii
    )
    after = notebook(
        cell('x = "caf\u00e9 \U0001f600"; from pkg.sub import sym  # \u00e9', "print(sym(2))"),
        ensure_ascii=ensure_ascii,
    )
    check(before, after)


def test_escapes_that_json_dumps_does_not_write_are_kept() -> None:
    before = b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["from pkg import sym\\n", "print(sym(2), \\"a\\/b\\u0041\\")"]}]}'
    check(before, before.replace(b"from pkg import", b"from pkg.sub import"))


def test_a_source_that_is_one_string_stays_one_string() -> None:
    before = b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "from pkg import light, sym\\nprint(sym(light(2)))\\n"}]}'
    check(before, before.replace(b"import light, sym", b"import light\\nfrom pkg.sub import sym"))


def test_crlf_and_a_missing_last_newline_are_kept() -> None:
    before = notebook(cell("from pkg import light, sym", "print(sym(light(2)))"), end="").replace(b"\n", b"\r\n")
    after = notebook(cell("from pkg import light", "from pkg.sub import sym", "print(sym(light(2)))"), end="")
    check(before, after.replace(b"\n", b"\r\n"))


def check_text(before: bytes, after: bytes, *, says: str = "") -> str:
    """Without the oracle: cells with magics run in IPython alone."""
    tree = {**PKG, "demo.ipynb": before}
    return check_rewritten(tree, "pkg", "sym", {**NARROWED, "demo.ipynb": after}, says=says).text


def test_magics_are_masked_and_the_rest_of_the_cell_is_python() -> None:
    lines = ["%matplotlib inline", "!ls", "files = !ls", "pkg?", "?pkg", "%%notfirst"]
    before = notebook(cell("%%time", "import pkg"), cell(*lines, "x = pkg.sym(2)"))
    check_text(before, notebook(cell("%%time", "import pkg.sub"), cell(*lines, "x = pkg.sub.sym(2)")))


def test_the_statement_behind_a_timing_magic_is_python() -> None:
    before = notebook(cell("import pkg", "%timeit -n 10 pkg.sym(2)", "%time y = pkg.sym(3)"))
    check_text(before, notebook(cell("import pkg.sub", "%timeit -n 10 pkg.sub.sym(2)", "%time y = pkg.sub.sym(3)")))


def test_a_percent_sign_inside_a_statement_is_no_magic() -> None:
    lines = ['text = ("%d"', "        % pkg.sym(2))", 'more = """', "%run pkg.sym", '"""', "print(text)"]
    after = [line.replace("% pkg.sym", "% pkg.sub.sym") for line in lines]
    check(notebook(cell("import pkg", *lines)), notebook(cell("import pkg.sub", *after)))


def test_a_cell_of_another_language_is_a_mention() -> None:
    before = notebook(cell("%%bash", "python -c 'from pkg import sym'"))
    text = check_text(before, before, says=r"demo\.ipynb:\d+")
    assert "warning: demo.ipynb" not in text


def test_a_shell_line_is_a_mention() -> None:
    before = notebook(cell("!python -c 'import pkg; pkg.sym(2)'", "x = 1"))
    text = check_text(before, before, says=r"demo\.ipynb:\d+")
    assert "warning: demo.ipynb" not in text


@pytest.mark.parametrize(
    "lines",
    [["%%writefile mod.py", "from pkg import sym"], ["from pkg import sym", "what are these"], ["%prun -l pkg.sym(1)"]],
)
def test_what_cannot_be_read_is_warned_of(lines: list[str]) -> None:
    before = notebook(cell(*lines))
    check_text(before, before, says=r"warning: demo\.ipynb:\d+: a notebook may read")


def test_a_read_beside_a_run_magic_is_warned_of() -> None:
    before = notebook(cell("%run setup.py"), cell("print(pkg.sym(2))"))
    check_text(before, before, says=r"warning: demo\.ipynb:\d+: a notebook may read")


def test_the_other_cells_are_rewritten_beside_one_that_does_not_parse() -> None:
    before = notebook(cell("what are these"), cell("from pkg import sym"))
    check_text(before, notebook(cell("what are these"), cell("from pkg.sub import sym")))


def test_markdown_outputs_and_metadata_are_mentions() -> None:
    before = notebook(cell("See `pkg.sym`.", kind="markdown"), cell("x = 1"))
    text = check_text(before, before, says=r"demo\.ipynb:\d+")
    assert "warning: demo.ipynb" not in text


def test_a_read_that_cannot_be_rewritten_is_refused() -> None:
    tree = {**PKG, "demo.ipynb": notebook(cell("import pkg", "pkg.sym = 3"))}
    check_refused(tree, "pkg", "sym", "rebinds", at="demo.ipynb:8")


def test_an_accept_comment_in_a_cell_takes_a_read_on() -> None:
    before = notebook(cell("import pkg", "pkg.sym = 3  # codemods: accept narrow_reexport"))
    check_text(before, before)


def test_accept_on_the_command_line_names_the_line_of_the_file() -> None:
    before = notebook(cell("import pkg", "pkg.sym = 3"))
    check_rewritten({**PKG, "demo.ipynb": before}, "pkg", "sym", dict(NARROWED), options=["--accept", "demo.ipynb:8"])


def test_a_local_of_the_package_s_name_is_left_alone() -> None:
    before = notebook(cell("def f(pkg):", "    return pkg.sym(2)"))
    check_text(before, before)


def test_a_function_of_its_module_s_name_is_imported_from_the_module() -> None:
    before = notebook(cell("import pkg", "print(pkg.fused(2))"), cell("from pkg import fused", "print(fused(1))"))
    after = notebook(
        cell("from pkg.fused import fused", "print(fused(2))"),
        cell("from pkg.fused import fused", "print(fused(1))"),
    )
    tree = {**SAME, "demo.ipynb": before}
    check_rewritten(tree, "pkg", "fused", {**SAME_NARROWED, "demo.ipynb": after})
    same_output(before, after, SAME, SAME_NARROWED)


def test_a_notebook_of_format_3_is_warned_of() -> None:
    before = b'{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": ["from pkg import sym"]}]}]}\n'
    check_text(before, before, says=r"warning: demo\.ipynb:1: a notebook may read")


def test_a_file_that_is_no_json_is_warned_of() -> None:
    before = b'{"cells": [\n<<<<<<<\n"from pkg import sym"\n'
    check_text(before, before, says=r"warning: demo\.ipynb:3: a notebook may read")


def test_a_byte_order_mark_is_kept() -> None:
    before = notebook(cell("from pkg import sym", "x = sym(2)"))
    after = notebook(cell("from pkg.sub import sym", "x = sym(2)"))
    check_text(b"\xef\xbb\xbf" + before, b"\xef\xbb\xbf" + after)


def test_a_notebook_of_another_language_is_warned_of() -> None:
    cells = b'"cells": [{"cell_type": "code", "source": ["from pkg import sym"]}]'
    before = b'{%s, "nbformat": 4, "metadata": {"kernelspec": {"language": "R"}}}' % cells
    check_text(before, before, says=r"warning: demo\.ipynb:1: a notebook may read")


def test_a_package_that_another_module_hands_on_is_followed() -> None:
    before = notebook(cell("from helpers import p", "print(p.sym(2))"))
    tree = {**PKG, "helpers.py": "import pkg as p\n", "demo.ipynb": before}
    after = notebook(cell("from helpers import p", "from pkg.sub import sym", "print(sym(2))"))
    outcome = check_rewritten(tree, "pkg", "sym", {**NARROWED, "demo.ipynb": after})
    assert "warning: demo" not in outcome.text
