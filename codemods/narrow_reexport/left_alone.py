"""What a file's plan leaves alone, and why: files that do not parse, scripts with a package of their own, mentions.

Owns the verdicts that need no syntax tree, or only its imports.
Invariant: it never edits; whatever it leaves is named with file and line.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from codemods.engine.model import Edit, Mention, Module, Refusal, Site, Symbol, Warned
from codemods.engine.namespace import absolute
from codemods.engine.references import AttributeUse, ModuleAlias, Names, StarImport, Target, binds_package
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, Source
from codemods.engine.walk import analyse
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.forms.verdicts import accepts
from codemods.narrow_reexport.resolve import Resolution


def unparsed(path: str, data: bytes, context: Context, error: NotPython) -> FilePlan:
    text = data.decode("utf-8", "replace")
    leaf = context.package.name.rpartition(".")[2]
    inside = path.startswith(context.package.path.rpartition("/")[0] + "/")
    for found in context.resolutions:
        names = re.search(rf"\b{re.escape(found.symbol.name)}\b", text)
        if names is None or not (inside or re.search(rf"\b{re.escape(leaf)}\b", text)):
            continue
        line = error.line or text.count("\n", 0, names.start()) + 1
        rows = text.splitlines()
        site = Site(path, line, 0, rows[line - 1].strip() if line <= len(rows) else "")
        if (path, line) in context.accepted or accepts(site.text):
            return FilePlan(path)
        hint = _version_hint(text) or f"mend it, or take it out with --exclude {path}"
        refusal = Refusal(
            site, str(found.symbol), f"the file names the package and the symbol, and {error.reason}", hint
        )
        return FilePlan(path, refusals=(refusal,), unparsed=True)
    return FilePlan(path, unparsed=True)


def _version_hint(text: str) -> str:
    if re.search(r"^[ \t]*lazy\s+(from|import)\b", text, re.M):
        return "it uses `lazy import` of Python 3.15; run the command under that version, or --exclude the file"
    if re.search(r"^[ \t]*print\s+[^(=\s]", text, re.M) or re.search(r"^[ \t]*except\s+\w+\s*,\s*\w+\s*:", text, re.M):
        return "it is Python 2; --exclude takes it out"
    if re.search(r"^[ \t]*(type\s+\w+(\[.*\])?\s*=|(def|class)\s+\w+\[)", text, re.M):
        return "it uses syntax of Python 3.12; run the command under that version, or --exclude the file"
    if re.search(r"^[ \t]*except\s*\*", text, re.M):
        return "it uses syntax of Python 3.11; run the command under that version, or --exclude the file"
    return ""


def shadowed(source: Source, tree: ast.Module, context: Context, shadow: str) -> FilePlan:
    syntax = analyse(source, tree, expressions=False)
    package, top = context.package.name, context.layout.top
    for statement, _ in syntax.imports:
        names = (
            [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
        )
        level = statement.level if isinstance(statement, ast.ImportFrom) else 0
        if not level and any(name in (package, top) or name.startswith(f"{package}.") for name in names):
            site = source.site(statement.lineno)
            symbol = str(context.resolutions[0].symbol)
            return FilePlan(
                source.path,
                warnings=(
                    Warned(
                        site, symbol, f"run as a script this imports {shadow}, which shadows the package: left alone"
                    ),
                ),
            )
    return FilePlan(source.path)


def settle(source: Source, refusals: Sequence[Refusal], context: Context) -> tuple[list[Refusal], list[Refusal]]:
    refused: list[Refusal] = []
    accepted: list[Refusal] = []
    for refusal in dict.fromkeys(refusals):
        (accepted if is_accepted(source, refusal.site, context) else refused).append(refusal)
    return refused, accepted


def is_accepted(source: Source, site: Site, context: Context) -> bool:
    return (site.path, site.line) in context.accepted or accepts(source.line(site.line))


def is_left(context: Context, path: str, line: int, found: Resolution) -> bool:
    """Whether a person wants this place left as it is."""
    return (path, line, str(found.symbol)) in context.left


def mentions(
    source: Source, context: Context, edits: Sequence[Edit], refusals: Sequence[Refusal]
) -> tuple[Mention, ...]:
    package = context.package.name
    if context.verifying or (f"{package}." not in source.text and f"{package}:" not in source.text):
        return ()
    names = context.resolutions.moving
    lines = {refusal.site.line for refusal in refusals}
    spans = [(edit.start, edit.end) for edit in edits]
    covered_by = _merged(spans)
    strings = _Strings(source.text)
    found: list[Mention] = []
    for match in re.finditer(rf"{re.escape(package)}[.:](?P<name>\w+)\b(?!\.?\w)", source.text):
        if match["name"] not in names or re.match(r"[\w.]", source.text[max(match.start() - 1, 0) : match.start()]):
            continue
        if not strings.holds(match.start()) and not strings.comment:
            continue  # code that spells it alike
        line = source.line_of(match.start())
        at = bisect_right(covered_by, (match.start(), len(source.text) + 1))
        if line in lines or (at and match.start() < covered_by[at - 1][1]):
            continue
        symbol = str(Symbol(package, match["name"]))
        found.append(Mention(source.site(line), symbol))
    return tuple(dict.fromkeys(found))


class _Strings:
    """Whether places of a text lie in strings; to be asked from the first place to the last, at the starts of words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._double = self._single = 0
        self._quoted = False
        self.comment = False  # whether there is a # before the last place on its line

    def holds(self, at: int) -> bool:
        # a quote before it on its line, or an odd number of triple quotes above: a string, or taken for one to be sure
        piece = self._text[self._at : at]
        self._at = at
        self._double += piece.count('"""')
        self._single += piece.count("'''")
        _, newline, row = piece.rpartition("\n")
        if newline:
            self._quoted = self.comment = False
        self._quoted |= '"' in row or "'" in row
        self.comment |= "#" in row
        return self._quoted or self._double % 2 == 1 or self._single % 2 == 1


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places that spans cover, as spans that do not overlap."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, max(end, start + 1)))
    return merged


def needs_expressions(
    syntax: Syntax, module: Module, target: Target, references: Sequence[object], context: Context
) -> bool:
    if syntax.source.path == context.package.path:
        return True
    if any(isinstance(reference, (StarImport, ModuleAlias)) for reference in references):
        return True
    if context.guarding and any(found.same_name for found in context.resolutions) and references:
        return True
    if binds_package(syntax, module, target):
        return True
    # import pkg.sub as m; m.sym = fake        the origin may be rebound without a word of the package
    origins = {
        origin
        for name in syntax.source.spelled(context.resolutions.origins.keys())
        for origin in context.resolutions.origins[name]
    }
    alone = replace(target, lost=frozenset(), carriers={})
    if any(binds_package(syntax, module, replace(alone, package=origin)) for origin in origins):
        return True
    if "__getattr__" in syntax.source.text or "LazyModule(" in syntax.source.text:
        return True  # it may export the symbol onward lazily
    package_all = (s for s, _ in syntax.imports if isinstance(s, ast.ImportFrom) and s.names[0].name == "__all__")
    if any(absolute(module, statement) == context.package.name for statement in package_all):
        return True
    text = syntax.source.text
    package = context.package.name
    if context.patched and ("patch" in text or "attr(" in text or ".spy(" in text):
        return True  # patch("consumer.pkg.sym") need not spell the package
    if context.faked and "sys.modules" in text:
        return True
    if "import_module" in text:
        return True  # import_module(".pkg", "parent") spells the package in two parts
    if package not in text:
        return False
    strings = _Strings(text)
    return any(strings.holds(match.start()) for match in re.finditer(rf"{re.escape(package)}(?!\w)", text))


def covered(use: AttributeUse, found: Resolution) -> bool:
    """Whether an import beside the package's own fails only where that failed already."""
    # the import that brought the package stands in a guard, or in a function: an import beside it fails where that did
    root = use.node.value
    while isinstance(root, ast.Attribute):
        root = root.value
    owner = use.use.scope.owner(root.id) if isinstance(root, ast.Name) else None
    if owner is None or not isinstance(root, ast.Name):
        return False
    blocks = [binding.block for binding in owner.bindings.get(root.id, [])]
    return all(block.when.value in ("guarded", "late", "typing") for block in blocks) and found.path_is_module


def kept_in_classes(syntax: Syntax, names: Names, context: Context) -> list[Warned]:
    """Class-level imports of the package: what reads the symbol through the class is not seen."""
    found: list[Warned] = []
    for statement, block in syntax.imports:
        for alias in statement.names if block.scope.kind == "class" else ():
            bound = block.scope.bindings.get(alias.asname or alias.name.partition(".")[0], ())
            if any(context.package.name in names.bound(binding) for binding in bound):
                reason = (
                    "the package is kept as an attribute of a class: whoever reads the symbol from there is not seen"
                )
                found.append(Warned(syntax.source.site_of(statement), str(context.resolutions[0].symbol), reason))
    return found
