"""The page as readers see it, against the page as the checks read it.

The figures of a page are found in its source, where they have a line. Markdown has
more ways to show a number than any scan of the source knows; whatever comes through
in the HTML is found here.
"""

import re

from site_tools import numbers
from site_tools.page.notebooks import plots
from site_tools.page.page import Page
from site_tools.page.prose import parts
from site_tools.page.visible import BOUND, Visible, visible
from site_tools.problems import Problem
from site_tools.site import allowed

UNSEEN = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]")
TOUCHED = re.compile(
    rf"[\d⁰-⁹]{BOUND}|[.,]\b{BOUND}|(?<![\w ])[-−+]{BOUND}|^[-−+]{BOUND}|\s[-−+]{BOUND}"
    rf"|{BOUND}\s?[%％‰\d⁰-⁹]|{BOUND}[.,]\d|{BOUND}\s*(?:[×x·]\s*10|[eE][-+−]?\d)"
)


def check_shown(page: Page, html: str) -> list[Problem]:
    """Every figure, formula, picture and attribute that no other check has read."""
    seen = visible(html)
    return [
        *_figures(page, seen),
        *_formulas(page, seen),
        *_pictures(page, seen),
        *_html(page, html),
    ]


def _figures(page: Page, seen: Visible) -> list[Problem]:
    problems = []
    for text, in_table in seen.texts:
        text = UNSEEN.sub("", text)
        for ref in sorted(page.refs, key=len, reverse=True):
            text = re.sub(re.escape(ref) + r"(?![\w.]*\d)", " ", text)
        if touching := TOUCHED.search(text):
            shown = touching[0].strip().replace(BOUND, "[bound figure]")
            fix = "put all of the number between the backticks"
            wanted = "nothing that changes it beside a bound figure"
            problems.append(_problem(page, shown, wanted, fix))
        for number in numbers.find(text, counts=in_table):
            if number.form == "worked arithmetic" and numbers.holds(number.text):
                continue
            found = f"{number.text} ({number.form}), as readers see it"
            wanted = "every figure printed by a block or bound to an expression"
            problems.append(_problem(page, found, wanted))
    return problems


def _formulas(page: Page, seen: Visible) -> list[Problem]:
    kinds = ("display", "inline")
    known = {_squeeze(p.text) for p in parts(page.body) if p.kind in kinds}
    return [
        _problem(page, tex.strip(), "a formula between $ or $$", "write $...$")
        for tex in seen.formulas
        if _squeeze(tex) not in known
    ]


def _pictures(page: Page, seen: Visible) -> list[Problem]:
    known = {path.rpartition("/")[2] for path in page.pictures}
    known |= {picture["file"] for _, picture in plots(page.body, page.id)}
    return [
        _problem(
            page,
            f"a picture from {src}",
            "an SVG file of snippets, beside the page's code",
            "write ![what it shows](page.svg)",
        )
        for src in seen.pictures
        if src not in known
    ]


def _html(page: Page, html: str) -> list[Problem]:
    wanted = "Markdown: a page has neither scripts and styles nor frames and forms"
    fix = "write it in Markdown, or put it between backticks"
    return [_problem(page, fault, wanted, fix) for fault in allowed.faults(html)]


def _squeeze(tex: str) -> str:
    return "".join(tex.split())


def _problem(
    page: Page,
    found: str,
    expected: str,
    fix: str = "say it in plain prose, where it can be bound, or leave it out",
) -> Problem:
    quoted = re.search(r'"([^"]+)"', found)
    words = [found.split(" ")[0].rstrip(">"), quoted[1] if quoted else ""]
    lines = [*enumerate(page.text.splitlines(), 1)]
    at = (n for word in words if word for n, text in lines if word in text)
    return Problem(page.path, next(at, 1), found, expected, fix)
