"""The fixes: what narrow_reexport would write, byte for byte; what is left has a reason."""

from __future__ import annotations

from codemods.check_narrowed.fixes import Fixer
from codemods.check_narrowed.verdicts import offences
from codemods.engine.discover import is_code
from tests import oracle
from tests.check_narrowed.verbs import guarded_tree, rows, run
from tests.narrow_reexport.verbs import contents, expect_tree, narrow, tree

NARROWED = {
    "pkg/__init__.py": "from .sub import keep\n",
    "pkg/sub.py": "def sym(): ...\ndef keep(): ...\n",
}
CALLERS = {
    "app.py": "from pkg import (\n    keep,  # stays\n    sym as s,  # noqa: F401\n)\n\n\ndef f():\n    return s()\n",
    "lib/__init__.py": "import pkg\n\nvalue = pkg.sym()  # said\n",
    "lib/crlf.py": b"from pkg import sym\r\nsym()\r\n",
}


def test_the_fixes_are_those_of_the_codemod() -> None:
    before = {**NARROWED, "pkg/__init__.py": "from .sub import keep, sym\n"}
    with tree({**before, **CALLERS}) as root:
        assert narrow(root, "pkg", "sym").code == 0
        wanted = contents(root)
    with tree({**NARROWED, **CALLERS, "narrowed.toml": wanted["narrowed.toml"]}) as root:
        assert run(root, "--fix").code == 0
        assert contents(root) == wanted
    with tree({**before, **CALLERS, "narrowed.toml": wanted["narrowed.toml"]}) as root:
        assert run(root, "--fix").code == 0  # the re-export and its call sites at once
        assert contents(root) == wanted


def test_nothing_is_fixed_twice() -> None:
    with tree({**NARROWED, **CALLERS, "narrowed.toml": rows("pkg:sym")}) as root:
        run(root, "--fix")
        first = contents(root)
        again = run(root, "--fix")
        assert (again.code, contents(root)) == (0, first)
        assert "clean" in again.out


def test_places_that_a_person_took_on_stay_beside_those_that_are_fixed() -> None:
    use = "from pkg import sym  # lint-ignore: NarrowReexport\nimport pkg\n\nsym()\npkg.sym()\n"
    files = {**NARROWED, "narrowed.toml": rows("pkg:sym"), "app.py": use}
    with tree(files) as root:
        assert run(root, "--fix").code == 0
        expect_tree(
            root,
            {**files, "app.py": use.replace("import pkg\n", "import pkg.sub\n").replace("pkg.sym()", "pkg.sub.sym()")},
        )


def test_a_reexport_that_somebody_still_needs_is_left_with_the_reason() -> None:
    files = {
        **NARROWED,
        "pkg/__init__.py": "from .sub import keep, sym\n",
        "narrowed.toml": rows("pkg:sym"),
        "app.py": "from pkg import sym  # lint-ignore: NarrowReexport\n",
    }
    with guarded_tree(files) as guard:
        found = {path: offences(guard, path, guard.read(path)) for path in guard.tree.paths if is_code(path)}
        fixed = Fixer(guard).all({path: each for path, each in found.items() if each})
        assert fixed.changes == {}
        assert "app.py:1 still needs it" in fixed.left["pkg/__init__.py"][0]


def test_what_the_codemod_refuses_is_left_with_its_reason() -> None:
    files = {
        **NARROWED,
        "narrowed.toml": rows("pkg:sym"),
        "app.py": "import pkg\n\npkg.sym = None\nhasattr(pkg, 'sym')\n",
    }
    with guarded_tree(files) as guard:
        assert len(offences(guard, "app.py", guard.read("app.py"))) == 2
        after, (reason,) = Fixer(guard).file("app.py", guard.read("app.py"))
        assert after == guard.read("app.py")
        assert reason.startswith("app.py:3: the code assigns to (rebinds) the package's attribute")


def test_a_patch_and_its_readers_are_mended_together_or_not_at_all() -> None:
    use = "import pkg\nfrom unittest import mock\n\nwith mock.patch.multiple('pkg', sym=1, keep=2):\n    pkg.sym()\n"
    files = {**NARROWED, "narrowed.toml": rows("pkg:sym"), "app.py": use}
    with tree(files) as root:
        outcome = run(root, "--fix")
        assert outcome.code == 1
        assert "app.py:4: patch.multiple() replaces names that move to different places (split it first)" in outcome.out
        expect_tree(root, files)
    alone = use.replace(", keep=2", "")
    with tree({**NARROWED, "pkg/__init__.py": "from .sub import keep, sym\n", "app.py": alone}) as root:
        assert narrow(root, "pkg", "sym").code == 0
        wanted = contents(root)
    with tree({**files, **wanted, "app.py": alone}) as root:
        assert run(root, "--fix").code == 0
        assert contents(root) == wanted
        assert b"patch.multiple('pkg.sub', sym=1)" in wanted["app.py"]


def test_a_patched_object_is_mended_where_the_symbol_has_the_name_of_its_module() -> None:
    use = "from unittest import mock\nimport pkg\n\nwith mock.patch.object(pkg, 'fly', len):\n    pkg.fly('')\n"
    before = {"pkg/__init__.py": "from .fly import fly\n", "pkg/fly.py": "def fly(x): ...\n", "app.py": use}
    with tree(before) as root:
        assert narrow(root, "pkg", "fly").code == 0
        wanted = contents(root)
    with tree({**before, **wanted, "app.py": use}) as root:
        assert run(root, "--fix").code == 0
        assert contents(root) == wanted


def test_the_name_that_got_the_module_is_not_read_for_the_symbol() -> None:
    # from pkg import f        gets the module by now; nothing reads it, so that it is no offence
    before = {
        "pkg/__init__.py": "",
        "pkg/f.py": "def f():\n    return 1\n",
        "main.py": "import pkg\nfrom pkg import f\n\n\ndef g():\n    return pkg.f()\n\n\nprint(g())\n",
        "narrowed.toml": rows("pkg:f=pkg.f:f"),
    }
    with tree(before) as root:
        run(root, "--fix")
        first = contents(root)
        assert run(root, "--fix").code == 0
        assert contents(root) == first
        [ran] = oracle.run_programs(root, ["main"])
        assert (ran.exit_code, ran.output) == (0, "1\n")
