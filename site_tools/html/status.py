"""The page about/status: what needs a hand, and what there is."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.accord import Accord, State
from site_tools.data.counts import all_facts, count
from site_tools.html import mutant_table, twins
from site_tools.html.status_words import (
    ALL_FACTS,
    FACTS,
    NOTHING,
    REMEDIES,
    ROWS,
    STATES,
)
from site_tools.source.front_matter import read_front_matter

# Where the fence may stand: its links lead from there.
ADDRESS = "about/status/"


def render(part: str, lang: str, root: Path) -> str:
    """One part of the status page.

    Args:
        part: ``wanted``, ``counts``, ``pages``, ``facts`` or ``mutants``.
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
    waiting = [s for s in _states(root) if s.state is not State.ACCORD]
    yield from _list(_item(s, lang, root, remedy=True) for s in waiting)
    if not waiting:
        yield f"<p>{NOTHING[lang]}</p>"


def _pages(lang: str, root: Path) -> Iterator[str]:
    yield from _list(_item(s, lang, root) for s in _states(root))


def _counts(lang: str, root: Path) -> Iterator[str]:
    found = {code: count(_texts(root, code)) for code in twins.SITES}
    head = "".join(f'<th scope="col">{s.name}</th>' for s in twins.SITES.values())
    yield f'<table class="counts"><thead><tr><td></td>{head}</tr></thead><tbody>'
    for field, name in ROWS[lang].items():
        cells = "".join(f"<td>{getattr(c, field)}</td>" for c in found.values())
        yield f'<tr><th scope="row">{name}</th>{cells}</tr>'
    yield "</tbody></table>"


def _facts(lang: str, root: Path) -> Iterator[str]:
    entries, items = all_facts(root), list[str]()
    unchecked = [(name, entry) for name, entry in entries if not entry.checked]
    words = FACTS if unchecked else ALL_FACTS
    yield f"<p>{words[lang].format(all=len(entries), open=len(unchecked))}</p>"
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, entry in unchecked:
        lines[name, f"{entry.release} · {entry.path}"].append(entry.lines)
    for (name, file), at in lines.items():
        place = escape(f"{file}:{', '.join(at)}")
        items.append(f'{escape(name)} <span class="detail">{place}</span>')
    yield from _list(items)


PARTS = {
    "wanted": _wanted,
    "counts": _counts,
    "pages": _pages,
    "facts": _facts,
    "mutants": mutant_table.render,
}


def _list(items: Iterable[str]) -> Iterator[str]:
    lines = [f"<li>{item}</li>" for item in items]
    if lines:
        yield "<ul>" + "\n".join(lines) + "</ul>"


def _states(root: Path) -> list[Accord]:
    return [accord.read(root, page) for page in accord.page_ids(root)]


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
