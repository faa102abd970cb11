"""The answer box: the section `answer`, its anchors and its jump links."""

from site_tools.html import answer

PAGE = (
    '<h2 id="answer">之前</h2>\n<p>是。</p>\n'
    '<h2 id="in-verl">哪一行</h2><h2 id="code">跑</h2><h2 id="else">别的</h2>'
)


def test_the_box_ends_where_the_next_section_begins() -> None:
    html = answer.wrap(PAGE, [], "zh")
    box, _, rest = html.partition("</section>\n")
    assert box.startswith('<section class="answer">\n<h2 id="answer">之前</h2>')
    assert "是。" in box
    assert rest.startswith('<h2 id="in-verl">')


def test_a_page_of_one_section_is_all_box() -> None:
    html = answer.wrap('<h2 id="answer">Yes</h2><p>So.</p>', [], "en")
    assert html.endswith("<p>So.</p>\n</section>\n") and "<nav" not in html


def test_dialogue_questions_get_anchors_and_others_do_not() -> None:
    html = answer.wrap(PAGE, ["004·2", "004·10", "verl#1960", "004·3 (half)"], "zh")
    assert html.count("<span id=") == 2
    assert '<span id="q-004-2"></span>\n<span id="q-004-10"></span>' in html


def test_the_askers_words_are_folded_and_lead_to_the_conversation() -> None:
    asked = {"004·2": answer.Said("<em>V</em>?", "<a>so?</a>")}
    asked["004·3"] = answer.Said("Rough?")
    html = answer.wrap(PAGE, ["004·2", "004·10", "verl#1960"], "en", asked)
    folded = html.partition("<details")[2].partition("</details>")[0]
    assert folded.count("<p>") == 2 and "Rough" not in folded
    assert folded.endswith("<p>Then came <a>so?</a></p>\n")
    link = '<a href="/questions/#dialogue-004">Dialogue 004·2</a>'
    assert f"<p>{link} <em>V</em>?</p>" in folded
    assert html.index("</details>") < html.index("</section>")
    assert "<details" not in answer.wrap(PAGE, ["verl#1960"], "en", asked)


def test_jump_links_name_the_sections_that_exist_in_page_order() -> None:
    html = answer.wrap(PAGE, [], "zh")
    assert '<a href="#code">代码</a>\n<a href="#in-verl">verl</a>\n</nav>' in html
    assert html.count("<a href=") == 2


def test_jump_links_stay_out_of_the_search() -> None:
    assert "data-search-exclude" in answer.wrap(PAGE, [], "en").partition("<a href")[0]


def test_the_labels_are_in_the_language_of_the_page() -> None:
    headings = "".join(f'<h2 id="{name}">x</h2>' for name in answer.LABELS)
    for lang, words in {
        "zh": ["图", "代码", "数字", "为什么", "错误说法", "verl", "接着问"],
        "en": ["picture", "code", "numbers", "why", "wrong answers", "verl", "next"],
    }.items():
        html = answer.wrap('<h2 id="answer">A</h2>' + headings, [], lang)
        positions = [html.index(f">{word}</a>") for word in words]
        assert positions == sorted(positions)


def test_a_page_without_an_answer_is_left_as_it_is() -> None:
    assert (
        answer.wrap("<h2 id='code'>x</h2>", ["004·2"], "en") == "<h2 id='code'>x</h2>"
    )


def test_other_wordings_stand_at_the_end_as_text() -> None:
    html = answer.also_asked(["a < b?", "为什么？"], "zh")
    assert html == (
        '<aside class="aliases" data-search-exclude="1"><p>也有人这样问</p><ul>\n'
        "<li>a &lt; b?</li>\n<li>为什么？</li>\n</ul></aside>"
    )
    assert answer.also_asked([], "en") == ""
