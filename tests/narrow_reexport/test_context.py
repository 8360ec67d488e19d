"""What every file asks of a run's symbols, found once."""

from __future__ import annotations

import pickle

from codemods.engine.model import Site, Symbol
from codemods.narrow_reexport.context import Resolutions
from codemods.narrow_reexport.resolve import Resolution


def found(name: str, origin: str, **more: bool) -> Resolution:
    module, _, own = origin.rpartition(":")
    facts = {"is_submodule": False, "same_name": False, "starred": False, "optional": False, "path_is_module": True}
    site = Site("pkg/__init__.py", 1, 0, "")
    return Resolution(Symbol("pkg", name), Symbol(module, own), site, stars=(), **{**facts, **more})  # type: ignore[arg-type]


SYM = found("sym", "pkg.sub:sym")
OTHER = found("other", "pkg.deep.sub:thing", optional=True, starred=True)
GONE = found("gone", "pkg.sub:gone", narrowed=True, starred=True)
MODULE = found("sub", "pkg:sub", is_submodule=True)
ALL = Resolutions((SYM, OTHER, GONE, MODULE))


def test_symbols_are_found_by_their_names_and_by_those_of_their_origins() -> None:
    assert ALL.by_name == {"sym": SYM, "other": OTHER, "gone": GONE, "sub": MODULE}
    assert ALL.names == ALL.by_name.keys()
    assert ALL.moving == {"sym": SYM, "other": OTHER, "gone": GONE}
    assert ALL.by_leaf == {"sub": {"pkg.sub": {"sym": SYM}, "pkg.deep.sub": {"thing": OTHER}}}
    assert ALL.origins == {"sym": {"pkg.sub"}, "thing": {"pkg.deep.sub"}, "gone": {"pkg.sub"}, "sub": {"pkg"}}
    assert ALL.to_list == ("other",)


def test_for_examples_an_optional_re_export_counts_as_there() -> None:
    assert [each.optional for each in ALL.shown] == [False] * 4
    certain = Resolutions((SYM,))
    assert certain.shown is certain


def test_another_process_gets_the_symbols_alone() -> None:
    assert ALL.shown and ALL.by_name
    copy = pickle.loads(pickle.dumps(ALL))
    assert copy == ALL and vars(copy) == {}
    assert copy.by_name == ALL.by_name
