"""The offences of one file against the rows of its tree.

Owns the verdict: which places reach a banned name through its package, and which of them a person has taken on. The places
are those that `narrow_reexport` plans edits for.
Invariant: it writes nothing, and judges the bytes that it is given, not those on the disk.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.check_narrowed.beside import beside
from codemods.check_narrowed.guard import Guard
from codemods.check_narrowed.init_verdicts import init_offences
from codemods.check_narrowed.offence import Offence
from codemods.engine.discover import is_code
from codemods.engine.source import NotPython, Source, decode, parse
from codemods.engine.walk import catches_import_error
from codemods.narrow_reexport.plan import plan_file

RULE = "NarrowReexport"
_IGNORES = re.compile(r"#\s*lint-(?:ignore|fixme)(?:(?::\s*|\s+)(?P<names>\w+(?:,\s*\w+)*))?")


def offences(guard: Guard, path: str, data: bytes) -> tuple[Offence, ...]:
    """What a file does against the rows, in order; nothing where it is allowed, accepted, or ignored by a comment."""
    if not is_code(path):
        return ()
    found = list(init_offences(guard, path, data))
    for package in guard.suspects(path, data):
        found += _call_sites(guard, package, path, data)
    if not found:
        return ()
    marked = taken_on(path, data)
    by_symbol = {str(ban.symbol): ban for ban in guard.rows}
    return tuple(
        sorted(
            {each for each in found if each.site.line not in marked and not guard.allows(by_symbol[each.symbol], path)}
        )
    )


def _call_sites(guard: Guard, package: str, path: str, data: bytes) -> Iterator[Offence]:
    context = guard.context(package)
    if context is None or not context.resolutions or path == context.package.path:
        return
    plan = plan_file(path, data, context)
    origins = {str(found.symbol): found.origin for found in context.resolutions}
    if plan.unparsed:
        for refusal in plan.refusals:
            message = f"{refusal.reason}: it cannot be checked; {refusal.hint}"
            yield Offence(refusal.site, refusal.symbol, "unparsed", message)
        return
    view = guard.view(package)
    outside = view is not None and view.outside
    older = _for_older_releases(path, data) if outside and plan.reached else frozenset()
    for each in plan.reached:
        if each.site.line in older:
            continue
        origin = origins[each.symbol]
        message = f"{each.symbol.replace(':', '.')} was narrowed to {origin}: write `{each.instead}`"
        yield Offence(each.site, each.symbol, "call-site", message, outside)


def _for_older_releases(path: str, data: bytes) -> frozenset[int]:
    """The lines of each `try` that an ImportError may end: what stands there tells apart the releases of an installed package."""
    # try: from pkg.sub import sym
    # except ImportError: from pkg import sym
    lines: set[int] = set()
    for node in ast.walk(parse(decode(data, path))):
        if catches_import_error(node):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    return frozenset(lines)


def taken_on(path: str, data: bytes) -> frozenset[int]:
    """The lines whose sites a comment takes on: `# lint-ignore: NarrowReexport`, as Fixit reads it."""
    if b"lint-" not in data:
        return frozenset()
    try:
        source = decode(data, path)
        tree = parse(source)
    except NotPython:
        return frozenset()
    marked = {number for number in range(1, len(source.starts) + 1) if (line := source.line(number)) and _ignores(line)}
    lines: set[int] = set(marked)
    for node in ast.walk(tree) if marked else ():
        if isinstance(node, ast.stmt):
            lines |= _around(node, source, marked)
        if isinstance(node, (ast.expr, ast.keyword)):
            lines |= beside(node, source, marked)
    return frozenset(lines)


def _around(statement: ast.stmt, source: Source, marked: set[int]) -> set[int]:
    """The lines of a statement that a comment above it, or at the end of its own lines, speaks for."""
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
    body = getattr(statement, "body", None)
    inner = body[0] if isinstance(body, list) and body else None
    last = (inner.lineno - 1 if isinstance(inner, ast.stmt) else statement.end_lineno) or statement.lineno
    last = max(last, statement.lineno)
    if any(
        number in marked and source.line(number).lstrip().startswith("#") for number in range(first, statement.lineno)
    ):
        return set(range(first, last + 1))  # between the decorators and what they decorate
    above = first - 1
    while above > 0 and (not (row := source.line(above).strip()) or row.startswith("#")):
        if above in marked:
            return set(range(first, last + 1))
        above -= 1
    return set(range(first, last + 1)) if last in marked else set()


def _ignores(line: str) -> bool:
    for found in _IGNORES.finditer(line):
        if found["names"] is None:
            return True
        for name in (each.strip() for each in found["names"].split(",")):
            if name.removesuffix("Rule") in (RULE, RULE.lower()):
                return True
    return False
