"""The two languages of a page, compared: everything but the words must be equal."""

from collections import Counter
from pathlib import PurePosixPath

from site_tools.checks.features import Feature, features
from site_tools.problems import Problem
from site_tools.source.page import LANGUAGES, Page

SHARED = ("needs", "answers", "refs")

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
    agree in order; inline formulas, figures and links within each section.
    """
    problems = [
        Problem(
            page.path,
            1,
            f"{key}: {page.meta.get(key)}",
            f"{key}: {twin.meta.get(key)}, as in {twin.path}",
            f"make {key} equal in both languages",
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
    extra = [f for f in here if (ours - theirs)[f.section, f.value]]
    lacking = [f for f in there if (theirs - ours)[f.section, f.value]]
    if extra and lacking:
        return [_difference(extra[0], lacking[0], path, twin)]
    return [_missing(f, bool(extra), path, twin) for f in (extra or lacking)[:1]]


def _difference(ours: Feature, theirs: Feature, path: str, twin: str) -> Problem:
    return Problem(
        path,
        ours.line,
        ours.value,
        f"{theirs.value}\nas at {twin}:{theirs.line}"
        if "\n" in theirs.value
        else f"{theirs.value}, as at {twin}:{theirs.line}",
        f"make this {ours.kind} equal in both languages",
    )


def _missing(feature: Feature, ours: bool, path: str, twin: str) -> Problem:
    where = twin if ours else f"{path}, section {feature.section}"
    place = f"{feature.value!r} at {path if ours else twin}:{feature.line}"
    return Problem(
        path,
        feature.line if ours else 1,
        f"a {feature.kind} that {where} does not have: {place}",
        "the same in both languages",
        f"add it to {where}, or remove it",
    )
