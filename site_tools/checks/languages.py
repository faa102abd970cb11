"""The two languages of a page, compared: everything but the words must be equal."""

from collections import Counter
from itertools import zip_longest
from pathlib import PurePosixPath

from site_tools.checks.features import Feature, features
from site_tools.page.page import LANGUAGES, Page
from site_tools.problems import Problem

SHARED = ("needs", "answers", "refs")
EQUAL = "make {} equal in both languages, whichever of them is right"

ORDERED = ("heading", "code block", "displayed formula", "picture", "box", "table row")


def twin_path(path: str) -> str:
    """The same page in the other language.

    Example:
        >>> twin_path("docs/zh/gae/inputs.md")
        'docs/en/gae/inputs.md'
    """
    docs, language, *rest = PurePosixPath(path).parts
    other = LANGUAGES[1 - LANGUAGES.index(language)]
    return str(PurePosixPath(docs, other, *rest))


def compare(page: Page, twin: Page) -> list[Problem]:
    """Every difference between a page and its twin that is not in the words.

    Headings, code, outputs, displayed formulas, pictures, boxes and tables must
    agree in order; inline formulas, figures, links and quoted figures within each
    section; of inline code, each section must have the same pieces. Where headings
    differ nothing else is compared, since sections then mean nothing.
    """
    problems = [
        Problem(
            page.path,
            1,
            f"{key}: {page.meta.get(key)}",
            f"{key}: {twin.meta.get(key)}, as in {twin.path}",
            EQUAL.format(key),
        )
        for key in SHARED
        if page.meta.get(key) != twin.meta.get(key)
    ]
    ours, theirs = list(features(page)), list(features(twin))
    for kind in dict.fromkeys(feature.kind for feature in [*ours, *theirs]):
        here = [f for f in ours if f.kind == kind]
        there = [f for f in theirs if f.kind == kind]
        find = _first_in_order if kind in ORDERED else _first_missing
        problems += find(here, there, page.path, twin.path)
        if kind == "heading" and problems:
            break
    return problems


def _first_in_order(
    here: list[Feature], there: list[Feature], path: str, twin: str
) -> list[Problem]:
    for ours, theirs in zip(here, there, strict=False):
        if ours.value != theirs.value:
            return [_difference(ours, theirs, path, twin)]
    if len(here) == len(there):
        return []
    extra = (here if len(here) > len(there) else there)[min(len(here), len(there))]
    return [_missing(extra, extra in here, path, twin)]


def _first_missing(
    here: list[Feature], there: list[Feature], path: str, twin: str
) -> list[Problem]:
    ours = Counter((f.section, f.value) for f in here)
    theirs = Counter((f.section, f.value) for f in there)
    if here and here[0].kind == "inline code":
        ours, theirs = Counter(set(ours)), Counter(set(theirs))
    extra = [f for f in here if (ours - theirs)[f.section, f.value]]
    lacking = [f for f in there if (theirs - ours)[f.section, f.value]]
    if extra and lacking:
        return [_difference(extra[0], lacking[0], path, twin)]
    return [_missing(f, bool(extra), path, twin) for f in (extra or lacking)[:1]]


def _difference(ours: Feature, theirs: Feature, path: str, twin: str) -> Problem:
    here, there = ours.value.splitlines(), theirs.value.splitlines()
    pairs = list(zip_longest(here, there, fillvalue="nothing"))
    row = next((n for n, (a, b) in enumerate(pairs) if a != b), 0)
    return Problem(
        path,
        ours.at(row),
        pairs[row][0],
        f"{pairs[row][1]}, as at {twin}:{theirs.at(row)}",
        EQUAL.format(f"this {ours.kind}"),
    )


def _missing(feature: Feature, ours: bool, path: str, twin: str) -> Problem:
    has, lacks = (path, twin) if ours else (twin, path)
    shown = feature.value.splitlines()[0]
    return Problem(
        has,
        feature.line,
        f"{feature.kind} {shown} in section {feature.section}",
        f"the same in {lacks}",
        "add it there, or remove it here",
    )
