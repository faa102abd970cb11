"""The pages of a language in reading order: the navigation, and what lists show.

Topics stand in the order in which data flows; within a topic, a page stands after
the pages that it needs.
"""

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from site_tools.compile.templates import words
from site_tools.data.dialogues import QUESTION_ID, Asked, read_dialogues
from site_tools.data.threads import Thread, read_threads
from site_tools.data.topics import TOPICS
from site_tools.messages import Refusal
from site_tools.page.wrong_answers import WrongAnswer, read_wrong_answers
from site_tools.source import files
from site_tools.source.content import read_content

QUESTION_TOPICS = tuple(topic for topic in TOPICS if topic != "contribute")
# Under each tab: the folder whose pages stand there directly, then its topics.
TABS: dict[str, tuple[str, tuple[str, ...]]] = {
    "learn": ("course", ()),
    "questions": ("questions", QUESTION_TOPICS),
    "debug": ("debug", ()),
    "lab": ("notebooks", ()),
    "reference": ("reference", ("ppo_ref",)),
    "about": ("about", ("contribute",)),
}
COURSE, LAB = TABS["learn"][0], TABS["lab"][0]
FOLDERS = {name for folder, topics in TABS.values() for name in (folder, *topics)}
NESTED = {"ppo_ref"}  # made from a package, which has folders
# Pages that stand before the others of their folder.
FIRST = ("index", "symptoms", "asserts", "wrong_answers")

VERDICT = re.compile(r"\*\*(?P<words>.+?)[。.：:，,；;]?\*\*[。.：:，,；;]?")
# The line of an answer that is about one of the dialogues' questions: "- 003·2: ...",
# and its first sentence.
NAMED_LINE = re.compile(
    rf"^ *- (?P<id>{QUESTION_ID})(?P<colon>[:：])[ ]*(?P<text>.+(?:\n[ ]+[^\s-].*)*)",
    re.MULTILINE,
)
SENTENCE = re.compile(r".+?(?=[。？！]|[.?!](?:\s|$)|$)")
ANSWER_PICTURE = re.compile(
    r"^!\[(?P<alt>.+)\]\((?P<file>[^()\s]+\.svg)\)", re.MULTILINE
)
FACT = re.compile(r"fact|\{\s*\.fact\s*\}")

Meta = Mapping[str, Any]
Item = dict[str, Any] | str


class Answer(NamedTuple):
    """A page: its question or title, its answer in Markdown, and what it leans on."""

    page: str  # its id, as in gae/inputs
    title: str
    verdict: str = ""  # the bold first words of the answer
    short: str = ""  # the first paragraph of the answer
    answers: tuple[str, ...] = ()  # the questions of the dialogues
    needs: tuple[str, ...] = ()  # the pages that it builds on
    wrong: tuple[WrongAnswer, ...] = ()  # the claims that it refutes
    facts: tuple[str, ...] = ()  # the facts files that it shows
    picture: tuple[str, str] | None = None  # what its picture shows, and the file
    lines: Mapping[str, str] = MappingProxyType({})  # what it says on single questions

    @property
    def topic(self) -> str:
        return self.page.partition("/")[0]

    def verdict_on(self, question: str) -> str:
        """The first sentence of its line on this question, else its verdict."""
        return self.lines.get(question, self.verdict)


def question_lines(answer: str) -> dict[str, str]:
    """The first sentence of each line of an answer that is on one question."""
    found = {}
    for line in NAMED_LINE.finditer(answer):
        if first := SENTENCE.match(" ".join(line["text"].split())):
            words = first[0]
            # Behind its colon English goes on in small letters.
            words = words[0].upper() + words[1:] if line["colon"] == ":" else words
            found[line["id"]] = words
    return found


@cache  # keyed by the text: a changed page is read again
def read_answer(text: str, page: str, path: str) -> Answer:
    """The words of the lists on one page; the checks say what it lacks."""
    content = read_content(text, path)
    front, answer = content.meta, content.text_below("answer")
    short = " ".join(answer.strip().split("\n\n")[0].split())
    verdict = VERDICT.match(short)
    drawn = ANSWER_PICTURE.search(content.text_below("picture"))
    shown = (
        f.lines[0].split() for f in content.fences if f.lines and FACT.fullmatch(f.info)
    )
    return Answer(
        page,
        title_of(front),
        verdict["words"] if verdict else "",
        short,
        tuple(map(str, front.get("answers") or ())),
        tuple(map(str, front.get("needs") or ())),
        tuple(read_wrong_answers(content, path)[0]),
        tuple(dict.fromkeys(fact[0] for fact in shown if fact)),
        (drawn["alt"], drawn["file"]) if drawn else None,
        question_lines(answer),
    )


def title_of(meta: Meta) -> str:
    return str(meta.get("question") or meta.get("title") or "")


@lru_cache(maxsize=4)
def titles(root: Path, lang: str) -> dict[str, str]:
    """The titles of the pages of a language by their ids."""
    pages = files.front_matters(root / "docs" / lang)
    return {path.removesuffix(".md"): title_of(meta) for path, meta in pages.items()}


def _folder(root: Path, lang: str, name: str) -> dict[str, Answer]:
    """The pages of a folder by their ids, but for its index."""
    pages = {}
    for file in sorted((root / "docs" / lang / name).glob("[!.]*.md")):
        page, path = f"{name}/{file.stem}", file.relative_to(root).as_posix()
        if file.stem != "index":
            pages[page] = read_answer(file.read_text("utf-8"), page, path)
    return pages


def answers(root: Path, lang: str, topics: Sequence[str] = TOPICS) -> list[Answer]:
    """The question pages of a language, or those of some folders, in reading order."""
    folders = [_folder(root, lang, topic) for topic in topics]
    needs = {page: {*a.needs} for pages in folders for page, a in pages.items()}
    return [pages[page] for pages in folders for page in in_order(pages, needs)]


def users(root: Path, lang: str) -> list[Answer]:
    """The pages that may lean on a fact: the question pages, then all others."""
    others = (_folder(root, lang, folder) for folder, _ in TABS.values())
    return [*answers(root, lang), *(a for pages in others for a in pages.values())]


def in_order(pages: Collection[str], needs: Mapping[str, set[str]]) -> list[str]:
    """Needed pages first, ties by id; before everything an index, and ``FIRST``."""

    def rank(page: str) -> tuple[int, str]:
        name = page.rpartition("/")[2]
        return FIRST.index(name) if name in FIRST else len(FIRST), page

    waiting, done = sorted(pages, key=rank), list[str]()
    while waiting:
        free = (page for page in waiting if needs[page].isdisjoint(waiting))
        page = next(free, waiting[0])  # a cycle is refused where the site is built
        waiting.remove(page)
        done.append(page)
    return done


def asked(root: Path) -> dict[str, Asked]:
    """The dialogues' questions by id."""
    every = chain.from_iterable(each.questions for each in read_dialogues(root))
    return {question.id: question for question in every}


class Answered(NamedTuple):
    """A thread, and the place here that answers it: its page, an anchor, a title."""

    thread: Thread
    page: str = ""
    anchor: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """The name of its folder among the labels: the topic, else the tab."""
        folder = self.page.partition("/")[0]
        tabs = [tab for tab, (own, _) in TABS.items() if own == folder]
        return tabs[0] if tabs else folder


def answered(root: Path, lang: str) -> list[Answered]:
    """Every thread; one whose page is not written in this language has no place."""
    found = []
    for thread in read_threads(root):
        page, _, anchor = thread.page.partition("#")
        file = root / "docs" / lang / f"{page}.md"
        if not page or not file.is_file():
            found.append(Answered(thread))
            continue
        text = file.read_text("utf-8")
        content = read_content(text)
        known = anchor if content.section(anchor) else ""
        found.append(Answered(thread, page, known, title_of(content.meta)))
    return found


def build(pages: Mapping[str, Meta], lang: str, known: Collection[str]) -> list[Item]:
    """The navigation of one language, from front matter by path, as MkDocs takes it.

    ``known`` are the pages of every language; ``needs`` may name one that is not
    translated yet.
    """
    labels, ids = words(lang)["labels"], {path.removesuffix(".md") for path in known}
    needs = {_id(path): {*(meta.get("needs") or ())} for path, meta in pages.items()}
    for path in pages:
        folder, _, name = path.partition("/")
        deep = "/" in name and folder not in NESTED
        if path != "index.md" and (folder not in FOLDERS or deep or not name):
            raise Refusal("nav_folder", path=path, folders=", ".join(sorted(FOLDERS)))
        for page in sorted(needs[_id(path)] - ids):
            raise Refusal("nav_needs", path=path, page=page)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        way = " needs ".join(reversed(error.args[1]))
        raise Refusal("nav_cycle", way=way) from None
    nav: list[Item] = ["index.md"] if "index.md" in pages else []
    for tab, (folder, topics) in TABS.items():
        items = _entries(folder, pages, needs)
        for topic in topics:
            if inside := _entries(topic, pages, needs):
                items.append({labels[topic]: inside})
        if items:
            nav.append({labels[tab]: items})
    return nav


def _id(path: str) -> str:
    return path.rpartition(".")[0]


def _entries(
    folder: str, pages: Mapping[str, Meta], needs: Mapping[str, set[str]]
) -> list[Item]:
    """The pages of a folder, then its folders, each called like its index."""
    inside = [path for path in pages if path.startswith(f"{folder}/")]
    paths = {_id(path): path for path in inside if posixpath.dirname(path) == folder}
    items: list[Item] = []
    for path in (paths[page] for page in in_order(paths, needs)):
        if not title_of(pages[path]):
            raise Refusal("nav_untitled", path=path)
        items.append({title_of(pages[path]): path})
    deeper = {posixpath.dirname(path) for path in inside} - {folder}
    for below in sorted(name for name in deeper if posixpath.dirname(name) == folder):
        title = pages[f"{below}/index.md"]["title"]
        items.append({str(title): _entries(below, pages, needs)})
    return items
