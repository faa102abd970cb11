"""Changes what pages say, the same in both languages, and asks the checks.

A page runs once. Its changed text is judged against that run by the judgement that
every page has to pass, but for two parts of it: the comparison of the languages, which
agree as before, and the note of who compared them last. Links are judged as well.
"""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from site_tools.checks.links import Link, anchors, broken, links
from site_tools.html.rendering import render
from site_tools.mutants import sites
from site_tools.mutants.changes import in_figure
from site_tools.mutants.sites import Site
from site_tools.problems import Problem
from site_tools.running import verification
from site_tools.running.execution import Run
from site_tools.running.judgement import check_run, check_written
from site_tools.running.verification import Verified
from site_tools.source.figures import check_figures
from site_tools.source.page import LANGUAGES, Page, read_page
from site_tools.source.picture_figures import read_picture
from site_tools.source.tree import paths

ROOT = Path(__file__).resolve().parents[2]
PICTURES = "figures in pictures"
# How many of each kind are tried on a page.
PER_PAGE = {
    sites.FIGURES: 6,
    PICTURES: 8,
    sites.DISPLAYED: 6,
    sites.INLINE: 6,
    sites.OUTPUTS: 6,
    sites.IDS: 3,
    sites.LINKS: 3,
    sites.OUTWARD: 1,
}
LINKED = (sites.IDS, sites.LINKS, sites.OUTWARD)
AT_ONCE = 2


class Tried(NamedTuple):
    """A mutant of a page, and whether anything was wrong with it."""

    page: str
    kind: str
    text: str
    told: str
    killed: bool


class Judged(NamedTuple):
    """The mutants of a page that were tried, and how many there are of each kind."""

    page: str
    tried: list[Tried]
    total: dict[str, int]


def page_ids() -> list[str]:
    return sorted(path.removesuffix(".md") for path in paths(ROOT / "docs" / "zh"))


def judge_all(
    pages: Sequence[str], per_page: dict[str, int] = PER_PAGE
) -> Iterator[Judged]:
    """The mutants of each page, some pages at once, in the order they come."""
    context = get_context("spawn")
    with ProcessPoolExecutor(AT_ONCE, mp_context=context) as pool:
        yield from pool.map(judge_page, pages, [per_page] * len(pages))


def judge_page(page_id: str, per_page: dict[str, int]) -> Judged:
    """Try some mutants of a page, the same ones whenever it says the same.

    Raises:
        ValueError: if something is wrong with the page as it is.
    """
    twins = [read_page(ROOT, f"docs/{at}/{page_id}.md") for at in LANGUAGES]
    runs = [verification.run(page).run for page in twins]
    for page, run in zip(twins, runs, strict=True):
        if wrong := judgement(page, run, linked=True):
            raise ValueError(f"without a mutant: {wrong[0]}")
    pairs = paired(twins)
    kinds = {kind: [key for key in pairs if key[0] == kind] for kind in per_page}
    tried = []
    for kind, keys in kinds.items():
        for key in chosen(keys, per_page[kind]):
            killed = noticed(twins, runs, pairs[key])
            told = pairs[key][0].told
            tried.append(Tried(page_id, kind, key[2], told, killed))
    drawn = [*pictured(twins[0], runs[0])]
    tried += [t for t, _ in chosen(drawn, per_page.get(PICTURES, 0))]
    total = {kind: len(keys) for kind, keys in kinds.items()}
    return Judged(page_id, tried, {**total, PICTURES: len(drawn)})


def paired(twins: Sequence[Page]) -> dict[tuple, tuple[Site, Site]]:
    """The changes that can be made in both languages, by what is equal in both."""
    zh, en = ({site.key: site for site in sites.sites(page)} for page in twins)
    return {key: (zh[key], en[key]) for key in zh if key in en}


def chosen(keys: Sequence, most: int) -> list:
    """Some of them, spread evenly; an edit elsewhere on the page changes nothing."""

    def drawn(key) -> str:
        return hashlib.sha256(repr(key).encode()).hexdigest()

    return sorted(keys, key=drawn)[:most]


def noticed(twins: Sequence[Page], runs: Sequence[Run], pair: Sequence[Site]) -> bool:
    """Whether anything is wrong with either language after the change in both."""
    for page, run, site in zip(twins, runs, pair, strict=True):
        linked = site.kind in LINKED
        if judgement(changed(page, site), run, linked):
            return True
    return False


def changed(page: Page, site: Site) -> Page:
    return read_page(ROOT, page.path, site.change.applied(page.text))


def judgement(page: Page, run: Run, linked: bool = False) -> list[Problem]:
    """What is wrong with a page, by the run that it had before it was changed.

    Its links are judged where they, or ids, may have changed.
    """
    if page.problems:
        return [*page.problems]
    try:
        ran = check_run(Verified(page, run))
    except ValueError:  # another number of blocks or figures
        return [Problem(page.path, 1, "a page that did not run", "it", "run it")]
    found = ran or check_written(page, ROOT)
    return found or (check_links(page) if linked else [])


def check_links(page: Page) -> list[Problem]:
    """Links from a page, and links to it, that lead nowhere."""
    found, known = of_language(page.language)
    name = f"{page.id}.md"
    others = [
        link
        for path, all_of in found.items()
        for link in all_of
        if path != page.path and link.page == name
    ]
    own = anchors(page, render(page.text, ROOT))
    return [*broken([*links(page), *others], {**known, name: own})]


@cache
def of_language(lang: str) -> tuple[dict[str, list[Link]], dict[str, frozenset[str]]]:
    """All links of a language by page, and all anchors."""
    pages = [read_page(ROOT, f"docs/{lang}/{page}.md") for page in page_ids()]
    found = {page.path: [*links(page)] for page in pages}
    rendered = {f"{p.id}.md": anchors(p, render(p.text, ROOT)) for p in pages}
    return found, rendered


def pictured(page: Page, run: Run) -> Iterator[tuple[Tried, int]]:
    """Every change of a figure in a picture of a page; all languages share it."""
    at = len(page.figures)
    for path, figures in page.pictures.items():
        svg = (ROOT / path).read_text("utf-8")
        values = run.values[at : at + len(figures)]
        at += len(figures)
        for number, figure in enumerate(figures):
            start = svg.index(figure.shown, svg.index(">", figure.start))
            for change in in_figure(figure.shown):
                new = change.applied(figure.shown)
                lie = svg[:start] + new + svg[start + len(figure.shown) :]
                now, problems = read_picture(lie, path)
                killed = bool(
                    problems
                    or len(now) != len(values)
                    or check_figures(now, values, path)
                )
                told = f"{figure.shown} → {new}"
                tried = Tried(page.id, PICTURES, figure.shown, told, killed)
                yield tried, number
