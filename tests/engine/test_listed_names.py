"""What `__all__` holds, against the interpreter."""

from __future__ import annotations

import pytest

from codemods.engine.listed_names import listed_names

WRITTEN = {
    "a plain list": "__all__ = ['a', 'b']\n",
    "a plain tuple with an annotation": "__all__: tuple[str, ...] = (\n    'a',\n    'b',\n)\n",
    "a comment with a bracket and a name in quotes": "__all__ = [\n    # see (x], was 'old'\n    'a',  # 'c'\n    'b',\n]\n",
    "two lists added": "__all__ = ['a'] + ['b']\n",
    "an augmented one": "__all__ = ['a']\n__all__ += ['b']\n",
    "a slice": "__all__ = ['b']\n__all__[0:0] = ['a']\n",
    "append and extend": "__all__ = []\n__all__.extend(['a'])\n__all__.append('b')\n",
    "under conditions": "if True:\n    __all__ = ['a']\ntry:\n    __all__ += ['b']\nexcept NameError:\n    pass\n",
    "a call": "__all__ = list(('a', 'b'))\n",
    "only in a function": "def f():\n    __all__ = ['a']\n",
    "none": "x = ['a']\n",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_the_names_are_those_that_the_interpreter_finds(text: str) -> None:
    names: dict[str, list[str]] = {}
    exec(text, names)
    assert sorted(listed_names(text.encode())) == sorted(names.get("__all__", ()))


def test_a_file_that_does_not_parse_lists_nothing() -> None:
    assert listed_names(b"__all__ = ['a'] + (\n") == ()
    assert listed_names(b"__all__ = ['a']\n__all__ += '\xff'\n") == ()
