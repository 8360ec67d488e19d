"""TOML files, with places: what is wrong, and on which line.

Owns reading TOML for `config` and `bans`, and turning each complaint into `BadConfiguration` with path and line.
Invariant: it never touches the disk and never accepts a file that `tomllib` does not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from codemods.engine.errors import BadConfiguration

_LINE = re.compile(r"\bline (\d+)")


def parse_toml(data: bytes, path: str) -> dict[str, object]:
    """The tables of a TOML file; raises `BadConfiguration` with the line where it breaks."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return dict(tomllib.loads(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadConfiguration("is not UTF-8", path=path, line=line) from error
    except RecursionError as error:
        raise BadConfiguration("is nested too deeply", path=path) from error
    except ValueError as error:
        said = str(error)
        place = _LINE.search(said)
        line = int(place[1]) if place else data.count(b"\n") + 1 if "end of document" in said else 0
        raise BadConfiguration(f"is not valid TOML: {said}", path=path, line=line) from error


def line_of_key(text: str, key: str, table: str = "") -> int:
    """The 1-based line where `key` is written, first under the header of `table`, else anywhere; 0 if not found."""
    lines = text.split("\n")
    written = _spelled(key)
    assigned = re.compile(rf"(?:^|[{{,.\s]){written}\s*[.=]")
    headed = re.compile(rf"\s*\[\[?[^#]*(?<![\w-]){written}\s*[.\]]")
    wanted, current = _plain(table), ""
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.startswith("["):
            current = _plain(stripped)
        if current == wanted and assigned.search(line.partition("#")[0] if "#" not in key else line):
            return number
    for pattern in (headed, assigned):
        for number, line in enumerate(lines, 1):
            if pattern.search(line):
                return number
    return 0


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, else all of them."""
    import difflib

    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(words)}"


def _spelled(key: str) -> str:
    """A pattern for a key, bare or in quotes."""
    return rf"(?:\"{re.escape(key)}\"|'{re.escape(key)}'|(?<![\w\"'-]){re.escape(key)}(?![\w\"'-]))"


def _plain(header: str) -> str:
    """A table's dotted name out of its header, without brackets, blanks and quotes."""
    return re.sub(r"[\s\[\]\"']", "", header.partition("#")[0])
