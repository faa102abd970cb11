"""What is new: read strictly, and complete."""

import re

import pytest

from site_tools.compile import navigation
from site_tools.compile.news import announced
from site_tools.data.frameworks import RELEASES
from site_tools.data.news import News, read_news
from site_tools.page.page import read_page
from tests.layout import ROOT
from tests.site.trial_site import write_files

ROWS = """
- {id: 1, date: 2026-01-31, page: gae/a}
- {id: 2, date: 2026-02-01, page: "gae/a#why", kind: part, zh: 甲, en: A}
"""
OUT = re.compile(r"^## (\d+\.\d+\.\d+)(?!.*not yet released)", re.MULTILINE)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{id: 4, date: 2026-02-01, page: gae/b}", "follow each other: 3 here, got 4"),
        ("{id: 2, date: 2026-02-01, page: gae/b}", "follow each other: 3 here, got 2"),
        ("{id: 3, date: 2026-01-31, page: gae/b}", "before 2026-02-01, the day of"),
        ("{id: 3, date: 2026-02-30, page: gae/b}", "2026-02-30 is no day"),
        ("{id: 3, date: 1 Feb, page: gae/b}", "date must be a day like"),
        ("{id: 3, date: 2026-02-01, page: b}", "page must be a page or a section"),
        ("{id: 3, date: 2026-02-01, page: gae/b, kind: new}", "kind must be question"),
        ("{id: 3, date: 2026-02-01, page: gae/b, en: B}", "without zh and en"),
        (
            "{id: 3, date: 2026-02-01, page: gae/b, kind: part, zh: 乙}",
            "a sentence in both languages",
        ),
        (
            "{id: 3, date: 2026-02-01, page: gae/b, kind: facts, zh: 乙, en: B}",
            "name their releases",
        ),
    ],
)
def test_a_row_that_is_no_news_is_refused(tmp_path, row, fault):
    write_files(tmp_path, {"docs/news.yml": ROWS})
    assert [each.id for each in read_news(tmp_path)] == ["1", "2"]
    write_files(tmp_path, {"docs/news.yml": f"{ROWS}- {row}"})
    with pytest.raises(ValueError, match=f"news.yml:4: .*{fault}"):
        read_news(tmp_path)


@pytest.fixture(scope="module")
def rows() -> tuple[News, ...]:
    return read_news(ROOT)


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_question_is_told_once_with_its_verdict(rows, lang):
    topics = navigation.QUESTION_TOPICS
    asked = [each.page for each in navigation.answers(ROOT, lang, topics)]
    told = [row.page for row in rows if row.kind == "question"]
    hint = "a new question page needs a row in docs/news.yml, as make new writes it"
    assert [page for page in asked if told.count(page) != 1] == [], hint
    known = [piece for piece in announced(ROOT, lang) if piece.news.kind == "question"]
    assert [piece.title for piece in known if not piece.said] == []


@pytest.mark.pages
def test_every_piece_leads_to_a_place_that_is_there(rows):
    for row in rows:
        page, _, anchor = row.page.partition("#")
        names = [f"docs/{lang}/{page}.md" for lang in ("zh", "en")]
        found = [read_page(ROOT, name) for name in names if (ROOT / name).is_file()]
        assert found, f"docs/news.yml:{row.line}: {page} is no page"
        for each in found:
            there = not anchor or f"{{ #{anchor} " in each.text
            assert there, f"docs/news.yml:{row.line}: {each.path} has no #{anchor}"


@pytest.mark.pages
def test_every_release_that_is_compared_or_out_was_news(rows):
    told = {release for row in rows for release in row.releases}
    out = published((ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert {*RELEASES, *out} <= told, "write a row in docs/news.yml"


def published(changelog: str) -> list[str]:
    return [f"ppo_ref {version}" for version in OUT.findall(changelog)]


def test_a_version_that_is_out_is_found():
    text = "## 9.1.0 · not yet released, 尚未发布\n## 9.0.0 · 2026-12-01\n"
    assert published(text) == ["ppo_ref 9.0.0"]
