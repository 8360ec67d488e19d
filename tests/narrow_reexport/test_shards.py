"""Shares of the files, planned apart and put together: the plan is that of one machine, byte for byte."""

from __future__ import annotations

import io
import json
import logging
import os
import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.shards import Share
from tests.narrow_reexport.test_parts import LATE, PATCH, SITES, sites
from tests.narrow_reexport.trees import PKG, SAME
from tests.narrow_reexport.verbs import Outcome, Tree, contents, expect_tree, lay, narrow, tree

FILES: Tree = {
    **PKG,
    **{f"use{at}.py": text.replace("NAME", "sym") for at, text in enumerate(SITES)},
    "late.py": LATE.replace("NAME", "sym"),
    "tests/test_it.py": PATCH.replace("NAME", "sym"),
    "page.md": "```python\nfrom pkg import sym\n```\n",
    "setup.py": "from pkg import sym\n",
}
IN_THE_WAY = "import pkg\n\npkg.sym = 3\n"  # refused


def said(outcome: Outcome) -> tuple[int, list[str]]:
    """The exit code, and everything but where the plans came from and go to."""
    lines = outcome.text.splitlines()
    return outcome.code, [line for line in lines if not line.startswith(("took the plans", "wrote the plan"))]


def check_merged(files: Tree, asked: Sequence[str], ways: Sequence[Sequence[str]], shuffled: random.Random) -> str:
    """The parts that were made in these ways, in any order, make what one run makes; says where the plans come from."""
    with tree(files) as root, tempfile.TemporaryDirectory(prefix="shards-") as folder:
        out = Path(folder)
        whole = narrow(root, *asked, "--plan-out", f"{out}/whole.json")
        parts = []
        for number, way in enumerate(ways):
            parts.append(f"{out}/part-{number}.json")
            outcome = narrow(root, *asked, *way, "--plan-out", parts[-1])
            assert outcome.code == 0, outcome.text
        shuffled.shuffle(parts)
        merged = narrow(root, "--merge-plans", *parts, "--plan-out", f"{out}/merged.json")
        assert said(merged) == said(whole)
        found = contents(out)
        assert found.get("merged.json") == found.get("whole.json")
        assert ("whole.json" in found) == (whole.code == 0 or "--keep-going" in asked)
        expect_tree(root, files, record=False)
        return next((line for line in merged.text.splitlines() if line.startswith("took the plans")), "")


def in_shares(number: int, *but: int) -> list[list[str]]:
    return [["--shard", f"{at}/{number}"] for at in range(1, number + 1) if at not in but]


def lists(folder: str, files: Tree, assigned: Sequence[int]) -> list[list[str]]:
    """One list for each number, with the files that have it."""
    found: list[list[str]] = []
    for number in sorted(set(assigned)):
        named = [path for at, path in enumerate(sorted(files)) if assigned[at % len(assigned)] == number]
        listing = Path(folder) / f"{number}.txt"
        listing.write_bytes("\0".join(named).encode() if number % 2 else "\n".join(named).encode())
        found.append(["--files-from", str(listing)])
    return found


FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
RANDOM = st.randoms(use_true_random=False)


@given(sites("sym"), st.integers(1, 7), st.booleans(), st.booleans(), RANDOM)
@FEW
def test_any_number_of_shares_is_the_whole(
    more: dict[str, str], number: int, patched: bool, refused: bool, shuffled: random.Random
) -> None:
    files: dict[str, str | bytes] = {**PKG, **more}
    if patched:
        files |= {"late.py": LATE.replace("NAME", "sym"), "tests/test_it.py": PATCH.replace("NAME", "sym")}
    if refused:
        files["bad.py"] = IN_THE_WAY
    told = check_merged(files, ["pkg", "sym"], in_shares(number), shuffled)
    assert "here" not in told


@given(sites("fused"), st.lists(st.integers(0, 4), min_size=1, max_size=9), RANDOM)
@FEW
def test_any_assignment_of_the_files_is_the_whole(
    more: dict[str, str], assigned: list[int], shuffled: random.Random
) -> None:
    light = "from .light import light\n"
    files = {
        **SAME,
        "pkg/__init__.py": f"{light}{SAME['pkg/__init__.py']!s}",
        "pkg/light.py": PKG["pkg/light.py"],
        **more,
    }
    with tempfile.TemporaryDirectory(prefix="lists-") as folder:
        told = check_merged(files, ["pkg", "fused"], lists(folder, files, assigned), shuffled)
    assert "here" not in told


@given(st.integers(2, 5), st.data(), RANDOM)
@FEW
def test_what_no_part_holds_is_planned_at_the_merge(number: int, data: st.DataObject, shuffled: random.Random) -> None:
    missing = data.draw(st.integers(1, number))
    told = check_merged(FILES, ["pkg", "sym"], in_shares(number, missing), shuffled)
    assert " planned " in told


@pytest.mark.parametrize(
    "asked",
    [
        ["pkg", "sym", "light"],
        ["pkg", "--all"],
        ["pkg", "s*", "--strict"],
        ["pkg", "sym", "--callers-only"],
        ["pkg", "sym", "--accept", "bad.py:3", "--no-ban"],
        ["pkg", "sym", "light", "--keep-going"],
        ["pkg", "nothing*", "--keep-going"],
    ],
    ids=" ".join,
)
def test_the_parts_bring_the_request_with_them(asked: list[str]) -> None:
    files = {**FILES, "bad.py": IN_THE_WAY}
    with tree(files) as root, tempfile.TemporaryDirectory() as folder:
        code = narrow(root, *asked, "--plan-out", f"{folder}/x.json").code
    if code == 3:
        with tree(files) as root:
            assert narrow(root, *asked, "--shard", "1/2", "--plan-out", "part.json").code == 3
    else:
        check_merged(files, asked, in_shares(3), random.Random(1))


def test_other_checkouts_are_shared_out_too() -> None:
    with tempfile.TemporaryDirectory(prefix="also-") as folder:
        other = Path(folder)
        lay(other, {"app.py": "from pkg import sym\n\nprint(sym())\n", "use0.py": "import pkg\n\nprint(pkg.sym())\n"})
        told = check_merged(FILES, ["pkg", "sym", "--also", folder], in_shares(2), random.Random(1))
        assert "here" not in told
        listing = [["--files-from", f"{other}/list"]]
        (other / "list").write_text(f"{other}/app.py\nuse0.py\n")
        told = check_merged(FILES, ["pkg", "sym", "--also", folder], listing, random.Random(1))
        assert told.startswith("took the plans of 3 files from 1 partial plan, ")


def test_a_merge_writes_the_tree_as_a_run_does() -> None:
    with tree(FILES) as root, tempfile.TemporaryDirectory() as folder:
        for way in in_shares(3):
            outcome = narrow(root, "pkg", "sym", *way, "--plan-out", f"{folder}/p-{way[1][0]}.json")
            assert outcome.code == 0
        assert narrow(root, "--merge-plans", f"{folder}/p-*.json").code == 0
        found = contents(root)
    with tree(FILES) as root:
        assert narrow(root, "pkg", "sym").code == 0
        assert contents(root) == found


def test_the_console_script_takes_the_files_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from codemods.narrow_reexport.__main__ import merge_plans  # the first import of it changes sys.path

    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym")
        assert narrow(root, "--merge-plans", *parts, "--plan-out", "one.json").code == 0
        monkeypatch.chdir(root)
        monkeypatch.setattr(sys, "argv", ["merge-plans", *parts, "--plan-out", "other.json", "-q"])
        with pytest.raises(SystemExit) as leaving:
            merge_plans()
        assert leaving.value.code == 0
        assert (root / "other.json").read_bytes() == (root / "one.json").read_bytes()


def test_a_share_with_places_in_the_way_is_written_all_the_same_and_says_so() -> None:
    with tree({**PKG, "bad.py": IN_THE_WAY}) as root:
        outcome = narrow(root, "pkg", "sym", "--shard", "1/1", "--plan-out", "part.json")
        assert outcome.code == 0
        assert "1 place in the way: --merge-plans names them" in outcome.text
        merged = narrow(root, "--merge-plans", "part.json", "--plan-out", "plan.json")
        assert merged.code == 4
        assert "bad.py:3" in merged.text
        assert not (root / "plan.json").exists()


# --- a cluster ---


def test_a_cluster_makes_the_plan_of_a_serial_run_also_if_a_worker_is_killed_in_the_middle() -> None:
    distributed = pytest.importorskip("distributed")
    many = {f"m{at}/{path}": text for at in range(5) for path, text in FILES.items() if path.startswith("use")}
    files = {**FILES, **many}
    with (
        tree(files) as root,
        tempfile.TemporaryDirectory() as out,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        assert narrow(root, "pkg", "sym", "--plan-out", f"{out}/serial.json").code == 0
        address = str(local.scheduler_address).replace("tcp://", "dask://")
        asked = ["pkg", "sym", "--executor", address]
        victim, pid = sorted(client.run(os.getpid).items())[0]
        client.run(_die_at_some, workers=[victim])
        outcome = narrow(root, *asked, "--plan-out", f"{out}/cluster.json")
        assert outcome.code == 0, outcome.text
        assert (Path(out) / "cluster.json").read_bytes() == (Path(out) / "serial.json").read_bytes()
        assert pid not in client.run(os.getpid).values()
        # shares and the merge run there, too
        for way in in_shares(2):
            assert narrow(root, *asked, *way, "--plan-out", f"{out}/part-{way[1][0]}.json").code == 0
        merged = narrow(root, "--merge-plans", f"{out}/part-2.json", *asked[2:], "--plan-out", f"{out}/merged.json")
        assert merged.code == 0, merged.text
        assert (Path(out) / "merged.json").read_bytes() == (Path(out) / "serial.json").read_bytes()


def _die_at_some() -> None:
    """In a worker: be killed in the middle of the files."""
    from codemods.narrow_reexport import plan

    real = plan.plan_file

    def plan_file(path: str, data: bytes, context: Context) -> FilePlan:
        if path.startswith("m"):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(path, data, context)

    plan.plan_file = plan_file


def test_a_cluster_that_is_not_there_is_an_error_and_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("codemods.engine.cluster._CONNECT", 1)
    with tree(FILES) as root:
        outcome = narrow(root, "pkg", "sym", "--executor", "dask://127.0.0.1:1")
        assert outcome.code == 3
        assert "nobody answers at dask://127.0.0.1:1" in outcome.text
        expect_tree(root, FILES, record=False)


# --- what does not belong together ---


def parts_of(root: Path, *asked: str, number: int = 2) -> list[str]:
    for at in range(1, number + 1):
        assert narrow(root, *asked, "--shard", f"{at}/{number}", "--plan-out", f"part-{at}.json").code == 0
    return [f"part-{at}.json" for at in range(1, number + 1)]


def refused(root: Path, parts: Sequence[str], *says: str) -> None:
    before = contents(root)
    outcome = narrow(root, "--merge-plans", *parts, "--plan-out", "plan.json")
    assert outcome.code == 3, outcome.text
    assert all(each in outcome.text for each in says), outcome.text
    assert contents(root) == before


def test_a_part_for_another_text_of_a_file_is_refused_by_name() -> None:
    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym")
        text = root / "use3.py"
        text.write_text(text.read_text() + "\nmore = 1\n")
        holder = next(part for part in parts if '"path": "use3.py"' in (root / part).read_text())
        refused(root, parts, f"{holder}: was made for another text of use3.py", "all from the same commit")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("fresh.py", "from pkg import sym\n"),
        ("pkg/sub.py", "def sym(x=1):\n    return 2\n\n\ndef other():\n    return sym()\n"),
        ("pkg/__init__.py", "from .light import light\n\nfrom .sub import sym\n"),
        ("pyproject.toml", "[tool.ruff]\nline-length = 40\n"),
        ("alias.py", "import pkg as p\n"),
    ],
)
def test_parts_of_another_tree_are_refused_by_name(path: str, text: str) -> None:
    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym")
        lay(root, {path: text})
        refused(root, parts, "part-1.json: was made for another ")


def test_one_stale_part_among_others_is_the_one_that_is_named() -> None:
    with tree(FILES) as root:
        parts_of(root, "pkg", "sym")
        lay(root, {"fresh.py": "from pkg import sym\n"})
        assert narrow(root, "pkg", "sym", "--shard", "2/2", "--plan-out", "part-2.json").code == 0
        refused(root, ["part-2.json", "part-1.json"], "part-1.json: was made for another state of this tree\n")


def test_parts_of_a_tree_that_went_further_are_refused() -> None:
    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym")
        lay(root, {"pkg/sub.py": "def sym():\n    pass\n\n\ndef f():\n    global sym\n    sym = 1\n"})
        assert narrow(root, "pkg", "sym", "--check").code == 4
        refused(root, parts, "part-1.json: was made for another state of this tree, and so were part-2.json")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["pkg", "light"], "its symbols are ('light',), there ('sym',)"),
        (["pkg", "sym", "--strict"], "the two differ in --strict"),
    ],
)
def test_a_part_of_another_request_is_refused_by_name(asked: list[str], says: str) -> None:
    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym")
        assert narrow(root, *asked, "--shard", "2/2", "--plan-out", "part-2.json").code == 0
        refused(root, parts, "part-2.json: was made for another request than part-1.json", says)


def changed(root: Path, part: str, change: Any) -> None:
    told = json.loads((root / part).read_text())
    change(told)
    (root / part).write_text(json.dumps(told))


def test_a_part_of_another_version_is_refused_by_name() -> None:
    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym")
        changed(root, "part-2.json", lambda told: told.update(release="codemods 0.0.1 (00), Python 3.9"))
        refused(root, parts, "part-2.json: was made by codemods 0.0.1 (00), Python 3.9, and this is codemods ")


def test_two_parts_that_say_different_things_of_one_file_are_refused() -> None:
    with tree(FILES) as root:
        parts = parts_of(root, "pkg", "sym", number=1)
        (root / "part-2.json").write_text((root / "part-1.json").read_text())
        assert narrow(root, "--merge-plans", *parts, "part-2.json", "--check").code == 1

        def drop(told: Any) -> None:
            next(file for file in told["stages"][0]["files"] if file["path"] == "use0.py")["plan"]["sites"] = 9

        changed(root, "part-2.json", drop)
        refused(root, [*parts, "part-2.json"], "part-2.json: has another plan for use0.py than another partial plan")


def test_what_is_no_partial_plan_is_said_by_name() -> None:
    with tree(FILES) as root:
        assert narrow(root, "pkg", "sym", "--plan-out", "whole.json").code == 0
        refused(root, ["whole.json"], "whole.json: is no partial plan")
        refused(root, ["no.json"], "no.json")
        refused(root, ["parts/*.json"], "no partial plan matches parts/*.json")


# --- which files ---


@given(st.dictionaries(st.from_regex(r"[a-c]{1,3}\.py", fullmatch=True), st.binary(max_size=50)), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_each_file_is_in_one_share(files: dict[str, bytes], number: int) -> None:
    jobs = sorted(files.items())
    shares = [Share(at, number).jobs(jobs) for at in range(1, number + 1)]
    assert sorted(job for share in shares for job in share) == jobs
    assert [Share(at, number).jobs(jobs[::-1])[::-1] for at in range(1, number + 1)] == shares


def test_shares_have_about_as_many_bytes() -> None:
    jobs = [(f"f{at}.py", bytes(size)) for at, size in enumerate([900, 10, 10, 300, 300, 300, 20])]
    assert [sum(len(data) for _, data in Share(at, 2).jobs(jobs)) for at in (1, 2)] == [920, 920]


def test_a_list_comes_from_standard_input_too(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = b"./use1.py\nuse2.py\nlate.py\nlogo.png\n"
    with tree({**FILES, "logo.png": b"\x89PNG"}) as root:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(listed)))
        outcome = narrow(root, "pkg", "sym", "--files-from", "-", "--plan-out", "part.json")
        assert outcome.code == 0, outcome.text
        assert "the partial plan for 3 of " in outcome.text


def test_a_symlink_in_a_list_is_the_file_that_it_leads_to() -> None:
    with tree(FILES) as root:
        (root / "link.py").symlink_to("use1.py")
        (root / "list").write_text("link.py\n")
        assert "for 1 of" in narrow(root, "pkg", "sym", "--files-from", "list", "--plan-out", "part.json").text


def test_listed_files_that_are_not_of_the_tree_are_named() -> None:
    with tree({**FILES, "left/out.py": "from pkg import sym\n"}) as root:
        (root.parent / "beside.py").write_text("from pkg import sym\n")
        (root / "list").write_text(f"use1.py\nno.py\n../beside.py\n{root}/use2.py\nleft/out.py\n")
        more = ["--exclude", "left/**", "--files-from", "list", "--plan-out", "part.json"]
        outcome = narrow(root, "pkg", "sym", *more)
        assert outcome.code == 3
        assert "no file of this tree: no.py, ../beside.py, left/out.py\n" in outcome.text
        assert not (root / "part.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["pkg", "sym", "--shard", "1/2"], "say where with --plan-out"),
        (["pkg", "sym", "--shard", "0/2", "--plan-out", "p"], "--shard takes I/N"),
        (["pkg", "sym", "--shard", "3/2", "--plan-out", "p"], "--shard takes I/N"),
        (["pkg", "sym", "--shard", "1/2", "--plan-out", "p", "--check"], "--check needs the whole"),
        (["pkg", "sym", "--shard", "1/2", "--plan-out", "p", "--split", "package"], "--split needs the whole"),
        (["--merge-plans", "part.json", "--strict"], "--strict too"),
        (["--merge-plans"], "takes the files of the partial plans"),
        (["pkg", "sym", "--executor", "tcp://a:1"], "--executor takes dask://HOST:PORT"),
    ],
)
def test_options_that_make_no_sense_together(arguments: list[str], says: str) -> None:
    with tree(FILES) as root:
        outcome = narrow(root, *arguments)
        assert (outcome.code, says in outcome.text) == (2, True), outcome.text
        expect_tree(root, FILES, record=False)
