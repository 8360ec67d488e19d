"""The Fixit rule: a name that was narrowed is imported from its origin, and its re-export does not come back.

    [tool.fixit]
    enable = ["codemods.rules.narrow_reexport"]
    disable = ["fixit.rules"]

Owns what Fixit shows: each offence at its place, and the codemod's own edits as replacements of nodes.
Invariant: verdicts and fixed bytes are those of `check_narrowed`; a file that cannot matter costs one look at its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import libcst as cst
from fixit import Invalid, LintRule, Valid
from libcst.metadata import FilePathProvider, PositionProvider

from codemods.check_narrowed.baseline import within_baseline
from codemods.check_narrowed.offence import Offence
from codemods.check_narrowed.verdicts import offences
from codemods.rules.guards import Watched, watched
from codemods.rules.places import node_at
from codemods.rules.replacements import Mended, mend

MOST_SITES = 20  # in one file; each replacement makes Fixit copy and compare the whole module
_ALL_AT_ONCE = "python -m codemods.check_narrowed --fix"


class NarrowReexport(LintRule):
    """A name that was narrowed is imported from its origin. `narrowed.toml` says which names: `fixtures/` has one."""

    METADATA_DEPENDENCIES = (PositionProvider, FilePathProvider)
    # These run in a folder with this `narrowed.toml`, which is fixtures/narrow_reexport/guard:
    #     "den.ops:roar" = { origin = "den.ops.lion:roar" }        "den.ops:lick" = { origin = "den.ops.lick:lick" }
    VALID: ClassVar[list[str | Valid]] = [
        "from den.ops.lion import roar",
        "from den.ops import purr",
        "from den.ops import lick\nlick.lick()",
        "from other.ops import roar",
        "import den.ops\nden.ops.purr()",
        "from den.ops import roar  # lint-ignore: NarrowReexport",
    ]
    INVALID: ClassVar[list[str | Invalid]] = [
        Invalid(
            "from den.ops import roar",
            expected_message="den.ops.roar was narrowed to den.ops.lion:roar: write `from den.ops.lion import roar`",
            expected_replacement="from den.ops.lion import roar",
        ),
        Invalid(
            "from den.ops import purr, roar as loud  # keep",
            expected_replacement="from den.ops import purr  # keep\nfrom den.ops.lion import roar as loud",
        ),
        Invalid(
            "from unittest import mock\nmock.patch('den.ops.roar')",
            expected_replacement="from unittest import mock\nmock.patch('den.ops.lion.roar')",
        ),
        Invalid(
            "from den.ops import lick\nlick()",
            expected_replacement="from den.ops.lick import lick\nlick()",
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._judged: set[cst.CSTNode] = set()

    def visit_Module(self, node: cst.Module) -> None:
        path = self.get_metadata(FilePathProvider, node)
        assert isinstance(path, Path)
        known = watched(path)
        if known is None:
            return
        relative = path.relative_to(known.guard.root).as_posix()
        if known.guard.excludes(relative):
            return
        data = node.bytes
        found = offences(known.guard, relative, data)
        if found:
            self._all(node, known, relative, data, found)

    def ignore_lint(self, node: cst.CSTNode) -> bool:
        """Whether a comment silences what is at the node; what is replaced is larger than what the comment speaks of."""
        return node not in self._judged and super().ignore_lint(node)

    def _all(self, module: cst.Module, known: Watched, path: str, data: bytes, found: Sequence[Offence]) -> None:
        accepted = within_baseline(found, known.baseline)
        places = {each: node_at(module, self.metadata[PositionProvider], each) for each in found}
        shown = [each for each in found if each not in accepted and not self.ignore_lint(places[each].node)]
        if not shown:
            return
        if len(shown) > MOST_SITES:
            reason = f"{len(shown)} sites in one file are mended by `{_ALL_AT_ONCE} {path}`"
            mended = Mended({}, dict.fromkeys(shown, reason))
        else:
            mended = mend(module, known, path, data, shown, whole=len(shown) == len(found))
        for each in shown:
            place = places[each]
            message = each.message
            if each in mended.reasons:
                message += f" (no fix: {mended.reasons[each]})"
            target, replacement = mended.fixes.get(each, (place.node, None))
            self._judged.add(target)
            self.report(target, message, position=place.range, replacement=replacement)
