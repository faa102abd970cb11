"""A draft of a page: its form, and what a chat said, marked as unverified."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from site_tools.logs import draft_words as words
from site_tools.logs.chat_fences import REASONS, Stretch, stretches
from site_tools.logs.chat_prose import HEADING, demoted, mended
from site_tools.logs.sorting import Kind, Sorted
from site_tools.logs.unverified import Place, marked, places, refused_figures
from site_tools.logs.wording import language, prose
from site_tools.page.wording import ODD_LINE_ENDS

# Between two rounds, there for people: no part of an answer.
RULE = re.compile(r"(?:\n\s*---)?\s*\Z")


@dataclass(frozen=True)
class Draft:
    """A draft.

    Args:
        name: Its file.
        text: The page.
        blocks: How many pieces of code nobody has run.
        figures: By line, those that nobody has computed.
        places: Lines of code that nobody has read.
    """

    name: str
    text: str
    blocks: int
    figures: dict[int, list[str]]
    places: tuple[Place, ...]


def draft(rounds: Sequence[Sorted], known: str | None = None) -> Draft:
    """The draft of a question.

    Args:
        rounds: The question, and those that were merged into it.
        known: The page that perhaps answers it already.
    """
    first = rounds[0]
    asked = first.round.question
    spoken = language(asked if prose(asked).strip() else first.round.answer)
    page = marked(words.TEMPLATE[spoken] + _chat(rounds, spoken))
    head = _front_matter(first.title, [r.title for r in rounds[1:] if _asks_again(r)])
    blocks = page.count(f'data-reason="{REASONS[spoken]}"')
    figures, found = refused_figures(page), tuple(places(page))
    first_words = words.KNOWN[spoken].format(known) if known else ""
    to_do = _to_do(first_words, spoken, blocks, figures, found)
    shift = (head + to_do).count("\n")
    figures = {line + shift: said for line, said in figures.items()}
    found = tuple(place._replace(line=place.line + shift) for place in found)
    to_do = _to_do(first_words, spoken, blocks, figures, found)
    name = f"question_{first.round.number:02}.md"
    return Draft(name, head + to_do + page, blocks, figures, found)


def _asks_again(each: Sorted) -> bool:
    """Whether it is another wording; "give an example" is none."""
    return each.kind is Kind.DUPLICATE


def _front_matter(question: str, aliases: list[str]) -> str:
    quoted = json.dumps(question, ensure_ascii=False)
    also = json.dumps(aliases, ensure_ascii=False)
    rows = f"question: {quoted}\naliases: {also}\nneeds: []\nanswers: []\nrefs: []"
    return f"---\n{rows}\n---\n\n"


def _chat(rounds: Sequence[Sorted], spoken: str) -> str:
    text = ""
    for number, (each, *_) in enumerate(rounds, 1):
        for heading, name, said in (
            (words.ASKED, "asked", each.question),
            (words.ANSWERED, "answered", each.answer),
        ):
            title = heading[spoken].format(each.number)
            text += f"\n### {title} {{ #chat-{name}-{number} }}\n\n"
            text += _said(said, spoken, f"chat-{name}-{number}")
    return text


def _said(text: str, spoken: str, names: str) -> str:
    text = ODD_LINE_ENDS.sub("\n", RULE.sub("\n", text, count=1)).lstrip("\n")
    found = list(stretches(text, spoken))
    headings = [HEADING.findall(part.text) for part in found if not part.fenced]
    levels = [len(marks) for each in headings for marks, _ in each]
    least, count, kept = min(levels, default=1), 1, ""
    for part in found:
        kept += _stretch(part, names, count, least)
        count += 0 if part.fenced else len(HEADING.findall(part.text))
    kept = kept.rstrip().lstrip("\n")
    return f"{kept or words.NOWHERE[spoken]}\n"


def _stretch(part: Stretch, names: str, count: int, least: int) -> str:
    if part.fenced:
        return part.text
    return demoted(mended(part.text), 4, names, count, least)


def _to_do(
    above: str,
    spoken: str,
    blocks: int,
    figures: dict[int, list[str]],
    found: Sequence[Place],
) -> str:
    text = above + words.TO_DO[spoken]
    if blocks:
        text += words.CODE[spoken].format(blocks)
    if figures:
        text += words.FIGURES[spoken]
    for line, said in figures.items():
        text += words.AT[spoken].format(line, ", ".join(said))
    if found:
        text += words.PLACES[spoken]
    for place in found:
        what = f"path: {place.path}, lines: {place.lines}"
        text += words.AT[spoken].format(place.line, what)
    return f"<!--\n{text.replace('-->', '-- >')}-->\n\n"
