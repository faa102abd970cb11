"""The site as it is built: what readers and search engines get."""

import json
import posixpath
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from docs.theme.hooks import navigation
from site_tools.running import evidence
from tests.site import trial_site

CREDIT = "https://squidfunk.github.io/mkdocs-material/"
FIRST = "alignment/first/index.html"


@pytest.fixture
def zh(trial: Path) -> Path:
    return trial / "site"


def pages(site: Path) -> Iterator[tuple[Path, str]]:
    for path in site.rglob("*.html"):
        yield path, path.read_text("utf-8")


def read(site: Path, name: str) -> str:
    return (site / name).read_text("utf-8")


def test_every_address_is_relative(zh: Path) -> None:
    addresses = [
        (path.name, address)
        for path, html in pages(zh)
        for address in re.findall(r'(?:href|src)="([^"]*)"', html)
        if address.startswith("/") or ":" in address
    ]
    assert {address for _, address in addresses} == {CREDIT}
    assert len(list(pages(zh))) > 20


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
def test_the_language_switch_leads_to_the_twin(zh: Path, page: str, twin: str) -> None:
    link = re.search(r'<a class="language" href="([^"]*)"[^>]*>(.*?)<', read(zh, page))
    assert link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[1]))
    assert posixpath.normpath(f"{target}/index.html") == twin
    assert link[2] == ("中文" if page.startswith("en/") else "English")
    assert (zh / twin).exists()


def test_the_question_is_title_and_heading(zh: Path) -> None:
    html = read(zh, FIRST)
    assert "<title>先还是后？ - PPO 实证问答</title>" in html
    assert re.findall(r"<h1[^>]*>(.*?)</h1>", html) == ["先还是后？"]


def test_tabs_are_those_that_have_pages_and_needs_come_first(zh: Path) -> None:
    html = read(zh, "index.html")
    tabs = re.findall(r'class="md-tabs__link">\s*(\S+)', html)
    assert tabs == ["问答", "查阅", "关于"]
    navigation = read(zh, FIRST).partition("md-nav--primary")[2]
    assert navigation.index("先还是后？") < navigation.index("要先懂前一页吗？")


def test_the_answer_box_has_the_anchors_of_the_questions(zh: Path) -> None:
    html = read(zh, FIRST)
    assert '<section class="answer">\n<span id="q-004-2"></span>' in html
    assert 'href="#why">为什么</a>' in html
    assert 'href="#code"' not in html


def test_formulas_are_typeset_and_their_styles_are_where_they_are(zh: Path) -> None:
    html = read(zh, FIRST)
    assert (
        '<div class="arithmatex" id="td-residual"><span class="katex-display">' in html
    )
    assert "\\delta" not in html
    assert "assets/katex/katex.css" in html
    assert "assets/katex/katex.css" not in read(zh, "index.html")
    addresses = re.findall(r"url\(([^)]*)\)", read(zh, "assets/katex/katex.css"))
    fonts = {address.partition("?")[0] for address in addresses}
    assert fonts == {f"fonts/{font.name}" for font in zh.glob("assets/katex/fonts/*")}
    assert fonts and all(font.endswith(".woff2") for font in fonts)


def test_the_table_of_contents_shows_formulas(zh: Path) -> None:
    contents = read(zh, FIRST).partition('class="md-nav md-nav--secondary"')[2]
    assert 'class="katex"' in contents.partition("</nav>")[0]


def test_pictures_are_inline_and_in_one_language(zh: Path) -> None:
    html = read(zh, FIRST)
    assert '<figure class="picture"><svg' in html
    assert '<title id="picture-1-title">一根桩</title>' in html
    assert ">桩</text>" in html and "post</text>" not in html
    assert ">post</text>" in read(zh, "en/" + FIRST)
    assert not list(zh.rglob("first.svg"))


def index(site: Path) -> dict[str, str]:
    docs = json.loads(read(site, "search/search_index.json"))["docs"]
    return {doc["location"]: doc["title"] + " " + doc["text"] for doc in docs}


def test_the_search_reads_plain_text_and_chinese_as_it_stands(zh: Path) -> None:
    answer = index(zh)["alignment/first/#answer"]
    assert answer == "之前 优势估计在写之前。 V(st), policy_loss."
    assert "优势估计" in read(zh, "search/search_index.json")


def test_the_search_knows_the_other_wordings_of_a_question(zh: Path) -> None:
    docs = json.loads(read(zh, "search/search_index.json"))["docs"]
    aliases = {doc["location"]: doc["aliases"] for doc in docs if "aliases" in doc}
    assert aliases.pop("alignment/first/") == ["写之前还是写之后？"]
    assert all(place.startswith("ppo_ref/") for place in aliases)


def test_the_search_reads_a_formula_once_and_as_words(zh: Path) -> None:
    text = index(zh)["alignment/first/#why"]
    assert text.count("δt=rt+γV(st+1)−V(st)") == 1
    assert text.count("γ") == 1 and "\\" not in text


def test_the_search_reads_no_labels_of_pictures(zh: Path) -> None:
    text = index(zh)["alignment/first/#picture"]
    assert "一根桩" in text and text.count("桩") == 1


def test_without_an_address_nothing_pretends_to_have_one(zh: Path) -> None:
    for _, html in pages(zh):
        assert "canonical" not in html and "alternate" not in html
        assert 'rel="edit"' not in html


def test_with_an_address_links_are_there(trial: Path) -> None:
    html = read(trial / "linked/en", FIRST)
    root = "https://example.org/ppo/"
    assert f'rel="canonical" href="{root}en/alignment/first/"' in html
    assert f'hreflang="zh" href="{root}alignment/first/"' in html
    assert f'hreflang="en" href="{root}en/alignment/first/"' in html
    edit = "https://example.org/owner/name/edit/main/docs/en/alignment/first.md"
    assert f'<a href="{edit}"' in html


def test_the_missing_page_needs_nothing_beside_it(zh: Path) -> None:
    html = read(zh, "404.html")
    assert "没有这一页" in html and "No such page" in html
    assert not re.findall(r'(?:href|src)="', html)


PAGES_ONLY = "only pages (.md) may lie here; code and pictures go to snippets/"
FAULTS: dict[str, tuple[str, str | bytes]] = {
    "docs/en/index.md: KaTeX must be able to": ("docs/en/index.md", r"$\frac{$"),
    "docs/en: gea/x.md: a page must be": (
        "docs/en/gea/x.md",
        "---\nquestion: Q\n---\n",
    ),
    "snippets/alignment/first.svg: <script> must not be": (
        "snippets/alignment/first.svg",
        '<svg viewBox="0 0 9 9"><script/></svg>',
    ),
    "contains a link '#nowhere', but there is no such anchor": (
        "docs/en/index.md",
        "[x](#nowhere)",
    ),
    "docs/en/index.md: must be UTF-8, got 'utf-8' codec can't decode byte 0xc4": (
        "docs/en/index.md",
        "你".encode("gbk"),
    ),
    "docs/en/index.md:2\n  found:    mapping values are not allowed in": (
        "docs/en/index.md",
        "---\ntitle: a: b\n---\n",
    ),
    "docs/en/index.md: front matter must lie between two lines ---": (
        "docs/en/index.md",
        "---\ntitle: a\n",
    ),
    "docs/en/index.md: docs/locks/index.txt:1\n  found:    garbage": (
        "docs/locks/index.txt",
        "garbage",
    ),
    f"docs/en/raw.html: {PAGES_ONLY}": ("docs/en/raw.html", "x"),
}


@pytest.mark.slow
def test_a_fault_stops_the_build(tmp_path: Path) -> None:
    runs = {}
    for message, (file, content) in FAULTS.items():
        root = tmp_path / str(len(runs))
        trial_site.write(root)
        (root / file).parent.mkdir(exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode()
        (root / file).write_bytes(raw)
        runs[message] = trial_site.build(root, "mkdocs.en.yml")
    for message, run in runs.items():
        output, _ = run.communicate()
        assert run.returncode != 0
        assert message in output


@pytest.mark.parametrize(
    "name",
    ["alignment/a.txt", "notebooks/a.ipynb", "notebooks/a.py", "a.MD", "a.png"],
)
def test_only_pages_may_lie_among_the_pages(name: str) -> None:
    config = load_config(str(trial_site.ROOT / "mkdocs.en.yml"))
    files = Files([File(name, config.docs_dir, config.site_dir, True)])
    with pytest.raises(PluginError) as refusal:
        navigation.on_files(files, config)
    assert str(refusal.value) == f"docs/en/{name}: {PAGES_ONLY}"


def test_hidden_files_are_let_be_and_not_published(trial: Path) -> None:
    assert (trial / "docs/en/.draft.md").exists()
    assert (trial / "docs/en/.raw.html").exists()
    names = [path.name for path in (trial / "site").rglob("*")]
    assert not [name for name in names if "draft" in name or "raw" in name]


def test_a_verified_block_says_where_it_passed(zh: Path) -> None:
    html = read(zh, "en/alignment/run/index.html")
    assert re.findall(r'class="mark"[^>]*>([^<]*)</', html) == (
        [f"verified · torch {version('torch').partition('+')[0]} · CPU"] * 2
    )
    assert "verified" not in index(zh / "en")["alignment/run/#answer"]


def test_a_strict_build_names_every_fault_of_its_pages(tmp_path: Path) -> None:
    trial_site.write(tmp_path)
    trial_site.write_running_page(tmp_path)
    trial_site.note_as_verified(tmp_path)
    page = tmp_path / trial_site.RUN_PAGE
    page.write_text(trial_site.RUN.replace("x == 1", "x == 2"), "utf-8")
    files = {
        evidence.RECORD: "<<<<<<< HEAD",
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
    assert "write your own answer here, and take the TODO away" in output
    assert f"{evidence.RECORD}: cuda.txt:1: a line must read" in output
