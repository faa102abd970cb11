"""The feed by the rules of RFC 4287, and where the site has one."""

import re
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from site_tools.compile import news
from tests.layout import ROOT
from tests.site.trial_site import ADDRESS

ATOM = "{http://www.w3.org/2005/Atom}"
# RFC 4287, section 4.1: what must be there once, and what may be there once.
ONCE = ("id", "title", "updated")
AT_MOST = {
    "feed": ("generator", "icon", "logo", "rights", "subtitle"),
    "entry": ("content", "published", "rights", "source", "summary"),
}
OFTEN = ("author", "category", "contributor", "entry", "link")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:\S+")


def faults(text: str) -> Iterator[str]:
    """What a validator finds wrong with a feed, and entries out of their order."""
    feed = ElementTree.fromstring(text)
    if feed.tag != f"{ATOM}feed":
        yield f"its root is {feed.tag}"
    entries = feed.findall(f"{ATOM}entry")
    for node in (feed, *entries):
        yield from faults_of(node)
    author = feed.find(f"{ATOM}author")
    if author is None or not author.findtext(f"{ATOM}name"):
        yield "no author with a name"
    own = [link for link in feed.findall(f"{ATOM}link") if link.get("rel") == "self"]
    if len(own) != 1:
        yield "no link to itself"
    ids = [node.findtext(f"{ATOM}id") for node in (feed, *entries)]
    if len({*ids}) < len(ids):
        yield "an id twice"
    days = [node.findtext(f"{ATOM}updated") for node in entries]
    if days != sorted(days, reverse=True) or feed.findtext(f"{ATOM}updated") != days[0]:
        yield "not the newest first"


def faults_of(node: ElementTree.Element) -> Iterator[str]:
    kind = node.tag.removeprefix(ATOM)
    names = [child.tag.removeprefix(ATOM) for child in node]
    for name in {*ONCE, *names}:
        few = name in ONCE and names.count(name) != 1
        many = name in AT_MOST[kind] and names.count(name) > 1
        if few or many or name not in ONCE + AT_MOST[kind] + OFTEN:
            yield f"{kind}: {name} {names.count(name)} times"
    links = [child for child in node if child.tag == f"{ATOM}link"]
    for link in links:
        url = urlsplit(link.get("href", ""))
        if url.scheme not in ("http", "https") or not url.netloc:
            yield f"{kind}: {url.geturl()} is no whole address"
    shown = [
        (each.get("type"), each.get("hreflang"))
        for each in links
        if each.get("rel", "alternate") == "alternate"
    ]
    if not shown or len({*shown}) < len(shown):
        yield f"{kind}: no page, or two of one kind"
    for child in node:
        name, text = child.tag.removeprefix(ATOM), child.text or ""
        if name in ("updated", "published"):
            if not DATE.fullmatch(text):
                yield f"{kind}: {name} {text} is no date of RFC 3339"
            else:
                datetime.fromisoformat(text.replace("Z", "+00:00"))
        if name == "id" and not SCHEME.fullmatch(text):
            yield f"{kind}: the id {text} has no scheme"
        if name in ("title", "summary") and (len(child) or not text.strip()):
            yield f"{kind}: {name} is no text"
        if name == "category" and not child.get("term"):
            yield f"{kind}: a category without a term"


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_feed_of_the_project_is_valid(lang):
    text = news.feed(ROOT, lang, ADDRESS)
    assert [*faults(text)] == []
    assert 10 < text.count("<entry>") <= news.IN_FEED
    assert not re.search(r"`|\$|\]\(|\*\*", text), "signs of Markdown"


ENTRY = """<entry><id>urn:uuid:{n}</id><title>A</title>
<updated>{day}T00:00:00Z</updated>
<link href="https://example.org/a"/></entry>"""
GOOD = (
    """<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:uuid:0</id><title>T</title>
<updated>2026-02-02T00:00:00Z</updated><author><name>N</name></author>
<link rel="self" href="https://example.org/feed.xml"/>
<link rel="alternate" href="https://example.org/"/>"""
    + ENTRY.format(n=2, day="2026-02-02")
    + ENTRY.format(n=1, day="2026-02-01")
    + "</feed>"
)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("<title>T</title>", "", "feed: title 0 times"),
        ("<title>A</title>", "<title></title>", "entry: title is no text"),
        ("<title>A</title>", "<title>A</title><name/>", "entry: name 1 times"),
        ("<author><name>N</name></author>", "", "no author with a name"),
        ("urn:uuid:1", "urn:uuid:2", "an id twice"),
        ("urn:uuid:1", "one", "entry: the id one has no scheme"),
        ("2026-02-01T00:00:00Z", "2026-02-01", "is no date of RFC 3339"),
        ("2026-02-01T", "2026-02-03T", "not the newest first"),
        ("https://example.org/a", "../a/", "../a/ is no whole address"),
        ('<link href="https://example.org/a"/>', "", "entry: no page, or two"),
        ('rel="self"', 'rel="via"', "no link to itself"),
    ],
)
def test_what_breaks_the_rules_is_found(old, new, fault):
    assert [*faults(GOOD)] == [] and old in GOOD
    assert any(fault in each for each in faults(GOOD.replace(old, new, 1)))


def test_an_id_is_that_of_its_row_wherever_the_site_is():
    ids = re.compile("<id>(.*?)</id>")
    here, there = (
        ids.findall(news.feed(ROOT, "en", url)) for url in (ADDRESS, "https://b.test/")
    )
    newest = news.announced(ROOT, "en")[0].news.id
    assert here == there and here[1] == news.lasting_id(f"en {newest}")
    # As published: no change of the code may give readers another one.
    assert news.lasting_id("en 1") == "urn:uuid:1c762d9d-54d6-54d6-b30a-4ebc0d39dfea"


@pytest.mark.parametrize(("lang", "folder"), [("zh", ""), ("en", "en/")])
def test_a_site_with_an_address_has_a_feed_that_its_pages_name(trial, lang, folder):
    text = (trial / "linked" / folder / "feed.xml").read_text("utf-8")
    assert [*faults(text)] == []
    own = f"{ADDRESS}{folder}"
    assert f'rel="self" type="application/atom+xml" href="{own}feed.xml"' in text
    assert f'href="{own}alignment/first/#why"' in text
    said = {"zh": "原来说 A &lt; B，错了", "en": "that A &amp; C &lt; B"}
    assert said[lang] in text
    page = (trial / "linked" / folder / "alignment/first/index.html").read_text("utf-8")
    (link,) = re.findall("<link[^>]*atom[^>]*>", page)
    assert 'href="../../feed.xml"' in link
    # Where rel is "alternate" and nothing else, the theme looks for a sitemap.
    assert 'rel="alternate"' not in page and 'rel="alternate " hreflang' in page
    listed = (trial / "linked" / folder / "about/news/index.html").read_text("utf-8")
    assert re.search(r'<a href="\.\./\.\./feed\.xml">feed\.xml</a> \(\d+ kB\)', listed)


def test_a_site_without_an_address_has_none(trial):
    assert [*(trial / "site").rglob("feed.xml")] == []
    for page in (trial / "site").rglob("*.html"):
        assert "atom+xml" not in page.read_text("utf-8"), page
    listed = (trial / "site/about/news/index.html").read_text("utf-8")
    assert ">feed.xml</span>" in listed and ">feed.xml</a>" not in listed


def test_what_is_not_written_in_a_language_is_not_told_there(trial):
    zh, en = (
        {p.news.page for p in news.announced(trial, lang)} for lang in ("zh", "en")
    )
    assert zh - en == {"alignment/a_later_page"}
