"""The switch that shows where figures come from."""

import pytest

from site_tools.html import provenance

FIGURE = '<span class="figure" data-is="a[0, 1]">0.5</span>'
BOX = f'<section class="answer"><p>{FIGURE}</p></section>'
PICTURE = (
    '<figure class="picture"><svg><text><tspan data-is="a &lt; b">1</tspan></text>'
    '<text><tspan class="x" data-is="c">2</tspan></text>'
    '<text><tspan data-is="c">2</tspan></text></svg></figure>'
)


@pytest.mark.parametrize("html", [f"{BOX}<p>{FIGURE}</p>", f"<p>{FIGURE}</p>", PICTURE])
def test_a_page_with_figures_has_one_switch_that_waits_for_a_script(html: str) -> None:
    offered = provenance.offer(html, "zh")
    assert offered.count("<button") == 1
    assert 'aria-pressed="false" hidden' in offered
    assert ">显示每个数字的出处</button>" in offered


def test_a_page_without_figures_is_left_as_it_is() -> None:
    html = '<section class="answer"><p><code>0.5</code></p></section>'
    assert provenance.offer(html, "en") == html


def test_the_switch_stands_in_the_box_or_ends_the_page() -> None:
    assert provenance.offer(f"{BOX}<p>x</p>", "en").endswith(
        "figures come from</button></section><p>x</p>"
    )
    assert provenance.offer(f"<p>{FIGURE}</p>", "en").endswith("</p></button>"[4:])


def test_figures_of_a_picture_are_listed_once_below_it() -> None:
    offered = provenance.offer(PICTURE, "en")
    listed = "<li>1 = <code>a &lt; b</code></li><li>2 = <code>c</code></li></ul></fig"
    assert listed in offered
    assert offered.index("</svg>") < offered.index('<ul class="provenance"')


def test_figures_are_no_tab_stops() -> None:
    assert "tabindex" not in provenance.offer(BOX + PICTURE, "en")
