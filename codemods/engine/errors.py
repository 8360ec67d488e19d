"""What a run can fail with: one base class, one subclass a meaning, each with fields.

Owns the exceptions that reach a person as a message and exit code 3. Only the command lines catch them.
Invariant: it never formats for a terminal and imports nothing of this project.
"""

from __future__ import annotations


class CodemodError(Exception):
    """The run cannot go on. `path` and `line` say where (empty and 0 where there is no place), `hint` a way out."""

    def __init__(self, detail: str, *, path: str = "", line: int = 0, text: str = "", hint: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path
        self.line = line
        self.text = text
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.detail, self.path, self.line, self.text, self.hint)

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}: " if self.path and self.line else f"{self.path}: " if self.path else ""
        return f"{where}{self.detail}"


def _rebuild(kind: type[CodemodError], detail: str, path: str, line: int, text: str, hint: str) -> CodemodError:
    return kind(detail, path=path, line=line, text=text, hint=hint)


class UnknownPackage(CodemodError):
    """No such package in the tree, or more than one, or a module where a package is meant."""


class UnknownSymbol(CodemodError):
    """The package binds no such name."""


class NotAReexport(CodemodError):
    """The name is defined in the `__init__`, or has more than one origin."""


class Unreadable(CodemodError):
    """A file that must be read cannot be read or parsed."""


class BadConfiguration(CodemodError):
    """`pyproject.toml` or `narrowed.toml` holds something this version does not know."""


class CannotWrite(CodemodError):
    """A file cannot be written, or has changed since it was scanned. Nothing was left half done."""


class Interrupted(CodemodError):
    """A journal of an earlier run is in the way and cannot be finished."""


class WorkerLost(CodemodError):
    """A worker process was killed before it had done its part."""
