"""The guard: its rows, and what it knows of the tree."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from codemods.check_narrowed.guard import find_rows, followed, guarded, read_rows
from codemods.engine.bans import Ban
from codemods.engine.errors import BadConfiguration, Unreadable
from codemods.engine.model import Symbol
from tests.check_narrowed.verbs import found, guarded_tree, rows
from tests.narrow_reexport.verbs import lay, tree

SMALL = {"narrowed.toml": rows("pkg:sym"), "pkg/__init__.py": "", "pkg/sub.py": "def sym(): ...\n"}


def test_the_rows_are_found_upward_in_the_same_checkout(tmp_path: Path) -> None:
    lay(tmp_path, {"narrowed.toml": rows(), "a/b/x.py": "", "other/.git/HEAD": "ref", "other/c/x.py": ""})
    assert find_rows(tmp_path / "a" / "b") == tmp_path
    assert find_rows(tmp_path / "other" / "c") is None


def test_a_folder_in_the_place_of_the_rows_is_an_error_and_not_silence(tmp_path: Path) -> None:
    (tmp_path / "narrowed.toml").mkdir()
    assert find_rows(tmp_path) == tmp_path
    with pytest.raises(Unreadable, match="cannot be read"):
        read_rows(tmp_path)


def test_an_unknown_key_in_a_row_is_an_error() -> None:
    with (
        pytest.raises(BadConfiguration, match="unknown key `alow`"),
        guarded_tree({"narrowed.toml": rows('pkg:sym=pkg.sub:sym alow = ["x"]')}),
    ):
        pass


def test_an_origin_that_was_narrowed_as_well_is_followed() -> None:
    outer = Ban(Symbol("outer", "sym"), Symbol("pkg", "sym"), ("tests/**",))
    inner = Ban(Symbol("pkg", "sym"), Symbol("pkg.sub", "sym"))
    assert followed([outer, inner]) == (Ban(outer.symbol, inner.origin, ("tests/**",)), inner)
    ring = [Ban(Symbol("a", "x"), Symbol("b", "x")), Ban(Symbol("b", "x"), Symbol("a", "x"))]
    assert len(followed(ring)) == 2


def test_a_row_allows_files_by_globs() -> None:
    use = "from pkg import sym\n"
    files = SMALL | {
        "narrowed.toml": rows('pkg:sym=pkg.sub:sym allow = ["tests/**"]'),
        "tests/t.py": use,
        "app.py": use,
    }
    assert found(files) == ["app.py:1 call-site pkg:sym"]


def test_excluded_files_and_source_roots_come_from_the_configuration() -> None:
    config = '[tool.codemods.narrow_reexport]\nsource-root = ["lib"]\nexclude = ["old/**"]\n'
    config += '[tool.codemods.check_narrowed]\nexclude = ["gen.py"]\n'
    files = {"narrowed.toml": rows("pkg:sym"), "pyproject.toml": config, "old/a.py": "", "gen.py": "", "b.py": ""}
    files |= {f"{top}/pkg/{name}.py": "" for top in ("lib", "copy") for name in ("__init__", "sub")}
    with tree(files) as root:
        guard = guarded(root)
        assert not {"old/a.py", "gen.py"} & {*guard.tree.paths}
        view = guard.view("pkg")
        assert view is not None and view.module.path == "lib/pkg/__init__.py"
        again = pickle.loads(pickle.dumps(guard))
        assert again.rows == guard.rows and again.tree.paths == guard.tree.paths
        assert again.view("pkg").module == view.module
