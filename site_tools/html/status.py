"""The pages about/status and about/offline: what there is, and what needs a hand."""

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.accord import Accord
from site_tools.data.facts import concepts, unread
from site_tools.html import downloads, twins
from site_tools.html.status_words import (
    ALL_FACTS,
    FACTS,
    NOTHING,
    REMEDIES,
    ROWS,
    STATES,
)
from site_tools.page.front_matter import read_front_matter
from site_tools.site.counts import count

# Where the fence may stand: its links lead from there.
ADDRESS = "about/status/"


def render(part: str, lang: str, root: Path) -> str:
    """One part of the status page.

    Args:
        part: ``wanted``, ``counts``, ``pages``, ``facts`` or
            ``downloads``.
        lang: The language of the words.
        root: The project's folder.

    Raises:
        ValueError: for another part or language, or data that cannot be read.
    """
    if part not in PARTS:
        raise ValueError(f"status: must be one of {[*PARTS]}, got {part!r}")
    if lang not in twins.SITES:
        raise ValueError(f'status: must say data-language="zh" or "en", got {lang!r}')
    inside = "\n".join(PARTS[part](lang, root))
    return f'<div class="status" data-search-exclude="1">\n{inside}\n</div>'


def _wanted(lang: str, root: Path) -> Iterator[str]:
    waiting = accord.waiting(root)
    yield from _list(_item(s, lang, root, remedy=True) for s in waiting)
    if not waiting:
        yield f"<p>{NOTHING[lang]}</p>"


def _pages(lang: str, root: Path) -> Iterator[str]:
    yield from _list(_item(s, lang, root) for s in accord.read_all(root))


def _counts(lang: str, root: Path) -> Iterator[str]:
    found = {code: count(_texts(root, code)) for code in twins.SITES}
    head = "".join(f'<th scope="col">{s.name}</th>' for s in twins.SITES.values())
    yield f'<table class="counts"><thead><tr><td></td>{head}</tr></thead><tbody>'
    for field, name in ROWS[lang].items():
        cells = "".join(f"<td>{getattr(c, field)}</td>" for c in found.values())
        yield f'<tr><th scope="row">{name}</th>{cells}</tr>'
    yield "</tbody></table>"


def _facts(lang: str, root: Path) -> Iterator[str]:
    every = concepts(root)
    places = unread(every)
    words = FACTS if places else ALL_FACTS
    open_ = sum(len(lines) for lines in places.values())
    count_ = sum(len(concept.entries) for concept in every)
    yield f"<p>{words[lang].format(all=count_, open=open_)}</p>"
    yield from _list(
        f'{escape(name)} <span class="detail">{escape(place)}:{", ".join(lines)}</span>'
        for (name, place), lines in places.items()
    )


def _downloads(lang: str, root: Path) -> Iterator[str]:
    yield from _list(downloads.items(lang))


PARTS = {
    "wanted": _wanted,
    "counts": _counts,
    "pages": _pages,
    "facts": _facts,
    "downloads": _downloads,
}


def _list(items: Iterable[str]) -> Iterator[str]:
    lines = [f"<li>{item}</li>" for item in items]
    if lines:
        yield "<ul>" + "\n".join(lines) + "</ul>"


def _texts(root: Path, lang: str) -> list[str]:
    files = [root / "docs" / lang / f"{page}.md" for page in accord.page_ids(root)]
    return [f.read_text("utf-8", errors="replace") for f in files if f.is_file()]


def _item(state: Accord, lang: str, root: Path, remedy: bool = False) -> str:
    words = f'<span class="detail">{STATES[state.state][lang]}</span>'
    if remedy:
        words += f"<br>{REMEDIES[state.state][lang].format(page=escape(state.page))}"
    return f"{_link(state.page, lang, root)} {words}"


def _link(page: str, lang: str, root: Path) -> str:
    """To the page in this language, or in the only one that it has."""
    there = lang
    if not (root / "docs" / lang / f"{page}.md").is_file():
        there = twins.other(lang)
    text = (root / "docs" / there / f"{page}.md").read_text("utf-8", errors="replace")
    meta, _ = read_front_matter(text, page)
    title = escape(str(meta.get("question") or meta.get("title") or page))
    url = page.removesuffix("index") if f"/{page}".endswith("/index") else f"{page}/"
    href = twins.link(lang, ADDRESS, there, url)
    foreign = f' lang="{there}" hreflang="{there}"' if there != lang else ""
    return f'<a href="{href}"{foreign}>{title}</a>'
