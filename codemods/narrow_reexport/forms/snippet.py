"""Python code inside other text: doctest examples, notebook cells.

Owns what such code reads of the package; snippets of one text run one after the other.
Invariant: code that does not parse is looked at as text, never passed over.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemods.narrow_reexport.forms.page import Wanted, import_matches
from codemods.narrow_reexport.resolve import Resolution


def doctest_sites(text: str, first_line: int, resolutions: Sequence[Resolution]) -> list[tuple[int, str, bool]]:
    """What the examples of a docstring read through the package: (line, symbol, whether an import statement does).

    `first_line` is the line on which the string starts.
    """
    moved = (found for found in resolutions if not found.is_submodule and not (found.narrowed and found.same_name))
    wanted = {found.symbol.name: found for found in moved}
    if ">>>" not in text or not any(name in text for name in wanted):
        return []
    package = resolutions[0].symbol.module
    reads, broken = reads_of(_examples_of(text, first_line), package, wanted)
    sites = {(read.line, str(wanted[read.name].symbol), read.is_import) for read in reads}
    for snippet in broken:
        # an example that does not parse is looked at as text
        for match, names in import_matches(snippet.code, package, wanted):
            line = snippet.at(snippet.code.count("\n", 0, match.start()) + 1)
            sites |= {(line, str(wanted[name].symbol), True) for name in names}
    return sorted(sites)


@dataclass(frozen=True, slots=True)
class Snippet:
    code: str
    lines: tuple[int, ...]  # for each line of the code, its line in the file

    def at(self, line: int) -> int:
        return self.lines[min(line, len(self.lines)) - 1]


@dataclass(frozen=True, slots=True)
class Read:
    line: int
    last: int
    name: str
    is_import: bool
    sure: bool  # the name in front is the package, and nothing else


def _examples_of(text: str, first_line: int) -> list[Snippet]:
    """The doctest examples of a docstring, each a statement with its continuation lines."""
    found: list[Snippet] = []
    for number, row in enumerate(text.split("\n"), first_line):
        prompt = re.match(r"[ \t]*(>>>|\.\.\.)(?: |\Z)", row.rstrip("\r"))
        if prompt is None:
            continue
        code = row[prompt.end() :] + "\n"
        if prompt[1] == ">>>":
            found.append(Snippet(code, (number,)))
        elif found and found[-1].lines[-1] == number - 1:
            found[-1] = Snippet(found[-1].code + code, (*found[-1].lines, number))
    return found


# %magic      !command      help?      x = !command
_MAGIC = re.compile(r"^(?:([ \t]*[\w, ]+=[ \t]*)[%!].*|([ \t]*)(?:[%!?].*|[^#\n'\"]*\?))$", re.M)


def _parsed(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def reads_of(snippets: Sequence[Snippet], package: str, wanted: Wanted) -> tuple[list[Read], list[Snippet]]:
    """What snippets that run one after the other read of the package; beside it, those that hold more than Python."""
    nodes: list[tuple[Snippet, ast.AST]] = []
    odd: list[Snippet] = []
    for each in snippets:
        tree = _parsed(each.code)
        if tree is None:
            odd.append(each)
            tree = _parsed(_MAGIC.sub(lambda magic: f"{magic[1]}None" if magic[1] else f"{magic[2]}pass", each.code))
        nodes += [(each, node) for node in ast.walk(tree)] if tree is not None else []
    aliases: dict[str, str] = {}
    for _, node in nodes:
        if isinstance(node, ast.Import):
            # import pkg      import pkg as p
            tops = [(alias, alias.name.partition(".")[0]) for alias in node.names]
            aliases |= {alias.asname or top: alias.name if alias.asname else top for alias, top in tops}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            # from parent import pkg as p      from pkg import *
            aliases |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    others = {node.id for _, node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    others |= {node.arg for _, node in nodes if isinstance(node, ast.arg)}
    reads: list[Read] = []
    for each, node in nodes:
        for name, sure in _read(node, package, wanted, aliases, others):
            assert isinstance(node, (ast.stmt, ast.expr))
            last = each.at(node.end_lineno or node.lineno)
            reads.append(Read(each.at(node.lineno), last, name, isinstance(node, ast.stmt), sure))
    return reads, odd


def _read(
    node: ast.AST, package: str, wanted: Wanted, aliases: Mapping[str, str], others: set[str]
) -> list[tuple[str, bool]]:
    """The symbols that one node reads, and whether for certain."""
    if isinstance(node, ast.ImportFrom) and not node.level and node.module == package:
        return [(alias.name, True) for alias in node.names if alias.name in wanted]
    if isinstance(node, ast.Import):
        # import pkg.f as m      where pkg.f is the function
        dotted = {found.symbol.dotted: name for name, found in wanted.items()}
        return [(dotted[alias.name], True) for alias in node.names if alias.asname and alias.name in dotted]
    if isinstance(node, ast.Name) and node.id in wanted and aliases.get("*") == f"{package}.*":
        return [(node.id, wanted[node.id].starred)] if node.id not in {*aliases, *others} else []
    name, owner = (node.attr, node.value) if isinstance(node, ast.Attribute) else ("", None)
    if isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        # getattr(pkg, "sym")
        name, owner = str(node.args[1].value), node.args[0]
    if owner is None or name not in wanted:
        return []
    top, dot, rest = ast.unparse(owner).partition(".")
    return [(name, top in aliases and top not in others)] if aliases.get(top, top) + dot + rest == package else []
