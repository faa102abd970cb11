"""All pages for machines: llms.txt lists them, llms-full.txt has their text."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from site_tools.compile import links, navigation
from site_tools.compile.downloads import LLMS, SKILL
from site_tools.compile.navigation import title_of
from site_tools.compile.plain import Wishes, plain
from site_tools.compile.templates import LINK, fill, words
from site_tools.run.passed import read_passed
from site_tools.source import files

OPTIONAL = "Optional"  # in every language: the form gives this name a meaning
# A block that is no paragraph of text.
MARKUP = re.compile(r"#|- |> |\||`{3}|\$\$|1\. ")


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

    @property
    def skill(self) -> str:
        """The address of the skill for coding agents; it lies at the root."""
        root = next(iter(links.SITES))
        way = links.link(self.lang, "", root, SKILL)
        return self.root + SKILL if self.root else way


class PlainPage(NamedTuple):
    id: str  # as in gae/inputs
    labels: tuple[str, ...]  # those above it in the navigation
    title: str
    short: str  # its answer, or what it says first; without links
    text: str  # its links lead from the root of its language
    text_beside: str  # the same, but from the folder of the page itself
    is_question: bool = False
    aliases: tuple[str, ...] = ()
    is_verified: bool = True  # whether all of its code has passed as it stands
    cited: str = ""  # its short address, as q/17
    threads: tuple[str, ...] = ()  # those that it answers, as verl#3276

    @property
    def address(self) -> str:
        return links.address(self.id)


def led_on(target: str, page: str, site: LlmsSite, url: str = "") -> str:
    """Where a link of a page leads from a file of its language, by default at its root.

    Without an address of the site it leads there by a way from that file.
    """
    inside = links.within(target, page)
    if inside is None:
        return target
    if site.root or not url:
        return site.link(inside)
    return links.relative(f"/{inside}", url)


def plain_pages(root: Path, site: LlmsSite, folder: Path) -> list[PlainPage]:
    """The pages of a language, compiled into a folder, in the order of navigation."""
    lang, passed = site.lang, read_passed(root)
    metas, threads = (
        files.front_matters(root / "docs" / lang),
        navigation.answered(root, lang),
    )
    pages = []
    for labels, file in _flat(navigation.build(metas, lang, files.page_ids(root)), ()):
        name, meta, path = file.removesuffix(".md"), metas[file], f"docs/{lang}/{file}"
        compiled, lead = (folder / file).read_text("utf-8"), partial(led_on, site=site)
        text = plain(compiled, Wishes(lang, partial(lead, page=name)))
        beside = partial(lead, page=name, url=links.address(name))
        paragraphs = (each for each in text.split("\n\n") if not MARKUP.match(each))
        short = " ".join(next(paragraphs, "").split())
        pages.append(
            PlainPage(
                name,
                labels,
                title_of(meta),
                LINK.sub(r"\1", short),
                text,
                text if site.root else plain(compiled, Wishes(lang, beside)),
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
