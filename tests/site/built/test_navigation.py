"""The navigation follows from the pages."""

import pytest

from site_tools.compile import navigation
from tests.layout import ROOT


def built(pages: dict[str, dict[str, object]], lang: str = "en") -> list[object]:
    titled = {path: {"question": path, **meta} for path, meta in pages.items()}
    return list(navigation.build(titled, lang, list(pages)))


def test_topics_stand_in_the_order_of_the_data():
    paths = ["on_policy/a.md", "gae/a.md", "pipeline/a.md"]
    (questions,) = built({path: {} for path in paths}, "zh")
    assert questions == {
        "问答": [
            {"一轮训练": [{"pipeline/a.md": "pipeline/a.md"}]},
            {"GAE 直觉": [{"gae/a.md": "gae/a.md"}]},
            {"on-policy 与重要性采样": [{"on_policy/a.md": "on_policy/a.md"}]},
        ]
    }


def test_only_tabs_with_pages_are_there_and_home_is_first():
    paths = ["reference/glossary.md", "index.md", "contribute/a.md", "about/a.md"]
    assert built({path: {} for path in paths}) == [
        "index.md",
        {"Reference": [{"reference/glossary.md": "reference/glossary.md"}]},
        {
            "About": [
                {"about/a.md": "about/a.md"},
                {"Contribute": [{"contribute/a.md": "contribute/a.md"}]},
            ]
        },
    ]


def test_a_page_stands_after_what_it_needs_and_ties_are_by_id():
    pages: dict[str, dict[str, object]] = {
        "gae/a.md": {"needs": ["gae/c"]},
        "gae/b.md": {"needs": ["rewards/z"]},
        "gae/c.md": {},
        "gae/index.md": {},
        "rewards/z.md": {},
    }
    (questions,) = built(pages)
    assert isinstance(questions, dict)
    (gae,) = [item for item in questions["Questions"] if "GAE intuition" in item]
    order = [path for entry in gae["GAE intuition"] for path in entry.values()]
    assert order == ["gae/index.md", "gae/b.md", "gae/c.md", "gae/a.md"]


def test_a_need_may_be_a_page_of_the_other_language():
    pages = {"gae/a.md": {"question": "A?", "needs": ["gae/b"]}}
    assert navigation.build(pages, "en", ["gae/a.md", "gae/b.md"])


A, B = "gae/a.md", "rewards/b.md"


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ({"gea/a.md": {}}, "gea/a.md: a page must be <folder>/<page>"),
        ({"gae/deep/a.md": {}}, "gae/deep/a.md: a page must be <folder>/<page>"),
        ({"stray.md": {}}, "stray.md: a page must be <folder>/<page>"),
        ({A: {"needs": ["gae/no"]}}, "needs must name pages that exist, got gae/no"),
        ({A: {"needs": ["rewards/b"]}, B: {"needs": ["gae/a"]}}, "not form a cycle"),
        ({A: {"question": None}}, "gae/a.md: front matter must give question or title"),
    ],
)
def test_what_has_no_place_is_refused(pages, message):
    with pytest.raises(ValueError, match=message):
        built(pages)


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_page_is_reached_before_what_it_needs(lang):
    read: set[str] = set()
    for topic in (navigation.COURSE, *navigation.QUESTION_TOPICS):
        for page in navigation.answers(ROOT, lang, [topic]):
            assert read >= {*page.needs}, page.page
            read.add(page.page)
