"""Which rounds of a log ask something, and which belong to another or to nothing.

What is found is a proposal: a contributor agrees to it or not.
"""

import difflib
import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from site_tools.logs.log import Log, Round
from site_tools.logs.phrases import FOLLOW_UP, FORMAT, LEANS, THANKS
from site_tools.logs.wording import EDGES, POLITE, cleaned, is_polite, sentences, title

ALIKE = 0.85  # of the characters, in order
COMPARED = 300  # characters of a question


class Kind(Enum):
    """What a round is."""

    QUESTION = "a question"
    FORMAT = "a request about format or copying"
    FOLLOW_UP = "a follow-up"
    DUPLICATE = "a duplicate"
    THANKS = "no question"


class Sorted(NamedTuple):
    """A round with what it is.

    Args:
        round: The round.
        title: What it asks, in a sentence.
        kind: What it is.
        earlier: The number of the question that it belongs to.
    """

    round: Round
    title: str
    kind: Kind
    earlier: int | None = None


NO_QUESTION = (Kind.FORMAT, Kind.THANKS)


def sort(log: Log) -> list[Sorted]:
    """What each round of a log is, in order."""
    found: list[Sorted] = []
    for each in log.rounds:
        found.append(_sorted(each, found))
    return found


def _sorted(each: Round, before: Sequence[Sorted]) -> Sorted:
    asked = title(each.question)
    whole = [*sentences(cleaned(each.question))]
    if _thanks(whole):
        return Sorted(each, asked, Kind.THANKS)
    said = [_bare(sentence) for sentence in whole]
    said = [sentence for sentence in said if sentence]
    if said and FORMAT.fullmatch(said[0]):
        return Sorted(each, asked, Kind.FORMAT)
    earlier = [item for item in before if item.kind not in NO_QUESTION]
    leans = next((s for s in whole if not is_polite(s)), "")
    if earlier and (all(map(FOLLOW_UP.fullmatch, said)) or LEANS.match(leans)):
        return Sorted(each, asked, Kind.FOLLOW_UP, earlier[-1].round.number)
    for item in earlier:
        if _alike(each.question, item.round.question):
            return Sorted(each, asked, Kind.DUPLICATE, item.round.number)
    return Sorted(each, asked, Kind.QUESTION)


def _thanks(said: Sequence[str]) -> bool:
    """Whether it is thanks, with other politeness at most."""
    thanks = [bool(THANKS.fullmatch(sentence.strip(EDGES))) for sentence in said]
    polite = zip(thanks, said, strict=True)
    return any(thanks) and all(thank or is_polite(text) for thank, text in polite)


def _bare(sentence: str) -> str:
    """A sentence without the politeness around it."""
    body = sentence.strip(EDGES)
    opening = rf"(?:{POLITE.pattern}|please|now|then|那么?|麻烦)(?![A-Za-z])"
    return re.sub(rf"^(?:{opening}[\s，,、]*)+", "", body, flags=re.I).strip(EDGES)


def _alike(one: str, other: str) -> bool:
    first, second = (_letters(cleaned(text))[:COMPARED] for text in (one, other))
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    return matcher.quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if c.isalnum())
