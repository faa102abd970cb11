"""A word that the glossary rejects is found, wherever it is not somebody else's."""

import shutil

import pytest
import yaml

from site_tools.data import names
from site_tools.judge.words import check_terms, rejected_words
from site_tools.page.page import read_page
from tests.layout import ROOT
from tests.site.sample import EN, ZH, broken, line_of, page

pytestmark = pytest.mark.pages

WHY = {"choice_zh": "离线是另一回事。", "choice_en": "Offline is another thing."}
OFF = names.Name(
    id="off-policy",
    zh="异策略",
    en="off-policy",
    meaning_zh="不是同一个。",
    meaning_en="Another one.",
    also_zh=("在线策略梯度",),
    not_zh=("离策略", "在线策略"),
    not_en=("value network",),
    **WHY,
)


def found(text: str, lang: str = "en") -> list[tuple[int, str]]:
    problems = check_terms(page(text, lang), [OFF])
    return [(problem.line, problem.found) for problem in problems]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("The sum is", "A value network says", "value network"),
        ("The sum is", "Value networks say", "Value networks"),
        ("The sum is", "The\nvalue\nnetwork says", "value\nnetwork"),
        ("question: Is two the sum?", "question: A value network?", "value network"),
    ],
)
def test_a_rejected_word_is_named_at_its_line(old, new, word):
    text = broken(old, new, EN)
    assert found(text) == [(line_of(word, text), word)]
    (problem, *_) = check_terms(page(text), [OFF])
    assert problem.expected.endswith("as the glossary says: Offline is another thing.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It is 2.5.", "A value network is 2.5."),  # a quotation, set off
        ("The sum is", 'The "value network" says'),
        ("as $G - V$ says", "as `value network` says"),
        ("What is one and one?", "What is a value network?"),  # an alias
    ],
)
def test_somebody_elses_word_may_stay(old, new):
    assert found(broken(old, new, EN)) == []


def test_chinese_words_need_no_space_and_a_good_word_may_hold_a_bad():
    text = broken("和是", "这是离策略的和", ZH)
    assert found(text, "zh") == [(line_of("离策略", text), "离策略")]
    assert found(broken("和是", "在线策略梯度里“离策略”的和", ZH), "zh") == []


def test_the_words_of_a_picture_count(tmp_path):
    for folder in "snippets/alignment", "docs/en/alignment":
        (tmp_path / folder).mkdir(parents=True)
    svg = '<svg viewBox="0 0 9 9">\n<text lang="en">value network</text>\n{}</svg>'
    drawn = tmp_path / "snippets/alignment/a.svg"
    drawn.write_text(svg.format('<text lang="zh">离策略</text>'), "utf-8")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    path = "docs/en/alignment/a.md"
    (tmp_path / path).write_text("![what it shows](a.svg)\n", "utf-8")
    problems = check_terms(read_page(tmp_path, path), [OFF])
    told = [(problem.path, problem.line, problem.found) for problem in problems]
    assert told == [("snippets/alignment/a.svg", 2, "value network")]


def test_no_row_rejects_what_another_calls_its_own():
    rows = names.read_names(ROOT)
    assert any(row.not_zh for row in rows) and any(row.not_en for row in rows)
    for lang in ("zh", "en"):
        own = {w for r in rows for w in (getattr(r, lang), *getattr(r, f"also_{lang}"))}
        assert not own & {w for row in rows for w in getattr(row, f"not_{lang}")}


def texts() -> list[tuple[str, str, str]]:
    """File, language and text of what pages show and no page holds."""
    docs = ROOT / "docs"
    found = [
        (file.relative_to(ROOT).as_posix(), lang, str(row[lang]))
        for file in [docs / "topics.yml", *sorted(docs.glob("facts/*.yml"))]
        for row in _rows(yaml.safe_load(file.read_text("utf-8")))
        for lang in ("zh", "en")
    ]
    for row in names.read_names(ROOT):
        for lang in ("zh", "en"):
            found.append(("docs/names.yml", lang, getattr(row, f"meaning_{lang}")))
    return found


def _rows(data: object) -> list[dict[str, object]]:
    rows = data if isinstance(data, list) else [data]
    return [row for row in rows if {"zh", "en"} <= row.keys()]


def test_topics_facts_and_meanings_use_the_words_of_the_glossary():
    rows = names.read_names(ROOT)
    assert len(texts()) > 100
    for path, lang, text in texts():
        assert rejected_words(text, lang, rows) == [], path
