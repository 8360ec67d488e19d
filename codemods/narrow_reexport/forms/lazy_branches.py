"""The branches of a `__getattr__`: `if name == "sym":`, `elif`, `name in ("sym", "a")`, `case "sym":`.

Owns the cut of one branch out of a chain, so that the rest of the chain stays as it is written.
Invariant: it decides nothing: whether the cut was right is asked of the edited file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from codemods.engine.model import Edit
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.forms import sequence
from codemods.narrow_reexport.forms.statement import statement_end


class Branches:
    """Cuts branches of one function into the lists it was given."""

    def __init__(
        self,
        syntax: Syntax,
        names: Collection[str],
        edits: list[Edit],
        emptied: list[ast.stmt],
        gone: set[int],
    ) -> None:
        self.syntax = syntax
        self.source = syntax.source
        self.names = names
        self.edits = edits
        self.emptied = emptied
        self.gone = gone

    def run(self, function: ast.FunctionDef) -> None:
        """Cut the branches of a function and of those inside it."""
        for node in ast.walk(function):
            if isinstance(node, ast.If):
                self._if(node)
            elif isinstance(node, ast.Match):
                self._match(node)

    def _if(self, node: ast.If) -> None:
        left = self._left(node.test)
        if left is None:
            return
        if left:
            # if name in ("sym", "a"):       ->  if name in ("a",):
            self._edit(*self.source.span(node.test), left)
            return
        self.gone |= {id(inner) for part in (node.test, *node.body) for inner in ast.walk(part)}
        start = self.source.span(node)[0]
        is_elif = self.source.text.startswith("elif", start)
        if not node.orelse:
            if is_elif:
                # elif name == "sym": ...        the last one
                self._rows(node.lineno, self._end_line(node))
            else:
                self.emptied.append(node)
            return
        below = node.orelse[0]
        first = self.source.span(below)[0]
        chained = len(node.orelse) == 1 and isinstance(below, ast.If) and self.source.text.startswith("elif", first)
        if is_elif:
            # elif name == "sym": ...        in the middle
            self._rows(node.lineno, (below.lineno if chained else self._else_line(node)) - 1)
        elif chained:
            # if name == "sym": ...          elif becomes if
            self._edit(start, first + len("el"), "")
        else:
            # if name == "sym": ... else: raise AttributeError(name)
            self._lifted(node)

    def _left(self, test: ast.expr) -> str | None:
        """What is left of a test: its new text, "" for nothing, None where it does not ask for the names."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            # name == "sym" or name == "a"
            parts = [(part, self._left(part)) for part in test.values]
            if all(left is None for _, left in parts):
                return None
            return " or ".join(self._text(part) if left is None else left for part, left in parts if left != "")
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        left, right = test.left, test.comparators[0]
        if isinstance(test.ops[0], ast.Eq):
            return "" if _string(left) in self.names or _string(right) in self.names else None
        if not isinstance(test.ops[0], ast.In) or not isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            return None
        drop = [number for number, part in enumerate(right.elts) if _string(part) in self.names]
        if not drop or len(drop) == len(right.elts):
            return "" if drop else None
        self.gone |= {id(right.elts[number]) for number in drop}
        pieces = sequence.without(sequence.display(self._text(right).replace("\r\n", "\n")), drop).left
        if isinstance(right, ast.Tuple) and len(pieces.items) == 1 and not pieces.commas[0]:
            pieces = sequence.Sequence(pieces.head, pieces.items, (",",), pieces.gaps, pieces.tail)
        start, end = self.source.span(test)
        first, last = self.source.span(right)
        new = pieces.text.replace("\n", self.source.newline)
        return self.source.text[start:first] + new + self.source.text[last:end]

    def _match(self, node: ast.Match) -> None:
        for number, case in enumerate(node.cases):
            parts = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
            asked = [part for part in parts if isinstance(part, ast.MatchValue) and _string(part.value) in self.names]
            if not asked:
                continue
            if len(asked) < len(parts):
                # case "sym" | "a":
                kept = [self._text(part) for part in parts if part not in asked]
                self._edit(*self.source.span(case.pattern), " | ".join(kept))
                self.gone |= {id(inner) for part in asked for inner in ast.walk(part)}
                continue
            self.gone |= {id(inner) for inner in ast.walk(case)}
            last = case.body[-1]
            first = case.pattern.lineno
            if number + 1 == len(node.cases) == 1:
                self.emptied.append(node)
            else:
                assert last.end_lineno is not None
                self._rows(first, last.end_lineno)

    # Text

    def _rows(self, first: int, last: int) -> None:
        starts = self.source.starts
        stop = starts[last] if last < len(starts) else len(self.source.text)
        self._edit(starts[first - 1], stop, "")

    def _end_line(self, node: ast.stmt) -> int:
        return self.source.line_of(max(statement_end(self.source, node)[1] - 1, 0))

    def _else_line(self, node: ast.If) -> int:
        last = node.body[-1].end_lineno
        assert last is not None
        for line in range(last + 1, node.orelse[0].lineno + 1):
            if re.match(r"\s*else\s*:", self.source.line(line)):
                return line
        return node.orelse[0].lineno

    def _lifted(self, node: ast.If) -> None:
        """The `else` suite in the place of the whole statement."""
        start, end = self.source.span(node)
        column = start - self.source.starts[node.lineno - 1]
        first, last = node.orelse[0], node.orelse[-1]
        inner = self.source.span(first)[0] - self.source.starts[first.lineno - 1]
        if self._else_line(node) == first.lineno:
            # else: raise AttributeError(name)
            self._edit(start, end, self.source.text[self.source.span(first)[0] : self.source.span(last)[1]])
            return
        rows = self.source.text[self.source.starts[first.lineno - 1] : end].split("\n")
        strings = [n for part in node.orelse for n in ast.walk(part) if isinstance(n, (ast.Constant, ast.JoinedStr))]
        if any(getattr(part, "lineno", 0) != getattr(part, "end_lineno", 0) for part in strings):
            return  # text over several lines would change with its indentation
        surplus = inner - column
        lifted = [row[surplus:] if not row[:surplus].strip() else row for row in rows]
        self._edit(start, end, "\n".join(lifted)[column:])

    def _text(self, node: ast.expr | ast.pattern) -> str:
        start, end = self.source.span(node)
        return self.source.text[start:end]

    def _edit(self, start: int, end: int, text: str) -> None:
        self.edits.append(Edit(self.source.path, start, end, text))


def _string(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
