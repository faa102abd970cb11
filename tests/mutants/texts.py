"""Changes what pages say, the same in both languages, and asks the checks.

A page runs once. Its changed text is judged against that run by the judgement that
every page has to pass, but for two parts of it: the comparison of the languages, which
agree as before, and the note of who compared them last. Links are judged as well.
"""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from site_tools.mutants import sites
from site_tools.mutants.sites import Site
from site_tools.running import verification
from site_tools.running.model import Run
from site_tools.source.page import LANGUAGES, Page, read_page
from tests.mutants.judging import ROOT, changed, judgement, pictured

PICTURES = "figures in pictures"
# How many of each kind are tried on a page.
PER_PAGE = {
    sites.FIGURES: 6,
    PICTURES: 8,
    sites.DISPLAYED: 6,
    sites.INLINE: 6,
    sites.SYMBOLS: 6,
    sites.OUTPUTS: 6,
    sites.IDS: 3,
    sites.LINKS: 3,
    sites.OUTWARD: 1,
}
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
        if wrong := judgement(page, run, named=True):
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
    tried += [
        Tried(page_id, PICTURES, shown, told, killed)
        for shown, told, _, killed in chosen(drawn, per_page.get(PICTURES, 0))
    ]
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
        if judgement(changed(page, site), run, site.kind == sites.IDS):
            return True
    return False
