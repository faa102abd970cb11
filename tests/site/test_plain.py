"""The pages as Markdown for machines, from a line to llms-full.txt."""

import pytest

from site_tools.page.page import read_page
from site_tools.page.rendering import render
from site_tools.plain import llms
from site_tools.plain.addresses import resolver
from site_tools.plain.markdown import Converter
from site_tools.plain.pages import Place, PlainPage, places
from site_tools.plain.stubs import stub
from site_tools.plain.verified import Code
from site_tools.running.evidence import Evidence, Setting, entry_of
from site_tools.running.hashes import block_hashes
from site_tools.site.lists import fill_lists
from tests.site.sample import ROOT


def plain(text: str, page: str = "gae/inputs", lang: str = "en") -> str:
    return Converter(lang, resolver(page, "")).convert(
        fill_lists(render(text, ROOT), ROOT)
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('It is `−0.25`{ data-is="d[0]" } here.', "It is −0.25 here."),
        ("Yes, $V(s_t) < 1$ and `a_t`.", "Yes, $V(s_t) < 1$ and `a_t`."),
        ("**Yes.** *So* it is.", "**Yes.** *So* it is."),
        ("2 \\* 3, a_t, \\_x\\_, \\$5", "2 \\* 3, a_t, \\_x\\_, \\$5"),
        ("a &lt;eos&gt; b < c", "a \\<eos> b < c"),
        ("see [why](variance.md#why)", "see [why](gae/variance/#why)"),
        ("see [why](../critic/index.md)", "see [why](critic/)"),
        ("see [home](../index.md)", "see [home](./)"),
        ("see [below](#why)", "see [below](gae/inputs/#why)"),
        ("[paper](https://arxiv.org/abs/1)", "[paper](https://arxiv.org/abs/1)"),
        ("## $\\delta$ is { #answer }", "## $\\delta$ is"),
        ("![One post](post.svg)", "Picture: One post"),
        ("$$\na_t \\label{x}\n$$", "$$\na_t \\label{x}\n$$"),
        ("- a\n\n    b\n\n- c\n    1. d", "- a\n\n  b\n- c\n\n  1. d"),
        (
            "| a | b |\n|---|---|\n| $x$ | `|` |",
            "| a | b |\n|---|---|\n| $x$ | `\\|` |",
        ),
        (
            '!!! quote "Dialogue 001·4"\n\n    It `is`.\n\n    So.',
            "> **Dialogue 001·4**\n>\n> It `is`.\n>\n> So.",
        ),
        (
            '??? question "Guess first: $x$?"\n\n    No.',
            "**Guess first: $x$?**\n\nNo.",
        ),
        ("```output\n 1  <b>\n```", "```text\n 1  <b>\n```"),
        ("```{ .output .formula }\na_t\n```", "$$\na_t\n$$"),
        ("```{ .output .table }\na b\n1 2\n```", "| a | b |\n|---|---|\n| 1 | 2 |"),
        (
            '```{ .python .norun data-reason="needs verl" }\ntrain()\n```',
            "Never run: needs verl\n\n```python\ntrain()\n```",
        ),
        (
            '=== "verl 0.9.1"\n\n    One.\n\n=== "verl 0.3"\n\n    Two.',
            "**verl 0.9.1**\n\nOne.\n\n**verl 0.3**\n\nTwo.",
        ),
    ],
)
def test_a_piece_of_a_page(source: str, expected: str) -> None:
    assert plain(source) == expected


def test_code_keeps_every_character() -> None:
    code = 'def f(a):\n    """It\'s <b>`x`</b> & $y$."""\n\n    return a  # *_*'
    assert plain(f"```{{ .python }}\n{code}\n```") == f"```python\n{code}\n```"
    fenced = "````text\n```python\nx\n```\n````"
    assert plain(fenced) == fenced


@pytest.mark.parametrize(
    ("kinds", "lang", "line"),
    [
        (".cont", "en", "(continues the code above)"),
        (".cont", "zh", "（接着上面的代码）"),
        (".raises", "en", "(must fail as shown)"),
        (".raises", "zh", "（应当像下面这样报错）"),
        (".cont .raises", "en", "(continues the code above) (must fail as shown)"),
    ],
)
def test_how_a_block_runs_stands_above_it(kinds: str, lang: str, line: str) -> None:
    made = plain(f"```{{ .python {kinds} }}\nx += 1\n```", lang=lang)
    assert made == f"{line}\n\n```python\nx += 1\n```"


def test_a_list_made_from_data_leads_to_its_pages() -> None:
    made = plain('```{ .questions data-language="en" }\nby topic\n```')
    assert "### [One iteration](pipeline/)" in made
    assert "(alignment/value_before_token/) **Before**" in made
    assert "<" not in made.replace("\\<", "")


def test_glossary_and_facts_are_text() -> None:
    made = plain('```{ .glossary data-language="en" }\n```')
    assert "- **action (动作)**: The response token that the actor writes" in made
    fact = plain("```fact\nk3_clamp verl 0.9.1\n```")
    assert fact.startswith("verl 0.9.1 · verl/trainer/ppo/core_algos.py:")


def test_a_module_is_shown_by_what_it_offers() -> None:
    source = '''"""Sums."""
import torch
T = TypeVar("T")
Tokens = Float[Tensor, "batch time"]
_private = 1

@checked
def gae(values: Tokens, *, lam: float = 1) -> Tokens:
    """Adds up."""
    return _kernel(values)

def _kernel(values):
    return values

class Estimate(NamedTuple):
    """Two rows."""
    advantages: Tokens
    def total(self):
        return sum(self)
'''
    expected = '''"""Sums."""
Tokens = Float[Tensor, 'batch time']

@checked
def gae(values: Tokens, *, lam: float=1) -> Tokens:
    """Adds up."""

class Estimate(NamedTuple):
    """Two rows."""
    advantages: Tokens

    def total(self):
        ...'''
    assert stub(source) == expected


PAGE = "docs/en/gae/inputs.md"
BLOCKS = "```python\nx = 1\n```\n\n```{ .python .cont }\nx += 1\n```\n"
HERE = Setting("p", "2.13.0+cpu", "3.11.7")


def evidence(passed: int, on_gpu: int) -> Code:
    blocks = read_page(ROOT, PAGE, BLOCKS).blocks
    hashes = [*block_hashes(blocks).values()]
    cpu = entry_of(HERE, "CPU", "2026-11-21", frozenset(hashes[:passed]))
    gpu = entry_of(HERE, "a GPU", "2026-11-20", frozenset(hashes[:on_gpu]))
    return Code(Evidence(HERE, {PAGE: cpu}, {PAGE: gpu}), PAGE, blocks)


def test_what_was_verified_names_torch_device_and_hash() -> None:
    whole = evidence(2, 2)
    assert whole.is_verified
    assert whole.told("en") == (
        "all 2 blocks of code passed: torch 2.13.0+cpu, Python 3.11.7, CPU; a GPU, "
        f"torch 2.13.0+cpu, 2026-11-20; hash of the code {whole.hashes[-1]}"
    )
    assert "a GPU" not in evidence(2, 1).told("en")


def test_what_was_not_verified_is_said() -> None:
    part = evidence(1, 2)
    assert not part.is_verified
    assert part.told("en") == "1 of 2 blocks of code verified"
    assert part.told("zh") == "2 个代码块里验证了 1 个"
    assert evidence(0, 0).told("en") == "0 of 2 blocks of code verified"
    none = Code(Evidence(HERE), PAGE, [])
    assert none.is_verified and none.told("en") == ""


METAS = {
    "index.md": {"title": "Home"},
    "gae/index.md": {"title": "GAE intuition"},
    "gae/a.md": {"question": "Is a[0] so?", "needs": ["gae/b"]},
    "gae/b.md": {"question": "Why?"},
    "debug/symptoms.md": {"title": "Symptoms"},
    "ppo_ref/index.md": {"title": "ppo_ref"},
    "about/status.md": {"title": "Status"},
}


def pages(is_verified: bool = True) -> list[PlainPage]:
    found = places(METAS, "en", set(METAS))
    return [
        PlainPage(
            place,
            "**Yes.** It is.",
            ("How so?",) * ("question" in METAS[f"{place.page}.md"]),
            "",
            is_verified,
            "Text.",
            "question" in METAS[f"{place.page}.md"],
        )
        for place in found
    ]


def site(root: str = "") -> llms.Site:
    return llms.Site("en", "PPO, Verified", "Code MIT, text CC BY 4.0", root, "p-1.whl")


def test_places_are_in_reading_order() -> None:
    found = places(METAS, "en", set(METAS))
    assert [place.page for place in found] == [
        "index",
        "gae/index",
        "gae/b",
        "gae/a",
        "debug/symptoms",
        "ppo_ref/index",
        "about/status",
    ]
    assert found[0] == Place((), "Home", "index")
    assert found[3].labels == ("Questions", "GAE intuition")


LISTED = r"""
[All pages in one file](llms-full.txt); [中文](../llms.txt).

## GAE intuition

- [Why?](gae/b/): **Yes.** It is.
- [Is a\[0\] so?](gae/a/): **Yes.** It is.

## Debug

- [Symptoms](debug/symptoms/): **Yes.** It is.

## Optional

- [GAE intuition](gae/): **Yes.** It is.
- [ppo_ref](ppo_ref/): **Yes.** It is.
- [Status](about/status/): **Yes.** It is.
"""


def test_the_list_has_the_form_of_llms_txt() -> None:
    text = llms.listed(site(), pages())
    assert text.startswith("# PPO, Verified\n\n> **Yes.** It is.\n\n")
    assert text.endswith(LISTED)
    assert "Code MIT, text CC BY 4.0" in text and "[this wheel](p-1.whl)" in text


def test_with_an_address_links_are_absolute() -> None:
    text = llms.listed(site("https://example.org/ppo/"), pages())
    root = "https://example.org/ppo/"
    assert f"({root}en/gae/b/)" in text and f"({root}llms.txt)" in text
    assert text.count("](") == text.count(f"]({root}")


def test_a_draft_does_not_claim_to_be_verified() -> None:
    for made in (llms.listed, llms.full):
        assert "every block of code was run" in made(site(), pages())
        assert "This is a draft" not in made(site(), pages())
        draft = made(site(), [*pages()[:-1], *pages(is_verified=False)[-1:]])
        assert "every block of code was run" not in draft
        assert "This is a draft" in draft


def test_a_page_begins_with_what_is_known_of_it() -> None:
    text = llms.full(site(), pages())
    expected = """# Why?

- Address: gae/b/
- Language: English
- Short answer: **Yes.** It is.
- Also asked as: How so?

Text."""
    assert f"\n\n---\n\n{expected}\n\n---\n\n" in text
