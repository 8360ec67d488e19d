"""What programs read."""

from __future__ import annotations

import json
from pathlib import Path

from codemods.import_cost import formats
from codemods.import_cost.answer import answer
from codemods.import_cost.brought import dominator_tree
from codemods.import_cost.budgets import Budget, Verdict
from tests.import_cost.checkouts import HEAVY, opened


def test_a_document_has_its_version_first() -> None:
    assert list(json.loads(formats.as_json("why", module="pkg"))) == ["schema_version", "command", "module"]


def test_an_answer_has_all_that_is_counted(tmp_path: Path) -> None:
    fields = json.loads(json.dumps(formats.answer_fields(answer(opened(tmp_path, HEAVY), "pkg"))))
    first = fields["blames"][0]
    assert fields["modules"] == len(fields["loaded"]) == 6
    assert first["modules"] == len(first["saved"]) == 3
    assert first["chains"][0]["chain"][0] == {
        "importer": "pkg",
        "imported": "pkg.heavy",
        "path": "pkg/__init__.py",
        "line": 2,
    }


def test_a_tree_is_flat_and_each_module_comes_after_who_brings_it(tmp_path: Path) -> None:
    rows = formats.node_fields(dominator_tree(opened(tmp_path, HEAVY).loads, "pkg"))
    assert [(row["name"], row["brought_by"], row["modules"]) for row in rows[:3]] == [
        ("pkg", None, 6),
        ("pkg.heavy", "pkg", 3),
        ("pkg.models", "pkg.heavy", 1),
    ]
    seen = {None}
    for row in rows:
        assert row["brought_by"] in seen
        seen.add(row["name"])


def test_a_budget_without_a_line_is_at_the_first(tmp_path: Path) -> None:
    from codemods.import_cost.budgets import verify

    loads = opened(tmp_path, HEAVY).loads
    _, exceeded = verify(loads, Budget("pkg", (), 1))
    (finding,) = formats.verdict_findings(Verdict((), exceeded))
    assert (finding.path, finding.line, finding.level) == ("pyproject.toml", 1, "error")


def test_sarif_names_its_rules_once() -> None:
    findings = [formats.Finding("notice", "r", "a b.py", 0, "m"), formats.Finding("error", "r", "b.py", 3, "n")]
    log = json.loads(formats.as_sarif(iter(findings)))
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["rules"]) == ("2.1.0", [{"id": "r", "name": "r"}])
    assert [each["level"] for each in run["results"]] == ["note", "error"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
