"""What is wrong with a page whose text was changed, by the run that it had before."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from site_tools.checks.links import Link, anchors, broken, links
from site_tools.html.rendering import render
from site_tools.mutants.changes import in_figure
from site_tools.mutants.sites import Site
from site_tools.problems import Problem
from site_tools.running.execution import Run
from site_tools.running.judgement import check_run, check_written
from site_tools.running.verification import Verified
from site_tools.source.figures import check_figures
from site_tools.source.page import Page, read_page
from site_tools.source.picture_figures import read_picture
from site_tools.source.tree import paths

ROOT = Path(__file__).resolve().parents[2]


def page_ids() -> list[str]:
    return sorted(path.removesuffix(".md") for path in paths(ROOT / "docs" / "zh"))


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
