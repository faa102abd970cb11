"""Every claim that a page refutes, with who made it and how its run fails."""

from collections.abc import Iterator, Sequence
from html import escape

from site_tools.html.navigation import LABELS
from site_tools.indexes.parts import (
    UNSEARCHED,
    bullets,
    detail,
    inline,
    link,
    section,
    verdict,
)
from site_tools.indexes.sources import TOPICS, Answer
from site_tools.source.wrong_answers import WrongAnswer

FAILS = {"zh": "断言它成立，跑出来是", "en": "Assert it, and the run ends in"}


def wrong_answers(answers: Sequence[Answer], lang: str) -> str:
    """The claims of all pages, by topic; each leads to the run that refutes it."""
    lines: list[str] = []
    for topic in TOPICS:
        items = [
            _item(wrong, answer, lang)
            for answer in answers
            if answer.topic == topic
            for wrong in answer.wrong
        ]
        if items:
            lines += [f"<h2{UNSEARCHED}>{escape(LABELS[topic][lang])}</h2>"]
            lines += bullets(items)
    return section(lines)


def _item(wrong: WrongAnswer, answer: Answer, lang: str) -> str:
    return f"<li{UNSEARCHED}>{''.join(_parts(wrong, answer, lang))}</li>"


def _parts(wrong: WrongAnswer, answer: Answer, lang: str) -> Iterator[str]:
    claim = link(answer.page, inline(wrong.claim), wrong.id or "wrong-answers")
    yield f'<p class="claim">{claim} {detail(escape(wrong.source))}</p>'
    if wrong.failure:
        yield f"<p>{FAILS[lang]} <code>{escape(wrong.failure)}</code></p>"
    yield f"<p>{link(answer.page, escape(answer.title))}{verdict(answer)}</p>"
