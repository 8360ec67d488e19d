"""The files of a run, shared out among machines: each plans its share, one of them puts the plans together.

Owns the shares (`--shard`, `--files-from`), and the planner that takes plans from partial plans (`--merge-plans`).
Invariant: a plan from a partial plan is used only if the same code made it in the same context from the same bytes, so that
the merged result is that of one machine; partial plans of anything else are refused by name.
"""

from __future__ import annotations

import heapq
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

from codemods.engine.discover import is_code
from codemods.engine.errors import CodemodError
from codemods.engine.project import Tree, digest
from codemods.engine.release import OtherRelease, release
from codemods.engine.report import counted
from codemods.narrow_reexport import pipeline
from codemods.narrow_reexport.context import Context, FilePlan, Planner
from codemods.narrow_reexport.outcome import plan_files
from codemods.narrow_reexport.partial_plan import Asked, PartialPlan, Planned, Stage, decode, fingerprint
from codemods.narrow_reexport.request import Request
from codemods.narrow_reexport.session import Session

Job = tuple[str, bytes]


class BadShare(CodemodError):
    """Files that cannot be shared out, or partial plans that do not belong together or to this tree."""


@dataclass(frozen=True, slots=True)
class Share:
    """Which of the files: the `number`-th of `of` shares, and of the listed files alone if there is a list."""

    number: int = 1
    of: int = 1
    listed: frozenset[str] | None = None

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def jobs(self, jobs: Sequence[Job]) -> list[Job]:
        """The share's files: about as many bytes as in every other, and the same on every machine."""
        wanted = [job for job in jobs if self.listed is None or job[0] in self.listed]
        loads = [(0, number) for number in range(1, self.of + 1)]
        mine: set[str] = set()
        for path, data in sorted(wanted, key=lambda job: (-len(job[1]), job[0])):
            load, number = loads[0]
            heapq.heapreplace(loads, (load + len(data) + 1, number))
            if number == self.number:
                mine.add(path)
        return [job for job in wanted if job[0] in mine]


def on(executor: Executor) -> Planner:
    """A planner that plans on an executor."""
    return lambda jobs, context: plan_files(dict(jobs), context, None, executor=executor).values()


def _here(jobs: Sequence[Job], context: Context) -> Iterable[FilePlan]:
    return plan_files(dict(jobs), context, None).values()


# --- a share ---


def plan_share(request: Request, share: Share) -> tuple[PartialPlan, int]:
    """The partial plan of a share, and how many files the whole has. Raises CodemodError for what cannot be."""
    recorder = _Recorder(share, request.planner or _here)
    pipeline.run(replace(request, planner=recorder, shared_out=True))
    options = replace(request.options, output_format="text")
    asked = Asked(request.package, request.symbols, request.every, options)
    name = str(share) if share.listed is None else "listed" if share.of == 1 else f"{share} listed"
    return PartialPlan(name, release(), asked, tuple(recorder.stages)), recorder.whole


def listed(data: bytes, request: Request) -> frozenset[str]:
    """The paths in a list, separated by NUL or newlines, as the trees of the run spell them. Raises BadShare.

    Files of a kind that no run looks at (pictures, say) may be listed; they are nobody's share.
    """
    spelled = [os.fsdecode(each) for each in (data.split(b"\0") if b"\0" in data else data.splitlines()) if each]
    trees = [Session(root, request.options.exclude).tree for root in (request.root, *request.also)]
    known = {tree.root: frozenset(tree.paths) for tree in trees}
    found: set[str] = set()
    unknown: list[str] = []
    for one in dict.fromkeys(spelled):
        full = posixpath.normpath((request.root / one).as_posix())
        tree = next((tree for tree in trees if full.startswith(f"{tree.root.as_posix()}/")), None)
        path = full[len(tree.root.as_posix()) + 1 :] if tree is not None else ""
        if tree is not None and path not in known[tree.root]:
            path = tree.canonical(path) or ""
        if tree is not None and path in known[tree.root]:
            found.add(path)
        elif tree is None or is_code(path) or not (tree.root / path).is_file():
            unknown.append(one)
    if unknown:
        raise BadShare(f"--files-from names what is no file of this tree: {', '.join(unknown)}")
    return frozenset(found)


class _Recorder:
    """A planner for a share of the files, which keeps what it plans."""

    def __init__(self, share: Share, inner: Planner) -> None:
        self.stages: list[Stage] = []
        self.whole = 0
        self._share = share
        self._inner = inner

    def __call__(self, jobs: Sequence[Job], context: Context) -> list[FilePlan]:
        # the files of the second pass are those that this machine has planned
        mine = list(jobs) if context.verifying else self._share.jobs(jobs)
        self.whole += 0 if context.verifying else len(jobs)
        plans = list(self._inner(mine, context))
        files = [Planned(path, digest(data), plan) for (path, data), plan in zip(mine, plans, strict=True)]
        self.stages.append(Stage(fingerprint(context), context.verifying, tuple(files)))
        return plans


# --- the whole ---


class Joined:
    """A planner that takes the plans from partial plans, and plans what none of them holds."""

    def __init__(self, parts: Mapping[str, PartialPlan], inner: Planner | None = None) -> None:
        self.inner: Planner = inner or _here
        self.taken = 0
        self.planned = 0
        self._parts = parts
        self._calls = 0
        self._expected = max(len(part.contexts) for part in parts.values())
        self._plans: dict[tuple[str, str, str], FilePlan] = {}
        for name, part in parts.items():
            for stage in part.stages:
                for file in stage.files:
                    if self._plans.setdefault((stage.context, file.path, file.text), file.plan) != file.plan:
                        raise BadShare(f"has another plan for {file.path} than another partial plan", path=name)

    @property
    def asked(self) -> Asked:
        """What all of the parts were asked for."""
        return next(iter(self._parts.values())).request

    def __call__(self, jobs: Sequence[Job], context: Context) -> Iterator[FilePlan]:
        key = fingerprint(context)
        texts = {path: digest(data) for path, data in jobs}
        if not context.verifying:
            self._check(key, texts)
        known = {path: self._plans.get((key, path, text)) for path, text in texts.items()}
        missing = [job for job in jobs if known[job[0]] is None]
        fresh = {plan.path: plan for plan in (self.inner(missing, context) if missing else ())}
        if not context.verifying:
            self.taken += len(jobs) - len(missing)
            self.planned += len(missing)
        return iter([known[path] or fresh[path] for path, _ in jobs])

    def finish(self) -> str:
        """Say what came from where. Raises BadShare where the parts know of files that the run did not come to."""
        if self._calls < self._expected:
            self._refuse(list(self._parts))
        said = f"took the plans of {counted(self.taken, 'file')} from {counted(len(self._parts), 'partial plan')}"
        return f"{said}, planned {counted(self.planned, 'file')} here" if self.planned else said

    def _check(self, key: str, texts: Mapping[str, str]) -> None:
        """The first plans of each checkout are those that every part was made for. Raises BadShare."""
        number, self._calls = self._calls, self._calls + 1
        if number >= max(self._expected, 1):  # symbols were left out, and the rest is planned again
            return
        stale = []
        for name, part in self._parts.items():
            if number >= len(part.contexts) or part.contexts[number].context != key:
                stale.append(name)
                continue
            for file in part.contexts[number].files:
                if texts.get(file.path) != file.text:
                    raise BadShare(f"was made for another text of {file.path}", path=name, hint=_AGAIN)
        if stale:
            self._refuse(stale)

    def _refuse(self, names: list[str]) -> None:
        first, *others = names
        more = f", and so were {', '.join(others)}" if others else ""
        raise BadShare(f"was made for another state of this tree{more}", path=first, hint=_AGAIN)


_AGAIN = "make the partial plans again, all from the same commit"


def load(root: Path, spelled: Sequence[str]) -> Joined:
    """The partial plans in files, which may be globs. Raises CodemodError where they do not belong together."""
    parts: dict[str, PartialPlan] = {}
    for name in sorted({name for each_one in spelled for name in _files(root, each_one)}):
        file = root / name
        parts[name] = part = decode(Tree(file.parent, ()).read(file.name), name)
        if part.release != release():
            detail = f"was made by {part.release}, and this is {release()}"
            raise OtherRelease(detail, path=name, hint="install the same on all machines")
    first = next(iter(parts))
    for name, part in parts.items():
        if part.request != parts[first].request:
            raise BadShare(f"was made for another request than {first}", path=name, hint=_differs(part, parts[first]))
    return Joined(parts)


def _files(root: Path, spelled: str) -> list[str]:
    if (root / spelled).is_file() or not any(char in spelled for char in "*?["):
        return [spelled]
    whole = root / spelled
    base = Path(whole.anchor)
    found = [Path(os.path.relpath(path, root)).as_posix() for path in base.glob(str(whole.relative_to(base)))]
    if not found:
        raise BadShare(f"no partial plan matches {spelled}")
    return found


def _differs(part: PartialPlan, other: PartialPlan) -> str:
    for name in Asked.__slots__:
        mine, its = getattr(part.request, name), getattr(other.request, name)
        if mine != its and name != "options":
            return f"its {name} are {mine!r}, there {its!r}"
    own, its = part.request.options, other.request.options
    names = [name for name in type(own).__slots__ if getattr(own, name) != getattr(its, name)]
    return f"the two differ in --{names[0].replace('_', '-')}"
