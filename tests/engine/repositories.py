"""Small git repositories for tests.

Owns the calls of git of the suite. Invariant: no configuration of the machine is read.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path, *arguments: str) -> str:
    """What git says; fails where git does."""
    done = subprocess.run(["git", *arguments], cwd=root, env=ENVIRONMENT, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "surrogateescape")


def committed(root: Path) -> str:
    """Make a folder a repository with one commit of all that it holds."""
    git(root, "init", "-q", "-b", "main", ".")
    for name, value in (("user.name", "Ann Other"), ("user.email", "ann@example.org"), ("core.autocrlf", "false")):
        git(root, "config", name, value)
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "first")
    return git(root, "rev-parse", "HEAD").strip()


def state(root: Path) -> tuple[str, bytes, str]:
    """HEAD, the index to the byte, and what status says."""
    head = (root / ".git/HEAD").read_text()
    return head, (root / ".git/index").read_bytes(), git(root, "--no-optional-locks", "status", "--porcelain")
