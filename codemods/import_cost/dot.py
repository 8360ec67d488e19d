"""What an import loads as a graph in the language of Graphviz.

Owns the text that `dot` reads: one node a module or third-party package, one edge an import, parents dashed.
Invariant: every name and label is quoted; no name can end its string.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from codemods.engine.model import ImportEdge
from codemods.import_cost.loads import Loads, Pairs
from codemods.import_cost.picture import Drawn, Kind

_LOOK = {
    Kind.MODULE: "",
    Kind.FOLDER: ', style="rounded,filled,dashed"',
    Kind.THIRD_PARTY: ', fillcolor="#d5cdf3"',
    Kind.MISSING: ', fillcolor="#dde1e6"',
}
_HEAD = """\
  rankdir=LR;
  node [shape=box, style="rounded,filled", fillcolor="#c9def2", fontname="Helvetica", fontsize=10];
  edge [color="#5a6675", arrowsize=0.6];
"""


def dot(
    loads: Loads,
    start: str,
    *,
    depth: int | None = None,
    collapse: int = 0,
    without: Pairs = frozenset(),
    extra: Mapping[str, frozenset[str]] | None = None,
) -> str:
    """The graph of what `import start` loads.

    `depth` leaves out what lies more imports away; `collapse` draws modules with more dots as the package of that many parts.
    """
    drawn = Drawn(loads, loads.closure(start, without, extra or {}), without, extra or {})
    away = _distances(start, drawn, depth)
    members: dict[str, list[str]] = {}
    for name in away:
        members.setdefault(_shown(name, start, collapse), []).append(name)
    edges: dict[tuple[str, str], list[ImportEdge]] = {}
    for name in away:
        for edge in drawn.edges(name):
            ends = _shown(name, start, collapse), _shown(edge.imported, start, collapse)
            if edge.imported in away and ends[0] != ends[1]:
                edges.setdefault(ends, []).append(edge)
    lines = [_node(shown, names, start, drawn) for shown, names in members.items()]
    lines += [_edge(*ends, found) for ends, found in edges.items()]
    return f"digraph {quoted('import ' + start)} {{\n{_HEAD}" + "".join(f"  {line};\n" for line in lines) + "}\n"


def quoted(text: str) -> str:
    """A string of the DOT language; a backslash stays one, where labels would read it as an escape."""
    plain = text.encode("utf-8", "replace").decode("utf-8")  # a file name that is no text
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _distances(start: str, drawn: Drawn, depth: int | None) -> dict[str, int]:
    found = {start: 0}
    todo = deque([start])
    while todo:
        name = todo.popleft()
        if depth is None or found[name] < depth:
            for each in drawn.successors(name):
                if each not in found:
                    found[each] = found[name] + 1
                    todo.append(each)
    return found


def _shown(name: str, start: str, collapse: int) -> str:
    if not collapse or name == start:
        return name
    return ".".join(name.split(".")[:collapse])


def _node(shown: str, names: list[str], start: str, drawn: Drawn) -> str:
    if len(names) > 1:
        count = sum(drawn.kind(name) is Kind.MODULE for name in names)
        label = quoted(f"{shown}\n{count} module{'' if count == 1 else 's'}")
        return f"{quoted(shown)} [label={label}, penwidth=2]"
    bold = ", penwidth=2" if shown == start else ""
    return f"{quoted(shown)} [label={quoted(shown)}{_LOOK[drawn.kind(names[0])]}{bold}]"


def _edge(source: str, target: str, found: Iterable[ImportEdge]) -> str:
    tips = "\n".join(str(edge) for edge in found)
    dashed = "" if any(edge.line for edge in found) else ", style=dashed"
    return f"{quoted(source)} -> {quoted(target)} [edgetooltip={quoted(tips)}{dashed}]"
