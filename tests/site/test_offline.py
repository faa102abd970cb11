"""The copy of the site that works from a folder: links, search, the zip."""

import json
import time

import pytest

from site_tools.site.downloads import copy, pack, rewrite
from tests.site.linked import broken

FILES = frozenset(
    [
        "index.html",
        "gae/index.html",
        "gae/inputs/index.html",
        "gae/why/index.html",
        "en/index.html",
        "en/gae/inputs/index.html",
        "assets/site.css",
        "notebooks/toy/toy.ipynb",
        "ppo_ref-0.1.0+src1.whl",
    ]
)
PAGE = "gae/inputs/index.html"
HOME = "https://example.org/ppo/"


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("../why/", "../why/index.html"),
        ("../why/?q=a%20b&amp;x=1#code", "../why/index.html?q=a%20b&amp;x=1#code"),
        (".", "index.html"),
        ("../../en/gae/inputs/", "../../en/gae/inputs/index.html"),
        ("../../assets/site.css?caa4", "../../assets/site.css?caa4"),
        ("../../ppo_ref-0.1.0%2Bsrc1.whl", "../../ppo_ref-0.1.0%2Bsrc1.whl"),
        ("/gae/", "../index.html"),
        ("#why", "#why"),
        ("https://arxiv.org/abs/1506.02438", "https://arxiv.org/abs/1506.02438"),
        ("//example.org/x/", "//example.org/x/"),
    ],
)
def test_a_link_names_the_file_it_leads_to(link, expected):
    html = f'<a class="x" href="{link}">'
    assert rewrite(html, PAGE, FILES) == f'<a class="x" href="{expected}">'


def test_with_an_address_what_a_reader_follows_leads_into_the_copy():
    canonical = f'<link rel="canonical" href="{HOME}gae/inputs/">'
    follows = f'<a href="{HOME}ppo_ref-0.1.0%2Bsrc1.whl">'
    made = rewrite(canonical + follows, PAGE, FILES, HOME)
    assert made == canonical + '<a href="../../ppo_ref-0.1.0%2Bsrc1.whl">'
    assert rewrite(follows, PAGE, FILES) == follows


def test_a_page_that_has_moved_leads_to_a_file():
    script = 'location.replace("{}".replace(/#.*|$/, (own) => location.hash || own))'
    refresh = '<noscript><meta http-equiv="refresh" content="0; url={}"></noscript>'
    stub = f"<script>\n{script}\n</script>{refresh}"
    made = rewrite(stub.replace("{}", "../why/#code"), PAGE, FILES)
    assert made == stub.replace("{}", "../why/index.html#code")


def test_a_link_that_leads_nowhere_is_named():
    with pytest.raises(ValueError, match=r"^gae/inputs/index.html: .* got \.\./gone/$"):
        rewrite('<a href="../gone/">', PAGE, FILES)


INDEX = '{"docs":[%s],"uncovered":{"location":"contribute/"}}'
SITE = {
    "index.html": '<a href="gae/">x</a><a href="en/">English</a>',
    "gae/index.html": '<a href="..">home</a>',
    "en/index.html": '<a href="..">中文</a>',
    "404.html": '<a href="/nowhere/">x</a>',
    "sitemap.xml": "",
    "sitemap.xml.gz": "",
    "assets/javascripts/bundle.js": "x",
    "assets/javascripts/bundle.js.map": "x",
    "en/assets/javascripts/lunr/min/lunr.zh.min.js": "x",
    "assets/search/start.js": "start()\n",
    "assets/search/worker.js": "const pages = fetch(location)\n",
    "search/search_index.json": INDEX % '{"location":"gae/#a","text":"优势"}',
    "en/search/search_index.json": INDEX % '{"location":"","text":"x"}',
    "llms.txt": "x",
}


def files() -> dict[str, bytes]:
    return {path: text.encode() for path, text in SITE.items()}


def test_the_copy_has_what_a_folder_can_use():
    made = copy(files())
    assert [*made] == [
        "index.html",
        "gae/index.html",
        "en/index.html",
        "assets/javascripts/bundle.js",
        "assets/search/start.js",
        "assets/search/worker.js",
        "search/search_index.js",
        "en/search/search_index.js",
        "llms.txt",
    ]
    assert broken(made) == []
    assert made["gae/index.html"] == b'<a href="../index.html">home</a>'


def test_the_search_is_made_of_scripts():
    made = copy(files())
    index = made["search/search_index.js"].decode()
    assert index.startswith("const searchIndex = ") and index.endswith(";\n")
    found = json.loads(index.removeprefix("const searchIndex = ")[:-2])
    assert found["docs"] == [{"location": "gae/index.html#a", "text": "优势"}]
    assert found["uncovered"] == {"location": "contribute/index.html"}
    english = made["en/search/search_index.js"].decode()
    assert '"location":"index.html"' in english
    start = made["assets/search/start.js"].decode()
    assert start.endswith("\nstart()\n") and "window.Worker = class" in start
    worker = made["assets/search/worker.js"].decode()
    head = "const searchWorker = (fetch, postMessage, addEventListener, location) => {"
    assert worker == head + "\nconst pages = fetch(location)\n}\n"


def test_the_zip_is_the_same_whenever_it_is_made(monkeypatch):
    made = pack(files(), "folder")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert pack(dict(reversed(files().items())), "folder") == made
    assert pack(files() | {"llms.txt": b"y"}, "folder") != made
