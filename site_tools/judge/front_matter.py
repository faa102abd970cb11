"""The front matter of a page: its keys, what they hold, and what they name."""

import difflib
import re
from pathlib import Path

from site_tools.data.dialogues import QUESTION_ID, disagreements, read_dialogues
from site_tools.data.threads import THREADS_FILE, read_threads
from site_tools.data.topics import TOPICS, is_question
from site_tools.messages import Problems, nearest
from site_tools.page.page import Page
from site_tools.source.files import page_ids, split_aliases

QUESTION_KEYS = ("question", "aliases", "needs", "answers", "refs", "agreed")
OTHER_KEYS = ("title", "aliases", "needs", "refs", "hide", "agreed")
NOT_LISTS = ("question", "title", "hide", "agreed")
REF = re.compile(
    r"[A-Za-z][\w.+/-]* v?\d+(?:\.\w+)+"  # verl 0.9.1
    r"|\d{3}·\d{1,2}"  # dialogue 004, question 2
    r"|[\w./-]+#\d+"  # verl#1960
    r"|[\w.-]+/[\w.-]+@[0-9a-f]{7,40}"
    r"|arXiv:\d{4}\.\d{4,5}(?:v\d+)?"
    r"|[A-Z][A-Za-z]*-?\d+\.\d+"  # a model: GLM-5.2
    r"|[A-Z][^\d]*,? (?:§|section |equation )\d+(?:\.\d+)*"
)


def check_front_matter(page: Page) -> Problems:
    """Everything that is wrong with it; of a question in no topic, nothing but that."""
    if "question" in page.meta and not is_question(page.id):
        folder = page.id.rpartition("/")[0] or "docs"
        topics = ", ".join(TOPICS)
        yield page.problem(1, "question_stray", folder=folder, topics=topics)
        return
    yield from _keys(page)
    for ref in page.refs:
        if not REF.fullmatch(ref):
            line = page.line_with("refs:")
            yield page.problem(line, "front_ref", ref=repr(ref))
    yield from _rounds(page)
    for section in split_aliases(page.meta.get("aliases")):
        if section and not page.content.section(section):
            line = page.line_with(f" #{section}")
            yield page.problem(line, "front_alias", section=section)
    yield from _needs(page)


def _keys(page: Page) -> Problems:
    """Keys that are unknown, missing or of the wrong kind."""
    keys, needed = OTHER_KEYS, "title"
    if is_question(page.id):
        keys, needed = QUESTION_KEYS, "question"
    missing = not isinstance(page.meta.get(needed), str)
    for key, value in page.meta.items():
        line = page.line_with(f"{key}:")
        if key in keys:
            if key not in NOT_LISTS and not _is_list_of_texts(value):
                meant = value if isinstance(value, str) else "..."
                values = {"key": key, "value": repr(value), "meant": meant}
                yield page.problem(line, "front_list", **values)
            continue
        alike = difflib.get_close_matches(key.lower(), keys, 1)
        values = {"key": key, "keys": ", ".join(keys)}
        if missing:
            missing = False
            yield page.problem(line, "front_key_meant", near=needed, **values)
        elif alike:
            yield page.problem(line, "front_key_meant", near=alike[0], **values)
        else:
            yield page.problem(line, "front_key", **values)
    if missing:
        yield page.problem(1, "front_missing", key=needed)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _rounds(page: Page) -> Problems:
    """Rounds of the dialogues that refs or answers names and that no dialogue has."""
    for key in ("refs", "answers"):
        for ref, near in _unknown_rounds(page, key).items():
            values = {"key": key, "ref": ref, "near": near}
            yield page.problem(page.line_with(f"{key}:"), "front_round", **values)


def _unknown_rounds(page: Page, key: str) -> dict[str, str]:
    """The rounds named under a key that no dialogue has, each with the nearest."""
    named = [ref for ref in page.texts(key) if re.fullmatch(QUESTION_ID, ref)]
    if not named:
        return {}
    known = [asked.id for d in read_dialogues(page.root) for asked in d.questions]
    found = {}
    for ref in named:
        if ref not in known:
            same = [each for each in known if each.startswith(ref[:4])]
            found[ref] = [*known, *same][-1]
    return found


def _needs(page: Page) -> Problems:
    """Pages to read first that are not there."""
    needs = page.texts("needs")
    known = page_ids(page.root) if needs else []
    for need in needs:
        if need not in known:
            values = {"need": need, "near": nearest(need, known, need)}
            yield page.problem(page.line_with("needs:"), "front_need", **values)


def check_answers(page: Page) -> Problems:
    """Where a page disagrees with the dialogues on which questions it answers.

    Whatever else it answers is a thread, by its name or by that of its repository.
    """
    line = page.line_with("answers:") or 1
    if _unknown_rounds(page, "answers"):
        return  # which is told by itself
    answers = {page.id: page.texts("answers")}
    for why in disagreements(read_dialogues(page.root), answers):
        yield page.problem(line, "answers_home", why=why)
    named = [each for each in answers[page.id] if not re.fullmatch(QUESTION_ID, each)]
    if named:
        known = _names_of_threads(page.root)
        for name in named:
            if name not in known:
                near = nearest(name, known, name)
                values = {"name": name, "near": near, "file": THREADS_FILE}
                yield page.problem(line, "answers_thread", **values)


def _names_of_threads(root: Path) -> list[str]:
    """Every way to name a thread: ``verl#847``, ``verl-project/verl#847``."""
    names = []
    for thread in read_threads(root):
        names += [thread.thread, thread.name]
    return names
