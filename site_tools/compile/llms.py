"""Pages as plain Markdown for machines: what readers see, with nothing left to resolve.

llms.txt is a list of the pages, llms-full.txt all of their text.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from site_tools.compile import links, navigation
from site_tools.compile.downloads import LLMS
from site_tools.compile.lists import derived
from site_tools.compile.navigation import title_of
from site_tools.compile.templates import LINK, fill, words
from site_tools.messages import Refusal
from site_tools.page.page import Page, read_page
from site_tools.page.pictures import PICTURE_LINK
from site_tools.run.passed import read_passed
from site_tools.source import files
from site_tools.source.blocks import Block, Kind
from site_tools.source.fences import OPENING
from site_tools.source.files import FRONT_MATTER
from site_tools.source.inline import parts

END_OF_LINE = re.compile(r"</(?:p|tr|li|h\d|caption|div)>")
OPTIONAL = "Optional"  # in every language: the form gives this name a meaning
# A block that is no paragraph of text.
MARKUP = re.compile(r"#|- |> |\||`{3}|\$\$|1\. |[!?]{3}|===")
Resolve = Callable[[str], str]


def as_round(page: Page, root: Path) -> tuple[str, str]:
    """The question of a page, and the page as its answer, as in the log of a chat."""
    if not title_of(page.meta):
        raise Refusal("page_without_title", path=page.path)
    return title_of(page.meta), as_markdown(page, root)


def as_markdown(page: Page, root: Path, resolve: Resolve = str) -> str:
    """A page without its marks: a bound figure is what it shows, headings have no ids.

    A picture is its description, a block says how it runs, includes are resolved, and
    lists made from data are there as text.
    """
    if len(page.blocks) < len(page.fences):
        raise ValueError(page.problems[0])
    text = page.text
    for start, end, shown in sorted(_cuts(page, resolve), reverse=True):
        text = text[:start] + shown + text[end:]
    lines = text.split("\n")
    for block in reversed(page.blocks):
        first = block.fence.line - 1
        last = first + len(block.fence.lines) + 2
        lines[first:last] = _fence(block, lines[first], page.language, root)
    return FRONT_MATTER.sub("", "\n".join(lines)).strip("\n")


def _cuts(page: Page, resolve: Resolve) -> Iterator[tuple[int, int, str]]:
    """Changes of the prose, by offsets; lines stay where they are."""
    pictures = [*PICTURE_LINK.finditer(page.body)]
    for picture in pictures:
        shown = words(page.language)["llms"]["picture"].format(picture["alt"])
        yield picture.start(), picture.end(), shown
    for part in parts(page.body):
        if part.kind == "code" and "data-is" in (part.attributes or ""):
            yield part.start, part.end, part.text
        elif part.kind == "attributes":
            before = page.body[: part.start]
            yield len(before.rstrip(" ")), part.end, ""
        elif part.kind == "target" and not any(
            picture.start() < part.start < picture.end() for picture in pictures
        ):
            yield part.start, part.end, f"({resolve(part.text)})"


def _fence(block: Block, opening: str, page_lang: str, root: Path) -> list[str]:
    language = block.language
    code = [line.text for line in block.lines]
    if block.kind is Kind.DERIVED:
        lang = block.options.get("data-language", "")
        code = _text_of_html(derived(language, block.text, lang, root)).splitlines()
        language = "text"
    longest = max(map(len, re.findall("`{3,}", "\n".join(code))), default=2)
    mark = "`" * (longest + 1)
    match = OPENING.match(opening)
    prefix = match["prefix"] if match else ""
    w = words(page_lang)["llms"]
    notes = [w[kind] for kind in ("cont", "raises") if kind in block.classes]
    if block.reason:
        notes.append(w["not_run"].format(block.reason))
    above = [" ".join(notes), ""] if notes else []
    rows = [*above, f"{mark}{language}", *code, mark]
    return [f"{prefix}{row}".rstrip() for row in rows]


def _text_of_html(html: str) -> str:
    text = re.sub("<[^>]*>", " ", END_OF_LINE.sub("\n", html))
    rows = (" ".join(row.split()) for row in unescape(text).split("\n"))
    return "\n".join(filter(None, rows))


class LlmsSite(NamedTuple):
    """The site of a language."""

    lang: str
    name: str
    copyright: str
    root: str  # the address of both languages, or ""
    wheel: str  # the file name of ppo_ref's wheel, or ""

    @property
    def language(self) -> str:
        return links.SITES[self.lang].name

    def link(self, path: str) -> str:
        home = self.root and self.root + links.SITES[self.lang].folder
        return f"{home}{path}" or "./"


class PlainPage(NamedTuple):
    id: str  # as in gae/inputs
    labels: tuple[str, ...]  # those above it in the navigation
    title: str
    short: str  # its answer, or what it says first; without links
    text: str
    is_question: bool = False
    aliases: tuple[str, ...] = ()
    is_verified: bool = True  # whether all of its code has passed as it stands
    cited: str = ""  # its short address, as q/17
    threads: tuple[str, ...] = ()  # those that it answers, as verl#3276

    @property
    def address(self) -> str:
        return links.address(self.id)


def resolve(link: str, page: str, site: LlmsSite) -> str:
    """Where a link of a page leads from a file at the root of its language."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    file = posixpath.join(posixpath.dirname(page), parts.path)
    to = posixpath.normpath(file).removesuffix(".md") if parts.path else page
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    return site.link(links.address(to)) + anchor


def plain_pages(root: Path, site: LlmsSite) -> list[PlainPage]:
    """The pages of a language in the order of its navigation."""
    lang, passed = site.lang, read_passed(root)
    metas, threads = (
        files.front_matters(root / "docs" / lang),
        navigation.answered(root, lang),
    )
    pages = []
    for labels, file in _flat(navigation.build(metas, lang, files.page_ids(root)), ()):
        name, meta, path = file.removesuffix(".md"), metas[file], f"docs/{lang}/{file}"
        page = read_page(root, path)
        text = as_markdown(page, root, partial(resolve, page=name, site=site))
        paragraphs = (each for each in text.split("\n\n") if not MARKUP.match(each))
        short = " ".join(next(paragraphs, "").split())
        pages.append(
            PlainPage(
                name,
                labels,
                title_of(meta),
                LINK.sub(r"\1", short),
                text,
                "question" in meta,
                tuple(map(str, meta.get("aliases") or ())),
                passed.verdict_line(path) is not None,
                links.addresses(root).get(name, ""),
                tuple(each.thread.name for each in threads if each.page == name),
            )
        )
    return pages


def _flat(
    items: Sequence[Any], labels: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for item in items:
        ((title, inside),) = item.items() if isinstance(item, dict) else [("", item)]
        if isinstance(inside, list):
            yield from _flat(inside, (*labels, title))
        else:
            yield labels, inside


def listed(site: LlmsSite, pages: Sequence[PlainPage]) -> str:
    """llms.txt: question pages by topic, the others by tab, then what is optional."""
    sections: dict[str, list[PlainPage]] = {}
    for page in pages:
        if page.id != "index":
            sections.setdefault(_section(page, site.lang), []).append(page)
    sections[OPTIONAL] = sections.pop(OPTIONAL, [])
    there = links.other(site.lang)
    other = links.link(site.lang, "", there, LLMS)
    if site.root:
        other = site._replace(lang=there).link(LLMS)
    whole = all(page.is_verified for page in pages)
    return fill("llms.listed", site.lang, site, pages, whole, sections, other)


def _section(page: PlainPage, lang: str) -> str:
    """The topic or the tab; an index, and what the site says of itself, last."""
    about = page.labels[0] == words(lang)["labels"]["about"]
    return OPTIONAL if about or page.id.endswith("/index") else page.labels[-1]


def full(site: LlmsSite, pages: Sequence[PlainPage]) -> str:
    whole = all(page.is_verified for page in pages)
    return fill("llms.full", site.lang, site, pages, whole)
