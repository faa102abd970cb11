"""The pages about/status, about/offline and about/benchmarks, from the project."""

import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import markdown
from markupsafe import Markup

from site_tools.data.facts import concepts, unread
from site_tools.page import accord
from site_tools.page.accord import Accord
from site_tools.page.blocks import LANGUAGES, Kind
from site_tools.page.fences import Fence, scan
from site_tools.page.files import read_front_matter
from site_tools.page.prose import body, parts
from site_tools.say import Refusal
from site_tools.site import ways
from site_tools.site.templates import fill, words

# Where the fences may stand: their links lead from there.
STATUS, OFFLINE = "about/status/", "about/offline/"
ZIP, LIST, FULL = "offline.zip", "llms.txt", "llms-full.txt"
PARTS = ("wanted", "counts", "pages", "facts", "downloads")
COUNTED = ("pages", "blocks", "figures", "formulas")
PLACE = re.compile(r'<span data-download="([^"]+)">([^<]+)</span>')
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def status(part: str, lang: str, root: Path) -> str:
    """One part of the status page: what waits, how much there is, or what to take."""
    if part in ("wanted", "pages"):
        states = accord.waiting(root) if part == "wanted" else accord.read_all(root)
        items = [_item(s, lang, root, part == "wanted") for s in states]
        html = fill("status.pages", lang, items)
    elif part == "counts":
        counts = [count(_texts(root, code)) for code in ways.SITES]
        rows = zip(COUNTED, zip(*counts, strict=True), strict=True)
        html = fill("status.counts", lang, [s.name for s in ways.SITES.values()], rows)
    elif part == "facts":
        facts = concepts(root)
        places, every = unread(facts), sum(len(c.entries) for c in facts)
        open_ = sum(len(lines) for lines in places.values())
        html = fill("status.facts", lang, every, open_, places)
    elif part == "downloads":
        owners = {ZIP: "zh", LIST: lang, FULL: lang}  # one zip for both, at the root
        links = {n: ways.link(lang, OFFLINE, owner, n) for n, owner in owners.items()}
        html = fill("status.downloads", lang, links)
    else:
        known = ", ".join(PARTS)
        raise Refusal("list_unknown", name="status", known=known, argument=part)
    return f'<div class="status" data-search-exclude="1">\n{html}\n</div>'


def _item(state: Accord, lang: str, root: Path, with_remedy: bool) -> dict[str, Any]:
    """A page in this language, or in the only one that it has."""
    page, there = state.page, lang
    if not (root / "docs" / lang / f"{page}.md").is_file():
        there = ways.other(lang)
    text = (root / "docs" / there / f"{page}.md").read_text("utf-8", errors="replace")
    meta, _ = read_front_matter(text, page)
    remedy = words(lang)["remedies"].get(state.state.name, "") if with_remedy else ""
    return {
        "href": ways.link(lang, STATUS, there, ways.address(page)),
        "lang": there,
        "title": str(meta.get("question") or meta.get("title") or page),
        "state": state.state.name,
        "remedy": Markup(remedy).format(page=page),
    }


def _texts(root: Path, lang: str) -> list[str]:
    files = [root / "docs" / lang / f"{page}.md" for page in accord.page_ids(root)]
    return [f.read_text("utf-8", errors="replace") for f in files if f.is_file()]


def count(texts: list[str]) -> tuple[int, ...]:
    """How many pages, blocks that run, bound figures, displayed formulas."""
    pages = [_of_page(text) for text in texts]
    return len(texts), *(sum(page[i] for page in pages) for i in range(3))


@lru_cache(maxsize=1024)
def _of_page(text: str) -> tuple[int, int, int]:
    fences, _ = scan(text, "")
    found = parts(body(text, fences))
    figures = sum("data-is" in (part.attributes or "") for part in found)
    formulas = sum(part.kind == "display" for part in found)
    return sum(map(_runs, fences)), figures, formulas


def _runs(fence: Fence) -> bool:
    try:
        language, attributes = fence.header
    except ValueError:
        return False
    running = LANGUAGES.get(language) is Kind.RUN
    return running and "norun" not in attributes.classes


def link_downloads(html: str, page: str, sizes: Mapping[str, int]) -> str:
    """Link what has been made, with its size.

    The zip holds that page, so the page in it cannot say how large the zip is; nor need
    it, where the zip has been unpacked.
    """

    def link(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[1]))
        if path not in sizes:
            return match[0]
        count = sizes[path]
        size = f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
        return f'<a href="{match[1]}">{match[2]}</a> ({size})'

    return PLACE.sub(link, html)


def benchmarks(view: str, lang: str, root: Path) -> str:
    """One section of what ``make bench`` wrote, or ``cuda``: all made on a GPU."""
    device = "cuda" if view == "cuda" else "cpu"
    file = root / "docs" / "verified" / f"benchmarks.{device}.{lang}.md"
    text = str(words(lang)["not_measured"])
    if file.exists():
        sections = dict(SECTION.findall(file.read_text("utf-8")))
        known = sorted([*sections, "cuda"])
        if view not in known:
            values = {"known": ", ".join(known), "argument": view}
            raise Refusal("list_unknown", name="benchmarks", **values)
        text = sections.get(view) or "\n".join(sections.values())
    made = markdown.markdown(text, extensions=["tables"])
    html = made.replace('src="', 'src="../')  # from the address of the page
    return f'<div class="status benchmarks" data-search-exclude="1">\n{html}\n</div>'
