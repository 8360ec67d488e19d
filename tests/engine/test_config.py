"""Options and line widths: what is unknown is named with its line, what is absent is the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.config import NarrowOptions, line_width, load_narrow_options
from codemods.engine.errors import BadConfiguration, Unreadable


def pyproject(root: Path, text: str) -> Path:
    (root / "pyproject.toml").write_text(text)
    return root


@pytest.mark.parametrize(
    "text", [None, "", "[project]\nname = 'x'\n", "[tool.codemods]\n", "[tool.codemods.import_cost]\nx = 1\n"]
)
def test_without_a_table_there_are_defaults(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        pyproject(tmp_path, text)
    assert load_narrow_options(tmp_path) == NarrowOptions()


def test_every_key_is_read(tmp_path: Path) -> None:
    text = """
[tool.codemods.narrow_reexport]
source-root = ["src"]
exclude = ["tests/**", "docs"]
also = ["../other"]
accept = ["pkg.sub:name"]
strict = true
ban = false
keep-going = true
to-definition = true
callers-only = true
shim = true
shim-removal = "2.0"
output-format = "json"
"""
    assert load_narrow_options(pyproject(tmp_path, text)) == NarrowOptions(
        source_root=("src",),
        exclude=("tests/**", "docs"),
        also=("../other",),
        accept=("pkg.sub:name",),
        strict=True,
        ban=False,
        keep_going=True,
        to_definition=True,
        callers_only=True,
        shim=True,
        shim_removal="2.0",
        output_format="json",
    )


@pytest.mark.parametrize(
    ("text", "line", "detail", "hint"),
    [
        ("[tool.codemods.narrow_reexport]\n\nexlude = []\n", 3, "unknown key `exlude`", "did you mean `exclude`?"),
        (
            "[tool.codemods.narrow_reexport]\nkeep_going = true\n",
            2,
            "unknown key `keep_going`",
            "did you mean `keep-going`?",
        ),
        (
            "[tool.codemods.narrow_reexport]\nzzzz = 1\n",
            2,
            "unknown key `zzzz`",
            "known: accept, accept-side-effects, also",
        ),
        ("[tool.codemods.narrow_reexports]\n", 1, "unknown table", "did you mean `narrow_reexport`?"),
        ("[tool.x]\n[tool.codemods]\nstrict = true\n", 3, "unknown table", "known:"),
        (
            "[tool.codemods.narrow_reexport]\nexclude = 'tests'\n",
            2,
            "must be a list of strings",
            '`exclude = ["tests"]`',
        ),
        ("[tool.codemods.narrow_reexport]\nexclude = ['a', 1]\n", 2, "must be a list of strings", ""),
        ("[tool.codemods.narrow_reexport]\nstrict = 'yes'\n", 2, "must be true or false", ""),
        ("[tool.codemods.narrow_reexport]\nstrict = 1\n", 2, "must be true or false", ""),
        ("[tool.codemods.narrow_reexport]\noutput-format = true\n", 2, "must be a string", ""),
        ("[tool.codemods]\nnarrow_reexport = 1\n", 2, "must be a table", ""),
        ("[tool]\ncodemods = []\n", 2, "must be a table", ""),
        ("[tool.codemods]\nnarrow_reexport.strct = true\n", 2, "unknown key `strct`", "did you mean `strict`?"),
        ("[tool.codemods.narrow_reexport]\nstrict = tru\n", 2, "not valid TOML", ""),
    ],
)
def test_what_is_not_understood_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, detail: str, hint: str
) -> None:
    with pytest.raises(BadConfiguration) as caught:
        load_narrow_options(pyproject(tmp_path, text))
    assert detail in caught.value.detail
    assert hint in caught.value.hint
    assert (caught.value.path, caught.value.line) == ("pyproject.toml", line)


def test_a_pyproject_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(Unreadable) as caught:
        load_narrow_options(tmp_path)
    assert caught.value.path == "pyproject.toml"


@pytest.mark.parametrize(
    ("files", "width"),
    [
        ({}, 88),
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n"}, 100),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 120\n[tool.black]\nline-length = 100\n"}, 120),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 120\n", "ruff.toml": "line-length = 99\n"}, 99),
        ({"ruff.toml": "line-length = 99\n", ".ruff.toml": "line-length = 90\n"}, 90),
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n", "ruff.toml": "lint.select = []\n"}, 100),
        ({"pyproject.toml": "[tool.ruff]\nline-length = true\n"}, 88),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 'x'\n"}, 88),
        ({"pyproject.toml": "[tool.ruff]\nline-length = -1\n"}, 88),
        ({"pyproject.toml": "tool = 1\n"}, 88),
        ({"pyproject.toml": "[tool.ruff\n"}, 88),
    ],
)
def test_the_line_width_is_that_of_the_formatter(tmp_path: Path, files: dict[str, str], width: int) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert line_width(tmp_path) == line_width(tmp_path, "a.py") == line_width(tmp_path, "pkg/missing/a.py") == width


def test_the_nearest_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / "pkg/sub").mkdir(parents=True)
    pyproject(tmp_path, "[tool.ruff]\nline-length = 120\n")
    (tmp_path / "pkg/ruff.toml").write_text("line-length = 79\n")
    assert line_width(tmp_path, "pkg/sub/a.py") == line_width(tmp_path, "pkg/a.py") == 79
    assert line_width(tmp_path, "a.py") == 120


def test_a_changed_configuration_is_read_again(tmp_path: Path) -> None:
    pyproject(tmp_path, "[tool.ruff]\nline-length = 99\n")
    assert line_width(tmp_path) == 99
    pyproject(tmp_path, "[tool.ruff]\nline-length = 120\n")
    assert line_width(tmp_path) == 120
