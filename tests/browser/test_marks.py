"""The marks beside the blocks, in a browser."""

from typing import Any

import pytest

PAGE = "alignment/value_before_token/"


@pytest.mark.parametrize(
    ("folder", "word", "title"),
    [
        ("", "已验证", "这里怎么验证"),
        ("en/", "verified", "How this is verified"),
    ],
)
def test_a_mark_leads_to_what_it_means(
    tab: Any, folder: str, word: str, title: str
) -> None:
    tab.goto(folder + PAGE)
    mark = tab.locator("a.mark").first
    assert mark.inner_text().startswith(f"{word} · torch ")
    mark.click()
    tab.wait_for_url(f"**/{folder}about/verification/")
    assert tab.inner_text("h1") == title


def test_a_mark_is_no_part_of_the_code(tab: Any) -> None:
    tab.goto(PAGE)
    codes = tab.locator(".marked pre > code").all_inner_texts()
    assert len(codes) == tab.locator("a.mark").count() > 0
    assert not [code for code in codes if "验证" in code]
