"""agree: record that pages say the same in both languages.

Whoever runs it declares it, so it takes pages by name and has no way to take them
all at once: nobody has compared pages that he cannot name.
"""

import contextlib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.languages import compare
from site_tools.commands.pages import files_of, page_id
from site_tools.commands.talk import Refusal, Talk
from site_tools.data.locks import Lock, lock_of, lock_path, parse, write
from site_tools.ledger import store
from site_tools.page.page import LANGUAGES, Page, read_page
from site_tools.page.wording import wording

HELP = "record that a page says the same in both languages"
EXAMPLES = """examples:
  make agree PAGE=gae/variance        once you have compared them
  make agree                          names the pages that wait"""

WIDEST = 60  # characters of a section that are shown


def options(parser: ArgumentParser, words: Callable[[str], str]) -> None:
    """Name the arguments."""
    pages = words("as in gae/variance, a page that you have compared")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Record pages, all of them or none."""
    names = [page_id(text) for text in options.pages]
    if not names:
        raise Refusal(waiting(root))
    pairs = {name: both_languages(name, root, talk) for name in names}
    for name, (zh, en) in pairs.items():
        _compared(name, zh, en, root, talk)
    for name, (zh, en) in pairs.items():
        talk.tell(record(name, zh, en, root))
    return 0


def both_languages(page: str, root: Path, talk: Talk) -> tuple[Page, Page]:
    """The page in Chinese and English.

    Raises:
        Refusal: if they cannot say the same yet; what differs has been told.
    """
    found = files_of(page, root)
    wanted = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    for missing in set(wanted) - set(found):
        raise Refusal(
            f"Not recorded: {missing} is not written yet, so there is nothing to "
            f"compare with; {found[0]} may stand alone until it is"
        )
    try:
        zh, en = (read_page(root, file) for file in wanted)
    except UnicodeDecodeError as error:
        raise Refusal(
            f"Not recorded: both files of {page} must be UTF-8, got {error}"
        ) from None
    if problems := [*zh.problems, *en.problems, *compare(zh, en)]:
        for problem in problems:
            talk.show(f"{problem.place}\n{problem.remarks(talk.words)}")
        raise Refusal(
            f"Not recorded: {page} must have the same structure in both languages first"
        )
    return zh, en


def _compared(page: str, zh: Page, en: Page, root: Path, talk: Talk) -> None:
    """Show what changed since the last record, and ask.

    Raises:
        Refusal: unless whoever runs it says that both languages say the same.
    """
    before, sides = _recorded(page, root), (wording(zh.text), wording(en.text))
    now = lock_of(*sides)
    changed = [s for s in {**before, **now} if before.get(s) != now.get(s)]
    for section in changed:
        talk.show(f"{page}: {section}")
        for language, words in zip(LANGUAGES, sides, strict=True):
            old, new = before.get(section), now.get(section)
            same = old and new and getattr(old, language) == getattr(new, language)
            text = words.get(section, "-")
            short = text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"
            talk.show(f"  {language}{' ' if same else '*'} {short}")
    if changed and not talk.ask(
        "* is new or changed since the last record. "
        "Do both languages say the same there?"
    ):
        raise Refusal("Nothing was recorded.")


def _recorded(page: str, root: Path) -> Lock:
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        return parse((root / lock_path(page)).read_text("utf-8"), page)
    return {}


def record(page: str, zh: Page, en: Page, root: Path) -> str:
    """Write the lock of a page, and say what was recorded."""
    file = root / lock_path(page)
    before = _recorded(page, root)
    now = lock_of(wording(zh.text), wording(en.text))
    store(file, write(now).encode())
    changed = [s for s in {**before, **now} if before.get(s) != now.get(s)]
    told = ", ".join(changed) or "nothing new, it was recorded as it stands"
    return f"{page}: {told} ({lock_path(page)})"


def waiting(root: Path) -> str:
    """The sentence for whoever names no page."""
    states = accord.waiting(root)
    alone = (accord.State.MISSING_ZH, accord.State.MISSING_EN)
    open_ = [s.page for s in states if s.state not in alone]
    names = ", ".join(open_) or "none, every pair is recorded as it stands"
    return f"No page given; as in: make agree PAGE=topic/page. Waiting: {names}"
