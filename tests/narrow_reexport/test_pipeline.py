"""The flow of a run: nothing is written before all is planned, cycles are seen, verification is real."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.engine.config import NarrowOptions
from codemods.engine.model import Failure
from codemods.narrow_reexport import outcome as stage
from codemods.narrow_reexport import second_pass
from codemods.narrow_reexport.pipeline import run
from codemods.narrow_reexport.request import Request
from tests import oracle
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, contents, expect_tree, narrow, tree

USED: dict[str, str | bytes] = {
    **PKG,
    "a.py": "from pkg import sym\n",
    "b.py": "import pkg\n\nprint(pkg.sym(1), pkg.sym(2))\n",
}


def request(root: Path, *symbols: str, **options: object) -> Request:
    return Request(root, "pkg", symbols or ("sym",), options=NarrowOptions(**options))  # type: ignore[arg-type]


def test_a_run_writes_nothing_itself() -> None:
    with tree(USED) as root:
        result = run(request(root))
        expect_tree(root, USED, record=False)
        assert result.files == 3


def test_a_result_holds_the_finished_bytes_in_the_order_of_writing() -> None:
    # call sites first, the record next, the `__init__` last
    with tree(USED) as root:
        ((where, changes),) = run(request(root)).changes
    assert where == root
    assert [change.path for change in changes] == ["a.py", "b.py", "narrowed.toml", "pkg/__init__.py"]
    assert [change.before == change.after for change in changes] == [False] * 4


def test_the_sites_of_a_file_are_counted() -> None:
    with tree(USED) as root:
        ((_, changes),) = run(request(root)).changes
    assert {change.path: change.sites for change in changes if change.path in ("a.py", "b.py")} == {
        "a.py": 1,
        "b.py": 2,
    }


def test_every_site_in_the_way_is_named_not_only_the_first() -> None:
    files: Tree = {
        **PKG,
        "a.py": 'import pkg\ndelattr(pkg, "sym")\nX = "pkg.sym"\n',
        "b.py": "import pkg\npkg.sym = 1\n",
        "c.toml": 'x = "pkg:sym"\n',
    }
    with tree(files) as root:
        found = {str(refusal.site) for refusal in run(request(root)).refusals}
    assert found == {"a.py:2", "a.py:3", "b.py:2", "c.toml:1"}


def test_many_files_planned_in_parallel_give_the_serial_result(monkeypatch: pytest.MonkeyPatch) -> None:
    files: Tree = {
        **PKG,
        **{
            f"user{n}.py": f"import pkg\nfrom pkg import light, sym\n\nprint(sym({n}), pkg.sym({n}))\n"
            for n in range(40)
        },
    }
    with tree(files) as root:
        serial = run(request(root))
        monkeypatch.setattr(stage, "_PARALLEL_FROM", 2)
        parallel = run(request(root))
    assert parallel == serial


def test_a_broken_postcondition_is_our_bug_and_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "check_outside", lambda change, edits: [Failure("outside", change.path, "made up")])
    with tree(USED) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 5
        assert "report" in outcome.text and "made up" in outcome.text
        expect_tree(root, USED, record=False)


def test_progress_is_told_and_changes_nothing() -> None:
    seen: list[str] = []
    with tree(USED) as root:
        plain = run(request(root))
        told = run(Request(root, "pkg", ("sym",), progress=lambda stage, done, total: seen.append(stage)))
    assert told == plain
    assert "scanning" in seen


def test_a_cycle_that_the_package_hid_is_refused_with_its_modules() -> None:
    # main imports `late` first: pkg.sub <- consumer <- pkg.sub; the package loaded pkg.sub before consumer
    files: Tree = {
        "pkg/__init__.py": "from .sub import sym\n",
        "pkg/sub.py": "import consumer\n\n\ndef sym():\n    return consumer.VALUE\n",
        "consumer.py": "import pkg\n\nVALUE = 1\n\n\ndef f():\n    from pkg import sym\n\n    return sym()\n",
        "main.py": "import pkg\nimport consumer\n\nprint(consumer.f())\n",
    }
    after: Tree = {
        "pkg/__init__.py": "",
        "consumer.py": "import pkg\n\nVALUE = 1\n\n\ndef f():\n    from pkg.sub import sym\n\n    return sym()\n",
    }
    check_rewritten(files, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


def test_a_cycle_that_a_new_eager_import_would_close_is_refused_or_avoided() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .base import Base\nfrom .sub import sym\n",
        "pkg/base.py": "class Base:\n    pass\n",
        "pkg/sub.py": "from app import VALUE\n\n\ndef sym():\n    return VALUE\n",
        "app.py": "import pkg\n\nVALUE = 1\n\n\ndef f():\n    return pkg.sym()\n",
        "main.py": "import app\n\nprint(app.f())\n",
        "other.py": "import pkg\n\nprint(pkg.sym())\n",
    }
    with tree(files) as root:
        before = oracle.run_programs(root, ["main", "other"])
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4), outcome.text
        if outcome.code == 0:
            for old, new in zip(before, oracle.run_programs(root, ["main", "other"]), strict=True):
                assert old.exit_code or old.behaviour == new.behaviour, new
        else:
            assert "circular" in outcome.text
            expect_tree(root, files, record=False)


def test_an_unmasked_cycle_is_refused_with_its_modules() -> None:
    # `pkg` loaded `x` first; without that, `y` runs first, loads `x`, and `x` finds `y` half made
    files: Tree = {
        "pkg/__init__.py": "from .x import sym\nfrom .y import value\n",
        "pkg/x.py": "A = 1\nfrom .y import value\n\n\ndef sym():\n    return value\n",
        "pkg/y.py": "from .x import A\n\nvalue = A + 1\n",
        "main.py": "from pkg import sym, value\n\nprint(sym(), value)\n",
    }
    with tree(files) as root:
        assert oracle.run_programs(root, ["main"])[0].exit_code == 0
    outcome = check_refused(files, "pkg", "sym", "circular", at="pkg/x.py:2")
    assert "pkg.y -> pkg.x" in outcome.text or "pkg.x -> pkg.y" in outcome.text


def test_the_record_is_no_mention_of_itself() -> None:
    with tree(USED) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert "only mention" not in narrow(root, "pkg", "sym").text


def test_files_without_an_edit_are_not_written_at_all() -> None:
    with tree({**USED, "other.py": "import pkg\n\npkg.light(1)\n"}) as root:
        stamp = (root / "other.py").stat().st_mtime_ns, (root / "other.py").stat().st_ino
        assert narrow(root, "pkg", "sym").code == 0
        assert stamp == ((root / "other.py").stat().st_mtime_ns, (root / "other.py").stat().st_ino)


def test_nothing_but_the_sources_and_the_record_is_left_behind() -> None:
    with tree(USED) as root:
        narrow(root, "pkg", "sym")
        assert contents(root).keys() == {*USED, "narrowed.toml"}


def test_registrations_at_the_origin_are_never_lost_in_silence() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .sub import sym\n",
        "pkg/sub.py": "from registry import register\n\n\n@register\ndef sym():\n    return 's'\n",
        "registry.py": "KNOWN = []\n\n\ndef register(f):\n    KNOWN.append(f.__name__)\n    return f\n",
        "main.py": "import pkg\nimport registry\n\nprint(registry.KNOWN)\n",
    }
    with tree(files) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code in (0, 4)
        assert "pkg/sub.py:" in outcome.text, outcome.text


def test_a_long_refusal_list_stops_before_anything_is_written() -> None:
    files: Tree = {**PKG, **{f"u{n}.py": "import pkg\npkg.sym = 1\n" for n in range(50)}}
    outcome = check_refused(files, "pkg", "sym", "50 sites in the way")
    assert outcome.text.count("refused:") == 50


def test_the_narrowed_init_is_the_last_file_written(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    order: list[str] = []
    real = os.replace

    def spy(source: str, target: str) -> None:
        order.append(Path(target).name)
        real(source, target)

    monkeypatch.setattr(os, "replace", spy)
    check_rewritten(
        {**PKG, "a.py": "from pkg import sym\n"}, "pkg", "sym", {**NARROWED, "a.py": "from pkg.sub import sym\n"}
    )
    assert order[1:] == ["a.py", "narrowed.toml", "__init__.py"]


def test_an_attribute_that_would_be_read_too_early_is_refused_with_the_cycle() -> None:
    files: Tree = {
        "pkg/__init__.py": "from .sub import sym\n",
        "pkg/sub.py": "from . import x\n\n\ndef sym(): ...\n\n\nclass Y(x.X): ...\n",
        "pkg/x.py": "from . import sub\n\n\nclass X: ...\n\n\ndef late():\n    return sub.Y\n",
        "main.py": "import pkg.x\n",
    }
    check_refused(files, "pkg", "sym", r"pkg\.x -> pkg\.sub cannot take X from pkg\.x", at="pkg/sub.py:7")


def test_a_row_follows_where_its_origin_is_narrowed_as_well() -> None:
    before = {
        "outer/__init__.py": "from pkg import sym\n",
        "pkg/__init__.py": "from .sub import sym\n",
        "pkg/sub.py": "def sym():\n    return 1\n",
        "main.py": "from outer import sym\n\nprint(sym())\n",
    }
    with tree(before) as root:
        assert narrow(root, "outer", "sym").code == 0
        assert '"outer:sym" = { origin = "pkg:sym" }' in (root / "narrowed.toml").read_text()
        assert narrow(root, "pkg", "sym").code == 0
        rows = (root / "narrowed.toml").read_text()
        assert '"outer:sym" = { origin = "pkg.sub:sym" }' in rows and '"pkg:sym" = { origin = "pkg.sub:sym" }' in rows


def test_a_text_that_does_not_parse_is_our_bug_though_it_no_longer_spells_the_symbol(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = stage.edited
    monkeypatch.setattr(
        stage, "edited", lambda source, edits: b"from pkg import (\n" if source.path == "a.py" else real(source, edits)
    )
    monkeypatch.setattr(stage, "check_outside", lambda change, edits: [])
    monkeypatch.setattr(second_pass, "_is_settled", lambda *given: False)  # it is asked of the true text
    with tree(USED) as root:
        outcome = narrow(root, "pkg", "sym")
        assert outcome.code == 5
        assert "a.py: parses" in outcome.text
        expect_tree(root, USED, record=False)
