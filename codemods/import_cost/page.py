"""One self-contained HTML page that draws what an import loads, before and after narrowing.

Owns the page: its template, styles and script lie beside this module, the numbers are its JSON block (`id="data"`).
Invariant: names and source lines are data; none of them can end an element or run, and the page asks no network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib import resources

from codemods.import_cost.picture import Node, Picture

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(
    before: Picture,
    after: Picture | None = None,
    *,
    title: str = "",
    narrowing: str = "",
    times: Mapping[str, tuple[int, int]] | None = None,
) -> str:
    """The page, in ASCII. `narrowing` says what `after` goes without; `times` are measured microseconds, self and exclusive."""
    script = _beside("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "title": html.escape(title or f"import {before.start}"),
        "css": _beside("page.css"),
        "js": script,
        "hash": f"sha256-{digest}",
        "data": _embedded(data(before, after, narrowing, times)),
    }
    # One pass: what is filled in is not looked at again.
    text = _PLACE.sub(lambda match: parts[match[1]], _beside("page.html"))
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def data(
    before: Picture,
    after: Picture | None = None,
    narrowing: str = "",
    times: Mapping[str, tuple[int, int]] | None = None,
) -> dict[str, object]:
    """The numbers of the page, ready for JSON."""
    return {
        "version": 1,
        "narrowing": narrowing,
        "before": _plain(before),
        "after": _plain(after) if after else None,
        "times": {name: list(pair) for name, pair in times.items()} if times else None,
    }


def _plain(picture: Picture) -> dict[str, object]:
    number = {node.name: index for index, node in enumerate(picture.nodes)}
    return {
        "start": picture.start,
        "modules": picture.modules,
        "packages": picture.packages,
        "stdlib": picture.stdlib,
        "nodes": [_node(node, number) for node in picture.nodes],
    }


def _node(node: Node, number: Mapping[str, int]) -> dict[str, object]:
    via = node.via
    return {
        "name": node.name,
        "kind": node.kind.value,
        "above": number[node.above] if node.above else -1,
        "modules": node.modules,
        "packages": node.packages,
        "importers": node.importers,
        "via": {"from": number[via.importer], "path": via.path, "line": via.line, "text": node.text} if via else None,
    }


def _embedded(value: dict[str, object]) -> str:
    """JSON that no HTML parser can leave early: `</script>` and `<!--` need a `<`."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _beside(name: str) -> str:
    return resources.files("codemods.import_cost").joinpath(name).read_text(encoding="utf-8")
