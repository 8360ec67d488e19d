"""Graphviz text: quoted, limited, collapsed; `dot` itself reads it where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest

from codemods.import_cost.dot import dot, quoted
from tests.import_cost.trees import HEAVY, loads_of

DOT = shutil.which("dot")
ODD = {
    "pkg/__init__.py": "import pkg.a\n",
    "pkg/a.py": "from pkg import été\n",
    "pkg/été.py": 'import torch  # "] \\N <b>\n',
}


def nodes(text: str) -> set[str]:
    return set(re.findall(r'^  "([^"]+)" \[label', text, re.MULTILINE))


def edges(text: str) -> set[tuple[str, str]]:
    return set(re.findall(r'^  "([^"]+)" -> "([^"]+)"', text, re.MULTILINE))


def read_by_dot(text: str) -> dict[str, Any]:
    assert DOT
    done = subprocess.run([DOT, "-Tjson0"], input=text.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    return dict(json.loads(done.stdout))


def test_each_module_and_package_is_a_node_and_each_import_an_edge() -> None:
    text = dot(loads_of(HEAVY), "pkg")
    assert nodes(text) == {
        "pkg", "pkg.light", "pkg.shared", "numpy", "pkg.heavy", "pkg.models", "pkg.models.model", "torch",
        "pkg._C", "transformers",
    }  # fmt: skip
    assert ("pkg.heavy", "torch") in edges(text)
    assert 'edgetooltip="pkg/heavy.py:3 imports torch"' in text


def test_the_edge_to_a_parent_package_is_dashed() -> None:
    line = next(line for line in dot(loads_of(HEAVY), "pkg").splitlines() if '"pkg.light" -> "pkg"' in line)
    # import pkg.shared       also names pkg: the statement says more than the implicit edge
    assert "dashed" in line


def test_depth_leaves_out_what_is_farther() -> None:
    assert nodes(dot(loads_of(HEAVY), "pkg", depth=1)) == {"pkg", "pkg.light", "pkg.heavy"}


def test_collapsed_modules_are_drawn_as_their_package() -> None:
    text = dot(loads_of(HEAVY), "pkg", collapse=2)
    assert "pkg.models.model" not in nodes(text)
    assert 'label="pkg.models\\n2 modules"' in text
    assert ("pkg.heavy", "pkg.models") in edges(text)
    assert all(source != target for source, target in edges(text))


def test_without_an_edge_the_rest_is_drawn() -> None:
    text = dot(loads_of(HEAVY), "pkg", without=frozenset({("pkg", "pkg.heavy")}))
    assert nodes(text) == {"pkg", "pkg.light", "pkg.shared", "numpy"}


@pytest.mark.parametrize("text", ['a"b', "a\\", 'a\\"', "a\nb", 'x"]; evil [label="', "\\N", "\udce9"])
def test_no_name_ends_its_string(text: str) -> None:
    inner = quoted(text)[1:-1]
    assert not re.search(r'(?<!\\)(?:\\\\)*"', inner)
    assert not re.search(r"(?<!\\)(?:\\\\)*\\$", inner)
    assert "\n" not in inner
    inner.encode()


@pytest.mark.skipif(not DOT, reason="Graphviz is not installed")
def test_dot_reads_the_same_nodes_and_edges() -> None:
    for files in (HEAVY, ODD):
        text = dot(loads_of(files), "pkg")
        read = read_by_dot(text)
        assert {each["name"] for each in read["objects"]} == nodes(text)
        assert len(read["edges"]) == len(edges(text))


@pytest.mark.skipif(not DOT, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ['a"b', "a\\", 'a\\"', 'x"]; evil [label="', "<b>", "\\N", "node"])
def test_dot_reads_an_odd_name_as_it_is(name: str) -> None:
    read = read_by_dot(f"digraph {quoted(name)} {{ {quoted(name)} [label={quoted(name)}]; }}")
    (found,) = read["objects"]
    assert found["label"] == quoted(name)[1:-1].replace('\\"', '"')
