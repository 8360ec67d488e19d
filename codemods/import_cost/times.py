"""Measured milliseconds beside the static numbers.

Owns how the times of modules add up along the dominator tree, and how that is shown, in text and as data.
Invariant: it runs nothing; what it cannot assign to a module of the picture is stated, not spread.
"""

from __future__ import annotations

from collections.abc import Mapping

from codemods.import_cost.dominators import sums
from codemods.import_cost.measure import Measured, Probed
from codemods.import_cost.picture import Kind, Node, Picture

_STEPS = 8  # frames of a stack that are shown


def exclusive(measured: Measured, picture: Picture) -> dict[str, tuple[int, int]]:
    """Node -> (microseconds by itself, with all that only it brings in). A third-party package counts all its modules.

    Not the cumulative column of `-X importtime`, which blames what many share on whoever happens to come first.
    """
    nodes = {node.name: node for node in picture.nodes}
    own: dict[str, int] = {}
    for each in measured.modules:
        name = _node_of(each.name, nodes)
        if name:
            own[name] = own.get(name, 0) + each.self_us
    above = {node.name: node.above for node in picture.nodes[1:]}
    whole = sums(above, picture.start, own)
    return {name: (own.get(name, 0), whole[name]) for name in nodes if whole[name]}


def elsewhere(measured: Measured, picture: Picture) -> int:
    """Microseconds of modules that are not in the picture: the standard library, and what was loaded by other means."""
    nodes = {node.name: node for node in picture.nodes}
    return sum(each.self_us for each in measured.modules if not _node_of(each.name, nodes))


def times_text(measured: Measured, picture: Picture, most: int = 15) -> str:
    """The report: the slowest parts by what would be saved without them, the probes, and that code was run."""
    lines = [measured.says]
    if measured.took:
        lines += _table(measured, picture, most)
    for probe in measured.probes:
        lines += ["", *_probe(probe)]
    return "\n".join(lines) + "\n"


def times_fields(measured: Measured, picture: Picture) -> dict[str, object]:
    """The same as plain data, for JSON: microseconds, all parts, in the order of the picture."""
    return {
        "module": measured.module,
        "python": measured.python,
        "ran": measured.says,
        "runs_us": list(measured.took),
        "total_us": measured.total_us,
        "elsewhere_us": elsewhere(measured, picture),
        "parts": [
            {"name": name, "self_us": own, "exclusive_us": whole}
            for name, (own, whole) in exclusive(measured, picture).items()
        ],
        "calls": [
            {
                "call": probe.call,
                "loaded": probe.loaded,
                "found": probe.found,
                "times": probe.times,
                "stack": [{"path": step.path, "line": step.line, "function": step.function} for step in probe.stack],
            }
            for probe in measured.probes
        ],
    }


def _table(measured: Measured, picture: Picture, most: int) -> list[str]:
    times = exclusive(measured, picture)
    nodes = {node.name: node for node in picture.nodes}
    lines = [
        f"import {measured.module}: {_ms(measured.total_us)} for {picture.modules} modules and {picture.packages} "
        f"third-party packages, {_ms(elsewhere(measured, picture))} of it for the standard library and the unforeseen",
        _spread(measured),
        "",
        "   exclusive        self  modules",
    ]
    for name, (own, whole) in sorted(times.items(), key=lambda item: (-item[1][1], item[0]))[:most]:
        kind = "" if nodes[name].kind is Kind.MODULE else f"  ({nodes[name].kind.value})"
        lines.append(f"{_ms(whole):>12}{_ms(own):>12}{nodes[name].modules:>9}  {name}{kind}")
    return lines


def _spread(measured: Measured) -> str:
    if measured.runs == 1:
        return "(of one run)"
    least, most = _ms(min(measured.took)), _ms(max(measured.took))
    return f"(the sum of each module's median; the {measured.runs} runs took {least} to {most})"


def _node_of(module: str, nodes: Mapping[str, Node]) -> str:
    if module in nodes:
        return module
    top = module.partition(".")[0]
    found = nodes.get(top)
    return top if found and found.kind is Kind.THIRD_PARTY else ""


def _probe(probe: Probed) -> list[str]:
    if not probe.loaded:
        return [f"{probe.call}: not called; its module was not loaded"]
    if not probe.found:
        return [f"{probe.call}: not known; its module was loaded, but binds no function or class of that name"]
    if not probe.times:
        return [f"{probe.call}: not called"]
    left_out = len(probe.stack) - _STEPS
    stack = probe.stack[-_STEPS:]
    shown = [f"    {step.path}:{step.line} in {step.function}" for step in stack]
    return [
        f"{probe.call}: CALLED by the import, {probe.times} time{'s' if probe.times > 1 else ''}; the first one, innermost last:",
        *([f"    ... {left_out} more"] if left_out > 0 else []),
        *shown,
    ]


def _ms(microseconds: int) -> str:
    return f"{microseconds / 1000:,.1f} ms"
