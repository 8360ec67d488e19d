"""Which strings an expression can be."""

from __future__ import annotations

import ast

import pytest

from codemods.engine.literal_names import is_open, possible
from codemods.engine.source import decode, parse
from codemods.engine.walk import analyse


def asked(code: str, *names: str) -> frozenset[str]:
    """What the first argument of the call of `f` in `code` can be, among `names`."""
    source = decode(code.encode(), "x.py")
    syntax = analyse(source, parse(source))
    (use,) = [use for use in syntax.calls if isinstance(use.node, ast.Call) and ast.unparse(use.node.func) == "f"]
    assert isinstance(use.node, ast.Call)
    return possible(use.node.args[0], use.scope, names)


@pytest.mark.parametrize(
    ("code", "able"),
    [
        ('f("sym")', True),
        ('f("other")', False),
        ("f(unknown)", True),
        ('f(f"s{x}")', True),
        ('f(f"t{x}")', False),
        ('f(f"{x}m")', True),
        ('f(f"{x}n")', False),
        ('f(f"{x:>3}m")', True),
        ('f("s" + x)', True),
        ('f(x + "t" + y)', False),
        ('f("%s_x" % x)', False),
        ('f("%(a)s%%" % x)', True),
        ('f("{}{{".format(x))', True),
        ('f("t{}".format(x))', False),
        ('f(b"t" + x)', True),
        ('for n in ["a", "b"]:\n    f(n)', False),
        ('for n in ["a", "sym"]:\n    f(n)', True),
        ('for n in ["a", *rest]:\n    f(n)', True),
        ('for n in {"a": 1, **rest}:\n    f(n)', True),
        ('for n in {"a": 1, "b": 2}:\n    f(n)', False),
        ('for i, n in (("sym", "a"), ("sym", "b")):\n    f(n)', False),
        ('for n, i in (("sym", "a"), ("b", "b")):\n    f(n)', True),
        ('for n, *i in (("a", "a"), ("b", "b")):\n    f(n)', True),
        ('for i, n in enumerate(("a", "b")):\n    f(n)', True),
        ('for n in ("a", "b"):\n    for n in unknown:\n        f(n)', True),
        ('[f(n) for n in ("a", "b")]', False),
        ('[f(n) for m in x for n in ("a", "b")]', False),
        ('[f(n) for n in ("a", "b") for n in m]', True),
        ('N = ("a", "b")\nfor n in N:\n    f(n)', False),
        ('N = ["a", "b"]\nfor n in N:\n    f(n)', True),
        ('N = ("a",)\nN += ("sym",)\nfor n in N:\n    f(n)', True),
        ('def g():\n    N = ["a", "b"]\n    for n in N:\n        f(n)', False),
        ('def g():\n    N = ["a", "sym"]\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = ["a", "b"]\n    N.append("sym")\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = ["a", "b"]\n    h(N)\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = M = ["a", "b"]\n    M.append("sym")\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = {"a": 1}\n    N["sym"] = 2\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = {"a": 1}\n    for n in N:\n        f(n)\n        N[n]\n    return len(N)', False),
        ('def g():\n    N = {"a": "sym"}\n    for n, v in N.items():\n        f(n)', False),
        ('def g():\n    N = {"a": "sym"}\n    for n, v in N.items():\n        f(v)', True),
        ('def g():\n    h(N := ["a", "b"])\n    for n in N:\n        f(n)', True),
        ('for n, v in (["a", 1], ["b", 2]):\n    f(n)', True),
        ('def g(N=["a"]):\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = ["a"]\n    N += ["sym"]\n    for n in N:\n        f(n)', True),
        ('def g():\n    N = ["a"]\n    def h():\n        return N\n    for n in N:\n        f(n)', True),
        ('for n in sorted({"a": 1, "b": 2}):\n    f(n)', False),
        ('for n in list({"a": 1, **x}):\n    f(n)', True),
        ('for n in ("a",) + ("b",):\n    f(n)', False),
        ('for n in ("a",) + rest:\n    f(n)', True),
        ('for n, v in {"a": "sym"}.items():\n    f(n)', False),
        ('for n in "a,sym".split(","):\n    f(n)', True),
        ('n = "a"\nf(n)', False),
        ("n = n\nf(n)", True),
        ('n = "a"\nn += "b"\nf(n)', True),
        ("def g(n):\n    f(n)", True),
        ('for x in ("a",):\n    (lambda n: f(n))("sym")', True),
        ("with x as n:\n    f(n)", True),
        ('f((n := "a"))', False),
        ('f("a" if x else "b")', False),
        ('f("a" if x else "sym")', True),
        ("f(str(x))", True),
    ],
)
def test_a_name_is_ruled_out_only_by_proof(code: str, able: bool) -> None:
    assert asked(code, "sym", "zzz9") >= ({"sym"} if able else frozenset())
    assert ("sym" in asked(code, "sym")) == able


def test_what_nothing_is_known_of_is_open() -> None:
    source = decode(b"f(x); f('a' + x)", "x.py")
    syntax = analyse(source, parse(source))
    first, second = (use for use in syntax.calls)
    assert isinstance(first.node, ast.Call) and isinstance(second.node, ast.Call)
    assert is_open(first.node.args[0], first.scope)
    assert not is_open(second.node.args[0], second.scope)
