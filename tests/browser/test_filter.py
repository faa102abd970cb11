"""Long lists: folded, found by words and kind, opened by a link, whole without it."""

from typing import Any

import pytest

CLAIMS = "[data-of]:visible"
TOOLS = ".tools input"  # what the script adds


def come_to_the_list(tab: Any) -> None:
    """Scroll to the list, whose filter is made when it comes into view."""
    tab.locator(".derived .count").first.scroll_into_view_if_needed()
    tab.wait_for_selector(TOOLS)


@pytest.fixture
def claims(tab: Any) -> Any:
    tab.goto("en/debug/wrong_answers/")
    come_to_the_list(tab)
    return tab


def test_words_and_a_kind_leave_what_fits_and_the_address_keeps_both(claims):
    every = claims.locator("[data-of]").count()
    begun = claims.locator(CLAIMS).count()
    assert 0 < begun < every  # the others are folded
    claims.fill("[name=find]", "variance")
    found = claims.locator(CLAIMS).all_inner_texts()
    assert 0 < len(found) < every
    assert all("variance" in text.lower() for text in found)
    assert claims.inner_text(".tools output") == f"{len(found)} of {every}"
    claims.fill("[name=find]", "")
    claims.select_option("[name=of]", "TRL")
    told = claims.locator(CLAIMS).all_inner_texts()
    assert told and all("trl" in text.lower() for text in told)
    claims.reload()
    come_to_the_list(claims)
    assert claims.locator(CLAIMS).all_inner_texts() == told
    claims.select_option("[name=of]", "")
    assert claims.locator(CLAIMS).count() == begun


def test_a_link_opens_the_group_that_it_leads_into(tab):
    tab.goto("debug/threads/#verl-project-verl-51")
    tab.wait_for_selector(TOOLS)
    tab.locator("#verl-project-verl-51").wait_for(state="visible")
    assert tab.locator("details.group[open]").count() == 1
