"""The answer as a person wants to read it.

Owns the words and the cuts of the text output.
Invariant: it counts nothing and decides nothing; each function gives lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from codemods.engine.model import ImportEdge
from codemods.engine.report import Paint, counted
from codemods.import_cost.answer import Answer, Blame
from codemods.import_cost.chains import Chain

_FEW = 8  # names in a list
_CHAINS = 5  # chains under each origin


def answer_lines(answer: Answer, *, top: int, verbose: bool, paint: Paint) -> Iterator[str]:
    """The whole answer."""
    yield paint(f"import {answer.module} loads {loaded(len(answer.loaded), len(answer.third_party))}", "bold")
    if answer.third_party:
        yield f"  {listed(answer.third_party, verbose)}"
    if answer.unreadable:
        yield paint(f"  not counted in full, since it does not parse: {listed(answer.unreadable, verbose)}", "yellow")
    shown = answer.blames if verbose else answer.blames[:top]
    for blame in shown:
        yield ""
        yield from _blame_lines(answer, blame, verbose, paint)
    if len(shown) < len(answer.blames):
        rest = answer.blames[len(shown) :]
        most = max(len(blame.saved) for blame in rest)
        yield ""
        yield f"and {counted(len(rest), 'origin')} more, each with {counted(most, 'module')} or fewer (-v shows all)"


def _blame_lines(answer: Answer, blame: Blame, verbose: bool, paint: Paint) -> Iterator[str]:
    left = len(answer.loaded) - len(blame.saved)
    saved = paint(f"{len(blame.saved):,}", "bold")
    noun = "module" if len(blame.saved) == 1 else "modules"
    yield f"{saved} {noun} only by {paint(blame.origin, 'bold')} ({left:,} without it)"
    lines = ", ".join(map(str, blame.lines))
    yield f"  {answer.path}:{lines} takes {listed(blame.names, verbose) or 'no name'}"
    if blame.third_party:
        yield f"  third-party with it: {listed(blame.third_party, verbose)}"
    if blame.command or blame.files:  # a plain module re-exports nothing on purpose
        yield f"  used through {answer.module} in {counted(len(blame.files), 'file')}"
    if blame.command:
        yield f"  $ {blame.command}"
    yield from _notable_lines(blame, verbose)


def _notable_lines(blame: Blame, verbose: bool) -> Iterator[str]:
    """A chain to each notable module; what it has in common with the one above is not said again."""
    outside = [each for each in blame.chains if each[0] in blame.third_party]
    inside = [each for each in blame.chains if each[0] not in blame.third_party]
    # a few of each kind, so that neither hides the other
    shown = blame.chains if verbose else (*outside[: max(_CHAINS // 2, _CHAINS - len(inside))], *inside)[:_CHAINS]
    above: Chain = ()
    for target, chain in shown:
        yield f"  {target}"
        common = 0
        while common < min(len(chain), len(above)) and chain[common] == above[common]:
            common += 1
        common = common if 1 < common < len(chain) else 0
        if common:
            yield f"    (as above as far as {chain[common - 1].imported})"
        yield from chain_lines(chain[common:], indent="    ")
        above = chain
    if len(shown) < len(blame.chains):
        yield f"  and {counted(len(blame.chains) - len(shown), 'module')} more to which -v shows the chain"


def chain_lines(chain: Chain, *, indent: str, text: Callable[[ImportEdge], str] | None = None) -> Iterator[str]:
    """One line an import: the place, what is imported there, and its source line where that is wanted."""
    rows = [(place(edge), edge.imported, text(edge) if text else "") for edge in chain if edge.path or edge.line]
    width = max((len(row[0]) for row in rows), default=0)
    middle = max((len(row[1]) for row in rows), default=0)
    for at, name, source in rows:
        yield f"{indent}{at:{width}}  {f'{name:{middle}}  {source}' if source else name}".rstrip()


def place(edge: ImportEdge) -> str:
    """Where an import stands."""
    return f"{edge.path}:{edge.line}" if edge.line else f"({edge.importer} lies in it)"


def loaded(modules: int, packages: int) -> str:
    """`48 modules of the tree and 3 third-party packages`."""
    noun = "package" if packages == 1 else "packages"
    return f"{counted(modules, 'module')} of the tree and {packages:,} third-party {noun}"


def listed(names: Sequence[str], verbose: bool, few: int = _FEW) -> str:
    """Names with commas; a long list is cut."""
    if verbose or len(names) <= few + 1:
        return ", ".join(names)
    return f"{', '.join(names[:few])} and {len(names) - few:,} more"
