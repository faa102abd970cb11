"""The ways from a page to its source, only once there is a repository."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from site_tools.html import contributing

FORMS = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE"
BOTH = [("zh", "docs/zh/a/b.md"), ("en", "docs/en/a/b.md")]


def test_without_a_repository_nothing_is_offered() -> None:
    assert contributing.links("", BOTH, "a/b", "A?", "zh") == []
    assert contributing.passing("", "a/b", "A?", "zh") is None


def test_each_source_can_be_edited_and_the_page_reported() -> None:
    links = contributing.links("https://e.org/o/r/", BOTH, "a/b", "是 a & b 吗？", "zh")
    assert links == [
        ("修改中文", "https://e.org/o/r/edit/main/docs/zh/a/b.md"),
        ("修改英文", "https://e.org/o/r/edit/main/docs/en/a/b.md"),
        (
            "报告问题",
            "https://e.org/o/r/issues/new?template=sentence_zh.yml&title="
            "%E6%98%AF%20a%20%26%20b%20%E5%90%97%EF%BC%9F&page=a%2Fb&language=zh",
        ),
    ]


def test_a_page_made_from_code_leads_to_the_code() -> None:
    (edit, _) = contributing.links(
        "https://e.org/r", [("code", "p/a.py")], "p/a", "p", "en"
    )
    assert edit == ("Edit the code", "https://e.org/r/edit/main/p/a.py")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_report_fills_in_fields_that_its_form_has(lang: str) -> None:
    address = contributing.report("https://e.org/r", "a/b", "A?", lang)
    filled = parse_qs(urlsplit(address).query)
    (template,) = filled.pop("template")
    assert filled.pop("title") == ["A?"]
    form = yaml.safe_load((FORMS / template).read_text("utf-8"))
    ids = {field["id"] for field in form["body"] if "id" in field}
    assert filled.keys() == {"page", "language"}
    assert filled.keys() <= ids


@pytest.mark.parametrize(("lang", "colon"), [("zh", "："), ("en", ":")])
def test_who_has_no_account_is_asked_what_the_form_asks(lang: str, colon: str) -> None:
    text = contributing.passing("https://e.org/r", "a/b", "A?", lang).report
    form = yaml.safe_load((FORMS / f"sentence_{lang}.yml").read_text("utf-8"))
    labels = [f["attributes"]["label"] for f in form["body"] if "id" in f]
    assert [line.partition(colon)[0] for line in text.split("\n")] == labels
    assert "a/b" in text and "A?" in text
