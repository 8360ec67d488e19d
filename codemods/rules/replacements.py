"""The codemod's edits as replacements of syntax nodes, which is what Fixit applies.

Owns the way from old and new bytes to the smallest statement, block or module whose replacement gives exactly these bytes.
Invariant: every replacement was applied as Fixit applies it, alone and together with the others, and gave the bytes that
the codemod writes; otherwise the file gets one replacement, or none with a reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods.check_narrowed.offence import Offence
from codemods.engine.edits import edited
from codemods.engine.model import Edit
from codemods.engine.source import NotPython, decode, parse
from codemods.rules.groups import Group, collide, independent
from codemods.rules.guards import Watched

Replacement = cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel
Replacements = dict[cst.CSTNode, Replacement]
_ELSEWHERE = "mend it with `python -m codemods.check_narrowed --fix`"


@dataclass(frozen=True, slots=True)
class Mended:
    """For each offence the replacement that it carries, or why it carries none."""

    fixes: dict[Offence, tuple[cst.CSTNode, Replacement]]
    reasons: dict[Offence, str]


@dataclass(frozen=True, slots=True)
class Step:
    """Offences that are mended together, and the file's bytes when nothing else is."""

    offences: tuple[Offence, ...]
    after: bytes


@dataclass(frozen=True, slots=True)
class _Planned:
    steps: list[Step]
    reasons: dict[Offence, str]
    after: bytes  # when all steps are taken


def mend(
    module: cst.Module, known: Watched, path: str, data: bytes, shown: Sequence[Offence], *, whole: bool
) -> Mended:
    """The replacements for the offences of a file. `whole`: these are all, so that the bytes are those of `Fixer`."""
    if _loses(known, path, data):
        return Mended({}, dict.fromkeys(shown, f"Fixit does not keep every byte of this file; {_ELSEWHERE}"))
    back = tuple(each for each in shown if each.kind in ("re-export", "all-entry"))
    sites = tuple(each for each in shown if each.kind == "call-site")
    reasons: dict[Offence, str] = {}
    steps: list[Step] = []
    after = data
    if back and not whole:
        reasons |= dict.fromkeys(back, f"it hangs together with what a comment keeps; {_ELSEWHERE}")
    elif back:
        after, left = known.fixer.init(path, data)
        if after == data:
            reasons |= dict.fromkeys(back, _gist(left))
        else:
            steps.append(Step(back, after))
    if sites:
        planned = _call_sites(known, path, data, sites, whole=whole)
        reasons |= planned.reasons
        if after == data:
            steps, after = planned.steps, planned.after
        elif planned.steps:
            after = known.fixer.file(path, after)[0]
            steps = [Step((*back, *(each for each in sites if each not in planned.reasons)), after)]
    if after == data:
        return Mended({}, reasons)
    narrow = _narrow(module, steps, after)
    if narrow is None:
        everything = [each for step in steps for each in step.offences]
        new = _whole(module, after)
        if new is None:
            return Mended({}, reasons | dict.fromkeys(everything, f"Fixit cannot write it; {_ELSEWHERE}"))
        steps, narrow = [Step(tuple(everything), after)], [(module, new)]
    fixes: dict[Offence, tuple[cst.CSTNode, Replacement]] = {}
    for step, (node, replacement) in zip(steps, narrow, strict=True):
        first, *rest = sorted(step.offences)
        fixes[first] = (node, replacement)
        reasons |= dict.fromkeys(rest, f"mended together with line {first.site.line}")
    return Mended(fixes, reasons)


# The edits


def _call_sites(known: Watched, path: str, data: bytes, sites: Sequence[Offence], *, whole: bool) -> _Planned:
    """The call sites' groups. One package's are told apart by `independent`; packages are mended one after the other."""
    source = decode(data, path)
    reasons: dict[Offence, str] = {}
    steps: list[Step] = []
    edits: list[Edit] = []
    clean = True
    for package in known.guard.suspects(path, data):
        own = [each for each in sites if each.symbol.rpartition(":")[0] == package]
        lines = frozenset(each.site.line for each in own)
        planned, reason = known.fixer.edits(package, path, data, None if whole else lines)
        if not planned:
            reasons |= dict.fromkeys(own, _gist([reason] if reason else []))
            continue
        clean = clean and not collide(edits, planned)
        edits += planned
        for group in _groups(known, package, path, data, lines, planned):
            text = edited(source, group.edits)
            members = tuple(each for each in own if each.site.line in group.lines)
            clean = clean and bool(members) and isinstance(text, bytes)
            if isinstance(text, bytes):
                steps.append(Step(members, text))
    mended = tuple(each for each in sites if each not in reasons)
    together = edited(source, edits) if clean else None
    if whole:
        after = known.fixer.file(path, data)[0]
    elif isinstance(together, bytes):
        after = together
    else:
        reason = f"it hangs together with what a comment keeps; {_ELSEWHERE}"
        return _Planned([], reasons | dict.fromkeys(mended, reason), data)
    if together != after:
        steps = [Step(mended, after)]
    return _Planned(steps, reasons, after)


def _groups(
    known: Watched, package: str, path: str, data: bytes, lines: frozenset[int], planned: tuple[Edit, ...]
) -> Sequence[Group]:
    def plan(some: frozenset[int]) -> tuple[Edit, ...]:
        return known.fixer.edits(package, path, data, some)[0]

    spans = _imports(path, data, lines)
    groups = independent(spans, lines - frozenset().union(*spans), plan) if len(lines) > 1 else ()
    made = {edit for group in groups for edit in group.edits}
    return groups if groups and made == set(planned) else [Group(lines, planned)]


def _imports(path: str, data: bytes, lines: frozenset[int]) -> list[frozenset[int]]:
    """The lines of each import statement that has one of these lines."""
    try:
        tree = parse(decode(data, path))
    except NotPython:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            span = frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            if span & lines:
                found.append(span)
    return found


def _loses(known: Watched, path: str, data: bytes) -> bool:
    """Whether what Fixit read is not what it will write: a form feed, for one."""
    full = known.guard.root / path
    try:
        there = full.read_bytes()
        return there != data and cst.parse_module(there).bytes == data
    except (OSError, cst.ParserSyntaxError, ValueError):
        return False


# The nodes


def _narrow(module: cst.Module, steps: Sequence[Step], after: bytes) -> list[tuple[cst.CSTNode, Replacement]] | None:
    """A replacement for each step that is smaller than the module; None where one replacement is to do it all."""
    codes: dict[cst.CSTNode, str] = {}
    found = []
    for step in steps:
        try:
            new = cst.parse_module(step.after)
        except cst.ParserSyntaxError:
            return None
        tries = reversed(list(_candidates(module, new, codes)))
        proven = next((each for each in tries if applied(module, dict([each])) == step.after), None)
        if proven is None:
            return None
        found.append(proven)
    together = dict(found)
    return found if len(together) == len(found) and applied(module, together) == after else None


def _whole(module: cst.Module, after: bytes) -> cst.Module | None:
    try:
        new = cst.parse_module(after)
    except cst.ParserSyntaxError:
        return None
    return new if new.bytes == after and applied(module, {module: new}) == after else None


def _candidates(
    old: cst.CSTNode, new: cst.CSTNode, codes: dict[cst.CSTNode, str]
) -> Iterator[tuple[cst.CSTNode, Replacement]]:
    """Replacements that may turn one tree into the other, from the outside in."""
    if isinstance(old, (cst.Module, cst.IndentedBlock)) and isinstance(new, (cst.Module, cst.IndentedBlock)):
        pair = _statement(list(old.body), list(new.body), codes)
        if pair is None:
            return
        node, made = pair
        yield node, made[0] if len(made) == 1 else cst.FlattenSentinel(made) if made else cst.RemoveFromParent()
        if len(made) == 1:
            yield from _candidates(node, made[0], codes)
        return
    if not isinstance(
        old, (cst.BaseCompoundStatement, cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler)
    ):
        return
    before, then = _inner(old), _inner(new)
    if type(old) is not type(new) or len(before) != len(then):
        return
    differing = [(a, b) for a, b in zip(before, then, strict=True) if _code(a, codes) != _code(b, {})]
    if len(differing) == 1 and type(differing[0][0]) is type(differing[0][1]):
        if isinstance(differing[0][0], cst.IndentedBlock):
            yield differing[0]
        yield from _candidates(*differing[0], codes)


def _statement(
    old: list[cst.CSTNode], new: list[cst.CSTNode], codes: dict[cst.CSTNode, str]
) -> tuple[cst.CSTNode, list[cst.CSTNode]] | None:
    """The one statement of a block that changes, and what it becomes."""
    before, then = [_code(each, codes) for each in old], [_code(each, {}) for each in new]
    first = 0
    while first < min(len(before), len(then)) and before[first] == then[first]:
        first += 1
    last = 0
    while last < min(len(before), len(then)) - first and before[-1 - last] == then[-1 - last]:
        last += 1
    if first + last == len(old) and old:
        # a new statement between others comes with its upper neighbour
        first, last = (first - 1, last) if first else (first, last - 1)
    if len(old) - first - last != 1:
        return None
    return old[first], new[first : len(new) - last]


def _inner(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The blocks and clauses of a compound statement."""
    kinds = (cst.IndentedBlock, cst.If, cst.Else, cst.Finally, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase)
    return [child for child in node.children if isinstance(child, kinds)]


def _code(node: cst.CSTNode, codes: dict[cst.CSTNode, str]) -> str:
    if node not in codes:
        codes[node] = cst.Module([]).code_for_node(node)
    return codes[node]


def applied(module: cst.Module, replacements: Mapping[cst.CSTNode, Replacement]) -> bytes:
    """The bytes of a module with nodes replaced, as Fixit's runner does it."""

    class Replace(cst.CSTTransformer):
        def on_visit(self, node: cst.CSTNode) -> bool:
            return node not in replacements

        def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> Replacement:  # type: ignore[override]
            return replacements.get(original, updated)

    updated = module.visit(Replace())
    assert isinstance(updated, cst.Module)
    return updated.bytes


def _gist(left: Sequence[str]) -> str:
    return left[0] if left else "the codemod has no way to mend it"


def _with(first: Offence) -> str:
    return f"mended together with line {first.site.line}"
