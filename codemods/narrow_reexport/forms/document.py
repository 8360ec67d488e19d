"""Files that are not Python code on disk: settings, notebooks, Cython, documents, scripts, doctests.

Owns the verdict on each place where they name a symbol through its package. What is resolved or run is a refusal (a
setting that is exactly the path, an entry point, a notebook cell, a Cython import), an import shown in a document a
warning, all else a mention.
Invariant: it edits none of them (that comes later), never gives one place two verdicts, and passes over none.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codemods.engine.bans import FILE_NAME
from codemods.engine.model import Mention, Refusal, Site, Warned
from codemods.narrow_reexport.forms.reflection import TextPlan, accepts
from codemods.narrow_reexport.resolve import Resolution

_Wanted = Mapping[str, Resolution]  # by the symbol's name
_Taken = tuple[re.Match[str], list[str]]

_SETTINGS = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
_SHOWN = (".md", ".rst", ".txt")
_CYTHON = (".pyx", ".pxd", ".pxi")

_MENTION, _WARNING, _REFUSAL = range(3)
_NEWLINE = re.compile(r"\r\n|\r|\n")
# from pkg import (a, sym)      from pkg import a, \        from . cimport sym
_IMPORT = re.compile(
    r"\bfrom[ \t]+(?P<module>\.*[\w.]*)[ \t]*\b(?P<how>c?import)\b[ \t]*"
    r"(?P<names>\((?:[^()#]|\#[^\n]*)*\)|(?:[^\n;\\]|\\\r?\n)*)"
)


def judge_document(
    path: str, data: bytes, resolutions: Sequence[Resolution], accepted: frozenset[tuple[str, int]]
) -> TextPlan:
    """Verdicts on one file that is not Python, and on the entry points of a `setup.py`."""
    wanted = {found.symbol.name: found for found in resolutions if not found.is_submodule}
    if not wanted or f"/{path}".endswith(f"/{FILE_NAME}"):  # our own rows are no mention of the symbol
        return TextPlan()
    page = _Page(path, data.decode("utf-8", "replace"), resolutions[0].symbol.module, wanted)
    if path.endswith(".py"):
        _entry_points(page)
        return page.settled(accepted)
    if path.endswith(".ipynb"):
        _notebook(page)
    _imports(page)
    _dotted(page)
    _aliased(page)
    return page.settled(accepted)


def doctest_sites(text: str, first_line: int, resolutions: Sequence[Resolution]) -> list[tuple[int, str, bool]]:
    """What the examples of a docstring read through the package: (line, symbol, whether an import statement does).

    `first_line` is the line on which the string starts.
    """
    moved = (found for found in resolutions if not found.is_submodule and not (found.narrowed and found.same_name))
    wanted = {found.symbol.name: found for found in moved}
    if ">>>" not in text or not any(name in text for name in wanted):
        return []
    package = resolutions[0].symbol.module
    reads, broken = _reads_of(_examples_of(text, first_line), package, wanted)
    sites = {(read.line, str(wanted[read.name].symbol), read.is_import) for read in reads}
    for snippet in broken:
        # an example that does not parse is looked at as text
        for match, names in _import_matches(snippet.code, package, wanted):
            line = snippet.at(snippet.code.count("\n", 0, match.start()) + 1)
            sites |= {(line, str(wanted[name].symbol), True) for name in names}
    return sorted(sites)


@dataclass(frozen=True, slots=True)
class _Verdict:
    weight: int
    reason: str = ""
    hint: str = ""
    last: int = 0  # the last line of the statement: an accept comment may stand on any of them


_CYTHON_READ = _Verdict(
    _REFUSAL, "Cython code reads the symbol through the package", "edit it by hand, or accept the site"
)


@dataclass(slots=True)
class _Page:
    """One file and what was found in it."""

    path: str
    text: str
    package: str
    wanted: _Wanted
    verdicts: dict[tuple[int, str], _Verdict] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def row(self, line: int) -> str:
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")

    def put(self, line: int, name: str, verdict: _Verdict) -> None:
        """Keep the gravest verdict of a place."""
        old = self.verdicts.get((line, name))
        if verdict.weight == _REFUSAL and self.wanted[name].narrowed and self.wanted[name].same_name:
            verdict = _Verdict(_MENTION)  # by now the path is the module, and means it
        if old is None or verdict.weight > old.weight:
            self.verdicts[line, name] = verdict

    def settled(self, accepted: frozenset[tuple[str, int]]) -> TextPlan:
        plan = TextPlan()
        for (line, name), verdict in sorted(self.verdicts.items(), key=lambda item: item[0]):
            lines = range(line, max(line, verdict.last) + 1)
            if any((self.path, each) in accepted or accepts(self.row(each)) for each in lines):
                continue
            site = Site(self.path, line, 0, self.row(line).strip()[:160])
            symbol = str(self.wanted[name].symbol)
            if verdict.weight == _REFUSAL:
                plan.refusals.append(Refusal(site, symbol, verdict.reason, verdict.hint))
            elif verdict.weight == _WARNING:
                plan.warnings.append(Warned(site, symbol, verdict.reason))
            else:
                plan.mentions.append(Mention(site, symbol))
        return plan


# --- the forms ---


def _entry_points(page: _Page) -> None:
    # "run = pkg:sym [extra]"      in a list of setup(), or on a line of a longer string
    pattern = rf"(?:^|[\"'])[ \t]*[\w.\- ]+=[ \t]*{re.escape(page.package)}:(?P<name>{_names(page)})\b(?:\.\w+)*"
    for match in re.finditer(rf"{pattern}[ \t]*(?:\[[\w, \t]*\])?[ \t]*(?:[\"']|$)", page.text, re.M):
        reason = f"an entry point names {page.package}:{match['name']}, which is resolved when it is used"
        hint = "change it by hand to the origin, or accept the site"
        page.put(page.line_of(match.start("name")), match["name"], _Verdict(_REFUSAL, reason, hint))


def _notebook(page: _Page) -> None:
    # "from pkg import (\n", "    sym)"        "import pkg as p\n", "p.sym(2)"
    cells = _cells_of(page.text)
    reads, broken = _reads_of(cells or [], page.package, page.wanted)
    hint, maybe = "change the cell by hand, or accept the site", "a notebook may read the symbol through the package"
    for read in reads:
        sure = _Verdict(_REFUSAL, "a notebook reads the symbol through the package", hint, read.last)
        page.put(read.line, read.name, sure if read.sure else _Verdict(_WARNING, maybe, last=read.last))
    # magics, cells that do not parse, a file that is no notebook: as text
    rows = {line for cell in broken for line in cell.lines} if cells is not None else None
    spelled = [(match.start(), match["name"]) for match in (*_dotted_matches(page), *_aliased_matches(page))]
    taken = _import_matches(page.text, page.package, page.wanted)
    for at, name in (*spelled, *((match.start(), name) for match, names in taken for name in names)):
        if rows is None or page.line_of(at) in rows:
            page.put(page.line_of(at), name, _Verdict(_WARNING, maybe))


def _imports(page: _Page) -> None:
    cython = page.path.endswith(_CYTHON)
    for match, names in _import_matches(page.text, page.package, page.wanted, _package_of(page) if cython else ""):
        line, last = page.line_of(match.start()), page.line_of(match.end("names"))
        verdict = _Verdict(_MENTION, last=last)
        if cython and match["how"] == "import" and page.row(line).lstrip().startswith("from"):
            # from pkg import sym           in a .pyx; a `cimport` asks the .pxd, which stays
            verdict = replace(_CYTHON_READ, last=last)
        elif page.path.endswith(_SHOWN):
            reason = "a document shows an import through the package, which will fail for whoever copies it"
            verdict = _Verdict(_WARNING, reason, last=last)
        for name in names:
            page.put(line, name, verdict)


def _dotted(page: _Page) -> None:
    settings, cython = page.path.endswith(_SETTINGS), page.path.endswith(_CYTHON)
    imports = cython and re.search(rf"^[ \t]*import[ \t]+{re.escape(page.package)}\b", page.text, re.M) is not None
    for match in _dotted_matches(page):
        line = page.line_of(match.start())
        column = match.start() - page.starts[line - 1]
        before, after = page.row(line)[:column], page.row(line)[column + len(match[0]) :]
        verdict = _Verdict(_MENTION)
        if settings and _is_value(before, after):
            # key = "pkg:sym"      - pkg.sym
            kind = "an entry point or setting" if page.path.endswith((".toml", ".cfg")) else "a setting"
            reason = f"{kind} names {match[0]}, which is resolved when it is used"
            verdict = _Verdict(_REFUSAL, reason, "change it by hand to the origin, or accept the site")
        elif imports and "." in match["sep"] and "#" not in before and before.count('"') % 2 == 0:
            # import pkg            pkg.sym(x)
            verdict = _CYTHON_READ
        page.put(line, match["name"], verdict)


def _aliased(page: _Page) -> None:
    # import pkg as p            p.sym(x)
    for match in _aliased_matches(page):
        line = page.line_of(match.start())
        sure = page.path.endswith(_CYTHON) and "#" not in page.row(line)
        page.put(line, match["name"], _CYTHON_READ if sure else _Verdict(_MENTION))


# --- the places, as text ---


def _names(page: _Page) -> str:
    return "|".join(sorted(map(re.escape, page.wanted), key=len, reverse=True))


def _import_matches(text: str, package: str, wanted: _Wanted, here: str = "") -> Iterator[_Taken]:
    """Each import statement from the package, and the symbols that it takes; relative ones start from `here`."""
    for match in _IMPORT.finditer(text):
        module = match["module"]
        dots = len(module) - len(module.lstrip("."))
        if dots:
            parts = here.split(".") if here else []
            kept = parts[: len(parts) - dots + 1] if len(parts) >= dots else []
            module = ".".join([*kept, module[dots:]] if module[dots:] else kept)
        if module == package:
            names = re.sub(r"#[^\n]*", "", match["names"]).strip("( \t").split(",")
            first = (re.match(r"[\s.>\\|]*(\w+)", item) for item in names)
            yield match, [found[1] for found in first if found and found[1] in wanted]


def _dotted_matches(page: _Page) -> Iterator[re.Match[str]]:
    pattern = rf"(?<![\w.]){re.escape(page.package)}(?P<sep>[.:])(?P<name>{_names(page)})\b(?P<tail>(?:\.\w+)*)"
    for match in re.finditer(pattern, page.text):
        if match["sep"] == ":" or not page.wanted[match["name"]].same_name or not _is_module(page, match):
            yield match


def _is_module(page: _Page, match: re.Match[str]) -> bool:
    # pkg.f.f      from pkg.f import f      import pkg.f      python -m pkg.f     all of them the module of that name
    line = page.line_of(match.start())
    before = page.row(line)[: match.start() - page.starts[line - 1]]
    if match["tail"] or re.search(r"(?:\bfrom|(?<!\w)-m)[ \t]+\Z", before):
        return True
    return re.search(r"\bc?import[ \t]+\Z", before) is not None and not re.match(
        r"[ \t]+as\b", page.text[match.end() :][:9]
    )


def _aliased_matches(page: _Page) -> Iterator[re.Match[str]]:
    parent, _, leaf = map(re.escape, page.package.rpartition("."))
    aliases = set(re.findall(rf"\bimport[ \t]+{re.escape(page.package)}[ \t]+as[ \t]+(\w+)", page.text))
    if parent:
        taken = re.finditer(rf"\bfrom[ \t]+{parent}[ \t]+import\b[^\n;]*?\b{leaf}\b(?:[ \t]+as[ \t]+(\w+))?", page.text)
        aliases |= {match[1] or leaf for match in taken}
    if aliases:
        pattern = rf"(?<![\w.])(?:{'|'.join(sorted(aliases))})\.(?P<name>{_names(page)})\b(?P<tail>(?:\.\w+)?)"
        for match in re.finditer(pattern, page.text):
            if not (match["tail"] and page.wanted[match["name"]].same_name):
                yield match


def _is_value(before: str, after: str) -> bool:
    """Whether what stands between is a whole value of a setting, not part of a sentence or a longer path."""
    if before.lstrip().startswith(("#", ";")):
        return False
    if re.search(r"[\w.:/-]\Z", before.rstrip("\"' ")) and re.search(r"[=:,\[({-]\s*[\"']?\Z", before) is None:
        return False
    return re.match(r"[\"']?\s*(?:[,\]})#]|\[|\Z)", after) is not None


def _package_of(page: _Page) -> str:
    """The package that a Cython file lies in, told from where the target package lies."""
    folders = next(iter(page.wanted.values())).site.path.split("/")[:-1]
    top = folders[: len(folders) - page.package.count(".") - 1]
    parts = page.path.split("/")[:-1]
    return ".".join(parts[len(top) :]) if parts[: len(top)] == top else ""


# --- the places, as code ---


@dataclass(frozen=True, slots=True)
class _Snippet:
    code: str
    lines: tuple[int, ...]  # for each line of the code, its line in the file

    def at(self, line: int) -> int:
        return self.lines[min(line, len(self.lines)) - 1]


@dataclass(frozen=True, slots=True)
class _Read:
    line: int
    last: int
    name: str
    is_import: bool
    sure: bool  # the name in front is the package, and nothing else


def _cells_of(text: str) -> list[_Snippet] | None:
    """The code cells of a notebook, with the lines of their pieces in the JSON; None if it is no notebook."""
    try:
        cells = json.loads(text)["cells"]
        sources = [(cell["cell_type"] == "code", cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    found: list[_Snippet] = []
    at, line, counted = 0, 1, 0
    for is_code, source in sources:
        at = max(at, text.find('"source"', at))
        pieces = source if isinstance(source, list) else [source]
        rows: list[int] = []
        for piece in map(str, pieces):
            spelled = (json.dumps(piece, ensure_ascii=False), json.dumps(piece))
            at = next((place for each in spelled if (place := text.find(each, at)) >= 0), at)
            line, counted = line + text.count("\n", counted, at), at
            rows += [line] * (piece.count("\n") + (not piece.endswith("\n")))
        if is_code:
            found.append(_Snippet("".join(map(str, pieces)), (*rows, line)))
    return found


def _examples_of(text: str, first_line: int) -> list[_Snippet]:
    """The doctest examples of a docstring, each a statement with its continuation lines."""
    found: list[_Snippet] = []
    for number, row in enumerate(text.split("\n"), first_line):
        prompt = re.match(r"[ \t]*(>>>|\.\.\.)(?: |\Z)", row.rstrip("\r"))
        if prompt is None:
            continue
        code = row[prompt.end() :] + "\n"
        if prompt[1] == ">>>":
            found.append(_Snippet(code, (number,)))
        elif found and found[-1].lines[-1] == number - 1:
            found[-1] = _Snippet(found[-1].code + code, (*found[-1].lines, number))
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


def _reads_of(snippets: Sequence[_Snippet], package: str, wanted: _Wanted) -> tuple[list[_Read], list[_Snippet]]:
    """What snippets that run one after the other read of the package; beside it, those that hold more than Python."""
    nodes: list[tuple[_Snippet, ast.AST]] = []
    odd: list[_Snippet] = []
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
    reads: list[_Read] = []
    for each, node in nodes:
        for name, sure in _read(node, package, wanted, aliases, others):
            assert isinstance(node, (ast.stmt, ast.expr))
            last = each.at(node.end_lineno or node.lineno)
            reads.append(_Read(each.at(node.lineno), last, name, isinstance(node, ast.stmt), sure))
    return reads, odd


def _read(
    node: ast.AST, package: str, wanted: _Wanted, aliases: Mapping[str, str], others: set[str]
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
