"""Commands in shell scripts, Dockerfiles, workflows and the like: `python -c "from pkg import sym"`, `uvicorn pkg:sym`.

Owns the question whether a line of such a file runs what it names.
Invariant: a comment runs nothing.
"""

from __future__ import annotations

import re

# python -c "...      - run: ...python3.12 -c '...
_PYTHON = re.compile(r"\b(?:python|pypy|ipython)[\d.]*w?(?:\.exe)?\b[^#\n]*?\s-c\b")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|rem\s)", re.I)
# uvicorn pkg:app       gunicorn -w 4 pkg:app()        celery -A pkg:app
_LOADERS = re.compile(
    r"\b(?:uvicorn|gunicorn|hypercorn|daphne|granian|celery|flask|waitress-serve|uwsgi|rq|dramatiq|arq|huey_consumer|faust)\b"
)


def runs_code(before: str) -> bool:
    """Whether an import statement after this part of a line is code that the line runs, as far as its looks tell."""
    if _COMMENT.search(before):
        return False
    # a here-document has the statement at the start of its line
    return not before.strip() or _PYTHON.search(before) is not None


def runs_path(before: str, match: re.Match[str]) -> bool:
    """Whether a path after this part of a line is read or loaded by what the line runs."""
    if _COMMENT.search(before):
        return False
    return _PYTHON.search(before) is not None or (match["sep"] == ":" and _LOADERS.search(before) is not None)
