"""The site as it is built: what readers and search engines get of every page."""

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from site_tools.compile.site import Compiler, Told
from site_tools.finish.tree import lean
from tests.site import trial_site
from tests.site.trial_site import PAGES, RUN_PAGE

LEADING_OUT = (
    "https://squidfunk.github.io/mkdocs-material/",
    "https://github.com/",  # to the lines of a release, to a thread
    "https://example.org/b",
)
FIRST = "alignment/first/index.html"
# Where a language lies among what the trial built; "bare" has no address.
FOLDERS = {"zh": "linked", "en": "linked/en", "bare": "site", "bare en": "site/en"}
SEARCH = "search/search_index.json"


def read(trial: Path, name: str, lang: str = "zh") -> str:
    return (trial / FOLDERS[lang] / name).read_text("utf-8")


def index(trial: Path, lang: str = "zh") -> dict[str, dict[str, str]]:
    docs = json.loads(read(trial, SEARCH, lang))["docs"]
    return {doc["location"]: doc for doc in docs}


def plain_text(html: str) -> str:
    """The words that a reader sees of a page, on one line."""
    return " ".join(BeautifulSoup(html, "html.parser").get_text().split())


STANDS = yaml.safe_load(Path(__file__).with_name("built.yml").read_text("utf-8"))


@pytest.mark.parametrize("what", STANDS)
def test_it_stands_in_the_page(trial, what):
    row = STANDS[what]
    *lang, path = row["at"].split(" ")
    text = read(trial, path, " ".join(lang))
    said = plain_text(text)
    assert [part for part in row.get("has", []) if part not in text] == []
    assert [part for part in row.get("says", []) if part not in said] == []
    assert [part for part in row.get("not", []) if part in text] == []


def test_the_missing_page_needs_nothing_beside_it(trial):
    missing = read(trial, "404.html", "bare")
    addresses = re.findall(r'(?:href|src)="([^"]*)"', missing)
    assert [each for each in addresses if not each.startswith("data:")] == []
    assert len(addresses) == 1, "its icon"


def test_every_address_is_relative(trial):
    """Only links that pages or data write whole lead out of the site."""
    pages = [*(trial / "site").rglob("*.html")]
    assert len(pages) > 20
    for page in pages:
        html = page.read_text("utf-8")
        for kind, address in re.findall(r'(href|src)="([^"]*)"', html):
            if address.startswith("/") or ":" in address:
                plot = address.startswith("data:image/svg+xml")
                out = kind == "href" and address.startswith(LEADING_OUT)
                assert plot or out, (page, address)


def test_the_table_of_contents_shows_formulas(trial):
    contents = read(trial, FIRST).partition('class="md-nav md-nav--secondary"')[2]
    assert 'class="katex"' in contents.partition("</nav>")[0]


def test_the_search_reads_plain_text(trial):
    found = index(trial)
    answer = found["alignment/first/#answer"]
    assert answer["title"] == "之前"
    assert answer["text"].startswith("优势估计在写之前。 V(st), policy_loss. ")
    assert found["alignment/first/"]["aliases"] == ["写之前还是写之后？"]
    why = found["alignment/first/#why"]
    assert why["text"].count("δt=rt+γV(st+1)−V(st)") == why["text"].count("γ") == 1
    assert "\\" not in why["text"]
    picture = found["alignment/first/#picture"]["text"]
    assert "一根桩" in picture and picture.count("桩") == 1
    assert "verified" not in index(trial, "en")["alignment/run/#answer"]["text"]


def test_the_reference_shows_the_signature_and_folds_the_code(trial):
    html = read(trial, "ppo_ref/sums/index.html")
    assert "rewards: Tokens, *, gamma: float = 1.0" in plain_text(html)
    titles = re.findall(r'doc-section-title">(\w+)', html)
    assert titles == ["参数", "返回", "示例"]
    folded = html.partition('<details class="source">')[2].partition("</details>")[0]
    assert "the whole secret" in folded and "Everything added" not in folded


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
        trial_site.note_as_verified(tmp_path / str(number))
        runs[message] = trial_site.start(
            tmp_path / str(number), "site_tools.build.publish"
        )
    printed = {message: run.communicate()[0] for message, run in runs.items()}
    for message, run in runs.items():
        assert run.returncode != 0, message
        assert message in printed[message]


@pytest.mark.parametrize("name", ["alignment/a.txt", "notebooks/a.ipynb", "a.MD"])
def test_only_pages_may_lie_among_the_pages(name, tmp_path):
    trial_site.write(tmp_path)
    trial_site.write_files(tmp_path, {f"docs/en/{name}": "x"})
    with pytest.raises(ValueError) as refusal:
        Compiler(tmp_path, "en", Told()).compile()
    assert str(refusal.value) == f"docs/en/{name}: {PAGES_ONLY}"


def test_a_page_says_once_with_what_it_was_verified(trial):
    html = read(trial, "alignment/run/index.html", "bare en")
    (line,) = re.findall(r'class="verdict"[^>]*><a[^>]*>([^<]*)</', html)
    assert line.startswith(f"Verified with torch {version('torch').partition('+')[0]}")
    assert line.endswith("code blocks: 2, figures: 0")


def test_a_strict_build_names_every_fault_of_its_pages(tmp_path):
    trial_site.write(tmp_path)
    page, text = tmp_path / RUN_PAGE, (PAGES / "whole" / RUN_PAGE).read_text()
    trial_site.write_files(tmp_path, {RUN_PAGE: text})
    trial_site.note_as_verified(tmp_path)
    page.write_text(text.replace("x == 1", "x == 2"), "utf-8")
    later = (tmp_path / "docs/zh/alignment/a_later_page.md").read_text("utf-8")
    files = {
        "docs/en/index.md": "# Home\n\n```{ .python .norun }\nx\n```\n",
        "docs/en/alignment/begun.md": later.replace("见[", "TODO: ["),
    }
    trial_site.write_files(tmp_path, files)
    output, _ = (
        run := trial_site.start(tmp_path, "site_tools.build.publish")
    ).communicate()
    assert run.returncode != 0
    assert f"{RUN_PAGE}:1\n  found:    a page that has not passed here" in output
    assert "make build, which verifies every such page" in output
    fence = "docs/en/index.md:3\n  found:    a .norun block without a reason"
    assert fence in output
    assert "docs/en/alignment/begun.md:8" in output
    assert "write your own answer here, and remove the TODO" in output


@pytest.mark.slow
def test_a_site_that_does_not_build_replaces_nothing(tmp_path):
    trial_site.write(tmp_path)
    before = {"site/en/index.html": "as it was"}
    trial_site.write_files(tmp_path, before)
    dead = "# Home\n\n[x](nowhere.md)\n"
    trial_site.write_files(tmp_path, {"docs/en/index.md": dead})
    trial_site.note_as_verified(tmp_path)
    output, _ = (
        run := trial_site.start(tmp_path, "site_tools.build.publish")
    ).communicate()
    assert run.returncode == 1
    assert re.search(r"en: see above\nnot built; site/ is as it was$", output.strip())
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert {f.relative_to(tmp_path).as_posix(): f.read_text() for f in files} == before


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            '  // why\nconst a = "https://x" // kept\n',
            'const a = "https://x" // kept\n',
        ),
        ("/* one\n * two */\na { b: c } /* d */", "a { b: c } "),
        ('a { content: "/"; }\n/**/b { }\n', 'a { content: "/"; }\nb { }\n'),
    ],
)
def test_comments_stay_at_home(code, expected):
    assert lean(code) == expected
