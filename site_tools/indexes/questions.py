"""The questions: by topic, as they were asked, and the first ones to read."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from site_tools.data.dialogues import Asked, Dialogue, Topic
from site_tools.html.navigation import LABELS
from site_tools.indexes.parts import (
    COMING,
    UNSEARCHED,
    bullets,
    detail,
    inline,
    link,
    section,
    verdict,
)
from site_tools.indexes.sources import QUESTION_TOPICS, Answer
from site_tools.site.texts import as_html

DIALOGUE = {"zh": "对话 {}：{}", "en": "Dialogue {}: {}"}
COUNT = {"zh": "{} 问，答了 {}", "en": "{} questions, {} answered"}
WHOLE = {"zh": "{} 问", "en": "{} questions"}
DONE = {
    "zh": "五段对话的 {} 问都有答案。",
    "en": "All {} questions of the five dialogues are answered.",
}
PROGRESS = {
    "zh": "五段对话共 {} 问，其中 {} 问已写好。",
    "en": "Of the five dialogues' {} questions, {} are answered so far.",
}
ORDERS = {
    "by-topic": {"zh": "按主题看全部", "en": "All by topic"},
    "as-asked": {"zh": "按当时的问法看全部", "en": "All as they were asked"},
}
MOST = 5


class Site(NamedTuple):
    """What the lists are made from, in one language."""

    lang: str
    answers: Sequence[Answer]
    dialogues: Sequence[Dialogue]
    topics: dict[str, Topic]
    indexes: frozenset[str] = frozenset()  # the topics that have a page of their own

    def home(self, asked: Asked) -> Answer | None:
        """The page that answers a question, once there is one."""
        found = (a for a in self.answers if asked.id in a.answers)
        return next(found, None)

    def words(self, item: Asked | Dialogue | Topic) -> str:
        """What an item says in this language, as HTML."""
        return as_html(item.zh if self.lang == "zh" else item.en)


def by_topic(site: Site) -> str:
    """Every topic in the order of the data: its sentence, its pages, what is coming."""
    return section(
        line
        for topic in QUESTION_TOPICS
        for line in [
            f'<h3 id="{topic}">{_label(topic, site)}</h3>',
            f'<p class="summary"{UNSEARCHED if topic in site.indexes else ""}>'
            f"{site.words(site.topics[topic])}</p>",
            *bullets([*_pages(topic, site), *_coming(topic, site, COMING[site.lang])]),
        ]
    )


def as_asked(site: Site) -> str:
    """The conversations, each a way to read; every question leads to its answer."""
    return section(line for each in site.dialogues for line in _dialogue(each, site))


def first(site: Site) -> str:
    """The page that tells each topic, and how far the site has come."""
    asked = [q for dialogue in site.dialogues for q in dialogue.questions]
    done = sum(site.home(q) is not None for q in asked)
    progress = DONE if done == len(asked) else PROGRESS
    orders = [
        link("questions", label[site.lang], name) for name, label in ORDERS.items()
    ]
    return section(
        [
            *bullets(_page(answer) for answer in _telling(site)),
            f'<p class="count">{progress[site.lang].format(len(asked), done)}</p>',
            f"<p>{' · '.join(orders)}</p>",
        ]
    )


def _telling(site: Site) -> list[Answer]:
    named = {site.topics[topic].picture for topic in QUESTION_TOPICS}
    return [a for a in site.answers if a.page in named] or [*site.answers[:MOST]]


def topic_index(topic: str, site: Site) -> str:
    """A topic's sentence and picture, then its pages, each with its short answer.

    Raises:
        ValueError: if there is no such topic.
    """
    if topic not in site.topics:
        raise ValueError(f"topic: must be one of {[*site.topics]}, got {topic!r}")
    lines = [f'<p class="summary">{site.words(site.topics[topic])}</p>']
    lines += _picture(site.topics[topic], site)
    for answer in site.answers:
        if answer.topic == topic:
            lines += [
                f"<h2{UNSEARCHED}>{link(answer.page, escape(answer.title))}</h2>",
                f"<p{UNSEARCHED}>{inline(answer.short)}</p>",
            ]
    if coming := list(_coming(topic, site)):
        lines += [f'<h2 id="coming">{COMING[site.lang]}</h2>', *bullets(coming)]
    return section(lines)


def _picture(topic: Topic, site: Site) -> Iterator[str]:
    """The picture of the page that the topic names, once it is in this language."""
    for answer in site.answers:
        if answer.page == topic.picture and answer.picture:
            alt, file = map(escape, answer.picture)
            yield f'<p><img alt="{alt}" src="{file}"></p>'


def _label(topic: str, site: Site) -> str:
    label = escape(LABELS[topic][site.lang])
    return link(topic, label) if topic in site.indexes else label


def _pages(topic: str, site: Site) -> Iterator[str]:
    return (_page(answer) for answer in site.answers if answer.topic == topic)


def _page(answer: Answer) -> str:
    title = link(answer.page, escape(answer.title))
    return f"<li{UNSEARCHED}>{title}{verdict(answer)}</li>"


def _coming(topic: str, site: Site, *notes: str) -> Iterator[str]:
    for asked in (q for dialogue in site.dialogues for q in dialogue.questions):
        if asked.page.partition("/")[0] == topic and site.home(asked) is None:
            note = detail(" · ".join([asked.id, *notes]))
            yield f'<li class="coming">{site.words(asked)} {note}</li>'


def _dialogue(dialogue: Dialogue, site: Site) -> Iterator[str]:
    homes = [site.home(asked) for asked in dialogue.questions]
    count = (WHOLE if all(homes) else COUNT)[site.lang].format(
        len(homes), sum(home is not None for home in homes)
    )
    title = DIALOGUE[site.lang].format(dialogue.id, site.words(dialogue))
    yield f'<h3 id="dialogue-{dialogue.id}">{title}</h3>'
    yield f'<p class="count">{count}</p>'
    yield '<ul class="asked">'
    for asked, home in zip(dialogue.questions, homes, strict=True):
        number, words = detail(asked.id), site.words(asked)
        if home is None:
            note = detail(COMING[site.lang])
            yield f'<li class="coming"{UNSEARCHED}>{number} {words} {note}</li>'
        else:
            words = link(home.page, words, asked.anchor)
            yield f"<li>{number} {words}{verdict(home)}</li>"
    yield "</ul>"
