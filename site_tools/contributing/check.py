"""check: pages in both languages, by the judgement that the tests use too."""

from argparse import Namespace
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from site_tools.contributing import pages
from site_tools.contributing.talk import Talk
from site_tools.data.facts import check_facts
from site_tools.judge.all import judge, text_of
from site_tools.judge.words import todo
from site_tools.messages import Message, Problem
from site_tools.page.twins import twins_of


def check_pages(options: Namespace, root: Path, talk: Talk) -> int:
    names = options.pages or pages.changed(root, talk, "check")
    if not names:
        return 0
    facts = pages.facts_of(names, root)
    ids = dict.fromkeys(pages.page_id(name) for name in names if name not in facts)
    files = {page: pages.files_of(page, root) for page in ids}
    concepts = dict.fromkeys(facts.values())
    judgements = chain(
        ((judge(root, own), _remarks(root, page, own)) for page, own in files.items()),
        (check_facts(root, f"{concept}.yml") for concept in concepts),
    )
    count = 0
    for problems, remarks in judgements:
        count += len(problems)
        said: list[Message | Problem] = [*remarks, *problems]
        for each in said:
            talk.show(each.text(talk.language))
    key = {0: "check_sound", 1: "check_one"}.get(count, "check_several")
    checked = ", ".join([*ids, *(f"facts/{concept}" for concept in concepts)])
    talk.say(key, pages=checked, count=count)
    return 1 if count else 0


def _remarks(root: Path, page: str, paths: list[str]) -> Iterator[Message]:
    """What is left to do on a page and fails nothing while it is written."""
    left = [p for path in paths for p in todo(root, path, text_of(root / path))]
    for problem in dict.fromkeys(left):
        values = {"place": problem.place, "what": problem.found}
        yield Message("check_todo", values)
    twins = twins_of(root, page)
    if not twins.in_step:
        yield twins.message
