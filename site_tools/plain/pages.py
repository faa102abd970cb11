"""All pages of a language as Markdown, in reading order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from site_tools.page import tree
from site_tools.page.blocks import Block
from site_tools.page.front_matter import read_front_matter
from site_tools.page.rendering import render
from site_tools.plain.addresses import address, resolver
from site_tools.plain.markdown import Converter
from site_tools.plain.stubs import stub
from site_tools.plain.verified import Code
from site_tools.running import evidence
from site_tools.site import navigation, reference, ways
from site_tools.site.lists import fill_lists
from site_tools.site.templates import LINK

Metas = Mapping[str, Mapping[str, Any]]
# A block that is no paragraph of text.
MARKUP = re.compile(r"#|- |> |\||```|\$\$|1\. ")


class Place(NamedTuple):
    """A page in the navigation: the labels above it, its title and its id."""

    labels: tuple[str, ...]
    title: str
    page: str


class PlainPage(NamedTuple):
    """A page that a machine reads.

    Args:
        place: Where it stands.
        short: Its answer, or what it says first; without links.
        aliases: Other wordings of its question.
        verified: With what its code was run; "" if it has none.
        is_verified: Whether all of its code has passed as it stands.
        text: All of it.
        is_question: Whether it answers one.
    """

    place: Place
    short: str
    aliases: tuple[str, ...]
    verified: str
    is_verified: bool
    text: str
    is_question: bool

    @property
    def address(self) -> str:
        """Its address below the root of its language."""
        return address(self.place.page)


def read(root: Path, lang: str, home: str) -> list[PlainPage]:
    """The pages of a language.

    Args:
        root: The project's folder.
        lang: The language.
        home: The address of its site, "" where it has none.

    Raises:
        ValueError: naming the page that cannot be read.
    """
    sources = reference.read(root / reference.FOLDER)
    made = reference.pages(sources, lang)
    metas = tree.front_matters(root / "docs" / lang)
    metas |= {path: read_front_matter(text, path)[0] for path, text in made.items()}
    modules = dict(zip(made, sources.values(), strict=True))
    known, _ = evidence.gather(root)
    found = []
    for place in places(metas, lang, _known(root)):
        file = f"{place.page}.md"
        if file in modules:
            text, blocks = f"```python\n{stub(modules[file])}\n```", list[Block]()
        else:
            source = (root / "docs" / lang / file).read_text("utf-8")
            blocks, _ = evidence.blocks_of(root, f"docs/{lang}/{file}", source)
            converter = Converter(lang, resolver(place.page, home))
            text = converter.convert(fill_lists(render(source, root), root))
        code = Code(known, f"docs/{lang}/{file}", blocks)
        found.append(_page(place, metas[file], text, code.told(lang), code.is_verified))
    return found


def places(metas: Metas, lang: str, known: set[str]) -> list[Place]:
    """Every page as the navigation orders them.

    Args:
        metas: Front matter by path.
        lang: The language.
        known: Paths of the pages of every language.

    Example:
        >>> places({"gae/why.md": {"question": "Why?"}}, "en", {"gae/why.md"})
        [Place(labels=('Questions', 'GAE intuition'), title='Why?', page='gae/why')]
    """
    return list(_flat(navigation.build(metas, lang, known), (), metas))


def _flat(
    items: Sequence[Any], labels: tuple[str, ...], metas: Metas
) -> Iterator[Place]:
    for item in items:
        pairs = item.items() if isinstance(item, dict) else [("", item)]
        title, inside = next(iter(pairs))
        if isinstance(inside, list):
            yield from _flat(inside, (*labels, title), metas)
        else:  # only the home page is without a label
            named = title or str(metas[inside].get("title", ""))
            yield Place(labels, named, inside.removesuffix(".md"))


def _page(
    place: Place, meta: Mapping[str, Any], text: str, told: str, is_verified: bool
) -> PlainPage:
    said = (block for block in text.split("\n\n") if not MARKUP.match(block))
    short = meta.get("description") or next(said, "")
    return PlainPage(
        place,
        LINK.sub(r"\1", short),
        tuple(map(str, meta.get("aliases") or ())),
        told,
        is_verified,
        text,
        "question" in meta,
    )


def _known(root: Path) -> set[str]:
    return {path for lang in ways.SITES for path in tree.paths(root / "docs" / lang)}
