"""Fences made from data: facts, names, lists of pages, what waits.

Markdown leaves ``<div data-derived="topic" data-argument="gae" ...>`` in the place of
such a fence, so that reading one page does not read all; here it is filled.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from html import unescape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import markdown
import yaml
from markupsafe import Markup, escape

from site_tools.compile import links, navigation
from site_tools.compile.downloads import (
    BOOK_EPUB,
    BOOK_PDF,
    FULL,
    LLMS,
    OFFLINE,
    SKILL,
    ZIP,
)
from site_tools.compile.navigation import QUESTION_TOPICS, Answer, Answered, title_of
from site_tools.compile.news import FEED, NEWS_PAGE, Announced, announced
from site_tools.compile.templates import fill, words
from site_tools.data import facts
from site_tools.data import frameworks as data
from site_tools.data.dialogues import (
    QUESTION_ID,
    Asked,
    Dialogue,
    read_dialogues,
)
from site_tools.data.facts import FACTS_FOLDER, concepts, unread
from site_tools.data.names import read_names
from site_tools.data.threads import Thread, read_threads
from site_tools.data.topics import TOPICS, Topic, read_topics
from site_tools.messages import LANGUAGES, Refusal, nearest
from site_tools.page.twins import Twins, twins_that_wait
from site_tools.page.wrong_answers import WrongAnswer
from site_tools.source.content import read_content

DERIVED_PLACE = re.compile(r'<div class="from-data" ([^>]*)></div>')
ATTRIBUTE = re.compile(r'data-(\w+)="([^"]*)"')
# A sign that would mean something; within a word _ means nothing.
SPECIAL = re.compile(r"(?<!\w)_|_(?!\w)|(?<=_)_|_(?=_)|[*\[\]<>`\\]")
ASKED_IN = re.compile(QUESTION_ID)
TOLD_IN = ("verl", "TRL", "OpenRLHF")  # as filters name them
TABLE = re.compile("<table>.*?</table>", re.DOTALL)
MOST_ROWS = 20  # rows of a table that is not folded, at most
MOST = 5  # pages on the home page, while no topic names one
STATUS = "about/status/"  # where that fence may stand: its links lead from there
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def fill_lists(html: str, root: Path) -> str:

    def place(match: re.Match[str]) -> str:
        values = {key: unescape(text) for key, text in ATTRIBUTE.findall(match[1])}
        name, argument = values["derived"], values["argument"]
        return derived(name, argument, values.get("language", ""), root)

    return DERIVED_PLACE.sub(place, html)


def derived(name: str, argument: str, lang: str, root: Path) -> str:
    """The HTML of a fence, by its name, what stands in it, and its language."""
    if name != "fact" and lang not in LANGUAGES:
        raise Refusal("list_language", name=name, language=lang)
    return DERIVED[name](argument.strip(), lang, root)


def _require(name: str, argument: str, known: Iterable[str]) -> None:
    if argument not in (known := [*known]):
        values = {"name": name, "known": ", ".join(known), "argument": argument}
        raise Refusal("list_unknown", **values)


class ListSources(NamedTuple):
    """The sources of the lists of questions, in one language."""

    answers: list[Answer]
    homes: dict[str, Answer]  # by the question that they answer
    dialogues: tuple[Dialogue, ...]
    asked: list[Asked]  # the questions of all dialogues
    topics: list[Topic]  # those about PPO, in the order in which data flows

    def said_in(self, question: str) -> list[tuple[WrongAnswer, Answer]]:
        """The wrong answers to a question of the dialogues."""
        return [
            (wrong, answer)
            for answer in self.answers
            for wrong in answer.wrong
            if question in ASKED_IN.findall(wrong.source)
        ]


class Refuted(NamedTuple):
    """A wrong answer, the page that refutes it, and the threads that lead to it."""

    wrong: WrongAnswer
    answer: Answer
    threads: Sequence[Thread]

    @property
    def seen(self) -> int:
        """In how many places: its source, and the threads, of which that may be one."""
        source = self.wrong.source.replace(",", " ").split()
        others = [t for t in self.threads if not {t.thread, t.name} & {*source}]
        return 1 + len(others)

    @property
    def project(self) -> str:
        """Where it is told: a project that is compared here, a dialogue, or neither."""
        source = self.wrong.source.lower()
        if ASKED_IN.search(source):
            return "dialogues"
        for name in TOLD_IN:
            if f"{name.lower()}#" in source or f"{name.lower()}@" in source:
                return name
        return "elsewhere"


def read_site(lang: str, root: Path) -> ListSources:
    answers, dialogues = navigation.answers(root, lang), read_dialogues(root)
    homes = {name: answer for answer in answers for name in answer.answers}
    asked = [question for each in dialogues for question in each.questions]
    topics = [t for name, t in read_topics(root).items() if name in QUESTION_TOPICS]
    return ListSources(answers, homes, dialogues, asked, topics)


def questions(order: str, lang: str, root: Path) -> str:
    """The questions ``by topic``, ``as asked``, or the ``first`` pages to read."""
    _require("questions", order, ("by topic", "as asked", "first"))
    site = read_site(lang, root)
    if order == "by topic":
        indexes = [file.parent.name for file in root.glob(f"docs/{lang}/*/index.md")]
        return fill("lists.by_topic", lang, site, indexes)
    if order == "as asked":
        shown = [question.id for question in site.asked if not question.aside]
        wrong = sum(len(site.said_in(question)) for question in shown)
        return fill("lists.as_asked", lang, site, wrong)
    drawn = {topic.picture for topic in site.topics}
    pages = [answer for answer in site.answers if answer.page in drawn]
    return fill("lists.first", lang, site, pages or site.answers[:MOST])


def topic(name: str, lang: str, root: Path) -> str:
    """A topic's picture and sentences, then its pages, each with its verdict."""
    topics = read_topics(root)
    _require("topic", name, topics)
    return fill("lists.topic", lang, topics[name], read_site(lang, root))


def wrong_answers(argument: str, lang: str, root: Path) -> str:
    """The claims about PPO of all pages; each leads to the run that refutes it.

    Those named in the argument come first; of a topic, those seen in public, and most.
    """
    threads = read_threads(root)
    claims = {}
    for answer in navigation.answers(root, lang, QUESTION_TOPICS):
        for wrong in answer.wrong:
            place = f"{answer.page}#{wrong.id}"
            seen = [each for each in threads if each.page == place]
            claims[place] = Refuted(wrong, answer, seen)
    first = argument.split()
    for name in first:
        if name not in claims:
            raise Refusal("list_wrong_unknown", name=name)
    by_topic: dict[str, list[Refuted]] = {}
    for name, claim in claims.items():
        if name not in first:
            by_topic.setdefault(claim.answer.topic, []).append(claim)
    for found in by_topic.values():
        found.sort(key=lambda each: (each.project == "dialogues", -each.seen))
    begin = [claims[name] for name in first]
    return fill("lists.wrong_answers", lang, len(claims), begin, by_topic.items())


def frameworks(part: str, lang: str, root: Path) -> str:
    """One of the lists of what releases do, or one of the knobs, as ``knob gamma``."""
    name, _, knob = part.partition(" ")
    parts = ("compared", "timeline", "places", "methods", "knob")
    _require("frameworks", name, parts)
    if name == "knob":
        knobs = data.knobs(root)
        _require("frameworks knob", knob, knobs)
        return fill("lists.knob", lang, knobs[knob])
    if part == "methods":
        return fill("lists.shipped", lang, data.shipped(root))
    pages = navigation.users(root, lang)
    titles = {answer.page: answer.title for answer in pages}
    if part == "places":
        shown = data.knob_facts(root)
        for at, page in enumerate(pages):
            if page.page == data.KNOBS_PAGE:
                pages[at] = page._replace(facts=(*page.facts, *shown))
        return fill("lists.places", lang, concepts(root), pages, TOPICS)
    if part == "timeline":
        releases = groupby(data.timeline(root), attrgetter("release"))
        # A page that is not written in this language yet is not led to.
        return fill("lists.timeline", lang, releases, titles)
    known = {concept.id: concept for concept in concepts(root)}
    topics = groupby(data.comparison(root), attrgetter("topic"))
    rows = {topic: [*rows] for topic, rows in topics}
    return fill("lists.compared", lang, rows, known, pages, data.TRAINERS)


def fact(argument: str, lang: str, root: Path) -> str:
    """The places that a facts file has of a release, as in ``values verl 0.9.1``."""
    return fill("lists.fact", "en", fact_entries(argument, root)).strip()


def fact_as_markdown(argument: str, root: Path) -> str:
    """The same as Markdown, which may stand anywhere on a page."""
    paragraphs = []
    for entry in fact_entries(argument.strip(), root):
        place = SPECIAL.sub(r"\\\g<0>", entry.place)
        if entry.url:
            place = f"[{place}]({entry.url})"
        longest = max(map(len, re.findall("`+", entry.code)), default=0)
        ticks = "`" * (longest + 1)
        gap = " " if longest else ""
        state = "" if entry.checked else " .unchecked"
        code = f"{ticks}{gap}{entry.code}{gap}{ticks}"
        paragraphs.append(f"{place} {code}\n{{: .fact{state} }}")
    return "\n\n".join(paragraphs)


def fact_entries(argument: str, root: Path) -> Sequence[facts.Entry]:
    name, _, release = argument.partition(" ")
    if "/" in name or not (root / FACTS_FOLDER / f"{name}.yml").is_file():
        known = [concept.id for concept in concepts(root)]
        raise Refusal("fact_concept", nearest=nearest(name, known, "-"))
    concept = facts.concept(root, f"{name}.yml")
    if release not in concept.releases:
        values = {"file": concept.name, "known": ", ".join(concept.releases)}
        raise Refusal("fact_release", release=release, **values)
    return concept.of(release)


def notation(_: str, lang: str, root: Path) -> str:
    return fill("lists.notation", lang, read_names(root))


def glossary(_: str, lang: str, root: Path) -> str:
    names = sorted(read_names(root), key=lambda name: name.place(lang))
    titles = {page.page: page.title for page in navigation.users(root, lang)}
    return fill("lists.glossary", lang, names, links.other(lang), titles)


def threads(_: str, lang: str, root: Path) -> str:
    """All threads by repository, the one with most first; at the end web pages."""
    groups: dict[str, list[Answered]] = {}
    every = navigation.answered(root, lang)
    every.sort(key=lambda each: (len(each.thread.name), each.thread.name))  # by number
    for each in every:
        groups.setdefault(each.thread.repository, []).append(each)
    most = sorted(groups.items(), key=lambda group: (not group[0], -len(group[1])))
    done = sum(bool(each.page) for each in every)
    return fill("lists.threads", lang, most, len(every), done)


def news(_: str, lang: str, root: Path) -> str:
    """The news by day; the feed is linked where there is one."""
    by_day: dict[str, list[Announced]] = {}
    for piece in announced(root, lang):
        by_day.setdefault(piece.news.date, []).append(piece)
    href = links.link(lang, links.address(NEWS_PAGE), lang, FEED)
    return fill("lists.news", lang, by_day, href)


def status(part: str, lang: str, root: Path) -> str:
    """A list of what waits, what to take along, or a record of what was measured."""
    parts = ("wanted", "facts", "downloads", "gpu", "assertions", "doctor")
    _require("status", part, parts)
    if part == "wanted":
        items = [_item(twins, lang, root) for twins in twins_that_wait(root)]
        html = fill("status.pages", lang, items)
    elif part == "facts":
        facts = concepts(root)
        places, every = unread(facts), sum(len(c.entries) for c in facts)
        open_ = sum(len(lines) for lines in places.values())
        html = fill("status.facts", lang, every, open_, places)
    elif part == "gpu":
        html = _last_gpu_run(lang, root)
    elif part == "assertions":
        file = root / "docs" / "verified" / "assertions.yml"
        record = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else None
        html = fill("status.assertions", lang, record)
    elif part == "doctor":
        file = root / "docs" / "verified" / "doctor.yml"
        record = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else None
        html = fill("status.doctor", lang, record, lang)
    else:
        # The first and the last are one for both languages, at the root.
        owners = dict.fromkeys([ZIP, BOOK_EPUB, BOOK_PDF, LLMS, FULL, SKILL], lang)
        owners |= {ZIP: "zh", SKILL: "zh"}
        hrefs = {n: links.link(lang, OFFLINE, owner, n) for n, owner in owners.items()}
        html = fill("status.downloads", lang, hrefs)
    return f'<div class="status" data-unsearched="1">\n{html}\n</div>'


def _last_gpu_run(lang: str, root: Path) -> str:
    """The note of ``make record`` on it, as a paragraph."""
    file = root / "docs" / "verified" / "gpu.yml"
    if not file.is_file():
        return f"<p>{words(lang)['gpu_none']}</p>"
    run = yaml.safe_load(file.read_text("utf-8"))
    return f"<p>{escape(words(lang)['gpu_run'].format(**run))}</p>"


def _item(twins: Twins, lang: str, root: Path) -> dict[str, Any]:
    """A page in this language, or in the only one that it has."""
    page, there = twins.page, lang
    if not (root / "docs" / lang / f"{page}.md").is_file():
        there = links.other(lang)
    text = (root / "docs" / there / f"{page}.md").read_text("utf-8", errors="replace")
    return {
        "href": links.link(lang, STATUS, there, links.address(page)),
        "lang": there,
        "title": title_of(read_content(text).meta) or page,
        "state": twins.state.name,
        "remedy": Markup(words(lang)["remedies"][twins.state.name]).format(page=page),
    }


def benchmarks(view: str, lang: str, root: Path) -> str:
    """One section of what ``make bench`` wrote, or ``cuda``: all made on a GPU."""
    made = markdown.markdown(measured(view, lang, root), extensions=["tables"])
    html = made.replace('src="', 'src="../')  # from the address of the page
    html = TABLE.sub(lambda table: _folded(table[0], lang), html)
    return (
        f'<div class="status benchmarks derived" data-unsearched="1">\n{html}\n</div>'
    )


def _folded(table: str, lang: str) -> str:
    """A table that takes more than a phone's screen, folded."""
    rows = table.count("<tr>")
    return fill("status.long_table", lang, table, rows) if rows > MOST_ROWS else table


def measured(view: str, lang: str, root: Path) -> str:
    """The same as Markdown."""
    device = "cuda" if view == "cuda" else "cpu"
    file = root / "docs" / "verified" / f"benchmarks.{device}.{lang}.md"
    text = str(words(lang)["not_measured"])
    if file.exists():
        sections = dict(SECTION.findall(file.read_text("utf-8")))
        _require("benchmarks", view, sorted([*sections, "cuda"]))
        text = sections.get(view) or "\n".join(sections.values())
    return text


DERIVED: dict[str, Callable[[str, str, Path], str]] = {
    "fact": fact,
    "notation": notation,
    "glossary": glossary,
    "status": status,
    "benchmarks": benchmarks,
    "questions": questions,
    "topic": topic,
    "wrong_answers": wrong_answers,
    "frameworks": frameworks,
    "threads": threads,
    "news": news,
}
