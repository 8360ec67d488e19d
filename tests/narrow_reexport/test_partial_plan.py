"""Partial plans as files: everything comes back, nothing else is taken for one, and contexts have fingerprints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codemods.engine.config import NarrowOptions
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import Edit, Mention, Module, Reached, Refusal, Site, Symbol, Warned
from codemods.engine.modules import Layout
from codemods.narrow_reexport.context import Context, FilePlan, Patched, Resolutions
from codemods.narrow_reexport.needles import OWN_PLAN
from codemods.narrow_reexport.partial_plan import Asked, PartialPlan, Planned, Stage, decode, encode, fingerprint
from codemods.narrow_reexport.resolve import Resolution
from tests.narrow_reexport.trees import PKG
from tests.narrow_reexport.verbs import contents, narrow, outside, tree

SITE = Site("a.py", 3, 4, "x = pkg.sym  # \udcff ü")
FULL = FilePlan(
    "a.py",
    (Edit("a.py", 1, 5, "ü\n"),),
    2,
    (Refusal(SITE, "pkg:sym", "why", "hint"),),
    (Warned(SITE, "pkg:sym", "may"),),
    (Mention(SITE, "pkg:sym"),),
    (Refusal(SITE, "pkg:sym", "taken", ""),),
    (Reached(SITE, "pkg:sym", "pkg.sub.sym"),),
    ("pkg",),
    (SITE,),
    ("install again",),
    True,
    True,
)
PART = PartialPlan(
    "1/2",
    "codemods 1",
    Asked("pkg", ("sym",), True, NarrowOptions(accept=("a.py:3",), strict=True, shim_removal="2.0")),
    (Stage("c0", False, (Planned("a.py", "ff", FULL), Planned("b.py", "fe", FilePlan("b.py")))), Stage("c1", True, ())),
)


def test_everything_comes_back() -> None:
    assert decode(encode(PART), "part.json") == PART
    assert encode(decode(encode(PART), "part.json")) == encode(PART)


def test_no_field_of_a_file_plan_has_its_default_here() -> None:
    """So that a field which is added is a field of this test."""
    empty = FilePlan("")
    assert [name for name in FilePlan.__slots__ if getattr(FULL, name) == getattr(empty, name)] == []


def test_our_own_plans_are_known_by_their_beginning() -> None:
    assert encode(PART).startswith(OWN_PLAN)
    with tree(PKG) as root:
        assert narrow(root, "pkg", "sym", "--plan-out", "plan.json").code == 0
        assert (root / "plan.json").read_bytes().startswith(OWN_PLAN)
        before = contents(root)
        again = narrow(root, "pkg", "sym", "--rewrite-strings", "--plan-out", "again.json")
        assert again.code == 0, again.text
        assert "plan.json:" not in again.text
        assert contents(root) == {**before, "again.json": (root / "again.json").read_bytes()}


def changed(*path: object, value: object) -> bytes:
    told = json.loads(encode(PART))
    place: Any = told
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(told).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        changed("command", value="import_cost"),
        changed("stages", value={}),
        changed("stages", 0, "files", 0, "plan", "sites", value="2"),
        changed("stages", 0, "files", 0, "plan", "sites", value=True),
        changed("stages", 0, "files", 0, "plan", "edits", 0, "start", value=1.5),
        changed("stages", 0, "files", 0, "plan", "edits", 0, "path", value="../other.py"),
        changed("stages", 0, "files", 0, "plan", "edits", 0, "start", value=-1),
        changed("stages", 0, "files", 0, "plan", "edits", 0, "end", value=0),
        changed("stages", 0, "files", 0, "path", value="c.py"),
        changed("stages", 0, "files", 0, "plan", "unknown", value=1),
        changed("request", "options", "strict", value=None),
        changed("request", value="pkg"),
    ],
)
def test_anything_else_is_an_error_that_names_the_file(data: bytes) -> None:
    with pytest.raises(BadConfiguration, match=r"parts/part\.json: is no partial plan") as caught:
        decode(data, "parts/part.json")
    assert caught.value.path == "parts/part.json"


def test_another_version_of_the_schema_is_said_to_be_that() -> None:
    with pytest.raises(BadConfiguration, match="a partial plan of version 99; this command reads version 1"):
        decode(changed("schema_version", value=99), "part.json")


# --- fingerprints ---


def context() -> Context:
    symbol, origin = Symbol("pkg", "sym"), Symbol("pkg.sub", "sym")
    found = Resolution(symbol, origin, Site("pkg/__init__.py", 1, 0, ""), False, False, True, False, True, ())
    names = frozenset(f"pkg.m{at}" for at in range(30))
    layout = Layout(["pkg/__init__.py", "pkg/sub.py", "a.py"], "pkg")
    return Context(
        Module("pkg", "pkg/__init__.py", True), Resolutions((found,)), layout, names, names, (), 88, early=names
    )


def test_two_processes_give_one_context_one_fingerprint() -> None:
    code = "from tests.narrow_reexport.test_partial_plan import *; import sys; sys.stdout.write(fingerprint(context()))"
    project = Path(__file__).resolve().parents[2]
    import sys

    for seed in ("1", "2"):
        assert outside(project, [sys.executable, "-c", code], {"PYTHONHASHSEED": seed}).out == fingerprint(context())


@pytest.mark.parametrize(
    "other",
    [
        replace(context(), width=89),
        replace(context(), verifying=True),
        replace(context(), lost=frozenset()),
        replace(context(), patched=(Patched("sym"),)),
        replace(context(), apart=frozenset({("sym", "a.py", 3)})),
        replace(context(), layout=Layout(["pkg/__init__.py", "pkg/sub.py", "b.py"], "pkg")),
        replace(context(), layout=Layout(["pkg/__init__.py", "a.py", "pkg/sub.py"], "pkg", ["src", "."])),
        replace(context(), layout=Layout(["a.py"], "pkg", (), base=context().layout)),
    ],
)
def test_another_context_has_another_fingerprint(other: Context) -> None:
    assert fingerprint(other) != fingerprint(context())


def test_what_has_no_fingerprint_is_not_passed_over() -> None:
    with pytest.raises(TypeError, match="holds a list"):
        fingerprint(replace(context(), hidden=[]))  # type: ignore[arg-type]
