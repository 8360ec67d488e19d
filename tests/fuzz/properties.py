"""What must hold of every random tree: refused or written, the interpreter sees no difference.

Owns the properties and the words of a failure. A tree is laid out below a scratch folder, narrowed by the pipeline in this process,
and its programs run before and after.
Invariant: a property holds or is named; a tree whose programs fail before the run is told apart and not judged.
"""

from __future__ import annotations

import ast
import difflib
import re
import shutil
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from codemods.engine.bans import FILE_NAME
from codemods.engine.config import NarrowOptions
from codemods.engine.errors import CodemodError
from codemods.narrow_reexport import pipeline
from codemods.narrow_reexport.bulk import pull_requests
from codemods.narrow_reexport.plan_io import plan_of
from codemods.narrow_reexport.request import Request, Result
from tests.fuzz.judge import Allowed, Answer, Judge, Program, compared, programs_of, works
from tests.fuzz.trees import RandomTree
from tests.narrow_reexport.verbs import contents, narrow

REWRITTEN, UNCHANGED, REFUSED, CANNOT = "rewritten", "unchanged", "refused", "cannot"
INVALID = "invalid"  # it fails before the run, so that nothing can be compared
REPAIRED = "repaired"  # a call site of a symbol that was narrowed before, and that failed or fell back
WARNED = "warned, and rightly so"  # it behaves differently, and a warning names the place


@dataclass(slots=True)
class Verdict:
    """What came of one tree. `kind` names the property that does not hold; none does where all hold."""

    outcome: str
    kind: str = ""
    details: list[str] = field(default_factory=list)
    reasons: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()  # the properties that were looked at, besides those that always are


class Broken(Exception):
    """A property that does not hold."""

    def __init__(self, kind: str, details: list[str]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.details = details


def shown(one: bytes, other: bytes) -> str:
    """Two texts as a difference."""
    sides = [side.decode("utf-8", "replace").splitlines() for side in (one, other)]
    return "\n".join(difflib.unified_diff(*sides, "wanted", "found", lineterm="", n=2))


_FLAGS = {"--accept-side-effects", "--callers-only", "--rewrite-strings", "--shim", "--strict", "--to-definition"}


def options_of(tree: RandomTree) -> NarrowOptions:
    """The options of a tree as the pipeline takes them."""
    options, left = NarrowOptions(), list(tree.options)
    while left:
        name = left.pop(0)
        if name in _FLAGS:
            options = replace(options, **{name[2:].replace("-", "_"): True})  # type: ignore[arg-type]
        elif name == "--accept":
            options = replace(options, accept=(*options.accept, left.pop(0)))
        elif name == "--exclude":
            options = replace(options, exclude=(*options.exclude, left.pop(0)))
        elif name == "--no-ban":
            options = replace(options, ban=False)
        elif name == "--shim-removal":
            options = replace(options, shim_removal=left.pop(0))
        elif name == "--keep-going":
            options = replace(options, keep_going=True)
        elif name == "--all":
            pass
        else:
            raise ValueError(name)
    return options


def request_of(tree: RandomTree, root: Path, symbols: tuple[str, ...] = ()) -> Request:
    every = "--all" in tree.options
    return Request(root, tree.package, symbols or tree.symbols, every, options_of(tree), wants_parts=True)


def judged(tree: RandomTree, scratch: Path, judge: Judge, *, depth: int = 0) -> Verdict:
    """Every property of one tree; `depth` (a number that differs from tree to tree) picks the dear ones."""
    shutil.rmtree(scratch, ignore_errors=True)
    checked: list[str] = []
    outcome = ""
    try:
        outcome, reasons = _judged(tree, scratch, judge, depth, checked)
    except Broken as broken:
        return Verdict(outcome or "?", broken.kind, broken.details, checked=tuple(checked))
    except Exception:  # noqa: BLE001  # a traceback is what we are looking for
        where = traceback.format_exc().splitlines()
        return Verdict("?", f"traceback: {where[-1][:80]}", where[-12:], checked=tuple(checked))
    return Verdict(outcome, reasons=reasons, checked=tuple(checked))


def _judged(
    tree: RandomTree, scratch: Path, judge: Judge, depth: int, checked: list[str]
) -> tuple[str, tuple[str, ...]]:
    before, after = scratch / "before", scratch / "after"
    tree.lay(before)
    request = request_of(tree, before)
    try:
        result = pipeline.run(request)
    except CodemodError as error:
        if depth % 20 == 0:
            checked.append("command")
            _command(tree, before, 3, {})
        return CANNOT, (error.detail,)
    if result.failures:
        raise Broken("exit 5", [f"{each.path}: {each}" for each in result.failures])
    if result.refusals:
        _refusals_say_where(tree, result)
        if depth % 20 == 0:
            checked.append("command")
            _command(tree, before, 4, {})
        return REFUSED, tuple(dict.fromkeys(refusal.reason for refusal in result.refusals))
    programs = programs_of(tree)
    changes = {change.path: change.after for _, own in result.changes for change in own}
    now_tree = replace(tree, files={**tree.files, **changes})
    now_tree.lay(after)
    may = allowed(tree, result, changes)
    was, now, found = compared(judge, tree, programs, before, after, may)
    if not works(was[0]["ends"][0]):
        return INVALID, (was[0]["ends"][0],)
    broken = [end for each in was for end in each["ends"] if not works(end)]
    checked += ["a module fails before and after"] if broken else []
    if found and result.warnings:
        return WARNED, tuple(dict.fromkeys(warned.reason for warned in result.warnings))
    if found and FILE_NAME in tree.files:
        return REPAIRED, (found[0],)
    if found:
        raise Broken(f"behaviour: {_how(found[0])}", found)
    _lighter(tree, result, was[0], now[0])
    _second_run(tree, after, result)
    if depth % 20 == 0:
        checked.append("command")
        _command(tree, before, 0, changes)
    if depth % 4 == 1:
        checked.append("split")
        _split(tree, result, request, scratch, judge, programs, may, depth)
    if depth % 4 == 2 and len(tree.symbols) > 1:
        checked.append("commute")
        others = _commute(tree, result, changes, scratch)
        for number, files in enumerate(others):
            # other imports than in one run: the interpreter says whether it is the same program
            checked.append("commute, other imports")
            other = scratch / f"commuted{number}"
            replace(tree, files=files).lay(other)
            _, _, found = compared(judge, tree, programs, before, other, may)
            if found:
                raise Broken("one after the other is another program", found)
    if depth % 4 == 3 and not broken:
        from tests.fuzz.guarding import guarded

        checked.append("guard")
        lazy = any(found.lazy for found in result.resolutions)
        others = guarded(tree, after, changes, {*result.inits}, linted=depth % 8 == 3, lazy=lazy)
        if others:
            checked.append("guard, other bytes")
            mended = scratch / "mended"
            replace(now_tree, files={**now_tree.files, **others}).lay(mended)
            _, _, found = compared(judge, tree, programs, before, mended, may)
            # of a name that is also a module's, or was lazy or optional, the narrowed tree cannot tell what is meant;
            # and no row is about submodules that the package had loaded
            vague = any(each.same_name or each.lazy or each.optional for each in result.resolutions)
            found = [each for each in found if not vague and "AttributeError" not in each]
            if found:
                told = [f"{path}\n{shown(changes[path], text)}" for path, text in others.items()]
                raise Broken("what the check mends behaves differently", [*found, *told])
    return (REWRITTEN if changes else UNCHANGED), ()


def _how(difference: str) -> str:
    """The kind of a difference, which a smaller tree must show, too."""
    for words in ("still listed", "still bound", "annotations", "prints", "imported ->", "done ->", "gone"):
        if words in difference:
            return words.removesuffix(" ->")
    return "another object"


def allowed(tree: RandomTree, result: Result, changes: dict[str, bytes], *, narrowed: bool = True) -> Allowed:
    """What may be otherwise after this run."""
    names = {path: tree.module_at(path) for path in tree.files if path.endswith(".py")}
    symbols = frozenset(found.symbol.name for found in result.resolutions)
    starring = {names[path] for path, data in tree.files.items() if path in names and b"import *" in data}
    kept = {"--callers-only", "--shim"} & {*tree.options}
    lazy = any("__getattr__ will be asked" in warned.reason for warned in result.warnings)
    return Allowed(
        tree.package,
        symbols,
        frozenset(names[path] for path in changes if path in names),
        frozenset(starring),
        frozenset(name for _, dropped in result.dropped for name in dropped),
        narrowed and not kept and not lazy,
        tuple((found.symbol.dotted, found.origin.dotted) for found in result.resolutions),
    )


def _refusals_say_where(tree: RandomTree, result: Result) -> None:
    for refusal in result.refusals:
        data = tree.files.get(refusal.site.path)
        if data is None or not 1 <= refusal.site.line <= data.count(b"\n") + data.count(b"\r") + 1:
            raise Broken("a refusal without a place", [f"{refusal.site.path}:{refusal.site.line}: {refusal.reason}"])
        if not refusal.reason or not refusal.hint:
            raise Broken("a refusal without a way out", [f"{refusal.site.path}:{refusal.site.line}: {refusal.reason}"])


def _lighter(tree: RandomTree, result: Result, was: Answer, now: Answer) -> None:
    more = {*now["loaded"]} - {*was["loaded"]}
    if more:
        raise Broken("the package loads more", sorted(more))
    still = {each.origin for each in result.still}
    if "--callers-only" in tree.options or not any(own for _, own in result.changes):
        return
    for found in result.resolutions:
        if any(b"import_module" in data or b"__import__" in data for data in tree.files.values()):
            return  # the chain that the run tells is one of import statements
        if found.loads in now["loaded"] and found.loads not in still and not tree.package.startswith(f"{found.loads}."):
            if found.loads != tree.package:
                raise Broken("the origin is still loaded, and nobody says so", [found.loads])


def _second_run(tree: RandomTree, after: Path, result: Result) -> None:
    try:
        again = pipeline.run(request_of(tree, after))
    except CodemodError as error:
        raise Broken("a second run cannot", [str(error.detail)]) from error
    if again.refusals:
        raise Broken("a second run refuses", [f"{r.site.path}:{r.site.line}: {r.reason}" for r in again.refusals])
    if again.failures:
        raise Broken("a second run: exit 5", [str(each) for each in again.failures])
    changed = [change.path for _, own in again.changes for change in own]
    if changed:
        raise Broken("a second run changes files", changed)


def _command(tree: RandomTree, root: Path, code: int, changes: dict[str, bytes]) -> None:
    """The command as a person runs it: exit code, what it says, what it leaves behind. Twice."""
    before = contents(root)
    arguments = (tree.package, *tree.symbols, *tree.options)
    outcome = narrow(root, *arguments)
    if outcome.code != code:
        raise Broken(f"the command exits {outcome.code}, the pipeline {code}", outcome.text.splitlines()[-10:])
    if "Traceback" in outcome.text:
        raise Broken("the command prints a traceback", outcome.text.splitlines()[-10:])
    if code == 4 and not re.search(r"[^\s:]+:\d+: refused: ", outcome.text):
        raise Broken("a refusal without file and line", outcome.text.splitlines()[-10:])
    found = contents(root)
    if found != {**before, **changes}:
        wrong = sorted(path for path in {*found, *before} if found.get(path) != {**before, **changes}.get(path))
        raise Broken("the command leaves other files than the pipeline plans", wrong)


# --- commuting ---


def _commute(tree: RandomTree, result: Result, changes: dict[str, bytes], scratch: Path) -> list[dict[str, bytes]]:
    """Narrow the symbols one after the other, in both orders; the trees whose syntax is not that of the run in one go."""
    whole = {**tree.files, **changes}
    others: list[dict[str, bytes]] = []
    for number, order in enumerate((tree.symbols, tree.symbols[::-1])):
        root = scratch / f"order{number}"
        tree.lay(root)
        files = dict(tree.files)
        for symbol in order:
            try:
                step = pipeline.run(request_of(tree, root, (symbol,)))
            except CodemodError as error:
                raise Broken("one after the other: cannot", [f"{order}: {symbol}: {error.detail}"]) from error
            if step.refusals:
                told = [f"{r.site.path}:{r.site.line}: {r.reason}" for r in step.refusals]
                raise Broken("one after the other: refused", [f"{order}: {symbol}", *told])
            if step.failures:
                raise Broken("one after the other: exit 5", [str(each) for each in step.failures])
            for _, own in step.changes:
                for change in own:
                    files[change.path] = change.after
                    (root / change.path).write_bytes(change.after)
        if not all(same_program(path, files.get(path, b""), whole.get(path, b"")) for path in {*whole, *files}):
            others.append(files)
    return others


def same_program(path: str, one: bytes, other: bytes) -> bool:
    """The same syntax tree, up to the order of imports that stand together."""
    if one == other:
        return True
    if not path.endswith((".py", ".pyi")):
        return sorted(one.split()) == sorted(other.split())
    try:
        return _shape(ast.parse(one)) == _shape(ast.parse(other))
    except SyntaxError:
        return False


def _shape(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and any(isinstance(each, (ast.Import, ast.ImportFrom)) for each in block):
                setattr(node, name, list(_sorted_imports(block)))
    return ast.dump(tree)


def _sorted_imports(block: list[ast.stmt]) -> Iterator[ast.AST]:
    run: set[str] = set()
    for each in [*block, None]:
        if isinstance(each, ast.Import):
            run |= {f"import {alias.name} as {alias.asname}" for alias in each.names}
        elif isinstance(each, ast.ImportFrom):
            run |= {f"from {'.' * each.level}{each.module} import {a.name} as {a.asname}" for a in each.names}
        else:
            if run:
                run = {row for row in run if not any(other.startswith(f"{row[:-8]}.") for other in run)}  # pkg, pkg.sub
                yield ast.Constant("\n".join(sorted(run)))
                run = set()
            if each is not None:
                yield each


# --- parts ---


def _split(
    tree: RandomTree,
    result: Result,
    request: Request,
    scratch: Path,
    judge: Judge,
    programs: list[Program],
    may: Allowed,
    depth: int,
) -> None:
    """Every prefix of an order of the parts keeps all programs running; the whole is the run in one go."""
    if not any(own for _, own in result.changes):
        return
    plan = plan_of(result, request)
    way = ("count:9", "count:2", "directory", "package")[depth // 4 % 4]
    parts = pull_requests(plan, request.root, way)
    free = [part for part in parts if not part.last]
    turn = depth // 16
    ordered = [free.pop((turn + at) % len(free)) for at in range(len(free))] + [part for part in parts if part.last]
    stage = scratch / "stage"
    tree.lay(stage)
    files = dict(tree.files)
    for number, part in enumerate(ordered):
        for change in part.changes:
            if files.get(change.path, b"") != change.before:
                raise Broken("a part was made for other text", [part.name, change.path])
            files[change.path] = change.after
            (stage / change.path).write_bytes(change.after)
        if number < len(ordered) - 1 and number < 3:
            _, _, found = compared(judge, tree, programs, scratch / "before", stage, replace(may, narrowed=False))
            if found:
                raise Broken("a prefix of the parts behaves differently", [f"after {part.name}", *found])
    whole = {**tree.files, **{change.path: change.after for _, own in result.changes for change in own}}
    wrong = sorted(path for path in {*whole, *files} if path != FILE_NAME and whole.get(path) != files.get(path))
    if wrong:
        raise Broken("the parts are not the whole", wrong)
