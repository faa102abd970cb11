"""The site as it is built: what readers and search engines get of every page."""

import json
import posixpath
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from docs.theme.hooks import navigation
from tests.site import trial_site

CREDIT = "https://squidfunk.github.io/mkdocs-material/"
FIRST = "alignment/first/index.html"
TOTAL = "ppo_ref/sums/index.html"
# Where a language lies among what the trial built; "bare" has no address.
FOLDERS = {"zh": "linked", "en": "linked/en", "bare": "site", "bare en": "site/en"}
SEARCH = "search/search_index.json"


def read(trial: Path, name: str, lang: str = "zh") -> str:
    return (trial / FOLDERS[lang] / name).read_text("utf-8")


def index(trial: Path, lang: str = "zh") -> dict[str, dict[str, str]]:
    docs = json.loads(read(trial, SEARCH, lang))["docs"]
    return {doc["location"]: doc for doc in docs}


# By what they show: a built page, what stands in it, and after None what does not.
STANDS: dict[str, tuple[str, str, list[str | None]]] = {
    "the answer box has anchors and jump links": (
        "zh",
        FIRST,
        [
            '<section class="answer">\n<span id="q-004-2"></span>',
            'href="#why">为什么</a>',
            None,
            'href="#code"',
        ],
    ),
    "formulas are typeset and their labels are ids": (
        "zh",
        FIRST,
        [
            '<div class="arithmatex" id="td-residual"><span class="katex-display">',
            "assets/katex/katex.css",
            None,
            "\\delta",
        ],
    ),
    "a picture is inline and in one language": (
        "zh",
        FIRST,
        [
            '<figure class="picture"><svg',
            '<title id="picture-1-title">一根桩</title>',
            ">桩</text>",
            None,
            "post</text>",
        ],
    ),
    "a shape leads to where it is said": (
        "zh",
        TOTAL,
        ['href="../shapes/#ppo_ref.shapes.Tokens">Tokens</a>'],
    ),
    "the map of the package leads to its folders": (
        "en",
        "ppo_ref/index.html",
        ['<a href="more/"><code>more</code></a>'],
    ),
    "a folder lists what it holds": (
        "zh",
        "ppo_ref/more/index.html",
        ["In which:", '<a href="means/"><code>means</code></a>: Means of tokens.'],
    ),
    "a name in the text leads to the reference": (
        "zh",
        "index.html",
        ['<a href="./ppo_ref/more/means/#ppo_ref.more.means.mean"><code>'],
    ),
    "a page of the reference has a twin and loads nothing more": (
        "bare",
        TOTAL,
        ['class="language" href="../../en/ppo_ref/sums/"', None, "_mkdocstrings"],
    ),
    "without an address none is claimed": (
        "bare",
        FIRST,
        [
            None,
            "canonical",
            "alternate",
            "og:url",
            "card.png",
            'rel="edit"',
            "contributing",
        ],
    ),
    "who has no account can pass a report on": (
        "en",
        FIRST,
        [
            "No GitHub account?",
            "Page: alignment/first (Before or after?)\nLanguage version: en\n",
        ],
    ),
    "a page that moved leads on": (
        "en",
        "alignment/old_name/index.html",
        ['<a href="../first/">Before or'],
    ),
    "what moved is not searched": ("zh", SEARCH, [None, "old_name", "移到"]),
    "an anchor that moved leads on": (
        "zh",
        FIRST,
        [
            '<p class="moved" id="q-001-4">',
            '<a href="../a_later_page/#answer">要先懂前一页吗？</a>',
        ],
    ),
    "but not to what is not written": ("en", FIRST, [None, 'class="moved"']),
    "the search knows a symbol and not its code": (
        "zh",
        SEARCH,
        [
            '"location":"ppo_ref/sums/#ppo_ref.sums.total","title":"total"',
            '"boost":0.1',
            None,
            "the whole secret",
        ],
    ),
    "the missing page needs nothing beside it": (
        "bare",
        "404.html",
        ["没有这一页", "No such page", None, ' href="', ' src="'],
    ),
}


@pytest.mark.parametrize("what", STANDS)
def test_it_stands_in_the_page(trial, what):
    lang, page, fragments = STANDS[what]
    text = read(trial, page, lang)
    at = fragments.index(None) if None in fragments else len(fragments)
    assert [part for part in fragments[:at] if part and part not in text] == []
    assert [part for part in fragments[at + 1 :] if part and part in text] == []


def test_every_address_is_relative(trial):
    pages = [*(trial / "site").rglob("*.html")]
    addresses = {
        address
        for page in pages
        for address in re.findall(r'(?:href|src)="([^"]*)"', page.read_text("utf-8"))
        if address.startswith("/") or ":" in address
    }
    assert addresses == {CREDIT} and len(pages) > 20


@pytest.mark.parametrize(
    ("page", "twin"),
    [
        (FIRST, "en/" + FIRST),
        ("en/" + FIRST, FIRST),
        ("index.html", "en/index.html"),
        ("en/index.html", "index.html"),
        ("alignment/a_later_page/index.html", "en/index.html"),
    ],
)
def test_the_language_switch_leads_to_the_twin(trial, page, twin):
    link = re.search(
        r'<a class="language" href="([^"]*)"[^>]*>(.*?)<', read(trial, page, "bare")
    )
    assert link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[1]))
    assert posixpath.normpath(f"{target}/index.html") == twin
    assert link[2] == ("中文" if page.startswith("en/") else "English")
    assert (trial / "site" / twin).exists()


def test_the_table_of_contents_shows_formulas(trial):
    contents = read(trial, FIRST).partition('class="md-nav md-nav--secondary"')[2]
    assert 'class="katex"' in contents.partition("</nav>")[0]


def test_the_search_reads_plain_text(trial):
    found = index(trial)
    answer = found["alignment/first/#answer"]
    assert answer["title"] == "之前"
    assert answer["text"] == "优势估计在写之前。 V(st), policy_loss."
    assert found["alignment/first/"]["aliases"] == ["写之前还是写之后？"]
    why = found["alignment/first/#why"]
    assert why["text"].count("δt=rt+γV(st+1)−V(st)") == why["text"].count("γ") == 1
    assert "\\" not in why["text"]
    picture = found["alignment/first/#picture"]["text"]
    assert "一根桩" in picture and picture.count("桩") == 1
    assert "verified" not in index(trial, "en")["alignment/run/#answer"]["text"]


def test_the_reference_shows_signature_sections_and_what_runs(trial):
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


def card(html: str) -> dict[str, str]:
    found = re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)">', html)
    return {name: text for name, text in found if ":" in name or name == "description"}


def test_a_question_page_has_its_card(trial):
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
        "og:image": f"{trial_site.ADDRESS}assets/card.png",
        "og:image:alt": "PPO 实证问答",
        "twitter:card": "summary_large_image",
    }


def test_home_has_its_card_and_nothing_breaks_out_of_it(trial):
    english = card(read(trial, "index.html", "en"))
    assert english["og:type"] == "website"
    assert english["og:locale"] == "en_US"
    assert english["og:title"] == "PPO, Verified"
    assert english["og:url"] == f"{trial_site.ADDRESS}en/"
    told = english["description"], english["og:description"]
    said = "Home says ppo_ref.sums.total: 1 &lt; 2 &amp; "
    assert told == (f"{said}&quot;3&quot;.", f"{said}&#34;3&#34;.")


def foot(html: str) -> list[str]:
    nav = html.partition('<nav class="contributing"')[2].partition("</nav>")[0]
    return re.findall(r'href="([^"]*)"', nav)


def test_a_page_in_one_language_has_one_file_to_edit(trial):
    edit, report = foot(read(trial, "alignment/a_later_page/index.html"))
    assert edit.endswith("/owner/name/edit/main/docs/zh/alignment/a_later_page.md")
    assert report.endswith("&amp;page=alignment%2Fa_later_page&amp;language=zh")


PAGES_ONLY = "only pages (.md) may lie here; code and pictures go to snippets/"
FAULTS = {
    "docs/en/index.md: KaTeX must be able to": ("docs/en/index.md", r"$\frac{$"),
    "snippets/alignment/first.svg: <script> must not be": (
        "snippets/alignment/first.svg",
        '<svg viewBox="0 0 9 9"><script/></svg>',
    ),
    "docs/en/index.md:2\n  found:    a colon and a space within a text": (
        "docs/en/index.md",
        "---\ntitle: a: b\n---\n",
    ),
    "docs/en/index.md: docs/locks/index.txt:1\n  found:    garbage": (
        "docs/locks/index.txt",
        "garbage",
    ),
    "docs/redirects.yml: alignment/x: must lead to a page that exists, got gae/a": (
        "docs/redirects.yml",
        "alignment/x: gae/a",
    ),
    "docs/en/index.md: `ppo_ref.sums.totals`: must be a name of the package": (
        "docs/en/index.md",
        "`ppo_ref.sums.totals`",
    ),
}


@pytest.mark.slow
def test_a_fault_stops_the_build(tmp_path):
    runs = {}
    for number, (message, (file, text)) in enumerate(FAULTS.items()):
        trial_site.write_whole(tmp_path / str(number))
        trial_site.write_files(tmp_path / str(number), {file: text})
        runs[message] = trial_site.build(tmp_path / str(number), "mkdocs.en.yml")
    printed = {message: run.communicate()[0] for message, run in runs.items()}
    for message, run in runs.items():
        assert run.returncode != 0, message
        assert message in printed[message]


@pytest.mark.parametrize("name", ["alignment/a.txt", "notebooks/a.ipynb", "a.MD"])
def test_only_pages_may_lie_among_the_pages(name):
    config = load_config(str(trial_site.ROOT / "mkdocs.en.yml"))
    files = Files([File(name, config.docs_dir, config.site_dir, True)])
    with pytest.raises(PluginError) as refusal:
        navigation.on_files(files, config)
    assert str(refusal.value) == f"docs/en/{name}: {PAGES_ONLY}"


def test_a_verified_block_says_where_it_passed(trial):
    html = read(trial, "alignment/run/index.html", "bare en")
    assert re.findall(r'class="mark"[^>]*>([^<]*)</', html) == (
        [f"verified · torch {version('torch').partition('+')[0]} · CPU"] * 2
    )


def test_a_strict_build_names_every_fault_of_its_pages(tmp_path):
    trial_site.write(tmp_path)
    trial_site.write_running_page(tmp_path)
    trial_site.note_as_verified(tmp_path)
    page = tmp_path / trial_site.RUN_PAGE
    page.write_text(trial_site.RUN.replace("x == 1", "x == 2"), "utf-8")
    files = {
        "docs/en/index.md": "# Home\n\n```{ .python .norun }\nx\n```\n",
        "docs/en/alignment/begun.md": trial_site.LATER.replace("见[", "TODO: ["),
    }
    trial_site.write_files(tmp_path, files)
    output, _ = (run := trial_site.build(tmp_path, "mkdocs.en.yml")).communicate()
    assert run.returncode != 0
    lines = re.findall(rf"{trial_site.RUN_PAGE}:(\d+)", output)
    assert lines == [str(trial_site.RUN.count("\n") - 2)]
    assert "has not been verified here as it stands" in output
    assert "make build, which verifies every page" in output
    fence = "docs/en/index.md:3\n  found:    a .norun block without a reason"
    assert fence in output
    assert "docs/en/alignment/begun.md:8" in output
    assert "write your own answer here, and remove the TODO" in output


@pytest.mark.slow
def test_a_site_that_does_not_build_replaces_nothing(tmp_path):
    trial_site.write(tmp_path)
    before = {"site/en/index.html": "as it was"}
    trial_site.write_files(tmp_path, before)
    trial_site.write_files(tmp_path, {"docs/en/index.md": "# Home\n\n[x](#nowhere)\n"})
    output, _ = (run := trial_site.start(tmp_path, "docs.theme.publish")).communicate()
    assert run.returncode == 1
    assert re.search(r"not built: en, see above; site/ is as it was$", output.strip())
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert {f.relative_to(tmp_path).as_posix(): f.read_text() for f in files} == before
