"""A page pair that passes every check; each test breaks it in one place."""

from pathlib import Path

from bs4 import BeautifulSoup

from site_tools.judge.all import judge_rules
from site_tools.messages import Problem
from site_tools.page.page import Page, read_page
from site_tools.page.rendered import parse_shown
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


OTHERS = ("answers_home", "wrong_answers_none")  # the sample is no page of the site


def shape_problems(page: Page) -> list[Problem]:
    """What the rules say of a page, but for what the whole site decides."""
    return [p for p in judge_rules(page) if p.message.key not in OTHERS]


def shown_tree(page: Page) -> BeautifulSoup:
    """A page without lists as readers see it."""
    return parse_shown(page.html)


def broken(old: str, new: str, text: str = EN) -> str:
    """The text with one thing replaced, which must be there."""
    assert old in text, old
    return text.replace(old, new, 1)


def line_of(needle: str, text: str) -> int:
    """The line on which the needle stands first."""
    return text[: text.index(needle)].count("\n") + 1
