"""agree: record that pages say the same in both languages; status: what waits.

Whoever agrees declares it, so it takes pages by name and has no way to take them all at
once: nobody has compared pages that he cannot name.
"""

import re
import shutil
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from site_tools.contributing.pages import page_id, present_files, versions
from site_tools.contributing.talk import Talk
from site_tools.data.facts import concepts
from site_tools.judge.languages import compare
from site_tools.ledger import store
from site_tools.messages import LANGUAGES, Message, Refusal
from site_tools.page.page import read_page
from site_tools.page.twins import (
    agreed_hash,
    plain_ends,
    twins_of,
    twins_that_wait,
    with_both_agreed,
    words_hash,
)
from site_tools.page.wording import SINGLE_SIGNS, paragraphs, wording
from site_tools.source.content import columns
from site_tools.source.files import page_ids
from site_tools.stored_runs.make import problems
from site_tools.stored_runs.table import CHARTS, RUNS

# Columns of a terminal in which both languages stand side by side.
SIDE_BY_SIDE_FROM = 100
CLOSING_SIGNS = "，。、；：？！）》”"
# No line begins with a mark that closes something.
PIECE = re.compile(rf" ?(?:[{SINGLE_SIGNS}]|[^ {SINGLE_SIGNS}]+)[{CLOSING_SIGNS}]*")


def agree(options: Namespace, root: Path, talk: Talk) -> int:
    names = [page_id(text) for text in options.pages]
    if not names:
        raise Refusal("agree_unnamed")
    sides = {page: _sound_texts(page, root, talk) for page in names}
    waiting = {page: not twins_of(root, page).in_step for page in names}
    for page in names:
        if waiting[page]:
            _compare(page, root, sides[page], talk)
    for page in names:
        if waiting[page]:
            store_agreed(root, page, sides[page])
        talk.say("agree_done" if waiting[page] else "agree_done_before", page=page)
    return 0


def restamp(root: Path) -> list[str]:
    """Write ``agreed`` anew on every page that has it in both languages; their names.

    For whoever changes what counts as words (``site_tools.page.wording``): all hashes
    change then, and no page does. To be called while ``make status`` names no page,
    by the code of before.
    """
    stamped = []
    for page in page_ids(root):
        files = [root / "docs" / language / f"{page}.md" for language in LANGUAGES]
        texts = [_bytes_as_text(file) for file in files if file.is_file()]
        if len(texts) == len(files) and all(map(agreed_hash, texts)):
            store_agreed(root, page, texts)
            stamped.append(page)
    return stamped


def store_agreed(root: Path, page: str, texts: Sequence[str]) -> None:
    """Write into a page's two files that these texts say the same."""
    before = dict(zip(LANGUAGES, texts, strict=True))
    after = with_both_agreed(before, page)
    files = {language: root / "docs" / language / f"{page}.md" for language in before}
    for language, file in files.items():
        if _bytes_as_text(file) != before[language]:
            raise Refusal("fix_meanwhile", file=file.relative_to(root).as_posix())
    for language, file in files.items():
        store(file, after[language].encode("utf-8"))


def _bytes_as_text(file: Path) -> str:
    """The text of a file with its line ends as they are."""
    return file.read_bytes().decode("utf-8")


def _sound_texts(page: str, root: Path, talk: Talk) -> list[str]:
    """The page in Chinese and English, as its files have it, if both are sound."""
    present = present_files(page, root)
    files = [f"docs/{language}/{page}.md" for language in LANGUAGES]
    for file in files:
        if file not in present:
            raise Refusal("agree_missing", missing=file, present=present[0])
    zh, en = (read_page(root, file) for file in files)
    wrong = [*zh.problems, *en.problems] or compare(zh, en)
    for problem in wrong:
        talk.show(problem.text(talk.language))
    if wrong:
        raise Refusal("agree_problems", page=page)
    return [_bytes_as_text(root / file) for file in files]


def _compare(page: str, root: Path, texts: Sequence[str], talk: Talk) -> None:
    """Show the sections that changed since somebody agreed, and ask about them."""
    zh, en = (paragraphs(plain_ends(text), seen=True) for text in texts)
    changed_zh = _changed_sections(root, f"docs/zh/{page}.md", texts[0], texts[1])
    changed_en = _changed_sections(root, f"docs/en/{page}.md", texts[1], texts[0])
    changed = changed_zh | changed_en
    for section in dict.fromkeys([*zh, *en, *sorted(changed)]):
        if section not in changed:
            continue
        names = [
            "zh*" if section in changed_zh else "zh",
            "en*" if section in changed_en else "en",
        ]
        talk.show(f"{page}: {section}")
        wide = shutil.get_terminal_size().columns
        pairs = zip_longest(zh.get(section, []), en.get(section, []), fillvalue="-")
        for row in side_by_side(names, [*pairs], wide):
            talk.show(row)
    if not talk.ask("agree_question"):
        raise Refusal("agree_nothing")


def _changed_sections(root: Path, file: str, text: str, twin: str) -> set[str]:
    """The sections of a page that are not as its twin has agreed to them.

    The words of then are those of the newest version in git that has the agreed hash.
    Where there is none, every section counts as changed.
    """
    agreed, now = agreed_hash(twin), wording(plain_ends(text))
    if agreed == words_hash(text):
        return set()
    then: Mapping[str, str] = {}
    for old in versions(root, file):
        if words_hash(old) == agreed:
            then = wording(plain_ends(old))
            break
    return {name for name in {*now, *then} if now.get(name) != then.get(name)}


def side_by_side(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], wide: int
) -> Iterator[str]:
    """Pairs of paragraphs under their names, or where it is narrow behind them."""
    if wide < SIDE_BY_SIDE_FROM:
        for pair in pairs:
            for name, text in zip(names, pair, strict=True):
                first, *rest = wrapped(text, wide - 6)
                yield f"  {name:<3} {first}"
                yield from (f"      {line}" for line in rest)
        return
    half = wide // 2 - 3
    for zh, en in [(names[0], names[1]), *pairs]:
        rows = zip_longest(wrapped(zh, half), wrapped(en, half), fillvalue="")
        for left, right in rows:
            blanks = " " * (half - columns(left))
            yield f"  {left}{blanks}  {right}".rstrip()


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


def say_status(options: Namespace, root: Path, talk: Talk) -> int:
    """Say what waits for somebody's hand, as the page about/status does."""
    parts = {
        "status_translations": [twins.message for twins in twins_that_wait(root)],
        "status_facts": _releases_unread(root),
        "status_runs": [p.in_line for p in problems(root, RUNS, CHARTS)],
    }
    for title, rows in parts.items():
        talk.say(title)
        for row in rows or [Message("status_none")]:
            talk.show(f"  {talk.of(row)}")
    return 0


def _releases_unread(root: Path) -> list[Message]:
    """The releases that are in no wheel, and how many places stand on each."""
    counts = Counter[str]()
    for concept in concepts(root):
        for entry in concept.entries:
            if not entry.checked:
                counts[entry.release] += 1
    rows = []
    for release, count in counts.items():
        rows.append(Message("status_unread", {"release": release, "count": count}))
    return rows
