"""One change becomes parts that land one by one: by owner, by folder, by package, or by number.

Owns the ways of splitting, and that files which only work together stay together.
Invariant: a pure function of paths and texts; each path is in exactly one part, and the parts do not depend on any order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from codemods.engine.errors import BadConfiguration, CodemodError

WAYS = "codeowners, directory[:DEPTH], package, count:N"
UNOWNED = "unowned"
CODEOWNERS = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")  # the first that is there counts


class MissingExtra(CodemodError):
    """An optional dependency is needed and not installed."""


@dataclass(frozen=True, slots=True)
class Part:
    """Files that land together, under the name of whoever or whatever they belong to."""

    name: str
    paths: tuple[str, ...]


def split(paths: Iterable[str], groups: Iterable[Collection[str]], way: Callable[[str], str]) -> tuple[Part, ...]:
    """The parts, by name. A group lands as a whole where most of its files belong."""
    listed = sorted(set(paths))
    named = {path: way(path) for path in listed}
    for group in joined(groups):
        counted = Counter(named[path] for path in group if path in named)
        if counted:
            most = min(counted, key=lambda name: (-counted[name], name))
            named |= {path: most for path in group if path in named}
    names = sorted(set(named.values()))
    return tuple(Part(name, tuple(path for path in listed if named[path] == name)) for name in names)


def joined(groups: Iterable[Collection[str]]) -> tuple[frozenset[str], ...]:
    """The groups, with those made one that share a path."""
    apart: list[frozenset[str]] = []
    for group in groups:
        whole = frozenset(group)
        for other in [each for each in apart if each & whole]:
            apart.remove(other)
            whole |= other
        apart += [whole] if whole else []
    return tuple(sorted(apart, key=sorted))


def way_of(
    spelled: str, paths: Sequence[str], tree: Collection[str], codeowners: str | None, prefix: str = ""
) -> Callable[[str], str]:
    """From `--split` to the name of each path's part.

    `paths` are those to split, `tree` is every file, `codeowners` the text of that file, and `prefix` the way
    from the checkout's top, where that file's patterns start, to the paths.
    """
    kind, _, given = spelled.partition(":")
    if kind == "directory" and (not given or _is_number(given)):
        depth = int(given or 1)
        return lambda path: "/".join(path.split("/")[:-1][:depth]) or "."
    if kind == "package" and not given:
        folders = {path.rpartition("/")[0] for path in tree if path.endswith("/__init__.py")}
        return lambda path: _package(path, folders)
    if kind == "count" and _is_number(given):
        ordered = sorted(set(paths))
        number = min(int(given), len(ordered)) or 1
        width = len(str(number))
        names = {path: f"{at * number // len(ordered) + 1:0{width}}-of-{number}" for at, path in enumerate(ordered)}
        return lambda path: names[path]
    if kind == "codeowners" and not given:
        if codeowners is None:
            raise BadConfiguration(f"--split codeowners needs one of {', '.join(CODEOWNERS)}")
        return _by_owner(codeowners, prefix)
    raise BadConfiguration(f"--split takes {WAYS}, not {spelled!r}")


def _is_number(spelled: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,3}", spelled) is not None


def _package(path: str, folders: set[str]) -> str:
    """The outermost regular package around a path; beside all packages, its first folder."""
    parts = path.split("/")[:-1]
    for number in range(1, len(parts) + 1):
        if "/".join(parts[:number]) in folders:
            return "/".join(parts[:number])
    return parts[0] if parts else "."


def _by_owner(text: str, prefix: str) -> Callable[[str], str]:
    try:
        from codeowners import CodeOwners
    except ImportError as error:
        hint = "install codemods[split]"
        raise MissingExtra("--split codeowners needs the package `codeowners`", hint=hint) from error
    rules = CodeOwners("\n".join(_plain(line) for line in text.splitlines()))

    def owner(path: str) -> str:
        # the last pattern that matches counts, also if it names nobody
        return " ".join(sorted(name for _, name in rules.of(prefix + path))) or UNOWNED

    return owner


def _plain(line: str) -> str:
    """A line of CODEOWNERS as GitHub takes it: no `!`, no character ranges, a comment at the end means nothing."""
    line = re.sub(r"(?:\A|\s)#.*", "", line).strip()
    pattern = line.replace("\\ ", "").split(maxsplit=1)[:1]
    return "" if not pattern or pattern[0].startswith("!") or "[" in pattern[0] else line
