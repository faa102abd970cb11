"""llms.txt, a list of the pages for machines, and llms-full.txt, all of their text.

The first has the form of llmstxt.org: a title, a summary, sections of links, and one
called Optional. Links are relative to the file unless the site has an address.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from site_tools.page import tree
from site_tools.page.blocks import Block
from site_tools.page.front_matter import read_front_matter
from site_tools.page.page import read_page
from site_tools.running import evidence
from site_tools.running.evidence import Evidence
from site_tools.running.hashes import block_hashes
from site_tools.site import navigation, reference, ways
from site_tools.site.markdown import as_markdown
from site_tools.site.status import FULL, LIST
from site_tools.site.templates import LINK, words

INDEX = "index"
OPTIONAL = "Optional"  # in every language: the form gives this name a meaning
# A block that is no paragraph of text.
MARKUP = re.compile(r"#|- |> |\||`{3}|\$\$|1\. |[!?]{3}|===")


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

    def link(self, path: str) -> str:
        """A link to what lies below the root of the language."""
        home = self.root and self.root + ways.SITES[self.lang].folder
        return f"{home}{path}" or "./"


class PlainPage(NamedTuple):
    """A page that a machine reads.

    Args:
        labels: Those above it in the navigation.
        title: Its title.
        page: Its id.
        short: Its answer, or what it says first; without links.
        aliases: Other wordings of its question.
        verified: With what its code was run; "" if it has none.
        is_verified: Whether all of its code has passed as it stands.
        text: All of it; "" for what is made from the package.
        is_question: Whether it answers one.
    """

    labels: tuple[str, ...]
    title: str
    page: str
    short: str
    aliases: tuple[str, ...]
    verified: str
    is_verified: bool
    text: str
    is_question: bool

    @property
    def address(self) -> str:
        """Its address below the root of its language."""
        return address(self.page)


def address(page: str) -> str:
    """The address of a page below the root of its language, by its id.

    Example:
        >>> address("gae/inputs"), address("gae/index"), address("index")
        ('gae/inputs/', 'gae/', '')
    """
    folder, name = posixpath.split(page)
    path = folder if name == INDEX else page
    return f"{path}/" if path else ""


def resolve(link: str, page: str, site: Site) -> str:
    """Where a link of a page leads from a file at the root of its language."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    file = posixpath.join(posixpath.dirname(page), parts.path)
    path = address(posixpath.normpath(file).removesuffix(".md") if parts.path else page)
    return site.link(path) + (f"#{parts.fragment}" if parts.fragment else "")


def read(root: Path, site: Site) -> list[PlainPage]:
    """The pages of a language, in the order of the navigation.

    Raises:
        ValueError: naming the page that cannot be read.
    """
    lang = site.lang
    made = reference.pages(reference.read(root / reference.FOLDER), lang)
    metas = tree.front_matters(root / "docs" / lang)
    metas |= {path: read_front_matter(text, path)[0] for path, text in made.items()}
    known = {path for code in ways.SITES for path in tree.paths(root / "docs" / code)}
    manifests, _ = evidence.gather(root)
    pages = []
    for labels, file in _flat(navigation.build(metas, lang, known), ()):
        text, blocks, name = "", list[Block](), file.removesuffix(".md")
        if file not in made:
            page = read_page(root, f"docs/{lang}/{file}")
            text = as_markdown(page, root, partial(resolve, page=name, site=site))
            blocks = [*page.blocks]
        told = verified(manifests, f"docs/{lang}/{file}", blocks, lang)
        pages.append(_page(labels, name, metas[file], told, text))
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


def _page(
    labels: tuple[str, ...],
    page: str,
    meta: Mapping[str, Any],
    told: tuple[str, bool],
    text: str,
) -> PlainPage:
    paragraphs = (block for block in text.split("\n\n") if not MARKUP.match(block))
    short = meta.get("description") or " ".join(next(paragraphs, "").split())
    title = str(meta.get("question") or meta.get("title", ""))
    aliases = tuple(map(str, meta.get("aliases") or ()))
    short = LINK.sub(r"\1", short)
    is_question = "question" in meta
    return PlainPage(labels, title, page, short, aliases, *told, text, is_question)


def verified(
    known: Evidence, page: str, blocks: Sequence[Block], lang: str
) -> tuple[str, bool]:
    """With what the code of a page was run, and whether all of it passed as it is."""
    w, hashes = words(lang)["llms"], [*block_hashes(blocks).values()]
    passed = sum(known.on_cpu(page, block) is not None for block in hashes)
    if passed < len(hashes):
        return w["open"].format(count=len(hashes), passed=passed), False
    if not hashes:
        return "", True
    runs = [known.on_gpu(page, block) for block in hashes]
    on_gpu = [run for run, holds in filter(None, runs) if holds]
    gpu = w["on_gpu"].format(**on_gpu[0].by) if len(on_gpu) == len(hashes) else ""
    here = {"torch": known.setting.torch, "python": known.setting.python}
    # The hash of the last block covers all above it (running.hashes).
    told = w["passed"].format(count=len(hashes), gpu=gpu, hash=hashes[-1], **here)
    return told, True


def listed(site: Site, pages: Sequence[PlainPage]) -> str:
    """llms.txt: question pages by topic, the others by tab, then what is optional."""
    sections: dict[str, list[str]] = {}
    for page in pages:
        if page.page != INDEX:
            title = page.title.replace("[", r"\[").replace("]", r"\]")
            says = words(site.lang)["colon"] + page.short if page.short else ""
            item = f"- [{title}]({site.link(page.address)}){says}"
            sections.setdefault(_section(page, site.lang), []).append(item)
    sections[OPTIONAL] = sections.pop(OPTIONAL, [])
    there = ways.other(site.lang)
    other = ways.link(site.lang, "", there, LIST)
    if site.root:
        other = site._replace(lang=there).link(LIST)
    more = words(site.lang)["llms"]["full"].format(full=site.link(FULL), other=other)
    parts = [*_preface(site, pages), more]
    for label, items in sections.items():
        parts += [f"## {label}", "\n".join(items)] if items else []
    return "\n\n".join(parts) + "\n"


def _section(page: PlainPage, lang: str) -> str:
    """The topic or the tab; what follows from the others, or is beside them, last."""
    folder, _, name = page.page.rpartition("/")
    follows = name == INDEX or f"{folder}/".startswith(f"{reference.FOLDER}/")
    if follows or page.labels[0] == words(lang)["labels"]["about"]:
        return OPTIONAL
    return page.labels[-1]


def full(site: Site, pages: Sequence[PlainPage]) -> str:
    """llms-full.txt: every page that is written, each under its title."""
    head = "\n\n".join(_preface(site, pages))
    texts = [_whole(site, page) for page in pages if page.text]
    return "\n\n---\n\n".join([head, *texts]) + "\n"


def _preface(site: Site, pages: Sequence[PlainPage]) -> Iterator[str]:
    w = words(site.lang)["llms"]
    yield f"# {site.name}"
    summary = next((page.short for page in pages if page.page == INDEX), "")
    if summary:
        yield f"> {summary}"
    yield w["about"].format(copyright=site.copyright)
    is_verified = all(page.is_verified for page in pages)
    checked = w["checked" if is_verified else "draft"]
    yield checked.format(verification=site.link("about/verification/"))
    if site.wheel:
        yield w["package"].format(wheel=site.link(site.wheel))


def _whole(site: Site, page: PlainPage) -> str:
    w, colon = words(site.lang)["llms"], words(site.lang)["colon"]
    facts = [
        (w["address"], site.link(page.address)),
        (w["language"], ways.SITES[site.lang].name),
        (w["answer"], page.short if page.is_question else ""),
        (w["also"], w["between"].join(page.aliases)),
        (w["verified"], page.verified),
    ]
    lines = [f"- {label}{colon}{text}" for label, text in facts if text]
    return "\n\n".join([f"# {page.title}", "\n".join(lines), page.text])
