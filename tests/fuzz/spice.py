"""What stands around the code of a tree: tests that patch, onward re-exports, stubs, pages, notebooks, settings; and odd bytes.

Owns these pieces and the ways in which a file's bytes may be unusual.
Invariant: a piece is valid by itself, and what it says of other modules of the tree is true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tests.fuzz.call_sites import CALLED, World, relative
from tests.fuzz.trees import Chooser

FAKES = {
    "function": "lambda *a: 'fake'",
    "class": "type('Fake', (), {'legs': 9})",
    "exception": "type('Fake', (Exception,), {})",
    "constant": "9",
}


def patching_test(c: Chooser, world: World, late: Sequence[tuple[str, str]], number: int) -> str:
    """Tests that patch a name around calls; `late` are (module, function) that may read it late."""
    lines = ["from unittest import mock"]
    lines += [f"import {world.package}"] if c.chance(60) else []
    called = c.some(late, 0, 2)
    lines += [f"import {module}" for module in dict.fromkeys(module for module, _ in called)]
    export = c.pick(world.exports)
    path, fake = f"{world.package}.{export.name}", FAKES[export.kind]
    calls = [f"{module}.{function}()" for module, function in called]
    if f"import {world.package}" in lines and c.chance(60):
        calls.append(CALLED[export.kind].format(e=path))
    if c.chance(30):
        calls.append(f'__import__("importlib").import_module("{export.origin}") is not None')
    shown = ", ".join(calls) or "1"
    owner = f"import {world.package}"
    ways = [
        f"def test_{number}():\n    with mock.patch('{path}', {fake}):\n        return [{shown}]",
        f"@mock.patch('{path}', new={fake})\ndef test_{number}():\n    return [{shown}]",
        f"def test_{number}(monkeypatch):\n    monkeypatch.setattr('{path}', {fake})\n    return [{shown}]",
        f"{owner}\ndef test_{number}():\n    with mock.patch.object({world.package}, '{export.name}', {fake}):\n        return [{shown}]",
        f"{owner}\ndef test_{number}(monkeypatch):\n    monkeypatch.setattr({world.package}, '{export.name}', {fake})"
        f"\n    return [{shown}]",
        f"from unittest.mock import patch\n@patch('{path}', {fake})\ndef test_{number}():\n    return [{shown}]",
        f"TARGET = '{path}'\ndef test_{number}():\n    with mock.patch(TARGET, {fake}):\n        return [{shown}]",
    ]
    if called:
        module = called[0][0]
        ways.append(
            f"def test_{number}():\n    with mock.patch('{module}.{called[0][1]}', lambda: 'whole'):\n        return [{shown}]"
        )
    return "\n".join([*lines, "", "", c.pick(ways)]) + "\n"


def onward(c: Chooser, world: World, place: str) -> str:
    """A package that gives the name on."""
    export = c.pick(world.exports)
    source = relative(world.package, place) if c.chance(30) else ""
    source = source or world.package
    name = export.name
    return c.pick(
        [
            f"from {source} import {name}\n",
            f"from {source} import {name}\n\n__all__ = ['{name}']\n",
            f"from {source} import {name} as {name}\n",
            f"from {source} import {name} as other\n",
            f"from {source} import *\n",
            f"from {source} import *\nfrom {source} import light\n",
            f"if True: from {source} import *\n",
            f"VERSION = 1; from {source} import *\n",
            f"from {source} import light, {name}  # both\n\n__all__ = ('light', '{name}')\n",
            f"import {world.package}\n\n{name} = {world.package}.{name}\n",
            f"import {world.package}\n\n__all__ = [*({world.package}.__all__ if hasattr({world.package}, '__all__') else ())]"
            f"\nfrom {source} import *\n",
        ]
    )


def page(c: Chooser, world: World) -> tuple[str, str]:
    """A document with Python in it: its path and text."""
    export = c.pick(world.exports)
    use = CALLED[export.kind].format(e=export.name)
    return c.pick(
        [
            (
                "docs/guide.md",
                f"# Guide\n\n```python\nfrom {world.package} import {export.name}\n\nprint({use})\n```\n",
            ),
            (
                "docs/guide.rst",
                f"Guide\n=====\n\n    >>> from {world.package} import {export.name}\n    >>> {use} is not None\n    True\n",
            ),
            (
                "README.md",
                f"Use `{world.package}.{export.name}`.\n\n```python\nimport {world.package}\n{world.package}.{use}\n```\n",
            ),
            ("docs/guide.txt", f">>> import {world.package}\n>>> {world.package}.{use} is not None\nTrue\n"),
        ]
    )


def notebook(c: Chooser, world: World) -> str:
    export = c.pick(world.exports)
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": [f"from {world.package} import {export.name}\n", "%time x = 1"],
        },
        {"cell_type": "markdown", "metadata": {}, "source": [f"about {export.name}"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [],
            "source": [CALLED[export.kind].format(e=export.name)],
        },
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def stub(c: Chooser, world: World) -> str:
    """A stub of a consumer."""
    export = c.pick(world.exports)
    return c.pick(
        [
            f"from {world.package} import {export.name} as {export.name}\n",
            f"from {world.package} import {export.name}\n\ndef f() -> None: ...\n",
            f"import {world.package}\n\nx: {world.package}.{export.name}\n",
        ]
    )


def entry_points(c: Chooser, world: World) -> str:
    export = c.pick(world.exports)
    return f'[project]\nname = "x"\nversion = "1"\n\n[project.scripts]\nrun = "{world.package}:{export.name}"\n'


def doctested(c: Chooser, world: World) -> str:
    export = c.pick(world.exports)
    use = CALLED[export.kind].format(e=export.name)
    return (
        f'def shown():\n    """Show.\n\n    >>> from {world.package} import {export.name}\n    >>> {use} is not None\n    True\n    """\n'
        f"    return 1\n"
    )


# --- bytes ---


def tabs(text: str) -> str:
    return re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), text, flags=re.M)


def odd_bytes(c: Chooser, text: str) -> bytes:
    """The bytes of a file, now and then unusual ones."""
    way = c.below(40)
    if way == 39:
        return text.replace("\n", "\r\n").encode()
    if way == 38:
        return tabs(text).encode() if '"""' not in text and "'''" not in text else text.encode()
    if way == 37:
        return b"\xef\xbb\xbf" + text.encode()
    if way == 36:
        return text.rstrip("\n").encode()
    if way == 35:
        return ("# -*- coding: latin-1 -*-\n# \xe9\n" + text).encode("latin-1")
    if way == 34:
        return re.sub(r"\n(?=(?:def|class|import|from) )", "\n\f\n", text).encode()
    if way == 33:
        lines = text.split("\n")
        return "".join(line + ("\r\n" if at % 2 else "\n") for at, line in enumerate(lines[:-1])).encode()
    if way == 32:
        return (
            "# \u00fcber \U0001f600\nl\u00f6we = '\u00e9'; " + text
            if not text.startswith(("'", '"', "from __", "class", "def", "try", "if", "for", "@", "with"))
            else text
        ).encode()
    if way == 31:
        return text.replace("\n", "  \n").replace("\\  \n", "\\\n").encode()
    return text.encode()
