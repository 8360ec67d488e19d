"""The answers for machines: JSON, GitHub annotations, SARIF.

Owns `SCHEMA_VERSION` and the shape of what programs read: keys are added, never renamed, without a new number.
Invariant: paths are relative to the root with `/`, lists are whole however the text output cuts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from codemods.engine.model import ImportEdge, Site
from codemods.engine.report import annotation
from codemods.import_cost.answer import Answer, Blame
from codemods.import_cost.brought import Node
from codemods.import_cost.budgets import FILE, Verdict
from codemods.import_cost.chains import Chain
from codemods.import_cost.ranking import Ranked
from codemods.import_cost.unused import Unused
from codemods.import_cost.what_if import WhatIf

SCHEMA_VERSION = 1
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to say about a line of a file, for annotations and SARIF."""

    level: str  # error, warning, notice
    rule: str
    path: str
    line: int
    message: str


# --- JSON ---


def as_json(command: str, **fields: object) -> str:
    """One document."""
    return json.dumps({"schema_version": SCHEMA_VERSION, "command": command, **fields}, indent=2)


def answer_fields(answer: Answer) -> dict[str, object]:
    """`import_cost MODULE`."""
    return {
        "module": answer.module,
        "path": answer.path,
        "modules": len(answer.loaded),
        "loaded": list(answer.loaded),
        "third_party": list(answer.third_party),
        "unreadable": list(answer.unreadable),
        "blames": [_blame_fields(blame) for blame in answer.blames],
    }


def _blame_fields(blame: Blame) -> dict[str, object]:
    return {
        "origin": blame.origin,
        "names": list(blame.names),
        "lines": list(blame.lines),
        "modules": len(blame.saved),
        "saved": list(blame.saved),
        "third_party": list(blame.third_party),
        "files": list(blame.files),
        "command": blame.command,
        "chains": [{"target": target, "chain": chain_fields(chain)} for target, chain in blame.chains],
    }


def chain_fields(chain: Chain) -> list[dict[str, object]]:
    """A chain, an object for each import."""
    return [edge_fields(edge) for edge in chain]


def edge_fields(edge: ImportEdge) -> dict[str, object]:
    """One import; line 0 is the package around a module, which Python runs first."""
    return {"importer": edge.importer, "imported": edge.imported, "path": edge.path, "line": edge.line}


def what_if_fields(found: WhatIf) -> dict[str, object]:
    """`--what-if`."""
    stays = [
        {"package": each.package, "origin": each.origin, "others": list(each.others), "chain": chain_fields(each.chain)}
        for each in found.stays
    ]
    return {
        "module": found.module,
        "modules_before": len(found.before),
        "modules_after": len(found.after),
        "gone": list(found.gone),
        "third_party_gone": list(found.third_party),
        "stays": stays,
    }


def ranked_fields(ranked: Sequence[Ranked]) -> list[dict[str, object]]:
    """`--everywhere`."""
    return [
        {
            "package": each.package,
            "path": each.path,
            "line": each.line,
            "origin": each.origin,
            "names": list(each.names),
            "saved": each.saved,
            "importers": each.importers,
            "score": each.score,
        }
        for each in ranked
    ]


def unused_fields(found: Sequence[Unused]) -> list[dict[str, object]]:
    """`--unused`."""
    return [
        {
            "package": each.package,
            "path": each.path,
            "line": each.line,
            "name": each.name,
            "origin": each.origin,
            "public": each.public,
        }
        for each in found
    ]


def verdict_fields(verdict: Verdict) -> dict[str, object]:
    """`--check`."""
    budgets = [
        {
            "module": budget.module,
            "forbid": list(budget.forbid),
            "max_modules": budget.max_modules,
            "modules": count,
        }
        for budget, count in verdict.counted
    ]
    exceeded = [
        {
            "module": each.budget.module,
            "forbidden": each.target or None,
            "modules": each.loaded,
            "message": each.message,
            "chain": chain_fields(each.chain),
        }
        for each in verdict.exceeded
    ]
    return {"budgets": budgets, "exceeded": exceeded}


def node_fields(tree: Node) -> list[dict[str, object]]:
    """`--tree`: flat, each module after the one that brings it, since a chain may be deeper than parsers like."""
    rows: list[dict[str, object]] = []
    todo: list[tuple[Node, str | None]] = [(tree, None)]
    while todo:
        node, by = todo.pop()
        rows.append({"name": node.name, "brought_by": by, "in_tree": node.in_tree, "modules": node.size})
        todo += [(child, node.name) for child in reversed(node.children)]
    return rows


# --- findings ---


def answer_findings(answer: Answer) -> Iterator[Finding]:
    """Each costly import as a notice at its line."""
    for blame in answer.blames:
        message = f"{len(blame.saved)} of {len(answer.loaded)} modules are loaded only by {blame.origin}"
        if blame.third_party:
            message += f", and {', '.join(blame.third_party)}"
        hint = f"; {blame.command}" if blame.command else ""
        yield Finding("notice", "import-cost", answer.path, blame.lines[0], message + hint)


def verdict_findings(verdict: Verdict) -> Iterator[Finding]:
    """Each budget that does not hold: at the first import of the chain, else at the budget."""
    for each in verdict.exceeded:
        edge = next((edge for edge in each.chain if edge.line), None)
        path, line = (edge.path, edge.line) if edge else (FILE, each.budget.line or 1)
        chain = " -> ".join(edge.imported for edge in each.chain)
        yield Finding("error", "import-budget", path, line, f"{each.message}: {chain}" if chain else each.message)


def unused_findings(found: Sequence[Unused]) -> Iterator[Finding]:
    """Each re-export that nobody reads."""
    for each in found:
        message = f"nobody in this tree reads {each.name} through {each.package}; it comes from {each.origin}"
        yield Finding("notice", "unused-reexport", each.path, each.line, message)


def as_github(findings: Iterator[Finding]) -> list[str]:
    """Workflow commands."""
    return [annotation(each.level, Site(each.path, each.line, 0, ""), each.rule, each.message) for each in findings]


def as_sarif(findings: Iterator[Finding]) -> str:
    """A SARIF 2.1.0 log of one run."""
    levels: Mapping[str, str] = {"notice": "note"}
    rows = list(findings)
    results = [
        {
            "ruleId": each.rule,
            "level": levels.get(each.level, each.level),
            "message": {"text": each.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {
                            "uri": quote(each.path.encode("utf-8", "surrogateescape")),
                            "uriBaseId": "%SRCROOT%",
                        },
                        "region": {"startLine": max(each.line, 1)},
                    }
                }
            ],
        }
        for each in rows
    ]
    rules = [{"id": rule, "name": rule} for rule in sorted({each.rule for each in rows})]
    driver = {"name": "codemods import_cost", "rules": rules}
    return json.dumps(
        {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}, indent=2
    )
