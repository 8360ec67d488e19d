"""A plan ships in parts: what each part says, and where the parts go.

Owns the words of a part (title, body), and the way from a plan to a plan file, patches or branches.
Invariant: all parts together are the plan; the last one, which removes the re-exports, needs the others.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from codemods.engine import project
from codemods.engine.discover import checkout_top, list_files
from codemods.engine.errors import BadConfiguration
from codemods.engine.model import FileChange
from codemods.engine.pull_request import PullRequest
from codemods.engine.report import counted
from codemods.engine.split import CODEOWNERS, Part, split, way_of
from codemods.narrow_reexport.landing import NOT_RUN, deliver
from codemods.narrow_reexport.plan_io import LAST, Moved, Plan, changes_of, encode

TEMPLATE = "{title}\n\n{body}"
_REMOVAL = "removal"
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
    if wishes.plan_out and not wishes.dry_run:
        project.deliver(Path(wishes.plan_out), encode(plan))
        said.append(f"wrote the plan for {counted(len(plan.files), 'file')} to {wishes.plan_out}")
    if not (wishes.split or wishes.patches or wishes.branches):
        return said, 0
    if not plan.files and not plan.rows:
        return [*said, "there is nothing to ship"], 0
    parts = pull_requests(plan, root, wishes.split or "count:1")
    said += [
        f"{number} {part.name}: {counted(len(part.changes), 'file')}" for number, part in enumerate(parts, start=1)
    ]
    source_roots = dict(plan.options).get("source_root", ())
    done, code = deliver(parts, root, wishes, cast("tuple[str, ...]", source_roots))
    return [*said, *done], code


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
    """The command line that makes the plan."""
    symbols = [moved.symbol.partition(":") for moved in plan.symbols]
    packages = sorted({package for package, _, _ in symbols})
    if len(packages) > 1:  # the rows of a request file
        rows = ([package, *(name for own, _, name in symbols if own == package)] for package in packages)
        return "; ".join(shlex.join(["narrow-reexport", *row]) for row in rows)
    words = ["narrow-reexport", plan.package, *(name for _, _, name in symbols)]
    for name, value in plan.options:
        flag = f"--{name.replace('_', '-')}"
        if name == "ban":
            words.append("--no-ban")
        elif isinstance(value, bool):
            words.append(flag)
        elif isinstance(value, (tuple, list)):
            words += [word for each in value for word in (flag, str(each))]
        elif name != "output_format":
            words += [flag, str(value)]
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
    needs = (
        "This part works alone, before or after any other: the direct imports work while the re-export is still there. "
        f"Part {total} removes it."
    )
    return PullRequest(part.name, title, _body(plan, symbols, changes, needs), changes)


def _removal(plan: Plan, changes: tuple[FileChange, ...], total: int) -> PullRequest:
    title = f"Stop re-exporting {_names([moved.symbol for moved in plan.symbols])} from {plan.package}"
    needs = "This is the last part: it removes the re-export." + (
        f" It needs parts 1 to {total - 1} to have landed." if total > 1 else ""
    )
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
            f"Whoever imports `{plan.package}` pays for everything that the `__init__` re-exports, "
            "whether it is needed or not.",
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
            f"import cycle, and a second run finds nothing to do. {NOT_RUN}",
            "",
            "## Places for a person's eye",
            "",
            *(eye or ["None."]),
            "",
            "## Reproduce",
            "",
            f"    {command_of(plan)}",
            "",
            "## Undo",
            "",
            "`git revert` of this commit"
            + ("." if "last part" in needs else "; once the last part has landed, revert that one first."),
        ]
    )


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
