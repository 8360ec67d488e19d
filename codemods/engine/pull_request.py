"""Parts leave the machine: as patches for `git am`, or as branches.

Owns the form of a patch mail and of a commit message, and which branch stands on which.
Invariant: a part's patch changes exactly the bytes that its `FileChange`s say; the last part stands on all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from codemods.engine.git import Repository
from codemods.engine.model import FileChange
from codemods.engine.report import diff

_LONGEST_SLUG = 80  # characters
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One part: its name, what it says (a title, a body in Markdown), what it changes."""

    name: str
    title: str
    body: str
    changes: tuple[FileChange, ...]
    last: bool = False  # it needs all others
    first: bool = False  # all others need it
    number: int = 0  # its place among all parts, also those that have landed; 0: as it comes

    @property
    def slug(self) -> str:
        """The name as part of a file's or a branch's name."""
        return slug_of(self.name)


def slug_of(name: str) -> str:
    """A name as part of a file's or a branch's name. No file may be called what a long list of owners would make of it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:_LONGEST_SLUG].strip("-") or "part"


def short(name: str) -> str:
    """A name for a title: the first words of many, the end of a long path."""
    kept = name.split()
    while len(kept) > 1 and len(" ".join(kept)) > _LONGEST_NAME:
        kept.pop()
    dropped = len(name.split()) - len(kept)
    first = " ".join(kept) if len(" ".join(kept)) <= _LONGEST_NAME else f"...{name[-_LONGEST_NAME:]}"
    return f"{first} and {dropped} more" if dropped else first


def message(part: PullRequest, template: str, *, signed_by: str = "") -> str:
    """The commit message: `{title}`, `{body}` and `{name}` of the template filled in, and the sign-off."""
    values = {"title": part.title, "body": part.body, "name": part.name}
    text = re.sub(r"\{(title|body|name)\}", lambda found: values[found[1]], template).strip()
    trailer = f"\n\nSigned-off-by: {signed_by}" if signed_by else ""
    return f"{text}{trailer}\n"


def title_and_body(text: str) -> tuple[str, str]:
    """A commit message as git tells it apart: the first paragraph on one line, and the rest."""
    first, _, rest = text.strip("\n").partition("\n\n")
    return " ".join(first.split("\n")), rest.strip("\n")


def patch(part: PullRequest, number: int, total: int, text: str, author: str, date: str, prefix: str) -> bytes:
    """The part as a mail that `git am --keep-cr` takes."""
    title, _, rest = text.partition("\n")
    head = [
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001",
        f"From: {author}",
        f"Date: {date}",
        f"Subject: [PATCH {number}/{total}] {title}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        rest.strip("\n"),
        "---",
        "",
    ]
    moved = [replace(change, path=prefix + change.path) for change in part.changes]
    return "\n".join(head).encode("utf-8") + b"".join(diff(change) for change in moved) + b"-- \ncodemods\n\n"


def series(
    parts: Sequence[PullRequest],
    messages: Sequence[str],
    author: str,
    date: str,
    prefix: str,
    left_out: Collection[int] = (),
    done: Callable[[str], object] = str,
) -> dict[str, bytes]:
    """The files of a patch series: each part, numbered, and `series`, which lists them in an order that works.

    Parts that are left out, by number, leave a gap.
    """
    files: dict[str, bytes] = {}
    total = max(numbers(parts), default=0)
    for number, part, text in zip(numbers(parts), parts, messages, strict=True):
        if number in left_out:
            continue
        name = f"{number:04}-{part.slug}.patch"
        files[name] = patch(part, number, total, text, author, date, prefix)
        done(part.name)
    return {**files, "series": "".join(f"{name}\n" for name in files).encode("ascii")}


def commits_of(
    repository: Repository,
    parts: Sequence[PullRequest],
    messages: Sequence[str],
    author: str,
    done: Callable[[str], object] = str,
) -> tuple[str, ...]:
    """A commit for each part, on HEAD; that of the last one stands on all others. No branch has them yet.

    Where there is a first part, all others stand on it.
    """
    head = stacked = repository.head()
    found: list[str] = []
    for part, text in zip(parts, messages, strict=True):
        upon = repository.commit(stacked, part.changes, text, author)
        alone = upon if part.last or stacked == head else repository.commit(head, part.changes, text, author)
        found.append(alone)
        stacked = upon
        head = upon if part.first else head
        done(part.name)
    return tuple(found)


def numbers(parts: Sequence[PullRequest]) -> tuple[int, ...]:
    """The number of each part: its own, or as they come."""
    return tuple(part.number or at for at, part in enumerate(parts, start=1))


def branch_names(parts: Sequence[PullRequest], prefix: str) -> tuple[str, ...]:
    """What the branches of the parts are called."""
    return tuple(f"{prefix}{number:02}-{part.slug}" for number, part in zip(numbers(parts), parts, strict=True))
