"""Values of settings files: refused until a person decides, rewritten on request."""

from __future__ import annotations

import pytest

from tests.narrow_reexport.trees import NARROWED, PKG, SAME, SAME_NARROWED, rewrites_strings
from tests.narrow_reexport.verbs import check_refused, check_rewritten


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("conf.toml", 'kernel = "{}.sym"  # kept\n'),
        ("conf.toml", "kernels = ['{}:sym', \"x\"]\n"),
        ("conf.yaml", "kernel:\n  _target_: {}.sym\n"),
        ("conf.yml", "handlers:\n  - '{}:sym.attr'  # kept\n"),
        ("conf.yml", 'handlers: [ "{}.sym", x ]\n'),
        ("conf.json", '{{\n\t"()": "{}.sym",\n\t"class": "x"\n}}'),
        ("conf.ini", "[handler_x]\nclass = {}.sym\n"),
        ("setup.cfg", "[tool:x]\nfactory = {}:sym\n"),
        ("pyproject.toml", '[tool.mine]\nfactory = "{}:sym"\n'),
    ],
)
def test_a_value_is_refused_and_rewritten_on_request(path: str, text: str) -> None:
    before, after = text.format("pkg"), text.format("pkg.sub")
    check_refused({**PKG, path: before}, "pkg", "sym", "--rewrite-strings rewrites it", at=f"{path}:")
    rewrites_strings({path: before}, {path: after}, run=())


def test_a_value_with_windows_line_endings_keeps_them() -> None:
    before = b"a: 1\r\nkernel: pkg.sym\r\n"
    rewrites_strings({"conf.yml": before}, {"conf.yml": before.replace(b"pkg.", b"pkg.sub.")}, run=())


def test_an_accepted_value_stays_on_request_too() -> None:
    text = "label: pkg.sym  # codemods: accept narrow_reexport\nkernel: pkg.sym\n"
    rewrites_strings(
        {"conf.yml": text},
        {"conf.yml": text.replace("kernel: pkg.", "kernel: pkg.sub.")},
        run=(),
        says="accepted: conf",
    )


def test_a_longer_text_is_a_mention_on_request_too() -> None:
    text = "about: calls pkg.sym at night\npath: /opt/pkg.sym/x\n# pkg.sym\n"
    rewrites_strings({"conf.yml": text}, {"conf.yml": text}, run=(), says=r"conf\.yml:1")


@pytest.mark.parametrize(
    ("text", "after"),
    [("a: pkg:fused\n", "a: pkg.fused:fused\n"), ("[mypy-pkg.fused]\nx = 1\n", "[mypy-pkg.fused]\nx = 1\n")],
)
def test_the_module_and_the_object_of_one_name_are_told_apart(text: str, after: str) -> None:
    path = "mypy.ini" if "mypy" in text else "conf.yml"
    check_rewritten({**SAME, path: text}, "pkg", "fused", {**SAME_NARROWED, path: after}, options=["--rewrite-strings"])


def test_a_dotted_value_of_a_same_named_module_is_refused_on_request_too() -> None:
    tree = {**SAME, "conf.yml": "a: pkg.fused\n"}
    check_refused(tree, "pkg", "fused", "may mean the module", options=["--rewrite-strings"], at="conf.yml:1")


def test_a_file_that_is_not_utf_8_is_refused_on_request_too() -> None:
    tree = {**PKG, "conf.ini": "# é\n[x]\na = pkg.sym\n".encode("latin-1")}
    check_refused(tree, "pkg", "sym", "names pkg.sym", options=["--rewrite-strings"], at="conf.ini:3")


def test_without_a_symbol_in_it_a_value_stays() -> None:
    rewrites_strings({"conf.yml": "a: pkg.symbol\nb: other.pkg.sym\nc: pkg.light\n"}, dict(NARROWED), run=())
