"""A plan ships in parts: what each part says, and where the parts go.

Owns the words of a part (title, body), and the way from a plan to a plan file, patches or branches.
Invariant: all parts together are the plan; the last one, which removes the re-exports, needs the others.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.engine import project
from codemods.engine.bans import FILE_NAME
from codemods.engine.discover import checkout_top, list_files
from codemods.engine.errors import BadConfiguration
from codemods.engine.git import GitFailed, Uncommitted, repository
from codemods.engine.model import FileChange
from codemods.engine.pull_request import PullRequest, branches, message, series
from codemods.engine.report import counted
from codemods.engine.split import CODEOWNERS, Part, split, way_of
from codemods.narrow_reexport.plan_io import LAST, Moved, Plan, changes_of, encode

TEMPLATE = "{title}\n\n{body}"
_REMOVAL, _RECORD = "removal", "record"
FROM_SHIMS, ROWS = "from_shims", "rows"  # what a plan says besides the options: see `Result.asked`
_SHOWN = 40  # sites that one body lists


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to become of a plan."""

    plan_out: str = ""
    split: str = ""
    patches: str = ""
    branches: str = ""
    author: str = ""
    sign_off: bool = False
    template: str = TEMPLATE


def ship(plan: Plan, root: Path, wishes: Wishes) -> list[str]:
    """Do what is wished for; says what was done. Raises CodemodError, and then nothing is left half done."""
    said: list[str] = []
    if wishes.plan_out:
        project.deliver(Path(wishes.plan_out), encode(plan))
        said.append(f"wrote the plan for {counted(len(plan.files), 'file')} to {wishes.plan_out}")
    if not (wishes.split or wishes.patches or wishes.branches):
        return said
    if not plan.files and not plan.rows:
        return [*said, "there is nothing to ship"]
    parts = pull_requests(plan, root, wishes.split or "count:1")
    said += [
        f"{number} {part.name}: {counted(len(part.changes), 'file')}" for number, part in enumerate(parts, start=1)
    ]
    if not (wishes.patches or wishes.branches):
        return said
    found = repository(root)
    author = wishes.author or (found.person() if found is not None else "")
    if not author:
        raise GitFailed("nobody is known as the author", hint='pass --author "Name <mail>"')
    texts = [message(part, wishes.template, signed_by=author if wishes.sign_off else "") for part in parts]
    if wishes.patches:
        date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime())
        files = series(parts, texts, author, date, found.prefix if found is not None else "")
        project.deliver_folder(root / wishes.patches, files)
        said.append(f"wrote {counted(len(parts), 'patch').replace('patchs', 'patches')} to {wishes.patches}")
    if wishes.branches:
        if found is None:
            raise GitFailed("--branches needs a git checkout")
        modified = found.modified([change for part in parts for change in part.changes])
        if modified:
            hint = "commit or stash it: a branch starts at HEAD, and the plan was made for other text"
            raise Uncommitted("has uncommitted changes", path=modified[0], hint=hint)
        made = branches(found, parts, texts, author, wishes.branches)
        said += [f"{'made' if new else 'kept'} {name} ({commit[:12]})" for name, (commit, new) in made.items()]
    return said


def pull_requests(plan: Plan, root: Path, way: str) -> tuple[PullRequest, ...]:
    """The parts of a plan, the last one last, each with its words and its changes."""
    if any(file.root != "." for file in plan.files):
        raise BadConfiguration("a plan for several checkouts cannot be split: run in each of them")
    changes = [change for _, own in changes_of(plan, root) for change in own]
    lands = {file.path: file.lands for file in plan.files}
    free = [change.path for change in changes if lands.get(change.path, LAST) != LAST]
    parts = split(free, plan.groups, _way(way, free, root))
    by_path = {change.path: change for change in changes}
    rest = tuple(change for change in changes if lands.get(change.path, LAST) == LAST)
    total = len(parts) + bool(rest)
    found = [
        _call_sites(plan, part, tuple(by_path[path] for path in part.paths), number, total)
        for number, part in enumerate(parts, start=1)
    ]
    return tuple([*found, _removal(plan, rest, total)] if rest else found)


def command_of(plan: Plan) -> str:
    """The command line that makes the plan; one line a row for those of a request file."""
    given = dict(plan.options)
    names = [] if given.get(FROM_SHIMS) else [moved.symbol.partition(":")[2] for moved in plan.symbols]
    words = ["narrow-reexport", *(["--from-shims"] if given.get(FROM_SHIMS) else []), plan.package, *names]
    for name, value in plan.options:
        flag = f"--{name.replace('_', '-')}"
        if name in (FROM_SHIMS, ROWS):
            continue
        if name == "ban":
            words.append("--no-ban")
        elif isinstance(value, bool):
            words.append(flag)
        elif isinstance(value, (tuple, list)):
            words += [word for each in value for word in (flag, str(each))]
        elif name != "output_format":
            words += [flag, str(value)]
    rows = given.get(ROWS)
    if isinstance(rows, (tuple, list)):  # of a request file, each with the options that hold for all
        common = shlex.join(words[len(names) + 2 :])
        return "\n".join(f"{row} {common}".rstrip() for row in rows)
    return shlex.join(words)


def _way(way: str, paths: Sequence[str], root: Path) -> Callable[[str], str]:
    top = checkout_top(root) or root.resolve()
    prefix = f"{root.resolve().relative_to(top).as_posix()}/".removeprefix("./")
    text = None
    for name in CODEOWNERS if way.startswith("codeowners") else ():
        if (top / name).is_file():
            text = project.Tree(top, ()).read(name).decode("utf-8", "replace")
            break
    return way_of(way, paths, list_files(root), text, prefix)


def _call_sites(plan: Plan, part: Part, changes: tuple[FileChange, ...], number: int, total: int) -> PullRequest:
    reached = {file.path: file.symbols for file in plan.files}
    own = {symbol for path in part.paths for symbol in reached[path]}
    symbols = [moved for moved in plan.symbols if moved.symbol in own or not own]
    title = f"Import {_names([m.symbol for m in symbols])} from {_origin(symbols)}, {number}/{total}: {part.name}"
    needs = "This part works alone, before or after any other: the direct imports work "
    if dict(plan.options).get(FROM_SHIMS):
        needs += "with every version of the package that has the moved modules."
    else:
        needs += f"while the re-export is still there. Part {total} removes it."
    return PullRequest(part.name, title, _body(plan, symbols, changes, needs), changes)


def _removal(plan: Plan, changes: tuple[FileChange, ...], total: int) -> PullRequest:
    names = _names([moved.symbol for moved in plan.symbols])
    before = f" It needs {'part 1' if total == 2 else f'parts 1 to {total - 1}'} to have landed." if total > 1 else ""
    if dict(plan.options).get(FROM_SHIMS):
        title = f"Keep {names} imported from {_origin(plan.symbols)}"
        needs = f"This is the last part: it writes `{FILE_NAME}`, by which `check-narrowed` keeps the call sites so.{before}"
        return PullRequest(_RECORD, title, _body(plan, plan.symbols, changes, needs), changes, last=True)
    packages = [f"x:{package}" for package in plan.package.split(", ")]
    title = f"Stop re-exporting {names} from {_names(packages)}"
    needs = f"This is the last part: it removes the re-export{'' if len(plan.symbols) == 1 else 's'}.{before}"
    return PullRequest(_REMOVAL, title, _body(plan, plan.symbols, changes, needs), changes, last=True)


def _body(plan: Plan, symbols: Sequence[Moved], changes: tuple[FileChange, ...], needs: str) -> str:
    rows = [f"| `{moved.symbol}` | `{moved.origin}` |" for moved in plan.symbols if moved in symbols]
    paths = {change.path for change in changes}
    sites = sum(change.sites for change in changes)
    seen = [remark for remark in plan.remarks if remark.path in paths and remark.kind != "mention"]
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
            "## How it was verified",
            "",
            "Every file of the tree was searched. The new files parse, differ in the edited statements only, close no "
            "import cycle, and a second run finds nothing to do. No code of the project was run.",
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
            + ("." if "last part" in needs else "; once the last part has landed, revert that one first."),
        ]
    )


def _why(plan: Plan) -> str:
    packages = [f"`{package}`" for package in plan.package.split(", ")]
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
