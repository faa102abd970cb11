"""The two languages of a page, compared: everything but the words must be equal."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import PurePosixPath

from site_tools.judge.features import Feature, features
from site_tools.judge.verdict_words import check_verdicts
from site_tools.messages import LANGUAGES, Message, Problem, Problems
from site_tools.page.page import Page

SHARED_KEYS = ("needs", "answers", "refs")
# What must agree in order; all else, within each section.
ORDERED = (
    "heading",
    "code_block",
    "displayed_formula",
    "picture",
    "box",
    "table_row",
    "given_answer",
)


def twin_path(path: str) -> str:
    """The same page in the other language."""
    docs, language, *rest = PurePosixPath(path).parts
    other = LANGUAGES[1 - LANGUAGES.index(language)]
    return str(PurePosixPath(docs, other, *rest))


def compare(page: Page, twin: Page) -> list[Problem]:
    """Every difference between a page and its twin that is not in the words.

    Where headings differ nothing else is compared, since sections then mean nothing.
    """
    problems = list(_front_matter_differences(page, twin))
    ours, theirs = _by_kind(page), _by_kind(twin)
    kinds = dict.fromkeys(["heading", *ours, *theirs])
    for kind in kinds:
        here, there = ours.get(kind, []), theirs.get(kind, [])
        if kind in ORDERED:
            pair = _first_in_order(here, there)
        else:
            pair = _first_in_sections(here, there)
        problems += _difference(*pair, page, twin)
        if kind == "heading" and problems:
            break
    problems += check_verdicts(page, twin)
    return problems


def _by_kind(page: Page) -> dict[str, list[Feature]]:
    """The features of a page by their kinds; inline code once in each section."""
    found: dict[str, list[Feature]] = {}
    known: set[tuple[str, str]] = set()
    for feature in features(page):
        if feature.kind == "inline_code":
            if (feature.section, feature.value) in known:
                continue
            known.add((feature.section, feature.value))
        found.setdefault(feature.kind, []).append(feature)
    return found


def _front_matter_differences(page: Page, twin: Page) -> Problems:
    for key in SHARED_KEYS:
        value, other = page.meta.get(key), twin.meta.get(key)
        if value != other:
            values = {"key": key, "value": value, "other": other, "twin": twin.path}
            yield page.problem(page.line_with(f"{key}:") or 1, "pair_front", **values)


# What one has and the other has not, or both have differently: ours, the twin's.
FeaturePair = tuple[Feature | None, Feature | None]


def _first_in_order(here: Sequence[Feature], there: Sequence[Feature]) -> FeaturePair:
    """The first place at which the two differ."""
    for ours, theirs in zip_longest(here, there):
        if ours is None or theirs is None or ours.value != theirs.value:
            return ours, theirs
    return None, None


def _first_in_sections(
    here: Sequence[Feature], there: Sequence[Feature]
) -> FeaturePair:
    """The first that the other section has not, or has not as often."""
    return _first_beyond(here, there), _first_beyond(there, here)


def _first_beyond(here: Sequence[Feature], there: Sequence[Feature]) -> Feature | None:
    """The first of some features that is more often here than there."""
    beyond = Counter((feature.section, feature.value) for feature in here)
    beyond.subtract((feature.section, feature.value) for feature in there)
    for feature in here:
        if beyond[feature.section, feature.value] > 0:
            return feature
    return None


def _difference(
    ours: Feature | None, theirs: Feature | None, page: Page, twin: Page
) -> Problems:
    if ours and theirs:
        row, here, there = _differing_row(ours.value, theirs.value)
        values = {
            "kind": Message("pair_kinds", part=ours.kind),
            "here": here,
            "there": there,
            "twin": twin.path,
            "at": theirs.at(row),
        }
        yield page.problem(ours.at(row), "pair_differs", **values)
    elif ours:
        yield _lacking(ours, page, twin)
    elif theirs:
        yield _lacking(theirs, twin, page)


def _differing_row(ours: str, theirs: str) -> tuple[int, str | Message, str | Message]:
    """The first line on which two values differ, and what stands there."""
    nothing = Message("pair_nothing")
    rows = zip_longest(ours.splitlines(), theirs.splitlines(), fillvalue=nothing)
    for row, (here, there) in enumerate(rows):
        if here != there:
            return row, here, there
    return 0, ours, theirs


def _lacking(feature: Feature, page: Page, twin: Page) -> Problem:
    """That the other language of a page lacks something."""
    return page.problem(
        feature.at(0),
        "pair_missing",
        kind=Message("pair_kinds", part=feature.kind),
        file=twin.path,
        shown=feature.value.partition("\n")[0],
        section=feature.section or Message("pair_top"),
    )
