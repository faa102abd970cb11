"""agree: record that pages say the same in both languages; status: what waits.

Whoever agrees declares it, so it takes pages by name and has no way to take them all at
once: nobody has compared pages that he cannot name.
"""

import re
import shutil
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

from site_tools.contributing.pages import files_of, page_id
from site_tools.contributing.talk import Talk
from site_tools.data.facts import concepts, unread
from site_tools.judge.languages import compare
from site_tools.ledger import store
from site_tools.page.accord import Lock, lock_of, lock_path, parse, waiting, write
from site_tools.page.page import read_page
from site_tools.page.wording import APART, paragraphs, wording
from site_tools.say import Message, Refusal
from site_tools.source.content import columns
from site_tools.stored_runs.make import problems
from site_tools.stored_runs.table import CHARTS, RUNS

WIDE = 100  # columns of a terminal in which both languages stand side by side
CLOSING = "，。、；：？！）》”"
# No line begins with a mark that closes something.
PIECE = re.compile(rf" ?(?:[{APART}]|[^ {APART}]+)[{CLOSING}]*")


def run(options: Namespace, root: Path, talk: Talk) -> int:
    names = [page_id(text) for text in options.pages]
    if not names:
        raise Refusal("agree_unnamed")
    sides = {page: _texts(page, root, talk) for page in names}
    changed = {page: _compared(page, root, sides[page], talk) for page in names}
    for page in names:
        now = lock_of(*map(wording, sides[page]))
        store(root / lock_path(page), write(now).encode())
        key = "agree_recorded" if changed[page] else "agree_recorded_before"
        sections = ", ".join(changed[page])
        talk.say(key, page=page, sections=sections, lock=lock_path(page))
    return 0


def _texts(page: str, root: Path, talk: Talk) -> tuple[str, str]:
    """The page in Chinese and English, if both are sound."""
    present = files_of(page, root)
    files = [f"docs/{language}/{page}.md" for language in ("zh", "en")]
    for file in files:
        if file not in present:
            raise Refusal("agree_missing", missing=file, present=present[0])
    zh, en = (read_page(root, file) for file in files)
    if wrong := [*zh.problems, *en.problems] or compare(zh, en):
        for problem in wrong:
            talk.show(problem.text(talk.language))
        raise Refusal("agree_problems", page=page)
    return zh.text, en.text


def _compared(page: str, root: Path, texts: Sequence[str], talk: Talk) -> list[str]:
    """The sections that are new since the last record: shown, and agreed to."""
    before: Lock = {}
    now = lock_of(*map(wording, texts))
    zh, en = (paragraphs(text, seen=True) for text in texts)
    with suppress(FileNotFoundError, UnicodeDecodeError, ValueError):
        before = parse((root / lock_path(page)).read_text("utf-8"), page)
    sections = dict.fromkeys([*zh, *en, *before])
    changed = [s for s in sections if before.get(s) != now.get(s)]
    for section in changed:
        old, new = before.get(section), now.get(section)
        marks = [
            f"{name}{'' if old and new and a == b else '*'}"
            for name, a, b in zip(("zh", "en"), old or "--", new or "--", strict=True)
        ]
        talk.show(f"{page}: {section}")
        wide = shutil.get_terminal_size().columns
        pairs = zip_longest(zh.get(section, []), en.get(section, []), fillvalue="-")
        for row in side_by_side(marks, [*pairs], wide):
            talk.show(row)
    if changed and not talk.ask("agree_question"):
        raise Refusal("agree_nothing")
    return changed


def side_by_side(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], wide: int
) -> Iterator[str]:
    """Pairs of paragraphs under their names, or where it is narrow behind them."""
    if wide < WIDE:
        for pair in pairs:
            for name, text in zip(names, pair, strict=True):
                first, *rest = wrapped(text, wide - 6)
                yield f"  {name:<3} {first}"
                yield from (f"      {line}" for line in rest)
        return
    half = wide // 2 - 3
    for pair in [(names[0], names[1]), *pairs]:
        for left, right in zip_longest(*(wrapped(t, half) for t in pair), fillvalue=""):
            yield f"  {left}{' ' * (half - columns(left))}  {right}".rstrip()


def wrapped(text: str, wide: int) -> list[str]:
    """A text in lines of so many columns at most."""
    lines, line = list[str](), ""
    for piece in PIECE.findall(text):
        if line and columns(line + piece) > wide:
            lines.append(line)
            line = piece.strip()
        else:
            line += piece
        while columns(line) > wide:  # an address
            lines.append(line[:wide])
            line = line[wide:]
    return [*lines, line.strip()]


def status(options: Namespace, root: Path, talk: Talk) -> int:
    """Say what waits for somebody's hand, as the page about/status does."""
    facts = [
        f"docs/facts/{name}.yml: {place}:{', '.join(lines)}"
        for (name, place), lines in unread(concepts(root)).items()
    ]
    parts = {
        "status_translations": [state.message for state in waiting(root)],
        "status_facts": [Message("as_it_is", {"text": text}) for text in facts],
        "status_runs": [p.in_line for p in problems(root, RUNS, CHARTS)],
    }
    for title, rows in parts.items():
        talk.say(title)
        for row in rows or [Message("status_none")]:
            talk.show(f"  {talk.of(row)}")
    return 0
