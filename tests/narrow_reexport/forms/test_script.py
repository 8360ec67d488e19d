"""Commands that read the symbol are warned of; prose and comments in the same files are mentions."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED
from tests.narrow_reexport.verbs import check_rewritten


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.sh", "#!/bin/sh\npython -c 'from pkg import sym'\n"),
        ("run.sh", "#!/bin/sh\npython3.12 -W error -c 'import pkg; pkg.sym(2)'\n"),
        ("run.bash", "python - <<EOF\nfrom pkg import sym\nEOF\n"),
        ("Dockerfile", "FROM x\nRUN python -c 'from pkg import sym'\n"),
        (".github/workflows/ci.yml", "jobs:\n  run: python -c 'import pkg; pkg.sym(2)'\n"),
        (".buildkite/image.yaml", """steps:\n  - python3 -c "import pkg; print(pkg.sym)"\n"""),
        ("Makefile", "all:\n\tpython -c 'from pkg import sym'\n"),
        ("Procfile", "# x\nweb: uvicorn --reload pkg:sym\n"),
        ("deploy/app.service", "[Service]\nExecStart=/opt/bin/gunicorn -w 4 pkg:sym\n"),
        ("tox.ini", "[testenv]\ncommands = python -c 'from pkg import sym'\n"),
    ],
)
def test_a_command_that_reads_the_symbol_is_a_warning(path: str, text: str) -> None:
    check_rewritten({**PKG, path: text}, "pkg", "sym", dict(NARROWED), says=rf"warning: {path}:2: a command")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.sh", "#!/bin/sh\n# python -c 'from pkg import sym'\n"),
        ("run.sh", "#!/bin/sh\necho pkg.sym is slow\n"),
        ("Makefile", "all:\n\techo pkg:sym # uvicorn pkg:sym\n"),
        ("build.ps1", "# x\nWrite-Output pkg.sym\n"),
    ],
)
def test_other_text_in_a_script_is_a_mention(path: str, text: str) -> None:
    outcome = check_rewritten({**PKG, path: text}, "pkg", "sym", dict(NARROWED), says=rf"{path}:2")
    assert "warning: " not in outcome.text


def test_running_the_module_of_the_name_is_no_read() -> None:
    tree = {**SAME, "run.sh": "python -m pkg.fused\n"}
    outcome = check_rewritten(tree, "pkg", "fused", dict(SAME_NARROWED))
    assert "run.sh" not in outcome.text
