"""A page pair that passes every check; each test breaks it in one place."""

from pathlib import Path

from site_tools.page.page import Page, read_page
from tests.layout import ROOT

EN = Path(__file__).with_name("sample.md").read_text("utf-8")

ZH = (
    EN.replace("Is two the sum?", "和是二吗？")
    .replace("What is one and one?", "一加一是几？")
    .replace("It is, and exactly", "是，一点不差")
    .replace("**Yes.** The sum is", "**对。** 和是")
    .replace(", as $G - V$ says.", "，就是 $G - V$。")
    .replace("verl's default*: the same.", "verl 默认*：一样。")
    .replace("It is 2.5.", "是 2.5。")
)


def page(text: str = EN, language: str = "en", name: str = "sample") -> Page:
    """The text as a question page of the index alignment topic."""
    return read_page(ROOT, f"docs/{language}/alignment/{name}.md", text)


def broken(old: str, new: str, text: str = EN) -> str:
    """The text with one thing replaced, which must be there."""
    assert old in text, old
    return text.replace(old, new, 1)


def line_of(needle: str, text: str) -> int:
    """The line on which the needle stands first."""
    return text[: text.index(needle)].count("\n") + 1
