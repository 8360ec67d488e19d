"""Parts become pull requests: branches are pushed, and `gh` or `glab` opens one for each.

Owns the calls of those two programs, and the choice of repository and base branch.
Invariant: only the branches of parts are pushed and never by force; what is open stays, so that a second run opens nothing twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codemods.engine.errors import CodemodError
from codemods.engine.git import LOCAL, Repository, push_words

TOOLS = ("gh", "glab")
_LONGEST = {"gh": 60_000, "glab": 24_000}  # GitHub takes 65,536 characters; glab takes them as one argument
_LONGEST_TITLE = 250  # characters; GitHub takes 256, GitLab 255
_SETTINGS = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
_SHOWN = 20  # lines of what a program said
_INSTALL = {"gh": "https://cli.github.com", "glab": "https://gitlab.com/gitlab-org/cli"}
_URL = re.compile(r"(?:[a-z+]+://(?:[^@/]+@)?(?P<host>[^:/]+)(?::\d+)?/|(?:[^@/:]+@)?(?P<alias>[^:/]+):)(?P<path>.+)")


class ForgeFailed(CodemodError):
    """Pull requests cannot be opened, or not all of them."""


@dataclass(frozen=True, slots=True)
class Forge:
    """Where pull requests go, and with what."""

    tool: str  # gh or glab
    remote: str  # where the branches are pushed
    base: str  # the branch that they are for
    repository: str = ""  # as the tool takes it; empty: the tool finds it
    fork: str = ""  # the owner (gh) or the path (glab) of the remote, where that is another repository


@dataclass(frozen=True, slots=True)
class Proposal:
    """One pull request to open."""

    number: int
    branch: str
    commit: str
    title: str
    body: str
    draft: bool = False


def forge_of(repository: Repository, tool: str, remote: str = "", base: str = "") -> Forge:
    """Where pull requests for branches at HEAD go. `tool` may be `auto`. Raises ForgeFailed."""
    remotes = repository.ask("remote").splitlines()
    here = repository.ask("symbolic-ref", "--quiet", "HEAD")  # empty where HEAD is detached
    fields = "%(push:remotename)%00%(upstream:remotename)%00%(upstream)"
    told = repository.ask("for-each-ref", f"--format={fields}", here) if here else ""
    pushed, followed, upstream = told.split("\0") if told else ("", "", "")
    chosen = remote or pushed or followed or ("origin" if "origin" in remotes else "")
    if not chosen and len(remotes) == 1:
        chosen = remotes[0]
    if chosen not in remotes:
        known = f"there is {', '.join(remotes)}: pass --remote" if remotes else "add one with git remote add"
        detail = f"there is no remote {chosen}" if chosen else "there is no remote to push to"
        raise ForgeFailed(detail, hint=known)
    target = followed if followed in remotes else chosen  # a fork is pushed to, its upstream gets the pull requests
    host, path = _place(repository, target)
    kind = tool if tool in TOOLS else _tool(host, target)
    _, pushed_to = _place(repository, chosen, "--push")
    apart = bool(path and pushed_to) and path != pushed_to
    fork = (pushed_to.partition("/")[0] if kind == "gh" else pushed_to) if apart else ""
    spelled = (f"{host}/{path}" if kind == "gh" else f"https://{host}/{path}") if path and "." in host else ""
    return Forge(kind, chosen, base or _base(repository, target, here, upstream), spelled, fork)


def check_installed(forge: Forge) -> None:
    """Raise ForgeFailed if the program is not there, before anything is made or pushed."""
    if shutil.which(forge.tool) is None:
        hint = f"install it ({_INSTALL[forge.tool]}), or see with --dry-run what it would be asked"
        raise ForgeFailed(f"--open needs the program {forge.tool}, which is not installed", hint=hint)


def script(forge: Forge, proposals: Sequence[Proposal]) -> list[str]:
    """The commands that open these, for a shell: the push, then one line for each."""
    lines = [shlex.join(["git", *push_words(forge.remote, [each.branch for each in proposals])])]
    for each in proposals:
        body = f"git log -1 --format=%b {shlex.quote(each.branch)}"
        kept = _cut(forge, each.body)
        body += f" | head -n {kept.count(chr(10)) + 1}" if kept != each.body else ""
        words = shlex.join(_create(forge, each))
        lines.append(f"{body} | {words} --body-file -" if forge.tool == "gh" else f'{words} --description "$({body})"')
    return lines


def open_all(
    repository: Repository,
    forge: Forge,
    proposals: Sequence[Proposal],
    most: int = 0,
    tell: Callable[[str], None] = lambda line: None,
) -> int:
    """Open what is not open yet, at most so many (0: all); how many are left. Raises ForgeFailed, which says what is open."""
    found = {each.branch: _there(repository, forge, each) for each in proposals}
    for each in proposals:
        if found[each.branch]:
            tell(f"kept {each.number} {each.branch}: {found[each.branch]}")
    missing = [each for each in proposals if not found[each.branch]]
    now = missing[: most or None]
    repository.push(forge.remote, [each.branch for each in now])
    for each in now:
        try:
            found[each.branch] = _opened(repository, forge, each)
        except ForgeFailed as failed:
            with contextlib.suppress(ForgeFailed):  # it may be there, and only the answer was lost
                found[each.branch] = _there(repository, forge, each)
            if not found[each.branch]:
                is_open = ", ".join(str(other.number) for other in proposals if found[other.branch]) or "none"
                is_not = ", ".join(str(other.number) for other in proposals if not found[other.branch])
                detail = f"part {each.number} ({each.branch}) is not open: {failed.detail}"
                hint = f"open: {is_open}; not open: {is_not}. Running again opens those and keeps the others"
                raise ForgeFailed(detail, hint=hint) from failed
        tell(f"opened {each.number} {each.branch}: {found[each.branch]}")
    return len(missing) - len(now)


def _opened(repository: Repository, forge: Forge, each: Proposal) -> str:
    """Open one; its address, as far as the tool says it."""
    words, body = _create(forge, each), _cut(forge, each.body)
    if forge.tool == "gh":
        said = _call(repository, [*words, "--body-file", "-"], body)
    else:
        said = _call(repository, [*words, "--description", body])
    return str((re.findall(r"https?://\S+", said) or ["opened"])[-1])


def _there(repository: Repository, forge: Forge, wanted: Proposal) -> str:
    """The address of a pull request for this branch that is open, or was for this very commit; empty if there is none."""
    where = ["--repo", forge.repository] if forge.repository else []
    if forge.tool == "gh":
        fields = "headRefOid,headRepositoryOwner,isCrossRepository,state,url"
        words = ["gh", "pr", "list", *where, "--head", wanted.branch, "--state", "all", "--json", fields]
    else:
        words = ["glab", "mr", "list", *where, "--source-branch", wanted.branch, "--all", "--output", "json"]
    said = _call(repository, words)
    kept: list[str] = []
    try:
        for row in json.loads(said or "[]"):
            commit, link = row.get("headRefOid") or row.get("sha"), str(row.get("url") or row.get("web_url"))
            state = str(row["state"]).lower().replace("opened", "open")
            if "isCrossRepository" in row:
                owner = (row.get("headRepositoryOwner") or {}).get("login", "") if row["isCrossRepository"] else ""
                own = owner.lower() == forge.fork.lower()
            else:
                own = bool(forge.fork) or row.get("source_project_id") == row.get("target_project_id")
            # one for another commit is the work of this part with more on top, or an earlier one of that name
            if (state == "open" and own) or commit == wanted.commit:
                kept.insert(0 if state == "open" else len(kept), link if state == "open" else f"{link} ({state})")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ForgeFailed(f"what {forge.tool} lists cannot be understood: {error!r}") from error
    return kept[0] if kept else ""


def _create(forge: Forge, each: Proposal) -> list[str]:
    where = ["--repo", forge.repository] if forge.repository else []
    title = each.title if len(each.title) <= _LONGEST_TITLE else f"{each.title[: _LONGEST_TITLE - 3]}..."
    if forge.tool == "gh":
        head = f"{forge.fork}:{each.branch}" if forge.fork else each.branch
        words = ["gh", "pr", "create", *where, "--base", forge.base, "--head", head, "--title", title]
    else:
        words = ["glab", "mr", "create", *where, *(["--head", forge.fork] if forge.fork else [])]
        words += ["--source-branch", each.branch, "--target-branch", forge.base, "--title", title, "--yes"]
    return [*words, *(["--draft"] if each.draft else [])]


def _cut(forge: Forge, body: str) -> str:
    """As many whole lines as the forge takes. The commit has the rest."""
    if len(body.encode("utf-8")) <= _LONGEST[forge.tool]:
        return body
    cut = body.encode("utf-8")[: _LONGEST[forge.tool]]
    return cut.rpartition(b"\n")[0].decode("utf-8", "ignore")


def _call(repository: Repository, words: Sequence[str], given: str = "") -> str:
    environment = {name: value for name, value in os.environ.items() if name not in LOCAL} | _SETTINGS
    try:
        done = subprocess.run(
            list(words),
            cwd=repository.root,
            env=environment,
            input=given.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise ForgeFailed(f"{words[0]} cannot be started: {error.strerror}") from error
    said = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        lines = (done.stderr.decode("utf-8", "replace") + said).strip().splitlines() or ["it says nothing"]
        shown = "\n    ".join(lines[-_SHOWN:])
        raise ForgeFailed(f"{' '.join(words[:3])} failed (exit code {done.returncode}): {shown}")
    return said


def _place(repository: Repository, remote: str, *option: str) -> tuple[str, str]:
    """Host and path of a remote; empty for a folder. An address that git takes for another one counts as written, too."""
    questions = (["remote", "get-url", *option, remote], ["config", f"remote.{remote}.url"])
    for question in questions:
        found = _URL.fullmatch(repository.ask(*question))
        host = (found["host"] or found["alias"] or "") if found else ""
        if found and host:
            return host.lower(), found["path"].strip("/").removesuffix(".git")
    return "", ""


def _tool(host: str, remote: str) -> str:
    for name, tool in (("github", "gh"), ("gitlab", "glab")):
        if name in host:
            return tool
    where = f"the remote {remote} is at {host}" if host else f"the remote {remote} is no address of a server"
    raise ForgeFailed(
        f"{where}, which does not say what opens pull requests there", hint="pass --open=gh or --open=glab"
    )


def _base(repository: Repository, remote: str, here: str, upstream: str) -> str:
    """The branch that pull requests are for: the remote's main one, else the one that is followed; it must hold HEAD.

    If it did not, each pull request would show the commits that only HEAD has.
    """
    lead = f"refs/remotes/{remote}/"
    main = repository.ask("symbolic-ref", "--quiet", f"{lead}HEAD")
    candidates = [ref for ref in (main, upstream) if ref.startswith(lead)]
    for ref in candidates:
        if repository.ask("rev-list", "--count", "HEAD", f"^{ref}") == "0":
            return ref.removeprefix(lead)
    if candidates:
        names = " and ".join(dict.fromkeys(ref.removeprefix("refs/remotes/") for ref in candidates))
        hint = "push them first, or pass --base"
        raise ForgeFailed(f"HEAD has commits that {names} has not; every pull request would show them", hint=hint)
    if not here:
        raise ForgeFailed("HEAD is on no branch, and the remote names no main one", hint="pass --base")
    return here.removeprefix("refs/heads/")
