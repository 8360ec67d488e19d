"""A file that is text to us, and the verdicts on its places.

Owns positions in such a file, the search for the package's path and imports in text, and which of two verdicts counts.
Invariant: it never gives one place two verdicts, and decides none of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Mention, Refusal, Site, Symbol, Warned
from codemods.narrow_reexport.context import FilePlan
from codemods.narrow_reexport.forms.verdicts import accepts
from codemods.narrow_reexport.resolve import Resolution

Wanted = Mapping[str, Resolution]  # by the symbol's name
_Taken = tuple[re.Match[str], list[str]]


MENTION, WARNING, REFUSAL = range(3)
_NEWLINE = re.compile(r"\r\n|\r|\n")
# from pkg import (a, sym)      from pkg import a, \        from . cimport sym
_IMPORT = re.compile(
    r"\bfrom[ \t]+(?P<module>[\w.]+)[ \t]*\b(?P<how>c?import)\b[ \t]*"
    r"(?P<names>\((?:[^()#]|\#[^\n]*\n)*\)|(?:[^\n;\\]|\\\r?\n)*)"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    weight: int
    reason: str = ""
    hint: str = ""
    last: int = 0  # the last line of the statement: an accept comment may stand on any of them


@dataclass(slots=True)
class Page:
    """One file and what was found in it."""

    path: str
    text: str
    package: str
    wanted: Wanted
    exact: bool = True  # the text is the file's, character for character: it may be edited
    edits: list[Edit] = field(default_factory=list)
    changed: list[tuple[int, int]] = field(default_factory=list)  # code that a planner has rewritten
    broken: list[tuple[int, int]] = field(default_factory=list)  # code that does not parse
    verdicts: dict[tuple[int, str], Verdict] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    accepted: frozenset[tuple[str, int]] = frozenset()
    decided: set[int] = field(default_factory=set)  # where a symbol's name stands that has been decided on

    def __post_init__(self) -> None:
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def row(self, line: int) -> str:
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")

    def put(self, line: int, name: str, verdict: Verdict) -> None:
        """Keep the gravest verdict of a place."""
        old = self.verdicts.get((line, name))
        found = self.wanted.get(name)  # none: a submodule
        if verdict.weight == REFUSAL and found is not None and found.narrowed and found.same_name:
            verdict = Verdict(MENTION)  # by now the path is the module, and means it
        if old is None or verdict.weight > old.weight:
            self.verdicts[line, name] = verdict

    def is_edited(self, offset: int) -> bool:
        """Whether a place changes: its line, or a statement that starts there."""
        return any(start <= offset < end for start, end in self.changed)

    def edit(self, start: int, end: int, text: str) -> None:
        """Replace the characters [start, end) of the text; only where it is `exact`."""
        assert self.exact
        self.edits.append(Edit(self.path, start, end, text))

    def decide(self, offset: int) -> None:
        """The symbol's name that starts there is decided on: nobody else has to."""
        self.decided.add(offset)

    def is_accepted(self, line: int) -> bool:
        """Whether a person takes the line on."""
        return (self.path, line) in self.accepted or accepts(self.row(line))

    def settled(self, accepted: frozenset[tuple[str, int]]) -> FilePlan:
        """The file's plan; places that a person takes on are left alone."""
        refusals: list[Refusal] = []
        warnings: list[Warned] = []
        mentions: list[Mention] = []
        taken_on: list[Refusal] = []
        for (line, name), verdict in sorted(self.verdicts.items(), key=lambda item: item[0]):
            lines = range(line, max(line, verdict.last) + 1)
            site = Site(self.path, line, 0, self.row(line).strip()[:160])
            symbol = str(Symbol(self.package, name))
            if any((self.path, each) in accepted or accepts(self.row(each)) for each in lines):
                if verdict.weight == REFUSAL:
                    taken_on.append(Refusal(site, symbol, verdict.reason, verdict.hint))
                continue
            if verdict.weight == REFUSAL:
                refusals.append(Refusal(site, symbol, verdict.reason, verdict.hint))
            elif verdict.weight == WARNING:
                warnings.append(Warned(site, symbol, verdict.reason))
            else:
                mentions.append(Mention(site, symbol))
        return FilePlan(
            self.path,
            tuple(sorted(set(self.edits))),
            len(self.edits),
            tuple(refusals),
            tuple(warnings),
            tuple(mentions),
            tuple(taken_on),
            notes=tuple(self.notes),
        )


def names_of(page: Page) -> str:
    return "|".join(sorted(map(re.escape, page.wanted), key=len, reverse=True))


def import_matches(text: str, package: str, wanted: Wanted, here: str = "") -> Iterator[_Taken]:
    """Each import statement from the package, and the symbols that it takes; relative ones start from `here`."""
    for match in _IMPORT.finditer(text):
        module = match["module"]
        dots = len(module) - len(module.lstrip("."))
        if dots:
            parts = here.split(".") if here else []
            kept = parts[: len(parts) - dots + 1] if len(parts) >= dots else []
            module = ".".join([*kept, module[dots:]] if module[dots:] else kept)
        if module == package:
            names = re.sub(r"#[^\n]*", "", match["names"]).strip("( \t").split(",")
            first = (re.match(r"[\s.>\\|]*(\w+)", item) for item in names)
            yield match, [found[1] for found in first if found and found[1] in wanted]


def dotted_matches(page: Page) -> Iterator[re.Match[str]]:
    pattern = rf"(?<![\w.]){re.escape(page.package)}(?P<sep>[.:])(?P<name>{names_of(page)})\b(?P<tail>(?:\.\w+)*)"
    for match in re.finditer(pattern, page.text):
        if match["sep"] == ":" or not page.wanted[match["name"]].same_name or not _is_module(page, match):
            yield match


def _is_module(page: Page, match: re.Match[str]) -> bool:
    # pkg.f.f      from pkg.f import f      import pkg.f      python -m pkg.f     all of them the module of that name
    line = page.line_of(match.start())
    before = page.row(line)[: match.start() - page.starts[line - 1]]
    if match["tail"] or re.search(r"(?:\bfrom|(?<!\w)-m)[ \t]+\Z", before):
        return True
    return re.search(r"\bc?import[ \t]+\Z", before) is not None and not re.match(
        r"[ \t]+as\b", page.text[match.end() :][:9]
    )


def aliased_matches(page: Page) -> Iterator[re.Match[str]]:
    parent, _, leaf = map(re.escape, page.package.rpartition("."))
    aliases = set(re.findall(rf"\bimport[ \t]+{re.escape(page.package)}[ \t]+as[ \t]+(\w+)", page.text))
    if parent:
        taken = re.finditer(rf"\bfrom[ \t]+{parent}[ \t]+import\b[^\n;]*?\b{leaf}\b(?:[ \t]+as[ \t]+(\w+))?", page.text)
        aliases |= {match[1] or leaf for match in taken}
    if aliases:
        pattern = rf"(?<![\w.])(?:{'|'.join(sorted(aliases))})\.(?P<name>{names_of(page)})\b(?P<tail>(?:\.\w+)?)"
        for match in re.finditer(pattern, page.text):
            if not (match["tail"] and page.wanted[match["name"]].same_name):
                yield match
