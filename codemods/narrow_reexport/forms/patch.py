"""`patch("pkg.sym")`, `patch.object(pkg, "sym")`, `patch("pkg.Cls.method")`: what tests replace through the package.

Owns the decision on each patch of a file, and the new text of targets that are strings.
Invariant: a target moves only where every reader that it covered is still covered, and none other becomes covered.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from codemods.engine.model import Edit, Refusal, Warned
from codemods.engine.namespace import all_values
from codemods.engine.scopes import Syntax
from codemods.narrow_reexport.context import Patched
from codemods.narrow_reexport.forms.patch_target import PatchTarget
from codemods.narrow_reexport.resolve import Resolution

_ACCEPT = "change it by hand, or accept the site"


@dataclass(slots=True)
class PatchPlan:
    """The decisions on the patches of one file."""

    edits: list[Edit] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    objects: list[PatchTarget] = field(default_factory=list)  # targets whose object must become the origin's module
    handled: set[int] = field(default_factory=set)  # nodes that no other form has to judge: calls, and constants


class PatchPlanner:
    """Decides for the patches of one file; `patched` are the verdicts on the symbols that somebody patches."""

    def __init__(
        self,
        syntax: Syntax,
        resolutions: Mapping[str, Resolution],
        patched: Mapping[str, Patched],
        unloaded: frozenset[str],
        accepts: Callable[[int], bool],
        *,
        old_mock: bool = False,
    ) -> None:
        self.syntax = syntax
        self.resolutions = resolutions
        self.patched = patched
        self.unloaded = unloaded  # submodules that nothing loads any more, as far as this file knows
        self.accepts = accepts
        self.old_mock = old_mock
        self.plan = PatchPlan()
        self.nodes: set[int] = set()

    def run(self, targets: Sequence[PatchTarget]) -> PatchPlan:
        """Decide for all of them."""
        self.nodes = {id(target.node) for target in targets}
        for target in targets:
            self.plan.handled.add(id(target.call.node))
            if target.literal is not None and target.module is None:
                self.plan.handled.add(id(target.literal))
            self._one(target, self.resolutions[target.name])
        return self.plan

    def _one(self, target: PatchTarget, found: Resolution) -> None:
        info = self.patched.get(target.name, Patched(target.name, f"who reads {found.symbol.dotted} is not known"))
        path = found.path_is_module or info.path
        if found.is_submodule:
            # patch("pkg.sub")             the name stays an attribute of the package, if anything loads it
            if target.replaces and found.origin.dotted in self.unloaded and not self._imports(found.origin.dotted):
                self._refuse(target, "nothing loads the submodule that is patched", "import it in this file first")
        elif not target.replaces and found.same_name:
            # patch("pkg.f.FACTOR")        mock looks for modules first: the module f, before and after
            reason = f"{target.spelled} is the module after the run, and may have been {found.origin} before"
            if target.kind == "attr":
                self._refuse(target, reason, _ACCEPT)
            elif self.old_mock:
                site = self.syntax.source.site_of(target.call.node)
                self.plan.warnings.append(Warned(site, str(found.symbol), f"before Python 3.11 {reason}"))
        elif self.accepts(target.call.node.lineno):
            self._refuse(target, "a test patches the name on the package", _ACCEPT)
        elif not target.replaces:
            # patch("pkg.Cls.method")      ->  patch("pkg.sub.Cls.method"): the class is the same object
            self._respell(target, found, path)
        elif info.stays:
            reason = (
                "the __init__ keeps the name (--callers-only), and this patch with it: direct readers do not see it"
            )
            self.plan.warnings.append(Warned(self.syntax.source.site_of(target.call.node), str(found.symbol), reason))
        elif info.obstacle:
            self._refuse(target, f"a test patches the name on the package, and {info.obstacle}", info.hint)
        elif found.optional and _allows_absence(target.call.node):
            # patch("pkg.sym", create=True)        works without the symbol; the origin could not even be imported
            reason = "the re-export is optional (try/except ImportError), and this patch works without it"
            self._refuse(target, reason, _ACCEPT)
        elif target.kind == "multiple":
            self._multiple(target, found)
        elif target.module is not None:
            # patch.object(pkg, "sym")     ->  patch.object(pkg.sub, "sym")
            if found.origin.name != target.name:
                self._renamed(target, found)
            self.plan.objects.append(target)
        else:
            # patch("pkg.sym")             ->  patch("pkg.sub.sym")
            self._respell(target, found, path)

    def _multiple(self, target: PatchTarget, found: Resolution) -> None:
        # patch.multiple("pkg", sym=1) ->  patch.multiple("pkg.sub", sym=1)
        others = [self.resolutions.get(name) for name in target.others]
        movable = all(
            other is not None
            and other.origin.module == found.origin.module
            and other.origin.name == other.symbol.name
            and not self._stuck(other.symbol.name)
            for other in others
        )
        if not movable or found.origin.name != found.symbol.name:
            self._refuse(target, "patch.multiple() replaces names that move to different places", "split it first")
        elif target.module is not None:
            self.plan.objects.append(target)
        else:
            self._replace(target, target.spelled, found.origin.module)

    def _stuck(self, name: str) -> bool:
        info = self.patched.get(name)
        return info is None or info.stays or bool(info.obstacle)

    def _respell(self, target: PatchTarget, found: Resolution, path: bool) -> None:
        if (target.kind == "attr" or self.old_mock) and not path:
            # monkeypatch goes by attributes, and pkg.sub is not the module there; mock did so before Python 3.11
            since = "" if target.kind == "attr" else " before Python 3.11, which the project supports"
            reason = f"{found.origin.module} is not reached by attributes, as this call does{since}"
            self._refuse(target, reason, _ACCEPT)
            return
        self._replace(target, target.spelled, found.origin.dotted)

    def _renamed(self, target: PatchTarget, found: Resolution) -> None:
        # from .sub import impl as sym: patch.object(pkg, "sym")  ->  patch.object(pkg.sub, "impl")
        if target.literal is not target.node:
            self._refuse(
                target, "the attribute's name is not a literal here, and it changes", "write it as one literal"
            )
            return
        self._replace(target, target.name, found.origin.name)

    def _replace(self, target: PatchTarget, old: str, new: str) -> None:
        literal = target.literal
        if literal is None or (literal is not target.node and not self._only_targets(target.node)):
            # patch(f"{PKG}.sym")
            self._refuse(target, "the patch target is put together from parts", "write it as one literal")
            return
        start, end = self.syntax.source.span(literal)
        text = self.syntax.source.text[start:end]
        if text.count(old) != 1:
            self._refuse(target, "the patch target is put together from parts", "write it as one literal")
            return
        at = start + text.index(old)
        self.plan.edits.append(Edit(self.syntax.source.path, at, at + len(old), new))

    def _only_targets(self, node: ast.expr) -> bool:
        """Whether a name for a text is read as a patch target and as nothing else."""
        # TARGET = "pkg.sym"           patch(TARGET)
        if not isinstance(node, ast.Name):
            return False
        uses = [use for use in self.syntax.names if isinstance(use.node, ast.Name) and use.node.id == node.id]
        listed = any(
            isinstance(use.node, ast.Constant) and use.node.value == node.id and all_values(use.statement)
            for use in self.syntax.strings
        )
        return not listed and all(id(use.node) in self.nodes for use in uses)

    def _imports(self, module: str) -> bool:
        for statement, _ in self.syntax.imports:
            if isinstance(statement, ast.Import):
                if any(alias.name == module or alias.name.startswith(f"{module}.") for alias in statement.names):
                    return True
            elif not statement.level:
                if (statement.module or "").startswith(module) or any(
                    f"{statement.module}.{alias.name}" == module for alias in statement.names
                ):
                    return True
        return False

    def _refuse(self, target: PatchTarget, reason: str, hint: str) -> None:
        site = self.syntax.source.site_of(target.call.node)
        self.plan.refusals.append(Refusal(site, str(self.resolutions[target.name].symbol), reason, hint))


def _allows_absence(call: ast.AST) -> bool:
    # mock.patch("pkg.sym", create=True)        monkeypatch.setattr("pkg.sym", fake, raising=False)
    return isinstance(call, ast.Call) and any(keyword.arg in ("create", "raising") for keyword in call.keywords)
