"""Who asks what a page has answered is led there; who asks something new is not."""

from pathlib import Path

import pytest
import yaml

from site_tools.contributing import asked_before
from site_tools.contributing.ideas import fold, stem
from site_tools.contributing.likeness import Known, Likeness
from site_tools.data.names import Name, read_names

ROOT = Path(__file__).parents[2]
GOLDEN = yaml.safe_load(Path(__file__).with_name("paraphrases.yml").read_text("utf-8"))


@pytest.fixture(scope="module")
def likeness() -> Likeness:
    """Of the pages of the golden file: one that is added disturbs nothing."""
    found = asked_before.wordings(ROOT)
    golden = {page: found[page] for page in GOLDEN["answered"]}
    return Likeness(golden, read_names(ROOT))


def first_pages(known: list[Known]) -> list[str]:
    return [page.page for page in known[:3]]


def test_nearly_every_paraphrase_finds_its_page_among_three(likeness: Likeness) -> None:
    asked = [(q, page) for page, some in GOLDEN["answered"].items() for q in some]
    lost = [q for q, page in asked if page not in first_pages(likeness.nearest(q))]
    assert len(asked) > 60 and len(lost) <= 3, lost


def test_of_what_is_new_nothing_is_claimed(likeness: Likeness) -> None:
    new = GOLDEN["new"]
    claimed = [q for q in new if asked_before.answered(likeness.nearest(q))]
    assert len(new) > 20 and claimed == []
    for question, page in GOLDEN["near"].items():
        (known,) = asked_before.answered(likeness.nearest(question))
        assert known.page == page


def test_of_what_is_answered_nearly_half_is_claimed(likeness: Likeness) -> None:
    asked = [q for some in GOLDEN["answered"].values() for q in some]
    told = [asked_before.answered(likeness.nearest(q)) for q in asked]
    assert sum(map(bool, told)) > len(asked) * 0.4
    assert max(map(len, told)) <= 3


def test_every_wording_of_every_page_is_claimed_as_it_stands(
    likeness: Likeness,
) -> None:
    found = asked_before.wordings(ROOT)
    for page in GOLDEN["answered"]:
        for text in found[page][::4]:
            claimed = asked_before.answered(likeness.nearest(text))
            assert page in [known.page for known in claimed], text


@pytest.fixture(scope="module")
def whole() -> Likeness:
    return Likeness(asked_before.wordings(ROOT), read_names(ROOT))


@pytest.mark.parametrize(
    ("asked", "section"),
    [
        ("vf_explained_var is negative, is my critic broken?", "explained-variance"),
        ("explained variance 是负的，critic 坏了吗？", "explained-variance"),
        ("grad_norm jumps, what should I check?", "grad-norm"),
        ("rollout 和训练概率不一致", "mismatch"),
    ],
)
def test_a_symptom_leads_to_its_section_and_nowhere_else(
    whole: Likeness, asked: str, section: str
) -> None:
    found = asked_before.answered(whole.nearest(asked))
    assert [known.page for known in found] == [f"debug/symptoms#{section}"]


def test_of_the_whole_site_what_is_new_claims_nothing(whole: Likeness) -> None:
    for asked in GOLDEN["new"]:
        assert asked_before.answered(whole.nearest(asked)) == [], asked


@pytest.mark.parametrize(
    "asked", ["为什么？", "why?", "How?", "What is it?", "怎么办？", "为什么会这样？",
              "Why is that?", "能举个例子吗？", "Can you give an example?"]
)  # fmt: skip
def test_who_names_nothing_is_led_nowhere(whole: Likeness, asked: str) -> None:
    assert {known.likeness for known in whole.nearest(asked)} == {0}


def test_the_wording_shown_is_in_the_language_asked_for(whole: Likeness) -> None:
    for asked in ("为何gae相比mc可以降低方差？", "Why is GAE less noisy than MC?"):
        en, zh = (whole.nearest(asked, language)[0] for language in ("en", "zh"))
        assert en.page == zh.page == "gae/variance" and en.likeness == zh.likeness
        assert en.wording.isascii() and not zh.wording.isascii()


def test_all_wordings_are_searched_and_no_index() -> None:
    found = asked_before.wordings(ROOT)
    deltas = found["gae/why_sum_deltas"]
    assert "Why isn't A_t simply δ_t?" in deltas  # the question
    assert "algorithm.lam 设成 0 会怎样？" in deltas  # an alias, in the other language
    assert '"A weighted average reduces variance"' in deltas  # a wrong answer
    assert any("我没能理解" in text for text in deltas)  # as the dialogue asked
    assert not {"index", "gae/index"} & found.keys()


def test_both_languages_meet_in_the_glossary() -> None:
    row = Name("advantage", "优势", "advantage", "", "", not_zh=("好处",))
    pages = {"gae/a": ["What is an advantage?"], "gae/b": ["What is a mask?"]}
    for asked in ("优势", "好处", "Advantages"):
        nearest, other = Likeness(pages, [row]).nearest(asked)
        assert nearest.page == "gae/a" and nearest.likeness > other.likeness == 0
    assert [k.likeness for k in Likeness(pages, []).nearest("优势")] == [0, 0]


def test_what_few_pages_say_counts_for_more() -> None:
    pages = {f"gae/{n}": ["Does the critic learn?"] for n in "abc"}
    pages |= {"gae/d": ["Does whitening help?"]}
    assert Likeness(pages, []).nearest("critic whitening")[0].page == "gae/d"


def test_code_is_found_by_its_name_and_by_its_parts() -> None:
    pages = {"gae/a": ["Why old_log_probs?"], "gae/b": ["Why ref_log_probs?"]}
    for asked in ("old_log_probs", "old", "旧的 OLD_LOG_PROBS 呢"):
        assert Likeness(pages, []).nearest(asked)[0].page == "gae/a"


def test_no_words_are_like_nothing() -> None:
    assert Likeness({"gae/a": []}, []).nearest("?") == [Known("gae/a", "", 0.0)]


def test_forms_of_a_word_share_a_stem() -> None:
    assert {stem(w) for w in ("bootstrap", "bootstraps", "bootstrapping")} == {"bootst"}
    assert stem("gae") == "gae" and stem("is") == "is"
    assert fold("δ_t") == " delta _t"
