"""The glossary as readers see it: what a thing is called, and where it is taught."""

import re

import pytest
from bs4 import BeautifulSoup

from site_tools.compile.lists import derived
from site_tools.compile.navigation import answers
from site_tools.compile.templates import words
from site_tools.data.names import Name, read_names
from site_tools.source.content import read_content
from tests.layout import ROOT

NUMBERED = re.compile(r"\d+ · ")  # the title of a step
BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
BETWEEN = re.compile("[（）、()]|, ")  # the names in a heading
LABELS = ("also_called", "confused_with")
DENIED = re.compile(r"“([^“”]+)”[^。]*另一回事")


def entries(lang: str) -> dict[str, dict[str, list[str]]]:
    """The names in an entry's heading and behind each of its labels, by its id."""
    html = BeautifulSoup(derived("glossary", "", lang, ROOT), "html.parser")
    listed = {}
    for term in html.find_all("dt"):
        names = {"heading": BETWEEN.split("、".join(term.stripped_strings))}
        for told in term.find_next_sibling("dd").find_all(class_="choice"):
            for label in LABELS:
                if told.get_text().startswith(words(lang)[label]):
                    listing = told.get_text().removeprefix(words(lang)[label])
                    names[label] = re.split("、|, ", listing.rstrip("。."))
        for label, each in names.items():
            names[label] = [name.strip().lower() for name in each if name.strip()]
        listed[str(term["id"])] = names
    return listed


def test_no_name_that_an_entry_denies_is_given_as_another_name_for_it():
    listed, denials = entries("zh"), 0
    for row in read_names(ROOT):
        for denied in DENIED.findall(row.meaning_zh):
            denials += 1
            called = listed[row.id].get("also_called", [])
            assert not [name for name in called if denied in name], row.id
    assert denials >= 3


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_name_stands_twice_in_an_entry(lang):
    for row, names in entries(lang).items():
        said = [name for listed in names.values() for name in listed]
        assert sorted(said) == sorted({*said}), row


def earlier(name: Name, lang: str) -> list[str]:
    """The steps before the one that a row names which define its term in bold."""
    own = {
        word.lower() for word in (getattr(name, lang), *getattr(name, f"also_{lang}"))
    }
    steps = [
        a.page for a in answers(ROOT, lang, ("course",)) if NUMBERED.match(a.title)
    ]
    taught = name.where.partition("#")[0]
    if taught not in steps:
        return []
    found = []
    for page in steps[: steps.index(taught)]:
        body = read_content((ROOT / f"docs/{lang}/{page}.md").read_text("utf-8")).body
        if own & {bold.lower().rstrip(".") for bold in BOLD.findall(body)}:
            found.append(page)
    return found


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_where_an_idea_is_taught_is_the_step_that_defines_it(lang):
    assert {n.id: earlier(n, lang) for n in read_names(ROOT) if earlier(n, lang)} == {}
