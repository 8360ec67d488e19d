"""What other repositories take from here: the pre-commit hooks, the GitHub Action and the recipes of docs/guard.md, run for real.

The tests that install something from the package index run where INSTALLS=1 is set, as `make guard` does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml" if importlib.util.find_spec("yaml") else "yaml_ft")  # libcst needs one of them

PROJECT = Path(__file__).resolve().parents[1]
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
ACTION: dict[str, Any] = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
GUIDE = (PROJECT / "docs" / "guard.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


DOCUMENTS: list[dict[str, Any]] = [yaml.safe_load(block) for block in blocks("yaml")]
RECIPES: list[list[dict[str, Any]]] = [repo["hooks"] for each in DOCUMENTS for repo in each.get("repos", ())]
BUDGETS = [hooks for hooks in RECIPES if hooks[0]["id"] == "import-cost"]
GUARDS = [hooks for hooks in RECIPES if hooks not in BUDGETS]

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed")
needs_pre_commit = pytest.mark.skipif(
    not importlib.util.find_spec("pre_commit") or not shutil.which("git"), reason="pre-commit or git is not installed"
)
needs_fixit = pytest.mark.skipif(not importlib.util.find_spec("fixit"), reason="Fixit is not installed")
installs = pytest.mark.skipif(not os.environ.get("INSTALLS"), reason="installs from the package index: set INSTALLS=1")

ROW = '"pkg:sym" = { origin = "pkg.sub:sym" }\n'
TREE = {
    "narrowed.toml": f"version = 1\n\n[symbols]\n{ROW}",
    "pkg/__init__.py": "",
    "pkg/sub.py": "def sym():\n    return 1\n\n\ndef late():\n    return 2\n",
    "main.py": "from pkg.sub import sym\n\nprint(sym())\n",
    "other.py": "from pkg import late\n\nprint(late())\n",
}
BUDGET = '[tool.codemods.import_cost.budgets]\nmain = { forbid = ["torch"], max-modules = 9 }\n'
WRONG = "import os\nfrom pkg import sym\n\nprint(os.name, sym())\n"
RIGHT = WRONG.replace("from pkg import", "from pkg.sub import")


def environment(**more: str) -> dict[str, str]:
    """The environment of a person who has nothing configured."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_", "PRE_COMMIT"))}
    ours = {"PYTHONPATH": str(PROJECT), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {**kept, **ours, **names, **more}


def run(command: list[str], folder: Path, env: Mapping[str, str], *, ok: bool | None = True) -> str:
    """What a command says; it must succeed, or fail where `ok` is False."""
    done = subprocess.run(command, cwd=folder, env=dict(env), capture_output=True, text=True, encoding="utf-8")
    said = done.stdout + done.stderr
    assert ok is None or (done.returncode == 0) is ok, f"exit {done.returncode}\n{said}"
    return said


def laid(root: Path, files: Mapping[str, str] = TREE) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
    return root


# pre-commit


def as_local(hook: Mapping[str, Any]) -> dict[str, Any]:
    """The hook as one of `repo: local` in this interpreter: nothing is installed."""
    python = shlex.quote(sys.executable)
    name, rest = re.fullmatch(r"(\S+)(.*)", hook["entry"], re.DOTALL).groups()  # type: ignore[union-attr]
    ours = {"check-narrowed": "codemods.check_narrowed", "import-cost": "codemods.import_cost"}
    entry = f"{python} -m {ours[name]}" if name in ours else python if name == "python" else name
    kept = {key: value for key, value in hook.items() if key not in ("additional_dependencies", "description")}
    return {**kept, "language": "system", "entry": entry + rest.replace(" -I ", " ")}


class Repository:
    """A scratch git repository in which pre-commit guards each commit."""

    def __init__(self, root: Path, config: Mapping[str, Any]) -> None:
        self.root = root / "repository"
        self.env = environment(PRE_COMMIT_HOME=str(root / "cache"))
        laid(self.root)
        (self.root / ".pre-commit-config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
        for arguments in (["git", "init", "-q"], [sys.executable, "-m", "pre_commit", "install"]):
            run(arguments, self.root, self.env)

    def commit(self, files: Mapping[str, str], *, ok: bool) -> str:
        laid(self.root, files)
        run(["git", "add", "-A"], self.root, self.env)
        return run(["git", "commit", "-q", "-m", "a change"], self.root, self.env, ok=ok)


@pytest.fixture
def guarded(tmp_path: Path, request: pytest.FixtureRequest) -> Repository:
    """A repository that has the hooks, as a recipe of the guide sets them."""
    hooks = [{**as_local(HOOKS[each["id"]]), **each} for each in request.param]
    return Repository(tmp_path, {"repos": [{"repo": "local", "hooks": hooks}]})


PLAIN = pytest.mark.parametrize("guarded", [[{"id": "check-narrowed"}]], indirect=True, ids=["check-narrowed"])


@needs_pre_commit
@pytest.mark.parametrize(
    "guarded",
    [pytest.param(hooks, marks=needs_fixit if "fixit" in str(hooks) else ()) for hooks in GUARDS],
    indirect=True,
    ids=[", ".join(f"{key}={value}" for key, value in hooks[0].items()) for hooks in GUARDS],
)
def test_each_recipe_stops_a_commit_with_an_offence_and_lets_its_cure_pass(guarded: Repository) -> None:
    guarded.commit({}, ok=True)
    said = guarded.commit({"app.py": WRONG}, ok=False)
    assert "app.py" in said
    assert "from pkg.sub import sym" in said
    guarded.commit({"app.py": RIGHT}, ok=True)


@needs_pre_commit
@PLAIN
def test_a_commit_that_only_adds_a_row_is_judged_with_every_file(guarded: Repository) -> None:
    guarded.commit({}, ok=True)
    row = ROW.replace("sym", "late")
    said = guarded.commit({"narrowed.toml": TREE["narrowed.toml"] + row}, ok=False)
    assert "other.py" in said
    guarded.commit({"other.py": TREE["other.py"].replace("pkg import", "pkg.sub import")}, ok=True)


@needs_pre_commit
@PLAIN
def test_a_broken_row_stops_the_commit(guarded: Repository) -> None:
    said = guarded.commit({"narrowed.toml": 'version = 1\n[symbols]\n"pkg:sym" = 3\n'}, ok=False)
    assert "narrowed.toml" in said


@needs_pre_commit
@pytest.mark.parametrize("guarded", BUDGETS, indirect=True, ids=["import-cost"])
def test_the_recipe_for_budgets_stops_a_commit_that_makes_an_import_heavy(guarded: Repository) -> None:
    guarded.commit({"pyproject.toml": BUDGET}, ok=True)
    said = guarded.commit({"pkg/sub.py": f"import torch.cuda\n{TREE['pkg/sub.py']}"}, ok=False)
    assert "exceeded: import main loads torch.cuda, which its budget forbids" in said
    assert "pkg/sub.py:1" in said
    guarded.commit({"pkg/sub.py": f"{TREE['pkg/sub.py']}    import torch.cuda\n"}, ok=True)
    said = guarded.commit({"pyproject.toml": BUDGET.replace("9", "2")}, ok=False)
    assert "import main loads 3 modules of the tree, its budget is 2" in said


@needs_pre_commit
@needs_fixit
@pytest.mark.parametrize("fault", ["codemods.rules.narrow_reexport", "fixit.cli"])
def test_a_rule_that_cannot_be_imported_stops_the_commit(tmp_path: Path, fault: str) -> None:
    hook = as_local(HOOKS["fixit-narrow-reexport"])
    assert fault in hook["entry"]
    hook["entry"] = hook["entry"].replace(fault, f"{fault}_gone")
    repository = Repository(tmp_path, {"repos": [{"repo": "local", "hooks": [hook]}]})
    assert "ModuleNotFoundError" in repository.commit({}, ok=False)


@needs_pre_commit
@installs
def test_the_hooks_install_from_this_repository(tmp_path: Path) -> None:
    source = snapshot(tmp_path, environment())
    with ThreadPoolExecutor() as pool:  # most of the time is waiting for the index
        list(pool.map(lambda hook: check_installed(tmp_path / hook, source, hook), HOOKS))


def check_installed(folder: Path, source: Path, hook: str) -> None:
    env = environment(PRE_COMMIT_HOME=str(folder / "cache"), PYTHONPATH="")
    root = laid(folder / "repository", {**TREE, "app.py": WRONG, "pyproject.toml": BUDGET.replace("9", "2")})
    for arguments in (["git", "init", "-q"], ["git", "add", "-A"]):
        run(arguments, root, env)
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(source), hook, "--all-files"]
    expected = "its budget is 2" if hook == "import-cost" else "from pkg.sub import sym"
    assert expected in run(command, root, env, ok=False)


def snapshot(tmp_path: Path, env: Mapping[str, str]) -> Path:
    """A repository with what stands in this one now, also what is not committed yet."""
    source = tmp_path / "source"
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        source.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, source / name)
    shutil.copytree(PROJECT / "codemods", source / "codemods", ignore=shutil.ignore_patterns("__pycache__"))
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "now"]):
        run(["git", *arguments], source, env)
    return source


@needs_pre_commit
def test_pre_commit_accepts_the_hooks(tmp_path: Path) -> None:
    file = str(PROJECT / ".pre-commit-hooks.yaml")
    run([sys.executable, "-m", "pre_commit", "validate-manifest", file], tmp_path, environment())


def test_the_hooks_are_complete() -> None:
    for hook in HOOKS.values():
        assert hook["language"] == "python"
        assert {"id", "name", "entry", "description"} <= hook.keys()
    for name in ("check-narrowed", "import-cost"):  # their verdicts depend on more than the files of a commit
        assert HOOKS[name]["pass_filenames"] is False
        assert "toml" in HOOKS[name]["types_or"]


# The Action


def script(step: Mapping[str, Any], given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What a step of the Action runs, and its environment."""
    values = {f"inputs.{name}": each["default"] for name, each in ACTION["inputs"].items()} | dict(given)
    expression = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
    return step["run"], {name: expression.sub(lambda m: values[m[1]], text) for name, text in step["env"].items()}


def run_step(number: int, folder: Path, temp: Path, **inputs: str) -> tuple[int, str]:
    """The exit code and output of one step, run as the runner runs it."""
    given = {"github.action_path": str(PROJECT), "runner.temp": str(temp)}
    given |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
    text, env = script(ACTION["runs"]["steps"][number], given)
    file = temp / f"step{number}.sh"
    file.write_text(text, encoding="utf-8")
    command = [BASH or "bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)]
    done = subprocess.run(
        command, cwd=folder, env=environment(**env, PYTHONPATH=""), capture_output=True, text=True, encoding="utf-8"
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """The runner's folder, with a command that stands for the installed one."""
    file = tmp_path / "temp" / "check-narrowed" / "bin" / "check-narrowed"
    file.parent.mkdir(parents=True)
    command = (
        f'PYTHONPATH={shlex.quote(str(PROJECT))} exec {shlex.quote(sys.executable)} -m codemods.check_narrowed "$@"'
    )
    file.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    file.chmod(0o755)
    return tmp_path / "temp"


@needs_bash
def test_the_action_annotates_an_offence_and_fails(tmp_path: Path, temp: Path) -> None:
    root = laid(tmp_path / "repository", {**TREE, "app.py": WRONG})
    code, said = run_step(1, root, temp)
    assert code == 1
    assert re.search(r"^::error file=app\.py,line=2\b.*from pkg\.sub import sym", said, re.MULTILINE)
    assert run_step(1, laid(root, {"app.py": RIGHT}), temp)[0] == 0


@needs_bash
def test_the_action_fails_where_the_rows_cannot_be_read(tmp_path: Path, temp: Path) -> None:
    code, said = run_step(1, laid(tmp_path / "repository", {**TREE, "narrowed.toml": "version ="}), temp)
    assert code == 3
    assert "narrowed.toml" in said


@needs_bash
def test_the_inputs_of_the_action_reach_the_command(tmp_path: Path, temp: Path) -> None:
    root = laid(tmp_path / "repository", {**TREE, "app/a.py": WRONG, "lib/b.py": WRONG, "c.py": WRONG})
    code, said = run_step(1, root, temp, paths="app\n  lib", output_format="text")
    assert code == 1
    assert "app/a.py:2" in said
    assert "lib/b.py:2" in said
    assert "c.py" not in said
    assert "::error" not in said


@needs_bash
def test_an_input_of_the_action_is_never_run(tmp_path: Path, temp: Path) -> None:
    root = laid(tmp_path / "repository")
    assert run_step(1, root, temp, paths="$(touch,x) `touch,x` ; touch x")[0] != 0
    assert not list(root.glob("*x"))
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert "uses" not in step


@needs_bash
def test_the_action_says_which_python_it_needs(tmp_path: Path, temp: Path) -> None:
    code, said = run_step(0, laid(tmp_path / "repository"), temp, python="no-such-python")
    assert code == 3
    assert "::error::check-narrowed needs Python 3.10 or newer, and no-such-python is none" in said


@needs_bash
@installs
def test_the_action_installs_itself_and_runs(tmp_path: Path) -> None:
    root = laid(tmp_path / "repository", {**TREE, "app.py": WRONG, "pip/__init__.py": "raise SystemExit(9)\n"})
    temp = tmp_path / "runner temp"
    temp.mkdir()
    code, said = run_step(0, root, temp, python=sys.executable)
    assert code == 0, said
    assert run_step(1, root, temp)[0] == 1


# The guide


def test_the_recipes_of_the_guide_name_what_there_is() -> None:
    assert {hook["id"] for hooks in RECIPES for hook in hooks} == set(HOOKS)
    steps = [step for each in DOCUMENTS for job in each.get("jobs", {}).values() for step in job["steps"]]
    ours = [step for step in steps if "codemods@" in step.get("uses", "")]
    assert ours
    for step in ours:
        assert step.get("with", {}).keys() <= ACTION["inputs"].keys()


@needs_bash
def test_the_gitlab_job_of_the_guide_fails_on_an_offence(tmp_path: Path, temp: Path) -> None:
    [job] = [each["check-narrowed"] for each in DOCUMENTS if "check-narrowed" in each]
    pip = temp / "check-narrowed" / "bin" / "pip"  # what it installs is there already
    pip.write_text('#!/bin/sh\ntest "$*" = "install --quiet git+https://URL/codemods@VERSION"\n', encoding="utf-8")
    pip.chmod(0o755)
    env = environment(PYTHONPATH="", PATH=f"{pip.parent}{os.pathsep}{os.environ['PATH']}")
    root = laid(tmp_path / "repository", {**TREE, "app.py": WRONG})
    command = [BASH or "bash", "-eo", "pipefail", "-c", "\n".join(job["script"])]
    assert "app.py:2" in run(command, root, env, ok=False)
    run(command, laid(root, {"app.py": RIGHT}), env)
