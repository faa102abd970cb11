"""What is wrong with a page whose text was changed, by the run that it had before."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from site_tools.html.ids import ids
from site_tools.html.rendering import render
from site_tools.mutants.changes import in_figure
from site_tools.mutants.sites import Site
from site_tools.problems import Problem
from site_tools.running.judgement import check_run, check_written
from site_tools.running.model import Run
from site_tools.running.verification import Verified
from site_tools.source.figures import check_figures
from site_tools.source.page import Page, read_page
from site_tools.source.picture_figures import read_picture
from site_tools.source.prose import parts
from site_tools.source.tree import paths

ROOT = Path(__file__).resolve().parents[2]


def page_ids() -> list[str]:
    return sorted(path.removesuffix(".md") for path in paths(ROOT / "docs" / "zh"))


def changed(page: Page, site: Site) -> Page:
    return read_page(ROOT, page.path, site.change.applied(page.text))


def judgement(page: Page, run: Run, named: bool = False) -> list[Problem]:
    """What is wrong with a page, by the run that it had before it was changed.

    Where its ids may have changed, links of other pages to them are judged too.
    """
    if page.problems:
        return [*page.problems]
    try:
        ran = check_run(Verified(page, run))
    except ValueError:  # another number of blocks or figures
        return [Problem(page.path, 1, "a page that did not run", "it", "run it")]
    found = ran or check_written(page, ROOT)
    return found or (left_behind(page) if named else [])


def left_behind(page: Page) -> list[Problem]:
    """Ids that other pages link to, and that the page does not have."""
    own = ids(render(page.text, ROOT), page.texts("answers"), page.language)
    meant = pointed(page.language).get(f"{page.id}.md", set())
    found, fix = "a page without an id that others link to", "keep it"
    return [Problem(page.path, 1, found, name, fix) for name in meant - {*own}]


@cache
def pointed(lang: str) -> dict[str, set[str]]:
    """By page the ids that other pages of a language link to."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in paths(ROOT / "docs" / lang):
        page = read_page(ROOT, f"docs/{lang}/{path}")
        for part in parts(page.body):
            target, _, anchor = part.text.partition("#")
            if part.kind == "target" and target and anchor and ":" not in target:
                to = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
                found[to].add(anchor)
    return found


def pictured(page: Page, run: Run) -> Iterator[tuple[str, str, int, bool]]:
    """Every change of a figure in a picture, which both languages share.

    What stood there, what became of it, the number of the figure, who noticed.
    """
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
                yield figure.shown, f"{figure.shown} → {new}", number, killed
