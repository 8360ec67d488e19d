"""The page: its numbers, its escaping, and what a person does with it in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from codemods.import_cost.page import data, page
from codemods.import_cost.picture import Picture, picture
from tests.import_cost.chromium import CHROMIUM, Tab, chromium
from tests.import_cost.trees import HEAVY, loads_of

EVIL = '</script><script>document.title="owned"</script><!--<script><img src=x onerror=alert(1)>&{{data}}'


class Elements(HTMLParser):
    """What an HTML parser sees: the tags, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, text: str) -> None:
        if self._inside:
            self.scripts[-1] += text


def pictures(files: dict[str, str], cut: tuple[str, str] | None = None) -> tuple[Picture, Picture | None]:
    loads = loads_of(files)
    before = picture(loads, "pkg", read=lambda path: files[path].encode())
    return before, picture(loads, "pkg", frozenset({cut})) if cut else None


def embedded(text: str) -> dict[str, Any]:
    return dict(json.loads(Elements(text).scripts[0]))


def test_the_embedded_numbers_are_those_of_the_picture() -> None:
    before, after = pictures(HEAVY, ("pkg", "pkg.heavy"))
    found = embedded(page(before, after, narrowing="pkg:big"))
    assert found == data(before, after, "pkg:big")
    assert (found["before"]["modules"], found["before"]["packages"]) == (6, 3)
    assert (found["after"]["modules"], found["after"]["packages"]) == (3, 1)
    assert [node["name"] for node in found["before"]["nodes"]] == [node.name for node in before.nodes]


def test_the_page_is_ascii_and_names_nothing_of_the_network() -> None:
    text = page(*pictures({"pkg/__init__.py": "import pkg.été\n", "pkg/été.py": ""}), title="importé \udce9")
    text.encode("ascii")
    elements = Elements(text)
    assert not [attributes for _, attributes in elements.tags if {"src", "href", "srcset", "action"} & set(attributes)]
    assert "http:" not in text and "https:" not in text and "@import" not in text and "url(" not in text


def test_the_policy_of_the_page_allows_its_own_script_alone() -> None:
    elements = Elements(page(*pictures(HEAVY)))
    policy = next(each["content"] for tag, each in elements.tags if tag == "meta" and "http-equiv" in each)
    digest = base64.b64encode(hashlib.sha256(elements.scripts[1].encode()).digest()).decode()
    assert policy and f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy


def test_names_lines_and_titles_are_data() -> None:
    files = {"pkg/__init__.py": f"import pkg.a  # {EVIL}\n", "pkg/a.py": ""}
    clean = Elements(page(*pictures({**files, "pkg/__init__.py": "import pkg.a\n"})))
    elements = Elements(page(*pictures(files), title=EVIL, narrowing=EVIL))
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in clean.tags]
    found = json.loads(elements.scripts[0])
    assert found["before"]["nodes"][1]["via"]["text"] == f"import pkg.a  # {EVIL}"[:200]
    assert found["narrowing"] == EVIL


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    assert '<h1 id="title">{{data}} {{css}}</h1>' in page(*pictures(HEAVY), title="{{data}} {{css}}")


# -- In the browser ---------------------------------------------------------------------------------------------------

in_browser = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed: apt-get install chromium")


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    if not CHROMIUM:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with chromium() as found:
        yield found


@pytest.fixture
def opened(tab: Tab, tmp_path: Path) -> Iterator[Tab]:
    """The page of HEAVY before and after; nothing may have been thrown or asked for in the end."""
    show(tab, tmp_path, *pictures(HEAVY, ("pkg", "pkg.heavy")))
    yield tab
    assert tab.complaints() == []
    assert [url for url in tab.requests() if not url.endswith("/page.html")] == []


def show(
    tab: Tab,
    folder: Path,
    before: Picture,
    after: Picture | None = None,
    times: dict[str, tuple[int, int]] | None = None,
    **options: Any,
) -> None:
    file = folder / "page.html"
    file.write_text(page(before, after, narrowing="pkg:big", times=times), encoding="ascii", newline="\n")
    tab.open(file, **options)


def drawn(tab: Tab) -> set[str]:
    return set(tab.value("[...document.querySelectorAll('[role=treeitem]')].map(cell => cell.dataset.name)"))


def center(tab: Tab, name: str) -> tuple[float, float]:
    """A point of a cell that none of its parts covers: in its head, or in the middle of a leaf."""
    box = tab.value(
        f"(() => {{ const box = document.querySelector('[data-name={json.dumps(name)}]').getBoundingClientRect();"
        "return [box.left + box.width / 2, box.top + 8]; })()"
    )
    return box[0], box[1]


def crumbs(tab: Tab) -> list[str]:
    return list(tab.value("[...document.querySelectorAll('#crumbs button, #crumbs .here')].map(each => each.title)"))


def active(tab: Tab) -> str | None:
    found = tab.value("document.activeElement.dataset.name || null")
    return str(found) if found else None


def panel(tab: Tab) -> str:
    return str(tab.value("document.getElementById('panel').innerText"))


@in_browser
def test_every_node_is_drawn_once_and_the_numbers_are_those_of_the_json(opened: Tab) -> None:
    before, after = pictures(HEAVY, ("pkg", "pkg.heavy"))
    assert after
    assert drawn(opened) == {node.name for node in before.nodes}
    assert opened.value("document.querySelectorAll('[role=treeitem]').length") == len(before.nodes)
    rows = opened.value("[...document.querySelectorAll('.view .count')].map(each => each.textContent)")
    assert rows == ["6 modules and 3 packages", "3 modules and 1 package"]
    assert "no longer loads 3 modules and 2 packages" in opened.value("document.getElementById('summary').textContent")
    for node in before.nodes:
        shown = opened.value(f"document.querySelector('[data-name={json.dumps(node.name)}] b')?.textContent || null")
        assert shown in (None, str(node.modules)), node
    assert opened.value("document.querySelector('[data-name=pkg] b').textContent") == "6"
    parts = opened.value("[...document.querySelectorAll('.parts button')].map(each => each.innerText.split(/\\s+/))")
    assert sorted(parts) == [["pkg.heavy", "3"], ["pkg.light"], ["pkg.shared", "1"]]


@in_browser
def test_the_parts_lie_inside_what_brings_them_in(opened: Tab) -> None:
    boxes = opened.value(
        "Object.fromEntries([...document.querySelectorAll('.cell')].map(cell => { const box = cell.getBoundingClientRect();"
        "return [cell.dataset.name, [box.left, box.top, box.right, box.bottom]]; }))"
    )
    before, _ = pictures(HEAVY)
    for node in before.nodes[1:]:
        inner, outer = boxes[node.name], boxes[node.above]
        assert outer[0] <= inner[0] < inner[2] <= outer[2] + 0.5 and outer[1] <= inner[1] < inner[3] <= outer[3] + 0.5


@in_browser
def test_pointing_at_a_module_shows_its_shortest_chain(opened: Tab) -> None:
    opened.move(*center(opened, "torch"))
    expected = [
        "torch",
        "third-party package, goes",
        "Imported by 1 module of those that are loaded.",
        "Shortest chain (2 imports)",
        "pkg",
        "pkg.heavy",
        "pkg/__init__.py:2",
        "from .heavy import big",
        "torch",
        "pkg/heavy.py:3",
        "import torch.nn",
    ]
    assert [line for line in panel(opened).splitlines() if line] == expected
    opened.move(2, 2)
    assert panel(opened).startswith("pkg\n")


@in_browser
def test_a_click_focuses_and_the_breadcrumb_leads_back(opened: Tab) -> None:
    opened.click(*center(opened, "pkg.heavy"))
    assert drawn(opened) == {"pkg.heavy", "torch", "pkg.models", "pkg.models.model", "pkg._C", "transformers"}
    assert crumbs(opened) == ["pkg", "pkg.heavy"]
    assert panel(opened).startswith("pkg.heavy\n") and "3 modules and 2 packages" in panel(opened)
    box = opened.value(
        "(() => { const box = document.querySelector('#crumbs button').getBoundingClientRect(); return [box.left + 5, box.top + 5]; })()"
    )
    opened.click(*box)
    assert crumbs(opened) == ["pkg"]
    assert "pkg.light" in drawn(opened)


@in_browser
def test_the_keyboard_reaches_everything(opened: Tab) -> None:
    stops = []
    for _ in range(3):
        opened.press("Tab")
        stops.append(
            opened.value(
                "document.activeElement.id || document.activeElement.dataset.view || document.activeElement.dataset.name"
            )
        )
    assert stops == ["before", "search", "pkg"]
    opened.press("ArrowRight")
    assert active(opened) == "pkg.heavy"
    assert panel(opened).startswith("pkg.heavy\n")
    opened.press("Enter")
    assert crumbs(opened) == ["pkg", "pkg.heavy"] and active(opened) == "pkg.heavy"
    opened.press("ArrowDown")
    opened.press("ArrowDown")
    inner = active(opened)
    assert inner and inner != "pkg.heavy"
    opened.press("Home")
    assert active(opened) == "pkg.heavy"
    opened.press("Escape")
    assert crumbs(opened) == ["pkg"] and active(opened) == "pkg.heavy"
    opened.press("ArrowLeft")
    assert active(opened) == "pkg"


@in_browser
def test_all_is_named_for_those_who_do_not_see_it(opened: Tab) -> None:
    tree = opened.value("document.getElementById('map').getAttribute('role')")
    names = opened.value(
        "[...document.querySelectorAll('[role=treeitem]')].map(cell => cell.getAttribute('aria-label'))"
    )
    levels = opened.value(
        "[...document.querySelectorAll('[role=treeitem]')].map(cell => cell.getAttribute('aria-level'))"
    )
    assert tree == "tree" and all(names) and levels[0] == "1" and set(levels) == {"1", "2", "3", "4"}
    assert "pkg.heavy, with it 3 modules and 2 packages, goes" in names
    assert opened.value("[...document.querySelectorAll('[role=treeitem][tabindex=\"0\"]')].length") == 1
    assert opened.value("document.querySelector('#search').labels.length") == 1


@in_browser
def test_the_search_marks_what_matches_and_enter_goes_there(opened: Tab) -> None:
    opened.press("/")
    opened.type("MODEL")
    hits = opened.value("[...document.querySelectorAll('.hit')].map(cell => cell.dataset.name).sort()")
    assert hits == ["pkg.models", "pkg.models.model"]
    assert opened.value("document.getElementById('hits').textContent") == "2 of 10"
    opened.press("Enter")
    assert panel(opened).startswith("pkg.models")
    opened.press("Escape")
    assert opened.value("document.querySelectorAll('.hit').length") == 0


@in_browser
def test_a_search_hit_outside_the_focus_is_brought_into_view(opened: Tab) -> None:
    opened.click(*center(opened, "pkg.heavy"))
    opened.press("/")
    opened.type("numpy")
    opened.press("Enter")
    assert "numpy" in drawn(opened) and panel(opened).startswith("numpy\n")


@in_browser
def test_the_view_after_narrowing_draws_what_stays(opened: Tab) -> None:
    assert opened.value("document.querySelector('[data-name=\"pkg.heavy\"]').classList.contains('goes')")
    assert opened.value("document.querySelector('[data-name=\"pkg.light\"]').classList.contains('stays')")
    opened.press("Tab")
    opened.press("ArrowDown")
    assert drawn(opened) == {"pkg", "pkg.light", "pkg.shared", "numpy"}
    assert opened.value("document.querySelector('.view[aria-checked=true]').dataset.view") == "after"
    assert opened.value("document.querySelector('[data-name=pkg] b').textContent") == "3"
    opened.press("ArrowUp")
    assert "pkg.heavy" in drawn(opened)


@in_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_wide_and_narrow_windows_in_light_and_dark(tab: Tab, tmp_path: Path, dark: bool, width: int) -> None:
    show(tab, tmp_path, *pictures(HEAVY, ("pkg", "pkg.heavy")), width=width, dark=dark)
    assert tab.value("document.documentElement.scrollWidth") <= width
    light = tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light is not dark
    assert tab.value("document.getElementById('map').clientHeight") > 300
    contrast = tab.value(CONTRAST)
    assert contrast > 4.5, contrast


# The least contrast of the text of a cell against its own colour (WCAG).
CONTRAST = """
(() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (color) => {
    paint.fillStyle = color; paint.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...paint.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return Math.min(...[...document.querySelectorAll(".cell .label > span")].map((label) => {
    const text = light(getComputedStyle(label).color), back = light(getComputedStyle(label.closest(".cell")).backgroundColor);
    return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
  }));
})()
"""


@in_browser
def test_injected_text_is_shown_and_not_run(tab: Tab, tmp_path: Path) -> None:
    files = {"pkg/__init__.py": f"import pkg.a  # {EVIL}\n", "pkg/a.py": ""}
    show(tab, tmp_path, *pictures(files))
    tab.move(*center(tab, "pkg.a"))
    assert EVIL[:40] in panel(tab)
    assert tab.value("document.title") == "import pkg"
    assert tab.value("document.images.length") == 0
    assert tab.complaints() == []


@in_browser
def test_three_thousand_modules_are_drawn_at_once(tab: Tab, tmp_path: Path) -> None:
    # Each module imports up to three below it: depth and breadth of a real package.
    files = {"pkg/__init__.py": "import pkg.m1\n"}
    for number in range(1, 3000):
        below = [each for each in (number * 3 - 1, number * 3, number * 3 + 1) if each < 3000]
        files[f"pkg/m{number}.py"] = "".join(f"import pkg.m{each}\n" for each in below)
    before, _ = pictures(files)
    assert before.modules == 3000
    show(tab, tmp_path, before)
    assert tab.value("document.querySelector('[data-name=pkg] b').textContent") == "3,000"
    assert tab.value("document.querySelectorAll('.cell').length") > 300
    took = tab.value(
        "(() => { const start = performance.now(); document.querySelector('[data-view]').click(); return performance.now() - start; })()"
    )
    assert took < 3000
    # What is drawn closed opens as one goes there.
    tab.press("/")
    tab.type("m2999")
    tab.press("Enter")
    assert "pkg.m2999" in drawn(tab)
    assert panel(tab).startswith("pkg.m2999\n")
    assert tab.complaints() == []


@in_browser
def test_measured_times_stand_beside_the_numbers(tab: Tab, tmp_path: Path) -> None:
    before, _ = pictures(HEAVY)
    show(tab, tmp_path, before, times={"torch": (12_345, 12_345), "pkg.heavy": (900, 15_500)})
    tab.move(*center(tab, "pkg.heavy"))
    assert "0.9 ms by itself, 16 ms with all that only it brings in." in panel(tab)
    tab.move(*center(tab, "torch"))
    assert "12 ms by itself." in panel(tab)
    tab.move(*center(tab, "pkg.light"))
    assert " ms" not in panel(tab)


@in_browser
def test_the_legend_names_the_colours_that_there_are(opened: Tab) -> None:
    legend = "[...document.querySelectorAll('#legend li')].map(each => each.textContent)"
    assert opened.value(legend) == [
        "module that stays",
        "module that goes",
        "third-party package that stays",
        "third-party package that goes",
        "compiled, generated or missing",
    ]


@in_browser
def test_without_an_after_there_is_one_view(tab: Tab, tmp_path: Path) -> None:
    show(tab, tmp_path, *pictures({"pkg/__init__.py": ""}))
    assert tab.value("document.querySelectorAll('.view').length") == 1
    assert drawn(tab) == {"pkg"}
    assert re.search(r"1 module\b", str(tab.value("document.getElementById('views').textContent")))
