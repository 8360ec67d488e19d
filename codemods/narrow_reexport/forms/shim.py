"""The shim for callers outside the tree: a PEP 562 `__getattr__` that imports a moved name late, and warns.

Owns the shim's text, its place in an `__init__`, and the reasons why a package cannot have one.
Invariant: the shim makes `import package` load nothing, binds no public name, and answers for the names of its table alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.engine.edits import edited
from codemods.engine.model import Edit, Failure, Refusal, Symbol, Warned, When
from codemods.engine.scopes import Syntax
from codemods.engine.source import NotPython, Source, decode, parse
from codemods.narrow_reexport.forms.shim_table import (
    MARKER,
    Moved,
    marked_table,
    module_getattr,
    read_shim,
    rows_of,
)

if TYPE_CHECKING:
    from codemods.narrow_reexport.resolve import Resolution

SOME_DAY = "a future version"
_SAID = "# Names that moved, each with the version in which its row is to go."
_WITHOUT = "narrow it without --shim: callers outside the tree then get an ImportError"


def plan_shim(
    syntax: Syntax, resolutions: Sequence[Resolution], removal: str, recorded: frozenset[Symbol]
) -> tuple[tuple[Moved, ...], list[Refusal], list[Warned]]:
    """The rows that a run adds, the symbols that can have none, and what is said of the others.

    `recorded` are symbols that an earlier run narrowed, perhaps without a shim: they get a row now.
    """
    rows: list[Moved] = []
    refusals: list[Refusal] = []
    warnings: list[Warned] = []
    stands = _obstacle(syntax)
    for found in resolutions:
        # a submodule is found by the import system itself
        if found.is_submodule or (found.narrowed and found.symbol not in recorded):
            continue
        if found.same_name:
            reason = (
                f"{found.symbol.name} has the name of its module, which the first import of {found.symbol.dotted} binds "
                f"in the package: from then on no __getattr__ is asked, and callers silently get the module"
            )
            hint = "narrow it without --shim, or give the module another name first"
            refusals.append(Refusal(found.site, str(found.symbol), reason, hint))
        elif stands is not None:
            node, reason, hint = stands
            refusals.append(Refusal(syntax.source.site(node.lineno), str(found.symbol), reason, hint))
        else:
            rows.append(Moved(found.symbol.name, found.origin, removal or SOME_DAY))
            if found.optional:
                reason = (
                    f"where the guarded import fails, the shim raises ImportError: "
                    f'hasattr({found.symbol.module}, "{found.symbol.name}") outside the tree no longer answers False'
                )
                warnings.append(Warned(found.site, str(found.symbol), reason))
    return tuple(rows), refusals, warnings


def with_shim(data: bytes, path: str, rows: Sequence[Moved], width: int) -> bytes | Failure:
    """The bytes of an `__init__` with these rows in its shim, which is made where there is none."""
    try:
        source = decode(data, path)
        tree = parse(source)
    except NotPython as error:
        return Failure("shim", path, f"line {error.line}: {error.reason}")
    table = marked_table(source, tree)
    style = _style(source, tree, width)
    edits = _grown(source, table, rows, style) if table is not None else _made(source, tree, rows, style)
    after = edited(source, edits)
    if isinstance(after, Failure):
        return after
    again = decode(after, path)
    try:
        written = read_shim(again, parse(again))
    except NotPython as error:
        return Failure("shim", path, f"line {error.line}: {error.reason}")
    lacking = [
        row.name
        for row in rows
        if written is None or (found := written.row(row.name)) is None or found.origin != row.origin
    ]
    return Failure("shim", path, f"the table lacks {', '.join(lacking)}") if lacking else after


# --- what stands in the way ---


def _obstacle(syntax: Syntax) -> tuple[ast.stmt, str, str] | None:
    """The statement that keeps a package from having a shim, why, and a way out."""
    tree = syntax.tree
    package_keys = ("__name__", "__package__", "__spec__.name")
    for node in ast.walk(tree):
        # sys.modules[__name__] = _LazyModule(...)
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) in ("sys.modules", "modules"):
                if ast.unparse(target.slice) in package_keys and isinstance(node, ast.Assign):
                    reason = "the package puts another object into sys.modules in its own place: no __getattr__ of the file is asked"
                    return node, reason, _WITHOUT
    shim = read_shim(syntax.source, tree)
    if shim is not None and shim.rows is None:
        where = next(statement for statement in tree.body if statement.lineno == shim.line)
        return where, "the table of the shim was changed so that it cannot be read", "mend the table first"
    bound = [b for b in syntax.module.bindings.get("__getattr__", ()) if b.block.when is not When.TYPING]
    if not bound:
        return None
    found = module_getattr(tree)
    if len(bound) == 1 and found is not None and bound[0].node is found[0] and _is_plain(syntax, found[0]):
        return None
    reason = "the package's __getattr__ is no plain function here, so that the shim cannot be put before it"
    hint = "write it as `def __getattr__(name):` at module level, or narrow without --shim"
    return bound[0].statement, reason, hint


def _is_plain(syntax: Syntax, function: ast.FunctionDef) -> bool:
    arguments = function.args
    names = [*arguments.posonlyargs, *arguments.args]
    others = arguments.vararg or arguments.kwarg or arguments.kwonlyargs or function.decorator_list
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function))
    first = function.body[0]
    own_line = not syntax.source.line(first.lineno)[: first.col_offset].strip()
    return len(names) == 1 and not others and not yields and own_line


# --- the text ---


@dataclass(frozen=True, slots=True)
class _Style:
    newline: str
    indent: str
    quote: str
    width: int

    def lines(self, *lines: str) -> str:
        """These lines, written with tabs for the indentation and double quotes, as the file writes its own."""
        text = "\n".join(lines).replace("\t", self.indent)
        return text.replace('"', self.quote).replace("\n", self.newline) + self.newline


def _style(source: Source, tree: ast.Module, width: int) -> _Style:
    inner = re.search(r"[\[({][ \t]*(?:#.*)?\r?\n([ \t]+)\S", source.text)
    indent = inner[1] if inner else "    "
    for statement in tree.body:
        body = getattr(statement, "body", None)
        if body and source.line(body[0].lineno)[: body[0].col_offset].isspace():
            indent = source.line(body[0].lineno)[: body[0].col_offset]
            break
    code = re.sub(r"\"\"\"|'''|#.*", "", source.text)
    return _Style(source.newline, indent, "'" if code.count("'") > code.count('"') else '"', width)


def _row(row: Moved, style: _Style) -> list[str]:
    parts = [f'"{part}"' for part in (row.origin.module, row.origin.name, row.removal)]
    flat = f'\t"{row.name}": ({", ".join(parts)}),'
    if len(flat) - 1 + len(style.indent) <= style.width:
        return [flat]
    return [f'\t"{row.name}": (', *(f"\t\t{part}," for part in parts), "\t),"]


def _warns(table: str, level: int) -> list[str]:
    # `__import__` with a fromlist is `from module import origin`: it finds an origin that is a submodule, too
    return [
        "\timport warnings",
        "",
        f"\tmodule, origin, removal = {table}[name]",
        "\twarnings.warn(",
        '\t\tf"{__name__}.{name} goes away in {removal}: use {module}.{origin}",',
        "\t\tDeprecationWarning,",
        f"\t\tstacklevel={level},",
        "\t)",
        "\treturn getattr(__import__(module, fromlist=[origin]), origin)",
    ]


def _made(source: Source, tree: ast.Module, rows: Sequence[Moved], style: _Style) -> list[Edit]:
    name = _free(source, "_MOVED")
    ordered = sorted(rows, key=lambda row: row.name)
    table = [MARKER, _SAID, f"{name} = {{", *(line for row in ordered for line in _row(row, style)), "}"]
    found = module_getattr(tree)
    if found is None:
        # at the end of the file:
        # def __getattr__(name: str) -> object: ...
        head = ["def __getattr__(name: str) -> object:", f"\tif name not in {name}:"]
        raises = '\t\traise AttributeError(f"module {__name__!r} has no attribute {name!r}")'
        text = style.lines(*table, "", "", *head, raises, *_warns(name, 2))
        end = len(source.text.rstrip())
        return [Edit(source.path, end, len(source.text), _gap(source, tree, end, style) + text)]
    # def __getattr__(name):         ->  def __getattr__(name):
    #     if name == "lazy": ...             if name in _MOVED: return _moved(name)
    #                                        if name == "lazy": ...
    function, outer = found
    arguments = [*function.args.posonlyargs, *function.args.args]
    helper = _free(source, "_moved")
    returns = source.text[slice(*source.span(function.returns))] if function.returns is not None else "object"
    text = style.lines(*table, "", "", f"def {helper}(name: str) -> {returns}:", *_warns(name, 3), "", "")
    start = source.starts[_above(source, outer.lineno, 1) - 1]
    end = len(source.text[:start].rstrip())
    return [
        Edit(source.path, end, start, _gap(source, tree, end, style) + text),
        _branch(
            source, function, [f"\tif {arguments[0].arg} in {name}:", f"\t\treturn {helper}({arguments[0].arg})"], style
        ),
    ]


def _branch(source: Source, function: ast.FunctionDef, lines: Sequence[str], style: _Style) -> Edit:
    first, after = function.body[0], function.lineno
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        assert first.end_lineno is not None
        after = first.end_lineno
        if len(function.body) == 1:
            end = source.span(first)[1]
            indent = source.line(first.lineno)[: first.col_offset]
            return Edit(source.path, end, end, style.newline + _indented(lines, indent, style).rstrip("\r\n"))
        first = function.body[1]
    indent = source.line(function.body[0].lineno)[: function.body[0].col_offset]
    decorators = getattr(first, "decorator_list", [])
    line = min([first.lineno, *(decorator.lineno for decorator in decorators)])
    start = source.starts[_above(source, line, after + 1) - 1]
    return Edit(source.path, start, start, _indented(lines, indent, style))


def _indented(lines: Sequence[str], indent: str, style: _Style) -> str:
    # the body's own indentation stands for the first tab
    return "".join(indent + line[1:].replace("\t", style.indent) + style.newline for line in lines)


def _above(source: Source, line: int, first: int) -> int:
    """The first line of the comments right above a statement, which go with it."""
    while line > first and source.line(line - 1).lstrip().startswith("#"):
        line -= 1
    return line


def _gap(source: Source, tree: ast.Module, end: int, style: _Style) -> str:
    """What stands between the text up to `end` and the table: a blank line after imports, two after anything else."""
    if not end:
        return ""
    last = [statement for statement in tree.body if source.span(statement)[1] <= end][-1:]
    imports = bool(last) and isinstance(last[0], (ast.Import, ast.ImportFrom)) and source.span(last[0])[1] == end
    return style.newline * (2 if imports else 3)


def _free(source: Source, wanted: str) -> str:
    """The name, or another one that the file does not spell."""
    names = [wanted, f"{wanted}{'_NAMES' if wanted.isupper() else '_name'}", *(f"{wanted}_{n}" for n in range(2, 99))]
    return next(name for name in names if not re.search(rf"\b{name}\b", source.text))


def _grown(source: Source, table: ast.Assign, rows: Sequence[Moved], style: _Style) -> list[Edit]:
    """Rows for a table that is there: each at its sorted place, the rest of the table as it is."""
    assert isinstance(table.value, ast.Dict)
    there = {row.name: row for row in rows_of(table)}
    keys = [key for key in table.value.keys if key is not None]
    new: dict[int, list[Moved]] = {}
    edits: list[Edit] = []
    for row in sorted(rows, key=lambda row: row.name):
        old = there.get(row.name)
        if old is None:
            new.setdefault(next((n for n, name in enumerate(there) if name > row.name), len(keys)), []).append(row)
        elif old.origin != row.origin:
            # the name was exported again since, from elsewhere
            start, end = source.span(table.value.values[list(there).index(row.name)])
            parts = ", ".join(f'"{part}"' for part in (row.origin.module, row.origin.name, row.removal))
            edits.append(Edit(source.path, start, end, f"({parts})".replace('"', style.quote)))
    for at, added in new.items():
        text = style.lines(*(line for row in added for line in _row(row, style))).removesuffix(style.newline)
        if not keys:
            # _MOVED = {}
            start, end = source.span(table.value)
            edits.append(Edit(source.path, start, end, f"{{{style.newline}{text}{style.newline}}}"))
            continue
        last = source.span(table.value.values[-1])[1]
        comma = re.match(r"[ \t]*,[ \t]*(?:#[^\r\n]*)?(?=[\r\n])", source.text[last:])
        if at < len(keys):
            key = source.span(keys[at])[0]
            own_line = not source.line(keys[at].lineno)[: keys[at].col_offset].strip()
            # a comment above a row stays above it
            start = source.starts[_above(source, keys[at].lineno, table.lineno + 1) - 1] if own_line else key
            edits.append(Edit(source.path, start, start, text + style.newline if own_line else f"{text.lstrip()} "))
        elif comma is not None:
            edits.append(Edit(source.path, last + comma.end(), last + comma.end(), style.newline + text))
        else:
            edits.append(Edit(source.path, last, last, "," + style.newline + text.removesuffix(",")))
    return edits
