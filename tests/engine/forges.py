"""Stand-ins for `gh` and `glab`: they know pull requests of a local bare repository, and record each call.

Owns those programs, and a checkout with such a remote. Invariant: like the real ones, a stand-in opens nothing for a branch that is
not pushed, nor twice for the same branch.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.engine.repositories import committed, git

_PROGRAM = """#!{python} -IS
import json, os, subprocess, sys
folder, tool, words = {folder!r}, {tool!r}, sys.argv[1:]
def value(*names):
    for name in names:
        if name in words:
            return words[words.index(name) + 1]
    return ""
body = sys.stdin.buffer.read().decode() if value("--body-file") == "-" else value("--description")
with open(folder + "/calls", "a") as calls:
    calls.write(json.dumps([[tool, *words], body]) + "\\n")
try:
    requests = json.load(open(folder + "/requests"))
except FileNotFoundError:
    requests = []
branch = (value("--head") if tool == "gh" else value("--source-branch")).rpartition(":")[2]
if words[1] == "list":
    found = [row for row in requests if row["branch"] == branch]
    print(json.dumps([row[tool] for row in found]))
    sys.exit()
if os.path.exists(folder + "/broken") and open(folder + "/broken").read() in branch:
    sys.exit("HTTP 502: the server is having a bad day")
asked = ["git", "--git-dir", {bare!r}, "rev-parse", "--verify", "-q", "refs/heads/" + branch]
commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
if not commit:
    sys.exit("Head sha can't be blank")
if any(row["branch"] == branch and (row["gh"]["state"], row["gh"]["isCrossRepository"]) == ("OPEN", False) for row in requests):
    sys.exit("a pull request for branch %s already exists" % branch)
url = "https://forge.example/pull/%d" % (len(requests) + 1)
row = {{"branch": branch, "title": value("--title"), "body": body, "draft": "--draft" in words}}
row["base"] = value("--base", "--target-branch")
row["gh"] = {{"headRefOid": commit, "state": "OPEN", "url": url}}
row["gh"].update({{"headRepositoryOwner": {{"login": "acme"}}, "isCrossRepository": False}})
row["glab"] = {{"sha": commit, "state": "opened", "web_url": url, "source_project_id": 1, "target_project_id": 1}}
json.dump([*requests, row], open(folder + "/requests", "w"))
if os.path.exists(folder + "/lost"):
    sys.exit("HTTP 504: no answer in time")
print("Creating pull request for %s" % branch, file=sys.stderr)
print(url)
"""


@dataclass(frozen=True, slots=True)
class StandIns:
    """The two programs, what they know, and the repository that pull requests are for."""

    folder: Path
    bare: Path

    @property
    def path(self) -> str:
        """PATH with the stand-ins in front."""
        return f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def calls(self, *start: str) -> list[tuple[list[str], str]]:
        """The calls so far, as words and body, those that start with these words."""
        file = self.folder / "calls"
        rows = [json.loads(row) for row in file.read_text().splitlines()] if file.exists() else []
        return [(words, body) for words, body in rows if words[: len(start)] == list(start)]

    def requests(self) -> list[dict[str, Any]]:
        """The pull requests that are open."""
        file = self.folder / "requests"
        return json.loads(file.read_text()) if file.exists() else []  # type: ignore[no-any-return]

    def know(self, requests: list[dict[str, Any]]) -> None:
        """Make these the pull requests that are known."""
        (self.folder / "requests").write_text(json.dumps(requests))

    def fail_for(self, branch: str) -> None:
        """Creating a pull request fails for branches with this in the name; for none if it is empty."""
        (self.folder / "broken").write_text(branch) if branch else (self.folder / "broken").unlink()

    def lose_answers(self) -> None:
        """From now on requests are opened, and the program fails all the same."""
        (self.folder / "lost").touch()

    def forget_calls(self) -> None:
        """Begin to count anew."""
        (self.folder / "calls").unlink(missing_ok=True)

    def branches(self) -> dict[str, str]:
        """The branches of the remote, and their commits."""
        rows = git(self.bare, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads").splitlines()
        return dict(row.split(" ", 1) for row in rows)


def stand_ins(folder: Path) -> StandIns:
    """Both programs in a folder of their own, with an empty bare repository."""
    made = StandIns(folder, folder / "remote.git")
    (folder / "bin").mkdir(parents=True)
    git(folder, "init", "-q", "--bare", "-b", "main", str(made.bare))
    for tool in ("gh", "glab"):
        program = folder / "bin" / tool
        program.write_text(_PROGRAM.format(python=sys.executable, folder=str(folder), tool=tool, bare=str(made.bare)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return made


def published(root: Path, forge: StandIns, address: str = "https://github.com/acme/widgets.git") -> str:
    """Commit a folder, and push it to the bare repository under the address of a server."""
    head = committed(root)
    git(root, "config", f"url.{forge.bare}.pushInsteadOf", address)
    git(root, "remote", "add", "origin", address)
    git(root, "push", "-q", "origin", "main")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(root, "config", "branch.main.remote", "origin")
    git(root, "config", "branch.main.merge", "refs/heads/main")
    return head
