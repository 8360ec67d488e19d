"""What a random tree is: its files, the request to narrow it, and the programs that judge it.

Owns the noun that generator, judge, shrinker and driver share, and the source of choices that a tree is made from.
Invariant: the same choices make the same tree, in every process.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RandomTree:
    """A tree before the run, what is asked for, and what it was made of."""

    files: dict[str, bytes]
    package: str
    symbols: tuple[str, ...]
    roots: tuple[str, ...] = (".",)
    options: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()  # modules that are run as `python -m`
    forms: tuple[str, ...] = ()  # the rows of docs/forms.md that it holds
    marks: tuple[str, ...] = field(default=())  # the pieces that it was put together from

    def lay(self, root: Path) -> None:
        """Write it into a folder."""
        for path, content in self.files.items():
            full = root / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_bytes(content)

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules of the tree by their dotted names, the package first."""
        found = []
        for path in self.files:
            aside = path.startswith("tools/") or path.endswith(("setup.py", "__main__.py"))  # run otherwise
            if path.endswith(".py") and "-" not in path and not aside:
                found.append(self.module_at(path))
        return (self.package, *(name for name in found if name != self.package and name and name != "__init__"))

    def module_at(self, path: str) -> str:
        """The dotted name of the module in a file; empty where imports do not reach it."""
        for root in sorted(self.roots, key=len, reverse=True):
            if root == "." or path.startswith(f"{root}/"):
                below = path if root == "." else path[len(root) + 1 :]
                return below.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return ""


class Choices(Protocol):
    """Where a generator gets its choices from: a seed, or Hypothesis."""

    def below(self, number: int) -> int:
        """One of 0 .. number - 1; 0 is the plainest."""
        ...


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, number: int) -> int:
        return int(self._random.random() * number)


class Chooser:
    """The ways to choose that the generators use, all made of `below`."""

    __slots__ = ("_choices",)

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def below(self, number: int) -> int:
        return self._choices.below(number) if number > 1 else 0

    def pick(self, options: Sequence[T]) -> T:
        """One of them; the first is the plainest."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases; False is the plainest."""
        return self._choices.below(100) >= 100 - percent

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        """Between `low` and `high` different ones, in any order."""
        left = list(options)
        count = min(len(left), low + self.below(high - low + 1))
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self.some(options, len(options), len(options))
