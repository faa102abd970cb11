"""The theme's styles: what no page can use is left out, all else stays as it was."""

import pytest

from site_tools.site.theme_styles import cut, properties, without_unread, words


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
        "[dir=ltr] .a{top:0}",
        "[dir] .a{top:0}",
    ],
)
def test_what_can_apply_stays(css: str) -> None:
    assert cut(css, {"a", "b", "dir=ltr"}) == css


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".unused{top:0}.a{top:0}", ".a{top:0}"),
        (".a,.unused .a,p .a{top:0}", ".a,p .a{top:0}"),
        (".a.unused{top:0}", ""),
        ("@media print{.unused{top:0}}", ""),
        ("/* .a */.a{top:0}", ".a{top:0}"),
        ('[dir=rtl] .a,[dir="rtl"]{top:0}.a{top:0}', ".a{top:0}"),
    ],
)
def test_what_cannot_is_left_out(css: str, left: str) -> None:
    assert cut(css, {"a", "b", "dir=ltr"}) == left


def test_the_direction_is_that_of_the_pages() -> None:
    assert "dir=rtl" in words(['<body dir="rtl">'], [])
    assert "dir=rtl" not in words(['<body dir="ltr">'], ["x.dir = rtl"])


@pytest.mark.parametrize(
    ("css", "elsewhere", "left"),
    [
        ("a{--b:0;top:0}", "", "a{top:0}"),
        ("@media print{a{top:0;--b:0}}", "", "@media print{a{top:0}}"),
        ("a{--b:url(x)}p{--c: var(--b)}", "", "a{}p{}"),
        ("a{--b:0;--c:0}", "p{top: var( --c, 1px)}", "a{--c:0}"),
        ("a{--b:0}p{top:calc(1px + var(--b,0))}", "", None),
        (":root{--b:0}@media print{p{top:var(--b)}}", "", None),
        ("a{top:0;left:1px}@font-face{font-family:b}", "", None),
    ],
)
def test_only_what_something_reads_is_kept(
    css: str, elsewhere: str, left: str | None
) -> None:
    read = properties([elsewhere])
    assert without_unread(css, read) == (css if left is None else left)


def test_a_class_may_stand_in_a_page_or_be_set_by_a_script() -> None:
    used = words(['<p class="md-a b">c</p>'], ["e.classList.toggle('md-d--on')"])
    assert {"md-a", "b", "md-d--on"} <= used and "c" not in used
