"""The promises of llms.txt: whole addresses, and what was verified."""

from urllib.parse import urljoin

import pytest

from site_tools.compile import llms


def site(root: str = "") -> llms.LlmsSite:
    return llms.LlmsSite(
        "en", "PPO, Verified", "Code MIT, text CC BY 4.0", root, "p-1.whl"
    )


def page(name: str, title: str) -> llms.PlainPage:
    labels, short = ("Questions", "GAE intuition"), "**Yes.** It is."
    return llms.PlainPage(name, labels, title, short, "Text.", "Text.", True, ())


PAGES = [page("index", "Home"), page("gae/b", "Why?")]


def test_with_an_address_links_are_absolute():
    text = llms.listed(site("https://example.org/ppo/"), PAGES)
    root = "https://example.org/ppo/"
    assert f"({root}en/gae/b/)" in text and f"({root}llms.txt)" in text
    assert text.count("](") == text.count(f"]({root}")


@pytest.mark.parametrize(
    ("lang", "root", "address"),
    [
        ("zh", "", "skills/verify-ppo/SKILL.md"),
        ("en", "", "../skills/verify-ppo/SKILL.md"),
        ("en", "https://e.org/ppo/", "https://e.org/ppo/skills/verify-ppo/SKILL.md"),
    ],
)
def test_an_agent_is_led_to_the_skill(lang: str, root: str, address: str) -> None:
    made = site(root)._replace(lang=lang)
    assert f"]({address})" in llms.listed(made, PAGES)


@pytest.mark.parametrize(
    ("target", "leads_to"),
    [
        ("inputs.md#why", "/en/gae/inputs/#why"),
        ("../index.md", "/en/"),
        ("../loss/index.md", "/en/loss/"),
        ("#why", "/en/gae/b/#why"),
        ("https://a.org/b", "https://a.org/b"),
    ],
)
@pytest.mark.parametrize(
    ("file", "url"), [("/en/llms-full.txt", ""), ("/en/gae/b/page.md", "gae/b/")]
)
def test_without_an_address_a_link_leads_from_its_file(
    target: str, leads_to: str, file: str, url: str
) -> None:
    assert urljoin(file, llms.led_on(target, "gae/b", site(), url)) == leads_to


def test_a_draft_does_not_claim_to_be_verified():
    for made in (llms.listed, llms.full):
        assert "every block of code was run" in made(site(), PAGES)
        assert "This is a draft" not in made(site(), PAGES)
        draft = made(site(), [*PAGES[:-1], PAGES[-1]._replace(is_verified=False)])
        assert "every block of code was run" not in draft
        assert "This is a draft" in draft
