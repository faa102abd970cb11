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
        "<text><tspan>loss</tspan> is 0.5</text>",
        "<text><tspan>loss</tspan><tspan>0.5</tspan></text>",
        '<text aria-label="a>b">0.5</text>',
        "<text>0&#46;5</text>",
        '<text>0<tspan lang="zh">个</tspan>.5</text>',
        "<title>0.5</title>",
        "<g>0.5</g>",
        '<svg:text xmlns:svg="s">0.5</svg:text>',
    ],
)
def test_a_figure_is_found_however_it_is_spelled(inside: str) -> None:
    assert (2, "0.5 (a decimal) in a picture") in told(inside)


def test_a_figure_behind_other_lines_is_named_with_its_own() -> None:
    text = '<text\n x="1">loss\n<tspan>é</tspan>\nis 0.5 now</text>'
    assert told(text) == [(5, "0.5 (a decimal) in a picture")]


@pytest.mark.parametrize("name", ["aria-label", "aria-description", "title", "alt"])
def test_a_figure_in_words_that_are_an_attribute_is_found(name: str) -> None:
    found = f"0.5 (a decimal) in {name} in a picture"
    assert told(f'<g {name}="loss is 0.5"/>') == [(2, found)]


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        ("<text>0<!-- -->.5</text>", "a comment"),
        ("<text><![CDATA[0.5]]></text>", "a CDATA section"),
        ("<text>0<?x?>.5</text>", "a processing instruction <?x?>"),
    ],
)
def test_what_text_could_hide_in_is_refused(inside: str, what: str) -> None:
    _, (problem,) = read_picture(f"{SVG}\n{inside}</svg>", PATH)
    assert str(problem) == (
        f"{PATH}:2\n  found:    {what} in a picture\n"
        "  expected: elements and text alone, so that every figure is read\n"
        f"  fix:      remove {what}"
    )


@pytest.mark.parametrize("inside", ["", ' [<!ENTITY e "0.5">]'])
def test_a_document_type_and_its_entities_are_refused(inside: str) -> None:
    svg = f"<!DOCTYPE svg{inside}>{SVG}<text>{'&e;' if inside else ''}</text></svg>"
    _, (problem,) = read_picture(svg, PATH)
    assert (problem.line, problem.found) == (1, "a DOCTYPE in a picture")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{BOUND}%", "'%' behind it"),
        (f"{BOUND} %", "' %' behind it"),
        (f"{BOUND}％", "'%' behind it"),
        (f"{BOUND}1", "'1' behind it"),
        (f"{BOUND}<tspan>1</tspan>", "'1' behind it"),
        (f"{BOUND}.1", "'.1' behind it"),
        (f"{BOUND},000", "',0' behind it"),
        (f"{BOUND}e3", "'e' behind it"),
        (f"{BOUND}x", "'x' behind it"),
        (f"{BOUND} × 10³", "' × 10³' behind it"),
        (f"{BOUND}/2", "'/' behind it"),
        (f"{BOUND}²", "'²' behind it"),
        (f"{BOUND} percent", "' percent' behind it"),
        (f"{BOUND}万", "'万' behind it"),
        (f"{BOUND}-1", "'-' behind it"),
        (f"1{BOUND}", "'1' before it"),
        (f"1,{BOUND}", "'1,' before it"),
        (f"loss.{BOUND}", "'.' before it"),
        (f"−{BOUND}", "'−' before it"),
        (f"a = − {BOUND}", "'= − ' before it"),
        (f"1e{BOUND}", "'e' before it"),
        (f"百分之{BOUND}", "'百分之' before it"),
        (f'{BOUND}<tspan lang="zh">，</tspan>1', "'1' behind it"),
    ],
)
def test_what_changes_a_bound_figure_may_not_touch_it(text: str, what: str) -> None:
    assert (2, f"0.5 with {what}") in told(f"<text>{text}</text>")


@pytest.mark.parametrize(
    "text",
    [
        f"loss={BOUND}, or {BOUND}.",
        f"损失{BOUND}。",
        f"({BOUND})",
        f"{BOUND} − {BOUND} = {BOUND}",
        f"{BOUND} × 10 steps",
        '<tspan data-is="b">50%</tspan>',
        "1 + 1 = 2, T = 6, out[:, -T-1:-1], r₀, ... and …",
        "Step 1</text><text>2 to 3",
        f"{BOUND}</text><text>{BOUND}</text><text>1",
    ],
)
def test_a_figure_among_words_is_let_be(text: str) -> None:
    assert told(f"<text>{text}</text>") == []


@pytest.mark.parametrize(
    ("first", "second", "piece"),
    [
        ("0.", "5", "'0.'"),
        ("50", "%", "'%'"),
        (BOUND, "%", "'%'"),
        ("5", "e-1", "'e-1'"),
        ("1", "/2", "'/'"),
        ("0", ".", "'.'"),
        ("百分之", "5", "'百分之'"),
    ],
)
def test_a_number_may_not_go_on_in_another_text(
    first: str, second: str, piece: str
) -> None:
    ((_, found),) = told(f"<text>{first}</text><text>{second}</text>")
    assert found.startswith(f"{piece}, a piece of a number, at an end of")


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ('<text data-is="a">half</text>', "'half' is not a number"),
        ('<rect data-is="a"/>', "'' is not a number"),
        ('<text data-is="a">0<tspan>.5</tspan></text>', "'0<tspan>' is not a number"),
        ('<text data-is="a">0.5 or 0.6</text>', "'0.5 or 0.6' is not a number"),
    ],
)
def test_a_bound_element_holds_one_number(element: str, reason: str) -> None:
    assert (2, reason) in told(element)


def test_a_bound_figure_has_line_text_and_expression() -> None:
    text = (
        '<text>\n<tspan>é</tspan> is\n<tspan data-is="a[0] &lt; 1">0.5</tspan></text>'
    )
    svg = f"{SVG}{text}</svg>"
    (figure,), problems = read_picture(svg, PATH)
    assert problems == []
    assert (figure.line, figure.shown, figure.expression) == (3, "0.5", "a[0] < 1")
    assert figure.start == svg.index('<tspan data-is="a[')


def test_malformed_xml_is_named_with_its_line() -> None:
    _, (problem,) = read_picture("<svg>\n<text>0.5\n</svg>", PATH)
    assert (problem.line, problem.found) == (3, "mismatched tag")
    assert problem.expected == "well-formed XML"
