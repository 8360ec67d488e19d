"""Who would come under a patch that moved, and what the `__init__` reads itself."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.patching import ENGINE, ENGINE_AFTER, LOCAL, PATCH, moves, refused, sees
from tests.narrow_reexport.trees import NARROWED, PKG
from tests.narrow_reexport.verbs import Tree, check_refused, check_rewritten, contents, lay, narrow
from tests.narrow_reexport.verbs import tree as laid


@pytest.mark.parametrize(
    "sub",
    [
        "def sym(x):\n    return x * 10\n\n\ndef batch(xs):\n    return [sym(x) for x in xs]\n",
        "def sym(x):\n    return sym(x - 1) if x > 2 else x\n",
        "class sym:\n    @classmethod\n    def make(cls):\n        return sym()\n",
        "def sym(x):\n    return x\n\n\nbatch = lambda x: sym(x)\n",
        "import pkg.sub\n\n\ndef sym(x):\n    return x\n\n\ndef batch(x):\n    return pkg.sub.sym(x)\n",
    ],
    ids=["another", "recursion", "class", "lambda", "path"],
)
def test_the_origin_s_own_readers_would_come_under_the_patch(sub: str) -> None:
    refused(PATCH, r"would also reach pkg/sub\.py:\d+", at="main.py:5", more={"pkg/sub.py": sub})


@pytest.mark.parametrize(
    "sub",
    [
        (
            "from __future__ import annotations\n\n\n"
            "def sym(x):\n"
            "    return x * 10\n\n\n"
            "class Sym:\n"
            "    def copy(self) -> sym:\n"
            "        other: sym = 1\n"
            "        return other\n"
        ),
        "def sym(x):\n    return x * 10\n\n\nTEN = sym(1)\n\n\n@sym\nclass Sym:\n    pass\n".replace("x * 10", "x"),
        "def sym(x):\n    return x * 10\n\n\ndef other(sym):\n    return sym(1)\n",
    ],
    ids=["annotations", "eager", "parameter"],
)
def test_reads_of_the_origin_that_no_patch_can_reach_do_not_count(sub: str) -> None:
    moves(PATCH, PATCH.replace("pkg.sym", "pkg.sub.sym"), more={"pkg/sub.py": sub})


@pytest.mark.parametrize(
    "third",
    [
        "def run():\n    from pkg.sub import sym\n\n    return sym(1)\n",
        "import pkg.sub\n\n\ndef run():\n    return pkg.sub.sym(1)\n",
        "from pkg import sub\n\n\ndef run():\n    return sub.sym(1)\n",
        "import pkg.sub as s\n\n\ndef run():\n    return getattr(s, 'sym')(1)\n",
        "from pkg.sub import sym as direct\nimport pkg.sub as s\n\n\ndef __getattr__(name):\n    return s.sym\n",
    ],
    ids=["local", "path", "module", "getattr", "module-getattr"],
)
def test_a_third_file_that_reads_the_origin_late_would_come_under_the_patch(third: str) -> None:
    refused(PATCH, r"would also reach third\.py:\d+", at="main.py:5", more={"third.py": third})


def test_a_reader_that_gets_the_origin_from_another_module_would_come_under_the_patch() -> None:
    more = {
        "holder.py": "import pkg.sub as ops\n",
        "third.py": "import holder\n\n\ndef run():\n    return holder.ops.sym(1)\n",
    }
    refused(PATCH, r"would also reach third\.py:5", at="main.py:5", more=more)


def test_a_third_file_that_took_the_name_before_is_left_alone() -> None:
    third: Tree = {"third.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    test = (
        "from unittest import mock\n\n"
        "import engine\n"
        "import third\n\n"
        'with mock.patch("pkg.sym", return_value="mocked"):\n'
        "    print(engine.run(1), third.run(1))\n"
    )
    moves(test, test.replace("pkg.sym", "pkg.sub.sym"), more=third)


@pytest.mark.parametrize(
    "direct",
    [
        'mock.patch("pkg.sub.sym")',
        'mock.patch.object(pkg.sub, "sym")',
        'mock.patch.object(pkg.sub, attribute="sym")',
    ],
)
def test_a_test_that_patches_the_origin_already_stands_in_the_way(direct: str) -> None:
    other = f"from unittest import mock\n\nimport pkg.sub\n\nwith {direct}:\n    pass\n"
    refused(PATCH, r"other\.py:5 patches pkg\.sub\.sym too", at="main.py:5", more={"other.py": other})


def test_a_patch_of_the_origin_by_object_keeps_local_readers_out_too() -> None:
    test = 'from unittest import mock\n\nimport pkg.sub\n\nwith mock.patch.object(pkg.sub, "sym"):\n    pass\n'
    refused(test, "patches the name at its origin", at="engine.py:2", engine=LOCAL)


def test_an_accepted_patch_is_left_to_the_person_who_accepted_it() -> None:
    sub = "def sym(x):\n    return x * 10\n\n\ndef batch(xs):\n    return [sym(x) for x in xs]\n"
    test = PATCH.replace('"mocked"):', '"mocked"):  # codemods: accept narrow_reexport')
    tree = {**PKG, **ENGINE, "pkg/sub.py": sub, "main.py": test}
    check_rewritten(tree, "pkg", "sym", {**NARROWED, **ENGINE_AFTER}, says="accepted")


OWN = {"pkg/__init__.py": "from .sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
OWN_TEST = (
    "from unittest import mock\n\n"
    "import pkg\n\n"
    'with mock.patch("pkg.sym", return_value="mocked"):\n'
    "    print(pkg.run(1))\n"
)


def test_a_name_that_the_init_reads_in_functions_moves_with_its_import() -> None:
    tree = {**PKG, **OWN, "main.py": OWN_TEST}
    sees(tree, "mocked")
    after = {
        "pkg/__init__.py": "def run(x):\n    from .sub import sym\n    return sym(x)\n",
        "main.py": OWN_TEST.replace("pkg.sym", "pkg.sub.sym"),
    }
    check_rewritten(tree, "pkg", "sym", after, run=["main"], unloaded=["pkg.sub"])


@pytest.mark.parametrize(
    "body",
    ["    return lambda: sym(1)\n", "    print(sym)\n\n    def inner():\n        return sym(1)\n\n    return inner\n"],
)
def test_a_function_that_the_init_makes_would_keep_the_name_it_found(body: str) -> None:
    tree = {**PKG, "pkg/__init__.py": f"from .sub import sym\n\n\ndef make():\n{body}", "main.py": OWN_TEST}
    check_refused(tree, "pkg", "sym", "in a function inside another", at="main.py:5")


def test_a_name_that_the_init_keeps_keeps_its_patches() -> None:
    init = "from .sub import sym\n\nTEN = sym(1)\n\n\ndef run(x):\n    return sym(x)\n"
    tree = {**PKG, "pkg/__init__.py": init, "main.py": OWN_TEST}
    sees(tree, "mocked")
    check_rewritten(
        tree, "pkg", "sym", {}, options=["--callers-only"], run=["main"], says=r"warning: main\.py:5.*keeps the name"
    )


def test_readers_on_both_sides_of_a_kept_name_are_refused() -> None:
    init = "from .sub import sym\n\nTEN = sym(1)\n\n\ndef run(x):\n    return sym(x)\n"
    tree = {**PKG, **ENGINE, "pkg/__init__.py": init, "main.py": OWN_TEST}
    check_refused(tree, "pkg", "sym", "no one target covers both", at="main.py:5", options=["--callers-only"])


def test_a_kept_name_that_only_call_sites_read_late_is_patched_at_its_origin() -> None:
    init = "from .sub import sym\n\nTEN = sym(1)\n"
    tree = {**PKG, **ENGINE, "pkg/__init__.py": init, "main.py": PATCH}
    sees(tree, "mocked")
    after = {**ENGINE_AFTER, "main.py": PATCH.replace("pkg.sym", "pkg.sub.sym")}
    check_rewritten(tree, "pkg", "sym", after, options=["--callers-only"], run=["main"])


def test_two_names_of_one_object_cannot_share_its_patch() -> None:
    tree = {
        **PKG,
        "pkg/__init__.py": "from .sub import sym, sym as other\n",
        "engine.py": "import pkg\n\n\ndef run(x):\n    return pkg.sym(x), pkg.other(x)\n",
        "main.py": PATCH,
    }
    check_refused(tree, "pkg", "sym other", r"would also reach engine\.py:5", at="main.py:5")


def test_what_is_first_imported_under_a_patch_would_keep_it() -> None:
    consumer = {"consumer.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    test = (
        "from unittest import mock\n\nimport engine\n\n\n"
        'def test():\n    with mock.patch("pkg.sym", return_value="mocked"):\n'
        "        import consumer\n\n        print(engine.run(1), consumer.run(1))\n\n\ntest()\n"
    )
    refused(test, r"would take the patch from pkg\.sub\.sym for good \(consumer\.py:1\)", at="main.py:7", more=consumer)
    before = test.replace('    with mock.patch("pkg.sym"', '    import consumer\n\n    with mock.patch("pkg.sym"')
    moves(before, before.replace('"pkg.sym"', '"pkg.sub.sym"'), more=consumer)
    known = test.replace("import engine\n", "import engine\nimport consumer\n")
    moves(known, known.replace('"pkg.sym"', '"pkg.sub.sym"'), more=consumer)


def test_what_takes_the_name_through_the_package_under_a_patch_goes_on_doing_so() -> None:
    consumer: Tree = {"consumer.py": "from pkg import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    after: Tree = {"consumer.py": "from pkg.sub import sym\n\n\ndef run(x):\n    return sym(x)\n"}
    test = (
        "from unittest import mock\n\nimport engine\n\n\n"
        '@mock.patch("pkg.sym", return_value="mocked")\ndef test(m):\n'
        "    import consumer\n\n    print(engine.run(1), consumer.run(1))\n\n\ntest()\n"
    )
    moves(test, test.replace('"pkg.sym"', '"pkg.sub.sym"'), more=consumer, more_after=after)


def test_the_patches_of_another_checkout_are_part_of_the_question() -> None:
    test = (
        "from unittest import mock\n\nimport engine\n\n\n"
        'def test_engine():\n    with mock.patch("pkg.sym", return_value="mocked"):\n'
        "        import third\n\n        print(engine.run(1), third)\n"
    )
    with laid({"a/x": "", **{f"a/{path}": text for path, text in PKG.items()}, "b/test_engine.py": test}) as root:
        lay(root / "b", {**ENGINE, "third.py": "from pkg.sub import sym\n"})
        outcome = narrow(root / "a", "pkg", "sym", "--also", "../b")
        assert outcome.code == 4, outcome.text
        assert "third.py:1" in outcome.text
        lay(root / "b", {"third.py": "from pkg import sym\n"})
        outcome = narrow(root / "a", "pkg", "sym", "--also", "../b")
        assert outcome.code == 0, outcome.text
        found = contents(root / "b")
        assert b'mock.patch("pkg.sub.sym"' in found["test_engine.py"]
        assert found["engine.py"].decode() == ENGINE_AFTER["engine.py"]
