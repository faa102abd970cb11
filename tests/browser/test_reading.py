"""The site as a reader's browser shows it."""

from typing import Any

PAGE = "alignment/value_before_token/"


def test_a_page_opens_below_a_subpath(tab: Any) -> None:
    tab.goto(PAGE)
    assert tab.inner_text("h1") == "values[:, t] 在第 t 个 token 之前还是之后？"


def test_the_language_switch_keeps_page_and_section(tab: Any) -> None:
    tab.goto(f"{PAGE}#why")
    tab.click("a.language")
    tab.wait_for_url(f"**/en/{PAGE}#why")
    assert "before or after" in tab.inner_text("h1")
