"""The baseline: how many offences of a symbol a file may still have.

Owns the file's format, the folder for call sites that are about to move, and the rule by which offences count as accepted.
Invariant: a number falls, and never rises but by `--add`; a file that is not understood is an error, never an empty baseline.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codemods.check_narrowed.offence import Offence
from codemods.engine.bans import BASELINE
from codemods.engine.config import load_check_options
from codemods.engine.disk import read_file
from codemods.engine.errors import BadConfiguration, Unreadable

_VERSION = 1
FOLDER = BASELINE  # a file for each part of a narrowing that is under way; the part takes its file along
Accepted = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Accepted offences: a number for each (symbol, path)."""

    accepted: Accepted = field(default_factory=dict)


def within_baseline(found: Iterable[Offence], baseline: Baseline) -> frozenset[Offence]:
    """The offences that are accepted: those of a symbol in a file, if they are no more than the baseline says, else none."""
    offences = tuple(found)
    counts = counted_sites(offences)
    accepted = {key for key, number in counts.items() if number <= baseline.accepted.get(key, 0)}
    return frozenset(each for each in offences if (each.symbol, each.site.path) in accepted)


def counted_sites(found: Iterable[Offence]) -> Counter[tuple[str, str]]:
    """The offences by (symbol, path)."""
    return Counter((each.symbol, each.site.path) for each in found)


def shrunk(baseline: Baseline, found: Iterable[Offence], checked: Collection[str] | None = None) -> Baseline:
    """The baseline with each number no higher than today's. Only the files `checked` are known, or all of them."""
    today = counted_sites(found)
    looked_at = checked if checked is None else frozenset(checked)
    lowered = {
        key: min(number, today[key]) if looked_at is None or key[1] in looked_at else number
        for key, number in baseline.accepted.items()
    }
    return Baseline({key: number for key, number in lowered.items() if number})


def with_today(baseline: Baseline, found: Iterable[Offence], symbols: Collection[str]) -> Baseline:
    """The baseline that accepts today's offences of symbols that it does not know yet."""
    known = {symbol for symbol, _ in baseline.accepted}
    fresh = {key: n for key, n in counted_sites(found).items() if key[0] in symbols and key[0] not in known}
    return Baseline({**baseline.accepted, **fresh})


def encode_baseline(baseline: Baseline) -> bytes:
    """The file: sorted, a line a number, so that a change is a small diff."""
    symbols: dict[str, dict[str, int]] = {}
    for (symbol, path), number in sorted(baseline.accepted.items()):
        symbols.setdefault(symbol, {})[path] = number
    return (json.dumps({"version": _VERSION, "accepted": symbols}, indent=2, ensure_ascii=False) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def decode_baseline(data: bytes, path: str) -> Baseline:
    """The baseline of a file. Raises `BadConfiguration`."""
    try:
        document: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadConfiguration(f"is not JSON: {error}", path=path, line=getattr(error, "lineno", 0)) from error
    if (
        not isinstance(document, dict)
        or document.get("version") != _VERSION
        or document.keys() != {"version", "accepted"}
    ):
        raise BadConfiguration(f"is no baseline of version {_VERSION}", path=path)
    table = document["accepted"]
    accepted: dict[tuple[str, str], int] = {}
    for symbol, files in table.items() if isinstance(table, dict) else [("", None)]:
        for file, number in files.items() if isinstance(files, dict) else [("", None)]:
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                wanted = '{"pkg:name": {"path/to/file.py": 2}}'
                raise BadConfiguration(f"`accepted` is to map symbols to files to numbers: {wanted}", path=path)
            accepted[symbol, file] = number
    return Baseline(accepted)


def read_baseline(root: Path, path: str) -> Baseline:
    """The baseline in a file below the root. Raises `Unreadable` and `BadConfiguration`."""
    try:
        data = read_file(root / path)
    except OSError as error:
        hint = "check_narrowed --add PKG:SYMBOL --baseline FILE writes one"
        raise Unreadable(f"the baseline cannot be read: {error.strerror}", path=path, hint=hint) from error
    return decode_baseline(data, path)


def with_folder(root: Path, baseline: Baseline) -> Baseline:
    """The baseline with what the files in the folder accept besides. Raises as `read_baseline` does."""
    numbers = Counter(baseline.accepted)
    folder = root / FOLDER
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        numbers.update(read_baseline(root, f"{FOLDER}/{path.name}").accepted)
    return Baseline(dict(numbers))


def configured_baseline(root: Path) -> Baseline:
    """The baseline that `pyproject.toml` names, if any, and the folder. Raises as `read_baseline` does."""
    path = load_check_options(root).baseline
    return with_folder(root, read_baseline(root, path) if path else Baseline())
