"""Code in strings: `exec("from pkg import sym")`, `[sys.executable, "-c", "import pkg; pkg.sym()"]`.

Owns the question whether a string holds code that reads the symbol, and the way from the plan of that code to the file.
Invariant: a string is rewritten only if each character of the code has one place in the file, and the new code parses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codemods.engine.edits import apply
from codemods.engine.model import Edit, Warned
from codemods.engine.scopes import Syntax, Use, last_name
from codemods.narrow_reexport.context import Context, FilePlan
from codemods.narrow_reexport.forms.literal import literal_at
from codemods.narrow_reexport.forms.snippet import parsed
from codemods.narrow_reexport.resolve import Resolution

Planner = Callable[[str, bytes, Context], FilePlan]  # the one that plans a file of code
_RUNNERS = {"exec", "eval", "compile"}
_STARTERS = _RUNNERS | {
    "run",
    "Popen",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "communicate",
    "create_subprocess_exec",
}


@dataclass(frozen=True, slots=True)
class Rewriter:
    """What it takes to rewrite strings: who plans code, and which lines a person takes on."""

    context: Context
    plan: Planner
    accepts: Callable[[int], bool]

    def code(self, syntax: Syntax, use: Use) -> tuple[list[Edit], list[Warned]] | None:
        """The edits that narrow the code in a string; None where there is no safe way to write them."""
        start, end = syntax.source.span(use.node)
        literal = literal_at(syntax.source.text, start, end, str(use.node.value))  # type: ignore[attr-defined]
        laid_out = _dedented(literal.value, literal.marks) if literal is not None else None
        if literal is None or laid_out is None:
            return None
        code, marks, margin = laid_out
        own = replace(
            self.context, accepted=frozenset(), width=self.context.width if len(literal.quote) == 3 else 10_000
        )
        beside = f"{syntax.source.path.rpartition('/')[0]}/__text__.py".lstrip("/")
        found = self.plan(beside, code.encode("utf-8", "replace"), own)
        if found.refusals or not found.edits or parsed(apply(code, found.edits)) is None:
            return None
        edits: list[Edit] = []
        for edit in found.edits:
            text = literal.spelled(edit.text.replace("\n", f"\n{margin}"), syntax.source.newline)
            if text is None:
                return None
            edits.append(Edit(syntax.source.path, marks[edit.start], marks[edit.end], text))
        site = syntax.source.site_of(use.node)
        return edits, [Warned(site, warned.symbol, warned.reason) for warned in found.warnings]


def symbols_in_code(use: Use, value: str, resolutions: Sequence[Resolution]) -> list[Resolution]:
    """The symbols that code in a string imports or reads through the package."""
    return [found for found in resolutions if not found.is_submodule and _reads(use, value, found)]


def is_prose(use: Use, value: str) -> bool:
    """Whether a string that shows an import is no code by itself, nor made into some where it stands."""
    # raise AttributeError(dedent("""Use this instead: from pkg import sym"""))
    if isinstance(use.parent, (ast.BinOp, ast.Attribute)) or re.search(r"[{%]", value):
        return False  # a template
    return _dedented(value, tuple(range(len(value) + 1))) is None


def is_run_later(syntax: Syntax, use: Use) -> bool:
    """Whether the name that keeps the string is handed to something that runs code or starts a program."""
    # CODE = "from pkg import sym"      subprocess.run([sys.executable, "-c", CODE])      program.communicate(CODE)
    kept = use.parent.targets if isinstance(use.parent, ast.Assign) else []
    names = {target.id: use.scope.owner(target.id) for target in kept if isinstance(target, ast.Name)}
    for call in syntax.calls if names else ():
        assert isinstance(call.node, ast.Call)
        if last_name(call.node.func) in _STARTERS:
            given = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
            for node in (part for each in given for part in ast.walk(each)):
                if isinstance(node, ast.Name) and node.id in names and call.scope.owner(node.id) is names[node.id]:
                    return True
    return False


def _reads(use: Use, value: str, found: Resolution) -> bool:
    package, name = re.escape(found.symbol.module), re.escape(found.symbol.name)
    if found.symbol.name not in value:
        return False
    # exec("from pkg import sym")
    if re.search(rf"\bfrom\s+{package}\s+import\b[^;\n]*\b{name}\b", value):
        return True
    if re.search(rf"\bfrom\s+{package}\s+import\s*\((?:[^()#]|#[^\n]*)*\b{name}\b", value):
        return True
    if not re.search(rf"(?<![\w.]){package}[.:]{name}\b", value):
        return False
    # eval("pkg.sym(1)")        run([sys.executable, "-c", "import pkg; pkg.sym(1)"])
    module = found.same_name and re.search(rf"(?<![\w.]){package}\.{name}\b(?!\.\w)", value) is None
    imports = re.search(rf"\bimport\s[^\n;]*(?<![\w.]){package}\b", value) is not None
    return _runs(use) or (imports and not module and _dedented(value, tuple(range(len(value) + 1))) is not None)


def _runs(use: Use) -> bool:
    call = use.parent if isinstance(use.parent, ast.Call) else None
    name = call.func.id if call is not None and isinstance(call.func, ast.Name) else ""
    return name in _RUNNERS


def _dedented(value: str, marks: tuple[int, ...]) -> tuple[str, tuple[int, ...], str] | None:
    """The code without the margin that all its lines share, with the places of its characters; None if it is no code."""
    if parsed(value) is not None:
        return value, marks, ""
    rows = value.split("\n")
    filled = [row for row in rows if row.strip()]
    indents = [row[: len(row) - len(row.lstrip(" \t"))] for row in filled]
    margin = min(indents, key=len, default="")
    if not margin or any(not indent.startswith(margin) for indent in indents):
        return None
    code: list[str] = []
    kept: list[int] = []
    at = 0
    for row in rows:
        skipped = len(margin) if row.strip() else len(row)
        code.append(row[skipped:])
        kept += marks[at + skipped : at + len(row) + 1]
        at += len(row) + 1
    text = "\n".join(code)
    return (text, tuple(kept), margin) if parsed(text) is not None else None
