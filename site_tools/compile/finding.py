"""What search engines and the site's own search are told of a page."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from site_tools.compile.templates import TAG, bare, spelled, words
from site_tools.compile.ways import Target
from site_tools.finish.formulas import Formula, as_text
from site_tools.source.files import split_aliases

ANSWER = '<section class="answer">'
# What stands beside the text of a page; a paragraph in it does not say what it is on.
BESIDE = re.compile(
    r"<(aside|blockquote|details|figure|nav|table|svg)\b.*?</\1>"
    r'|<div class="(?:admonition|reading)\b.*?</div>'
    r'|<p class="(?:languages|moved|from-code|download|install|cited)\b.*?</p>',
    re.DOTALL,
)
# Of a page without a paragraph, an item of its list.
SAID = [re.compile(rf"<{tag}\b[^>]*>(.*?)</{tag}>", re.DOTALL) for tag in ("p", "li")]
WIDE = re.compile(r"(?<=[，。；：！？]) ")  # which have their blank within

# A term of the glossary is a heading of its own kind.
HEADING = re.compile(r'<(h[1-6]|dt)\b[^>]*\bid="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)
# What only names other pages stands far behind them; what says more, not so far.
LISTS = {'class="derived"': 0.2, 'class="derived own"': 0.4}
PICTURE = re.compile(r"<svg\b.*?<title\b[^>]*>(.*?)</title>.*?</svg>", re.DOTALL)
UNREAD = re.compile(
    r'<(style|script)\b.*?</\1>|<a\b[^>]*\bclass="headerlink".*?</a>'
    r"|<(\w+)\b[^>]*\bdata-search-exclude\b[^>]*>.*?</\2>",
    re.DOTALL,
)
BLOCK = re.compile(
    r"</?(?:p|li|ul|ol|pre|div|section|details|summary|label|d[ldt]|t[rdh])\b[^>]*>"
)
LONGEST_CARD = 200  # characters that a share card has room for
LONGEST_VERDICT = 100  # characters; a result shows a line or two

Entry = dict[str, str | float | list[str]]


def description(html: str) -> str:
    """The first paragraph of the answer, or of the page, without any markup."""
    text = BESIDE.sub("", html[max(html.find(ANSWER), 0) :])
    found = (as_text(p[1], _spelled) for part in SAID for p in part.finditer(text))
    paragraphs = (" ".join(bare(p).split()) for p in found)
    return WIDE.sub("", next(filter(None, paragraphs), ""))


def _spelled(formula: Formula) -> str:
    return escape(spelled(formula.tex), quote=False)


def entries(
    html: str, url: str, title: str, aliases: Sequence[str], boost: float = 1
) -> list[Entry]:
    """What the search knows: one entry for a page and one for each of its sections.

    A boost below 1 lets what is found here stand behind others.
    """
    own = split_aliases(aliases)
    read = UNREAD.sub("", PICTURE.sub(r"<p>\1</p>", html))
    lead, *sections = HEADING.split(read)
    page: Entry = {"location": url, "title": plain(title), "text": plain(lead)}
    if own[""]:
        page["aliases"] = own[""]
    boost = min([boost, *(behind for made, behind in LISTS.items() if made in html)])
    if boost != 1:
        page["boost"] = boost
    found = [page]
    for level, name, heading, body in zip(*[iter(sections)] * 4, strict=True):
        if level == "h1":
            page |= {"title": plain(heading), "text": plain(lead + body)}
            continue
        at: Entry = {"location": f"{url}#{name}", "title": plain(heading)}
        at["text"] = plain(body)
        if name in own:
            at["aliases"] = own[name]
        if names := _names(level, name, heading):
            at["names"] = names
        found.append(at)
    return found


def _names(level: str, anchor: str, heading: str) -> list[str]:
    """What else a section is called: a term in each language, code by its full name."""
    if level == "dt":  # a shape [batch, time] is no name
        pieces = (plain(piece) for piece in TAG.split(heading))
        return [piece for piece in pieces if piece and "[" not in piece]
    return [anchor] if "." in anchor else []


def cards(found: Iterable[Entry], pages: Mapping[str, str]) -> dict[str, Target]:
    """The sections, by page and anchor, as share cards have them."""
    made = {}
    for entry in found:
        url, mark, anchor = str(entry["location"]).partition("#")
        if anchor and url in pages:
            text = str(entry["text"])
            about = text[:LONGEST_CARD] + "…" * (len(text) > LONGEST_CARD)
            made[pages[url] + mark + anchor] = Target(url, str(entry["title"]), about)
    return made


def dump(found: Iterable[Entry], lang: str) -> str:
    """The index as a file, with what is said of a query for which no page is found."""
    return _dump({"docs": list(found), "uncovered": words(lang)["uncovered"]})


def dump_first(found: Iterable[Entry]) -> str:
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


def _comes_first(entry: Entry) -> bool:
    return "#" not in str(entry["location"]) or "aliases" in entry


def _dump(index: object) -> str:
    """JSON in which Chinese is not escaped, which would double its size."""
    return json.dumps(index, ensure_ascii=False, separators=(",", ":"))


def plain(html: str) -> str:
    return " ".join(bare(BLOCK.sub(" ", html)).split())
