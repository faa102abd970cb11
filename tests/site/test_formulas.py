"""Formulas: found, typeset once, searchable, and refused where they are wrong."""

from pathlib import Path

import pytest

from site_tools.site import formulas, katex
from site_tools.site.formulas import Formula

INLINE = r'<p>Since <span class="arithmatex">\(a &lt; b\)</span>。</p>'
DISPLAY = '<div class="arithmatex">\\[\na + b \\label{sum}\n\\]</div>'


def test_a_formula_is_read_without_delimiters_entities_and_label() -> None:
    assert formulas.find(INLINE + DISPLAY) == [
        Formula("a < b", display=False),
        Formula("a + b", display=True),
    ]


def test_a_label_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a label must be unique, got \\label\{sum\}"):
        formulas.find(DISPLAY + DISPLAY)


def test_a_label_becomes_an_id_that_links_may_name() -> None:
    html = formulas.render(DISPLAY, {Formula("a + b", display=True): "<b>a</b>"})
    assert html == '<div class="arithmatex" id="sum"><b>a</b></div>'
    assert formulas.anchors(html) == {"sum"}


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        (1, '<span class="arithmatex nowrap">{}。</span></p>'),
        (2, '<span class="arithmatex">{}</span>。</p>'),
    ],
)
def test_punctuation_stays_with_a_formula_that_cannot_break(
    bases: int, expected: str
) -> None:
    typeset = '<i class="katex-base"></i>' * bases
    html = formulas.render(INLINE, {Formula("a < b", display=False): typeset})
    assert html.endswith(expected.format(typeset))


def test_a_formula_in_the_table_of_contents_is_typeset() -> None:
    title = formulas.render_in_title(
        r"Why \(a &lt; b\)?", {Formula("a < b", display=False): "<b>a</b>"}
    )
    assert title == "Why <b>a</b>?"


def test_katex_gives_one_text_to_the_search_and_mathml_to_readers(
    tmp_path: Path,
) -> None:
    html = katex.typeset({"a.md": INLINE}, tmp_path)[Formula("a < b", display=False)]
    assert "<math" in html and "annotation" not in html
    assert html.count('<span class="katex-html" aria-hidden="true"') == 1
    assert formulas.text(html) == "a&lt;b"


def test_a_formula_seen_before_needs_no_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = katex.typeset({"a.md": DISPLAY}, tmp_path)
    monkeypatch.setattr(katex, "_run", lambda *_: pytest.fail("node was run"))
    assert katex.typeset({"b.md": DISPLAY}, tmp_path) == first


def test_a_formula_in_a_line_and_one_on_its_own_are_typeset_apart(
    tmp_path: Path,
) -> None:
    page = INLINE + r'<div class="arithmatex">\[a &lt; b\]</div>'
    typeset = katex.typeset({"a.md": page}, tmp_path)
    assert "katex-display" in typeset[Formula("a < b", display=True)]
    assert "katex-display" not in typeset[Formula("a < b", display=False)]


def test_the_page_and_the_formula_are_named_when_katex_cannot_read_it(
    tmp_path: Path,
) -> None:
    bad = r'<span class="arithmatex">\(\frac{\)</span>'
    message = r"b\.md: KaTeX must be able to read every formula, got \$\\frac\{\$: "
    with pytest.raises(ValueError, match=message):
        katex.typeset({"a.md": INLINE, "b.md": bad}, tmp_path)


def test_the_page_is_named_when_a_label_is_given_twice(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.md: a label must be unique"):
        katex.typeset({"a.md": DISPLAY + DISPLAY}, tmp_path)


def test_a_missing_katex_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"KaTeX must be installed in .*absent"):
        katex.typeset({"a.md": INLINE}, tmp_path, tmp_path / "absent")
