"""Entries of a page for search engines and for the site's own search."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from bs4 import Tag
from bs4.element import NavigableString

from site_tools.compile.links import Target
from site_tools.compile.templates import words
from site_tools.finish.article import Shown, of_class
from site_tools.source.files import split_aliases

# What stands beside the text of a page; a paragraph in it does not say what it is on.
NO_PROSE = ["aside", "blockquote", "details", "figure", "nav", "table", "svg"]
BESIDE_CLASSES = set(
    [
        "admonition",
        "reading",
        "languages",
        "moved",
        "from-code",
        "download",
        "install",
        "cited",
    ]
)
AFTER_WIDE = re.compile(r"(?<=[，。；：！？]) ")  # which have their blank within
# A term of the glossary is a heading of its own kind.
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt")
SPACED = set(
    [
        "p",
        "li",
        "ul",
        "ol",
        "pre",
        "div",
        "section",
        "details",
        "summary",
        "label",
        "dl",
        "dt",
        "dd",
        "tr",
        "td",
        "th",
        "figure",
    ]
)
NAMING_LIST, OWN_LIST = (
    0.2,
    0.4,
)  # boosts of lists: those that only name pages, and the others
LONGEST_CARD = 200  # characters that a share card has room for
LONGEST_VERDICT = 100  # characters; a result shows a line or two

IndexEntry = dict[str, str | float | list[str]]


def description(content: Tag) -> str:
    """The first paragraph of the answer, or of the page, without any markup.

    Of a page without a paragraph, the first item of its list.
    """
    answer = content.find("section", class_="answer")
    scopes = [answer, content] if isinstance(answer, Tag) else [content]
    for scope in scopes:
        for name in ("p", "li"):
            for tag in scope.find_all(name):
                text = "" if _is_beside(tag) else _spelled(tag)
                if text:
                    return AFTER_WIDE.sub("", text)
    return ""


def _is_beside(tag: Tag) -> bool:
    if tag.find_parent(NO_PROSE):
        return True
    around = (tag, *tag.parents)
    classes = (name for each in around for name in each.get_attribute_list("class"))
    return not BESIDE_CLASSES.isdisjoint(classes)


def _spelled(tag: Tag) -> str:
    pieces = []
    for node in tag.descendants:
        if isinstance(node, Shown):
            pieces.append(node.spelled)
        elif type(node) is NavigableString:
            pieces.append(node)
    return " ".join("".join(pieces).split())


class _Section:
    """A heading and the text below it, up to the next one."""

    def __init__(self, heading: Tag | None = None) -> None:
        self.heading = heading
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())


def _walk(tag: Tag, sections: list[_Section]) -> None:
    """Read what readers find below a tag into its sections, the last one open."""
    for node in tag.children:
        if isinstance(node, Shown):
            sections[-1].pieces.append(node.searched)
        elif type(node) is NavigableString:
            sections[-1].pieces.append(node)
        elif isinstance(node, Tag) and not _is_unread(node):
            if node.name in HEADINGS and node.has_attr("id"):
                sections.append(_Section(node))
                continue
            gap = " " if node.name in SPACED else ""
            sections[-1].pieces.append(gap)
            _walk(node, sections)
            sections[-1].pieces.append(gap)


def _is_unread(tag: Tag) -> bool:
    # An attribute of ours: that of the theme is taken away before the page is built.
    classes = tag.get_attribute_list("class")
    hidden = "headerlink" in classes or tag.has_attr("data-unsearched")
    return hidden or tag.name in ("style", "script")


def index_text(tag: Tag) -> str:
    """The text of a tag as the search shows it."""
    whole = [_Section()]
    _walk(tag, whole)
    return whole[0].text


def entries(
    content: Tag, url: str, title: str, aliases: Sequence[str], boost: float = 1
) -> list[IndexEntry]:
    """The entries of the search: one for a page and one for each of its sections.

    A boost below 1 lets what is found here stand behind others.
    """
    own, sections = split_aliases(aliases), [_Section()]
    _walk(content, sections)
    page: IndexEntry = {"location": url, "title": title, "text": sections[0].text}
    if own[""]:
        page["aliases"] = own[""]
    for derived in of_class(content, "derived"):
        behind = (
            OWN_LIST if "own" in derived.get_attribute_list("class") else NAMING_LIST
        )
        boost = min(boost, behind)
    if boost != 1:
        page["boost"] = boost
    found = [page]
    for section in sections[1:]:
        heading = section.heading
        assert heading
        if heading.name == "h1":
            text = f"{page['text']} {section.text}".strip()
            page |= {"title": index_text(heading), "text": text}
            continue
        name = str(heading["id"])
        at: IndexEntry = {"location": f"{url}#{name}", "title": index_text(heading)}
        at["text"] = section.text
        if name in own:
            at["aliases"] = own[name]
        if names := _names(heading, name):
            at["names"] = names
        found.append(at)
    return found


def _names(heading: Tag, anchor: str) -> list[str]:
    """Other names of a section: a term in each language, code by its full name."""
    if heading.name != "dt":
        return [anchor] if "." in anchor else []
    pieces = []
    for node in heading.descendants:
        if isinstance(node, Shown):
            pieces.append(node.searched)
        elif type(node) is NavigableString:
            pieces.append(" ".join(node.split()))
    return [piece for piece in pieces if piece and "[" not in piece]  # a shape is none


def cards(found: Iterable[IndexEntry], pages: Mapping[str, str]) -> dict[str, Target]:
    """The sections, by page and anchor, as share cards have them."""
    made = {}
    for entry in found:
        url, mark, anchor = str(entry["location"]).partition("#")
        if anchor and url in pages:
            text = str(entry["text"])
            about = text[:LONGEST_CARD] + "…" * (len(text) > LONGEST_CARD)
            made[pages[url] + mark + anchor] = Target(url, str(entry["title"]), about)
    return made


def dump_index(found: Iterable[IndexEntry], lang: str) -> str:
    """The index as a file, with what is said of a query for which no page is found."""
    return _dump({"docs": list(found), "uncovered": words(lang)["uncovered"]})


def dump_first(found: Iterable[IndexEntry]) -> str:
    """The index that comes first: of each page its title, verdict and other wordings.

    A slow phone has it a second or two before the whole.
    """
    entries = list(found)
    verdicts = {
        url: entry["text"]
        for entry in entries
        for url, _, anchor in [str(entry["location"]).partition("#")]
        if anchor == "answer"
    }
    shown = [entry for entry in entries if _comes_first(entry)]
    texts = [str(verdicts.get(str(e["location"]), e["text"])) for e in shown]
    return _dump(
        {
            "docs": [
                entry | {"text": text[:LONGEST_VERDICT]}
                for entry, text in zip(shown, texts, strict=True)
            ]
        }
    )


def _comes_first(entry: IndexEntry) -> bool:
    return "#" not in str(entry["location"]) or "aliases" in entry


def _dump(index: object) -> str:
    """JSON in which Chinese is not escaped, which would double its size."""
    return json.dumps(index, ensure_ascii=False, separators=(",", ":"))
