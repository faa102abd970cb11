"""agree: record that pages say the same in both languages.

Whoever runs it declares it, so it takes pages by name and has no way to take them all
at once: nobody has compared pages that he cannot name.
"""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.languages import compare
from site_tools.contributing.pages import files_of, page_id
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.data.locks import Lock, lock_of, lock_path, parse, write
from site_tools.ledger import store
from site_tools.page.page import read_page
from site_tools.page.wording import APART, wording
from site_tools.say import LANGUAGES

WIDEST = 500  # characters of a section that are shown
BETWEEN = re.compile(f"(?<=[{APART}]) (?=[{APART}])")

Sides = Mapping[str, Mapping[str, str]]  # the words by section, by language


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages = talk.text("agree_pages")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Record pages, all of them or none."""
    names = [page_id(text) for text in options.pages]
    if not names:
        raise _unnamed(root)
    pages = {name: _words(name, root, talk) for name in names}
    for page, sides in pages.items():
        changed = _changed(page, sides, root)
        _show(page, changed, sides, root, talk)
        if changed and not talk.ask("agree_question"):
            raise Refusal("agree_nothing")
    for page, sides in pages.items():
        changed = _changed(page, sides, root)
        store(root / lock_path(page), write(lock_of(sides["zh"], sides["en"])).encode())
        key = "agree_recorded" if changed else "agree_recorded_before"
        sections = ", ".join(changed)
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


def _words(page: str, root: Path, talk: Talk) -> Sides:
    """The words of a page in both languages.

    Raises:
        Refusal: if they cannot say the same yet; what differs has been shown.
    """
    present = files_of(page, root)
    files = {language: f"docs/{language}/{page}.md" for language in LANGUAGES}
    for file in files.values():
        if file not in present:
            raise Refusal("agree_missing", missing=file, present=present[0])
    try:
        zh, en = (read_page(root, files[language]) for language in ("zh", "en"))
    except UnicodeDecodeError as error:
        raise Refusal("agree_encoding", page=page, error=error) from None
    unread, differences = [*zh.problems, *en.problems], compare(zh, en)
    for problem in unread or differences:
        talk.show(talk.problem(problem))
    if unread:
        raise Refusal("agree_problems", page=page)
    if differences:
        raise Refusal("agree_structure", page=page)
    return {"zh": wording(zh.text), "en": wording(en.text)}


def _changed(page: str, sides: Sides, root: Path) -> list[str]:
    """The sections that differ from what was recorded."""
    before, now = _recorded(page, root), lock_of(sides["zh"], sides["en"])
    return [s for s in {**before, **now} if before.get(s) != now.get(s)]


def _recorded(page: str, root: Path) -> Lock:
    with suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        return parse((root / lock_path(page)).read_text("utf-8"), page)
    return {}


def _show(page: str, changed: list[str], sides: Sides, root: Path, talk: Talk) -> None:
    """Show the sections in both languages; a star is beside what is new."""
    before, now = _recorded(page, root), lock_of(sides["zh"], sides["en"])
    for section in changed:
        talk.show(f"{page}: {section}")
        old, new = before.get(section), now.get(section)
        for language, words in sides.items():
            same = old and new and getattr(old, language) == getattr(new, language)
            text = BETWEEN.sub("", words.get(section, "-"))
            short = text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
            talk.show(f"  {language}{' ' if same else '*'} {short}")
