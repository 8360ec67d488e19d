"""The orders that import sorters keep: isort's and Ruff's variants, as sort keys.

Owns the question "was this block sorted, and by which rule?".
Invariant: it compares, and moves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from codemods.narrow_reexport.forms.statement import NewImport

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Described:
    is_from: bool
    level: int
    module: str


Key = Callable[[Described], "tuple[object, ...]"]


def described_new(new: NewImport) -> Described:
    dots = len(new.spelled) - len(new.spelled.lstrip("."))
    return Described(bool(new.names), dots, new.spelled.lstrip(".") if new.names else new.module)


def _natural(text: str) -> tuple[object, ...]:
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in _DIGITS.split(text))


def _distance(entry: Described) -> int:
    return -entry.level if entry.level else -99  # absolute imports first, then `...`, `..`, `.`


def _isort(entry: Described) -> tuple[object, ...]:
    return entry.is_from, _distance(entry), _natural(entry.module.lower())


def _isort_cased(entry: Described) -> tuple[object, ...]:
    return entry.is_from, _distance(entry), _natural(entry.module)


def _within(entry: Described) -> tuple[object, ...]:
    return _distance(entry), _natural(entry.module.lower()), entry.is_from


def _within_cased(entry: Described) -> tuple[object, ...]:
    return _distance(entry), _natural(entry.module), entry.is_from


def _closest_first(entry: Described) -> tuple[object, ...]:
    return entry.is_from, entry.level, _natural(entry.module.lower())


ORDERS: tuple[Key, ...] = (_isort, _within, _isort_cased, _within_cased, _closest_first)


def by_type(name: str) -> tuple[int, str]:
    """isort's order of names: CONSTANTS, Classes, the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower()
