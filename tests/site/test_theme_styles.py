"""The theme's styles: what no page can use is left out, all else stays as it was."""

import pytest

from site_tools.html.theme_styles import cut, words


@pytest.mark.parametrize(
    "css",
    [
        "p{top:0}",
        ".a>p:not(.unused){top:0}",
        "[data-x=\\.unused] .a{top:0}",
        ".a.b:is(.unused,p){top:0}",
        ":root{--icon:url(\"data:,<svg class='unused'>\")}",
        "@font-face{font-family:unused}",
        '@charset "UTF-8";',
        "@media screen and (max-width:44em){.a{top:0}}",
        "@supports (top:0){@media print{.b{top:0}}}",
    ],
)
def test_what_can_apply_stays(css: str) -> None:
    assert cut(css, {"a", "b"}) == css


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".unused{top:0}.a{top:0}", ".a{top:0}"),
        (".a,.unused .a,p .a{top:0}", ".a,p .a{top:0}"),
        (".a.unused{top:0}", ""),
        ("@media print{.unused{top:0}}", ""),
        ("/* .a */.a{top:0}", ".a{top:0}"),
    ],
)
def test_what_cannot_is_left_out(css: str, left: str) -> None:
    assert cut(css, {"a", "b"}) == left


def test_a_class_may_stand_in_a_page_or_be_set_by_a_script() -> None:
    used = words(['<p class="md-a b">c</p>'], ["e.classList.toggle('md-d--on')"])
    assert {"md-a", "b", "md-d--on"} <= used and "c" not in used
