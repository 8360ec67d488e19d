"""Callees are followed through re-exports and decorators, and never without end."""

from __future__ import annotations

from tests.narrow_reexport.forms.registries import DEF, found


def test_re_exports_and_the_object_made_by_a_decorator_are_followed() -> None:
    ops = "from .reg import Registry\ndef make(f):\n    return Registry()\n@make\ndef op(): ...\n"
    assert found(f"from .mid import op\n@op.register('x'){DEF}", mid="from .ops import op\n", ops=ops) == [
        ("op.register", True)
    ]


def test_cycles_broken_files_and_deep_chains_do_not_raise() -> None:
    assert found(f"from .a import x\n@x{DEF}", a="from .b import x\n", b="from .a import x\n") in ([], [("x", None)])
    assert found(f"from .a import x\n@x{DEF}", a="def x(:\n") == [("x", None)]
    chain = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(60))
    assert found(f"from .reg import f0\n@f0{DEF}", chain) == [("f0", None)]
    assert found(f"from .reg import endless\n@endless{DEF}") == [("endless", None)]
    assert found("def broken(:\n") == []
