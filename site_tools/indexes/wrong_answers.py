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
)
from site_tools.indexes.sources import QUESTION_TOPICS, Answer
from site_tools.page.wrong_answers import WrongAnswer

COUNT = {"zh": "共 {} 条。", "en": "{} of them."}
FIRST = {"zh": "先看这 {} 条", "en": "{} to begin with"}


def wrong_answers(
    answers: Sequence[Answer], lang: str, first: Sequence[str] = ()
) -> str:
    """The claims about PPO of all pages; each leads to the run that refutes it.

    Args:
        answers: The question pages.
        lang: The language of the list.
        first: Those to begin with, as in ``gae/variance#wrong-lower``; the others
            follow by topic.

    Raises:
        ValueError: if no page refutes one of ``first``, or it is named twice.
    """
    entries = [
        (wrong, answer)
        for answer in answers
        if answer.topic in QUESTION_TOPICS
        for wrong in answer.wrong
    ]
    known = {f"{answer.page}#{wrong.id}": (wrong, answer) for wrong, answer in entries}
    for name in first:
        if name not in known or first.count(name) > 1:
            fault = "named twice" if name in known else "on no page"
            raise ValueError(f"wrong_answers: {name} is {fault}; write topic/page#id")
    lines = [f'<p class="count">{COUNT[lang].format(len(entries))}</p>']
    if first:
        lines += [f'<h2 id="first">{FIRST[lang].format(len(first))}</h2>']
        lines += bullets(_item(*known[name], lang) for name in first)
    for topic in QUESTION_TOPICS:
        items = [
            _item(wrong, answer, lang)
            for wrong, answer in entries
            if answer.topic == topic and f"{answer.page}#{wrong.id}" not in first
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
        yield f"<p><code>{escape(wrong.failure)}</code></p>"
    yield f"<p>{link(answer.page, escape(answer.title))}</p>"
