"""An optional re-export that functions read through the package."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten

GUARDED = "try:\n    from .sub import sym\nexcept ImportError:\n    pass\n"
WORKS = "def sym(x=1):\n    return x\n"
MISSING = "import nowhere_to_be_found\n" + WORKS
IMPORT = "from pkg.sub import sym"


def files(main: str, sub: str = WORKS) -> Tree:
    return {"pkg/__init__.py": GUARDED, "pkg/sub.py": sub, "main.py": main}


@pytest.mark.parametrize("sub", [WORKS, MISSING])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f():\n    return pkg.sym()\n", f"def f():\n    {IMPORT}\n    return sym()\n"),
        (
            'def f():\n    """Doc."""\n    x = pkg.sym(2)  # two\n    return x + pkg.sym()\n',
            f'def f():\n    """Doc."""\n    {IMPORT}\n    x = sym(2)  # two\n    return x + sym()\n',
        ),
        ("def f(): return pkg.sym()\n", f"def f(): {IMPORT}; return sym()\n"),
        (
            "class C:\n    def m(a):\n        if a:\n            return pkg.sym()\n\n\ndef f():\n    C().m()\n",
            f"class C:\n    def m(a):\n        if a:\n            {IMPORT}\n            return sym()\n\n\ndef f():\n    C().m()\n",
        ),
        (
            "def f():\n    if pkg.sym():\n        return [pkg.sym(n) for n in (1, 2)]\n",
            f"def f():\n    {IMPORT}\n    if sym():\n        return [sym(n) for n in (1, 2)]\n",
        ),
        (
            "def f():\n    global sym\n    return pkg.sym()\n",
            "def f():\n    global sym\n    from pkg.sub import sym as _sym\n    return _sym()\n",
        ),
        (
            "def f():\n    sym = 3\n    return pkg.sym(sym)\n",
            "def f():\n    sym = 3\n    from pkg.sub import sym as _sym\n    return _sym(sym)\n",
        ),
        ("def f():\n    return f'{pkg.sym()}'\n", f"def f():\n    {IMPORT}\n    return f'{{sym()}}'\n"),
        (
            "def f():\n    try:\n        return pkg.sym()\n    except Exception:\n        return 'none'\n",
            f"def f():\n    try:\n        {IMPORT}\n        return sym()\n    except Exception:\n        return 'none'\n",
        ),
    ],
)
def test_the_import_stands_at_the_place_of_use(before: str, after: str, sub: str) -> None:
    tail = "\n\ntry:\n    print(f())\nexcept Exception:\n    print('missing')\n"
    tree = files(f"import pkg\n\n\n{before}{tail}", sub)
    check_rewritten(
        tree, "pkg", "sym", {"pkg/__init__.py": "", "main.py": f"import pkg\n\n\n{after}{tail}"}, run=["main"]
    )


@pytest.mark.parametrize(
    "body",
    [
        "print(pkg.sym())",
        "class C:\n    x = pkg.sym",
        "def f(x=pkg.sym):\n    pass",
        "def f(on):\n    return on and pkg.sym()",
        "def f(on):\n    return pkg.sym() if on else None",
        "def f(xs):\n    return [pkg.sym(x) for x in xs]",
        "def f():\n    return lambda: pkg.sym()",
        "def f(on):\n    if on:\n        pass\n    elif pkg.sym():\n        pass",
        "def f():\n    try:\n        return pkg.sym()\n    except AttributeError:\n        return None",
        "def f():\n    try:\n        return pkg.sym()\n    except ImportError:\n        return None",
        "def f():\n    with suppress(AttributeError):\n        return pkg.sym()",
        "def f():\n    try:\n        pass\n    except pkg.sym:\n        pass",
    ],
)
def test_a_read_that_may_not_run_or_that_is_watched_is_refused(body: str) -> None:
    main = f"from contextlib import suppress\nimport pkg\n{body}\n"
    check_refused(files(main), "pkg", "sym", "the re-export is optional", at="main.py:")


def test_a_comprehension_that_binds_the_name_gets_another() -> None:
    main = (
        "import pkg\n\n\ndef f():\n    x = pkg.sym()\n    return x, [pkg.sym(sym) for sym in (1, 2)]\n\n\nprint(f())\n"
    )
    after = main.replace("    x =", "    from pkg.sub import sym as _sym\n    x =").replace("pkg.sym(", "_sym(")
    check_rewritten(files(main), "pkg", "sym", {"pkg/__init__.py": "", "main.py": after}, run=["main"])


def test_two_symbols_never_share_a_name() -> None:
    init = GUARDED.replace("import sym", "import sym, _sym")
    main = "import pkg\n\n\ndef f(sym):\n    return pkg.sym(sym), pkg._sym()\n\n\nprint(f(1))\n"
    after = (
        "import pkg\n\n\ndef f(sym):\n    from pkg.sub import _sym as __sym\n    from pkg.sub import sym as _sym\n"
        "    return _sym(sym), __sym()\n\n\nprint(f(1))\n"
    )
    tree = {**files(main, WORKS + "\n\ndef _sym():\n    return 'other'\n"), "pkg/__init__.py": init}
    check_rewritten(tree, "pkg", "sym _sym", {"pkg/__init__.py": "", "main.py": after}, run=["main"])


def test_an_accepted_read_is_left_as_it_is() -> None:
    main = "import pkg\n\n\ndef f():\n    return pkg.sym()  # codemods: accept narrow_reexport\n"
    outcome = check_rewritten(files(main), "pkg", "sym", {"pkg/__init__.py": ""}, says="accepted: main.py:5")
    assert "1 site" not in outcome.text


def test_a_patched_origin_is_not_read_late() -> None:
    tree = {
        **files("import pkg\n\n\ndef f():\n    return pkg.sym()\n"),
        "test_it.py": "from unittest import mock\n\n\ndef test():\n    with mock.patch('pkg.sub.sym'):\n        pass\n",
    }
    check_refused(tree, "pkg", "sym", "optional", at="main.py:5")
