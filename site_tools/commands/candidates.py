"""Pages that perhaps answer a question already: shown before anything is written."""

from collections.abc import Sequence

from site_tools.commands.talk import Refusal, Talk
from site_tools.contributing import asked_before
from site_tools.contributing.likeness import Known


def show(known: Sequence[Known], talk: Talk) -> list[Known]:
    """Name the nearest pages, and return those that perhaps answer the question."""
    perhaps = asked_before.answered(known)
    for other in perhaps:
        talk.tell(f"Perhaps answered at {other.page}: {other.wording}")
    for other in known[len(perhaps) : asked_before.MOST]:
        if other.likeness:
            talk.tell(f"   near it: {other.page}: {other.wording}")
    return perhaps


def home(perhaps: Sequence[Known], talk: Talk) -> str | None:
    """The page that gets the wording, or None where a new one is to be written.

    The likeness can err, so it is a person who says so, and no option says it for all.

    Raises:
        Refusal: where nobody decides, or neither is wanted.
    """
    for other in perhaps:
        if _decided(
            f"Is that your question, {other.page}: add your wording there?", talk
        ):
            return page_of(other)
    if perhaps and not _decided("Write a new page all the same?", talk):
        raise Refusal("Nothing was written.")
    return None


def page_of(known: Known) -> str:
    """The page without the section."""
    return known.page.partition("#")[0]


def _decided(question: str, talk: Talk) -> bool:
    said = talk.decide(question)
    if said is None:
        raise Refusal(
            "Nothing was written, for nobody was there to ask: add ARGS=--alias, with "
            "the PAGE above that answers it, or ARGS=--anyway for a new page"
        )
    return said
