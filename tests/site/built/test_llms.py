"""The pages as Markdown for machines, from a line to llms-full.txt."""

import re
from functools import partial

import pytest

from site_tools.compile import llms
from site_tools.compile.llms import as_markdown
from site_tools.page.page import read_page
from tests.site.sample import ROOT


def site(root: str = "") -> llms.Site:
    return llms.Site("en", "PPO, Verified", "Code MIT, text CC BY 4.0", root, "p-1.whl")


def plain(text: str, page: str = "gae/inputs", lang: str = "en") -> str:
    read = read_page(ROOT, f"docs/{lang}/{page}.md", text)
    return as_markdown(read, ROOT, partial(llms.resolve, page=page, site=site()))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('It is `−0.25`{ data-is="d[0]" } here.', "It is −0.25 here."),
        ("see [why](variance.md#why)", "see [why](gae/variance/#why)"),
        ("see [why](../critic/index.md)", "see [why](critic/)"),
        ("see [below](#why)", "see [below](gae/inputs/#why)"),
        ("[paper](https://arxiv.org/abs/1)", "[paper](https://arxiv.org/abs/1)"),
        ("## $\\delta$ is { #answer }", "## $\\delta$ is"),
        ("![One post](post.svg)", "Picture: One post"),
        (
            '```{ .python .norun data-reason="needs verl" }\ntrain()\n```',
            "Never run: needs verl\n\n```python\ntrain()\n```",
        ),
    ],
)
def test_a_piece_of_a_page(source, expected):
    assert plain(source) == expected


@pytest.mark.parametrize(
    ("kinds", "lang", "line"),
    [
        (".cont", "zh", "（接着上面的代码）"),
        (".cont .raises", "en", "(continues the code above) (must fail as shown)"),
    ],
)
def test_how_a_block_runs_stands_above_it(kinds, lang, line):
    made = plain(f"```{{ .python {kinds} }}\nx += 1\n```", lang=lang)
    assert made == f"{line}\n\n```python\nx += 1\n```"


def test_what_is_made_from_data_is_text():
    made = plain('```{ .glossary data-language="en" }\n```')
    assert "\naction 动作 " in made and "Explained in: " in made
    listed = plain('```{ .questions data-language="en" }\nby topic\n```')
    assert not re.search(r"</?[a-z]", listed)
    fact = plain("```fact\nk3_clamp verl 0.9.1\n```")
    assert fact.startswith("```text\nverl 0.9.1 · verl/trainer/ppo/core_algos.py:")


def page(name: str, *labels: str, title: str) -> llms.PlainPage:
    question, short = title.endswith("?"), "**Yes.** It is."
    aliases = ("How so?",) * question
    made = llms.PlainPage(name, labels, title, short, "Text.", question, aliases)
    return made._replace(cited="q/7", threads=("a#1", "b#2")) if question else made


PAGES = [
    page("index", title="Home"),
    page("gae/index", "Questions", "GAE intuition", title="GAE intuition"),
    page("gae/b", "Questions", "GAE intuition", title="Why?"),
    page("gae/a", "Questions", "GAE intuition", title="Is a[0] so?"),
    page("debug/symptoms", "Debug", title="Symptoms"),
    page("about/status", "About", title="Status"),
]
LISTED = r"""
[All pages in one file](llms-full.txt); [中文](../llms.txt).

## GAE intuition

- [Why?](gae/b/): **Yes.** It is.
- [Is a\[0\] so?](gae/a/): **Yes.** It is.

## Debug

- [Symptoms](debug/symptoms/): **Yes.** It is.

## Optional

- [GAE intuition](gae/): **Yes.** It is.
- [Status](about/status/): **Yes.** It is.
"""


def test_the_list_has_the_form_of_llms_txt():
    text = llms.listed(site(), PAGES)
    assert text.startswith("# PPO, Verified\n\n> **Yes.** It is.\n\n")
    assert text.endswith(LISTED)
    assert "Code MIT, text CC BY 4.0" in text and "[this wheel](p-1.whl)" in text


def test_with_an_address_links_are_absolute():
    text = llms.listed(site("https://example.org/ppo/"), PAGES)
    root = "https://example.org/ppo/"
    assert f"({root}en/gae/b/)" in text and f"({root}llms.txt)" in text
    assert text.count("](") == text.count(f"]({root}")


def test_a_draft_does_not_claim_to_be_verified():
    for made in (llms.listed, llms.full):
        assert "every block of code was run" in made(site(), PAGES)
        assert "This is a draft" not in made(site(), PAGES)
        draft = made(site(), [*PAGES[:-1], PAGES[-1]._replace(is_verified=False)])
        assert "every block of code was run" not in draft
        assert "This is a draft" in draft


def test_a_page_begins_with_what_is_known_of_it():
    text = llms.full(site(), PAGES)
    expected = """# Why?

- Address: gae/b/
- Short address: q/7/
- Language: English
- Short answer: **Yes.** It is.
- Also asked as: How so?
- Threads answered: a#1; b#2

Text."""
    assert f"\n\n---\n\n{expected}\n\n---\n\n" in text
