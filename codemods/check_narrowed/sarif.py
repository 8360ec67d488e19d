"""SARIF 2.1.0: the offences in the form that code scanning services take.

Owns the document's shape.
Invariant: it computes nothing that the offences do not hold; every path in it is relative to the checkout.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import quote

from codemods.check_narrowed.offence import Offence
from codemods.engine.errors import CodemodError

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULES = {
    "re-export": "The package's __init__ re-exports a name that was narrowed.",
    "all-entry": "The package's __all__ lists a name that was narrowed.",
    "call-site": "A name that was narrowed is reached through the package, and not at its origin.",
    "unparsed": "A file that names the package and a narrowed name cannot be parsed, so it cannot be checked.",
}


def as_sarif(
    offences: Sequence[Offence], shown: Callable[[str], str], errors: Sequence[CodemodError] = (), exit_code: int = 0
) -> str:
    """The document. `shown` makes a path of the tree one of the checkout; with `errors` the check could not be made."""
    names = list(_RULES)
    invocation: dict[str, object] = {"executionSuccessful": not errors, "exitCode": exit_code}
    if errors:
        invocation["toolExecutionNotifications"] = [_notification(error, shown) for error in errors]
    run = {
        "tool": {
            "driver": {
                "name": "check_narrowed",
                "version": _version(),
                "rules": [
                    {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}
                    for name, text in _RULES.items()
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The top of the checkout."}}},
        "invocations": [invocation],
        "results": [_result(each, names.index(each.kind), shown) for each in offences],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(offence: Offence, index: int, shown: Callable[[str], str]) -> dict[str, object]:
    site = offence.site
    region: dict[str, object] = {"startLine": site.line, "startColumn": site.column + 1}
    if site.text:
        region["snippet"] = {"text": site.text}
    said = f"{offence.symbol}\0{site.path}\0{site.text.strip()}"
    mark = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "ruleId": offence.kind,
        "ruleIndex": index,
        "level": "error",
        "message": {"text": offence.message},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(shown(site.path)), "region": region}}],
        "partialFingerprints": {"symbolPathText/v1": mark},
        "properties": {"symbol": offence.symbol},
    }


def _notification(error: CodemodError, shown: Callable[[str], str]) -> dict[str, object]:
    text = f"{error.detail} ({error.hint})" if error.hint else error.detail
    found: dict[str, object] = {"level": "error", "message": {"text": text}}
    if error.path:
        place: dict[str, object] = {"artifactLocation": _artifact(shown(error.path))}
        if error.line:
            place["region"] = {"startLine": error.line}
        found["locations"] = [{"physicalLocation": place}]
    return found


def _artifact(path: str) -> dict[str, object]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape"), safe="/"), "uriBaseId": "%SRCROOT%"}


def _version() -> str:
    try:
        return version("codemods")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0"
