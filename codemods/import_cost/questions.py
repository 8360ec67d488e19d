"""The further questions as a person wants to read their answers: why, what if, everywhere, unused, tree, budgets.

Owns their words.
Invariant: each function gives lines and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from codemods.engine.errors import Unreadable
from codemods.engine.model import ImportEdge, Symbol
from codemods.engine.report import Paint, counted
from codemods.import_cost.brought import Node
from codemods.import_cost.budgets import Verdict
from codemods.import_cost.chains import Chain
from codemods.import_cost.ranking import Ranked
from codemods.import_cost.report import chain_lines, listed
from codemods.import_cost.unused import Unused
from codemods.import_cost.what_if import WhatIf


def why_lines(
    module: str, target: str, chains: Sequence[Chain], read: Callable[[str], bytes], shown: int, paint: Paint
) -> Iterator[str]:
    """`--why`: the chains with their source lines."""
    if not chains:
        yield f"{target} is the module itself" if target == module else f"import {module} does not load {target}"
        return
    firsts = counted(len(chains), "import")
    yield paint(f"import {module} loads {target} by {firsts} of its own, each with a shortest chain:", "bold")

    def text(edge: ImportEdge) -> str:
        try:
            lines = read(edge.path).split(b"\n") if edge.path and edge.line else []
        except Unreadable:
            lines = []
        # line 0 is the package around a module: no statement imports it
        return lines[edge.line - 1].decode("utf-8", "replace").strip() if 0 < edge.line <= len(lines) else ""

    for chain in chains[:shown]:
        yield ""
        yield from chain_lines(chain, indent="  ", text=text)
    if len(chains) > shown:
        yield ""
        yield f"and {counted(len(chains) - shown, 'chain')} more (-v shows all)"


def what_if_lines(found: WhatIf, symbols: Sequence[Symbol], verbose: bool, paint: Paint) -> Iterator[str]:
    """`--what-if`."""
    numbers = f"{len(found.before):,} -> {len(found.after):,} modules of the tree"
    yield paint(f"import {found.module}: {numbers}", "bold")
    if found.third_party:
        yield f"  no longer third-party: {listed(found.third_party, verbose)}"
    if found.gone:
        yield f"  no longer loaded: {listed(_tops(found.gone), verbose)}"
    for each in found.stays:
        if each.others:
            yield f"  {each.origin} stays: {each.package} takes {listed(each.others, verbose)} from it, too"
        else:
            yield f"  {each.origin} stays:"
            yield from chain_lines(each.chain, indent="    ")
    if found.gone:
        for package in dict.fromkeys(symbol.module for symbol in symbols):
            names = " ".join(symbol.name for symbol in symbols if symbol.module == package)
            yield f"  $ narrow-reexport {package} {names}"


def _tops(names: Sequence[str]) -> tuple[str, ...]:
    """The names without those that lie in a package that is there, too."""
    found = set(names)
    return tuple(name for name in names if name.rpartition(".")[0] not in found)


def ranked_lines(below: str, shown: Sequence[Ranked], total: int, paint: Paint) -> Iterator[str]:
    """`--everywhere`."""
    heavy = counted(total, "re-export")
    verb = "loads" if total == 1 else "load"
    yield paint(f"{heavy} of {below} {verb} what not every importer needs; modules saved x importers:", "bold")
    for each in shown:
        yield ""
        yield f"{each.score:>9,} = {each.saved:,} x {each.importers:,}  {paint(each.origin, 'bold')}"
        yield f"            {each.path}:{each.line} takes {listed(each.names, False, few=4)}"
        if "*" not in each.names:
            yield f"            $ narrow-reexport {each.package} {' '.join(each.names)}"
    if len(shown) < total:
        yield ""
        yield f"and {total - len(shown):,} more (-v shows all)"


def unused_lines(below: str, found: Sequence[Unused], public: int, looked_at: int) -> Iterator[str]:
    """`--unused`, with a command for each package."""
    yield f"{len(found):,} of {counted(looked_at, 're-export')} of {below} are read by nobody in this tree"
    packages: dict[str, list[Unused]] = {}
    for each in found:
        packages.setdefault(each.package, []).append(each)
    for package, rows in sorted(packages.items(), key=lambda item: (-len(item[1]), item[0])):
        names = [row.name for row in rows]
        yield ""
        yield f"{rows[0].path}:{rows[0].line} {counted(len(names), 'name')}"
        yield f"  $ narrow-reexport {package} {' '.join(names)}"
    if public:
        yield ""
        yield (
            f"{public:,} more are public (in __all__, in a top-level package, or in the documentation), "
            "so code outside may read them: --include-public lists them"
        )


def tree_lines(node: Node, depth: int, few: int) -> Iterator[str]:
    """`--tree`: each branch with the number of modules that go with it; branches beyond `few` are summed up."""
    yield f"{node.name}  {node.size:,}"
    stack = [(iter(_cut(node.children, few)), "", 1)]
    while stack:
        rows, indent, level = stack[-1]
        row = next(rows, None)
        if row is None:
            stack.pop()
            continue
        child, text, last = row
        yield f"{indent}{'`-- ' if last else '|-- '}{text}"
        if child is not None and child.children and level < depth:
            stack.append((iter(_cut(child.children, few)), f"{indent}{'    ' if last else '|   '}", level + 1))


def _cut(children: Sequence[Node], few: int) -> list[tuple[Node | None, str, bool]]:
    shown = children if not few or len(children) <= few + 1 else children[:few]
    rows: list[tuple[Node | None, str]] = []
    for child in shown:
        rows.append((child, f"{child.name}  {child.size:,}" if child.in_tree else f"{child.name}  (third-party)"))
    if len(shown) < len(children):
        rest = children[len(shown) :]
        rows.append((None, f"and {len(rest):,} more, {sum(child.size for child in rest):,} modules together"))
    return [(child, text, index == len(rows) - 1) for index, (child, text) in enumerate(rows)]


def verdict_lines(verdict: Verdict, paint: Paint) -> Iterator[str]:
    """`--check`."""
    if not verdict.counted:
        yield "there is no budget in [tool.codemods.import_cost.budgets]"
    for each in verdict.exceeded:
        yield f"{paint('exceeded', 'red')}: {each.message}"
        yield from chain_lines(each.chain, indent="  ")
    if verdict.counted and not verdict.exceeded:
        yield f"{counted(len(verdict.counted), 'budget')} kept"
    if verdict.exceeded:
        bad = len({each.budget.module for each in verdict.exceeded})
        yield f"{bad:,} of {counted(len(verdict.counted), 'budget')} exceeded"


def updated_lines(verdict: Verdict) -> Iterator[str]:
    """`--update`."""
    for budget, count in verdict.counted:
        before = "" if budget.max_modules is None else f" (was {budget.max_modules:,})"
        yield f"{budget.module}: max-modules = {count}{before if budget.max_modules != count else ''}"
    for each in verdict.exceeded:
        if each.target:  # a number is recorded, a forbidden import is not condoned
            yield f"still exceeded: {each.message}"
    if not verdict.counted:
        yield "there is no budget to update; name a module to add one"
