"""Figures in pictures: each is bound as a whole, however the file spells it."""

import pytest

from site_tools.page.pictures import read_picture

PATH = "snippets/x.svg"
BOUND = '<tspan data-is="a">0.5</tspan>'
SVG = '<svg viewBox="0 0 9 9">'


def told(inside: str) -> list[tuple[int, str]]:
    """Line and finding of each problem; the planted text stands on line 2."""
    _, problems = read_picture(f"{SVG}\n{inside}\n</svg>", PATH)
    assert all(problem.path == PATH and problem.fix for problem in problems)
    return [(problem.line, problem.found) for problem in problems]


@pytest.mark.parametrize(
    "inside",
    [
        "<text>0.5</text>",
        "<text>0<tspan>.</tspan>5</text>",
        "<text><tspan>loss</tspan><tspan>0.5</tspan></text>",
        "<text>0&#46;5</text>",
        '<text>0<tspan lang="zh">个</tspan>.5</text>',
        "<title>0.5</title>",
        "<g>0.5</g>",
    ],
)
def test_a_figure_is_found_however_it_is_spelled(inside):
    assert (2, "0.5 (a decimal) in a picture") in told(inside)


def test_a_figure_in_words_that_are_an_attribute_is_found():
    found = "0.5 (a decimal) in aria-label in a picture"
    assert told('<g aria-label="loss is 0.5"/>') == [(2, found)]


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        ("<text>0<!-- -->.5</text>", "<!--"),
        ("<text><![CDATA[0.5]]></text>", "<![CDATA["),
        ("<text>0<?x?>.5</text>", "<?"),
        ('<!DOCTYPE svg [<!ENTITY e "0.5">]>', "<!DOCTYPE"),
    ],
)
def test_what_text_could_hide_in_is_refused(inside, what):
    assert told(inside) == [(2, f"{what} in a picture")]


@pytest.mark.parametrize(
    "text",
    [
        *(f"{BOUND}%", f"{BOUND} ％", f"{BOUND}1", f"{BOUND}<tspan>1</tspan>"),
        *(f"{BOUND}.1", f"{BOUND},000", f"{BOUND}e3", f"{BOUND} × 10³", f"{BOUND}/2"),
        *(f"{BOUND}²", f"{BOUND} percent", f"{BOUND}万", f"{BOUND}-1", f"1{BOUND}"),
        *(f"1,{BOUND}", f"loss.{BOUND}", f"−{BOUND}", f"a = − {BOUND}", f"1e{BOUND}"),
        *(f"百分之{BOUND}", f'{BOUND}<tspan lang="zh">，</tspan>1'),
    ],
)
def test_what_changes_a_bound_figure_may_not_touch_it(text):
    _, problems = read_picture(f"{SVG}<text>{text}</text></svg>", PATH)
    assert "figure_touched" in [problem.message.key for problem in problems]


@pytest.mark.parametrize(
    "text",
    [
        f"loss={BOUND}, or {BOUND}.",
        f"损失{BOUND}。",
        f"({BOUND})",
        f"{BOUND} − {BOUND} = {BOUND}",
        '<tspan data-is="b">50%</tspan>',
        "1 + 1 = 2, T = 6, out[:, -T-1:-1], r₀, ... and …",
        "Step 1</text><text>2 to 3",
        f"{BOUND}</text><text>{BOUND}</text><text>1",
    ],
)
def test_a_figure_among_words_is_let_be(text):
    assert told(f"<text>{text}</text>") == []


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ('<text data-is="a">half</text>', "'half' is not a number"),
        ('<rect data-is="a"/>', "'' is not a number"),
        ('<text data-is="a">0<tspan>.5</tspan></text>', "'0<tspan>.5</tspan>' is not"),
        ('<text data-is="0.5">0.5</text>', "`0.5` with data-is"),
    ],
)
def test_a_bound_element_holds_one_number(element, reason):
    assert [found for _, found in told(element) if found.startswith(reason)]


def test_a_bound_figure_has_line_text_and_expression():
    text = '<text>\n<tspan>é</tspan>\n<tspan data-is="a[0] &lt; 1">0.5</tspan></text>'
    assert read_picture(f"{SVG}{text}</svg>", PATH) == ([(3, "0.5", "a[0] < 1")], [])


def test_malformed_xml_is_named_with_its_line():
    _, (problem,) = read_picture("<svg>\n<text>0.5\n</svg>", PATH)
    assert (problem.line, problem.found) == (3, "mismatched tag")
    assert problem.expected == "well-formed XML"
