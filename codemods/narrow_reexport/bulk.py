"""A plan ships in parts: what each part says, and where the parts go.

Owns the words of a part (title, body), and the way from a plan to a plan file, patches or branches.
Invariant: all parts together are the plan; the last one, which removes the re-exports, needs the others.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from codemods.engine import project
from codemods.engine.bans import BASELINE, FILE_NAME
from codemods.engine.clock import Clock
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import FileChange
from codemods.engine.pull_request import PullRequest, short
from codemods.engine.report import counted
from codemods.narrow_reexport.effects import load_lines
from codemods.narrow_reexport.guard_first import guard_changes
from codemods.narrow_reexport.landing import NOT_RUN, deliver
from codemods.narrow_reexport.numbered import CALL_SITES, GUARD, REMOVAL, WHOLE, numbered
from codemods.narrow_reexport.plan_io import Moved, Plan, PlannedPart, changes_of, encode

TEMPLATE = "{title}\n\n{body}"
_RECORD = "record"
FROM_SHIMS = "from_shims"  # what a plan says besides the options: see `Result.asked`
_SHOWN = 40  # sites that one body lists


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to become of a plan."""

    plan_out: str = ""
    split: str = ""
    patches: str = ""
    branches: str = ""
    author: str = ""
    template: str = TEMPLATE
    sign_off: bool = False
    guard_first: bool = False
    verbose: bool = False  # say how long each part took
    open_with: str = ""  # gh, glab, or auto: by the address of the remote
    remote: str = ""
    base: str = ""
    at_most: int = 0
    dry_run: bool = False
    command: str = ""  # that makes the branches, for a dry run to show
    verify: str = ""
    verify_timeout: float = 0.0
    tell: Callable[[Sequence[str], str], None] = lambda lines, kind: None  # kind: out, err, or problem, as it comes


def ship(plan: Plan, root: Path, wishes: Wishes) -> tuple[list[str], int]:
    """Do what is wished for; says what was done, and the exit code. Raises CodemodError, and then nothing is left half done."""
    said: list[str] = []
    ships = bool(wishes.split or wishes.patches or wishes.branches)
    if wishes.guard_first and not plan.rows:
        raise BadConfiguration("--guard-first needs rows for narrowed.toml, and this plan adds none")
    if wishes.guard_first and dict(plan.options).get(FROM_SHIMS):
        detail = "--guard-first bans by check-narrowed, which knows nothing of a package that is not in the tree"
        raise BadConfiguration(detail, hint="leave --guard-first out: a run of --from-shims finds what is new")
    plan = replace(plan, guard=plan.guard or wishes.guard_first)
    if ships and all(file.root == "." for file in plan.files):
        way = wishes.split or plan.split or WHOLE
        plan = replace(plan, split=way, parts=numbered(plan, root, wishes.split))
    if wishes.plan_out and not wishes.dry_run:
        project.deliver(Path(wishes.plan_out), encode(plan))
        said.append(f"wrote the plan for {counted(len(plan.files), 'file')} to {wishes.plan_out}")
    if not ships:
        return said, 0
    if not plan.files and not plan.rows:
        return [*said, "there is nothing to ship"], 0
    clock = Clock(wishes.verbose)
    parts = pull_requests(plan, root, wishes.split, clock.done)
    said += [f"{part.number} {part.name}: {counted(len(part.changes), 'file')}" for part in parts]
    said += clock.lines("list")
    source_roots = dict(plan.options).get("source_root", ())
    done, code = deliver(parts, root, wishes, cast("tuple[str, ...]", source_roots), clock)
    return [*said, *done], code


def pull_requests(
    plan: Plan, root: Path, way: str = "", done: Callable[[str], object] = str
) -> tuple[PullRequest, ...]:
    """The parts of a plan that are to land, the last one last, each with its words and its changes."""
    if any(file.root != "." for file in plan.files):
        raise BadConfiguration("a plan for several checkouts cannot be split: run in each of them")
    changes = [change for _, own in changes_of(plan, root) for change in own]
    parts = numbered(plan, root, way)
    total = max((part.number for part in parts), default=0)
    removal = next((part.number for part in parts if part.kind == REMOVAL and not part.landed), 0)
    accepted = guard_changes(plan, root, parts, changes) if plan.guard else {}
    done("(the plan itself)")
    placed = {path for part in parts if part.kind == CALL_SITES for path in part.files}
    by_path = {change.path: change for change in changes}
    guarded = {change.path for part in parts if part.kind == GUARD for change in accepted.get(part.number, ())}
    found: list[PullRequest] = []
    for part in parts:
        more = accepted.get(part.number, ())
        if part.kind == CALL_SITES:
            own = tuple(by_path[path] for path in part.files if path in by_path)
            made = _call_sites(plan, part, own, total, removal, guarded=bool(more)) if own else None
        elif part.kind == GUARD:
            made = _guard(plan, part, more, total) if more else None
        else:
            rest = tuple(change for change in changes if change.path not in placed | guarded)
            made = _removal(plan, part, rest, total) if rest or more else None
        if made is not None:
            found.append(replace(made, number=part.number, changes=tuple(dict.fromkeys((*made.changes, *more)))))
            done(part.name)
    return tuple(found)


def command_of(plan: Plan) -> str:
    """The command line that makes the plan; one line for each of its rows."""
    if dict(plan.options).get(FROM_SHIMS):
        return _command("", ["--from-shims", plan.package], plan.options)
    if plan.requests:
        return "\n".join(_command(asked.package, asked.symbols, asked.options) for asked in plan.requests)
    named = [moved.symbol.partition(":") for moved in plan.symbols]
    packages = sorted({package for package, _, _ in named})
    return "\n".join(_command(each, [n for own, _, n in named if own == each], plan.options) for each in packages)


def _command(package: str, symbols: Sequence[str], options: Sequence[tuple[str, object]]) -> str:
    words = ["narrow-reexport", *([package] if package else []), *symbols]
    for name, value in options:
        flag = f"--{name.replace('_', '-')}"
        if name == FROM_SHIMS:
            continue
        if name == "ban":
            words.append("--no-ban")
        elif isinstance(value, bool):
            words.append(flag)
        elif isinstance(value, (tuple, list)):
            words += [word for each in value for word in (flag, str(each))]
        elif name != "output_format":
            words += [flag, str(value)]
    return shlex.join(words)


def _guard(plan: Plan, part: PlannedPart, changes: tuple[FileChange, ...], total: int) -> PullRequest:
    title = f"Ban new imports of {_names([moved.symbol for moved in plan.symbols])} from {plan.package}"
    needs = (
        "This is the first part: from here on `check-narrowed` is red for a new call site. The call sites of today are "
        f"accepted; each of the parts up to {total} takes those that it moves out of `{BASELINE}/`."
    )
    return PullRequest(part.name, title, _body(plan, plan.symbols, changes, needs), changes, first=True)


def _call_sites(
    plan: Plan, part: PlannedPart, changes: tuple[FileChange, ...], total: int, removal: int, *, guarded: bool
) -> PullRequest:
    reached = {file.path: file.symbols for file in plan.files}
    own = {symbol for path in part.files for symbol in reached.get(path, ())}
    symbols = [moved for moved in plan.symbols if moved.symbol in own or not own]
    names = _names([moved.symbol for moved in symbols])
    title = f"Import {names} from {_origin(symbols)}, {part.number}/{total}: {short(part.name)}"
    needs = "This part works alone, before or after any other: the direct imports work "
    if dict(plan.options).get(FROM_SHIMS):
        needs += "with every version of the package that has the moved modules."
    elif _stays(plan):
        needs += "as they do today, and the `__init__` goes on importing for itself."
    elif removal:
        needs += f"while the re-export is still there. Part {removal} removes it."
    else:
        needs += "as ever, and the re-export is gone already."
    if guarded:
        needs += " It stands on the guard, and takes its own files out of the baseline."
    return PullRequest(part.name, title, _body(plan, symbols, changes, needs), changes)


def _removal(plan: Plan, part: PlannedPart, changes: tuple[FileChange, ...], total: int) -> PullRequest:
    names = _names([moved.symbol for moved in plan.symbols])
    before = f" It needs {'part 1' if total == 2 else f'parts 1 to {total - 1}'} to have landed." if total > 1 else ""
    if dict(plan.options).get(FROM_SHIMS):
        title = f"Record that {names} {'comes' if len(plan.symbols) == 1 else 'come'} from {_origin(plan.symbols)}"
        needs = f"This is the last part: it writes `{FILE_NAME}`, the record of what has moved.{before}"
        return PullRequest(_RECORD, title, _body(plan, plan.symbols, changes, needs), changes, last=True)
    packages = [f"x:{package}" for package in plan.package.split(", ")]
    if _stays(plan):
        title = f"Stop listing {names} in {_names(packages)}"
        needs = f"This is the last part: the `__init__` keeps its import, and `__all__` names it no longer.{before}"
        return PullRequest(part.name, title, _body(plan, plan.symbols, changes, needs), changes, last=True)
    title = f"Stop re-exporting {names} from {_names(packages)}"
    needs = f"This is the last part: it removes the re-export{'' if len(plan.symbols) == 1 else 's'}.{before}"
    return PullRequest(part.name, title, _body(plan, plan.symbols, changes, needs), changes, last=True)


def _body(plan: Plan, symbols: Sequence[Moved], changes: tuple[FileChange, ...], needs: str) -> str:
    rows = [f"| `{moved.symbol}` | `{moved.origin}` |" for moved in plan.symbols if moved in symbols]
    last = "This is the last part" in needs
    paths = {change.path for change in changes}
    sites = sum(change.sites for change in changes)
    # a place in a file that no part edits is for the last part to say
    others = {file.path for file in plan.files} - paths
    seen = [r for r in plan.remarks if (r.path not in others if last else r.path in paths) and r.kind != "mention"]
    seen = list({(r.path, r.line, r.reason): r for r in seen}.values())  # a plan has it once for each symbol
    eye = [f"- `{r.path}:{r.line}` ({r.kind}): {r.reason}" for r in seen[:_SHOWN]]
    eye += [f"- and {len(seen) - _SHOWN} more"] if len(seen) > _SHOWN else []
    return "\n".join(
        [
            "## Why",
            "",
            _why(plan),
            "",
            "## What",
            "",
            "| read through the package | read at its origin |",
            "| :-- | :-- |",
            *rows,
            "",
            f"{counted(len(changes), 'file')}, {counted(sites, 'site')}. {needs}",
            "",
            *load_lines(plan.loads, last=last),
            "## How it was verified",
            "",
            "Every file of the tree was searched. The new files parse, differ in the edited statements only, close no "
            f"import cycle, and a second run finds nothing to do. {NOT_RUN}",
            "",
            "## Places for a person's eye",
            "",
            *(eye or ["None."]),
            "",
            "## Reproduce",
            "",
            *(f"    {line}" for line in command_of(plan).splitlines()),
            "",
            "## Undo",
            "",
            "`git revert` of this commit"
            + (
                "."
                if "This is the" in needs or _stays(plan)
                else "; once the last part has landed, revert that one first."
            ),
        ]
    )


def _stays(plan: Plan) -> bool:
    """Whether no re-export goes: all rows are for the call sites alone."""
    return bool(plan.requests) and all(dict(asked.options).get("callers_only") for asked in plan.requests)


def _why(plan: Plan) -> str:
    packages = [f"`{package}`" for package in plan.package.split(", ")]
    if _stays(plan):
        return "A direct import says where a name comes from, and works whether the package goes on re-exporting it or not."
    if dict(plan.options).get(FROM_SHIMS):
        return f"{packages[0]} has moved these names; its shims warn whoever still reads them at the old place, and will go."
    listed = ", ".join(packages[:3]) + (f" or one of {len(packages) - 3} more packages" if packages[3:] else "")
    return f"Whoever imports {listed} pays for everything that the `__init__` re-exports, whether it is needed or not."


def _names(symbols: Sequence[str]) -> str:
    names = [symbol.partition(":")[2] for symbol in symbols]
    return (
        names[0]
        if len(names) == 1
        else f"{', '.join(names[:2])}" + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    )


def _origin(symbols: Sequence[Moved]) -> str:
    modules = {moved.origin.partition(":")[0] for moved in symbols}
    return modules.pop() if len(modules) == 1 else "where they come from"
