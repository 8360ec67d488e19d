"""Each form of docs/forms.md does what its fixture says, its programs behave as before, and the page is up to date.

Owns the run of `fixtures/narrow_reexport/forms/*.toml` with the runtime oracle.
Invariant: a form is run once a session, twice in a row; every test here looks at that run.
"""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path

import pytest

from fixtures.narrow_reexport import forms_page
from fixtures.narrow_reexport.forms_page import Form, Ran
from tests import oracle

FORMS = forms_page.load_forms()
NAMES = [form.name for form in FORMS]
BY_NAME = {form.name: form for form in FORMS}


@functools.cache
def ran(name: str) -> Ran:
    with tempfile.TemporaryDirectory(prefix="form-") as folder:
        return forms_page.run(BY_NAME[name], Path(folder).resolve())


@pytest.mark.parametrize("name", NAMES)
def test_a_form_becomes_what_its_fixture_says(name: str) -> None:
    form = BY_NAME[name]
    assert not (wrong := forms_page.faults(form, ran(name))), "\n".join(wrong)
    assert "Traceback" not in ran(name).output


@pytest.mark.parametrize("name", [form.name for form in FORMS if form.expect in ("rewritten", "unchanged")])
def test_a_form_behaves_as_before_and_the_package_is_as_light_as_the_run_says(name: str) -> None:
    form, output = BY_NAME[name], ran(name).output
    old, new, found = behaviours()[name]
    assert not [program for program in old if program.exit_code], f"a program fails before the run: {old}"
    changed = oracle.differences(old, new)
    assert not changed, "\n".join(changed)
    if found is None:
        return
    if not {"--callers-only", "--shim"} & {*form.options} and "__getattr__ will be asked" not in output:
        assert not found.bound, f"the package still binds {found.bound}"
    assert not found.listed, f"__all__ still lists {found.listed}"
    said = re.search(rf"^import {re.escape(form.package)} no longer loads (.*)$", output, re.MULTILINE)
    lighter = {*said[1].split(", ")} if said else set()
    assert not found.loaded & lighter, f"import {form.package} still loads {sorted(found.loaded & lighter)}"
    told = ("still load", "no longer imports", "already narrowed", "lazily")
    assert lighter or any(each in output for each in told), f"nothing is said of what is loaded:\n{output}"


@functools.cache
def behaviours() -> dict[str, tuple[list[oracle.Ran], list[oracle.Ran], oracle.Probe | None]]:
    """What the programs of each form do before and after, and what its package is afterwards."""
    with tempfile.TemporaryDirectory(prefix="forms-") as folder:
        asked = {form.name: _jobs(form, Path(folder).resolve() / form.name) for form in FORMS}
        answers = iter(oracle.run_many([job for jobs in asked.values() for job in jobs]))
    found = {}
    for name, jobs in asked.items():
        mine = [next(answers) for _ in jobs]
        ran_programs = [each for each in mine if isinstance(each, oracle.Ran)]
        half = len(ran_programs) // 2
        probe = next((each for each in mine if isinstance(each, oracle.Probe)), None)
        found[name] = (ran_programs[:half], ran_programs[half:], probe)
    return found


def _jobs(form: Form, folder: Path) -> list[oracle.Job]:
    """The programs on the tree before, the same on the tree after, and a look at the package then."""
    before, after = folder / "before", folder / "after"
    forms_page.lay(before, form.before)
    forms_page.lay(after, form.wanted)
    programs = [oracle.Job(root, program, form.roots) for root in (before, after) for program in form.run]
    symbols = tuple(symbol for symbol in form.symbols if symbol.isidentifier())
    return programs + ([oracle.Job(after, form.package, form.roots, symbols)] if importable(form) else [])


def importable(form: Form) -> bool:
    """False where nothing is rewritten, and where the package needs a library or a Python that are not there."""
    missing = (b"import some_library", b"from some_library", b"import lazy_loader", b"lazy from")
    needs = any(each in text for text in form.before.values() for each in missing) and not form.run
    return form.expect in ("rewritten", "unchanged") and not needs


def test_every_form_of_refusal_names_a_way_out() -> None:
    for form in FORMS:
        if form.expect == "refused":
            assert "way out: " in ran(form.name).output, form.name


def test_names_and_titles_are_unique_and_sections_are_known() -> None:
    slugs = [forms_page.slug(form.title) for form in FORMS] + [
        forms_page.slug(each.title) for each in forms_page.sections()
    ]
    assert len(slugs) == len({*slugs}), sorted(each for each in slugs if slugs.count(each) > 1)
    assert len(FORMS) > 120


def test_every_form_says_in_a_sentence_what_happens() -> None:
    for form in FORMS:
        assert form.title and not form.title.endswith("."), form.name
        assert not form.text or form.text.endswith((".", ".`")), form.name


def test_the_page_is_what_the_forms_make() -> None:
    found = forms_page.PAGE.read_text(encoding="utf-8")
    assert found == forms_page.page([(form, ran(form.name)) for form in FORMS]), (
        "docs/forms.md is not what the fixtures make: run `make forms`, and look at what it changes"
    )


def test_links_to_the_page_and_inside_it_lead_somewhere() -> None:
    text = forms_page.PAGE.read_text(encoding="utf-8")
    anchors = {forms_page.slug(title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    assert {*re.findall(r"\]\(#([^)]*)\)", text)} <= anchors
    for path in [forms_page.PAGE.parents[1] / "README.md", *forms_page.PAGE.parent.glob("*.md")]:
        linked = re.findall(r"forms\.md#([\w-]+)", path.read_text(encoding="utf-8"))
        assert {*linked} <= anchors, path.name


def test_a_form_that_behaves_differently_is_named_and_no_page_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "forms").mkdir()
    text = (forms_page.FORMS / "from_import.toml").read_text(encoding="utf-8")
    (tmp_path / "forms" / "wrong.toml").write_text(text.replace("from zoo.lion import", "from zoo.tiger import"))
    monkeypatch.setattr(forms_page, "FORMS", tmp_path / "forms")
    monkeypatch.setattr(forms_page, "PAGE", tmp_path / "forms.md")
    assert forms_page.main([]) == 1
    assert "wrong" in capsys.readouterr().err
    assert not (tmp_path / "forms.md").exists()


def test_a_new_form_is_printed_as_it_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert forms_page.main(["after", "from_import"]) == 0
    printed = capsys.readouterr().out
    assert (forms_page.FORMS / "from_import.toml").read_text(encoding="utf-8").endswith(printed)
