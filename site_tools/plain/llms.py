"""llms.txt, a list of the pages for machines, and llms-full.txt, all of their text.

The first has the form of llmstxt.org: a title, a summary, sections of links, and one
called Optional. Links are relative to the file unless the site has an address.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from site_tools.plain import words
from site_tools.plain.addresses import INDEX, absolute
from site_tools.plain.pages import PlainPage
from site_tools.site import reference, ways
from site_tools.site.status import FULL, LIST
from site_tools.site.templates import words as labels

OPTIONAL = "Optional"  # in every language: the form gives this name a meaning
VERIFICATION = "about/verification/"
RULE = "\n\n---\n\n"


class Site(NamedTuple):
    """The site of one language.

    Args:
        lang: The language.
        name: What it is called.
        copyright: Under which licences it is.
        root: The address of both languages, "" where they have none.
        wheel: The file of ``ppo_ref``'s wheel, "" where the site has none.
    """

    lang: str
    name: str
    copyright: str
    root: str
    wheel: str

    @property
    def home(self) -> str:
        """The address of the language, "" where it has none."""
        return self.root and self.root + ways.SITES[self.lang].folder

    def link(self, path: str) -> str:
        """A link to what lies below the root of the language."""
        return absolute(path, self.home)

    def twin(self, path: str) -> str:
        """A link to the same path in the other language."""
        other = ways.other(self.lang)
        if self.root:
            return self.root + ways.SITES[other].folder + path
        return ways.link(self.lang, "", other, path)


def listed(site: Site, pages: Sequence[PlainPage]) -> str:
    """llms.txt: question pages by topic, the others by tab, then what is optional."""
    sections: dict[str, list[str]] = {}
    for page in pages:
        if page.place.page != INDEX:
            items = sections.setdefault(_section(page, site.lang), [])
            items.append(_item(site, page))
    sections[OPTIONAL] = sections.pop(OPTIONAL, [])
    all_pages, other = site.link(FULL), site.twin(LIST)
    ways = words.FULL[site.lang].format(full=all_pages, other=other)
    parts = [*_preface(site, pages), ways]
    for label, items in sections.items():
        parts += [f"## {label}", "\n".join(items)] if items else []
    return "\n\n".join(parts) + "\n"


def full(site: Site, pages: Sequence[PlainPage]) -> str:
    """llms-full.txt: every page, each under its title."""
    head = "\n\n".join(_preface(site, pages))
    return RULE.join([head, *(_page(site, page) for page in pages)]) + "\n"


def _preface(site: Site, pages: Sequence[PlainPage]) -> Iterator[str]:
    yield f"# {site.name}"
    summary = next((page.short for page in pages if page.place.page == INDEX), "")
    if summary:
        yield f"> {summary}"
    yield words.ABOUT[site.lang].format(copyright=site.copyright)
    is_verified = all(page.is_verified for page in pages)
    checked = words.CHECKED if is_verified else words.DRAFT
    yield checked[site.lang].format(verification=site.link(VERIFICATION))
    if site.wheel:
        yield words.PACKAGE[site.lang].format(wheel=site.link(site.wheel))


def _section(page: PlainPage, lang: str) -> str:
    """The topic or the tab; what follows from the others, or is beside them, last."""
    place = page.place
    folder, _, name = place.page.rpartition("/")
    follows = name == INDEX or f"{folder}/".startswith(f"{reference.FOLDER}/")
    if follows or place.labels[0] == labels(lang)["labels"]["about"]:
        return OPTIONAL
    return place.labels[-1]


def _item(site: Site, page: PlainPage) -> str:
    title = page.place.title.replace("[", r"\[").replace("]", r"\]")
    says = words.COLON[site.lang] + page.short if page.short else ""
    return f"- [{title}]({site.link(page.address)}){says}"


def _page(site: Site, page: PlainPage) -> str:
    lang = site.lang
    facts = [
        (words.ADDRESS, site.link(page.address)),
        (words.LANGUAGE, ways.SITES[lang].name),
        (words.ANSWER, page.short if page.is_question else ""),
        (words.ALSO, words.BETWEEN[lang].join(page.aliases)),
        (words.VERIFIED, page.verified),
    ]
    filled = [(label[lang], text) for label, text in facts if text]
    lines = [f"- {label}{words.COLON[lang]}{text}" for label, text in filled]
    return "\n\n".join([f"# {page.place.title}", "\n".join(lines), page.text])
