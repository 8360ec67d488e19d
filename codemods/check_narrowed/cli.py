"""From the command line's arguments to a check, its report and its exit code.

Owns what is done for which arguments, and which stream says what.
Invariant: only `CodemodError` is caught here, and it never ends in exit code 0: what cannot be checked is not clean.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import click

from codemods.check_narrowed import report as words
from codemods.check_narrowed.baseline import FOLDER, Baseline, read_baseline, shrunk, with_folder, within_baseline
from codemods.check_narrowed.check import Checked, check, files_below, flat
from codemods.check_narrowed.guard import Guard, find_rows, guarded
from codemods.check_narrowed.maintain import Maintained, add, emit_ruff, lower_baseline, prune, rename
from codemods.check_narrowed.offence import Offence
from codemods.check_narrowed.report import Report, Shown
from codemods.check_narrowed.rows import complaint_of_rename, complaints, parsed_symbol, stale_rows
from codemods.engine.bans import FILE_NAME
from codemods.engine.config import load_check_options
from codemods.engine.discover import checkout_top, is_code
from codemods.engine.errors import CodemodError, Interrupted, Unreadable
from codemods.engine.model import FileChange, Symbol
from codemods.engine.report import counted, diff, paint
from codemods.engine.streams import ending_well, put, say

CLEAN, OFFENCES, CANNOT = 0, 1, 3
_MODES = ("add_symbols", "prune_rows", "rename_rows", "emit", "stdin_filename", "update_baseline")


def run(arguments: Mapping[str, object]) -> int:
    """One invocation; returns the exit code: 0 clean, 1 offences, 3 cannot, 128 + n where signal n ended it."""
    _complain_of(arguments)
    return ending_well(lambda: _run(arguments))


def _run(arguments: Mapping[str, object]) -> int:
    cwd = Path.cwd()
    root = find_rows(cwd) or cwd
    command = _Command(arguments, root, cwd)
    try:
        return command.run()
    except CodemodError as error:
        return command.cannot([error])


@dataclass(slots=True)
class _Command:
    """One invocation for one tree."""

    arguments: Mapping[str, object]
    root: Path
    cwd: Path

    def run(self) -> int:
        self._settle()
        if self.arguments["add_symbols"]:
            return self._maintain(add(self.root, self._symbols(), self._baseline_path()))
        data = self._stdin() if self.arguments["stdin_filename"] else None
        guard = self._guard(data)
        if self.arguments["prune_rows"]:
            return self._maintain(prune(guard))
        if self.arguments["rename_rows"]:
            old, new = cast("tuple[str, str]", self.arguments["rename_rows"])
            return self._maintain(rename(guard, old, new))
        stale = complaints(guard.read(FILE_NAME), stale_rows(guard))
        if stale:
            return self.cannot(stale)
        if self.arguments["emit"]:
            return self._maintain(emit_ruff(guard))
        if data is not None:
            return self._check_text(guard, *data)
        return self._check(guard)

    # The check

    def _check(self, guard: Guard) -> int:
        wanted = tuple(self._existing(path) for path in self._given("paths"))
        path = self._baseline_path()
        if self.arguments["update_baseline"] and not path:
            raise click.UsageError("--update-baseline needs --baseline FILE, or a `baseline` in pyproject.toml")
        baseline = read_baseline(self.root, path) if path else Baseline()
        checked = check(guard, files_below(guard, wanted))
        found = flat(checked.offences.values())
        whole = with_folder(self.root, baseline)
        accepted = within_baseline(found, whole)
        lowered = shrunk(baseline, found, None if not wanted else checked.paths)
        loose = sum(baseline.accepted.values()) - sum(lowered.accepted.values())
        left = tuple(each for each in found if each not in accepted)
        report = Report(
            left, len(checked.paths), len(guard.rows), len(accepted), loose, path or FOLDER, idle=guard.idle()
        )
        if self.arguments["update_baseline"]:
            maintained = lower_baseline(self.root, path, baseline, lowered)
            if not self.arguments["show_diff"]:
                self._save(maintained.changes)
            self._show(maintained.changes)
            report = replace(report, loose=0)
            self._say([*words.as_text(report, self._shown(), paint), *maintained.lines])
            return OFFENCES if left else CLEAN
        if self.arguments["fix"] or self.arguments["show_diff"]:
            report, changes = _fixed(guard, checked, report, whole)
            if self.arguments["show_diff"]:
                self._show(changes)
            elif changes:
                self._save(changes)
                report = replace(report, wrote=True)
        return self._report(report)

    def _check_text(self, guard: Guard, path: str, data: bytes) -> int:
        """The check of a text that an editor has, and that need not be what the file holds."""
        from codemods.check_narrowed.fixes import Fixer
        from codemods.check_narrowed.verdicts import offences

        name = self._baseline_path()
        baseline = with_folder(self.root, read_baseline(self.root, name) if name else Baseline())
        found = () if guard.excludes(path) else offences(guard, path, data)
        accepted = within_baseline(found, baseline)
        left = tuple(each for each in found if each not in accepted)
        report = Report(left, 1, len(guard.rows), len(accepted), baseline=name or FOLDER)
        fixes = bool(self.arguments["fix"] or self.arguments["show_diff"])
        after = data
        if fixes and left:
            fixer = Fixer(guard)
            reasons: list[str] = []
            if any(each.kind in ("re-export", "all-entry") for each in left):
                after, reasons = fixer.init(path, after)
            after, more = fixer.file(path, after)
            still = offences(guard, path, after)
            kept = tuple(each for each in still if each not in within_baseline(still, baseline))
            report = replace(
                report,
                offences=kept,
                fixed=(path,) if after != data else (),
                mended=max(len(left) - len(kept), 0),
                wrote=not self.arguments["show_diff"],
                left={path: [*reasons, *more]} if kept else {},
            )
        if self.arguments["show_diff"]:
            self._show([FileChange(path, data, after)] if after != data else [])
        elif self.arguments["fix"]:
            put(after)
        return self._report(report)

    def _report(self, report: Report) -> int:
        code = OFFENCES if report.offences else CLEAN
        output = self.arguments["output_format"]
        if output == "json":
            self._say([words.as_json(report, self._shown(), exit_code=code)])
        elif output == "sarif":
            from codemods.check_narrowed.sarif import as_sarif

            self._say([as_sarif(report.offences, self._shown(), exit_code=code)])
        elif output == "github":
            self._say(words.as_github(report, self._shown()))
        elif report.offences or not self.arguments["quiet"]:
            self._say(words.as_text(report, self._shown(), paint))
        return code

    def cannot(self, errors: Sequence[CodemodError]) -> int:
        """Say what stands in the way."""
        output = self.arguments["output_format"]
        if output == "json":
            self._say([words.as_json(Report((), 0, 0), self._shown(), errors, CANNOT)])
        elif output == "sarif":
            from codemods.check_narrowed.sarif import as_sarif

            self._say([as_sarif((), self._shown(), errors, CANNOT)])
        elif output == "github":
            self._say([words.error_annotation(error, self._shown()) for error in errors])
        plain = Shown(self.root, self.cwd)
        for error in errors:
            say(words.error_lines(error, plain, paint), err=True)
        return CANNOT

    # The other jobs

    def _maintain(self, maintained: Maintained) -> int:
        if maintained.errors:
            return self.cannot(maintained.errors)
        if self.arguments["show_diff"]:
            self._show(maintained.changes)
        else:
            self._save(maintained.changes)
        if not self.arguments["quiet"]:
            self._say(maintained.lines)
        return CLEAN

    def _settle(self) -> None:
        """Finish what a killed run began; where nothing is to be written, an unfinished one is an error."""
        from codemods.engine import project
        from codemods.engine.journal import JOURNAL

        if not (self.root / JOURNAL).exists():
            return
        writes = any(self.arguments[name] for name in ("fix", "add_symbols", "prune_rows", "rename_rows", "emit"))
        if not writes or self.arguments["show_diff"] or self.arguments["stdin_filename"]:
            hint = "run with --fix to finish it, or take it back with narrow-reexport --abort"
            raise Interrupted("an earlier run was interrupted while it wrote", path=JOURNAL, hint=hint)
        finished = project.resume(self.root)
        say([f"finished a run that had been interrupted: {counted(len(finished), 'file')}"], err=True)

    # Arguments

    def _guard(self, text: tuple[str, bytes] | None) -> Guard:
        if not os.path.lexists(self.root / FILE_NAME):
            hint = "run it below the folder with narrowed.toml; --add PKG:SYMBOL starts one"
            raise Unreadable(f"there is no {FILE_NAME} here, nor above in this checkout", hint=hint)
        if text is None:
            return guarded(self.root)
        path, data = text
        return guarded(self.root, lambda other: data if other == path else _read(self.root, other))

    def _symbols(self) -> list[Symbol]:
        found = []
        for spelled in cast("tuple[str, ...]", (*self._given("add_symbols"), *self._given("paths"))):
            symbol = parsed_symbol(spelled)
            if symbol is None:
                raise click.UsageError(f"--add takes PKG:SYMBOL, not {spelled!r}")
            found.append(symbol)
        return found

    def _given(self, name: str) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self.arguments[name])

    def _inside(self, given: str) -> str:
        """A path of the command line as one of the tree; "" is the whole tree."""
        full = Path(os.path.abspath(self.cwd / given))  # noqa: PTH100  # a symlink in the tree is a file of the tree
        for place in (full, full.parent.resolve() / full.name):
            if place.is_relative_to(self.root):
                inside = place.relative_to(self.root).as_posix()
                return "" if inside == "." else inside
        if self.root.is_relative_to(full):
            return ""
        raise click.UsageError(f"{given} is not below {self.root}, the folder with {FILE_NAME}")

    def _existing(self, given: str) -> str:
        if not (self.cwd / given).exists():
            raise click.UsageError(f"there is no {given}")
        return self._inside(given)

    def _baseline_path(self) -> str:
        given = self.arguments["baseline"]
        if given is not None:
            return self._inside(str(given))
        return load_check_options(self.root).baseline

    def _stdin(self) -> tuple[str, bytes]:
        path = self._inside(str(self.arguments["stdin_filename"]))
        if not is_code(path):
            raise click.UsageError(f"--stdin-filename takes the name of a Python file, not {path!r}")
        if sys.stdin is None:
            raise click.UsageError("--stdin-filename needs a standard input, and it is closed")
        return path, sys.stdin.buffer.read()

    # Output

    def _shown(self) -> Shown:
        """People read paths from where they are; services from the top of the checkout; programs from the rows."""
        output = self.arguments["output_format"]
        if output in ("github", "sarif"):
            return Shown(self.root, checkout_top(self.root) or self.root)
        return Shown(self.root, self.root if output == "json" else self.cwd)

    def _say(self, lines: Sequence[str]) -> None:
        """To standard output, unless that is for a diff or a text."""
        taken = self.arguments["show_diff"] or (self.arguments["fix"] and self.arguments["stdin_filename"])
        say(lines, err=bool(taken))

    def _show(self, changes: Sequence[FileChange]) -> None:
        if self.arguments["show_diff"]:
            put(b"".join(diff(change) for change in changes))

    def _save(self, changes: Sequence[FileChange]) -> None:
        from codemods.engine import project

        project.save(self.root, changes)


def _fixed(guard: Guard, checked: Checked, report: Report, baseline: Baseline) -> tuple[Report, list[FileChange]]:
    """The changes that mend what is not accepted, and what is left after them."""
    from codemods.check_narrowed.fixes import Fixer
    from codemods.check_narrowed.verdicts import offences

    wrong: dict[str, list[Offence]] = {}
    for each in report.offences:
        wrong.setdefault(each.site.path, []).append(each)
    fixed = Fixer(guard).all(wrong)
    changes = [FileChange(path, guard.read(path), after) for path, after in sorted(fixed.changes.items())]
    changes = [change for change in changes if change.before != change.after]
    after = {change.path: offences(guard, change.path, change.after) for change in changes}
    still = flat((checked.offences | after).values())
    accepted = within_baseline(still, baseline)
    left = tuple(each for each in still if each not in accepted)
    files = {each.site.path for each in left}
    parsed = {each.site.path for each in left if each.kind != "unparsed"}
    said = {path: fixed.left.get(path) or ([_BY_HAND] if path in parsed else []) for path in sorted(files)}
    reasons = {path: why for path, why in said.items() if why}
    done = tuple(change.path for change in changes)
    mended = max(len(flat(checked.offences.values())) - len(still), 0)
    return replace(report, offences=left, accepted=len(accepted), fixed=done, mended=mended, left=reasons), changes


def _complain_of(arguments: Mapping[str, object]) -> None:
    given = [name for name in _MODES if arguments[name]]
    options = {
        "add_symbols": "--add",
        "prune_rows": "--prune",
        "rename_rows": "--rename",
        "emit": "--emit",
        "stdin_filename": "--stdin-filename",
        "update_baseline": "--update-baseline",
    }
    if len(given) > 1:
        raise click.UsageError(
            f"{options[given[0]]} and {options[given[1]]} are two jobs: run them one after the other"
        )
    mode = given[0] if given else ""
    if mode and mode != "add_symbols" and arguments["paths"]:
        raise click.UsageError(f"{options[mode]} takes no PATHS")
    if mode not in ("", "stdin_filename") and arguments["fix"]:
        raise click.UsageError(f"{options[mode]} and --fix are two jobs: run them one after the other")
    if mode == "rename_rows":
        complaint = complaint_of_rename(*cast("tuple[str, str]", arguments["rename_rows"]))
        if complaint:
            raise click.UsageError(complaint)


def _read(root: Path, path: str) -> bytes:
    from codemods.engine.project import Tree

    return Tree(root, ()).read(path)


_BY_HAND = "the codemod does not rewrite this form: it is to be changed by hand"
