"""Which files are looked at, and that many processes see what one sees."""

from __future__ import annotations

import pytest

from codemods.check_narrowed import check as module
from codemods.check_narrowed.check import check, files_below, flat
from codemods.engine.errors import Unreadable
from tests.check_narrowed.verbs import guarded_tree, rows

FILES = {
    "narrowed.toml": rows("pkg:sym"),
    "pkg/__init__.py": "from .sub import sym\n",
    "pkg/sub.py": "def sym(): ...\n",
    "pkg/notes.md": "",
    "apps/a.py": "from pkg import sym\n",
    "app/b.py": "import pkg\npkg.sym()\n",
    "app/c.py": "import pkg.sub\n",
    "setup.cfg": "",
}


def test_files_are_those_below_a_folder_and_those_that_are_named() -> None:
    with guarded_tree(FILES) as guard:
        python = tuple(sorted(path for path in FILES if path.endswith(".py")))
        assert files_below(guard, ()) == files_below(guard, ("app", "")) == python
        assert files_below(guard, ("app",)) == ("app/b.py", "app/c.py")
        assert files_below(guard, ("app/c.py", "pkg/notes.md", "apps")) == ("app/c.py", "apps/a.py")


def test_a_named_file_is_checked_even_where_git_ignores_it() -> None:
    files = FILES | {".gitignore": "made/\n", "made/x.py": "from pkg import sym\n"}
    with guarded_tree(files) as guard:
        assert "made/x.py" not in files_below(guard, ())
        assert files_below(guard, ("made/x.py",)) == ("made/x.py",)
        assert len(check(guard, ("made/x.py",)).offences["made/x.py"]) == 1


def test_many_processes_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    files = FILES | {f"many/m{number}.py": "from pkg import sym\n" for number in range(40)}
    with guarded_tree(files) as guard:
        paths = files_below(guard, ())
        alone = check(guard, paths)
        assert len(flat(alone.offences.values())) == 43
        used = []
        in_processes = module._in_processes
        monkeypatch.setattr(module, "_ALONE", 0.0)
        monkeypatch.setattr(module, "_PAYS", 0.0)
        monkeypatch.setattr(module, "_in_processes", lambda *args: used.append(1) or in_processes(*args))
        assert check(guard, paths) == alone
        assert used


def test_a_file_that_cannot_be_read_is_an_error() -> None:
    with guarded_tree(FILES) as guard:
        paths = files_below(guard, ())
        (guard.root / "app/c.py").unlink()
        with pytest.raises(Unreadable):
            check(guard, paths)
