"""An offence: one place that goes against a row of `narrowed.toml`.

Owns the type that the verdicts answer with and every report shows.
Invariant: it holds values alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from codemods.engine.model import Site


@dataclass(frozen=True, slots=True, order=True)
class Offence:
    """One place: the banned symbol that it reaches, what the place is (`kind`), what is wrong and what to write instead.

    `kind` is `re-export`, `all-entry`, `call-site`, or `unparsed` for a file that names package and symbol and cannot be
    read. `end` is the last line of the statement.
    """

    site: Site
    symbol: str
    kind: str
    message: str
    outside: bool = False  # the package is not in this tree, so `--fix` cannot mend it

    @property
    def name(self) -> str:
        """The symbol's own name."""
        return self.symbol.rpartition(":")[2]
