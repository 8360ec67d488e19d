"""The oldest Python that a project supports, and what follows for its conditions."""

from __future__ import annotations

import ast

import pytest

from codemods.engine.python_floor import always_holds, oldest_python
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse


@pytest.mark.parametrize(
    ("files", "floor"),
    [
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.9,<4"\n'}, (3, 9)),
        ({"pyproject.toml": '[project]\nrequires-python = "~=3.10"\n'}, (3, 10)),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.8"\n'}, (3, 8)),
        ({"setup.cfg": "[options]\npython_requires = >= 3.7\n"}, (3, 7)),
        ({"setup.py": 'setup(\n    name="x",\n    python_requires=">=2.7, !=3.0.*",\n)\n'}, (2, 7)),
        ({"setup.cfg": "python_requires = >=3.6\n", "pyproject.toml": 'requires-python = ">=3.9"\n'}, (3, 6)),
        ({"pyproject.toml": '[project]\nrequires-python = "==3.11.*"\n'}, (3,)),
        ({"pyproject.toml": '[project]\nname = "x"\n'}, (3,)),
        ({"lib/pyproject.toml": 'requires-python = ">=3.12"\n', "pyproject.toml": 'requires-python = ">=3.9"\n'}, (3, 12)),
        ({}, (3,)),
    ],
)  # fmt: skip
def test_the_nearest_project_file_says_what_is_supported(files: dict[str, str], floor: tuple[int, ...]) -> None:
    assert oldest_python("lib/pkg/__init__.py", files, lambda path: files[path].encode()) == floor


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("sys.version_info >= (3, 8)", True),
        ("sys.version_info >= (3, 9)", True),
        ("sys.version_info > (3, 9)", True),
        ("sys.version_info >= (3, 9, 1)", False),
        ("sys.version_info[:2] > (3, 9)", False),
        ("sys.version_info[:2] >= (3, 9)", True),
        ("sys.version_info >= (3, 10)", False),
        ("(3, 8) <= sys.version_info", True),
        ("sys.version_info[0] >= 3", True),
        ("sys.version_info.major > 2", True),
        ("sys.version_info[0] > 3", False),
        ("sys.version_info < (3, 8)", False),
        ("sys.version_info >= LEAST", False),
        ("other.version_info >= (3, 8)", False),
        ("sys.platform == 'linux'", False),
        ("not TYPE_CHECKING", True),
        ("not DEBUG", False),
        ("True", True),
        ("0", False),
        ("True and sys.version_info >= (3,)", True),
        ("True and x", False),
        ("x or True", True),
    ],
)
def test_a_condition_that_always_holds_is_told_from_one_that_may_not(test: str, holds: bool) -> None:
    source = decode(f"import sys\nif {test}:\n    pass\n".encode(), "x.py")
    tree = parse(source)
    branch = tree.body[1]
    assert isinstance(branch, ast.If)
    assert always_holds(branch.test, analyse(source, tree), (3, 9)) is holds


def test_a_sys_that_is_another_module_proves_nothing() -> None:
    source = decode(b"import fake as sys\nif sys.version_info >= (3,):\n    pass\n", "x.py")
    tree = parse(source)
    assert isinstance(tree.body[1], ast.If)
    assert not always_holds(tree.body[1].test, analyse(source, tree), (3, 9))
