"""agree: record that pages say the same in both languages.

Whoever runs it declares it, so it takes pages by name and has no way to take them all
at once: nobody has compared pages that he cannot name.
"""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from site_tools.checks.languages import compare
from site_tools.contributing.pages import files_of, page_id
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.ledger import store
from site_tools.page import accord
from site_tools.page.accord import Lock, lock_of, lock_path, parse, write
from site_tools.page.page import read_page
from site_tools.page.prose import APART, wording

WIDEST = 500  # characters of a section that are shown
BETWEEN = re.compile(f"(?<=[{APART}]) (?=[{APART}])")

Words = Mapping[str, str]  # of a language, by section


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages = talk.text("agree_pages")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Record pages, all of them or none."""
    names = [page_id(text) for text in options.pages]
    if not names:
        raise _unnamed(root)
    sides = {page: _words(page, root, talk) for page in names}
    changed = {page: _compared(page, root, *sides[page], talk) for page in names}
    for page in names:
        store(root / lock_path(page), write(lock_of(*sides[page])).encode())
        key = "agree_recorded" if changed[page] else "agree_recorded_before"
        sections = ", ".join(changed[page])
        talk.say(key, page=page, sections=sections, lock=lock_path(page))
    return 0


def _unnamed(root: Path) -> Refusal:
    """The refusal of no page, with those that wait."""
    alone = (accord.State.MISSING_ZH, accord.State.MISSING_EN)
    with data_is_read():
        waiting = [s.page for s in accord.waiting(root) if s.state not in alone]
    if waiting:
        return Refusal("agree_unnamed", pages=", ".join(waiting))
    return Refusal("agree_unnamed_none")


def _words(page: str, root: Path, talk: Talk) -> tuple[Words, Words]:
    """The words of a page in Chinese and in English."""
    present = files_of(page, root)
    files = [f"docs/{language}/{page}.md" for language in ("zh", "en")]
    for file in files:
        if file not in present:
            raise Refusal("agree_missing", missing=file, present=present[0])
    try:
        zh, en = (read_page(root, file) for file in files)
    except UnicodeDecodeError as error:
        raise Refusal("agree_encoding", page=page, error=error) from None
    unread = [*zh.problems, *en.problems]
    differences = compare(zh, en)
    for problem in unread or differences:
        talk.show(talk.problem(problem))
    if unread or differences:
        raise Refusal("agree_problems" if unread else "agree_structure", page=page)
    return wording(zh.text), wording(en.text)


def _compared(page: str, root: Path, zh: Words, en: Words, talk: Talk) -> list[str]:
    """The sections that are new since the last record: shown, and agreed to."""
    before: Lock = {}
    now = lock_of(zh, en)
    with suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        before = parse((root / lock_path(page)).read_text("utf-8"), page)
    changed = [s for s in {**before, **now} if before.get(s) != now.get(s)]
    for section in changed:
        talk.show(f"{page}: {section}")
        old, new = before.get(section), now.get(section)
        for language, words in (("zh", zh), ("en", en)):
            same = old and new and getattr(old, language) == getattr(new, language)
            text = BETWEEN.sub("", words.get(section, "-"))
            short = text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
            talk.show(f"  {language}{' ' if same else '*'} {short}")
    if changed and not talk.ask("agree_question"):
        raise Refusal("agree_nothing")
    return changed
