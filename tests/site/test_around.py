"""What stands around the pages of a built site: reference, cards, redirects, edits."""

import re
from pathlib import Path

import pytest

from tests.site import trial_site

TOTAL = "ppo_ref/sums/index.html"
MEAN = "ppo_ref/more/means/index.html"
FIRST = "alignment/first/index.html"


def read(trial: Path, name: str, lang: str = "zh") -> str:
    folder = {"zh": "linked", "en": "linked/en", "bare": "site"}[lang]
    return (trial / folder / name).read_text("utf-8")


def card(html: str) -> dict[str, str]:
    found = re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', html)
    return {name: text for name, text in found if ":" in name or name == "description"}


def test_the_reference_shows_signature_sections_and_what_runs(trial: Path) -> None:
    html = read(trial, TOTAL)
    assert '<h2 id="ppo_ref.sums.total"' in html
    text = re.sub(r"<[^>]+>", "", html)
    assert "rewards: Tokens, *, gamma: float = 1.0" in re.sub(r"\s+", " ", text)
    titles = re.findall(r'doc-section-title">(\w+)', html)
    assert titles == ["参数", "返回", "示例"]
    assert "<p>What each token\nearned.</p>" in html
    assert "<p>The sum,\nundiscounted.</p>" in html
    assert "<p>A paper, equation 1.</p>" in html
    assert '<span class="gp">&gt;&gt;&gt; </span>' in html
    folded = html.partition('<details class="source">')[2].partition("</details>")[0]
    assert "the whole secret" in folded and "Everything added" not in folded


def test_a_shape_leads_to_where_it_is_said(trial: Path) -> None:
    assert 'href="../shapes/#ppo_ref.shapes.Tokens">Tokens</a>' in read(trial, TOTAL)
    assert 'id="ppo_ref.shapes.Tokens"' in read(trial, "ppo_ref/shapes/index.html")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_folder_of_the_package_is_a_folder_of_the_reference(
    trial: Path, lang: str
) -> None:
    assert '<a href="more/"><code>more</code></a>' in read(
        trial, "ppo_ref/index.html", lang
    )
    folder = read(trial, "ppo_ref/more/index.html", lang)
    assert "In which:" in folder
    assert '<a href="means/"><code>means</code></a>: Means of tokens.' in folder
    html = read(trial, MEAN, lang)
    assert '<h2 id="ppo_ref.more.means.mean"' in html
    assert 'href="../../shapes/#ppo_ref.shapes.Tokens">Tokens</a>' in html
    name = '<a href="./ppo_ref/more/means/#ppo_ref.more.means.mean"><code>'
    assert name in read(trial, "index.html", lang)


def test_what_starts_the_package_is_read_and_not_run(trial: Path) -> None:
    assert "Adds up." in read(trial, "ppo_ref/__main__/index.html")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_ids_are_unique_on_a_reference_page(trial: Path, lang: str) -> None:
    ids = re.findall(r'\sid="([^"]+)"', read(trial, TOTAL, lang))
    assert len(ids) == len(set(ids))


def test_reference_pages_are_twins_and_load_nothing_more(trial: Path) -> None:
    html = read(trial, TOTAL, "bare")
    assert 'class="language" href="../../en/ppo_ref/sums/"' in html
    assert "_mkdocstrings" not in html
    assert not (trial / "site" / "objects.inv").exists()


def test_search_knows_the_symbol_and_not_its_code(trial: Path) -> None:
    index = read(trial, "search/search_index.json")
    assert '"location":"ppo_ref/sums/#ppo_ref.sums.total","title":"total"' in index
    assert '"boost":0.1' in index
    assert "the whole secret" not in index


def test_a_name_in_the_text_leads_to_the_reference(trial: Path) -> None:
    html = read(trial, "index.html")
    assert '<a href="./ppo_ref/sums/#ppo_ref.sums.total"><code>' in html


def test_a_question_page_has_its_card(trial: Path) -> None:
    html = read(trial, FIRST)
    assert "<title>先还是后？ - PPO 实证问答</title>" in html
    assert card(html) == {
        "description": "优势估计在写之前。V(s_t), policy_loss.",
        "og:title": "先还是后？",
        "og:description": "优势估计在写之前。V(s_t), policy_loss.",
        "og:type": "article",
        "og:locale": "zh_CN",
        "og:site_name": "PPO 实证问答",
        "og:url": f"{trial_site.ADDRESS}alignment/first/",
        "twitter:card": "summary",
    }


def test_home_has_its_card_and_nothing_breaks_out_of_it(trial: Path) -> None:
    english = card(read(trial, "index.html", "en"))
    assert english["og:type"] == "website"
    assert english["og:locale"] == "en_US"
    assert english["og:title"] == "PPO, Verified"
    assert english["og:url"] == f"{trial_site.ADDRESS}en/"
    told = english["description"], english["og:description"]
    said = "Home says ppo_ref.sums.total: 1 &lt; 2 &amp; "
    assert told == (f"{said}&quot;3&quot;.", f"{said}&#34;3&#34;.")


def test_a_reference_page_is_described_by_its_first_line(trial: Path) -> None:
    assert card(read(trial, TOTAL))["description"] == "Sums of tokens."


def test_without_an_address_the_card_claims_none(trial: Path) -> None:
    html = read(trial, FIRST, "bare")
    assert "og:url" not in html and "canonical" not in html
    assert card(html)["og:title"] == "先还是后？"


def foot(html: str) -> list[str]:
    nav = html.partition('<nav class="contributing"')[2].partition("</nav>")[0]
    return re.findall(r'href="([^"]*)"', nav)


def test_every_page_can_be_edited_and_reported(trial: Path) -> None:
    root = "https://example.org/owner/name"
    assert foot(read(trial, FIRST, "en")) == [
        f"{root}/edit/main/docs/zh/alignment/first.md",
        f"{root}/edit/main/docs/en/alignment/first.md",
        f"{root}/issues/new?template=sentence_en.yml&amp;title=Before%20or%20after%3F"
        "&amp;page=alignment%2Ffirst&amp;language=en",
    ]
    zh_only = foot(read(trial, "alignment/a_later_page/index.html"))
    assert zh_only[0] == f"{root}/edit/main/docs/zh/alignment/a_later_page.md"
    assert len(zh_only) == 2
    assert foot(read(trial, TOTAL))[0] == f"{root}/edit/main/ppo_ref/sums.py"
    assert foot(read(trial, MEAN))[0] == f"{root}/edit/main/ppo_ref/more/means.py"
    folder = foot(read(trial, "ppo_ref/more/index.html"))
    assert folder[0] == f"{root}/edit/main/ppo_ref/more/__init__.py"
    index = foot(read(trial, "ppo_ref/index.html"))
    assert index[0] == f"{root}/edit/main/ppo_ref/__init__.py"


def test_without_a_repository_nothing_is_offered(trial: Path) -> None:
    for path in (trial / "site").rglob("*.html"):
        assert "contributing" not in path.read_text("utf-8")
        assert "passing" not in path.read_text("utf-8")


def test_who_has_no_account_can_pass_a_report_on(trial: Path) -> None:
    html = read(trial, FIRST, "en").partition('<details class="passing">')[2]
    assert html.index("No GitHub account?") < html.index("</details>")
    assert "Page: alignment/first (Before or after?)\nLanguage version: en\n" in html


@pytest.mark.parametrize(("lang", "folder"), [("zh", ""), ("en", "en/")])
def test_the_address_that_the_environment_says_is_everywhere(
    trial: Path, lang: str, folder: str
) -> None:
    html = read(trial, FIRST, lang)
    own = f"{trial_site.ADDRESS}{folder}alignment/first/"
    assert f'<link rel="canonical" href="{own}">' in html
    for code, path in (("zh", ""), ("en", "en/")):
        there = f"{trial_site.ADDRESS}{path}alignment/first/"
        assert f'<link rel="alternate " hreflang="{code}" href="{there}">' in html
    assert f"<loc>{own}</loc>" in read(trial, "sitemap.xml", lang)


@pytest.mark.parametrize(("lang", "title"), [("zh", "先还是后？"), ("en", "Before or")])
def test_a_page_that_moved_leads_on(trial: Path, lang: str, title: str) -> None:
    html = read(trial, "alignment/old_name/index.html", lang)
    assert f'<a href="../first/">{title}' in html
    assert "old_name" not in read(trial, "search/search_index.json", lang)
    assert "old_name" not in read(trial, "sitemap.xml", lang)


def test_an_anchor_that_moved_leads_on_where_its_target_is_written(trial: Path) -> None:
    lead = '<a href="../a_later_page/#answer">要先懂前一页吗？</a>'
    html = read(trial, FIRST)
    assert '<p class="moved" id="q-001-4">' in html and lead in html
    assert 'class="moved"' not in read(trial, FIRST, "en")  # the target is in zh only
    assert "移到" not in read(trial, "search/search_index.json").replace("\\u200b", "")


FAULTS: dict[str, tuple[str, str]] = {
    "docs/redirects.yml: alignment/x: must lead to a page that exists, got gae/a": (
        "docs/redirects.yml",
        "alignment/x: gae/a",
    ),
    "docs/redirects.yml: alignment/first#td-residual: the anchor is still there": (
        "docs/redirects.yml",
        "alignment/first#td-residual: index",
    ),
    "docs/en/index.md: `ppo_ref.sums.totals`: must be a name of the package": (
        "docs/en/index.md",
        "`ppo_ref.sums.totals`",
    ),
    "docs/en: ppo_ref/sums.md: made from ppo_ref/sums.py": (
        "docs/en/ppo_ref/sums.md",
        "---\ntitle: Mine\n---\n",
    ),
    "ppo_ref/sums.py: must begin with a docstring": ("ppo_ref/sums.py", "x = 1"),
}


@pytest.mark.slow
def test_a_fault_stops_the_build(tmp_path: Path) -> None:
    runs = {}
    for message, (file, content) in FAULTS.items():
        root = tmp_path / str(len(runs))
        trial_site.write_whole(root)
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text(content, "utf-8")
        runs[message] = trial_site.build(root, "mkdocs.en.yml")
    for message, run in runs.items():
        output, _ = run.communicate()
        assert run.returncode != 0, message
        assert message in output
