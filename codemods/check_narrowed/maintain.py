"""Changes of the guard's own files: rows that come, go or are renamed, a baseline, ruff's rows.

Owns what each of these writes, and what it says.
Invariant: it never writes; it returns the changes, and every byte that is not of the row in question stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.check_narrowed import baseline as lines_of
from codemods.check_narrowed.baseline import Baseline
from codemods.check_narrowed.check import check, files_below, flat
from codemods.check_narrowed.guard import Guard
from codemods.check_narrowed.rows import complaints, fresh_ban, stale_rows
from codemods.engine.bans import FILE_NAME, Ban, load_bans, with_bans, with_renamed, without_bans
from codemods.engine.config import load_check_options, load_narrow_options
from codemods.engine.disk import read_file
from codemods.engine.errors import CodemodError, UnknownSymbol, Unreadable
from codemods.engine.model import FileChange, Symbol
from codemods.engine.report import counted


@dataclass(frozen=True, slots=True)
class Maintained:
    """The changes, and a line for each."""

    changes: tuple[FileChange, ...]
    lines: tuple[str, ...]
    errors: tuple[CodemodError, ...] = ()


def add(root: Path, symbols: Sequence[Symbol], baseline: str) -> Maintained:
    """Ban symbols that are still re-exported. With a baseline their offences of today are accepted."""
    before = _bytes(root, FILE_NAME)
    rows = load_bans(before)
    held = {ban.symbol: ban for ban in rows}
    guard = guard_for(root, rows)
    fresh = [fresh_ban(guard, symbol) for symbol in dict.fromkeys(symbols) if symbol not in held]
    lines = [f"{symbol} has a row already" for symbol in dict.fromkeys(symbols) if symbol in held]
    lines += [f"{ban.symbol} is banned now: it is to be imported from {ban.origin}" for ban in fresh]
    guard = guard_for(root, (*rows, *fresh), guard)
    wanted = {str(symbol) for symbol in symbols}
    found = [each for each in flat(check(guard, files_below(guard, ())).offences.values()) if each.symbol in wanted]
    changes = [FileChange(FILE_NAME, before, with_bans(before, fresh))]
    if baseline:
        old = _bytes(root, baseline)
        kept = lines_of.decode_baseline(old, baseline) if old.strip() else Baseline()
        new = lines_of.with_today(kept, found, wanted)
        added = sum(new.accepted.values()) - sum(kept.accepted.values())
        lines.append(f"{baseline} accepts {counted(added, 'offence')} more, and lets the number fall only")
        if added or not old:
            changes.append(FileChange(baseline, old, lines_of.encode_baseline(new)))
    elif found:
        files = counted(len({each.site.path for each in found}), "file")
        lines.append(
            f"{counted(len(found), 'offence')} in {files} today: --fix rewrites them, --baseline FILE accepts them"
        )
    return Maintained(_real(changes), tuple(lines))


def prune(guard: Guard) -> Maintained:
    """Take out the rows that guard nothing any more."""
    before = guard.read(FILE_NAME)
    stale = stale_rows(guard)
    after = without_bans(before, [each.ban.symbol for each in stale])
    lines = [f"{each.ban.symbol} has no row any more: {each.reason}" for each in stale]
    return Maintained(
        _real([FileChange(FILE_NAME, before, after)]), tuple(lines or ["every row still guards something"])
    )


def rename(guard: Guard, old: str, new: str) -> Maintained:
    """Point the rows at a module or a symbol that has another name now. Raises UnknownSymbol where no row names it."""
    before = guard.read(FILE_NAME)
    after, changed = with_renamed(before, old, new)
    if not changed:
        raise UnknownSymbol(f"no row names {old}", path=FILE_NAME)
    stale = stale_rows(guard_for(guard.root, changed, guard))
    lines = [f"{ban.symbol} is to be imported from {ban.origin}" for ban in changed]
    return Maintained(_real([FileChange(FILE_NAME, before, after)]), tuple(lines), complaints(after, stale))


def lower_baseline(root: Path, path: str, old: Baseline, new: Baseline) -> Maintained:
    """Write a baseline whose numbers have fallen."""
    fell = sum(old.accepted.values()) - sum(new.accepted.values())
    change = FileChange(path, _bytes(root, path), lines_of.encode_baseline(new))
    lines = (f"{path} accepts {counted(fell, 'offence')} less",) if fell else (f"{path} cannot shrink",)
    return Maintained((change,) if fell else (), lines)


def emit_ruff(guard: Guard) -> Maintained:
    """Rows for ruff's TID251."""
    from codemods.check_narrowed.ruff_rows import ruff_file, with_ruff_rows

    path = ruff_file(guard.root)
    before = _bytes(guard.root, path)
    after, notes = with_ruff_rows(before, guard, path)
    lines = [f"{path} has the rows" if after != before else f"{path} has them already", *notes]
    return Maintained(_real([FileChange(path, before, after)]), tuple(lines))


def guard_for(root: Path, rows: Sequence[Ban], like: Guard | None = None) -> Guard:
    """The guard of a tree with other rows than its file has; the files are those that `like` has listed."""
    narrow, own = load_narrow_options(root), load_check_options(root)
    paths = like.tree.paths if like is not None else None
    exclude = (*narrow.exclude, *own.exclude)
    return Guard(root, rows, exclude=exclude, source_roots=narrow.source_root, paths=paths)


def _bytes(root: Path, path: str) -> bytes:
    try:
        return read_file(root / path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=path) from error


def _real(changes: Sequence[FileChange]) -> tuple[FileChange, ...]:
    return tuple(change for change in changes if change.before != change.after)
