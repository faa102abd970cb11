"""Ids of headings that have none, where only one can be meant."""

from itertools import combinations
from typing import NamedTuple

from site_tools.checks.shape import MANDATORY, SECTIONS, is_question
from site_tools.fixing.letters import fences_of, replace
from site_tools.page.prose import HEADING, body, line_of
from site_tools.problems import Problem


class Heading(NamedTuple):
    """A heading of a page: how deep, its id or None, and where its line ends."""

    level: str
    id: str | None
    text: str
    line: int
    end: int


def with_ids(
    text: str, page: str, path: str, twin: str | None = None
) -> tuple[str, list[Problem]]:
    """A page whose headings have ids, and a problem where several would do.

    The ids of the twin come first, if its headings are as many and as deep; else,
    on a page that answers a question, those of the sections, in their order.

    Args:
        text: The page.
        page: As in ``gae/inputs``.
        path: Its path, for the problems.
        twin: The same page in the other language.

    Example:
        >>> with_ids("## Yes\\n## Run { #code }\\n## More\\n", "gae/x", "x.md")[0]
        '## Yes { #answer }\\n## Run { #code }\\n## More { #next }\\n'
    """
    found = _headings(text)
    ids = _ids_of_twin(found, twin) or _ids_of_sections(found, page)
    edits, problems = [], []
    for place, heading in enumerate(found):
        if heading.id is not None or len(heading.level) == 1 or "{" in heading.text:
            continue
        candidates = ids.get(place, [])
        if len(candidates) == 1:
            edits.append((heading.end, heading.end, f" {{ #{candidates[0]} }}"))
        elif candidates:
            problems.append(_several(heading, candidates, path))
    return replace(text, edits), problems


def _headings(text: str) -> list[Heading]:
    fences = fences_of(text)
    if fences is None:
        return []
    prose = body(text, fences)
    return [
        Heading(
            match["level"],
            match["id"],
            match[0],
            line_of(prose, match.start()),
            match.start() + len(match[0].rstrip()),
        )
        for match in HEADING.finditer(prose)
    ]


def _ids_of_twin(found: list[Heading], twin: str | None) -> dict[int, list[str]]:
    theirs = _headings(twin or "")
    if [heading.level for heading in found] != [heading.level for heading in theirs]:
        return {}
    pairs = list(zip(found, theirs, strict=True))
    if any(ours.id and hers.id and ours.id != hers.id for ours, hers in pairs):
        return {}
    ours = {heading.id for heading in found}
    return {
        place: [hers.id]
        for place, (_, hers) in enumerate(pairs)
        if hers.id and hers.id not in ours
    }


def _ids_of_sections(found: list[Heading], page: str) -> dict[int, list[str]]:
    if not is_question(page):
        return {}
    places = [n for n, heading in enumerate(found) if heading.level == "##"]
    known = [found[place].id for place in places]
    possible = [
        ids
        for ids in combinations(SECTIONS, len(places))
        if set(MANDATORY) <= set(ids)
        and all(k in (None, name) for k, name in zip(known, ids, strict=True))
    ]
    columns = zip(*possible, strict=True)
    each = zip(places, columns, strict=False)
    return {place: list(dict.fromkeys(names)) for place, names in each}


def _several(heading: Heading, candidates: list[str], path: str) -> Problem:
    ids = " or ".join(f"{{ #{name} }}" for name in candidates)
    return Problem(
        path,
        heading.line,
        heading.text.strip(),
        "an id of its own, equal in both languages",
        f"write {ids} behind it",
    )
