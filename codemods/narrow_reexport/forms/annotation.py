"""`def f(x: "pkg.Sym")`, `cast("pkg.Sym", v)`, `# type: pkg.Sym`: types written as text.

Owns the code inside type strings: it is parsed, and its nodes get the positions of the file, so that they are
references like all others.
Invariant: a string is a type only by its place (annotation, typing call, type comment), never by its looks.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from codemods.engine.references import UNKNOWN, AttributeUse, LostModule, Names
from codemods.engine.scopes import Syntax, Use, last_name

_COMMENT = re.compile(r"#[ \t]*type:[ \t]*(?!ignore\b)([^#\r\n]+)")
_TYPING_CALLS = {"cast": (0,), "NewType": (1,), "TypeVar": (1, 2, 3, 4, 5, 6, 7, 8), "ForwardRef": (0,)}
_SIMPLE = re.compile(r"""(?:[uUrR]?)(?P<quote>"|')(?P<body>[^\\\n]*)(?P=quote)\Z""")


@dataclass(slots=True)
class TypeStrings:
    """References inside type strings and type comments; strings whose references cannot be cut out exactly; how many
    references each string (by id) holds."""

    found: list[AttributeUse] = field(default_factory=list)
    lost: list[LostModule] = field(default_factory=list)
    unclear: list[Use] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)


def type_strings(syntax: Syntax, names: Names, wanted: frozenset[str]) -> TypeStrings:
    """Look into each string and comment that is a type by its place."""
    result = TypeStrings()
    found, unclear = result.found, result.unclear
    leaves = {name.rpartition(".")[2] for name in names.target.lost}
    source = syntax.source
    for use in typed_strings(syntax):
        value = use.node.value if isinstance(use.node, ast.Constant) else None
        if not isinstance(value, str) or not any(name in value for name in (*wanted, *leaves)):
            continue
        inner = _parsed(value)
        if inner is None:
            continue
        result.lost += _lost(inner, use, names)
        hits = _hits(inner, use, names, wanted)
        if not hits:
            continue
        start, end = source.span(use.node)
        match = _SIMPLE.match(source.text[start:end])
        if match is None or match["body"] != value:
            unclear.append(use)
            continue
        _shift(
            inner,
            use.node.lineno - 1,
            use.node.col_offset + len(source.text[start : start + match.start("body")].encode()) - 1,
        )
        found += hits
        result.counts[id(use.node)] = len(hits)
    for match in _COMMENT.finditer(source.text):
        # x = []  # type: list[pkg.Sym]
        if not any(name in match[1] for name in wanted):
            continue
        line = source.line_of(match.start())
        tree = _function_type(match[1].strip()) or _parsed(match[1].strip())
        if tree is None or not any(
            token in source.line(line)[: match.start() - source.starts[line - 1]]
            for token in ("=", ":", "(", ",", "with", "for")
        ):
            continue
        use = Use(
            ast.Constant(match[1]),
            syntax.module,
            syntax.body,
            syntax.tree.body[0] if syntax.tree.body else ast.Pass(),
            None,
            True,
            False,
            syntax.tree,
        )
        column = len(source.text[source.starts[line - 1] : match.start(1)].encode())
        hits = _hits(tree, use, names, wanted)
        _shift(tree, line - 1, column - (0 if isinstance(tree, ast.FunctionType) else 1))
        found += hits
    return result


def typed_strings(syntax: Syntax) -> list[Use]:
    """Strings that are types by their place: in annotations, and as arguments of `cast`, `TypeVar`, `NewType`."""
    found = [use for use in syntax.strings if use.annotation and use.fstring is None]
    for use in syntax.calls:
        call = use.node
        assert isinstance(call, ast.Call)
        name = last_name(call.func)
        positions = _TYPING_CALLS.get(name)
        if positions is None:
            continue
        parts = [call.args[at] for at in positions if at < len(call.args)]
        parts += [keyword.value for keyword in call.keywords if keyword.arg in ("bound", "default", "typ", "tp")]
        nodes = {id(part) for part in parts}
        found += [other for other in syntax.strings if id(other.node) in nodes and not other.annotation]
    return found


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _function_type(text: str) -> ast.AST | None:
    # def f(a, b):
    #     # type: (int, pkg.Sym) -> None
    if not text.startswith("(") or "->" not in text:
        return None
    try:
        return ast.parse(text, mode="func_type")
    except (SyntaxError, ValueError):
        return None


def _hits(inner: ast.AST, use: Use, names: Names, wanted: frozenset[str]) -> list[AttributeUse]:
    hits: list[AttributeUse] = []
    # "pkg.f.f": what is read of pkg.f tells the module f from the symbol
    longer = {id(node.value): node for node in ast.walk(inner) if isinstance(node, ast.Attribute)}
    for node in ast.walk(inner):
        if isinstance(node, ast.Attribute) and node.attr in wanted:
            bases = names.modules(node.value, use.scope)
            if names.target.package in bases:
                parent = longer.get(id(node), use.parent)
                around = Use(node, use.scope, use.block, use.statement, None, True, False, parent)
                hits.append(AttributeUse(around, node.attr, bases - {UNKNOWN} == bases))
    return hits


def _lost(inner: ast.AST, use: Use, names: Names) -> list[LostModule]:
    hits: list[LostModule] = []
    for node in ast.walk(inner):
        if isinstance(node, ast.Attribute):
            for base in names.modules(node.value, use.scope) - {UNKNOWN}:
                hidden = base == names.target.package and node.attr in names.target.hidden
                if f"{base}.{node.attr}" in names.target.lost and not hidden:
                    around = Use(node, use.scope, use.block, use.statement, None, True, False, use.parent)
                    hits.append(LostModule(around, f"{base}.{node.attr}"))
    return hits


def _shift(inner: ast.AST, lines: int, columns: int) -> None:
    for node in ast.walk(inner):
        if isinstance(node, ast.expr):
            node.lineno += lines
            node.end_lineno = (node.end_lineno or node.lineno) + lines
            node.col_offset += columns
            node.end_col_offset = (node.end_col_offset or 0) + columns
